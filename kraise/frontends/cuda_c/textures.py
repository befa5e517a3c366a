"""Textures of linear memory as the arrays that they are: ``tex1Dfetch<float>(t, i)`` is ``t[i]``, a parameter
``cudaTextureObject_t t`` is ``const float *t``, a reference ``texture<float> t;`` a ``__device__`` array.

Side conditions, each checked on the tokens: the name is used for nothing but such loads (and, as an argument, for a
parameter of which that is so), all of one type. What else a texture does (coordinates that are floats, ``tex2D``) its
descriptor says, which is not read: there it stays what it is, and is refused. A load beyond the end, which a texture
answers with zero, is taken not to happen, as of an array.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kraise.frontends.cuda_c.brackets import made, split
from kraise.frontends.cuda_c.scan import closing
from kraise.frontends.cuda_c.tokens import Raw, skip_angles

_FETCH, _OBJECT = "tex1Dfetch", "cudaTextureObject_t"
_LINEAR = [[], ["1"], ["cudaTextureType1D"]]
_LINEAR += [[*d, "cudaReadModeElementType"] for d in _LINEAR[1:]]


@dataclass
class _Texture:
    """A parameter: where its type stands, its function and place there, the type of its elements once it is known."""

    at: int
    function: str
    place: int
    body: range
    types: set[tuple[str, ...]] = field(default_factory=set)
    passed: list[tuple[str, int]] = field(default_factory=list)
    sound: bool = True


def as_arrays(tokens: list[Raw]) -> list[Raw]:
    """The tokens with such textures as arrays; the list itself where there are none."""
    if all(t.text != _FETCH for t in tokens):
        return tokens
    out = dict(enumerate([t] for t in tokens))
    names = _references(tokens, out)
    objects = _objects(tokens)
    for o in objects:
        element = next(iter(o.types)) if o.sound and len(o.types) == 1 else None
        if element is None:
            continue
        here = tokens[o.at]
        out[o.at] = [
            replace(here, kind="NAME", text="const"),
            *made(" ".join(element), here),
            replace(here, kind="OP", text="*"),
        ]
        names |= {(tokens[o.at + 1].text, at) for at in o.body}
    for at, t in enumerate(tokens):
        found = _fetch(tokens, at) if t.text == _FETCH else None
        if found is None:
            continue
        _, opens, comma, end = found
        if (tokens[opens + 1].text, at) in names:
            for gone in range(at, opens + 1):
                out[gone] = []
            out[comma] = [replace(tokens[comma], text="[")]
            out[end] = [replace(tokens[end], text="]")]
    return [t for at in range(len(tokens)) for t in out[at]]


def _references(tokens: list[Raw], out: dict[int, list[Raw]]) -> set[tuple[str, int]]:
    """The names of ``texture<float> name;``, at each place; their declarations in ``out`` are arrays then."""
    names: set[tuple[str, int]] = set()
    for at, t in enumerate(tokens):
        if t.text != "texture" or tokens[at + 1].text != "<":
            continue
        end = _angles(tokens, at + 1)
        if end is None or end + 2 >= len(tokens) or tokens[end + 2].text != ";":
            continue
        element, *more = _arguments(tokens, at + 1, end)
        name = tokens[end + 1].text
        uses = [n for n, x in enumerate(tokens) if x.text == name and n != end + 1]
        loads = [n for n in uses if tokens[n - 1].text == "(" and tokens[n - 2].text.startswith("tex")]
        if [m[0] for m in more if len(m) == 1] not in _LINEAR or any(tokens[n - 2].text != _FETCH for n in loads):
            continue
        words = ("extern", "__device__", "const", *element, name, "[", "]")
        out[at] = made(" ".join(words), t)
        for gone in range(at + 1, end + 2):
            out[gone] = []
        names |= {(name, n) for n in range(len(tokens))}
    return names


def _objects(tokens: list[Raw]) -> list[_Texture]:
    """The parameters that are texture objects, with what is known of their elements."""
    found = [o for at, t in enumerate(tokens) if t.text == _OBJECT and (o := _parameter(tokens, at)) is not None]
    for o in found:
        name = tokens[o.at + 1].text
        for n in (n for n in o.body if tokens[n].text == name):
            fetch = _fetch(tokens, _start(tokens, n))
            if fetch is not None and fetch[0] and fetch[1] + 1 == n:
                o.types.add(fetch[0])
            elif tokens[n - 1].text in "(," and tokens[n + 1].text in "),":
                o.passed += _callee(tokens, n)
            else:
                o.sound = False
    for _ in found:
        for o in found:
            for function, place in o.passed:
                others = [x for x in found if (x.function, x.place) == (function, place)]
                o.sound = o.sound and bool(others) and all(x.sound for x in others)
                o.types |= {t for x in others for t in x.types}
    return found


def _parameter(tokens: list[Raw], at: int) -> _Texture | None:
    opens = _opening(tokens, at)
    if opens is None or tokens[opens].text != "(" or tokens[at + 2].text not in (",", ")"):
        return None
    end = closing(tokens, opens)
    if end is None or end + 1 >= len(tokens) or tokens[end + 1].text != "{":
        return None
    last = closing(tokens, end + 1)
    place = len(_arguments(tokens, opens, at)) - 1
    return None if last is None else _Texture(at, tokens[opens - 1].text, place, range(end + 1, last))


def _callee(tokens: list[Raw], at: int) -> list[tuple[str, int]]:
    opens = _opening(tokens, at)
    if opens is None or tokens[opens].text != "(":
        return [("", 0)]
    return [(tokens[opens - 1].text, len(_arguments(tokens, opens, at)) - 1)]


def _start(tokens: list[Raw], at: int) -> int:
    """Where ``tex1Dfetch<T>(`` before a name begins."""
    n = at - 1
    while n > 0 and at - n < 12 and tokens[n].text != _FETCH:
        n -= 1
    return n


def _fetch(tokens: list[Raw], at: int) -> tuple[tuple[str, ...], int, int, int] | None:
    """The type of ``tex1Dfetch<T>(name, i)`` (() where it names none), its bracket, its comma and its end."""
    if tokens[at].text != _FETCH:
        return None
    opens = at + 1
    element: tuple[str, ...] = ()
    if tokens[opens].text == "<":
        close = _angles(tokens, opens)
        if close is None:
            return None
        element, opens = tuple(t.text for t in tokens[opens + 1 : close]), close + 1
    end = closing(tokens, opens) if tokens[opens].text == "(" else None
    if end is None or tokens[opens + 2].text != "," or len(_arguments(tokens, opens, end)) != 2:
        return None
    return element, opens, opens + 2, end


def _arguments(tokens: list[Raw], opens: int, end: int) -> list[tuple[str, ...]]:
    """What stands between commas."""
    return [tuple(t.text for t in part) for part in split(tokens[opens + 1 : end])]


def _angles(tokens: list[Raw], opens: int) -> int | None:
    """Where the list of a template's arguments ends that opens here."""
    after = skip_angles(tokens, opens)
    return None if after is None else after - 1


def _opening(tokens: list[Raw], at: int) -> int | None:
    """The bracket around a token."""
    depth = 0
    for n in range(at - 1, -1, -1):
        depth += (tokens[n].text in (")", "]", "}")) - (tokens[n].text in ("(", "[", "{"))
        if depth < 0:
            return n
    return None


__all__ = ["as_arrays"]
