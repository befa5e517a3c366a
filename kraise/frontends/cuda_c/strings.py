"""Arrays of characters that a string initializes: ``const char hex[] = "0123456789abcdef"``."""

from __future__ import annotations

import re

from lark import Token, Tree

from kraise.frontends.cuda_c.c_types import Array, CType
from kraise.frontends.cuda_c.trees import Node, kind, strip
from kraise.ir.types import INT8, UINT8

_ESCAPES = {"n": 10, "t": 9, "r": 13, "\\": 92, "'": 39, '"': 34, "?": 63, "a": 7, "b": 8, "f": 12, "v": 11}
_PART = re.compile(r"\\x(?P<hex>[0-9A-Fa-f]+)|\\(?P<octal>[0-7]{1,3})|\\(?P<escape>.)|(?P<plain>[^\\])", re.S)


def code(body: str) -> int:
    """The number of the one character, as between its quotes: ``a``, ``\\n``, ``\\x7f``."""
    return _codes(body)[0]


def _codes(body: str) -> list[int]:
    out = []
    for m in _PART.finditer(body):
        digits, octal, escape, plain = m.group("hex", "octal", "escape", "plain")
        if digits or octal:
            out.append(int(digits, 16) if digits else int(octal, 8))
        else:
            out.append(_ESCAPES.get(escape, ord(escape)) if escape else ord(plain))
    return out


def spelled_out(initial: Node | None, t: CType) -> Node | None:
    """A string that initializes an array ``t`` of bytes as the list of its characters, the 0 at its end where there is
    room for one; anything else as it stands."""
    plain = strip(initial) if isinstance(initial, Tree) else initial
    if not isinstance(plain, Tree) or not isinstance(t, Array) or t.of not in (INT8, UINT8):
        return initial
    if kind(plain) == "braced_init_list" and len(plain.children) == 1:  # char s[] = {"ab"};
        (only,) = plain.children
        plain = strip(only) if isinstance(only, Tree) else plain
    if not isinstance(plain, Tree) or plain.data != "string" or not all(str(s)[0] == '"' for s in plain.children):
        return initial
    codes = [c for s in plain.children for c in _codes(str(s)[1:-1])]
    if not all(c < 128 for c in codes):
        return initial
    first = plain.children[0]
    assert isinstance(first, Token)
    room = [0] if t.extent is None or getattr(t.extent, "value", None) != len(codes) else []
    numbers = [Tree("number", [Token.new_borrow_pos("NUMBER", str(c), first)], plain.meta) for c in codes + room]
    return Tree("braced_init_list", list(numbers), plain.meta)


__all__ = ["code", "spelled_out"]
