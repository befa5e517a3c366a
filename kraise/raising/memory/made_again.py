"""Values of neighbours that are better read than made once more.

``a[t & 1][s] = f(a[(t - 1) & 1][s], a[(t - 1) & 1][s - 1])``, two rounds at a time: what the second round finds in cell
s - 1 is f of two cells of the first, as every cell of its own row is. Where f is no more than sums and choices, to see
through it is what makes sums of trees and scans; logarithms and quotients are not computed for each reader.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.ir import equations as eq
from kraise.ir.walk import topological
from kraise.raising.run.state import Raw, RawWrite

_FUNCTIONS = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "sqrt", "sin", "cos", "tanh")
_COSTLY = frozenset((*_FUNCTIONS, "div"))


def made_again(before: Iterable[Raw], array: str, value: eq.Expr) -> bool:
    """Whether ``value``, which a cell of the array holds, is made of other cells by a costly operation, and is none of
    the values that the stores ``before`` make anyway."""
    nodes = topological((value,))
    if not any(isinstance(n, eq.Op) and n.name in _COSTLY for n in nodes):
        return False
    if not any(isinstance(n, eq.Read) and n.version.array == array for n in nodes):
        return False
    return value not in topological([r.value for r in before if isinstance(r, RawWrite) and r.after.array == array])


__all__ = ["made_again"]
