"""The result of a verification, as data: one row a check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One check: ``status`` is ok, failed, skipped or note; ``error`` relative to the scale of what was compared."""

    check: str  # reference, values, jvp, vjp, second order, jit, vmap, form, module
    what: str
    status: str
    error: float | None = None
    tolerance: float | None = None
    message: str = ""


@dataclass(frozen=True)
class Report:
    """All checks of one kernel, and the arguments and launch they ran with, in words."""

    kernel: str
    rows: tuple[Row, ...]
    arguments: str = ""
    launch: str = ""

    @property
    def ok(self) -> bool:
        """Did no check fail (and was something compared)?"""
        return not self.failures and any(row.status == "ok" and row.check != "form" for row in self.rows)

    @property
    def unfit(self) -> bool:
        """Did the emitted function refuse these arguments by itself?"""
        return any(row.message.startswith(f"ValueError: {self.kernel}: ") for row in self.failures)

    @property
    def failures(self) -> tuple[Row, ...]:
        """The rows that failed."""
        return tuple(row for row in self.rows if row.status == "failed")


def in_words(error: BaseException) -> str:
    """An exception as one line: its kind and the first line of its message."""
    first = (str(error).strip().splitlines() or [""])[0]
    first = first if len(first) <= 200 else f"{first[:197]}..."
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
