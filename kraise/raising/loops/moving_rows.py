"""Loops that make an array row by row, each from the last few: they carry these rows, not the array.

``a[i, j] = f(a[i - 1, …], …)`` for all j reads of the array what the last rounds stored, and beside it only cells that
no round has stored yet. The rows go from round to round, what the rounds store is stacked, and one store puts it into
the array. (The gradient of a loop that carries the array adds to all of it in each round: of 400 rows it took 12 times
as long.)

Side conditions, each checked: a round stores cells of one row, whose number is the round's own and a constant beside
it; every load of the array is of a row that is a constant number of rows away; the first rows are rows of the array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from kraise.analysis.conditions import is_static
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT, NUMBER, ScalarType
from kraise.ir.walk import free_indices, topological, transform
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.context import Context, array_type
from kraise.raising.run.state import LocalArray

FURTHEST = 3  # rows that are carried


@dataclass(frozen=True)
class _Rows:
    """The store of a loop: which subscript counts rows (``at``), how far a row is from the round's number, the indices
    beside it with how many of them there are, and how many rows back a round looks."""

    store: eq.Write
    carry: eq.ArrayCarry
    at: int
    beside: tuple[eq.Index, ...]
    extents: tuple[eq.Expr, ...]
    whole: bool  # all of a row is stored
    depth: int

    def back(self, s: eq.Fold, read: eq.Read) -> int:
        """How many rounds ago the row of a load was stored, 0 where no round has stored it yet."""
        return _back(s, self.store.subscripts[self.at], read.subscripts[self.at]) or 0

    def axes(self) -> tuple[eq.Axis, ...]:
        return tuple(eq.Axis(i.name, eq.Const(0, INT), e) for i, e in zip(self.beside, self.extents, strict=True))

    def cell(self, row: eq.Expr) -> eq.Read:
        """A cell of the array before the loop."""
        subs = (*self.beside[: self.at], row, *self.beside[self.at :])
        return eq.Read(self.carry.outside, subs, self.store.value.type, self.store.view)

    def lane(self, read: eq.Read) -> tuple[eq.Expr, ...]:
        return (*read.subscripts[: self.at], *read.subscripts[self.at + 1 :])


def by_rows(stmts: tuple[eq.Stmt, ...], cx: Context) -> tuple[tuple[eq.Stmt, ...], Callable[[eq.Expr], eq.Expr]]:
    """The statements with such loops over their rows, and what names values by their new form."""
    out: list[eq.Stmt] = []
    moved: list[Callable[[eq.Expr], eq.Expr]] = []
    for s in stmts:
        rows = _rows(s) if isinstance(s, eq.Fold) else None
        out += [s] if rows is None or not isinstance(s, eq.Fold) else _made(cx, s, rows, moved)
    return tuple(out), lambda e: reduce(lambda x, fn: fn(x), moved, e)


def _rows(s: eq.Fold) -> _Rows | None:
    axis = s.axis
    if axis is None or axis.step != 1 or s.condition is not None or s.mapped or s.unroll or len(s.arrays) != 1:
        return None
    (store,), (carry,) = s.body if len(s.body) == 1 else (None,), s.arrays
    if not isinstance(store, eq.Write) or store.accumulate not in ("", "add") or store.safe or store.segments:
        return None
    if (store.before, store.after) != (carry.entry, carry.exit) or len(store.subscripts) < 2:
        return None
    index = eq.Index(axis.name, INT)
    moving = [d for d, x in enumerate(store.subscripts) if axis.name in free_indices(x)]
    if len(moving) != 1 or not index_like(store.subscripts[moving[0]]):
        return None
    (at,) = moving
    gap = to_poly(store.subscripts[at]) - to_poly(index)
    beside = tuple(x for x in store.subscripts if isinstance(x, eq.Index) and x is not store.subscripts[at])
    if gap.value is None or len(beside) + 1 < len(store.subscripts):
        return None
    named = {a.name: a for a in store.axes}
    if len(set(beside)) != len(beside) or {x.name for x in beside} != set(named):
        return None
    sizes = store.view or tuple(eq.Shape(carry.outside.array, d, INT) for d in range(len(store.subscripts)))
    extents = tuple(e for d, e in enumerate(sizes) if d != at)
    if any(a.step != 1 or not is_static(to_poly(e)) for a, e in zip(store.axes, extents, strict=True)):
        return None
    own = [(named[x.name], e) for x, e in zip(beside, extents, strict=True)]
    if any(axis.name in free_indices(b) for a, _ in own for b in (a.lo, a.hi)):
        return None
    whole = all(to_poly(a.lo).value == 0 and to_poly(a.hi) == to_poly(e) for a, e in own)
    depth = _depth(s, store, carry, at)
    if not 1 <= depth <= FURTHEST:
        return None
    rows = _Rows(store, carry, at, beside, extents, whole, depth)
    return rows if _inside(s, rows, sizes[at]) else None


def _depth(s: eq.Fold, store: eq.Write, carry: eq.ArrayCarry, at: int) -> int:
    """How many rounds back a round looks at most, 0 where that is not known."""
    kept = [store.value, *(() if store.where is None else (store.where,))]
    kept += [e for x in s.scalars for e in (x.init, x.update)] + [x.value for x in s.outputs]
    depth = 0
    for n in topological(kept):
        if not isinstance(n, eq.Read) or n.version not in (carry.entry, carry.exit):
            continue
        if n.version is carry.exit or n.view != store.view or n.outside or n.limit or len(n.subscripts) <= at:
            return 0
        back = _back(s, store.subscripts[at], n.subscripts[at])
        if back is None:
            return 0
        depth = max(depth, back)
    return depth


def _back(s: eq.Fold, stored: eq.Expr, loaded: eq.Expr) -> int | None:
    """How many rounds ago a row was stored, 0 where no round has stored it yet, None where that differs."""
    if not index_like(loaded):
        return None
    gap = (to_poly(stored) - to_poly(loaded)).value
    return None if gap is None else max(int(-gap if s.reverse else gap), 0)


def _first(s: eq.Fold, rows: _Rows) -> Poly:
    """The row that the first round stores."""
    assert s.axis is not None
    begun = to_poly(s.axis.hi) - 1 if s.reverse else to_poly(s.axis.lo)
    return begun + to_poly(rows.store.subscripts[rows.at]) - to_poly(eq.Index(s.axis.name, INT))


def _inside(s: eq.Fold, rows: _Rows, extent: eq.Expr) -> bool:
    """Whether the rows before the first are rows of the array."""
    first = _first(s, rows)
    beyond = to_poly(extent) - 1 - first - rows.depth if s.reverse else first - rows.depth
    return beyond.value is not None and beyond.value >= 0


def _made(cx: Context, s: eq.Fold, rows: _Rows, moved: list[Callable[[eq.Expr], eq.Expr]]) -> list[eq.Stmt]:
    """The loop over its rows, and what stands around it; what makes its loads those of rows is put into ``moved``."""
    assert s.axis is not None
    store, carry, axes = rows.store, rows.carry, rows.axes()
    kind, like = _element(cx, carry.outside.array, store.value.type)
    names = [_name(cx, carry.outside.array, back) for back in range(1, rows.depth + 1)]
    first, by = _first(s, rows), -1 if s.reverse else 1
    out: list[eq.Stmt] = []
    arrays: list[eq.ArrayCarry] = []
    for back, name in enumerate(names, 1):
        cx.made[name] = LocalArray(name, (), rows.extents, kind, like, private=True)
        empty, begun = cx.version(name), cx.version(name)
        out.append(eq.New(empty, kind, rows.extents, eq.Const(0, INT), like, s.span))
        row = rows.cell(to_expr(first - by * back))
        out.append(eq.Write(empty, begun, axes, rows.beside, row, covers=True, span=s.span))
        arrays.append(eq.ArrayCarry(begun, cx.version(name), cx.version(name), cx.version(name)))

    def load(n: eq.Expr) -> eq.Expr:
        if not isinstance(n, eq.Read) or n.version is not carry.entry:
            return n
        back = rows.back(s, n)
        if not back:
            return replace(n, version=carry.outside)
        return eq.Read(arrays[back - 1].entry, rows.lane(n), n.type, (), n.safe)

    def fn(e: eq.Expr) -> eq.Expr:
        return transform(e, load)

    moved.append(fn)
    here = rows.cell(store.subscripts[rows.at])
    value = fn(store.value)
    value = simplify.op("add", (here, value), value.type) if store.accumulate else value
    where = None if store.where is None else fn(store.where)
    value = value if where is None else simplify.select(where, value, here, value.type)
    body: list[eq.Stmt] = []
    before = arrays[0].entry
    if not rows.whole:
        before = cx.version(names[0])
        body.append(eq.Write(arrays[0].entry, before, axes, rows.beside, here, covers=True, span=s.span))
    body.append(eq.Write(before, arrays[0].exit, store.axes, rows.beside, value, covers=rows.whole, span=store.span))
    for newer, older in zip(arrays, arrays[1:], strict=False):
        past = eq.Read(newer.entry, rows.beside, value.type)
        body.append(eq.Write(older.entry, older.exit, axes, rows.beside, past, covers=True, span=s.span))
    output = eq.Output(f"${carry.outside.array}.out", store.axes, value, value.type)
    scalars = tuple(replace(x, init=fn(x.init), update=fn(x.update)) for x in s.scalars)
    outputs = (*(replace(x, value=fn(x.value)) for x in s.outputs), output)
    out.append(replace(s, scalars=scalars, arrays=tuple(arrays), body=tuple(body), outputs=outputs))
    result = eq.FoldResult(s.name, output.name, (*store.axes, s.axis), value.type)
    last = replace(store, before=carry.outside, after=carry.result, axes=(s.axis, *store.axes), value=result)
    return [*out, replace(last, where=None, accumulate="", covers=False)]


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
