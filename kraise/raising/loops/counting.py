"""Stores at a place that their loop counts: ``if keep: out[k] = x[i]; k += 1`` is a scatter to a running count.

Whether two rounds store to one cell is not known before it is known what ``k`` is: it is asked again when that is
settled (a running sum of ones and nothing, see :mod:`kraise.analysis.tallies`). Stream compaction, Blelloch 1990. So it
is of a count that the loops within move by their number of rounds (``for i: for j in range(i): out[k] = …; k += 1``).
"""

from __future__ import annotations

from collections.abc import Mapping

from kraise.analysis.dependence import Access
from kraise.ir import equations as eq
from kraise.ir.walk import topological
from kraise.raising.writes.accumulate import contribution


def counted_stores(accesses: list[Access], carries: Mapping[str, eq.Expr], updates: Mapping[str, eq.Expr]) -> bool:
    """Is every array that a loop stores to stored to at running counts only, and not read there?"""
    counts = {c for n, c in carries.items() if _counts(c, updates[n])}
    stored = {a.array for a in accesses if a.write}
    if not counts or not stored:
        return False
    for a in accesses:
        if a.array in stored:
            held = {n for s in a.subscripts for n in topological((s,)) if n in counts}
            if not a.write or a.accumulate or not held:
                return False
    return True


def _counts(carry: eq.Expr, update: eq.Expr) -> bool:
    """``k + 1 if keep else k``, or ``k`` and what the index says."""
    how = contribution(update, carry)
    if carry.type.is_integer and how is not None and how.op == "add" and how.value is not None and _plain(how.value):
        return True
    match update:
        case eq.Op(name="select", args=(_, yes, no)):
            arms = {yes, no}
        case _:
            arms = {update}
    more = [a for a in arms if a != carry]
    return carry.type.is_integer and len(more) == 1 and _one_more(carry, more[0])


def _plain(e: eq.Expr) -> bool:
    """Whether neither data nor what a loop carries is in ``e``."""
    return not any(isinstance(n, eq.CarryIn | eq.Read | eq.FoldResult) for n in topological((e,)))


def _one_more(carry: eq.Expr, e: eq.Expr) -> bool:
    match e:
        case eq.Op(name="add", args=(a, eq.Const(value=1))) | eq.Op(name="add", args=(eq.Const(value=1), a)):
            return a == carry
    return False
