"""One run of a function with what is known: its equations, or why there are none.

Indices that are taken apart (:class:`Split`) or that nothing bounds start the run again; that is not learned.
"""

from __future__ import annotations

from kraise.analysis.boxes import Unbounded
from kraise.diagnostics import Refused, refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.walk import statement_expressions
from kraise.options import Options
from kraise.raising.collective.requests import Apart, Lanes, Sized, Tied
from kraise.raising.function import Raiser
from kraise.raising.learned import Learned
from kraise.raising.lessons import finer
from kraise.raising.memory.private import Transient
from kraise.raising.ragged.loops import LongRows
from kraise.raising.threads import planes
from kraise.raising.threads.splits import Split


def once(
    module: k.Module, function: k.Function, options: Options, known: Learned, attempts: list[Raiser] | None = None
) -> eq.Kernel | None:
    """The equations with what is ``known`` and no more; None if they ask for more."""
    attempts = [] if attempts is None else attempts
    try:
        kernel = raised(module, function, options, known, attempts)
        left = [e for s in kernel.body for e in statement_expressions(s)]
        return kernel if finer(attempts[-1].cx, known, left, attempts[-1].st.accesses) is None else None
    except (Refused, Transient, LongRows, Sized, Tied, Apart, Lanes):
        return None


def raised(
    module: k.Module, function: k.Function, options: Options, known: Learned, attempts: list[Raiser]
) -> eq.Kernel:
    """The equations with what is ``known``; ``attempts`` gets every run that was started."""
    bounded = known.launched
    splits: list[tuple[str, eq.Expr]] = []
    digits: dict[str, str] = {}
    whole: set[str] = set()
    strided: set[str] = set()
    rows: dict[str, eq.Expr] = {}
    unbound = ""
    for _ in range(24):
        attempt = Raiser(module, function, options, bounded)
        attempt.splits, attempt.digits, attempt.ways = splits, digits, known.ways
        attempt.whole, attempt.strided = whole, strided
        known.enter(attempt.cx)
        attempt.cx.planes = rows
        attempts.append(attempt)
        try:
            kernel = attempt.run()
            found = {n: d for n, d in attempt.cx.digit_names.items() if n not in digits}
            if not found:
                return kernel
            digits |= found  # once more, under the names that the source has for the digits
        except Split as split:
            splits.append((split.name, split.size))
            if split.strided:
                strided.add(split.name)
        except Unbounded as unbounded:
            # an unguarded kernel: the launch is what bounds this index
            if (part := planes.of_digit(attempt.cx, splits, unbounded.name)) and part[0] not in rows:
                rows, bounded = rows | dict([part]), bounded | {part[0]}
                continue
            name = attempt.cx.whole_of.get(unbounded.name, unbounded.name)
            if name in bounded:
                break
            if splits and unbounded.name in attempt.cx.digits:
                # nothing bounds the digits: the index stays whole, its quotient and remainder are gathers
                whole.add(splits.pop()[0])
                continue
            bounded |= {name}
            unbound = name
    reason = f"nothing bounds index {unbound}" if unbound else "its indices are divided in too many ways"
    raise refuse("KR205", reason, function.span)


__all__ = ["once", "raised"]
