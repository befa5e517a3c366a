"""Counters that wrap round at a limit: ``atomicInc(&c[i], 17)`` counts 0, 1, … 17, 0, …; ``atomicDec`` the other way.

How often each cell is counted does not depend on the order of the threads: the rounds are counted in an array of their
own, and each cell that was counted moves on by as many. A cell beyond the limit goes to 0 (downwards to the limit)
first, as one at the end of the range does.
"""

from __future__ import annotations

from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, ArrayType, ScalarType
from kraise.ir.walk import free_indices
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation
from kraise.raising.run.context import Context, array_type
from kraise.raising.run.state import LocalArray, RawNew, RawWrite, State
from kraise.raising.run.values import Cell, access

ZERO, ONE = eq.Const(0, INT), eq.Const(1, INT)


def limit_of(limit: eq.Expr) -> int | None:
    """The limit, if it is a number to which twice one fits the counter's type."""
    while isinstance(limit, eq.Cast):
        limit = limit.arg
    found = isinstance(limit, eq.Const) and type(limit.value) is int and 0 <= limit.value < 1 << 30
    return int(limit.value) if found else None  # type: ignore[union-attr,arg-type]


def counted(cx: Context, st: State, at: Cell, name: str, limit: int, kind: ScalarType, span: Span | None) -> bool:
    """Runs ``atomicInc`` or ``atomicDec`` on a cell of an array of the caller's; False, having done nothing, for
    another array."""
    array = at.array
    whole = array_type(cx.function, array)
    if array in st.locals or at.view or not isinstance(whole, ArrayType) or whole.element != kind:
        return False
    if whole.tail or whole.ndim != len(at.subscripts):
        return False
    if kind.kind not in ("uint", "number"):  # of an open type it is unsigned, too: there is no such atomic on others
        return False
    one_cell = not any(free_indices(s) for s in at.subscripts)
    shape = tuple(ONE if one_cell else eq.Shape(array, d, INT) for d in range(len(at.subscripts)))
    hits = f"{array}_hits"
    while hits in st.versions and hits not in cx.made:
        hits += "_"
    new = cx.version(hits)
    st.locals[hits] = cx.made[hits] = LocalArray(hits, (), shape, kind, array)
    st.out.append(RawNew(eq.New(new, kind, shape, _number(0, kind), array, span)))
    often = cx.version(hits)
    loops = tuple(n for n in st.open if n not in st.folds)
    subs = tuple(ZERO for _ in shape) if one_cell else at.subscripts
    st.out.append(RawWrite(new, often, loops, st.path, subs, _number(1, kind), "add", (), span))
    st.order += 1
    st.accesses.append(access(st, at, st.path, True, accumulate=f"{name} {limit}", atomic=True, span=span))
    st.versions[hits] = often

    before, after = st.versions[array], cx.version(array)
    st.versions[array] = after
    taken: list[str] = []
    for _ in shape:
        taken.append(cx.index("cell", (*st.open, *cx.blocks, *taken)).name)
    cells: tuple[eq.Expr, ...] = tuple(eq.Index(n, INT) for n in taken)
    inside: list[eq.Expr] = []
    for x, extent in zip(cells, shape, strict=True):
        inside += [eq.Op("ge", (x, ZERO), BOOL), eq.Op("lt", (x, extent), BOOL)]
    place = at.subscripts if one_cell else cells
    old = eq.Read(before, place, kind)
    number = eq.Read(often, subs if one_cell else cells, kind)
    value = _moved(name, old, number, limit, kind)
    value = simplify.select(eq.Op("gt", (number, _number(0, kind)), BOOL), value, old, kind)
    around = tuple(c for c in st.path if not free_indices(c) & set(loops))
    if one_cell:
        st.out.append(RawWrite(before, after, (), around, place, value, "", (), span))
    else:
        st.out.append(RawWrite(before, after, tuple(taken), (*around, *inside), place, value, "", (), span))
    cx.note(f"counter (line {span.line if span else '?'}): the counts of its cells, taken round the limit")
    return True


def _moved(name: str, old: eq.Expr, number: eq.Expr, limit: int, kind: ScalarType) -> eq.Expr:
    top, size = _number(limit, kind), _number(limit + 1, kind)
    if name == "inc":
        return operation("mod", (operation("add", (operation("min", (old, top), kind), number), kind), size), kind)
    # counted from above; what is beyond the limit is followed by it, as 0 is
    beyond = eq.Op("gt", (old, top), BOOL)
    passed = operation("sub", (top, simplify.select(beyond, _number(0, kind), old, kind)), kind)
    back = operation("mod", (operation("add", (passed, number), kind), size), kind)
    return operation("sub", (top, back), kind)


def _number(n: int, kind: ScalarType) -> eq.Const:
    return eq.Const(n, kind if kind.is_integer else INT)


__all__ = ["counted", "limit_of"]
