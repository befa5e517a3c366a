"""Loops that make an array row by row, each from the last few: they carry these rows, not the array.

``a[i, j] = f(a[i - 1, …], …)`` for all j reads of the array what the last rounds stored, and beside it only cells that
no round has stored yet. The rows go from round to round, what the rounds store is stacked, and one store puts it into
the array. (The gradient of a loop that carries the array adds to all of it in each round: of 400 rows it took 12 times
as long.)

Side conditions, each checked: a round stores cells of one row, once or several times (the same ones each time), whose
number is the round's own and a constant beside it; every load of the array is of a row that is a constant number of
rows away; the first rows are rows of the array, or nothing uses what a load finds there. Other arrays may be carried
beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from kraise.analysis.conditions import is_static
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT, NUMBER, ScalarType
from kraise.ir.walk import free_indices, map_statement, topological, transform
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.context import Context, array_type
from kraise.raising.run.state import LocalArray

FURTHEST = 3  # rows that are carried


@dataclass(frozen=True)
class _Store:
    """One of the stores that a round makes to its row: the indices beside the row's number, and whether it is all."""

    write: eq.Write
    beside: tuple[eq.Index, ...]
    whole: bool


@dataclass(frozen=True)
class _Rows:
    """The stores of a loop to one array: which subscript counts rows (``at``), the extents beside it, how many rows
    back a round looks, and which of these rows there are before the first round."""

    stores: tuple[_Store, ...]
    carry: eq.ArrayCarry
    at: int
    extents: tuple[eq.Expr, ...]
    depth: int = 0
    begun: tuple[bool, ...] = ()

    @property
    def row(self) -> eq.Expr:
        return self.stores[0].write.subscripts[self.at]

    @property
    def chain(self) -> list[eq.Version]:
        """The versions of the array in a round: before all stores, after the first, and so on."""
        return [self.carry.entry, *(s.write.after for s in self.stores)]

    def back(self, s: eq.Fold, read: eq.Read) -> int | None:
        """How many rounds ago the row of a load was stored, 0: in this one, below: in one to come; None: it differs."""
        if not index_like(read.subscripts[self.at]):
            return None
        gap = (to_poly(self.row) - to_poly(read.subscripts[self.at])).value
        return None if gap is None else int(-gap if s.reverse else gap)

    def axes(self) -> tuple[eq.Axis, ...]:
        beside = self.stores[0].beside
        return tuple(eq.Axis(i.name, eq.Const(0, INT), e) for i, e in zip(beside, self.extents, strict=True))

    def cell(self, row: eq.Expr) -> eq.Read:
        """A cell of the array before the loop."""
        first = self.stores[0]
        subs = (*first.beside[: self.at], row, *first.beside[self.at :])
        return eq.Read(self.carry.outside, subs, first.write.value.type, first.write.view)

    def lane(self, read: eq.Read) -> tuple[eq.Expr, ...]:
        return (*read.subscripts[: self.at], *read.subscripts[self.at + 1 :])


def by_rows(stmts: tuple[eq.Stmt, ...], cx: Context) -> tuple[tuple[eq.Stmt, ...], Callable[[eq.Expr], eq.Expr]]:
    """The statements with such loops over their rows, and what names values by their new form."""
    out: list[eq.Stmt] = []
    moved: list[Callable[[eq.Expr], eq.Expr]] = []
    for s in stmts:
        after: list[eq.Stmt] = []
        for carry in s.arrays if isinstance(s, eq.Fold) else ():
            assert isinstance(s, eq.Fold)
            rows = _rows(s, carry)
            if rows is not None:
                before, s, last = _made(cx, s, rows, moved)
                out += before
                after.append(last)
        out += [s, *after]
    return tuple(out), lambda e: reduce(lambda x, fn: fn(x), moved, e)


def _rows(s: eq.Fold, carry: eq.ArrayCarry) -> _Rows | None:
    axis = s.axis
    if axis is None or axis.step != 1 or s.condition is not None or s.mapped or s.unroll:
        return None
    body = [w for w in s.body if isinstance(w, eq.Write)]
    own = [w for w in body if w.after.array == carry.entry.array]
    if len(body) < len(s.body) or not own:
        return None
    if [w.before for w in own] + [carry.exit] != [carry.entry] + [w.after for w in own]:
        return None
    index, first = eq.Index(axis.name, INT), own[0]
    moving = [d for d, x in enumerate(first.subscripts) if axis.name in free_indices(x)]
    if len(first.subscripts) < 2 or len(moving) != 1 or not index_like(first.subscripts[moving[0]]):
        return None
    (at,) = moving
    if (to_poly(first.subscripts[at]) - to_poly(index)).value is None:
        return None
    sizes = first.view or tuple(eq.Shape(carry.outside.array, d, INT) for d in range(len(first.subscripts)))
    extents = tuple(e for d, e in enumerate(sizes) if d != at)
    stores = tuple(x for w in own if (x := _store(w, first, at, extents, axis.name)) is not None)
    if len(stores) < len(own):
        return None
    rows = _Rows(stores, carry, at, extents)
    loads = _loads(s, rows)
    depth = max((back for _, back in loads), default=0) if loads is not None else 0
    if loads is None or not 1 <= depth <= FURTHEST:
        return None
    gap = _gap(s, rows, sizes[at])
    if gap is None:
        return None
    begun = tuple(gap >= back for back in range(1, depth + 1))
    # a row before the first of the array: nothing uses what such a load finds
    if not all(begun[back - 1] or n.safe for n, back in loads if back > 0):
        return None
    return replace(rows, depth=depth, begun=begun)


def _store(w: eq.Write, first: eq.Write, at: int, extents: tuple[eq.Expr, ...], index: str) -> _Store | None:
    """A store to the cells of one row that ``first`` stores to."""
    if w.accumulate not in ("", "add") or w.safe or w.segments or w.view != first.view:
        return None
    if len(w.subscripts) != len(first.subscripts) or w.subscripts[at] is not first.subscripts[at]:
        return None
    beside = tuple(x for d, x in enumerate(w.subscripts) if d != at and isinstance(x, eq.Index))
    named = {a.name: a for a in w.axes}
    if len(beside) < len(extents) or len(set(beside)) != len(beside) or {x.name for x in beside} != set(named):
        return None
    if any(a.step != 1 or not is_static(to_poly(e)) for a, e in zip(w.axes, extents, strict=True)):
        return None
    own = [named[x.name] for x in beside]
    if any(index in free_indices(b) for a in own for b in (a.lo, a.hi)):
        return None
    if w is not first:
        others = {a.name: a for a in first.axes}
        same = [others[x.name] for d, x in enumerate(first.subscripts) if d != at and isinstance(x, eq.Index)]
        pairs = ((x, y) for a, b in zip(own, same, strict=True) for x, y in ((a.lo, b.lo), (a.hi, b.hi)))
        if any(to_poly(x) != to_poly(y) for x, y in pairs):
            return None
    whole = all(to_poly(a.lo).value == 0 and to_poly(a.hi) == to_poly(e) for a, e in zip(own, extents, strict=True))
    return _Store(w, beside, whole)


def _loads(s: eq.Fold, rows: _Rows) -> list[tuple[eq.Read, int]] | None:
    """The loads of the array in a round, each with how many rounds back its row is; None where that is not known."""
    chain, view = set(rows.chain), rows.stores[0].write.view
    kept = [e for x in s.scalars for e in (x.init, x.update)] + [x.value for x in s.outputs]
    for w in s.body:
        assert isinstance(w, eq.Write)
        kept += [*w.subscripts, w.value, *(() if w.where is None else (w.where,))]
        ends = topological([b for a in w.axes for b in (a.lo, a.hi)])
        if any(isinstance(n, eq.Read) and n.version in chain for n in ends):
            return None
    out: list[tuple[eq.Read, int]] = []
    for n in topological(kept):
        if not isinstance(n, eq.Read) or n.version not in chain:
            continue
        if n.view != view or n.outside or n.limit or len(n.subscripts) != len(rows.extents) + 1:
            return None
        back = rows.back(s, n)
        if back is None:
            return None
        out.append((n, back))
    return out


def _first(s: eq.Fold, rows: _Rows) -> Poly:
    """The row that the first round stores."""
    assert s.axis is not None
    begun = to_poly(s.axis.hi) - 1 if s.reverse else to_poly(s.axis.lo)
    return begun + to_poly(rows.row) - to_poly(eq.Index(s.axis.name, INT))


def _gap(s: eq.Fold, rows: _Rows, extent: eq.Expr) -> int | None:
    """How many rows of the array stand before the one that the first round stores; None where that is not known."""
    first = _first(s, rows)
    gap = (to_poly(extent) - 1 - first if s.reverse else first).value
    return None if gap is None else int(gap)


def _made(
    cx: Context, s: eq.Fold, rows: _Rows, moved: list[Callable[[eq.Expr], eq.Expr]]
) -> tuple[list[eq.Stmt], eq.Fold, eq.Write]:
    """What stands before the loop, the loop over its rows, and the store after it; what makes its loads those of rows
    is put into ``moved``."""
    assert s.axis is not None
    carry, axes = rows.carry, rows.axes()
    kind, like = _element(cx, carry.outside.array, rows.stores[0].write.value.type)
    names = [_name(cx, carry.outside.array, back) for back in range(1, rows.depth + 1)]
    first, by = _first(s, rows), -1 if s.reverse else 1
    out: list[eq.Stmt] = []
    arrays: list[eq.ArrayCarry] = []
    for back, name in enumerate(names, 1):
        cx.made[name] = LocalArray(name, (), rows.extents, kind, like, private=True)
        begun = cx.version(name)
        out.append(eq.New(begun, kind, rows.extents, eq.Const(0, INT), like, s.span))
        if rows.begun[back - 1]:
            empty, begun = begun, cx.version(name)
            row = rows.cell(to_expr(first - by * back))
            out.append(eq.Write(empty, begun, axes, rows.stores[0].beside, row, covers=True, span=s.span))
        arrays.append(eq.ArrayCarry(begun, cx.version(name), cx.version(name), cx.version(name)))
    between = [cx.version(names[0]) for _ in rows.stores[1:]]
    made = dict(zip(rows.chain[1:], (*between, arrays[0].exit), strict=True))

    def load(n: eq.Expr) -> eq.Expr:
        if not isinstance(n, eq.Read) or (n.version is not carry.entry and n.version not in made):
            return n
        back = rows.back(s, n)
        assert back is not None
        if back > 0:
            return eq.Read(arrays[back - 1].entry, rows.lane(n), n.type, (), n.safe)
        if back < 0 or n.version is carry.entry:
            return replace(n, version=carry.outside)
        return eq.Read(made[n.version], rows.lane(n), n.type, (), n.safe)

    def fn(e: eq.Expr) -> eq.Expr:
        return transform(e, load)

    moved.append(fn)
    body: list[eq.Stmt] = []
    before, stored = arrays[0].entry, {x.write.after: x for x in rows.stores}
    value: eq.Expr = eq.Const(0, INT)
    for w in s.body:
        assert isinstance(w, eq.Write)
        own = stored.get(w.after)
        where = None if w.where is None else fn(w.where)
        if own is None:
            body.append(map_statement(w, fn))
            continue
        begins = own is rows.stores[0]
        here: eq.Expr = rows.cell(rows.row) if begins else eq.Read(before, own.beside, w.value.type)
        value = simplify.op("add", (here, fn(w.value)), w.value.type) if w.accumulate else fn(w.value)
        value = value if where is None else simplify.select(where, value, here, value.type)
        if begins and not own.whole:
            entry, before = before, cx.version(names[0])
            body.append(eq.Write(entry, before, axes, own.beside, here, covers=True, span=s.span))
        after = made[w.after]
        body.append(eq.Write(before, after, w.axes, own.beside, value, covers=own.whole, span=w.span))
        before = after
    last = rows.stores[-1]
    if between:
        value = eq.Read(arrays[0].exit, last.beside, value.type)
    for newer, older in zip(arrays, arrays[1:], strict=False):
        beside = rows.stores[0].beside
        past = eq.Read(newer.entry, beside, value.type)
        body.append(eq.Write(older.entry, older.exit, axes, beside, past, covers=True, span=s.span))
    output = eq.Output(f"${carry.outside.array}.out", last.write.axes, value, value.type)
    scalars = tuple(replace(x, init=fn(x.init), update=fn(x.update)) for x in s.scalars)
    outputs = (*(replace(x, value=fn(x.value)) for x in s.outputs), output)
    others = tuple(a for a in s.arrays if a is not carry)
    loop = replace(s, scalars=scalars, arrays=(*others, *arrays), body=tuple(body), outputs=outputs)
    result = eq.FoldResult(s.name, output.name, (*last.write.axes, s.axis), value.type)
    write = replace(last.write, before=carry.outside, after=carry.result, axes=(s.axis, *last.write.axes), value=result)
    return out, loop, replace(write, where=None, accumulate="", covers=False)


def _name(cx: Context, array: str, back: int) -> str:
    wish = name = f"{array}.before{back if back > 1 else ''}"
    number = 1
    while name in cx.made:
        number += 1
        name = f"{wish}_{number}"
    return name


def _element(cx: Context, array: str, kind: ScalarType) -> tuple[ScalarType, str]:
    """The element type of an array of its rows, and the array whose type it takes."""
    made = cx.made.get(array)
    if made is not None:
        return made.type, made.like
    own = array_type(cx.function, array)
    element = kind if own is None else own.element
    return (NUMBER, array) if element.is_inexact or element.kind == "number" else (element, "")
