"""What another thread holds of a value that a loop carries, in a run in which the loop's rounds are to be free.

A placeholder stands for what is carried, without axes: the value of another thread cannot be told from the thread's
own. Where a value that depends on the thread is taken at another one (staged in shared memory, summed over a block,
read by a shuffle), the loop stays one over whole arrays, in which what is carried has the threads as axes.
"""

from __future__ import annotations

from collections.abc import Collection

from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.ir import equations as eq
from kraise.ir.walk import topological
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawFold, RawWrite, State, expressions, flat

HINT = "write the rounds out, or use a sum, minimum or maximum over the lanes"


class Exchanged(Refused):
    """Threads exchange what a loop carries, in a run in which its rounds were to be free."""

    def __init__(self, span: Span | None = None):
        self.reason = "threads exchange what this loop carries from round to round"
        super().__init__(Diagnostic("KR299", self.reason, span, HINT))


def own_only(cx: Context, st: State, v: eq.Expr, moved: Collection[str], span: Span | None = None) -> None:
    """Raises Exchanged if ``v`` depends on what a loop with free rounds carries along the indices ``moved``, which are
    about to be replaced; through the results of inner loops and through arrays, too."""
    if not cx.trials:
        return
    asked = set(moved)
    raws = flat((*st.before, *st.out))
    seen: set[eq.Expr] = set()
    arrays, folds, todo = set[str](), set[str](), [v]
    while todo:
        fresh = [n for n in topological(todo) if n not in seen]
        seen |= set(fresh)
        todo = []
        for n in fresh:
            match n:
                case eq.CarryIn(fold=fold, name=name) if cx.trials.get((fold, name), frozenset()) & asked:
                    raise Exchanged(span)
                case eq.FoldResult(fold=fold) if fold not in folds:
                    folds.add(fold)
                    todo += [e for r in raws if isinstance(r, RawFold) and r.fold.name == fold for e in expressions(r)]
                case eq.Read(version=version) if version.array in st.locals and version.array not in arrays:
                    arrays.add(version.array)
                    todo += [e for r in raws if _stores(r, version.array) for e in expressions(r)]


def _stores(r: Raw, array: str) -> bool:
    return isinstance(r, RawWrite) and r.after.array == array


__all__ = ["Exchanged", "own_only"]
