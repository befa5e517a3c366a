"""Flat arrays that are read and written under a view of rows of known length: whether the last row is whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from kraise.emit import tree
from kraise.emit.loads.masks import conjuncts
from kraise.emit.text.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, ArrayType, StructType

Key = tuple[str, tuple[eq.Expr, ...]]
_RIM = 4  # a rim is less than a quarter of a row whose length is a number
Ranges = dict[str, eq.Axis]
Masks = tuple[eq.Expr, ...]


@dataclass(frozen=True)
class Access:
    """A load or store, its view, the ranges of the indices around it, and the masks over it."""

    array: str
    view: tuple[eq.Expr, ...]
    subscripts: tuple[eq.Expr, ...]
    safe: bool
    ranges: Ranges
    masks: Masks = ()
    outside: tuple[eq.Outside | None, ...] = ()


def accesses(kernel: eq.Kernel) -> Iterator[Access]:
    """The loads and stores (a load in several ranges may come up once)."""
    around = {a.name: a for a in kernel.rounds}
    yield from _body(kernel.body, around)
    for value in kernel.returns:
        if not isinstance(value, eq.Version):
            yield from _loads(value, around)


def _body(body: tuple[eq.Stmt, ...], ranges: Ranges) -> Iterator[Access]:
    for s in body:
        match s:
            case eq.Write(axes=axes):
                inner = ranges | {a.name: a for a in axes}
                masks = () if s.where is None else (s.where,)
                yield Access(s.after.array, s.view, tree.last_of_stack(s), s.safe, inner, masks)
                for root in s.subscripts:
                    yield from _loads(root, inner, masks)
                for root in masks:  # what indices and sizes say is asked before what data say
                    first = tuple(c for c in conjuncts(root) if not any(isinstance(n, eq.Read) for n in tree.walk(c)))
                    yield from _loads(root, inner, first)
                yield from _loads(s.value, inner, masks)
            case eq.Fold(axis=axis):
                inner = ranges if axis is None else ranges | {axis.name: axis}
                for c in s.scalars:
                    own = {a.name: a for a in c.axes}
                    yield from _loads(c.init, ranges | own)
                    yield from _loads(c.update, inner | own)
                for o in s.outputs:
                    yield from _loads(o.value, inner | {a.name: a for a in o.axes})
                if s.condition is not None:
                    yield from _loads(s.condition, inner)
                yield from _body(s.body, inner)


def _loads(root: eq.Expr, ranges: Ranges, masks: Masks = ()) -> Iterator[Access]:
    seen: set[tuple[eq.Expr, Masks]] = set()
    stack = [(root, ranges, masks)]
    while stack:
        node, known, over = stack.pop()
        if (node, over) in seen:
            continue
        seen.add((node, over))
        if isinstance(node, eq.Read):
            yield Access(node.version.array, node.view, node.subscripts, node.safe, known, over, node.outside)
        inner = known | {a.name: a for a in tree.axes_of(node)}
        if isinstance(node, eq.Reduce | eq.ArgReduce) and node.where is not None:
            over = (*over, node.where)
        match node:
            case eq.Op(name="select", args=(c, a, b)) if _of_a_size(c):  # the array may end where it says
                stack += [(c, inner, over), (a, inner, (*over, c)), (b, inner, (*over, eq.Op("not", (c,), BOOL)))]
            case eq.Op(name="and" | "or" as name, args=(c, b)) if _of_a_size(c):
                stack += [(c, inner, over), (b, inner, (*over, c if name == "and" else eq.Op("not", (c,), BOOL)))]
            case _:
                stack += [(c, inner, over) for c in tree.children(node)]


def _of_a_size(mask: eq.Expr) -> bool:
    """Whether a condition asks how long an array is."""
    return any(isinstance(n, eq.Shape) for n in tree.walk(mask))


def whole(kernel: eq.Kernel) -> frozenset[Key]:
    """The views (with their first extents) that their array fills: some access is to their last cell, or a fixed
    number of cells before it (a rim that a stencil leaves alone).

    Rows of a pitch (``a[i * lda + j]`` with j < m <= lda) end where the last row is used: the array may end there, too.
    """
    tails = _tails(kernel)
    found = (
        a
        for a in accesses(kernel)
        if a.view
        if _as_many_as_there_are(a)
        or (
            (a.outside or not a.safe)
            and not _within_begun(a)
            and not _launched(a)
            and _at_last(a, tails.get(a.array, 0))
        )
    )
    return frozenset((a.array, a.view) for a in found)


def _as_many_as_there_are(a: Access) -> bool:
    """Whether the view shows the whole rows that the array has."""
    return len(a.view) > 1 and any(a.view == of_blocks(a.array, a.view[1:], empty) for empty in (False, True))


def of_blocks(array: str, sizes: tuple[eq.Expr, ...], empty: bool) -> tuple[eq.Expr, ...]:
    """The view of a flat array as the whole blocks (or rows) of these sizes that it has; ``empty``: they may hold no
    cell where the view is made."""
    block = reduce(lambda a, b: eq.Op("mul", (a, b), INT), sizes)
    if empty and not all(isinstance(s, eq.Const) for s in sizes):
        block = eq.Op("max", (block, eq.Const(1, INT)), INT)
    return (eq.Op("floordiv", (eq.Shape(array, 0, INT), block), INT), *sizes)


def _within_begun(a: Access) -> bool:
    """Whether a masked load stays within rows that are begun, ``(n - 1) // m + 1`` of m cells: the mask may be where
    the last of them ends."""
    leaves = any(p is not None and not (_nothing(p.before) and _nothing(p.after)) for p in a.outside)
    return a.safe and not leaves and _begun(linear(a.view[0]))


def _begun(rows: Linear) -> bool:
    """Whether so many rows may end with one that is only begun: ``n // m + 1``."""
    return rows.constant > 0 and any(isinstance(e, eq.Op) and e.name in ("floordiv", "tdiv") for e, _ in rows.terms)


def _launched(a: Access) -> bool:
    """Whether a masked load gets as far as the launch does, which may be a part of the rows, or more than there are."""
    ends = [p.after for p in a.outside if p is not None]
    rows = a.outside[0].limit if a.safe and a.outside and a.outside[0] is not None else None
    if isinstance(rows, eq.Param) and rows.name.startswith("threads."):
        return True
    return any(isinstance(n, eq.Param) and n.name.startswith(("grid.", "block.")) for n in tree.walk(*ends))


def _nothing(e: eq.Expr) -> bool:
    return isinstance(e, eq.Const) and e.value == 0


def _tails(kernel: eq.Kernel) -> dict[str, int]:
    """How many axes of each array its type fixes (one for ``float4 *``), by path, where there are any."""
    found: dict[str, int] = {}

    def visit(path: str, kind: object) -> None:
        match kind:
            case ArrayType(tail=tail) if tail:
                found[path] = len(tail)
            case StructType(members=members):
                for name, member in members:
                    visit(f"{path}.{name}", member)

    for p in kernel.params:
        visit(p.name, p.type)  # type: ignore[attr-defined]
    return found


def _at_last(a: Access, tail: int) -> bool:
    """Whether the access is to the last cell of its view, rims left out, for some values of its indices (whatever the
    subscripts of the ``tail`` axes that the type fixes); what depends on data counts as executed."""
    fixed: dict[str, Linear] = {}
    flat = len(a.view) - tail
    for at, (subscript, extent) in enumerate(zip(a.subscripts[:flat], a.view[:flat], strict=True)):
        part = a.outside[at] if a.outside else None
        if part is not None:  # the source goes as far as there
            if not linear(part.limit).same(linear(extent)):
                return False
            continue
        top = _top(linear(subscript), a.ranges, fixed)
        rim = None if top is None else linear(extent) - top + -1
        if rim is None or rim.terms or rim.constant < 0 or (rim.constant and not at and not linear(extent).terms):
            return False
        if rim.constant and not at and _begun(linear(extent)):
            return False  # what is left out is the row that is begun
        if at and not linear(extent).terms and rim.constant * _RIM > linear(extent).constant:
            return False  # the first column of rows of a pitch
    return all(_holds(m, a.ranges, fixed) for m in a.masks)


def _holds(mask: eq.Expr, ranges: Ranges, fixed: dict[str, Linear]) -> bool:
    """Whether a mask over indices holds for these values of them."""
    match mask:
        case eq.Op(name="and", args=args):
            return all(_holds(m, ranges, fixed) for m in args)
        case _ if any(isinstance(n, eq.Read | eq.CarryIn | eq.FoldResult) for n in tree.walk(mask)):
            return not _counted(mask, ranges)
        case eq.Op(name="lt" | "le" | "gt" | "ge" as name, args=(x, y)):
            gap = linear(y) - linear(x) if name in ("lt", "le") else linear(x) - linear(y)
            value = _top(gap, ranges, dict(fixed))
            return value is not None and not value.terms and value.constant >= (name in ("lt", "gt"))
    return False


def _counted(mask: eq.Expr, ranges: Ranges) -> bool:
    """Whether a number that is read says how far an index goes (``i < count[0]``): the array may end there."""

    def moves(e: eq.Expr) -> bool:
        return any(isinstance(n, eq.Index) and n.name in ranges for n in tree.walk(e))

    match mask:
        case eq.Op(name="lt" | "le", args=(low, high)) | eq.Op(name="gt" | "ge", args=(high, low)):
            reads = any(isinstance(n, eq.Read) for n in tree.walk(low))
            return moves(low) and not reads and not moves(high)
    return False


def _top(form: Linear, ranges: dict[str, eq.Axis], fixed: dict[str, Linear]) -> Linear | None:
    """The largest value of a subscript, which fixes the indices that it names; those that are fixed stay."""
    for _ in range(2 * len(ranges) + 1):
        # the smaller of two sizes is neither of them
        bounded = [a for a, _ in form.terms if isinstance(a, eq.Op) and a.name in _BOUNDED]
        clamped = next((a for a in bounded if a.name != "min" or _moves(a, ranges)), None)
        if clamped is not None and form.coefficient(clamped) == 1:
            form = form.without(clamped) + _end(clamped, ranges)
            continue
        moving = [(atom, c) for atom, c in form.terms if isinstance(atom, eq.Index) and atom.name in ranges]
        if not moving:
            return form
        atom, c = moving[0]
        if atom.name not in fixed:
            axis = ranges[atom.name]
            fixed[atom.name] = linear(axis.hi) + -1 if c > 0 else linear(axis.lo)
        form = form.without(atom) + fixed[atom.name].times(c)
    return None


def _moves(e: eq.Expr, ranges: dict[str, eq.Axis]) -> bool:
    return any(isinstance(n, eq.Index) and n.name in ranges for n in tree.walk(e))


_BOUNDED = ("min", "max", "mod", "tmod")


def _end(node: eq.Op, ranges: dict[str, eq.Axis]) -> Linear:
    """What a clamped or wrapped index reaches: the end that it is clamped to, what is clamped at the other end, or the
    last number before the modulus."""
    a, b = node.args
    if node.name in ("mod", "tmod"):
        return linear(b) + -1
    moves = _moves(a, ranges)
    if node.name == "min":
        return linear(b if moves else a)
    return linear(a if moves else b)


def expression(value: Linear) -> eq.Expr:
    """A sum as an expression."""
    out: eq.Expr | None = None
    for atom, c in value.terms:
        part = atom if c == 1 else eq.Op("mul", (eq.Const(c, INT), atom), INT)
        out = part if out is None else eq.Op("add", (out, part), INT)
    if out is None:
        return eq.Const(value.constant, INT)
    return eq.Op("add", (out, eq.Const(value.constant, INT)), INT) if value.constant else out
