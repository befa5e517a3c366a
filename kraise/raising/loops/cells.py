"""Cells of arrays that a loop carries as if they were scalars: one that stays, or one that moves with the loop.

``C[i, j] += …`` in a loop over k keeps one cell: it is loaded before the loop, kept in a local, stored after. In a
recurrence (``y[j] = a * y[j - 1] + x[j]``) the cell of the round before is what is carried: loads of it are the local
too, and the stores no longer depend on one another.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kraise.analysis.conditions import classify
from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, ScalarType
from kraise.ir.walk import free_indices, topological
from kraise.raising.loops.ranges import Range
from kraise.raising.memory.phases import BARRIER
from kraise.raising.memory.private import never_filled
from kraise.raising.run.arithmetic import index_like, same_cell
from kraise.raising.run.context import Context, array_type
from kraise.raising.run.state import ROWS, Slides, State
from kraise.raising.run.statements import store
from kraise.raising.run.values import Cell, extended, load_cell, located

Subscripts = tuple[eq.Expr, ...]
NEXT = "$next"
FURTHEST = 3  # rounds back
Moving = dict[str, tuple[str, ...]]  # the locals of an array's cells, that of the round before first


@dataclass(frozen=True)
class Carried:
    """Which arrays to carry by their cell: ``still`` the cell that does not move, ``moving`` the cell stored in a
    round. ``rows``: the views of those flat arrays whose subscripts were taken apart; ``depths``: how many rounds back
    the cells go that a round loads; ``loads``: the paths of these loads, by how far back."""

    still: dict[str, Subscripts] = field(default_factory=dict)
    moving: dict[str, Subscripts] = field(default_factory=dict)
    rows: dict[str, Subscripts] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)
    guards: dict[str, tuple[eq.Expr, ...]] = field(default_factory=dict)  # under which every round uses the still cell
    loads: dict[tuple[str, int], tuple[tuple[eq.Expr, ...], ...]] = field(default_factory=dict)

    def adds(self, other: Carried) -> bool:
        return bool(set(other.still) - set(self.still) or set(other.moving) - set(self.moving))

    def merged(self, other: Carried) -> Carried:
        return Carried(
            {**self.still, **other.still},
            {**self.moving, **other.moving},
            {**self.rows, **other.rows},
            {**self.depths, **other.depths},
            {**self.guards, **other.guards},
            {**self.loads, **other.loads},
        )


def candidates(accesses: list[Access], st: State, index: eq.Index, step: int, bounds: tuple[eq.Expr, ...]) -> Carried:
    """The arrays written in a loop whose dependence between rounds is carried by one cell.

    Where threads meet in the loop, a cell that only some of them touch stays in its array: the others may have none.
    """
    meets = any(a.array == BARRIER for a in accesses)
    still: dict[str, Subscripts] = {}
    moving: dict[str, Subscripts] = {}
    rows: dict[str, Subscripts] = {}
    depths: dict[str, int] = {}
    guards: dict[str, tuple[eq.Expr, ...]] = {}
    loads: dict[tuple[str, int], tuple[tuple[eq.Expr, ...], ...]] = {}
    for array in dict.fromkeys(a.array for a in accesses if a.write):
        group = [a for a in accesses if a.array == array]
        views = {a.view for a in group}
        in_rows = all(v and v[0] is ROWS for v in views)
        if any(a.atomic for a in group) or len(views) != 1 or not (in_rows or views == {()}):
            continue
        if meets and _by_some(group, {*st.path, *bounds}, frozenset(st.open)):
            continue
        subs = next(a.subscripts for a in group if a.write)
        names = frozenset().union(*(free_indices(x) for x in subs)) if subs else frozenset()
        if not all(index_like(x) for x in subs):
            continue
        depth = 0
        if abs(step) == 1 and names <= {*st.open, index.name}:
            depth = _moves(group, subs, st, index, step, bounds)
        if all(a.subscripts == subs for a in group) and names <= set(st.open):
            still[array] = subs
            guards[array] = _guard(group, {*st.path, *bounds}, frozenset(st.open))
            rows |= {array: group[0].view} if in_rows else {}
        elif depth:
            moving[array], depths[array] = subs, depth
            for back in range(1, depth + 1):
                cell = previous(subs, index, step * back)
                loads[array, back] = tuple(a.path for a in group if same_cell(a.subscripts, cell))
            rows |= {array: group[0].view} if in_rows else {}
    return Carried(still, moving, rows, depths, guards, loads)


def _guard(group: list[Access], here: set[eq.Expr], lanes: frozenset[str]) -> tuple[eq.Expr, ...]:
    """What holds of the lanes in which any round uses the cell: the others may have none."""
    first, *others = (a.path for a in group)
    return tuple(
        c
        for c in first
        if c not in here
        and all(c in path for path in others)
        and free_indices(c) <= lanes
        and not any(isinstance(n, eq.CarryIn | eq.Read | eq.FoldResult) for n in topological((c,)))
    )


def _by_some(group: list[Access], known: set[eq.Expr], threads: frozenset[str]) -> bool:
    """Whether a condition on the indices of the threads alone guards every access."""
    guards = frozenset.intersection(*(frozenset(a.path) for a in group)) - known
    return any(free_indices(c) and free_indices(c) <= threads and classify(c) is not None for c in guards)


def _moves(
    group: list[Access], subs: Subscripts, st: State, index: eq.Index, step: int, bounds: tuple[eq.Expr, ...]
) -> int:
    """How many rounds back the cells go that a round loads of those that it stores, if it stores just the cell
    ``subs``, surely; 0 if it does not."""
    moved = [d for d, x in enumerate(subs) if index.name in free_indices(x)]
    if len(moved) != 1 or to_poly(subs[moved[0]]).coefficient(index).value not in (1, -1):
        return 0
    here = set(st.path) | set(bounds)
    cells = [subs, *(previous(subs, index, step * back) for back in range(1, FURTHEST + 1))]
    depth = 0
    for a in group:
        back = next((n for n, c in enumerate(cells) if same_cell(a.subscripts, c)), None)
        if a.write and (back != 0 or not set(a.path) <= here):
            return 0
        depth = max(depth, back or 0)
    return depth


def previous(subs: Subscripts, index: eq.Index, step: int) -> Subscripts:
    """The subscripts of the round before."""
    return at(subs, index, to_poly(index) - step)


def at(subs: Subscripts, index: eq.Index, value: Poly) -> Subscripts:
    return tuple(to_expr(to_poly(x).substitute(index, value)) for x in subs)


def enter_moving(cx: Context, st: State, carried: Carried, rng: Range, s: k.Stmt) -> Moving:
    """Loads the cells before the first round's into locals; in the loop, loads of the previous rounds' cells are these
    locals."""
    names = {}
    index, start, stop, step = rng.index, rng.start, rng.stop, rng.step
    # the source makes the loads further back only if it runs a round
    runs = eq.Op("lt" if step > 0 else "gt", (start, stop), BOOL)
    for array in sorted(carried.moving):
        subs, slides = carried.moving[array], []
        for back in range(1, carried.depths[array] + 1):
            local = f"${array}.before{back if back > 1 else ''}"
            cx.types[local] = _cell_type(cx, st, array)
            first = Cell(array, at(subs, index, to_poly(start) - step * back), carried.rows.get(array, ()))
            before = st if back == 1 else extended(st, runs)
            if _unread(carried, array, back, rng):
                st.env[local] = eq.Const(0, cx.types[local])
            else:
                st.env[local] = load_cell(cx, before, first, _cell_type(cx, st, array), s.span)
                st.order, st.accesses = before.order, before.accesses
            slides.append((previous(subs, index, step * back), local))
        st.slides[array] = tuple(slides)
        names[array] = tuple(local for _, local in slides)
    return names


def _unread(carried: Carried, array: str, back: int, rng: Range) -> bool:
    """Whether conditions on the loop's index keep every round from the cell so far before the first (``b == 0 ? 0 :
    L[b - 1]``): a load that goes ``n`` rounds back meets it ``n - back`` rounds after the first."""

    def fails(c: eq.Expr, at: Poly) -> bool:
        fact = classify(c)
        left = None if fact is None else fact.poly.substitute(rng.index, at).value
        if fact is None or left is None:
            return False
        return left < 0 if fact.kind == "ge" else (left == 0) is (fact.kind == "ne")

    for n in range(back, carried.depths[array] + 1):
        at = to_poly(rng.start) + rng.step * (n - back)
        paths = carried.loads.get((array, n), ((),))
        if not all(any(fails(c, at) for c in path) for path in paths):
            return False
    return True


def next_round(st: State, names: Moving) -> None:
    """At the end of the body: what was stored is what the next round loads."""
    for first, *further in names.values():
        stored = st.env.pop(first + NEXT, None)
        if stored is None:
            continue
        for older, newer in reversed(list(zip(further, (first, *further), strict=False))):
            st.env[older] = st.env[newer]
        st.env[first] = stored


def leave_moving(st: State, names: Moving, outer: Slides) -> None:
    for local in (local for locals_ in names.values() for local in locals_):
        st.env.pop(local, None)
    st.slides = dict(outer)


def locals_of(st: State) -> tuple[str, ...]:
    """The locals that hold cells of arrays."""
    return (*(n for _, n in st.cells.values()), *(n for cells in st.slides.values() for _, n in cells))


def enter_cells(cx: Context, st: State, carried: Carried, s: k.Stmt) -> dict[str, str]:
    """Loads each cell into a local and makes loads and stores of it go there."""
    names = {}
    cells = carried.still
    for array in sorted(cells):
        local = f"${array}"
        own = st.cells.get(array)
        if own is not None:
            continue
        source = _source_subscripts(st, array, cells[array], carried)
        guarded = replace(st, path=tuple(dict.fromkeys((*st.path, *carried.guards.get(array, ())))))
        place = located(cx, guarded, array, source, s.span)
        noted = dict(cx.undefined), set(cx.unfilled)
        if never_filled(cx, guarded, array, place.subscripts):
            cx.undefined, cx.unfilled = noted
            continue  # what a round finds there a round has stored: the cell is carried as one of its array
        first = load_cell(cx, guarded, place, _cell_type(cx, st, array), s.span)
        st.order, st.accesses = guarded.order, guarded.accesses
        st.env[local] = first
        cx.types[local] = first.type if array in st.locals else _cell_type(cx, st, array)
        st.cells[array] = (cells[array], local)
        names[array] = local
    return names


def _source_subscripts(st: State, array: str, subs: Subscripts, carried: Carried) -> Subscripts:
    """The subscripts as the source would spell them: one for a flat array."""
    local = st.locals.get(array)
    if array in carried.rows:
        flat = to_poly(subs[0])
        for digit, radix in zip(subs[1:], carried.rows[array][1:], strict=True):
            flat = flat * to_poly(radix) + to_poly(digit)
        return (to_expr(flat),)
    return subs[len(local.prefix) :] if local is not None else subs


def _cell_type(cx: Context, st: State, array: str) -> ScalarType:
    if array in st.locals:
        return st.locals[array].type
    t = array_type(cx.function, array)
    if t is None:
        raise refuse("KR299", f"a loop carries cells of `{array}`, which is no array of this function")
    return t.element


def leave_cells(cx: Context, st: State, carried: Carried, names: dict[str, str], s: k.Stmt) -> None:
    """Stores what the loop left in each cell."""
    for array, local in names.items():
        final = st.env.pop(local, None)
        st.cells.pop(array, None)
        if final is not None:
            path = st.path
            st.path = tuple(dict.fromkeys((*path, *carried.guards.get(array, ()))))
            store(cx, st, array, _source_subscripts(st, array, carried.still[array], carried), final, s.span)
            st.path = path
