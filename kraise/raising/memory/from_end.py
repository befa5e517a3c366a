"""Python counts a subscript below zero from the end: ``x[-k - 1]`` is ``x[n - k - 1]``, and ``x[i - 1]`` of all ``i``
goes round, ``x[(i - 1) % n]``.

A subscript that is below zero for some launch of every large size is put that way, and the function raised once more.
(It is the same number wherever the source raises no IndexError: from ``-n`` to ``n - 1``.) What data say about it does
not count: a mask over ``x[i - 1]`` may hold for i = 0, too. Places that data choose stay as they are, and are brought
inside between ``-n`` and ``n - 1`` where a mask is over them.

One that is below zero for some sizes only (``x[lag - i - 1]``) goes round as well. It stays as it is, and the sizes are
checked, where it counts from the end by itself (``x[n - m + i]`` with the array's own n: more than all of its elements
are not meant), and where the proof of the rest fails for one that goes round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from kraise.analysis.boxes import largest
from kraise.analysis.dependence import Access, implied, nonnegative
from kraise.analysis.leaving import Some, somewhere
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.print_expressions import render_expr
from kraise.ir.rewrite import rewritten
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import topological
from kraise.raising.run.context import Context, array_type
from kraise.raising.run.state import State

# all lie below zero; some do, for all sizes or for some; or the sizes are checked
How = Literal["below", "round", "maybe", "checked"]
FromEnd = dict[tuple[Span, int], How]  # the accesses by their places and axes


def note(cx: Context, st: State, a: Access, axis: int) -> None:
    """Remembers an access that is found below zero."""
    key = place(cx, st, a, axis)
    if key is not None and key not in cx.from_end:
        always = all(
            implied((*b.path, *cx.facts), eq.Op("lt", ((b.whole or b.subscripts)[axis], eq.Const(0, INT)), BOOL))
            for b in st.accesses
            if (b.span, b.array) == (a.span, a.array)  # rounds that are written out among them
        )
        cx.below[key] = "below" if always else "round"


def place(cx: Context, st: State, a: Access, axis: int) -> tuple[Span, int] | None:
    """Which subscript of the source it is; None where it is none of Python's as it stands."""
    own = st.locals.get(a.array)  # a thread's or a block's has axes that the source does not write
    at = axis - (0 if own is None else len(own.prefix))
    plain = cx.module.language == "python" and (not a.view or (axis == 0 and _flat(cx, st, a.array)))
    return (a.span, at) if plain and a.span is not None and at >= 0 else None


def _flat(cx: Context, st: State, array: str) -> bool:
    """Whether the source has one subscript, of which a view's are the digits."""
    own, given = st.locals.get(array), array_type(cx.function, array)
    return (own is not None and len(own.shape) == 1) or (given is not None and given.ndim + len(given.tail) == 1)


def for_some_sizes(cx: Context, st: State, a: Access, axis: int) -> Some | None:
    """Whether an access of no thread's own array is below zero for some sizes; None where the function checks them. It
    goes round in the next run otherwise (not a store whose places would meet there)."""
    own = st.locals.get(a.array)
    if a.array in cx.shared or (own is not None and own.prefix) or (a.view and not a.whole):
        return None
    subscript = (a.whole or a.subscripts)[axis]
    poly, path = to_poly(subscript), without_data(a.path)
    if not poly.indices() or implied((*path, *cx.facts), eq.Op("ge", (subscript, eq.Const(0, INT)), BOOL)):
        return None
    key, lowest = place(cx, st, a, axis), largest(-poly, path)
    how = "checked" if key is None else cx.from_end.get(key)
    if how not in (None, "checked"):
        return None  # counted from the end already: what is below zero still lies further below than the array is long
    some = somewhere(replace(a, path=path), poly, -poly - 1, cx.facts)
    if some is None:
        return None
    size = eq.Shape(a.array, axis, INT)
    itself, top = poly.coefficient(size).value, largest(poly, path)
    twice = top is None or lowest is None or not nonnegative(path, to_poly(size) - 1 - top - lowest)
    spared = lowest is not None and any(c < 0 for c in lowest.terms.values())
    if (a.write or a.own) and not spared:
        return None  # at every size, where data let it: a scatter to places that count from the end by themselves
    asked = how == "checked" or (itself or 0) > 0 or (a.write and not a.accumulate and twice)
    if asked and spared and lowest is not None and some.spared_by(-lowest):
        sides = (Poly({m: abs(c) for m, c in lowest.terms.items() if (c > 0) == above}) for above in (True, False))
        less, more = map(to_expr, sides)
        check = eq.Op("le", (less, more), BOOL)
        cx.checks.append((check, f"`{a.array}` would be used before its first element: {render_expr(check)} must hold"))
        cx.assumptions.append(render_expr(check))
        return None
    if key is not None and how is None:
        cx.below[key] = "maybe"
    return some


def without_data(path: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
    """The conditions that data have no part in."""
    return tuple(c for c in path if all(map(_plain, topological((c,)))))


def _plain(node: eq.Node) -> bool:
    return isinstance(node, eq.Op | eq.Const | eq.Index | eq.Param | eq.Shape | eq.Cast)


def counted(body: tuple[k.Stmt, ...], wanted: Mapping[tuple[Span, int], How]) -> tuple[k.Stmt, ...]:
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


def _counted(array: str, axis: int, subscript: k.Expr, how: How | None, span: Span | None) -> k.Expr:
    if how is None or how == "checked":
        return subscript
    size = k.Shape(array, axis, INT, span=span)
    return k.Op("add" if how == "below" else "mod", (subscript, size), INT, span=span)
