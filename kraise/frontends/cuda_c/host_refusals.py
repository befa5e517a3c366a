"""What is said of a host function that is refused: each cause once.

A declaration that is not understood makes every later line that mentions its name wrong, and a method that is not known
is called in ten places: the reader of the message wants the first.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.diagnostics import Diagnostic
from kraise.frontends.cuda_c.trees import tokens

_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST_LINES = 5  # that are named beside the first


def without_followers(reader: Any, node: Tree, before: int) -> None:
    """Takes what ``node`` added to the problems of ``reader`` away again, if a name in it has no meaning because of a
    problem that stands before; or keeps the names that have none because of this one."""
    if len(reader.problems) == before:
        return
    places = [*node.find_data("id_expression"), *node.find_data("declarator_id")]  # and no names of members
    words = {str(t) for p in places for t in tokens(p) if t.type == "NAME"}
    causes = {id(d) for d in reader.problems[:before]}
    followed = any(id(reader.failed.get(w)) in causes for w in words)
    cause = reader.problems[before] if not followed else next(
        reader.failed[w] for w in sorted(words) if id(reader.failed.get(w)) in causes
    )  # fmt: skip
    alone = node.data in ("declaration_statement", "expression_statement")
    declared = {str(t) for p in node.find_data("declarator_id") for t in tokens(p)} if alone else set()
    said = {w for d in reader.problems[before:] for w in _WORD.findall(d.reason)}
    for name in sorted(words & (declared | said)):
        if name not in reader.arrays and name not in reader.banks and name not in reader.program.functions:
            reader.failed.setdefault(name, cause)
    if followed:
        del reader.problems[before:]


def first_of_each(problems: list[Diagnostic]) -> list[Diagnostic]:
    """The problems without those that say the same of another line, which the first one names."""
    found: dict[tuple[str, str], list[Diagnostic]] = {}
    for d in problems:
        found.setdefault((d.code, d.reason), []).append(d)
    return [_with_lines(same) for same in found.values()]


def _with_lines(same: list[Diagnostic]) -> Diagnostic:
    first = same[0]
    lines = sorted({d.span.line for d in same[1:] if d.span is not None} - {first.span.line if first.span else 0})
    if not lines:
        return first
    named = ", ".join(map(str, lines[:_MOST_LINES])) + (" and others" if len(lines) > _MOST_LINES else "")
    also = f"the same in line{'s' if len(lines) > 1 else ''} {named}"
    return replace(first, hint=f"{first.hint} ({also})" if first.hint else also)
