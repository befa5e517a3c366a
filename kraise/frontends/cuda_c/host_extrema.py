"""Places that searches give (``auto it = std::max_element(v.begin(), v.end());``) as numbers, before a host is read.

``int it_at = std::max_element(v.begin(), v.end()) - v.begin();`` and ``v[it_at]`` for ``*it``, ``it_at`` for
``it - v.begin()`` and ``std::distance(v.begin(), it)``; the two of ``minmax_element`` likewise.

Side conditions, each checked on the tokens: the range begins at ``v.begin()``, a pointer or a place behind it; what it
begins with is not set anew behind it; every use of the place is one of these.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.frontends.cuda_c.brackets import closing, made, split
from kraise.frontends.cuda_c.host_lambdas import changed_in
from kraise.frontends.cuda_c.tokens import Raw

_SEARCHES = ("max_element", "min_element", "minmax_element")
_POLICIES = ("thrust", "std")
_BEFORE = (";", "{", "}")
MOST = 16


@dataclass(frozen=True)
class _Found:
    """``first`` to ``last``: the tokens of the declaration of ``name``; ``call`` without its range; ``args`` its."""

    name: str
    first: int
    last: int
    word: str
    head: tuple[Raw, ...]
    args: tuple[tuple[Raw, ...], ...]

    @property
    def start(self) -> tuple[Raw, ...]:
        """Where the range begins."""
        policy = self.args[0][0].text in _POLICIES and len(self.args) > 2 and self.args[0][-1].text != ")"
        return self.args[1 if policy else 0]


def without_places(body: list[Raw]) -> list[Raw]:
    """The function with numbers in the place of such places, those that keep to the side conditions."""
    if not {t.text for t in body} & set(_SEARCHES):
        return body
    left: set[int] = set()
    for _ in range(MOST):
        at = next((n for n in range(len(body)) if n not in left and body[n].text in _SEARCHES), None)
        if at is None:
            return body
        found = _declared(body, at)
        new = _written(body, found) if found is not None else None
        if new is None:
            left.add(at)
        else:
            body = new
            left = set(range(min(len(body), at + 6)))
    return body


def _declared(body: list[Raw], at: int) -> _Found | None:
    """``auto it = std::max_element(…);`` around the name at ``at``."""
    first = at
    while first > 0 and (body[first - 1].text == "::" or (body[first].text == "::" and body[first - 1].kind == "NAME")):
        first -= 1
    if body[first - 1].text != "=" or body[first - 2].kind != "NAME" or at + 1 >= len(body) or body[at + 1].text != "(":
        return None
    start = first - 2
    while start > 0 and body[start - 1].text not in _BEFORE:
        start -= 1
    stop = closing(body, at + 1)
    typed = {t.text for t in body[start : first - 2]}
    plain = typed and not typed & {"(", "[", "=", "return", ","} and body[stop + 1].text == ";"
    if not plain or ("auto" not in typed and not typed & {"iterator", "const_iterator", "device_ptr", "*"}):
        return None
    args = tuple(tuple(a) for a in split(body[at + 2 : stop]) if a)
    if len(args) < 2:
        return None
    return _Found(body[first - 2].text, start, stop + 1, body[at].text, tuple(body[first:at]), args)


def _base(start: tuple[Raw, ...]) -> tuple[list[Raw], list[Raw]] | None:
    """What is subscripted, and from where: ``v`` and 2 of ``v.begin() + 2``."""
    words = [t.text for t in start]
    if words[1:5] == [".", "begin", "(", ")"] and start[0].kind == "NAME":
        rest = list(start[5:])
    elif start[0].kind == "NAME":
        rest = list(start[1:])
    else:
        return None
    if rest and (rest[0].text != "+" or len(rest) < 2):
        return None
    return [start[0]], rest[1:]


def _written(body: list[Raw], found: _Found) -> list[Raw] | None:
    """The function without the place; None where a side condition does not hold."""
    base = _base(found.start)
    rest = body[found.last + 1 :]
    if base is None or {t.text for t in found.start} & changed_in(rest) or found.name in changed_in(rest):
        return None
    place = body[found.first]
    both = found.word == "minmax_element"
    numbers = {m: f"{found.name}_{m}" if both else f"{found.name}_at" for m in (("first", "second") if both else ("",))}
    if {t.text for t in body} & set(numbers.values()):
        return None
    words = {"first": "min_element", "second": "max_element", "": found.word}
    lines: list[Raw] = []
    for m, own in numbers.items():
        args = [t for n, a in enumerate(found.args) for t in ([*made(",", place), *a] if n else a)]
        call = [*found.head, *made(f"{words[m]} (", place), *args, *made(")", place)]
        lines += [*made(f"int {own} =", place), *call, *made("-", place), *_grouped(found.start), *made(";", place)]
    out: list[Raw] = []
    at = 0
    while at < len(rest):
        used = _use(rest, at, found, base, numbers)
        if used is None:
            if rest[at].text == found.name and (not at or rest[at - 1].text not in (".", "->")):
                return None
            out.append(rest[at])
            at += 1
        else:
            if rest[at].text == "distance" and [t.text for t in out[-1:]] == ["::"]:
                del out[-2:]
            text, at = used
            out += text
    return [*body[: found.first], *lines, *out]


def _grouped(tokens: tuple[Raw, ...]) -> list[Raw]:
    moved = any(t.text == "+" for t in tokens)
    return [*made("(", tokens[0]), *tokens, *made(")", tokens[0])] if moved else list(tokens)


def _use(
    rest: list[Raw], at: int, found: _Found, base: tuple[list[Raw], list[Raw]], numbers: dict[str, str]
) -> tuple[list[Raw], int] | None:
    """What a use of the place that begins at ``at`` becomes, and where it ends."""

    def named(n: int) -> tuple[str, int] | None:
        """The number of the place at ``n``, and where its name ends."""
        if n >= len(rest) or rest[n].text != found.name:
            return None
        if "" in numbers:
            return numbers[""], n + 1
        member = [t.text for t in rest[n + 1 : n + 3]]
        return (numbers[member[1]], n + 3) if member[0] == "." and member[1] in numbers else None

    t = rest[at]
    start = [x.text for x in found.start]
    if t.text == "*" and (it := named(at + 1)) is not None and (not at or not _is_operand(rest[at - 1])):
        own, stop = it
        inner = [*base[1], *made("+", t), *made(own, t)] if base[1] else made(own, t)
        return [*base[0], *made("[", t), *inner, *made("]", t)], stop
    if (it := named(at)) is not None:
        own, stop = it
        after = [x.text for x in rest[stop : stop + 1 + len(start)]]
        if after[:1] == ["-"] and after[1:] == start:
            return made(own, t), stop + 1 + len(start)
        begin = start[:5] if "begin" in start else start[:1]
        if after[: 1 + len(begin)] == ["-", *begin] and base[1]:
            return [*made("(", t), *base[1], *made(f"+ {own} )", t)], stop + 1 + len(begin)
        return None
    if t.text == "distance" and at + 1 < len(rest) and rest[at + 1].text == "(":
        stop = closing(rest, at + 1)
        args = [a for a in split(rest[at + 2 : stop]) if a]
        if len(args) == 2 and args[1][0].text == found.name:
            n = next(i for i in range(at, stop) if rest[i] is args[1][0])
            it = named(n)
            if it is not None and it[1] == stop:
                begin = [x.text for x in args[0]]
                whole = start[:5] if "begin" in start else start[:1]
                if begin == start:
                    return made(it[0], t), stop + 1
                if begin == whole and base[1]:
                    return [*made("(", t), *base[1], *made(f"+ {it[0]} )", t)], stop + 1
    return None


def _is_operand(t: Raw) -> bool:
    """May a ``*`` behind this token multiply?"""
    return (t.kind in ("NAME", "NUMBER") and t.text not in ("return", "case")) or t.text in (")", "]")
