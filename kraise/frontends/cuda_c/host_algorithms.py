"""``std::generate`` and ``std::for_each`` in CUDA C host functions, written as loops before the function is read.

``std::generate(v.begin(), v.end(), [&] { return k++; });`` is ``for (int i = 0; i < v.size(); i++) v[i] = k++;``,
and ``std::for_each(v.begin(), v.end(), [](float &x) { x *= 2; })`` a loop over the elements.

Side conditions, each checked on the tokens: the range is a whole container or ``p, p + n``; a lambda returns at its end
only, and changes nothing that it has a copy of.
"""

from __future__ import annotations

from kraise.frontends.cuda_c.brackets import closing, made, split
from kraise.frontends.cuda_c.tokens import Raw

_STEPS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "++", "--", "(", "["))


def without_algorithms(body: list[Raw]) -> list[Raw]:
    """The function with these calls as loops."""
    if not {t.text for t in body} & {"generate", "for_each", "generate_n"}:
        return body
    out: list[Raw] = []
    at = 0
    while at < len(body):
        found = (
            _loop(body, at) if body[at].kind == "NAME" and (not out or out[-1].text in (";", "{", "}", ")")) else None
        )
        if found is None:
            out.append(body[at])
            at += 1
        else:
            lines, at = found
            out += lines
    return out


def _loop(body: list[Raw], at: int) -> tuple[list[Raw], int] | None:
    """The loop in the place of the call that begins at ``at``, and the place behind the call."""
    start = at + 2 if body[at].text in ("std", "thrust") and body[at + 1].text == "::" else at
    name = body[start].text
    if name not in ("generate", "generate_n", "for_each") or body[start + 1].text != "(":
        return None
    stop = closing(body, start + 1)
    args = [a for a in split(body[start + 2 : stop]) if a]
    if len(args) != 3 or body[stop + 1].text != ";":
        return None
    over = _counted(args[0], args[1]) if name == "generate_n" else _range(args[0], args[1])
    if over is None:
        return None
    owner, size = over
    index = f"{owner.text}_at"
    while any(t.text == index for t in body):
        index += "_"
    place = body[at]
    inner = _applied(args[2], owner, index) if name == "for_each" else _generated(args[2], owner, index)
    if inner is None:
        return None
    head = [*made(f"for ( int {index} = 0 ; {index} < ( int ) (", place), *size, *made(f") ; {index} ++ ) {{", place)]
    return [*head, *inner, *made("}", place)], stop + 2


def _range(first: list[Raw], last: list[Raw]) -> tuple[Raw, list[Raw]] | None:
    """The array or container of ``v.begin(), v.end()``, ``begin(v), end(v)`` or ``p, p + n``, and how many."""
    one, two = ([t.text for t in end if t.text not in ("std", "::")] for end in (first, last))
    name = next((t for t in first if t.text == (one[0] if len(one) != 4 else one[2])), None)
    if len(one) == 5 and one[1:] == [".", "begin", "(", ")"] and two == [one[0], ".", "end", "(", ")"]:
        name = first[0]
        return name, made(f"{name.text} . size ( )", name)
    if len(one) == 4 and one[:2] == ["begin", "("] and two == ["end", "(", one[2], ")"] and name is not None:
        return name, made(f"{name.text} . size ( )", name)
    if len(one) == 1 and first[0].kind == "NAME" and two[:2] == [one[0], "+"] and len(last) > 2:
        return first[0], last[2:]
    return None


def _counted(first: list[Raw], count: list[Raw]) -> tuple[Raw, list[Raw]] | None:
    words = [t.text for t in first]
    if len(words) == 1 or words[1:] == [".", "begin", "(", ")"]:
        return first[0], count
    return None


def _generated(what: list[Raw], owner: Raw, index: str) -> list[Raw] | None:
    """The body of a round that gives an element what a lambda, or a function without parameters, returns."""
    to = made(f"{owner.text} [ {index} ] =", owner)
    if len(what) == 1 and what[0].kind == "NAME":
        return [*to, what[0], *made("( ) ;", owner)]
    found = _lambda(what)
    if found is None or found[0]:
        return None
    inner = found[1]
    last = max((n for n, t in enumerate(inner) if t.text == "return"), default=-1)
    if last < 0 or sum(t.text == "return" for t in inner) > 1 or (last and inner[last - 1].text not in (";", "}")):
        return None
    value = inner[last + 1 :]
    if [t.text for t in value].count(";") != 1 or value[-1].text != ";":
        return None
    return [*inner[:last], *to, *value]


def _applied(what: list[Raw], owner: Raw, index: str) -> list[Raw] | None:
    """The body of a round that a lambda works on an element in."""
    found = _lambda(what)
    if found is None or len(found[0]) != 1 or any(t.text == "return" for t in found[1]):
        return None
    (item,) = found[0]
    if item[-1].kind != "NAME" or len(item) < 2:
        return None
    if "&" in {t.text for t in item}:
        element = made(f"{owner.text} [ {index} ]", owner)
        return [x for n, t in enumerate(found[1]) for x in (element if _names(found[1], n, item[-1].text) else [t])]
    return [*item, *made(f"= {owner.text} [ {index} ] ;", owner), *found[1]]


def _names(body: list[Raw], n: int, name: str) -> bool:
    return body[n].text == name and not (n and body[n - 1].text in (".", "->", "::"))


def _lambda(what: list[Raw]) -> tuple[list[list[Raw]], list[Raw]] | None:
    """The parameters and the body of a lambda that has no copy of anything that it changes."""
    if not what or what[0].text != "[":
        return None
    captured = closing(what, 0)
    words = [t.text for t in what[1:captured]]
    at = captured + 1
    params: list[list[Raw]] = []
    if at < len(what) and what[at].text == "(":
        params = [p for p in split(what[at + 1 : closing(what, at)]) if p]
        at = closing(what, at) + 1
    if at < len(what) and what[at].text == "->":
        at = next((n for n in range(at, len(what)) if what[n].text == "{"), len(what))
    if at >= len(what) or what[at].text != "{" or closing(what, at) != len(what) - 1:
        return None  # `mutable`: it keeps a state of its own
    by_value = any(w not in ("&", ",", "this") and (not n or words[n - 1] != "&") for n, w in enumerate(words))
    inner = what[at + 1 : -1]
    if "=" in words and len(words) > 1:
        return None  # [k = 0]
    if by_value and any(_changes(inner, n) for n in range(len(inner))):
        return None
    return params, inner


def _changes(body: list[Raw], n: int) -> bool:
    """May a name be changed at a place?"""
    after, before = body[n + 1].text if n + 1 < len(body) else "", body[n - 1].text if n else ""
    return body[n].kind == "NAME" and (after in _STEPS - {"(", "["} or before in ("++", "--", "&"))
