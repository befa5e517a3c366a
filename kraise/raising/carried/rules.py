"""The rules for scalars carried by a loop, in the order in which they are tried (raising.md, step 5).

A rule looks at the update of one scalar and answers :class:`Solved` or :class:`Declined`. It never looks at names.
"""

from __future__ import annotations

from collections.abc import Callable

from kraise.analysis.boxes import Unbounded
from kraise.ir import equations as eq
from kraise.ir.walk import Unmovable
from kraise.raising.carried.affine import induction, invariant, polynomial, renewed
from kraise.raising.carried.alternate import alternation
from kraise.raising.carried.arg import arg_reduction, first_match, last_match
from kraise.raising.carried.flag import flag
from kraise.raising.carried.lookup import arg_lookup
from kraise.raising.carried.problem import Declined, Problem, Solved
from kraise.raising.carried.reduction import reduction
from kraise.raising.carried.rescaled import rescaled
from kraise.raising.carried.scan import scan
from kraise.raising.carried.shift import shift

Rule = Callable[[Problem, str], Solved | Declined]

RULES: tuple[Rule, ...] = (
    invariant,
    induction,
    polynomial,
    arg_reduction,
    arg_lookup,
    reduction,
    rescaled,
    last_match,
    first_match,
    flag,
    shift,
    alternation,
    scan,
)
# a loop that stays sequential still has no use for carries that are functions of its index
IN_FOLD: tuple[Rule, ...] = (invariant, induction, renewed)


def settle(
    p: Problem, rules: tuple[Rule, ...], reasons: list[str]
) -> tuple[set[str], dict[eq.Expr, eq.Expr], dict[str, eq.Expr], str] | None:
    """The first rule that settles one of the pending scalars."""
    for rule in rules:
        for name in p.pending:
            try:
                answer = rule(p, name)
            except Unbounded as unbounded:
                answer = Declined(f"the range of {unbounded.name} is not known when the function is traced")
            except Unmovable:
                answer = Declined("its value in one round is asked for, which is made for all rounds at once")
            if isinstance(answer, Declined):
                reasons.append(answer.reason)
                continue
            return set(answer.final), answer.replace, answer.final, answer.form
    return None
