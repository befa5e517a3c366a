"""Loads by block and thread under a mask on their flat position: rows of the launch's size, filled up with zeros.

``x[b * block + t] if b * block + t < n else 0`` is a cell of ``x[:n]``, filled up with zeros to ``grid`` rows of
``block``: no mask, and no index array to compare with ``n``. The limit is taken where every use of the load is under
such a mask. Where some load of the array in these rows is under no other, the source reads as far as there, and the
array has these cells (one that ends before them raises).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import permutations

from kraise.emit import tree
from kraise.emit.context import Assign, Context
from kraise.emit.loads.masks import Masks, is_static
from kraise.emit.loads.views import expression
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import Atom, Py, Slice
from kraise.emit.text.spelling import beyond_weak
from kraise.ir import equations as eq
from kraise.ir.types import INT, INT32

Terms = dict[tuple[eq.Expr, ...], int]


def terms(e: eq.Expr) -> Terms:
    """An integer expression as a polynomial over what is no sum or product: coefficients by sorted factors."""
    match e:
        case eq.Const(value=int() as value):
            return {(): value} if value else {}
        case eq.Op(name="add" | "sub" as name, args=(a, b)):
            return _sum(terms(a), terms(b), 1 if name == "add" else -1)
        case eq.Op(name="neg", args=(a,)):
            return _sum({}, terms(a), -1)
        case eq.Op(name="mul", args=(a, b)):
            out: Terms = {}
            for m, c in terms(a).items():
                for n, d in terms(b).items():
                    out = _sum(out, {tuple(sorted((*m, *n), key=repr)): c * d}, 1)
            return out
        case eq.Shape(array=array, axis=axis):
            return {(eq.Shape(array, axis, INT),): 1}  # whatever the width in which it is computed with
    return {(e,): 1}


def _sum(a: Terms, b: Terms, sign: int) -> Terms:
    out = {m: a.get(m, 0) + sign * b.get(m, 0) for m in (*a, *(m for m in b if m not in a))}
    return {m: c for m, c in out.items() if c}


def position(node: eq.Read) -> Terms:
    """The flat position of a load under a view."""
    flat: eq.Expr = node.subscripts[0]
    for s, extent in zip(node.subscripts[1:], node.view[1:] if node.view else (), strict=False):
        if isinstance(extent, eq.Shape) and extent.array == node.version.array:
            break  # the array's own axes behind the flat one
        flat = eq.Op("add", (eq.Op("mul", (flat, extent), INT), s), INT)
    return terms(flat)


def limit(mask: eq.Expr, place: Terms) -> Linear | None:
    """The sum of sizes below which ``place`` is exactly where the mask holds, if that is what the mask says."""
    match mask:
        case eq.Op(name="lt" | "le" | "gt" | "ge" as name, args=(a, b)) if a.type.is_integer and b.type.is_integer:
            low, high = (a, b) if name in ("lt", "le") else (b, a)
            top = _sum(_sum(terms(high), terms(low), -1), place, 1)
            top = _sum(top, {(): 1}, 1) if name in ("le", "ge") else top
            if all(len(m) < 2 and all(map(is_static, m)) for m in top):
                parts = (linear(m[0]).times(c) for m, c in top.items() if m)
                return sum(parts, Linear((), top.get((), 0)))
    return None


def of_places(mask: eq.Expr) -> bool:
    """Whether a mask compares polynomials of indices and sizes."""
    match mask:
        case eq.Op(name="lt" | "le" | "gt" | "ge", args=(a, b)) if a.type.is_integer and b.type.is_integer:
            return all(isinstance(f, eq.Index) or is_static(f) for m in (*terms(a), *terms(b)) for f in m)
    return False


def limits(place: Terms, masks: Masks) -> tuple[list[Linear], bool]:
    """The limits that masks set to a place, and whether they do nothing else."""
    found = [limit(m, place) for m in masks]
    return [f for f in found if f is not None], None not in found


def by_launch(view: tuple[eq.Expr, ...]) -> bool:
    """Whether a view has rows of the launch's block size, which an array need not fill."""
    return any(isinstance(n, eq.Param) and n.name.startswith(("block.", "grid.")) for n in tree.walk(*view))


Rows = tuple[tuple[eq.Expr, ...], tuple[eq.Expr, ...]]
_MOST_DIGITS = 4


def digits(place: Terms, axes: Iterable[eq.Axis]) -> tuple[eq.Axis, ...] | None:
    """The axes in the order in which they are the digits of a place, None if they are not."""
    axes = tuple(axes)
    if not 1 < len(axes) <= _MOST_DIGITS or any(a.step != 1 or terms(a.lo) for a in axes):
        return None
    for order in permutations(axes):
        number: eq.Expr = eq.Index(order[0].name, INT)
        for a in order[1:]:
            number = eq.Op("add", (eq.Op("mul", (number, a.hi), INT), eq.Index(a.name, INT)), INT)
        if terms(number) == place:
            return order
    return None


def _indices(place: Terms) -> set[str]:
    return {f.name for m in place for f in m if isinstance(f, eq.Index)}


def _rows(place: Terms, axes: list[eq.Axis]) -> Rows | None:
    """The subscripts and extents of rows in which a place lies: digits, or a block's number and a place within it."""
    order = digits(place, axes)
    if order is not None:
        return tuple(eq.Index(a.name, INT) for a in order), tuple(a.hi for a in order)
    for block in axes:
        index = eq.Index(block.name, INT)
        size = place.get((index,), 0)
        rest = _sum(place, {(index,): size}, -1)
        if size > 1 and block.step == 1 and not terms(block.lo) and block.name not in _indices(rest):
            within = _within(rest, size, axes)
            if within is not None:
                return (index, within), (block.hi, eq.Const(size, INT))
    return _parts(place, axes)


def _within(rest: Terms, size: int, axes: list[eq.Axis]) -> eq.Expr | None:
    """A place within a block of ``size`` cells, None if it may be outside: counted from the end, or a remainder."""
    for a in axes:
        index = eq.Index(a.name, INT)
        if rest == {(): size - 1, (index,): -1} and terms(a.lo) == {} and terms(a.hi) == {(): size}:
            return eq.Op("sub", (eq.Const(size - 1, INT), index), INT)
        if rest.get((index,)) == 1 and rest.keys() <= {(), (index,)} and terms(a.lo).keys() <= {()}:
            start, last = (rest.get((), 0) + terms(e).get((), 0) for e in (a.lo, a.hi))
            if terms(a.hi).keys() <= {()} and start >= 0 and last <= size:  # a part of the block, from some cell on
                return index if not rest.get(()) else eq.Op("add", (index, eq.Const(rest[()], INT)), INT)
    match list(rest.items()):
        case [((eq.Op(name="mod", args=(_, eq.Const(value=modulus))) as found,), 1)] if modulus == size:
            return found
    return None


def _parts(place: Terms, axes: list[eq.Axis]) -> Rows | None:
    """The same of ``block * (k * threads) + j * threads + t``: a row holds k parts, one element of each a thread."""
    for thread in axes:
        index = eq.Index(thread.name, INT)
        match list(terms(thread.hi).items()):
            case [(size, 1)] if size and not terms(thread.lo) and place.get((index,)) == 1:
                rest = _sum(place, {(index,): 1, size: place.get(size, 0)}, -1)
                part = place.get(size, 0)
                match list(rest.items()):
                    case [(found, k)] if 0 <= part < k and k > 1:
                        for block in axes:
                            number = eq.Index(block.name, INT)
                            if found == tuple(sorted((number, *size), key=repr)) and not terms(block.lo):
                                whole = eq.Op("mul", (eq.Const(k, INT), thread.hi), INT)
                                start = eq.Op("mul", (eq.Const(part, INT), thread.hi), INT)
                                within = eq.Op("add", (start, index), INT) if part else index
                                return (number, within), (block.hi, whole)
    return None


class Filled:
    """The limits of the loads by block and thread of a kernel: :meth:`see` each use, then ask :meth:`found`."""

    def __init__(self) -> None:
        self.limits: dict[eq.Read, list[Linear]] = {}
        self.rows: dict[eq.Read, Rows] = {}
        self.reached: dict[tuple[eq.Version, tuple[eq.Expr, ...]], list[Linear]] = {}

    def see(self, node: eq.Read, masks: Masks, ranges: Mapping[str, eq.Axis]) -> None:
        """Takes note of a use of a load: the masks over it, the ranges of its indices."""
        rows: Rows | None = (node.subscripts, node.view) if by_launch(node.view) else None
        if rows is None and not node.view and node.subscripts:
            place, array = terms(node.subscripts[0]), node.version.array
            own = tuple(eq.Shape(array, k, INT32) for k in range(1, len(node.subscripts)))
            found = _rows(place, [ranges[n] for n in sorted(_indices(place)) if n in ranges])
            rows = ((*found[0], *node.subscripts[1:]), (*found[1], *own)) if found else None
        mine, only = limits(position(node), masks) if rows else ([], False)
        before = self.limits.get(node)
        if not rows or self.rows.setdefault(node, rows) != rows:
            mine = []
        self.limits[node] = mine if before is None else [x for x in before if any(x.same(m) for m in mine)]
        if rows and mine and only and all(m.same(mine[0]) for m in mine):
            self.reached.setdefault((node.version, rows[1]), []).append(mine[0])

    def found(self) -> Iterator[tuple[eq.Read, Rows, eq.Expr]]:
        """The loads with a limit: their subscripts and view, and the limit (the array's end may come before it where
        nothing shows that the source reads as far)."""
        for node, mine in self.limits.items():
            if not mine:
                continue
            reached = self.reached.get((node.version, self.rows[node][1]), ())
            # a number is reached for sizes that are large enough only
            top = next((m for m in mine if m.terms and any(m.same(r) for r in reached)), None)
            end = eq.Shape(node.version.array, 0, INT32)
            limit: eq.Expr = eq.Op("min", (expression(mine[0]), end), INT)
            if top is not None or any(m.same(linear(end)) for m in mine):
                limit = end if top is None else expression(top)
            yield node, self.rows[node], limit


def beyond(node: eq.Read, mask: eq.Expr) -> bool:
    """Whether a load with a limit is from there on wherever the mask does not hold."""
    top = limit(mask, position(node))
    return top is not None and node.limit is not None and _is_below(node.limit.limit, top)


def _is_below(limit: eq.Expr, top: Linear) -> bool:
    """Whether a limit is ``top``, or an array's end if that comes before it."""
    match limit:
        case eq.Op(name="min", args=(a, eq.Shape())):
            return _is_below(a, top)
    return linear(limit).same(top)


# --- their text ----------------------------------------------------------------------------------


def filled_up(
    context: Context,
    array: Py,
    view: tuple[eq.Expr, ...],
    top: eq.Outside,
    depth: int,
    behind: int = 0,
    at: tuple[Py, ...] = (),
) -> tuple[Py, tuple[Py, ...]]:
    """The cells of a flat array below a limit, filled up to the size of a view, and the view's extents; ``behind`` of
    them are the array's own, behind the flat axis. ``at``: the places on those axes, where one cell of each is read."""
    tail = tuple(context.static(v) for v in view[len(view) - behind :])
    view = view[: len(view) - behind]
    extents, whole = sizes(context, view, top.limit, depth)
    end = count(context, view, top.limit, depth)
    widths = py.Tup((py.number(0), py.Bin("-", whole, end)))
    if tail:
        widths = py.Tup((widths, *(py.Tup((py.number(0), py.number(0))) for _ in tail)))
    fill = {"constant_values": _number(top.fill)} if isinstance(top.fill, eq.Const) else {}
    return py.call("jnp.pad", py.Sub(array, (Slice(None, end), *at)), widths, **fill), (*extents, *tail)


def column(context: Context, node: eq.Read, top: eq.Outside, behind: int) -> tuple[Py, eq.Read] | None:
    """A load of one column (``v[i, 0]``) from the rows of a launch: the variable that holds the column in such rows,
    and the load from it. Only the column is filled up: XLA does not fuse the rows of all columns with what takes one
    (measured on two columns: 0.4 of the time)."""
    head, at = node.subscripts[: len(node.subscripts) - behind], node.subscripts[len(node.subscripts) - behind :]
    numbers = tuple(s.value for s in at if isinstance(s, eq.Const) and type(s.value) is int and s.value >= 0)
    if not behind or len(numbers) < behind or top.fill is not None:
        return None
    view = node.view[: len(node.view) - behind]
    key = ("view", node.version, (*view, top, *at))
    known = next((b.variables[key][0] for b in context.blocks if key in b.variables), None)
    if known is None:
        depth = next((d for d, b in enumerate(context.blocks) if node.version in b.bound), 0)
        array = context.array(node.version)
        part, extents = filled_up(context, array, view, top, depth, at=tuple(map(py.number, numbers)))
        known = context.names.fresh("_".join(map(str, (node.version.array.split(".")[-1], *numbers))))
        context.emit(Assign(known, py.method(part, "reshape", *extents)), depth)
        context.blocks[depth].variables[key] = (known, ())
    return Atom(known), replace(node, subscripts=head, view=view)


def _number(fill: eq.Const) -> Py:
    text = py.number(fill.value)
    return py.call(f"jnp.{fill.type}", text) if beyond_weak(fill) else text


def sizes(context: Context, view: tuple[eq.Expr, ...], limit: eq.Expr, depth: int) -> tuple[tuple[Py, ...], Py]:
    """The extents of a view as text, and their product."""
    if not holds_all(view, limit):
        return tuple(context.static(v) for v in view), context.static(linear(product(view)))
    rest = tuple(context.static(v) for v in view[1:])
    row = context.static(linear(product(view[1:])))
    end = context.at_least_zero(linear(limit))
    rounds = py.Un("-", py.Bin("//", py.Un("-", end), row))
    first = _variable(context, "rows", limit, view, rounds, depth)
    return (first, *rest), py.Bin("*", first, row)


def product(extents: tuple[eq.Expr, ...]) -> eq.Expr:
    """The product of extents."""
    size = extents[0]
    for e in extents[1:]:
        size = eq.Op("mul", (size, e), INT)
    return size


def view_size(view: tuple[eq.Expr, ...], rank: int = 1) -> eq.Expr:
    """The product of a view's extents, but for those of the axes that an array of ``rank`` has besides the flat one."""
    return product(view[: len(view) - rank + 1])


def count(context: Context, view: tuple[eq.Expr, ...], limit: eq.Expr, depth: int) -> Py:
    """How many cells of a view lie below ``limit``, as text."""
    end = context.at_least_zero(linear(limit))
    if holds_all(view, limit):
        return end
    whole = sizes(context, view, limit, depth)[1]
    parts = limit.args if isinstance(limit, eq.Op) and limit.name == "min" else (limit,)
    ends = [context.at_least_zero(linear(e)) for e in parts]
    return _variable(context, "count", limit, view, py.call("min", *ends, whole), depth)


def holds_all(view: tuple[eq.Expr, ...], limit: eq.Expr) -> bool:
    """Whether a view has ``(limit + row - 1) // row`` rows: the cells below the limit are all in it."""
    row, one = product(view[1:]), eq.Const(1, INT)
    match view[0]:
        case eq.Op(name="floordiv", args=(a, b)):
            top: eq.Expr = eq.Op("sub", (eq.Op("add", (limit, row), INT), one), INT)
        case eq.Op(name="add", args=(eq.Op(name="floordiv", args=(a, b)), eq.Const(value=1))):
            top = eq.Op("sub", (limit, one), INT)
        case _:
            return False
    return terms(b) == terms(row) and terms(a) == terms(top)


def _variable(context: Context, name: str, what: eq.Expr, view: tuple[eq.Expr, ...], value: Py, depth: int) -> Py:
    key = (name, what, view)
    for block in context.blocks[: depth + 1]:  # what a round has made is not known before the loop
        if key in block.variables:
            return Atom(block.variables[key][0])
    text = context.names.fresh(name)
    context.emit(Assign(text, value), depth)
    context.blocks[depth].variables[key] = (text, ())
    return Atom(text)


def none_negative(context: Context, size: eq.Expr) -> eq.Expr:
    """An extent that is smaller than some size of the source: nothing where it would be negative."""
    form = linear(size)
    if form.constant >= 0 or not form.terms or context.never_negative(form):
        return size
    return eq.Op("max", (size, eq.Const(0, INT)), INT)


def one_or_more(context: Context, size: eq.Expr, text: Py) -> Py:
    """The same, at least one."""
    form = linear(size)
    if form.constant >= 0 or not form.terms or context.never_negative(form + -1):
        return text
    return py.call("max", context.static(size), py.number(1))
