"""Loads at the digits of one index: ``x[i % c]``, ``x[i / s % c]``, or the digits put together in another order.

An index from zero is a number in mixed radix (``((b * h + y) * w + x) * c + z``), whose digits by hand are quotients
and remainders. What they read, written out over all numbers, is the array itself turned round: ``jnp.resize(x[:c], n)``
for ``x[i % c]``, a reshape and a transpose where the digits change places, a broadcast along those that are not asked
for. (Measured on a CPU, half a million numbers: a gather with three divisions takes 7 times as long.) The sizes become
static.

The side conditions: the index begins at zero, each digit ends where the next one begins, and the places of the digits
that are asked for are those of a whole array in some order, the leading digit, whose size is that of the index, first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kraise.emit.context import Context, Frame, Val
from kraise.emit.loads.filled import terms
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import NONE, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.types import INT


@dataclass(frozen=True)
class Size:
    """A product of sizes and a number."""

    number: int = 1
    factors: tuple[eq.Expr, ...] = ()  # sorted

    def over(self, other: Size) -> Size | None:
        """The quotient, if it is one of whole sizes."""
        left, right = Counter(self.factors), Counter(other.factors)
        if other.number == 0 or self.number % other.number or right - left:
            return None
        return _size(self.number // other.number, (left - right).elements())

    def times(self, other: Size) -> Size:
        """The product."""
        return _size(self.number * other.number, (*self.factors, *other.factors))

    def linear(self) -> Linear:
        """The product as a sum of one term."""
        out: eq.Expr = eq.Const(self.number, INT)
        for n, f in enumerate(self.factors):
            out = f if not n and self.number == 1 else eq.Op("mul", (out, f), INT)
        return linear(out)


def _size(number: int, factors: object) -> Size:
    return Size(number, tuple(sorted(factors, key=repr)))  # type: ignore[call-overload]


@dataclass(frozen=True)
class Digit:
    """The number over ``below`` modulo ``radix`` (None: all that is left)."""

    below: Size
    radix: Size | None


def rearranged(low: Lowering, base: Py, node: eq.Read, frame: Frame) -> Val | None:
    """A load of a flat array at the digits of one index; None where the subscript is something else, or the sizes may
    be none of Python's numbers."""
    ctx, subscript = low.ctx, node.subscripts[0]
    if ctx.hosted or ctx.ndim.get(node.version.array) != 1 or node.view:
        return None
    own = [a for a in frame if a.name in ctx.free(subscript)]
    if len(own) != 1 or own[0].step != 1 or not linear(own[0].lo).same(Linear()) or not isinstance(base, py.Atom):
        return None
    places = _places(ctx, subscript, own[0])
    sizes = None if places is None else _radices([*places])
    if places is None or sizes is None:
        return None
    order = _whole(places, sizes)
    if order is None or not all(ctx.is_static(s.linear()) for s in sizes):
        return None
    return low.extend(_text(ctx, base, own[0], sizes, order), (own[0],), frame)


def _places(ctx: Context, subscript: eq.Expr, axis: eq.Axis) -> dict[Digit, Size] | None:
    """The digits of which a subscript is the sum, and by what each counts there."""
    found: dict[Digit, Size] = {}
    for factors, number in terms(subscript).items():
        held = [f for f in factors if axis.name in ctx.free(f)]
        digit = _digit(held[0], axis.name) if len(held) == 1 and number > 0 else None
        if digit is None or digit in found:
            return None
        found[digit] = _size(number, (f for f in factors if f is not held[0]))
    return found if any(d.radix is not None or d.below != Size() for d in found) else None


def _digit(e: eq.Expr, index: str) -> Digit | None:
    radix: Size | None = None
    if isinstance(e, eq.Op) and e.name in ("mod", "tmod"):
        radix = _of(e.args[1])
        if radix is None:
            return None
        e = e.args[0]
    below = Size()
    while isinstance(e, eq.Op) and e.name in ("floordiv", "tdiv"):
        by = _of(e.args[1])
        if by is None:
            return None
        below, e = below.times(by), e.args[0]
    return Digit(below, radix) if isinstance(e, eq.Index) and e.name == index else None


def _of(e: eq.Expr) -> Size | None:
    """A product of parameters, extents and numbers."""
    match list(terms(e).items()):
        case [(factors, number)] if number > 0 and all(isinstance(f, eq.Param | eq.Shape) for f in factors):
            return _size(number, factors) if factors or number > 1 else None
    return None


def _radices(digits: list[Digit]) -> list[Size] | None:
    """The sizes of all digits below the leading one, the last digit first, those between that nothing asks for, too."""
    cuts = {Size(), *(d.below for d in digits)}
    cuts |= {d.below.times(d.radix) for d in digits if d.radix is not None}
    ordered = sorted(cuts, key=lambda s: (len(s.factors), s.number))
    sizes = [after.over(before) for before, after in zip(ordered, ordered[1:], strict=False)]
    if None in sizes:
        return None
    if any((d.below if d.radix is None else d.below.times(d.radix)) != _next(ordered, d) for d in digits):
        return None
    return [s for s in sizes if s is not None]


def _next(ordered: list[Size], digit: Digit) -> Size | None:
    """Where a digit has to end."""
    at = ordered.index(digit.below)
    if digit.radix is None:
        return ordered[-1]
    return ordered[at + 1] if at + 1 < len(ordered) else None


def _whole(places: dict[Digit, Size], sizes: list[Size]) -> list[int] | None:
    """The numbers of the digits in the order of the array's axes (the leading one is the last number), if their places
    are those of a whole array."""
    starts = [Size()]
    for s in sizes:
        starts.append(starts[-1].times(s))
    left, out, at = dict(places), list[int](), Size()
    while left:
        found = next((d for d, place in left.items() if place == at), None)
        if found is None or (found.radix is None and len(left) > 1):
            return None
        del left[found]
        out.append(starts.index(found.below))
        at = at if found.radix is None else at.times(found.radix)
    return out[::-1]


def _text(ctx: Context, base: Py, axis: eq.Axis, sizes: list[Size], order: list[int]) -> Py:
    leading = len(sizes)
    count = ctx.extent(axis)
    whole = Size()
    for s in sizes:
        whole = whole.times(s)
    rows = py.Un("-", py.Bin("//", py.Un("-", count), ctx.static(whole.linear())))
    extents = [*(ctx.static(s.linear()) for s in sizes), rows]
    if order == [*range(order[-1], order[0] + 1)][::-1]:
        part = _first(base, extents, order)
        if order[-1]:
            part = py.call("jnp.repeat", part, _product(extents[order[-1] - 1 :: -1]))
        return py.Sub(part, (Slice(None, count),)) if leading in order else py.call("jnp.resize", part, count)
    # not x[:c].reshape: an array may end where the last number does
    array: Py = py.call("jnp.resize", base, _shape([extents[k] for k in order]))
    shown = sorted(order, reverse=True)  # the leading digit first
    if shown != order:
        array = py.call("jnp.transpose", array, py.Tup(tuple(py.number(order.index(k)) for k in shown)))
    if shown == [*range(leading)][::-1]:
        return py.call("jnp.resize", array, count)
    if len(shown) <= leading:
        items = tuple(Slice() if k in order else NONE for k in range(shown[0], -1, -1))  # what is before broadcasts
        array = py.Sub(array, items) if NONE in items else array
        array = py.call("jnp.broadcast_to", array, py.Tup(tuple(extents[::-1])))
    return py.Sub(py.method(array, "ravel"), (Slice(None, count),))


def _first(base: Py, extents: list[Py], order: list[int]) -> Py:
    """As many elements as the digits have places."""
    return py.Sub(base, (Slice(None, _product([extents[k] for k in order])),))


def _product(extents: list[Py]) -> Py:
    whole = extents[0]
    for size in extents[1:]:
        whole = py.Bin("*", whole, size)
    return whole


def _shape(extents: list[Py]) -> Py:
    return extents[0] if len(extents) == 1 else py.Tup(tuple(extents))


__all__ = ["rearranged"]
