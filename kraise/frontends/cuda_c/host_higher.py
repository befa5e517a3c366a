"""Helpers of CUDA C hosts that call a function that they are given, written out before the function is read.

``repeat(steps, [&](int k) { step<<<…>>>(d, k); });`` and ``float ms = timed([&] { … });`` are the statements of the
helper, with the lambda as a variable of its own: :mod:`host_lambdas` writes that out in turn.

Side conditions, each checked on the tokens: the call is a statement, or all that a variable is given; one function has
the name, returns at its end only, and does not call itself; its own names are none of the caller's.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.frontends.cuda_c.brackets import closing, made, split
from kraise.frontends.cuda_c.host_lambdas import declared_in
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.tokens import Raw

MOST = 32
_BEFORE = (";", "{", "}", ")", "else")
_PRINTS = frozenset(("printf", "fprintf", "cout", "cerr"))
_NO_TYPE = frozenset(("static", "inline", "__host__", "constexpr", "__forceinline__"))


@dataclass(frozen=True)
class _Helper:
    """A function of the file: its type, parameters (without defaults), and body without braces."""

    name: str
    type: tuple[Raw, ...]
    params: tuple[tuple[Raw, ...], ...]
    defaults: tuple[tuple[Raw, ...], ...]
    body: tuple[Raw, ...]
    templates: frozenset[str]

    @property
    def names(self) -> list[str]:
        """The names of its parameters."""
        return [_name(p) for p in self.params]

    @property
    def called(self) -> set[str]:
        """The parameters that it calls."""
        pairs = zip(self.body, self.body[1:], strict=False)
        return {a.text for a, b in pairs if b.text == "(" and a.text in self.names}


def without_functions_as_arguments(program: Program, body: list[Raw], done: set[str]) -> list[Raw]:
    """The function with such calls written out, those that keep to the side conditions; ``done``: these helpers."""
    before = body
    for _ in range(MOST):
        new = next((n for at in range(len(body)) if (n := _written(program, body, at)) is not None), None)
        if new is None:
            break
        body = new
    if body is not before:
        done |= {t.text for t in before} & set(program.functions) - {t.text for t in body}
    return body


def _written(program: Program, body: list[Raw], at: int) -> list[Raw] | None:
    """The function with the call at ``at`` written out; None where that is no such call."""
    if body[at].kind != "NAME" or at + 1 >= len(body) or body[at + 1].text != "(" or not at:
        return None
    if body[at].text not in program.functions:
        return None
    stop = closing(body, at + 1)
    if stop + 1 >= len(body):
        return None
    args = [a for a in split(body[at + 2 : stop]) if a]
    lambdas = {b.text for a, b, c, d in zip(body, body[1:], body[2:], body[3:], strict=False)
               if (a.text, c.text, d.text) == ("auto", "=", "[")}  # fmt: skip
    if not any(_is_function(a, lambdas) for a in args):
        return None
    helper = _helper(program, body[at].text)
    if helper is None or len(args) > len(helper.params) or not all(helper.defaults[len(args) :]):
        return None
    args += [list(d) for d in helper.defaults[len(args) :]]
    if not all(_is_function(a, lambdas) == (n in helper.called) for a, n in zip(args, helper.names, strict=True)):
        return None
    if body[stop + 1].text != ";":
        return _printed(body, at, stop, helper)
    first, target = _given_to(body, at)
    if first is None:
        return None
    lines = _lines(helper, args, body, target[-1:])
    if lines is None:
        return None
    place = body[at]
    declared = [*target, *made(";", place)] if len(target) > 1 else []
    if declared and declared[0].text == "auto":
        declared = [*helper.type, *declared[1:]]
    return [*body[:first], *declared, *made("{", place), *lines, *made("}", place), *body[stop + 2 :]]


def _printed(body: list[Raw], at: int, stop: int, helper: _Helper) -> list[Raw] | None:
    """The function with a call that a statement prints (``printf("%f", timed([&] { … }));``) before the statement."""
    first = at
    while first > 0 and body[first - 1].text not in (";", "{", "}"):
        first -= 1
    end = next((n for n in range(stop, len(body)) if body[n].text == ";"), None)
    start = first + 2 if body[first].text == "std" else first
    if end is None or body[start].text not in _PRINTS or {t.text for t in body[first:at]} & {"?", "&&", "||"}:
        return None
    if any(
        t.kind == "NAME" and b.text == "(" for t, b in zip(body[start + 2 : at], body[start + 3 : at], strict=False)
    ):
        return None  # another call before it
    own = f"{helper.name}_value"
    if own in {t.text for t in body}:
        return None
    place = body[at]
    declared = [*made(f"auto {own} =", place), *body[at : stop + 1], *made(";", place)]
    rest = [*body[first:at], *made(own, place), *body[stop + 1 : end + 1]]
    return [*body[:first], *made("{", place), *declared, *rest, *made("}", place), *body[end + 1 :]]


def _is_function(arg: list[Raw], lambdas: set[str]) -> bool:
    return arg[0].text == "[" or (len(arg) == 1 and arg[0].text in lambdas)


def _given_to(body: list[Raw], at: int) -> tuple[int | None, list[Raw]]:
    """Where the statement of a call begins, and what it gives the result to: a name, with its type if declared."""
    if body[at - 1].text in _BEFORE:
        return at, []
    if body[at - 1].text != "=" or body[at - 2].kind != "NAME":
        return None, []
    first = at - 2
    while body[first - 1].kind == "NAME" and body[first - 1].text not in _BEFORE:
        first -= 1
    plain = body[first - 1].text in _BEFORE and body[first].text != "return"
    return (first, [t for t in body[first : at - 1] if t.text != "const"]) if plain else (None, [])


def _helper(program: Program, name: str) -> _Helper | None:
    found = [d for d in program.functions.get(name, []) if d.item is not None]
    if len(found) != 1 or found[0].kind != "host":
        return None
    item = found[0].item
    assert item is not None
    text = program.unit.tokens[item.first : item.last + 1]
    at = next((n for n, t in enumerate(text) if t.text == name and text[n + 1].text == "("), None)
    if at is None:
        return None
    stop = closing(text, at + 1)
    if text[stop + 1].text != "{" or closing(text, stop + 1) != len(text) - 1:
        return None
    head, templates = list(text[:at]), frozenset[str]()
    if head and head[0].text == "template":
        end = next((n for n, t in enumerate(head) if t.text == ">"), None)
        if end is None:
            return None
        pairs = zip(head, head[1:end], strict=False)
        templates = frozenset(b.text for a, b in pairs if a.text in ("typename", "class"))
        head = head[end + 1 :]
    given = [split(p, "=") for p in split(text[at + 2 : stop]) if p]
    params = tuple(tuple(p[0]) for p in given)
    defaults = tuple(tuple(p[1]) if len(p) > 1 else () for p in given)
    body = tuple(text[stop + 2 : -1])
    returns = [n for n, t in enumerate(body) if t.text == "return"]
    last = max((n for n, t in enumerate(body[:-1]) if t.text in (";", "}")), default=-1)
    if len(returns) > 1 or (returns and returns[0] != last + 1) or any(len(p) < 2 or not _name(p) for p in params):
        return None
    if name in {t.text for t in body}:
        return None
    kept = tuple(t for t in head if t.text not in _NO_TYPE)
    return _Helper(name, kept, params, defaults, body, templates)


def _name(param: tuple[Raw, ...]) -> str:
    return param[-1].text if param[-1].kind == "NAME" else ""


def _lines(helper: _Helper, args: list[list[Raw]], body: list[Raw], target: list[Raw]) -> list[Raw] | None:
    """The statements of a helper for its arguments."""
    around = {t.text for t in body}
    renames: dict[str, list[Raw]] = {}
    before: list[Raw] = []
    place = args[0][0]
    for name in sorted({*declared_in(list(helper.body)), *helper.names}):
        own = name
        while own in around:
            own = f"{own}_{helper.name}"
        renames[name] = made(own, place)
    for p, arg in zip(helper.params, args, strict=True):
        name, words = _name(p), [t.text for t in p]
        if name in helper.called:
            if len(arg) == 1:
                renames[name] = arg
            else:
                before += [*made("auto", place), *renames[name], *made("=", place), *arg, *made(";", place)]
            continue
        if "&" in words and "const" not in words:
            if len(arg) != 1:
                return None
            renames[name] = arg
            continue
        kind = [t for t in p[:-1] if t.text not in ("&", "const", "&&")]
        if set(words) & helper.templates or "auto" in words:
            kind = made("auto", place)
        before += [*kind, *renames[name], *made("=", place), *arg, *made(";", place)]
    text = list(helper.body)
    lines: list[Raw] = []
    for n, t in enumerate(text):
        member = n and text[n - 1].text in (".", "->", "::")
        lines += renames[t.text] if t.text in renames and not member else [t]
    at = next((n for n, t in enumerate(lines) if t.text == "return"), None)
    if at is not None and target:
        lines[at : at + 1] = [*target, *made("=", place)]
    elif at is not None:
        lines = lines[:at]
    elif target:
        return None
    return [*before, *lines]
