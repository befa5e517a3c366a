"""Python counts a subscript below zero from the end: ``x[-k - 1]`` is ``x[n - k - 1]``, and ``x[i - 1]`` of all ``i``
goes round, ``x[(i - 1) % n]``.

A subscript that is below zero for some launch of every large size is put that way, and the function raised once more.
(It is the same number wherever the source raises no IndexError: from ``-n`` to ``n - 1``.) What data say about it does
not count: a mask over ``x[i - 1]`` may hold for i = 0, too. Places that data choose stay as they are, and are brought
inside between ``-n`` and ``n - 1`` where a mask is over them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kraise.analysis.dependence import Access, implied
from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten
from kraise.ir.types import BOOL, INT
from kraise.raising.run.context import Context
from kraise.raising.run.state import State

FromEnd = dict[tuple[Span, int], bool]  # the accesses by their places and axes, and whether all lie below zero


def note(cx: Context, st: State, a: Access, axis: int) -> None:
    """Remembers an access that is found below zero."""
    own = st.locals.get(a.array)  # a thread's or a block's has axes that the source does not write
    at = axis - (0 if own is None else len(own.prefix))
    plain = a.span is not None and not a.view and not a.whole
    if cx.module.language == "python" and at >= 0 and plain and (a.span, at) not in cx.from_end:
        cx.below[a.span, at] = all(
            implied((*b.path, *cx.facts), eq.Op("lt", (b.subscripts[axis], eq.Const(0, INT)), BOOL))
            for b in st.accesses
            if (b.span, b.array) == (a.span, a.array)  # rounds that are written out among them
        )


def counted(body: tuple[k.Stmt, ...], wanted: Mapping[tuple[Span, int], bool]) -> tuple[k.Stmt, ...]:
    """The statements with these subscripts from the start of their arrays."""
    spans = {span for span, _ in wanted}

    def visit(x: Any) -> Any:
        if not isinstance(x, k.Load | k.Store | k.Atomic) or x.span not in spans:
            return None
        places = enumerate(rewritten(x.subscripts, visit))
        subs = tuple(_counted(x.array, at, s, wanted.get((x.span, at)), x.span) for at, s in places)
        match x:
            case k.Store():
                return replace(x, subscripts=subs, value=rewritten(x.value, visit))
            case k.Atomic():
                return replace(x, subscripts=subs, values=rewritten(x.values, visit))
        return replace(x, subscripts=subs)

    return rewritten(body, visit) if wanted else body  # type: ignore[no-any-return]


def _counted(array: str, axis: int, subscript: k.Expr, always: bool | None, span: Span | None) -> k.Expr:
    if always is None:
        return subscript
    size = k.Shape(array, axis, INT, span=span)
    return k.Op("add" if always else "mod", (subscript, size), INT, span=span)
