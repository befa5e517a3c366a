"""How far rounding alone moves a result: the reference beside itself in 64 bits.

Where a program amplifies rounding (many steps of an unstable scheme, conjugate gradients on a matrix that is near to
singular), two right orders of its operations differ by as much as the reference differs from its own run in 64 bits
(Higham, Accuracy and Stability of Numerical Algorithms, section 1.5). That difference, a few times, is allowed then;
what is really wrong shows in 64 bits, where the same arguments are compared to nine digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kraise.ir import kernel as k
from kraise.verify import interpreter
from kraise.verify.errors import InterpreterError
from kraise.verify.gradients import widen
from kraise.verify.interpreter import Outcome
from kraise.verify.measure import compare
from kraise.verify.report import Row

_TIMES = 4  # two runs, each with its own error, and a margin of as much


def lenient(
    rows: Sequence[Row],
    source: k.Module,
    function: k.Function,
    arguments: Mapping[str, Any],
    launch: Mapping[str, Any],
    reference: Outcome,
    result: Any,
    matched: Callable[[k.Function, Outcome, Any], tuple[list[Any], list[Any]]],
) -> list[Row]:
    """The rows of values, with those that failed by no more than rounding explains as passed."""
    if not any(r.status == "failed" and r.error is not None for r in rows):
        return list(rows)
    try:
        wide = interpreter.run(source, function.name, widen(arguments), **launch, detect_races=False)
    except (InterpreterError, ValueError, TypeError, IndexError):
        return list(rows)
    own, got = matched(function, reference, result)
    exact, _ = matched(function, wide, result)
    by_name = {leaf.name: (leaf.value, other.value, value) for leaf, other, value in zip(own, exact, got, strict=True)}
    out: list[Row] = []
    for row in rows:
        found = by_name.get(row.what)
        if row.status != "failed" or row.error is None or row.tolerance is None or found is None:
            out.append(row)
            continue
        mine, other, value = found
        if np.asarray(mine).dtype.kind not in "fc" or np.shape(mine) != np.shape(other):
            out.append(row)
            continue
        moved = compare("", "", np.asarray(mine), np.asarray(other), row.tolerance).error or 0.0
        again = compare(row.check, row.what, np.asarray(value), np.asarray(mine), _TIMES * moved)
        if moved > row.tolerance / _TIMES and again.status == "ok":
            row = replace(again, message=f"rounding alone moves the reference by {moved:.1e}")
        out.append(row)
    return out
