"""Cells of an array that nobody has stored to, which hold whatever was there before (raising.md, step 6).

A counter in shared memory that is not set to zero first, a tile of which some threads fill a part and all read the
whole. The emitted function is equal to the source on launches that read no such cell, and a load is taken to find what
was stored. Refused are those that find nothing in each launch that is not tiny.
"""

from __future__ import annotations

from kraise.analysis.certain import sure
from kraise.analysis.conditions import conjuncts, negate
from kraise.analysis.dependence import impossible
from kraise.analysis.leaving import always
from kraise.diagnostics import Diagnostic, Refused, Span, refuse
from kraise.ir import equations as eq
from kraise.ir.launches import one_block
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import Unmovable, free_indices, substitute, topological
from kraise.raising.memory import first_block
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.context import Context
from kraise.raising.run.state import RawNew, RawWrite, State


class Blank(Refused):
    """No race, but cells are read that nobody fills."""


def check_begun(st: State, array: str, span: Span | None) -> None:
    """Refuses to combine with what an array holds that is made without values and was not stored to since.

    Raises:
        Refused: KR207.
    """
    if array not in st.locals:
        return
    touching = [r for r in (*st.before, *st.out) if not isinstance(r, RawNew) or r.stmt.version.array == array]
    made = [r for r in touching if isinstance(r, RawNew)]
    if not made or any(r.stmt.fill is not None for r in made):
        return
    if any(not isinstance(r, RawNew | RawWrite) for r in touching):  # a loop may have filled it
        return
    if any(isinstance(r, RawWrite) and r.after.array == array and not r.accumulate for r in touching):
        return
    raise refuse(
        "KR207",
        f"nothing has been stored to `{array}` that this could be combined with",
        span,
        "fill it before (with zeros, say), and put a barrier between if it is shared",
    )


def note_undefined(
    cx: Context, st: State, array: str, subscripts: tuple[eq.Expr, ...], path: tuple[eq.Expr, ...]
) -> None:
    """Keeps in mind that a cell is read where ``path`` holds that nobody has stored to, if there is such an instance:
    with some sizes, or with all.

    A store by data (``if (x[i] > 0) s[t] = x[i];``) may leave out any instance, where the load does not ask for data.
    Places that data say (``s[p[i]]``) are taken to be filled.
    """
    if not st.locals[array].shared:
        return
    if sure(path):
        cx.unfilled.add(array)
    loads = (*st.path, *st.facts)
    if array in cx.undefined or st.folds or any(map(_of_data, (*loads, *subscripts))):
        return
    kept = tuple(c for c in path if c not in loads and not _of_data(c))
    found = always(loads, kept, cx.facts, cx.thread_names)
    if not found and first_block.products(cx, (*loads, *kept)):
        try:
            first = (first_block.at_first(cx, loads), first_block.at_first(cx, kept), first_block.moved(cx, cx.facts))
            found = always(*first, cx.thread_names)
        except Unmovable:  # what a loop carries exists for the block's index only
            return
    if found or _in_one_block(cx, loads, kept):
        cx.undefined[array] = None


def _in_one_block(cx: Context, loads: tuple[eq.Expr, ...], blank: tuple[eq.Expr, ...]) -> bool:
    """Whether of any two blocks side by side at most one has stored to the cell that both read (``if (i == 0) s[0] =
    …`` with the index i of all the grid); ``blank``: where nobody has."""
    lone = one_block(cx.module.hosts, cx.function.name)  # axes along which the launches of the file have one block
    lone_blocks = {
        n for (kind, axis), i in cx.threads.items() if kind == "block" and axis in lone for n in free_indices(i)
    }
    for b in (b for b in cx.blocks if b not in lone_blocks):
        if not any(b in free_indices(c) for c in blank):
            continue
        here, one, zero = eq.Index(b, INT), eq.Const(1, INT), eq.Const(0, INT)
        after = {here: eq.Op("add", (here, one), INT)}
        sizes = [size for (kind, _), size in cx.threads.items() if kind == "blockDim"]
        known = [eq.Op("ge", (eq.Op("mul", (here, size), INT), zero), BOOL) for size in sizes]
        known += [eq.Op("ge", (size, one), BOOL) for size in sizes] + [eq.Op("ge", (here, zero), BOOL)]
        try:
            both = (*loads, *(tidy(substitute(c, after)) for c in loads), *known, *cx.facts)
            ways = [conjuncts(negate(c)) for c in blank]
            pairs = [(*w, *(tidy(substitute(c, after)) for c in v)) for w in ways for v in ways]
        except Unmovable:  # what a loop carries exists for the block's index only
            continue
        if not impossible(both) and all(impossible((*both, *pair)) for pair in pairs):
            return True
    return False


def check_defined(cx: Context) -> None:
    """Refuses loads of cells that nobody has stored to.

    Raises:
        Blank: KR207.
    """
    for array, span in cx.undefined.items():
        reason = f"threads read elements of `{array}` that nobody has stored to"
        hint = "let the threads that read an element, or others before a barrier, store to it"
        raise Blank(Diagnostic("KR207", reason, span, hint))


def _of_data(condition: eq.Expr) -> bool:
    return any(isinstance(n, eq.Read) for n in topological((condition,)))


__all__ = ["Blank", "check_begun", "check_defined", "note_undefined"]
