"""``std::array`` in CUDA C host functions, written as an array of C before the function is read.

``std::array<float *, 3> buf;`` is ``float *buf[3];``, ``buf.size()`` its extent and ``buf.data()`` itself.

Side condition, checked: every use of the name is a subscript, its size, one of its methods or a loop over the elements.
An array of C is not copied, assigned or compared as a whole; a ``std::array`` that is stays what it was.
"""

from __future__ import annotations

from kraise.frontends.cuda_c.brackets import closing, made, split
from kraise.frontends.cuda_c.tokens import Raw

_METHODS = ("size", "data", "begin", "cbegin", "end", "cend", "front", "back")


def without_arrays(body: list[Raw]) -> list[Raw]:
    """The function with arrays of C in place of ``std::array``."""
    at = 0
    while at < len(body) - 2:
        if body[at].text == "array" and body[at + 1].text == "<":
            found = _written(body, at)
            if found is not None:
                body = found
        at += 1
    return body


def _written(body: list[Raw], at: int) -> list[Raw] | None:
    """The function with the array whose type begins at ``at`` as one of C; None where a side condition fails."""
    first = at - 2 if [t.text for t in body[at - 2 : at]] == ["std", "::"] else at
    stop = _angle(body, at + 1)
    if stop is None or body[stop + 1].kind != "NAME" or body[stop + 2].text not in (";", "=", "{"):
        return None
    parts = split(body[at + 2 : stop])
    if len(parts) != 2 or any(t.text == "," for p in parts for t in p):
        return None
    name, place = body[stop + 1].text, body[at]
    extent = " ".join(t.text for t in parts[1])
    start = body[stop + 2].text == "=" and body[stop + 3].text != "{"
    if start or body[first - 1].text not in (";", "{", "}", "const", "static", "constexpr"):
        return None
    head = [*body[:first], *parts[0], body[stop + 1], *made(f"[ {extent} ]", place)]
    rest = body[stop + 2 :]
    if [t.text for t in rest[:2]] == ["{", "{"] or [t.text for t in rest[:3]] == ["=", "{", "{"]:
        return None
    if rest[0].text == "{":
        rest = [*made("=", place), *rest]
    out: list[Raw] = []
    n = 0
    while n < len(rest):
        if rest[n].text != name or rest[n - 1].text in (".", "->", "::"):
            out.append(rest[n])
            n += 1
            continue
        after = [t.text for t in rest[n + 1 : n + 5]]
        sized = [t.text for t in rest[n - 2 : n]] == ["sizeof", "("] and after[0] == ")"
        if after[0] == "[" or sized or (rest[n - 1].text == ":" and after[0] == ")"):
            out.append(rest[n])
            n += 1
        elif after[0] == "." and after[1] in _METHODS and after[2:] == ["(", ")"]:
            out += made(_given(after[1], name, extent), rest[n])
            n += 5
        elif after[:3] == [".", "fill", "("] and rest[n - 1].text in (";", "{", "}", ")"):
            end = closing(rest, n + 3)
            index = f"{name}_at"
            if rest[end + 1].text != ";" or index in {t.text for t in (*body, *rest[n + 4 : end])}:
                return None
            out += made(f"for ( int {index} = 0 ; {index} < ( {extent} ) ; {index} ++ ) {name} [ {index} ] =", rest[n])
            out += rest[n + 4 : end]
            n = end + 1
        else:
            return None
    return [*head, *out]


def _given(method: str, name: str, extent: str) -> str:
    """What a method of the array gives."""
    if method == "size":
        return f"( {extent} )"
    if method in ("end", "cend"):
        return f"( {name} + ( {extent} ) )"
    return {"front": f"{name} [ 0 ]", "back": f"{name} [ ( {extent} ) - 1 ]"}.get(method, name)


def _angle(body: list[Raw], at: int) -> int | None:
    """The place of the ``>`` that closes the ``<`` at ``at``."""
    depth = 0
    for n in range(at, len(body)):
        depth += {"<": 1, ">": -1}.get(body[n].text, 0)
        if body[n].text in (";", "{") or depth < 0:
            return None
        if not depth:
            return n
    return None
