"""The type-aware lexer: raw tokens of one item in, the grammar's terminals out.

A terminal's ``start_pos`` and ``end_pos`` are indices into the unit's raw tokens: the way back to file and column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from lark import Token
from lark.lexer import Lexer

from kraise.diagnostics import refuse
from kraise.frontends.cuda_c.lexer_names import RULES
from kraise.frontends.cuda_c.lexer_state import Bracket, Scopes, State
from kraise.frontends.cuda_c.scan import Unit
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.words import ATTRIBUTES, CASTS, CLASS_KEYS, QUALIFIERS, TYPE_WORDS

_PARALLEL = re.compile(r"#\s*pragma\s+omp\s+.*\bfor\b")


@dataclass
class Source:
    """What is handed to the parser: a token range; ``inferred`` collects the names that had to be taken for types."""

    unit: Unit
    first: int
    last: int
    inferred: dict[str, Raw]


class TypeAwareLexer(Lexer):
    """lark's lexer interface over :class:`_Reader`."""

    def __init__(self, conf: Any):
        self.spelled = {t.pattern.value: t.name for t in conf.terminals if t.pattern and t.pattern.type == "str"}
        self.words = frozenset(w for w in self.spelled if w[0].isalpha() or w[0] == "_")

    def lex(self, source: Source) -> Iterator[Token]:  # type: ignore[override]
        toks, indices = [], []
        for k in range(source.first, source.last + 1):
            t = source.unit.tokens[k]
            if t.kind != "PRAGMA" or _PARALLEL.match(t.text):
                toks.append(t)
                indices.append(k)
        scopes = Scopes(source.unit.names)
        scopes.inferred = source.inferred
        return _Reader(self.spelled, State(toks, indices, self.words, scopes)).run()


class _Reader:
    def __init__(self, spelled: dict[str, str], state: State):
        self.spelled, self.s = spelled, state

    def run(self) -> Iterator[Token]:
        s = self.s
        while s.i < len(s.toks):
            t = s.toks[s.i]
            if t.kind == "OP":
                yield self._operator(t)
            elif t.kind == "NAME":
                yield self._word(t)
            else:
                if t.kind != "PRAGMA" and not (t.kind == "STRING" and s.text(-1) == "extern"):
                    s.brackets[-1].after_type = False
                s.after_declarator = False
                yield self._emit(t, t.kind)
            s.i += 1

    def _emit(self, t: Raw, kind: str) -> Token:
        k = self.s.indices[self.s.i]
        return Token(kind, t.text, k, t.line, t.column, t.line, t.column + len(t.text), k + 1)

    # --- words

    def _word(self, t: Raw) -> Token:
        s = self.s
        if t.text in s.words:
            return self._keyword(t)
        s.after_declarator = False
        for rule in RULES:
            kind = rule(s)
            if kind:
                return self._emit(t, kind)
        raise AssertionError(t)  # the last rule always answers

    def _keyword(self, t: Raw) -> Token:
        s, level, x = self.s, self.s.brackets[-1], t.text
        nxt = s.text(1)
        kind = self.spelled[x]
        if x in TYPE_WORDS:
            level.after_type = nxt not in ("(", "{") or (nxt == "(" and s.paren_declarator(1))
        elif x == "typename":
            level.typename = (s.is_name(1) and s.text(2) in ("::", "<")) or s.text(1) == "::"
        elif x == "operator":
            s.after_declarator = True
            level.after_type = False
        elif x in QUALIFIERS:
            level.typedef = level.typedef or x == "typedef"
        elif x in ATTRIBUTES:
            if s.text(-1) in CLASS_KEYS or s.pending_class == "attribute":
                s.pending_class = "attribute"
        elif x in CLASS_KEYS:
            s.pending_class = "anonymous" if nxt == "{" else ""
            if x == "class" and level.kind == "template parameters":
                kind = "TYPENAME"
        elif x == "delete" and nxt == "[" and s.text(2) == "]":
            token = self._emit(t, "DELETE_ARRAY")
            s.i += 2
            return token
        else:
            if x in ("for", "if", "while", "switch", "decltype"):
                s.pending = ("word", x)
            elif x in CASTS:
                s.pending = ("targs", "CAST")
            elif x == "template" and nxt == "<":
                s.pending = ("targs", "PARAMETERS")
            if x not in ("noexcept", "override"):
                level.after_type = False
        if x not in QUALIFIERS and x not in ATTRIBUTES and x != "operator":
            s.after_declarator = False
        return self._emit(t, kind)

    # --- punctuation

    def _operator(self, t: Raw) -> Token:
        s, level, x = self.s, self.s.brackets[-1], t.text
        after_declarator, s.after_declarator = s.after_declarator, False
        pending, s.pending = s.pending, ("", "")
        s.control_paren = False
        match x:
            case "(":
                return self._emit(t, self._open_paren(level, after_declarator, pending))
            case ")":
                self._close_paren(t, level)
                return self._emit(t, "RPAR")
            case "[":
                return self._open_bracket(t, level)
            case "]":
                self._pop(t, ("bracket", "lambda", "attribute"))
                s.lambda_closed = level.kind == "lambda"
                if s.text(-2) == "operator":
                    s.after_declarator = True
                return self._emit(t, "RSQB")
            case "{":
                self._open_brace(level)
                return self._emit(t, "LBRACE")
            case "}":
                self._close_brace(t, level)
                return self._emit(t, "RBRACE")
            case "<" if pending[0] == "targs":
                kind = {"CAST": "cast", "PARAMETERS": "template parameters"}.get(pending[1], "targs")
                s.brackets.append(Bracket(kind, name=pending[1]))
                return self._emit(t, "TARG_OPEN")
            case ">" | ">>" | ">>>" if level.kind in ("targs", "cast", "template parameters"):
                return self._close_angle(t, level)
            case "<<<":
                s.brackets.append(Bracket("launch"))
                return self._emit(t, "LAUNCH_OPEN")
            case ">>>" if level.kind == "launch":
                s.brackets.pop()
                return self._emit(t, "LAUNCH_CLOSE")
            case "::":
                prev = s.at(-1)
                is_global = not ((prev.kind == "NAME" and prev.text not in s.words) or prev.text == ">")
                colons = prev.text in (")", ":") or prev.kind == "STRING"
                return self._emit(t, "GLOBAL_SCOPE" if is_global and not colons else self.spelled["::"])
            case ",":
                level.after_type = level.declaring
            case ";":
                level.declaring = level.typedef = level.after_type = s.alias = False
            case "*" | "&" | "&&":
                pass
            case "..." if level.after_type:
                pass
            case "~" if s.at(1).kind == "NAME":
                pass
            case _:
                level.after_type = False
        if s.text(-1) == "operator":
            s.after_declarator = True
        return self._emit(t, self.spelled[x])

    def _open_paren(self, level: Bracket, after_declarator: bool, pending: tuple[str, str]) -> str:
        s, prev = self.s, self.s.at(-1)
        if level.after_type and s.paren_declarator(0):
            s.brackets.append(Bracket("declarator", True))
            return "DECLARATOR_OPEN"
        s.call_paren = (prev.kind == "NAME" and prev.text not in s.words) or prev.text in (")", "]", ">")
        kind = "paren"
        if pending[0] == "word":
            kind = {"for": "for", "decltype": "decltype"}.get(pending[1], "control")
        elif prev.text in ATTRIBUTES:
            kind = "attribute"
        elif (after_declarator and (level.kind in ("top", "class") or not level.declaring)) or (
            (prev.text == "]" and s.lambda_closed) or (prev.text == ")" and s.declarator_closed)
        ):
            kind = "parameters"
        if kind != "attribute":
            level.after_type = False
        if prev.text == "operator":  # operator()
            s.after_declarator = True
            kind = "paren"
        s.brackets.append(Bracket(kind))
        return "LPAR"

    def _close_paren(self, t: Raw, level: Bracket) -> None:
        s = self.s
        self._pop(t, ("paren", "for", "control", "attribute", "parameters", "decltype", "declarator"))
        outer = s.brackets[-1]
        s.declarator_closed = level.kind == "declarator"
        s.control_paren = level.kind in ("for", "control")
        if level.kind == "declarator":
            outer.after_type = False
            if outer.kind in ("block", "class", "top", "for"):
                outer.declaring = True
        elif level.kind == "decltype":
            outer.after_type = True
        elif level.kind == "paren" and s.text(-2) == "operator":
            s.after_declarator = True
        elif level.kind != "attribute":
            outer.after_type = False
        elif s.pending_class == "attribute" and s.text(1) == "{":
            s.pending_class = "anonymous"

    def _open_bracket(self, t: Raw, level: Bracket) -> Token:
        s, prev = self.s, self.s.at(-1)
        starts = s.statement_start() or level.kind == "class" or level.after_type or prev.text in QUALIFIERS
        if s.text(1) == "[" and starts:
            s.brackets.append(Bracket("attribute"))
            s.brackets.append(Bracket("attribute"))
            token = self._emit(t, "ATTRIBUTE_OPEN")
            s.i += 1
            return token
        is_lambda = (prev.kind == "OP" and prev.text not in (")", "]", ">")) or prev.text == "return"
        if level.kind == "top" and prev.kind == "NAME":
            is_lambda = False
        s.brackets.append(Bracket("lambda" if is_lambda and not level.after_type else "bracket"))
        if prev.text != "operator":
            level.after_type = False
        return self._emit(t, "LSQB")

    def _open_brace(self, level: Bracket) -> None:
        s, prev = self.s, self.s.at(-1)
        body_after = (")", ";", "{", "}", "else", "do", ":", "const", "noexcept", "mutable", "override", "try")
        if s.pending_class not in ("", "attribute"):
            is_enum = self._is_enum()
            s.brackets.append(Bracket("enum" if is_enum else "class", name=s.pending_class))
            s.pending_class = ""
            s.scopes.open(shared=is_enum)
        elif (
            (prev.text in body_after and not (prev.text == "{" and level.kind == "initializer"))
            or prev.kind == "PRAGMA"
            or s.body_follows()
            or (prev.text == "]" and s.lambda_closed)
            or (prev.text == "(" and level.kind == "paren" and not s.call_paren)
        ):
            s.brackets.append(Bracket("block"))
            s.scopes.open()
        else:
            s.brackets.append(Bracket("initializer"))
        level.after_type = False

    def _is_enum(self) -> bool:
        """Is this the body of an enum (``enum``, ``enum class X``, ``enum X : int``)?"""
        for k in range(1, 7):
            x = self.s.text(-k)
            if x in ("{", "}", ";"):
                return False
            if x == "enum":
                return True
        return False

    def _close_brace(self, t: Raw, level: Bracket) -> None:
        s = self.s
        self._pop(t, ("block", "class", "enum", "initializer"))
        if level.kind in ("block", "class", "enum"):
            s.scopes.close()
        outer = s.brackets[-1]
        outer.after_type = level.kind in ("class", "enum")
        if level.kind == "block" and outer.kind in ("class", "top", "block"):
            outer.declaring = outer.typedef = False

    def _close_angle(self, t: Raw, level: Bracket) -> Token:
        s = self.s
        if len(t.text) > 1:
            s.toks[s.i : s.i + 1] = [
                replace(t, text=">"),
                replace(t, text=t.text[1:], column=t.column + 1),
            ]
            s.indices.insert(s.i, s.indices[s.i])
            t = s.toks[s.i]
        s.brackets.pop()
        outer, nxt = s.brackets[-1], s.text(1)
        match level.name:
            case "TEMPLATE_NAME":
                outer.after_type = nxt not in ("::", "{") and not (nxt == "(" and not s.paren_declarator(1))
            case "DECLARATOR_SCOPE":
                outer.after_type = s.after_scope
            case "DECLARATOR":
                s.after_declarator, outer.after_type = True, False
            case _:
                outer.after_type = False
        return self._emit(t, "TARG_CLOSE")

    def _pop(self, t: Raw, kinds: tuple[str, ...]) -> None:
        if self.s.brackets[-1].kind not in kinds or len(self.s.brackets) == 1:
            raise refuse("KR100", f"'{t.text}' does not match the bracket that is open here", t.span)
        self.s.brackets.pop()
