"""What to differentiate, and what the gradient may keep. The sentence of ``--grad``, in JAX's words and in Enzyme's:

    [KERNEL:] loss = TERM + TERM … wrt NAME, NAME const NAME dupnoneed NAME

A term is an output (``F``: itself where it is a scalar, else its sum), ``sum(F)``, ``mean(F)`` or ``dot(F, w)``,
with an optional number before it (``0.5 * sum(F)``). ``dup`` and ``active`` say what ``wrt`` says; ``const`` stops
gradients; an output that is ``dupnoneed`` is not handed out, only its derivative is. A name may be that of a struct's
member.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ACTIVE, CONST, NONEED = ("wrt", "dup", "active"), "const", "dupnoneed"
CLAUSES = (*ACTIVE, CONST, NONEED)
_TOKEN = re.compile(r"\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|\d+\.?\d*(?:[eE][+-]?\d+)?|[-=,()+*:])")
_FUNCTIONS = ("sum", "mean", "dot")
FORM = '"[KERNEL:] loss=OUTPUT wrt NAME,NAME"'


@dataclass(frozen=True)
class Term:
    """``factor * how(output)``; ``how`` is sum, mean, dot (with ``weights``) or "" (the output itself, or its sum)."""

    factor: str
    how: str
    output: str
    weights: str = ""

    def __str__(self) -> str:
        inside = f"{self.output}, {self.weights}" if self.weights else self.output
        text = f"{self.how}({inside})" if self.how else inside
        return f"{self.factor} * {text}" if self.factor else text


@dataclass(frozen=True)
class Activity:
    """What a user wants differentiated. ``kernel`` "" means each kernel that has the names.

    ``terms`` are the loss's (none: no loss, only products with cotangents); ``wrt`` () means every float that the
    kernel reads. ``ways`` are the functions asked for: grad (value and gradient of the loss), vjp and jvp.
    """

    kernel: str
    terms: tuple[Term, ...]
    wrt: tuple[str, ...] = ()
    const: tuple[str, ...] = ()
    noneed: tuple[str, ...] = ()
    ways: tuple[str, ...] = ("grad", "vjp")


@dataclass(frozen=True)
class Memory:
    """What the user allows a kernel and its gradient to keep.

    ``remat``: what loops keep for the gradient is left to JAX ("none"), bounded where it is much ("auto") or always
    ("full"). ``limit``: bytes of the intermediates that exist at once, 0 for any.
    """

    remat: str = "auto"
    limit: int = 0

    def shown(self) -> str:
        """The limit as a user writes it."""
        for power, unit in ((30, "GB"), (20, "MB"), (10, "KB")):
            if self.limit % (1 << power) == 0:
                return f"{self.limit >> power} {unit}"
        return f"{self.limit} B"


class ActivityError(ValueError):
    """A sentence that is not understood; the message says where."""


def parse(text: str) -> Activity:
    """The sentence ``text`` as an :class:`Activity`. Raises ActivityError."""
    return _Parser(text).activity()


class _Parser:
    def __init__(self, text: str):
        self.text = text
        self.tokens: list[str] = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if found is None:
                raise ActivityError(f"`{text[at:].strip()[:12]}` is not understood in `{text.strip()}`")
            self.tokens.append(found[1])
            at = found.end()
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            raise self.error(f"`{wanted}`" if wanted else "a name")
        self.at += 1
        return token

    def error(self, wanted: str) -> ActivityError:
        where = f"before `{self.peek()}`" if self.peek() else "at the end"
        return ActivityError(f"{wanted} is missing {where} of `{self.text.strip()}`; write {FORM}")

    def name(self) -> str:
        if not re.match(r"[A-Za-z_]", self.peek()) or self.peek() in CLAUSES:
            raise self.error("a name")
        return self.take()

    def activity(self) -> Activity:
        kernel = ""
        if self.peek(1) == ":":
            kernel = self.name()
            self.take(":")
        terms: list[Term] = []
        if self.peek() == "loss" and self.peek(1) == "=":
            self.at += 2
            terms.append(self.term())
            while self.peek() in ("+", "-"):
                terms.append(self.term(self.take()))
        clauses: dict[str, list[str]] = {word: [] for word in CLAUSES}
        while self.peek():
            word = self.take()
            if word not in CLAUSES:
                raise ActivityError(
                    f"`{word}` is not understood in `{self.text.strip()}`: after the loss come {', '.join(CLAUSES)}"
                )
            clauses[word].append(self.name())
            while self.peek() and self.peek() not in CLAUSES:
                if self.peek() == ",":
                    self.take()
                clauses[word].append(self.name())
        wrt = tuple(dict.fromkeys(n for word in ACTIVE for n in clauses[word]))
        const, noneed = (tuple(dict.fromkeys(clauses[word])) for word in (CONST, NONEED))
        for name in wrt:
            if name in const:
                raise ActivityError(f"`{name}` is both active and const in `{self.text.strip()}`")
        if not terms and not wrt:
            raise self.error("loss=OUTPUT")
        return Activity(kernel, tuple(terms), wrt, const, noneed, ("grad", "vjp") if terms else ("vjp",))

    def term(self, sign: str = "+") -> Term:
        factor = "-" if sign == "-" else ""
        if self.peek() == "-":
            factor = "" if factor else self.take()
        if re.match(r"\d", self.peek()):
            factor += self.take()
            self.take("*")
        elif factor:
            factor = "-1.0"
        if self.peek(1) != "(":
            return Term(factor, "", self.name())
        how = self.take()
        if how not in _FUNCTIONS:
            raise ActivityError(f"`{how}` is not understood in `{self.text.strip()}`: {', '.join(_FUNCTIONS)}")
        self.take("(")
        output, weights = self.name(), ""
        if how == "dot":
            self.take(",")
            weights = self.name()
        self.take(")")
        return Term(factor, how, output, weights)
