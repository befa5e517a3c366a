"""Ragged rows that are counted from zero: ``for k in range(ptr[i + 1] - ptr[i])`` with entries ``x[ptr[i] + k]``.

Moved by where the row starts, the loop is ``for q in range(ptr[i], ptr[i + 1])`` with ``k = q - ptr[i]``: the entries
are ``x[q]`` of a flat array, of which segments can be made (:mod:`kraise.raising.ragged.segments`).
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten
from kraise.ir.types import INT
from kraise.ir.walk import free_indices
from kraise.raising.loops.touched import still
from kraise.raising.ragged.loops import integral
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, exposed, reads
from kraise.raising.run.state import State
from kraise.raising.run.values import value


def in_its_row(
    cx: Context, st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: int, live: frozenset[str]
) -> k.For | None:
    """The loop over the row's places, or None for any other loop, and where the variable is read after it."""
    if step < 1 or s.var in live or s.orelse or (s.span, s.var) in cx.longest:
        return None
    first, last = to_poly(start), to_poly(integral(stop))
    loads = [(a, last.coefficient(a).value) for a in last.atoms() if isinstance(a, eq.Read)]
    if first.value is None or first.value < 0 or sorted(c or 0 for _, c in loads) != [-1, 1]:
        return None
    (low,), (high,) = ([a for a, c in loads if c == sign] for sign in (-1, 1))
    if low.version is not high.version or len(low.subscripts) != 1 or low.view or high.view:
        return None
    apart = to_poly(high.subscripts[0]) - to_poly(low.subscripts[0])
    if apart.value != 1 or not free_indices(low) or (last - to_poly(high) + to_poly(low)).value is None:
        return None
    names = (f"${s.var}.row", f"${s.var}.first", f"${s.var}.end")
    ends = (low, to_expr(first + to_poly(low)), to_expr(last + to_poly(low)))
    place, begin = k.Var(f"${s.var}", s.type), k.Var(names[0], INT)

    def at_place(node: object) -> object | None:
        match node:
            case k.Op(name="add", args=(x, k.Var(name=s.var))) | k.Op(name="add", args=(k.Var(name=s.var), x)):
                if reads(x) & changed or not still(x, s.body):
                    return None
                if integral(value(cx, st.copy(), x)) == low:
                    return replace(place, type=node.type) if node.type.is_integer else place
        return None

    changed = {*assigned(s.body)}
    body = rewritten(s.body, at_place) if s.var not in changed else s.body
    if body == s.body:
        return None
    st.env |= dict(zip(names, ends, strict=True))
    now = k.Assign(s.var, k.Op("sub", (place, begin), s.type), s.type, span=s.span)
    body = (now, *body) if s.var in exposed(body, frozenset()) else body
    return replace(s, var=place.name, start=k.Var(names[1], INT), stop=k.Var(names[2], INT), body=body)


__all__ = ["in_its_row"]
