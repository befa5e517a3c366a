"""Cells of arrays that a loop carries as if they were scalars: one that stays, or one that moves with the loop.

``C[i, j] += …`` in a loop over k keeps one cell: it is loaded before the loop, kept in a local, stored after. In a
recurrence
(``y[j] = a * y[j - 1] + x[j]``) the cell of the round before is what is carried: loads of it are the local too, and
the stores
no longer depend on one another.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import ScalarType
from kraise.ir.walk import free_indices
from kraise.raising.context import Context, array_type
from kraise.raising.state import State
from kraise.raising.statements import store
from kraise.raising.values import index_like, load

Subscripts = tuple[eq.Expr, ...]
NEXT = "$next"


@dataclass(frozen=True)
class Carried:
    """Which arrays to carry by their cell: ``still`` the cell that does not move, ``moving`` the cell stored in a
    round."""

    still: dict[str, Subscripts] = field(default_factory=dict)
    moving: dict[str, Subscripts] = field(default_factory=dict)

    def adds(self, other: Carried) -> bool:
        return bool(set(other.still) - set(self.still) or set(other.moving) - set(self.moving))

    def merged(self, other: Carried) -> Carried:
        return Carried({**self.still, **other.still}, {**self.moving, **other.moving})


def candidates(accesses: list[Access], st: State, index: eq.Index, step: int, bounds: tuple[eq.Expr, ...]) -> Carried:
    """The arrays written in a loop whose dependence between rounds is carried by one cell."""
    still: dict[str, Subscripts] = {}
    moving: dict[str, Subscripts] = {}
    for array in dict.fromkeys(a.array for a in accesses if a.write):
        group = [a for a in accesses if a.array == array]
        if any(a.view or a.atomic for a in group):
            continue
        subs = next(a.subscripts for a in group if a.write)
        names = frozenset().union(*(free_indices(x) for x in subs)) if subs else frozenset()
        if not all(index_like(x) for x in subs):
            continue
        if all(a.subscripts == subs for a in group) and names <= set(st.open):
            still[array] = subs
        elif abs(step) == 1 and names <= {*st.open, index.name} and _moves(group, subs, st, index, step, bounds):
            moving[array] = subs
    return Carried(still, moving)


def _moves(
    group: list[Access], subs: Subscripts, st: State, index: eq.Index, step: int, bounds: tuple[eq.Expr, ...]
) -> bool:
    """Whether each round stores just the cell ``subs``, surely, and loads only it and the one of the round before."""
    moved = [d for d, x in enumerate(subs) if index.name in free_indices(x)]
    if len(moved) != 1 or to_poly(subs[moved[0]]).coefficient(index).value not in (1, -1):
        return False
    before = previous(subs, index, step)
    here = set(st.path) | set(bounds)
    return all(
        a.subscripts == subs and set(a.path) <= here if a.write else a.subscripts in (subs, before) for a in group
    ) and any(a.subscripts == before for a in group)


def previous(subs: Subscripts, index: eq.Index, step: int) -> Subscripts:
    """The subscripts of the round before."""
    return at(subs, index, to_poly(index) - step)


def at(subs: Subscripts, index: eq.Index, value: Poly) -> Subscripts:
    return tuple(to_expr(to_poly(x).substitute(index, value)) for x in subs)


def enter_moving(
    cx: Context, st: State, moving: dict[str, Subscripts], index: eq.Index, start: eq.Expr, step: int, s: k.Stmt
) -> dict[str, str]:
    """Loads the cell before the first round's into a local; in the loop, loads of the previous round's cell are that
    local."""
    names = {}
    for array in sorted(moving):
        local = f"${array}.before"
        first = at(moving[array], index, to_poly(start) - step)
        st.env[local] = load(cx, st, array, _source_subscripts(st, array, first), _cell_type(cx, st, array), s.span)
        st.slides[array] = (previous(moving[array], index, step), local)
        names[array] = local
    return names


def next_round(st: State, names: dict[str, str]) -> None:
    """At the end of the body: what was stored is what the next round loads."""
    for local in names.values():
        stored = st.env.pop(local + NEXT, None)
        if stored is not None:
            st.env[local] = stored


def leave_moving(st: State, names: dict[str, str], outer: dict[str, tuple[Subscripts, str]]) -> None:
    for local in names.values():
        st.env.pop(local, None)
    st.slides = dict(outer)


def enter_cells(cx: Context, st: State, cells: dict[str, tuple[eq.Expr, ...]], s: k.Stmt) -> dict[str, str]:
    """Loads each cell into a local and makes loads and stores of it go there."""
    names = {}
    for array in sorted(cells):
        local = f"${array}"
        own = st.cells.get(array)
        if own is not None:
            continue
        first = load(cx, st, array, _source_subscripts(st, array, cells[array]), _cell_type(cx, st, array), s.span)
        st.env[local] = first
        st.cells[array] = (cells[array], local)
        names[array] = local
    return names


def _source_subscripts(st: State, array: str, subs: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
    local = st.locals.get(array)
    return subs[len(local.prefix) :] if local is not None else subs


def _cell_type(cx: Context, st: State, array: str) -> ScalarType:
    if array in st.locals:
        return st.locals[array].type
    t = array_type(cx.function, array)
    assert t is not None
    return t.element


def leave_cells(
    cx: Context, st: State, cells: dict[str, tuple[eq.Expr, ...]], names: dict[str, str], s: k.Stmt
) -> None:
    """Stores what the loop left in each cell."""
    for array, local in names.items():
        final = st.env.pop(local, None)
        st.cells.pop(array, None)
        if final is not None:
            store(cx, st, array, _source_subscripts(st, array, cells[array]), final, s.span)
