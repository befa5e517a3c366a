"""What the type-aware lexer knows at a token: open brackets, scopes of names, the state of the declaration.

The grammar is LALR only because names reach it classified; three things decide a name's class: the innermost open
bracket (:class:`Bracket`), the declarations in scope (:class:`Scopes`), and whether a type has just been read
(``after_type`` of the bracket: what follows is a declarator).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kraise.frontends.cuda_c.scan import TYPE, VARIABLE
from kraise.frontends.cuda_c.tokens import END, Raw, matching, skip_angles
from kraise.frontends.cuda_c.words import QUALIFIERS


@dataclass(slots=True)
class Bracket:
    """One open bracket and the state of the declaration inside it.

    ``kind``: top, block, class, enum, initializer, paren, for, control, decltype, attribute, parameters, declarator,
    bracket, lambda, launch, targs, cast, template parameters.
    """

    kind: str
    after_type: bool = False  # a type was read: the next name is what is declared
    name: str = ""
    declaring: bool = False  # a declarator was read: after a comma comes another one
    typedef: bool = False
    typename: bool = False


class Scopes:
    """Names in scope: the unit's, then one table for each open block or class."""

    def __init__(self, unit_names: dict[str, str]):
        self.tables: list[dict[str, str]] = [unit_names, {}]
        self.inferred: dict[str, Raw] = {}

    def lookup(self, name: str) -> str | None:
        for table in reversed(self.tables):
            if name in table:
                return table[name]
        return TYPE if name in self.inferred else None

    def declare(self, name: str, kind: str = VARIABLE) -> None:
        self.tables[-1][name] = kind

    def infer(self, token: Raw) -> None:
        """A name without a declaration is read as a type (said as a diagnostic; forgotten after this item)."""
        self.inferred.setdefault(token.text, token)

    def open(self, shared: bool = False) -> None:
        self.tables.append(self.tables[-1] if shared else {})

    def close(self) -> None:
        self.tables.pop()


@dataclass
class State:
    """The reader's position and the questions that rules ask about the tokens around it."""

    toks: list[Raw]
    indices: list[int]
    words: frozenset[str]
    scopes: Scopes
    brackets: list[Bracket] = field(default_factory=lambda: [Bracket("top")])
    i: int = 0
    pending_class: str = ""  # after `struct X`: the name whose body or bases may follow
    pending: tuple[str, str] = ("", "")  # what the next < or ( opens
    after_declarator: bool = False
    after_scope: bool = False
    control_paren: bool = False
    alias: bool = False
    lambda_closed: bool = False
    declarator_closed: bool = False
    call_paren: bool = False

    def at(self, k: int) -> Raw:
        """The token ``k`` places from here."""
        j = self.i + k
        return self.toks[j] if 0 <= j < len(self.toks) else END

    def text(self, k: int) -> str:
        return self.at(k).text

    def is_name(self, k: int) -> bool:
        t = self.at(k)
        return t.kind == "NAME" and t.text not in self.words

    def template_follows(self, allowed: tuple[str, ...]) -> bool:
        """Is ``<`` after this name the start of a balanced list that is followed by one of ``allowed``?"""
        end = skip_angles(self.toks, self.i + 1)
        return end is not None and end < len(self.toks) and self.toks[end].text in allowed

    def statement_start(self, k: int = -1) -> bool:
        """Does a statement, a parameter or a member start at this (possibly qualified) name?"""
        while (
            self.text(k) == "::"
            or self.text(k) in QUALIFIERS
            or (self.at(k).kind == "NAME" and self.text(k + 1) == "::")
        ):
            k -= 1
        t, kind = self.at(k), self.brackets[-1].kind
        if t.text == "(":
            return kind in ("for", "parameters")
        if t.text == ",":
            return kind == "parameters"
        if t.text == ")":
            return kind == "block" and self.control_paren
        return (t.text in (";", "{", "}", "else", "do") and kind != "initializer") or t.kind in ("PRAGMA", "END")

    def before_name(self) -> str:
        """The token before the possibly qualified name that ends here."""
        k = -1
        while self.text(k) == "::" or (
            self.at(k).kind == "NAME" and self.text(k + 1) == "::" and self.text(k) not in self.words
        ):
            k -= 1
        return self.text(k)

    def scope_name(self) -> str:
        """X of ``X::`` or ``X<..>::`` just before this token."""
        j = self.i - 2
        if self.toks[j].text == ">":
            depth = 0
            while j > 0:
                depth += (self.toks[j].text == ">") - (self.toks[j].text == "<")
                j -= 1
                if depth == 0:
                    break
        return self.toks[j].text

    def constructor_scope(self) -> bool:
        """Is this ``X`` the scope of an out-of-class constructor ``X::X(`` or ``X<..>::X(``?"""
        j = self.i + 1
        if self.text(1) == "<":
            j = skip_angles(self.toks, j) or j
        here = self.text(0)
        if j >= len(self.toks):
            return False
        after = self.toks[j + 1].text if j + 1 < len(self.toks) else ""
        then = self.toks[j + 2].text if j + 2 < len(self.toks) else ""
        return self.toks[j].text == "::" and after in (here, "~") and then in ("(", here)

    def paren_declarator(self, k: int) -> bool:
        """Does the parenthesis at offset k open a declarator such as (*name)[..], (*)(..) or (&name)[..]?"""
        marks = ("*", "&", "&&")
        if self.text(k + 1) not in marks:
            return False
        close = matching(self.toks, self.i + k)
        after = self.toks[close + 1].text if close + 1 < len(self.toks) else ""
        j = self.i + k + 1
        while self.toks[j].text in (*marks, "const", "__restrict__", "volatile"):
            j += 1
        if j < close and (self.toks[j].kind != "NAME" or self.toks[j].text in self.words):
            return False
        if j < close and j + 1 < close and self.toks[j + 1].text != "[":
            return False
        return after in ("(", "[")

    def body_follows(self) -> bool:
        """Does this ``{`` open a body after a trailing return type?"""
        k = -1
        while self.at(k).kind == "NAME" or (self.text(k) in ("::", "*", "&", "<", ">", ",") and k > -12):
            k -= 1
        return self.text(k) == "->" and self.text(k - 1) in (")", "mutable")
