"""Spans, the table of KR codes, and the one exception by which a stage refuses.

A diagnostic names the place in the user's own source, the reason and what the user can change.
Stages raise :class:`Refused` for what they cannot prove; the pipeline collects the diagnostics of
all kernels of a file before anything is printed.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Span:
    """A place in a source file; lines are counted from 1, columns from 1, ends are exclusive."""

    file: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0


@dataclass(frozen=True)
class Diagnostic:
    """One finding: a KR code, the kernel it concerns, its place, why, and what to do about it.

    ``witness``: instances for which what the reason says is certain, in words, where such were found.
    """

    code: str
    reason: str
    span: Span | None = None
    hint: str = ""
    kernel: str = ""
    severity: str = "error"
    causes: tuple[Diagnostic, ...] = field(default=())
    witness: str = ""


class Refused(Exception):
    """Something cannot be raised with the contract's guarantee; carries the diagnostics that say why."""

    def __init__(self, *diagnostics: Diagnostic):
        super().__init__("; ".join(f"{d.code}: {d.reason}" for d in diagnostics))
        self.diagnostics = diagnostics


def refuse(code: str, reason: str, span: Span | None = None, hint: str = "", witness: str = "") -> Refused:
    """The exception for one diagnostic, ready to be raised."""
    return Refused(Diagnostic(code, reason, span, hint, witness=witness))
