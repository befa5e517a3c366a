"""Lambdas of CUDA C host functions written out where they are called, before the function is read.

``auto blocks = [](int n, int t) { return (n + t - 1) / t; };`` is its value wherever it is called, and
``auto step = [&](float *src, float *dst) { … }; step(a, b);`` a block of its statements.

Side conditions, each checked on the tokens: every use of the name is a call, one with statements stands alone; a
parameter that the body changes is a variable of the block, any other is what is given; nothing that the body takes from
around it is declared anew behind it, or changed where it is captured by value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.frontends.cuda_c.brackets import closing, made, split
from kraise.frontends.cuda_c.tokens import Raw

_STARTS = (";", "{", "}", ")", "else")
_STEPS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "++", "--"))
MOST = 64


@dataclass(frozen=True)
class Lambda:
    """``first`` to ``last``: the tokens of its declaration; ``params`` without defaults; ``body`` without braces."""

    name: str
    first: int
    last: int
    by_value: bool
    params: tuple[tuple[Raw, ...], ...]
    body: tuple[Raw, ...]

    @property
    def names(self) -> list[str]:
        """The names of its parameters."""
        return [p[-1].text for p in self.params]

    @property
    def value(self) -> tuple[Raw, ...] | None:
        """What it returns, where it does nothing else."""
        ends = [n for n, t in enumerate(self.body) if t.text == ";"]
        plain = self.body and self.body[0].text == "return" and ends == [len(self.body) - 1]
        return self.body[1:-1] if plain else None


def without_lambdas(body: list[Raw]) -> list[Raw]:
    """The function with its lambdas written out, those that keep to the side conditions."""
    left: set[str] = set()
    for _ in range(MOST):
        found = next((x for x in _lambdas(body) if x.name not in left), None)
        if found is None:
            return body
        new = _written(body, found)
        if new is None:
            left.add(found.name)
        else:
            body = new
    return body


def _lambdas(body: list[Raw]) -> list[Lambda]:
    """The lambdas that get a name."""
    out: list[Lambda] = []
    for name in range(1, len(body) - 5):
        at = _declared_at(body, name)
        if at is None:
            continue
        captured = closing(body, name + 2)
        words = [t.text for t in body[name + 3 : captured]]
        if captured + 1 >= len(body) or body[captured + 1].text not in ("(", "{"):
            continue
        stop = closing(body, captured + 1) if body[captured + 1].text == "(" else captured  # [&] { … }
        start = next((n for n in range(stop, len(body)) if body[n].text in ("{", ";")), None)
        if start is None or body[start].text != "{" or any(t.text not in ("mutable",) for t in body[stop + 1 : start]):
            continue
        end = closing(body, start)
        if end + 1 >= len(body) or body[end + 1].text != ";":
            continue
        params = tuple(tuple(p) for p in split(body[captured + 2 : stop]) if p)
        inner = without_early_returns(body[start + 1 : end])
        if any(p[-1].kind != "NAME" or len(p) < 2 for p in params):
            continue
        by_value = bool(set(words) - {"&", ","}) and not all(
            words[n - 1] == "&" for n, w in enumerate(words) if w not in ("&", ",")
        )
        out.append(Lambda(body[name].text, at, end + 1, by_value, params, tuple(inner)))
    return out


def _declared_at(body: list[Raw], name: int) -> int | None:
    """Where ``auto f = [`` or ``std::function<void(int)> f = [`` begins, None where ``name`` is no such variable."""
    if body[name].kind != "NAME" or [body[name + 1].text, body[name + 2].text] != ["=", "["]:
        return None
    if body[name - 1].text == "auto":
        return name - 1
    at = name - 1
    while body[name - 1].text == ">" and at > 1 and body[at].text not in (";", "{", "}", "function"):
        at -= 1
    if body[at].text != "function":
        return None
    return at - 2 if [body[at - 2].text, body[at - 1].text] == ["std", "::"] else at


def without_early_returns(body: list[Raw]) -> list[Raw]:
    """``if (!(a == 0)) { … }`` of ``if (a == 0) return; …``; a return in another place stays."""
    depth = 0
    for n, t in enumerate(body):
        depth += {"{": 1, "}": -1}.get(t.text, 0)
        if depth or t.text != "if" or (n and body[n - 1].text not in (";", "{", "}")):
            continue
        stop = closing(body, n + 1)
        words = [x.text for x in body[stop + 1 : stop + 5]]
        size = 2 if words[:2] == ["return", ";"] else 4 if words == ["{", "return", ";", "}"] else 0
        after = body[stop + 1 + size :]
        if not size or not after or after[0].text == "else":
            continue
        test = [*made("if ( ! (", t), *body[n + 2 : stop], *made(") ) {", t)]
        return [*body[:n], *test, *without_early_returns(after), *made("}", t)]
    return body


def _written(body: list[Raw], found: Lambda) -> list[Raw] | None:
    """The function without the lambda; None where a side condition does not hold."""
    rest = body[found.last + 1 :]
    inner = list(found.body)
    declared = declared_in(inner)
    free = {t.text for t in found.body if t.kind == "NAME"} - set(found.names) - declared
    if free & declared_in(rest) or found.name in {t.text for t in (*body[: found.first], *found.body)}:
        return None
    if found.by_value and free & (changed_in(rest) | _in_part(rest) | changed_in(inner) | _in_part(inner)):
        return None  # it has a copy of its own
    out: list[Raw] = list(body[: found.first])
    at = found.last + 1
    while at < len(body):
        if body[at].text != found.name:
            out.append(body[at])
            at += 1
            continue
        if at + 1 >= len(body) or body[at + 1].text != "(" or body[at - 1].text in (".", "->", "::"):
            return None
        stop = closing(body, at + 1)
        args = [a for a in split(body[at + 2 : stop]) if a]
        alone = body[stop + 1].text == ";" and body[at - 1].text in _STARTS
        called = _called(found, args, alone, declared, body[at])
        if called is None:
            return None
        out += called
        at = stop + (2 if alone and found.value is None else 1)
    return out


def _called(found: Lambda, args: list[list[Raw]], alone: bool, declared: set[str], place: Raw) -> list[Raw] | None:
    """What a call becomes."""
    if len(args) != len(found.params) or {t.text for a in args for t in a} & declared:
        return None
    changed = changed_in(list(found.body))
    value = found.value
    given: dict[str, list[Raw]] = {}
    before: list[Raw] = []
    for p, arg in zip(found.params, args, strict=True):
        name = p[-1].text
        uses = sum(t.text == name for t in found.body)
        plain = len(arg) == 1
        steps = any(t.text in _STEPS or t.text == "(" for t in arg)
        if plain and arg[0].text not in changed and (name not in changed or "&" in {t.text for t in p}):
            given[name] = arg
        elif "&" in {t.text for t in p} and "const" not in {t.text for t in p}:
            return None
        elif value is not None and name not in changed and (uses <= 1 or not steps):
            given[name] = [*made("(", place), *arg, *made(")", place)]
        elif value is None and "auto" not in {t.text for t in p}:
            if any(t.text == name for a in args for t in a):
                return None  # float *x = x;
            before += [*(t for t in p if t.text != "&"), *made("=", place), *arg, *made(";", place)]
        else:
            return None
    text = [r for t in (value if value is not None else found.body) for r in given.get(t.text, [t])]
    if value is not None:
        return [*made("(", place), *text, *made(")", place)]
    if not alone or any(t.text == "return" for t in found.body):
        return None
    return [*made("{", place), *before, *(replace(t) for t in text), *made("}", place)]


def declared_in(tokens: list[Raw]) -> set[str]:
    """The names that tokens may declare: behind a name or a star, before what begins an initializer or ends one."""
    found: set[str] = set()
    for n in range(1, len(tokens) - 1):
        before, after = tokens[n - 1], tokens[n + 1].text
        typed = (before.kind == "NAME" and before.text not in ("return", "else", "case")) or before.text in (
            "*",
            "&",
            ">",
        )
        if tokens[n].kind == "NAME" and typed and after in ("=", ";", ",", "[", "(", "{", ":"):
            found.add(tokens[n].text)
    return found


def changed_in(tokens: list[Raw]) -> set[str]:
    """The names that tokens may assign to, or hand to something that does."""
    found: set[str] = set()
    for n, t in enumerate(tokens):
        if t.kind != "NAME":
            continue
        after = tokens[n + 1].text if n + 1 < len(tokens) else ""
        before = tokens[n - 1].text if n else ""
        if after in _STEPS or before in ("++", "--", "&"):
            found.add(t.text)
        if t.text == "swap" and after == "(":
            found |= {x.text for x in tokens[n + 2 : closing(tokens, n + 1)] if x.kind == "NAME"}
    return found


def _in_part(tokens: list[Raw]) -> set[str]:
    """The names of which tokens may change a part: ``v[0] = 1``, ``s.n++``, ``v.resize(n)``."""
    found: set[str] = set()
    for n, t in enumerate(tokens):
        at = n + 1
        while t.kind == "NAME" and at + 1 < len(tokens) and tokens[at].text in ("[", "."):
            at = closing(tokens, at) + 1 if tokens[at].text == "[" else at + 2
            if at >= len(tokens) or tokens[at].text in _STEPS or tokens[at - 2].text == "." and tokens[at].text == "(":
                found.add(t.text)
                break
    return found
