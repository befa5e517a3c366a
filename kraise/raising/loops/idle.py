"""Stores that change nothing where another instance reads: the shortest-path kind of dependence.

``d[i][j] = min(d[i][j], d[i][k] + d[k][j])`` reads row and column k, which other rounds of i and j write; but what they
write there is ``min(d[i][k], d[i][k] + d[k][k])``, the old value as long as ``d[k][k] >= 0``. Where a write is idle at
every cell that another instance reads, the rounds are free; a condition on data that this needs is stated as an
assumption.
"""

from __future__ import annotations

from kraise.analysis.dependence import Access
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import Unmovable, free_indices, substitute
from kraise.raising.run import simplify
from kraise.raising.run.context import Context


def idle(cx: Context, w: Access, other: Access, shared: frozenset[str]) -> bool:
    """Whether accumulation ``w`` leaves every cell as it is that ``other`` (a load) reads in another instance.

    ``shared`` are the indices that have one value in both instances.
    """
    if w.value is None or other.write or other.node is None or w.view != other.view:
        return False
    moves: dict[eq.Expr, eq.Expr] = {}
    for mine, theirs in zip(w.subscripts, other.subscripts, strict=True):
        if mine is theirs:
            continue
        if isinstance(mine, eq.Index) and mine not in moves and free_indices(theirs) <= shared:
            moves[mine] = theirs
        else:
            return False
    if not moves:
        return False
    own = eq.Read(other.node.version, other.subscripts, other.node.type, other.node.view)
    try:
        amount = substitute(w.value, moves)
    except Unmovable:
        return False
    verdict = _leaves(w.accumulate, own, amount) if w.accumulate else (_value(amount) is own or None)
    if verdict is None:
        return False
    if isinstance(verdict, eq.Expr):
        text = f"{render_expr(verdict)} >= 0 for all {', '.join(sorted(free_indices(verdict)))}"
        if w.accumulate == "max":
            text = text.replace(">=", "<=")
        if text not in cx.assumptions:
            cx.assumptions.append(text)
            sides = (eq.Const(0, INT), verdict) if w.accumulate == "max" else (verdict, eq.Const(0, INT))
            cx.relied.append(eq.Check(text, eq.Op("ge", sides, BOOL)))
    return True


def _leaves(op: str, own: eq.Expr, amount: eq.Expr) -> bool | eq.Expr | None:
    """Whether ``own op amount`` is own: True, or the expression that must not be negative (for max: positive), or
    None."""
    if op not in ("min", "max"):
        return None
    match amount:
        case eq.Op(name="add", args=(a, b)) if a is own or b is own:
            return b if a is own else a
        case eq.Op(name="max" | "min" as inner, args=args) if own in args and inner != op:
            return True  # min(own, max(own, y))
    return None


def _value(e: eq.Expr) -> eq.Expr:
    """``e`` with what its conditions say of the cells they test: where ``not x != 0`` holds, x is 0."""
    match e:
        case eq.Op(name="select", args=(eq.Op(name="ne", args=(x, eq.Const(value=0) as zero)) as test, a, b), type=t):
            then = _value(substitute(a, {test: simplify.TRUE}))
            other = _value(substitute(b, {test: simplify.FALSE, x: zero}))
            if then is x and isinstance(other, eq.Const) and other.value == 0:
                return x
            return then if then is other else simplify.op("select", (test, then, other), t)
        case eq.Op(name="select", args=(eq.Const(value=holds), a, b)):
            return _value(a if holds else b)
        case eq.Op(name="select", args=(test, a, b), type=t):
            return simplify.op("select", (test, _value(a), _value(b)), t)
    return e
