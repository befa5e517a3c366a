"""The bits of a place in reverse order, as what they are: ``8 * (t % 2) + 4 * (t // 2 % 2) + ... + t // 8``.

A tree of halving strides prefers, of equal elements, the one whose place is first in this order. For the places of an
axis it is a table, ``jnp.arange(16).reshape((2,) * 4).T.ravel()`` (an axis for each bit, the axes turned round), and
the table takes a place back, too: it is its own inverse. Of as many places as a block has threads, a power of two that
the launch says, the weights are parts of that number: ``block // 2 * (t % 2) + block // 4 * (t // 2 % 2) + ...``.
"""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.context import Assign, Frame, Val
from kraise.emit.loads.mapped import Axes, mapped, named
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import Atom
from kraise.ir import equations as eq
from kraise.ir.types import INT

NAME = "bit_reverse"  # an operation of the emitter's own: of a place below a power of two, and that number
_LEAST = 8  # places: of fewer the sum is as short
_BITS = 10  # of the number of a thread of the largest block


def turned(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such sums as reversals."""
    memo: dict[tuple[eq.Expr, Axes], eq.Expr] = {}
    sizes: dict[eq.Expr, eq.Expr] = {}  # extrema of such numbers, which are below that

    def rewritten(node: eq.Expr, axes: Axes) -> eq.Expr:
        if (node, axes) not in memo:
            inner = (*axes, *tree.axes_of(node))
            out = tree.rebuilt(node, {c: rewritten(c, inner) for c in tree.children(node)})
            if isinstance(out, eq.Op) and out.name == "add" and out.type.is_integer:
                out = _sum(out, axes, sizes)
            if isinstance(out, eq.Reduce) and out.op in ("min", "max") and (size := _size(out.body)) is not None:
                sizes[out] = size
            memo[node, axes] = out
        return memo[node, axes]

    done = mapped(kernel, rewritten)
    return named(done, ((old, new) for (old, _), new in memo.items()))


def _size(e: eq.Expr) -> eq.Expr | None:
    match e:
        case eq.Op(name="bit_reverse", args=(_, size)):
            return size
    return None


def _sum(e: eq.Op, axes: Axes, sizes: dict[eq.Expr, eq.Expr]) -> eq.Expr:
    """A sum with the bits of one place in it, all of them in reverse order, as that of their reversal."""
    form = linear(e)
    weighed: dict[tuple[eq.Expr, eq.Expr], dict[eq.Expr, int]] = {}
    for atom, c in form.terms:
        if c == 1 and (found := _weighed(atom)) is not None:
            weighed.setdefault(found[:2], {})[atom] = found[2]
    for (place, whole), bits in weighed.items():
        if sorted(bits.values()) == [*range(_BITS)] and whole in (sizes.get(place), _end(place, axes)):
            rest = Linear(tuple((a, c) for a, c in form.terms if a not in bits), form.constant)
            return _with(rest, eq.Op(NAME, (place, whole), e.type), e)
    for place in dict.fromkeys(x for atom, _ in form.terms if (x := _bit(atom)[0]) is not None):
        known = sizes.get(place)
        size = int(known.value.real) if isinstance(known, eq.Const) else _extent(place, axes)
        if size < _LEAST or size & size - 1:
            continue
        numbers = {atom: _bit(atom, size)[1] for atom, _ in form.terms if _bit(atom, size)[0] is place}
        wanted = {(k, size >> k + 1) for k in range(size.bit_length() - 1)}
        if len(numbers) == len(wanted) and {(numbers[a], c) for a, c in form.terms if a in numbers} == wanted:
            rest = Linear(tuple((a, c) for a, c in form.terms if a not in numbers), form.constant)
            return _with(rest, eq.Op(NAME, (place, eq.Const(size, INT)), e.type), e)
    return e


def _with(rest: Linear, value: eq.Expr, e: eq.Op) -> eq.Expr:
    out = value
    for atom, c in rest.terms:
        part = atom if c == 1 else eq.Op("mul", (eq.Const(c, INT), atom), e.type)
        out = eq.Op("add", (part, out), e.type)
    return eq.Op("add", (out, eq.Const(rest.constant, INT)), e.type) if rest.constant else out


def _bit(e: eq.Expr, size: int = 0) -> tuple[eq.Expr | None, int | None]:
    """The place and the number of the bit that ``e`` is: ``t // 4 % 2`` is number 2, ``t // 8`` the last one of places
    below ``size`` = 16."""
    match e:
        case eq.Op(name="mod", args=(eq.Op(name="floordiv", args=(x, eq.Const(value=int() as by))), eq.Const(value=2))):
            return (x, by.bit_length() - 1) if by > 0 and not by & by - 1 else (None, None)
        case eq.Op(name="mod", args=(x, eq.Const(value=2))):
            return x, 0
        case eq.Op(name="floordiv", args=(x, eq.Const(value=int() as by))) if by > 0 and 2 * by == size:
            return x, by.bit_length() - 1
    return None, None


def _weighed(e: eq.Expr) -> tuple[eq.Expr, eq.Expr, int] | None:
    """t, the number of places and 1 of ``block // 4 * (t // 2 % 2)``."""
    match e:
        case eq.Op(name="mul", args=(a, b)):
            for weight, bit in ((a, b), (b, a)):
                place, number = _bit(bit)
                match weight:
                    case eq.Op(name="floordiv", args=(whole, eq.Const(value=int() as by))):
                        if place is not None and number is not None and by == 2 << number:
                            return place, whole, number
    return None


def _end(place: eq.Expr, axes: Axes) -> eq.Expr | None:
    """The end of the axis that a place is of, if it begins at 0."""
    a = next((a for a in axes if isinstance(place, eq.Index) and a.name == place.name), None)
    return a.hi if a is not None and a.step == 1 and linear(a.lo) == linear(eq.Const(0, INT)) else None


def _extent(place: eq.Expr, axes: Axes) -> int:
    """The number of places of an axis from 0 on."""
    a = next((a for a in axes if isinstance(place, eq.Index) and a.name == place.name), None)
    if a is None or a.step != 1 or linear(a.lo).terms or linear(a.hi).terms or linear(a.lo).constant:
        return 0
    return linear(a.hi).constant


def lowered(low: Lowering, node: eq.Op, frame: Frame) -> Val:
    """The table at the places of an axis, or at one that was chosen."""
    place = node.args[0]
    table = Atom(_table(low, node.args[1]))
    own = next((a for a in frame if isinstance(place, eq.Index) and a.name == place.name), None)
    if own is not None:
        return low.extend(table, (own,), frame)
    value = low.lower(place, frame)
    return Val(py.Sub(table, (value.py,)), value.axes, value.rank)


def _table(low: Lowering, size: eq.Expr) -> str:
    known = low.ctx.blocks[0].variables
    key = (NAME, size, None)
    if key not in known:
        name = low.ctx.names.fresh("bit_order")
        bits = py.Tup((py.number(2),))
        many, axes = low.ctx.static(size), py.number(0)
        if isinstance(size, eq.Const):
            axes = py.number(int(size.value.real).bit_length() - 1)
        else:
            axes = py.Bin("-", py.method(many, "bit_length"), py.number(1))
        text = py.method(py.call("jnp.arange", many), "reshape", py.Bin("*", bits, axes))
        low.ctx.emit(Assign(name, py.method(py.Attr(text, "T"), "ravel")), 0)
        known[key] = (name, ())
    return known[key][0]
