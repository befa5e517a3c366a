"""Cells of an array that nobody has stored to, which hold whatever was there before (raising.md, step 6).

A counter in shared memory that is not set to zero first, a tile of which some threads fill a part and all read the
whole. The emitted function is equal to the source on launches that read no such cell, and a load is taken to find what
was stored. Refused are those that find nothing in each launch that is not tiny.
"""

from __future__ import annotations

from kraise.analysis.certain import sure
from kraise.analysis.leaving import always
from kraise.diagnostics import Diagnostic, Refused, Span, refuse
from kraise.ir import equations as eq
from kraise.ir.walk import Unmovable, topological
from kraise.raising.memory import first_block
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
    if found:
        cx.undefined[array] = None


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
