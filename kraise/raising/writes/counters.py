"""Counters that wrap round at a limit: ``atomicInc(&c[i], 17)`` counts 0, 1, … 17, 0, …; ``atomicDec`` the other way.

How often each cell is counted does not depend on the order of the threads: the rounds are counted in an array of their
own, and each cell that was counted moves on by as many. A cell beyond the limit goes to 0 (downwards to the limit)
first, as one at the end of the range does.
"""

from __future__ import annotations

from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT, ArrayType, ScalarType
from kraise.ir.walk import free_indices
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation
from kraise.raising.run.context import Context, array_type
from kraise.raising.run.state import LocalArray, RawNew, RawWrite, State
from kraise.raising.run.values import Cell, access
from kraise.raising.writes.accumulate import mentions

ZERO, ONE = eq.Const(0, INT), eq.Const(1, INT)


def counts_freely(kind: ScalarType, limit: eq.Expr) -> bool:
    """Whether a limit is the greatest number of the counter's type: it wraps round as the type does."""
    while isinstance(limit, eq.Cast):
        limit = limit.arg
    top = (1 << (kind.bits or 32)) - 1
    return kind.kind == "uint" and isinstance(limit, eq.Const) and limit.value in (top, -1)


def limit_of(limit: eq.Expr) -> eq.Expr | None:
    """The limit, if it is a number to which twice one fits the counter's type, or one expression for all threads."""
    bare = limit
    while isinstance(bare, eq.Cast):
        bare = bare.arg
    if isinstance(bare, eq.Const):
        return bare if type(bare.value) is int and 0 <= bare.value < 1 << 30 else None
    own = bool(free_indices(limit)) or mentions(limit, (eq.CarryIn, eq.FoldResult))
    return None if own or limit.type.kind != "uint" else limit


def counted(cx: Context, st: State, at: Cell, name: str, limit: eq.Expr, kind: ScalarType, span: Span | None) -> bool:
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
    st.accesses.append(access(st, at, st.path, True, accumulate=f"{name} {render_expr(limit)}", atomic=True, span=span))
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


def _moved(name: str, old: eq.Expr, number: eq.Expr, limit: eq.Expr, kind: ScalarType) -> eq.Expr:
    if not isinstance(limit, eq.Const):
        return _moved_open(name, old, number, limit, kind)
    top, size = _number(int(limit.value.real), kind), _number(int(limit.value.real) + 1, kind)
    if name == "inc":
        return operation("mod", (operation("add", (operation("min", (old, top), kind), number), kind), size), kind)
    # counted from above; what is beyond the limit is followed by it, as 0 is
    beyond = eq.Op("gt", (old, top), BOOL)
    passed = operation("sub", (top, simplify.select(beyond, _number(0, kind), old, kind)), kind)
    back = operation("mod", (operation("add", (passed, number), kind), size), kind)
    return operation("sub", (top, back), kind)


def _moved_open(name: str, old: eq.Expr, number: eq.Expr, top: eq.Expr, kind: ScalarType) -> eq.Expr:
    """By a limit that no number says: no sum here leaves the type, whatever it is (to the greatest number it goes
    round by itself)."""
    one = _number(1, kind)
    most = _number((1 << (kind.bits or 32)) - 1, kind)
    # the rounds beyond whole turns; so many that they could be a turn to the greatest number there are not
    size = operation("add", (operation("min", (top, operation("sub", (most, one), kind)), kind), one), kind)
    rest = operation("mod", (number, size), kind)
    beyond = eq.Op("gt", (old, top), BOOL)
    if name == "inc":
        now = operation("min", (old, top), kind)
        room = operation("sub", (top, now), kind)  # up to the limit
        far = operation("sub", (operation("sub", (rest, room), kind), one), kind)
        return simplify.select(eq.Op("gt", (rest, room), BOOL), far, operation("add", (now, rest), kind), kind)
    now = simplify.select(beyond, _number(0, kind), old, kind)
    far = operation("sub", (top, operation("sub", (operation("sub", (rest, now), kind), one), kind)), kind)
    return simplify.select(eq.Op("gt", (rest, now), BOOL), far, operation("sub", (now, rest), kind), kind)


def _number(n: int, kind: ScalarType) -> eq.Const:
    return eq.Const(n, kind if kind.is_integer else INT)


__all__ = ["counted", "counts_freely", "limit_of"]
