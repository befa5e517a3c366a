"""Tokens of a host function that is rewritten before it is read."""

from __future__ import annotations

from dataclasses import replace

from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.tokens import Raw


def text_of(program: Program, d: Definition) -> list[Raw]:
    """The tokens of a definition."""
    assert d.item is not None
    return program.unit.tokens[d.item.first : d.item.last + 1]


def with_text(program: Program, d: Definition, found: list[Raw]) -> Definition:
    """A definition of other tokens, which stand behind those of the file."""
    assert d.item is not None
    toks = program.unit.tokens
    start = len(toks)
    toks.extend(replace(t) for t in found)
    item = replace(d.item, first=start, last=len(toks) - 1)
    return Definition(d.name, d.kind, item, scope=dict(d.scope))
