"""Tokens by their brackets, and words as tokens at the place of others."""

from __future__ import annotations

from kraise.frontends.cuda_c.tokens import Raw

_PAIRS = {"(": ")", "[": "]", "{": "}"}


def closing(body: list[Raw], at: int) -> int:
    """The place of the bracket that closes the one at ``at``."""
    depth = 0
    for n in range(at, len(body)):
        if body[n].kind == "OP":
            depth += (body[n].text in _PAIRS) - (body[n].text in _PAIRS.values())
        if not depth:
            return n
    return len(body) - 1


def split(tokens: list[Raw], mark: str = ",") -> list[list[Raw]]:
    """Tokens between the marks of one level."""
    out: list[list[Raw]] = [[]]
    depth = 0
    for t in tokens:
        if t.kind == "OP":
            depth += (t.text in _PAIRS) - (t.text in _PAIRS.values())
        if t.text == mark and not depth:
            out.append([])
        else:
            out[-1].append(t)
    return out


def made(text: str, place: Raw) -> list[Raw]:
    """Words as tokens at the place of another."""
    out = []
    for w in text.split():
        kind = "NUMBER" if w[0].isdigit() else "NAME" if w[0].isalpha() or w[0] == "_" else "OP"
        out.append(Raw(kind, w, place.file, place.line, place.column))
    return out
