"""The fence: refuses what grammar/ does not accept, all problems of a function at once, before anything is lowered."""

from __future__ import annotations

from collections.abc import Iterable

from kraise import dialects
from kraise.diagnostics import Diagnostic, Span


def check(nodes: Iterable[tuple[str, Span | None]], kernel: str) -> list[Diagnostic]:
    """One KR101 for each (node kind, place) that the grammar of Python kernels does not hold."""
    accepted = dialects.accepted_nodes()
    refused = dialects.refused_nodes()
    problems: list[Diagnostic] = []
    for kind, span in nodes:
        if kind in accepted:
            continue
        reason, hint = refused.get(kind, (f"this construct ({kind}) is not accepted in a kernel", ""))
        problems.append(Diagnostic("KR101", reason, span, hint, kernel))
    return problems
