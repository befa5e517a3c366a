"""What a helper does where an argument is ``None``, and where it is not: ``n = x.size if n is None else n``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import libcst as cst

from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.source import dotted


def settled(lines: Sequence[Any], known: Mapping[str, bool]) -> list[Any]:
    """Statements in which tests for ``None`` are decided; ``known`` says which parameters are."""
    known = dict(known)
    out: list[Any] = []
    for line in lines:
        match line:
            case cst.If(test=test, body=body, orelse=orelse) if (chosen := _decided(test, known)) is not None:
                other = [] if orelse is None else [orelse] if isinstance(orelse, cst.If) else list(orelse.body.body)
                out += settled(list(body.body) if chosen else other, known)
            case cst.SimpleStatementLine(
                body=[cst.Assign(value=cst.IfExp(test=test, body=one, orelse=other)) as only]
            ) if (chosen := _decided(test, known)) is not None:
                value = one if chosen else other
                if dotted(only.targets[0].target) != dotted(value) or len(only.targets) > 1:
                    out.append(line.with_changes(body=[only.with_changes(value=value)]))
            case _:
                out.append(line)
        for name in assigned(line) & set(known):
            if isinstance(line, cst.SimpleStatementLine | cst.If):
                known.pop(name)
    return out


def _decided(test: Any, known: Mapping[str, bool]) -> bool | None:
    """Whether a test for ``None`` holds; None for any other test."""
    match test:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=sign, comparator=right)]) if (
            dotted(right) == "None" and dotted(left) in known
        ):
            if isinstance(sign, cst.Is | cst.Equal):
                return known[dotted(left)]
            if isinstance(sign, cst.IsNot | cst.NotEqual):
                return not known[dotted(left)]
    return None
