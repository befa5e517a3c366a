"""A loop over what is left of a chunk (``for (k = 4 * i; k < n; k++)`` where ``4 * i + 3 >= n``) has few rounds.

It is one over the places of the chunk (``4 * i + j`` with 0 <= j < 4) under the guard ``4 * i + j < n``, which makes
one index of i and j. The side conditions: how many rounds there are falls by the chunk's size from one index to the
next, and what is known where the loop stands says that there are no more than that. A loop whose variable is read after
it is left alone.
"""

from __future__ import annotations

from kraise.analysis.delinearize import provable
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.state import State

_MOST = 16  # places of a chunk


def few_rounds(st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: int, live: frozenset[str]) -> k.For | None:
    """Such a loop over the places of its chunk; None for any other."""
    if step != 1 or not (index_like(start) and index_like(stop)) or s.var in live or s.orelse:
        return None
    first, last = to_poly(start), to_poly(stop)
    left = last - first
    indices = [a for a in left.atoms() if isinstance(a, eq.Index)]
    by = -(left.coefficient(indices[0]).value or 0) if len(indices) == 1 else 0
    if not 2 <= by <= _MOST or not provable((*st.path, *st.facts), -left + by):
        return None
    st.env |= {f"${s.var}.start": start, f"${s.var}.stop": stop}
    base, end = k.Var(f"${s.var}.start", INT), k.Var(f"${s.var}.stop", INT)
    count = f"${s.var}"
    now = k.Op("add", (base, k.Var(count, INT)), INT)
    inside = k.Op("lt", (k.Var(s.var, INT), end), BOOL)
    body = (k.Assign(s.var, now, s.type, span=s.span), k.If(inside, s.body, (), span=s.span))
    return k.For(count, k.Const(0, INT), k.Const(by, INT), k.Const(1, INT), body, span=s.span)


__all__ = ["few_rounds"]
