"""The ranges of counted loops."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.analysis.conditions import conjuncts, is_static
from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT
from kraise.raising.run.arithmetic import index_like, operation
from kraise.raising.run.context import Context
from kraise.raising.run.state import State


@dataclass(frozen=True)
class Range:
    """The values of a loop's variable: from ``start`` in steps of ``step`` (a nonzero integer) to before ``stop``;
    ``within`` is what else is known of them."""

    index: eq.Index
    start: eq.Expr
    stop: eq.Expr
    step: int
    within: tuple[eq.Expr, ...] = ()

    def conjuncts(self) -> tuple[eq.Expr, ...]:
        j = self.index
        if self.step > 0:
            out = [eq.Op("ge", (j, self.start), BOOL), eq.Op("lt", (j, self.stop), BOOL)]
        else:
            out = [eq.Op("le", (j, self.start), BOOL), eq.Op("gt", (j, self.stop), BOOL)]
        if abs(self.step) != 1:
            gap = operation("sub", (j, self.start) if self.step > 0 else (self.start, j), INT)
            size = eq.Const(abs(self.step), INT)
            out.append(eq.Op("eq", (eq.Op("mod", (gap, size), INT), eq.Const(0, INT)), BOOL))
        return tuple(dict.fromkeys(c for part in (*out, *self.within) for c in conjuncts(part)))


def unit_steps(cx: Context, st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: eq.Expr) -> k.For:
    """A loop whose step is a size: over the number of the round, with the variable computed. The step must be positive,
    which the emitted function checks."""
    positive = eq.Op("ge", (step, eq.Const(1, INT)), BOOL)
    if positive not in st.path:
        st.path = (*st.path, positive)
        cx.checks.append((positive, "the step of a loop must be positive"))
    names = {f"${s.var}.{part}": v for part, v in (("start", start), ("stop", stop), ("step", step))}
    st.env |= names
    first, end, size = (k.Var(n, INT) for n in names)
    one = k.Const(1, INT)
    gap = k.Op("sub", (k.Op("add", (k.Op("sub", (end, first), INT), size), INT), one), INT)
    rounds = k.Op("floordiv", (gap, size), INT)
    count = f"{s.var}_round"
    value_now = k.Op("add", (first, k.Op("mul", (size, k.Var(count, INT)), INT)), INT)
    body = (k.Assign(s.var, value_now, INT, span=s.span), *s.body)
    return replace(s, var=count, start=k.Const(0, INT), stop=rounds, step=one, body=body)


def from_zero(st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: int, live: frozenset[str]) -> k.For | None:
    """A loop over a row (``for j in range(i * n, i * n + n)``) as one over its rounds: its start moves with indices,
    times a size, and its length does not. None for any other, and where the variable is read after it."""
    if not (index_like(start) and index_like(stop)) or s.var in live or s.orelse:
        return None
    first = to_poly(start)
    gap = to_poly(stop) - first if step > 0 else first - to_poly(stop)
    rows = any(len(m) > 1 and any(isinstance(a, eq.Index) for a in m) for m in first.terms)
    if not rows or not is_static(gap):
        return None
    size = abs(step)
    rounds = to_expr(gap)
    if size > 1:
        rounds = operation("floordiv", (to_expr(gap + (size - 1)), eq.Const(size, INT)), INT)
    names = {f"${s.var}.start": start, f"${s.var}.rounds": rounds}
    st.env |= names
    base, stop_at = (k.Var(n, INT) for n in names)
    count = f"${s.var}"
    moved = k.Op("mul", (k.Const(step, INT), k.Var(count, INT)), INT)
    now = k.Op("add", (base, moved), INT)
    body = (k.Assign(s.var, now, s.type, span=s.span), *s.body)
    return replace(s, var=count, start=k.Const(0, INT), stop=stop_at, step=k.Const(1, INT), body=body)
