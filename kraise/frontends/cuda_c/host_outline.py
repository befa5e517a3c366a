"""A library call with a functor as a loop in C, by the ``loop`` text of its row: a plain function of its own, raised
like any other loop.

The functor's own text stands in the loop, so that functors, lambdas, functions and placeholders mean what they mean in
a kernel; the arrays and numbers of the host that it captures become parameters.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import library_table
from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.host_nest import registered, spelled
from kraise.frontends.cuda_c.library_views import Counting, View
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.trees import end, position, strip
from kraise.frontends.cuda_c.values import VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32, ScalarType

if TYPE_CHECKING:
    from kraise.frontends.cuda_c.library_call import LibraryCall

_STANDARD = {
    "plus": "( {0} + {1} )", "minus": "( {0} - {1} )", "multiplies": "( {0} * {1} )", "divides": "( {0} / {1} )",
    "modulus": "( {0} % {1} )", "maximum": "max ( {0} , {1} )", "minimum": "min ( {0} , {1} )", "negate": "( - {0} )",
    "square": "( {0} * {0} )", "identity": "{0}", "less": "( {0} < {1} )", "greater": "( {0} > {1} )",
    "less_equal": "( {0} <= {1} )", "greater_equal": "( {0} >= {1} )", "equal_to": "( {0} == {1} )",
    "not_equal_to": "( {0} != {1} )", "logical_and": "( {0} && {1} )", "logical_or": "( {0} || {1} )",
    "logical_not": "( ! {0} )",
}  # fmt: skip
_WORD = re.compile(r"[A-Za-z_]\w*|\d+|[<>=!+]=|\+\+|--|&&|\|\||\S")
_PLACEHOLDERS = ("_1", "_2", "_3")


def loop(call: LibraryCall) -> tuple[list[h.Stmt], h.Expr | None]:
    """The launch of the function that the call becomes, and its value where it returns one. Raises Refused."""
    return _Loop(call).run()


class _Loop:
    """The text of one loop and what it takes."""

    def __init__(self, call: LibraryCall):
        self.call, self.reader, self.low = call, call.reader, call.low
        self.toks: list[Raw] = self.reader.program.unit.tokens
        self.place = self.toks[position(call.node)]
        self.arrays: dict[str, k.ArrayRef] = {}  # parameter -> memory
        self.numbers: dict[str, tuple[k.Expr, ScalarType]] = {}
        self.before: list[Raw] = []  # declarations of the functors that have names
        self.offsets: dict[str, set[k.Expr | None]] = {}
        for name in call.row.let:
            view = call.look(name)
            if isinstance(view, View):
                self.offsets.setdefault(view.array, set()).add(view.offset)

    def run(self) -> tuple[list[h.Stmt], h.Expr | None]:
        text = self.call.row.loop
        body = self.expand(text)
        body = [*self.before, *body]
        returned = self._type() if "return" in text and "{T}" in text else INT32 if "return" in text else None
        word = library_table.canonical(callee(self.call.node.children[0])).rpartition("::")[2]
        function, name = registered(
            self.reader, word,
            [(self.reader.arrays[ref.array], n) for n, ref in self.arrays.items()],
            [(spelled(t), n) for n, (_, t) in self.numbers.items()],
            spelled(returned) if returned is not None else "void", body, self.place, self.call.node,
        )  # fmt: skip
        args: list[Any] = [*self.arrays.values(), *(v for v, _ in self.numbers.values())]
        span = self.call.span
        if returned is None:
            return [h.Launch(name, tuple(args), span=span)], None
        result = self.reader.temporary(word)
        launch = h.Launch(name, tuple(args), None, None, None, (result,), (returned,), span=span)
        return [launch], k.Var(result, returned)

    def _type(self) -> ScalarType:
        """The type of the values that are folded: that of the initial value, else of the elements."""
        if "init" in self.call.args:
            return self.call.number("init").type
        if self.call.element is None:
            raise self.call.refuse("the type of the elements is not known")
        return self.call.element

    # --- text

    def expand(self, text: str) -> list[Raw]:
        """The row's text as tokens."""
        out: list[Raw] = []
        at = 0
        while at < len(text):
            if text[at] == "{" and (m := re.match(r"\{(\w+)\}", text[at:])):
                out += self.number(m.group(1))
                at += m.end()
            elif text[at] == "<" and (m := re.match(r"<([A-Z])(?::((?:<\w>|[^<>])+))?>", text[at:])):
                out += self.element(m.group(1), m.group(2) or "i")
                at += m.end()
            elif text[at] == "[" and (m := re.match(r"\[(\w+): ", text[at:])):
                stop = _closing(text, at)
                inner = text[at + m.end() : stop]
                out += self.applied(m.group(1), [self.expand(a) for a in _split(inner)])
                at = stop + 1
            else:
                m = _WORD.match(text, at)
                if m is None:
                    at += 1
                    continue
                out.append(self.token(m.group()))
                at = m.end()
        return out

    def token(self, word: str) -> Raw:
        kind = "NUMBER" if word[0].isdigit() else "NAME" if word[0].isalpha() or word[0] == "_" else "OP"
        return Raw(kind, word, self.place.file, self.place.line, self.place.column)

    def plain(self, text: str) -> list[Raw]:
        return [self.token(w) for w in _WORD.findall(text)]

    def number(self, name: str) -> list[Raw]:
        """A number of the call: its own text, or a parameter for one that was computed."""
        if name == "T":
            return self.plain(spelled(self._type()))
        if name in self.call.args:
            node = self.call.args[name]
            return [self.token("("), *self.taken(self.toks[position(node) : end(node)]), self.token(")")]
        value: Any = self.call.made[name]
        return self.computed("n" if name == "count" else name, value)

    def computed(self, wish: str, value: k.Expr) -> list[Raw]:
        if isinstance(value, k.Const) and not value.name and value.value.real >= 0:
            return self.plain(str(int(value.value.real)))
        name = value.name if isinstance(value, k.Var) else wish
        number = 2
        while name in self.arrays or (name in self.numbers and self.numbers[name][0] != value):
            name, number = f"{wish}_{number}", number + 1
        self.numbers[name] = (value, INT32)
        return [self.token(name)]

    def element(self, view_name: str, index: str) -> list[Raw]:
        """An element of a view."""
        view = self.call.look(view_name)
        at = self.expand(index)
        if isinstance(view, Counting):
            start = self.computed("start", view.start) if view.start.type.is_integer else self._constant(view)
            if view.constant:
                return start
            return [self.token("("), *start, self.token("+"), *at, self.token(")")]
        several = len(self.offsets[view.array]) > 1
        offset = None if several else view.offset
        self.arrays.setdefault(view.array, k.ArrayRef(view.array, offset))
        if several and view.offset is not None:
            at = [*self.computed("offset", view.offset), self.token("+"), *at]
        return [self.token(view.array), self.token("["), *at, self.token("]")]

    def _constant(self, view: Counting) -> list[Raw]:
        name = view.start.name if isinstance(view.start, k.Var) else "value"
        self.numbers[name] = (view.start, view.start.type)
        return [self.token(name)]

    def applied(self, name: str, args: list[list[Raw]]) -> list[Raw]:
        """A functor applied to arguments."""
        node = strip(self.call.args[name])
        known = self.call.standard(node)
        if known:
            out: list[Raw] = []
            for word in _STANDARD[known].split():
                out += args[int(word[1])] if word[0] == "{" else [self.token(word)]
            return out
        tokens = self.toks[position(node) : end(node)]
        if any(t.text in _PLACEHOLDERS for t in tokens):
            out = []
            for t in self.taken(tokens):
                if t.text in ("placeholders", "thrust", "::"):
                    continue
                out += (
                    [self.token("("), *args[_PLACEHOLDERS.index(t.text)], self.token(")")]
                    if t.text in _PLACEHOLDERS
                    else [t]
                )
            return [self.token("("), *out, self.token(")")]
        own = callee(node)
        if own in self.reader.functors:
            declared = self.reader.functors[own]
            if not any(t.text == own for t in self.before):
                self.before += [*self.taken(self.toks[position(declared) : end(declared)]), self.token(";")]
        out = [*self.taken(tokens), self.token("(")]
        for n, a in enumerate(args):
            out += [self.token(",")] * bool(n) + a
        return [*out, self.token(")")]

    def taken(self, tokens: list[Raw]) -> list[Raw]:
        """Tokens of the source; arrays and numbers of the host in them become parameters."""
        bound = _bound(tokens)
        for n, t in enumerate(tokens):
            free = t.kind == "NAME" and t.text not in bound and not (n and tokens[n - 1].text in (".", "->", "::"))
            if not free:
                continue
            place = self.low.lookup(t.text)
            if t.text in self.reader.arrays and t.text not in self.arrays:
                self.arrays[t.text] = k.ArrayRef(t.text)
            elif isinstance(place, VarPlace) and t.text not in self.reader.arrays:
                self.numbers.setdefault(t.text, (k.Var(t.text, place.type), place.type))
        return [replace(t) for t in tokens]


def _bound(tokens: list[Raw]) -> set[str]:
    """The parameters of a lambda, and what its body declares."""
    found: set[str] = set()
    if "[" not in {t.text for t in tokens[:1]} and not any(
        a.text == "=" and b.text == "[" for a, b in zip(tokens, tokens[1:], strict=False)
    ):
        return found
    for before, t, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        declares = before.kind == "NAME" or before.text in ("&", "*", ">")
        ends = after.text in (",", ")") or (before.kind == "NAME" and after.text in ("=", ";"))
        if t.kind == "NAME" and declares and ends and before.text != "return":
            found.add(t.text)
    return found


def _closing(text: str, at: int) -> int:
    depth = 0
    for n in range(at, len(text)):
        depth += {"[": 1, "]": -1}.get(text[n], 0)
        if not depth:
            return n
    raise ValueError(text)


def _split(text: str) -> list[str]:
    """The arguments of a functor, at the commas that no bracket holds."""
    out, depth = [""], 0
    for c in text:
        depth += {"[": 1, "]": -1, "<": 1, ">": -1}.get(c, 0)
        if c == "," and not depth:
            out.append("")
        else:
            out[-1] += c
    return out


__all__ = ["Refused", "loop"]
