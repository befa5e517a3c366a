"""Races that change nothing: what a thread stores to a cell that others read is what the cell holds already.

``d[i][j] = min(d[i][j], d[i][k] + d[k][j])`` for one k (Floyd, Algorithm 97, CACM 5(6), 1962; Warshall, JACM 9(1),
1962): the cells of row and column k, which all threads read, would become ``d[i][k] + d[k][k]`` at least, so they stay
where ``d[k][k]`` is not negative. That is taken for granted and said; the checked module asks it. Transitive closures
(``r[i][j] |= r[i][k] & r[k][j]``) and bottlenecks need nothing of the kind.

Why that is enough: the first store that changed such a cell would have computed its value from cells that no store had
changed yet, its own among them, and the value shows that it did not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kraise.analysis.dependence import Access
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL
from kraise.ir.walk import Unmovable, free_indices, substitute
from kraise.raising.memory.flat import flattened
from kraise.raising.memory.truths import as_tested, is_cell, keeps_truth
from kraise.raising.run.context import Context

# ``x min= max(x, y)`` leaves x as it is, whatever y (the absorption laws of a lattice)
_ABSORBED = {"min": ("max",), "max": ("min",), "or": ("and", "and_"), "and": ("or", "or_")}


def stays(cx: Context, w: Access, other: Access, used: Callable[[], Sequence[eq.Expr]] = tuple) -> bool:
    """Whether the store ``w`` leaves the cells that ``other`` reads as they are; what that relies on is said. ``used``
    are the expressions that may hold a load."""
    if isinstance(w.value, eq.Const) and w.view == other.view and not w.folds and not other.folds:
        return keeps_truth(w, other, _meeting(w, other), used())
    accumulate, stored = _accumulated(w)
    if other.write or stored is None or accumulate not in ("", *_ABSORBED):
        return False
    if w.view != other.view or len(w.subscripts) != len(other.subscripts) or w.folds or other.folds:
        return False
    at = _meeting(w, other)
    if not at:
        return False
    try:
        cell = tuple(substitute(s, at) for s in w.subscripts)
        value = substitute(stored, at)
    except Unmovable:  # a running value exists along its own index only
        return False
    if not accumulate:
        own = as_tested(value)
        return isinstance(own, eq.Read) and own.view == w.view and is_cell(own, w.array, cell)
    if isinstance(value, eq.Op) and value.name in _ABSORBED[accumulate]:
        return any(isinstance(a, eq.Read) and is_cell(a, w.array, cell) for a in value.args)
    if accumulate not in ("min", "max") or stored.type.kind == "uint":
        return False
    match value:
        case eq.Op(name="add", args=(eq.Read() as a, b)) if is_cell(a, w.array, cell):
            rest = b
        case eq.Op(name="add", args=(a, eq.Read() as b)) if is_cell(b, w.array, cell):
            rest = a
        case _:
            return False
    if isinstance(rest, eq.Const):
        return rest.value.real >= 0 if accumulate == "min" else rest.value.real <= 0
    if not isinstance(rest, eq.Read) or free_indices(rest):
        return False
    _rely(cx, rest, accumulate)
    return True


def _accumulated(w: Access) -> tuple[str, eq.Expr | None]:
    """By what a store changes its cell, and with what: ``r[i, j] | x`` stored to ``r[i, j]`` is ``|= x``."""
    if not w.accumulate and isinstance(w.value, eq.Op) and w.value.name in ("or_", "and_"):
        for a, b in (w.value.args, w.value.args[::-1]):
            if isinstance(a, eq.Read) and is_cell(a, w.array, w.subscripts):
                return w.value.name.strip("_"), b
    return w.accumulate, w.value


def _meeting(w: Access, other: Access) -> dict[eq.Expr, eq.Expr]:
    """The indices of the store where it meets the load: those that subscripts of the load give which are the same for
    all. Where the load has an index of its own, the store's is that of another thread, whichever it is."""
    found: dict[eq.Expr, eq.Expr] = {}
    for own, read in zip(w.subscripts, other.subscripts, strict=True):
        if not isinstance(own, eq.Index) or own in found:
            return {}
        if not free_indices(read):
            found[own] = read
        elif not isinstance(read, eq.Index):
            return {}
    return found


def _rely(cx: Context, read: eq.Read, accumulate: str) -> None:
    flat = flattened(read) if read.view else read
    name, sign = ("ge", "negative") if accumulate == "min" else ("le", "positive")
    shown = eq.Read(read.version, read.subscripts, read.type)
    text = f"{render_expr(shown)} must not be {sign}"
    if text not in cx.assumptions:
        zero = eq.Const(0.0 if read.type.is_inexact else 0, read.type)
        cx.assumptions.append(text)
        cx.relied.append(eq.Check(text, eq.Op(name, (flat, zero), BOOL)))


__all__ = ["stays"]
