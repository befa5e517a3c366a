"""How much the search for a function's equations may cost: a bound on work, not on time, so that the answer is the same
on any machine.

What one form of a kernel is refused for, another often is not; what a dozen forms are refused for alike, the next will
not mend. In a small kernel all forms are tried none the less: they cost little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kraise.diagnostics import Refused

_ALIKE = 16  # refusals of one finding
_LARGE = 2_000  # statements, those of all forms together
_MOST = 20_000


class Effort:
    """The statements that the forms of a function have run so far, and what they were refused for."""

    def __init__(self) -> None:
        self.statements = 0
        self._alike: Counter[object] = Counter()

    def add(self, statements: Iterable[int], refused: Refused) -> None:
        """One more form that was refused, after so many statements."""
        self.statements += sum(statements)
        self._alike[frozenset((d.code, d.span) for d in refused.diagnostics)] += 1

    @property
    def spent(self) -> bool:
        """Whether no other form is to be tried."""
        alike = max(self._alike.values(), default=0) >= _ALIKE
        return self.statements > _MOST or (alike and self.statements > _LARGE)


__all__ = ["Effort"]
