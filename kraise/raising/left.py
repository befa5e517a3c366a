"""What is left in equations of which there had better be less: loops, arrays that are made, arrays that loops carry."""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.walk import statement_expressions, topological

Body = tuple[eq.Stmt, ...]


def made(body: Body) -> set[str]:
    """The arrays that the equations make."""
    return {s.version.array for s in body if isinstance(s, eq.New)}


def fewer(body: Body, than: Body) -> bool:
    """Whether the equations make fewer arrays than others."""
    return len(made(body)) < len(made(than))


def carried(body: Body, own: set[str]) -> bool:
    """Whether a loop carries an array of a thread's ``own``."""
    folds = [s for s in body if isinstance(s, eq.Fold)]
    return any(any(a.outside.array in own for a in s.arrays) or carried(s.body, own) for s in folds)


def loops(body: Body) -> int:
    """How many loops there are, with those inside."""
    return sum(1 + loops(s.body) for s in body if isinstance(s, eq.Fold))


def halved(body: Body) -> bool:
    """Whether a loop's rounds halve or double what a round reaches (``8 >> round``): the steps of a tree."""
    for s in body:
        if not isinstance(s, eq.Fold):
            continue
        reaches = (n for e in statement_expressions(s) for n in topological((e,)) if isinstance(n, eq.Op))
        if s.axis is not None and any(
            n.name in ("shr", "shl") and isinstance(n.args[1], eq.Index) and n.args[1].name == s.axis.name
            for n in reaches
        ):
            return True
    return False


__all__ = ["carried", "fewer", "halved", "loops", "made"]
