"""Raw tokens of C text: what the scan and the type-aware lexer read.

A raw token knows its own place in the user's file; ``index`` (its position in the unit's list) is what the parse
tree carries, so that a node finds its way back to file, line and column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kraise.diagnostics import Span, refuse

_RAW = re.compile(
    r"""
  (?P<SKIP>[ \t\r\f\v\\]+|//[^\n]*|/\*.*?\*/)
 |(?P<NEWLINE>\n)
 |(?P<PRAGMA>\#[^\n]*)
 |(?P<STRING>(?:u8|u|U|L)?R"(?P<delim>[^(\s]*)\(.*?\)(?P=delim)"|(?:u8|u|U|L)?"(?:\\.|[^"\\\n])*")
 |(?P<CHARACTER>(?:u8|u|U|L)?'(?:\\.|[^'\\\n])+')
 |(?P<NUMBER>(?:0[xX][0-9a-fA-F']+(?:\.[0-9a-fA-F]*)?(?:[pP][+-]?\d+)?|0[bB][01']+
    |(?:\d[\d']*(?:\.[\d']*)?|\.\d[\d']*)(?:[eE][+-]?\d+)?)[A-Za-z_]*)
 |(?P<NAME>[A-Za-z_$][\w$]*)
 |(?P<OP><<<|>>>|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|::
    |[-+*/%&|^~!<>=?:;,.(){}\[\]])
""",
    re.S | re.X,
)

_ALTERNATIVE = {
    "and": "&&",
    "or": "||",
    "not": "!",
    "bitand": "&",
    "bitor": "|",
    "xor": "^",
}
_SPELLING = {
    "__restrict": "__restrict__",
    "restrict": "__restrict__",
    "__inline__": "inline",
    "__inline": "inline",
    "__volatile__": "volatile",
    "__const": "const",
    "__const__": "const",
    "__asm__": "asm",
    "__asm": "asm",
    "alignas": "__align__",
    "__builtin_align__": "__align__",
    "__attribute": "__attribute__",
    "__signed__": "signed",
    "_Bool": "bool",
    "__alignof": "alignof",
    "__alignof__": "alignof",
    "_Static_assert": "static_assert",
    "__typeof__": "decltype",
    "typeof": "decltype",
    "__typeof": "decltype",
    "__noinline": "__noinline__",
    "NULL": "nullptr",
}
_LAUNCH_BOUNDS_MACRO = re.compile("[A-Z0-9_]+_LAUNCH_BOUNDS[A-Z0-9_]*")  # library wrappers left unexpanded


@dataclass(slots=True)
class Raw:
    """One token: its kind (PRAGMA, STRING, CHARACTER, NUMBER, NAME, OP), text and place; equal to its text."""

    kind: str
    text: str
    file: str = ""
    line: int = 0
    column: int = 0
    constant: object = None  # the macro's value where the token is the name of a numeric macro

    @property
    def span(self) -> Span:
        return Span(self.file, self.line, self.column, self.line, self.column + len(self.text))


END = Raw("END", "")


def split(text: str, file: str) -> list[tuple[int, str, str]]:
    """The tokens of ``text`` as (offset, kind, text), normalised in spelling. Raises Refused (KR100) on a stray one."""
    out: list[tuple[int, str, str]] = []
    position, end = 0, len(text)
    match = _RAW.match
    while position < end:
        m = match(text, position)
        if m is None:
            line = text.count("\n", 0, position) + 1
            column = position - (text.rfind("\n", 0, position) + 1) + 1
            raise refuse("KR100", f"unexpected character {text[position]!r}", Span(file, line, column))
        kind = m.lastgroup or ""
        if kind == "delim":
            kind = "STRING"
        if kind not in ("SKIP", "NEWLINE"):
            word = m.group()
            if kind == "NAME":
                if word in _ALTERNATIVE:
                    kind, word = "OP", _ALTERNATIVE[word]
                elif word in _SPELLING:
                    word = _SPELLING[word]
                elif "LAUNCH_BOUNDS" in word and _LAUNCH_BOUNDS_MACRO.fullmatch(word):
                    word = "__launch_bounds__"
            out.append((position, kind, word))
        position = m.end()
    return out


def unbalanced(token: Raw) -> Exception:
    """The refusal for a bracket that nothing closes."""
    return refuse(
        "KR100", f"'{token.text}' is never closed", token.span, "check the braces and parentheses around here"
    )


def matching(tokens: list[Raw], i: int) -> int:
    """Index of the bracket that closes ``tokens[i]``. Raises Refused (KR100)."""
    depth = 0
    for j in range(i, len(tokens)):
        t = tokens[j]
        if t.kind == "OP":
            if t.text in "([{":
                depth += 1
            elif t.text in ")]}":
                depth -= 1
                if depth == 0:
                    return j
    raise unbalanced(tokens[i])


_NO_TEMPLATE = frozenset(("{", "}", ";", ")", "]", "&&", "||", "<<<"))
_EQUALITY = frozenset(("==", "<=", ">=", "!=", "="))


def skip_angles(tokens: list[Raw], i: int) -> int | None:
    """Index after the ``>`` that closes the template list opened at ``tokens[i]`` (``<``), or None if it is no list."""
    depth, n = 0, len(tokens)
    while i < n:
        t = tokens[i]
        if t.kind == "OP":
            x = t.text
            if x in ("(", "["):
                i = matching(tokens, i)
            elif x == "<":
                depth += 1
            elif x in (">", ">>", ">>>"):
                depth -= len(x)
                if depth <= 0:
                    return i + 1
            elif x in _NO_TEMPLATE or (x.endswith("=") and x not in _EQUALITY):
                return None
        i += 1
    return None
