"""Where slices of Python begin and end: ``x[a:b]`` goes from ``max(a + n, 0)`` on for an ``a`` below zero, and to
``min(b, n)`` for a ``b`` beyond the end (``slice.indices``).

A bound that the path keeps within its axis stays as it is. One that leaves it for some sizes only is a condition on the
sizes: stated, and checked when the function is called. One that leaves it in some round of a loop at all sizes is cut
off at the end, which is exact; where it may be below zero there, the element that is meant is another in this round
than in the others, and the source is refused. What data say of a bound is taken for granted, and said so.
"""

from __future__ import annotations

from kraise.analysis.boxes import largest
from kraise.analysis.conditions import is_static
from kraise.analysis.delinearize import provable
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Span, refuse
from kraise.ir import equations as eq
from kraise.ir.operations import SLICE_ENDS
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.raising.run.arithmetic import index_like, operation
from kraise.raising.run.context import Context
from kraise.raising.run.state import State

NAMES = (*SLICE_ENDS, "slice_count", "same_extent")
_ZERO = eq.Const(0, INT)
_BEFORE = "a slice would begin or end before its array"
_WITHIN = "Requires slices that lie within their arrays"


def value(cx: Context, st: State, name: str, args: tuple[eq.Expr, ...], span: Span | None) -> eq.Expr:
    """The bound or extent that an operation on slices stands for in state ``st``.

    Raises:
        Refused: it may count from the end in some round of a loop, or two extents may differ.
    """
    if not all(map(index_like, args)):
        if _WITHIN not in cx.assumptions:
            cx.assumptions.append(_WITHIN)
        from kraise.raising.ragged.loops import integral  # which needs the values of this folder

        return integral(args[0])
    if name == "same_extent":
        return _same(cx, st, args[0], args[1], span)
    at = to_poly(args[0])
    if name == "slice_count":
        if _holds(st, at) or _asked(cx, st, at, "a slice would end before it begins"):
            return args[0]
        return operation("max", (args[0], _ZERO), INT)
    if not _holds(st, at) and not _of_sizes(cx, st, at) and not _asked(cx, st, at, _BEFORE):
        shown = render_expr(args[0])
        reason = f"`{shown}` may be below zero here, where the bound of a slice counts from the end"
        raise refuse("KR204", reason, span, f"if the array's first element is meant there: max({shown}, 0)")
    if name in ("slice_start", "slice_before"):
        return args[0]  # beyond the end nothing is left
    most = to_poly(args[1]) - (1 if name == "slice_last" else 0)
    if _holds(st, most - at) or _asked(cx, st, most - at, "a slice would end beyond its array"):
        return args[0]
    return operation("min", (args[0], to_expr(most)), INT)


def _of_sizes(cx: Context, st: State, poly: Poly) -> bool:
    """Whether it is a sum of products of indices that are not negative and of sizes, which are checked not to be."""
    atoms = [a for m, c in poly.terms.items() if m for a in m if c > 0]
    sizes = [a for a in dict.fromkeys(atoms) if isinstance(a, eq.Param)]
    others = (a for a in atoms if not isinstance(a, eq.Param | eq.Shape))
    if any(c < 0 for c in poly.terms.values()) or not all(_holds(st, to_poly(a)) for a in others):
        return False
    for size in sizes:
        if not _holds(st, to_poly(size)):
            _check(cx, st, "le", to_poly(size), _BEFORE)
    return True


def _holds(st: State, poly: Poly) -> bool:
    return provable((*st.path, *st.facts), poly)


def _asked(cx: Context, st: State, poly: Poly, text: str) -> bool:
    """Whether ``poly >= 0`` is a matter of the sizes, which the emitted function checks; not one that all large sizes
    break."""
    if not is_static(poly) or poly.indices():
        most = _largest(st, -poly)
        if most is None or not is_static(most) or most.indices():
            return False
        poly = -most
    if not any(c > 0 for m, c in poly.terms.items() if m):
        return poly.value is not None and poly.value >= 0
    _check(cx, st, "le", poly, text)
    return True


def _largest(st: State, poly: Poly) -> Poly | None:
    """The largest value of ``poly`` over the indices, also of one that a size multiplies (``b * size + size``)."""
    known = (*st.path, *st.facts)
    for index in (eq.Index(name, INT) for name in sorted(poly.indices())):
        factor = poly.coefficient(index)
        if factor.value is None and is_static(factor):
            up = _holds(st, factor)
            end = largest(to_poly(index) if up else -to_poly(index), known) if up or _holds(st, -factor) else None
            if end is None:
                return None
            poly = poly.without(index) + factor * (end if up else -end)
    return largest(poly, known) if poly.indices() else poly


def _same(cx: Context, st: State, one: eq.Expr, other: eq.Expr, span: Span | None) -> eq.Expr:
    """One of two extents that are equal."""
    gap = to_poly(one) - to_poly(other)
    if gap.value == 0 or (_holds(st, gap) and _holds(st, -gap)):
        return one
    if gap.value is not None or not is_static(gap) or gap.indices():
        reason = f"`{render_expr(one)}` and `{render_expr(other)}` elements do not fit together, or not in every round"
        raise refuse("KR104", reason, span, "take as many of both")
    _check(cx, st, "eq", gap, "arrays would not fit together")
    return one


def _check(cx: Context, st: State, name: str, gap: Poly, text: str) -> None:
    """``gap`` is not negative (``eq``: is zero), from here on."""
    more, less = (
        to_expr(Poly({m: abs(c) for m, c in gap.terms.items() if (c > 0) == above})) for above in (True, False)
    )
    check = eq.Op(name, (less, more) if name == "le" else (more, less), BOOL)
    if all(check != c for c, _ in cx.checks):
        cx.checks.append((check, f"{text}: {render_expr(check)} must hold"))
        if less is not _ZERO or not isinstance(more, eq.Param):  # that sizes are not negative goes without saying
            cx.assumptions.append(render_expr(check))
    st.facts = (*st.facts, check)
