"""Unsigned counters that go down until they are beyond the end (Kernel IR to Kernel IR).

``for (size_t k = n - 1; k < n; k--)`` is how C counts down to zero without a sign: from zero the counter goes round to
the greatest number of its type, which is no place of any array. So the rounds are those of a signed counter that does
not go below zero, where the first one is within the end. (XLA, jaxlib 0.10, counts the rounds of such a while loop as
if nothing went round.)
"""

from __future__ import annotations

from kraise.analysis.poly import to_expr, to_poly
from kraise.diagnostics import refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, topological
from kraise.raising.loops.counted import all_of, conjuncts_of, step_of
from kraise.raising.run.arithmetic import RING, index_like
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, reads
from kraise.raising.run.state import State
from kraise.raising.run.values import provable_here, value


def downwards(cx: Context, st: State, s: k.While) -> tuple[k.Stmt, ...] | None:
    """What replaces the loop, or None where it counts otherwise, or from and to what data say.

    Raises:
        Refused: nothing but such a counter ends the loop, and its range is not known.
    """
    found = _counter(s)
    if found is None:
        return None
    v, end, condition = found
    start, stop = _signed(value(cx, st.copy(), v)), _signed(value(cx, st.copy(), end))
    if start is None or stop is None:
        first = value(cx, st.copy(), v)
        if free_indices(first) or any(isinstance(n, eq.Read | eq.CarryIn) for n in topological((first,))):
            return None
        raise refuse(
            "KR205", f"`{v.name}` goes down past zero, and from where is not known", s.span, "use a signed one"
        )
    at = k.Var(f"{v.name}$down", INT)
    st.env[at.name] = start
    rest = [c for c in conjuncts_of(s.condition) if c is not condition]
    test = all_of([k.Op("ge", (at, k.Const(0, INT)), BOOL, span=s.span), *rest])
    copied = k.Assign(v.name, k.Cast(v.type, at), v.type, span=s.span)
    *body, last = s.body
    step = step_of(last.value, v.name) if isinstance(last, k.Assign) else None
    assert isinstance(step, k.Const)
    moved = k.Assign(at.name, k.Op("sub", (at, k.Const(-step.value.real, INT)), INT), INT, span=s.span)
    loop = k.While(test, (copied, *body, last, moved), span=s.span)
    inside = 1 if isinstance(condition, k.Op) and condition.name in ("lt", "gt") else 0
    if provable_here(st, to_poly(stop) - to_poly(start) - inside):
        return (loop,)
    name = f"${v.name}$end"
    st.env[name] = stop
    return (k.If(k.Op("lt" if inside else "le", (at, k.Var(name, INT)), BOOL, span=s.span), (loop,), span=s.span),)


def _counter(s: k.While) -> tuple[k.Var, k.Expr, k.Expr] | None:
    """The unsigned variable that every round moves down at its end, what it must be below, and the condition that says
    so."""
    last = s.body[-1] if s.body else None
    if s.test_last or not isinstance(last, k.Assign) or last.type is None or last.type.kind != "uint":
        return None
    step = step_of(last.value, last.name)
    if not isinstance(step, k.Const) or not -64 <= step.value.real < 0 or last.name in assigned(s.body[:-1]):
        return None
    for c in conjuncts_of(s.condition):
        match c:
            case k.Op(name="lt" | "le", args=(a, b)) | k.Op(name="gt" | "ge", args=(b, a)):
                a = _plain(a)
                if isinstance(a, k.Var) and a.name == last.name and not reads(b) & {*assigned(s.body)}:
                    return a, b, c
    return None


def _plain(e: k.Expr) -> k.Expr:
    while isinstance(e, k.Cast) and e.type.kind == e.arg.type.kind == "uint" and (e.arg.type.bits or 0) >= 32:
        e = e.arg
    return e


def _signed(e: eq.Expr) -> eq.Expr | None:
    """Sums and differences of indices, sizes and numbers, unsigned or not, as signed ones; None for anything else."""
    match e:
        case eq.Cast(type=t, arg=a) if t.is_integer and a.type.is_integer and (t.bits or 32) >= 32:
            return _signed(a)
        case eq.Op(name=name, args=args) if name in RING and e.type.is_integer:
            parts = [_signed(a) for a in args]
            return None if None in parts else to_expr(to_poly(eq.Op(name, tuple(parts), INT)))  # type: ignore[arg-type]
    return e if index_like(e) else None


__all__ = ["downwards"]
