"""Stores that change nothing where another instance reads: the shortest-path kind of dependence.

``d[i][j] = min(d[i][j], d[i][k] + d[k][j])`` reads row and column k, which other rounds of i and j write; but what they
write there is ``min(d[i][k], d[i][k] + d[k][k])``, the old value as long as ``d[k][k] >= 0``. Where a write is idle at
every cell that another instance reads, the rounds are free; a condition on data that this needs is stated as an
assumption.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraise.analysis.dependence import Access
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import Unmovable, free_indices, substitute
from kraise.raising.memory.truths import as_tested, keeps_truth
from kraise.raising.run.context import Context


def idle(cx: Context, w: Access, other: Access, shared: frozenset[str], used: Sequence[eq.Expr] = ()) -> bool:
    """Whether ``w`` leaves every cell as it is that ``other`` (a load) reads in another instance.

    ``shared`` are the indices that have one value in both instances, ``used`` the expressions that may hold the load.
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
    if used and keeps_truth(w, other, moves, used):
        return True
    own = eq.Read(other.node.version, other.subscripts, other.node.type, other.node.view)
    try:
        amount = substitute(w.value, moves)
    except Unmovable:
        return False
    verdict = _leaves(w.accumulate, own, amount) if w.accumulate else (as_tested(amount) is own or None)
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
