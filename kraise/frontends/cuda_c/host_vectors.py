"""Loops over and into ``std::vector`` in CUDA C host functions, written with subscripts before they are read.

``for (float v : h) s += v;`` becomes ``for (int v_at = 0; v_at < h.size(); v_at++) { float v = h[v_at]; s += v; }``;
a vector that one loop fills from empty (``for (i = 0; i < n; i++) h.push_back(e);``) gets its size before the loop, and
``h[i] = e`` in it; so do several ``push_back`` in a row.

Side conditions, each checked: the vector is declared empty in the block of the loop, nothing but its ``reserve`` stands
between, each round pushes once, and no other statement of the function changes its size.
"""

from __future__ import annotations

from kraise.frontends.cuda_c.brackets import closing, made, split
from kraise.frontends.cuda_c.tokens import Raw

_PUSHES = ("push_back", "emplace_back")
_LEAVES = frozenset(("if", "else", "for", "while", "do", "switch", "continue", "break", "return", "goto"))
_SIZES = frozenset(("resize", "assign", "clear", "pop_back", "insert", "erase", "swap", *_PUSHES))


def without_loops_over_vectors(body: list[Raw]) -> list[Raw]:
    """The function with such loops written out."""
    words = {t.text for t in body}
    if not (words & set(_PUSHES) or ("for" in words and ":" in words)):
        return body
    return _each(_pushed(body))


def statement_end(body: list[Raw], at: int) -> int:
    """The place behind the statement that begins at ``at``."""
    while at < len(body):
        if body[at].text == "{":
            return closing(body, at) + 1
        if body[at].text in ("(", "["):
            at = closing(body, at)
        elif body[at].text == ";":
            return at + 1
        at += 1
    return at


# --- loops over the elements


def _each(body: list[Raw]) -> list[Raw]:
    """``for (T v : h)`` as a counted loop, wherever ``h`` is a name."""
    out: list[Raw] = []
    at = 0
    while at < len(body):
        if body[at].text == "for" and at + 1 < len(body) and body[at + 1].text == "(":
            stop = closing(body, at + 1)
            head = body[at + 2 : stop]
            if len(head) > 3 and head[-2].text == ":" and head[-1].kind == "NAME" and head[-3].kind == "NAME":
                end = statement_end(body, stop + 1)
                owner = head[-1].text
                index = f"{head[-3].text}_at"
                while any(t.text == index for t in body):
                    index += "_"
                size = f"( int ) ( {_size(body[:at], owner)} )"
                rounds = _each(body[stop + 1 : end])
                out += by_subscripts(head[:-2], rounds, owner, size, index, _of_pointers(body[:at], owner))
                at = end
                continue
        out.append(body[at])
        at += 1
    return out


def by_subscripts(
    declared: list[Raw], rounds: list[Raw], owner: str, size: str, index: str, pointers: bool
) -> list[Raw]:
    """``for (declared : owner) rounds`` as a counted loop; ``pointers``: the elements are pointers."""
    item, place = declared[-1], declared[0]
    out = made(f"for ( int {index} = 0 ; {index} < {size} ; {index} ++ ) {{", place)
    marks = {t.text for t in declared}
    by_place = pointers or ("const" not in marks and not hides(rounds, item.text))
    if "&" in marks and by_place:  # cudaMalloc(&p, …), v = draw()
        element = made(f"{owner} [ {index} ]", place)
        out += [x for n, t in enumerate(rounds) for x in (element if is_variable(rounds, n, item.text) else [t])]
    else:
        out += [*declared, *made(f"= {owner} [ {index} ] ;", place), *rounds]
    return [*out, *made("}", place)]


def is_variable(body: list[Raw], at: int, name: str) -> bool:
    """Is a token the variable ``name``, and no member that is called so?"""
    return body[at].text == name and not (at and body[at - 1].text in (".", "->", "::"))


def hides(body: list[Raw], name: str) -> bool:
    """May a body declare a variable ``name`` of its own?"""
    for n in range(1, len(body)):
        if not is_variable(body, n, name):
            continue
        before, after = body[n - 1], [t.text for t in body[n + 1 : n + 3]]
        if before.kind == "NAME" and before.text not in ("return", "else", "do"):
            return True
        typed = n > 1 and (body[n - 2].kind == "NAME" or body[n - 2].text in (">", "*"))
        pointed = typed or after == [")", "["]  # T *name, a * name; T (*name)[n]; but no f(*name)
        if before.text in (">", ",") or (before.text in ("&", "*") and pointed):
            return True
    return False


def _of_pointers(before: list[Raw], owner: str) -> bool:
    """Is it declared as an array of pointers, ``float *owner[3]``? A name of a function is declared where it stands
    first."""
    first = next((n for n, t in enumerate(before[:-1]) if t.text == owner), 0)
    return first > 0 and before[first - 1].text == "*" and before[first + 1].text == "["


def _size(before: list[Raw], owner: str) -> str:
    """The number of elements of a vector, or of an array that is declared with its extent."""
    first = next((n for n in range(1, len(before) - 1) if is_variable(before, n, owner)), 0)
    is_array = (first and before[first + 1].text == "[") or _of_pointers(before, owner)
    if first and [before[first + 1].text, before[first + 2].kind, before[first + 3].text] == ["[", "NUMBER", "]"]:
        return before[first + 2].text
    return f"sizeof ( {owner} ) / sizeof ( {owner} [ 0 ] )" if is_array else f"{owner} . size ( )"


# --- vectors that are filled


def _pushed(body: list[Raw]) -> list[Raw]:
    """``push_back`` with subscripts, where the size is known before."""
    for name in dict.fromkeys(body[n - 2].text for n, t in enumerate(body) if t.text in _PUSHES and n > 1):
        found = _filled(body, name)
        body = found if found is not None else body
    return body


def _filled(body: list[Raw], name: str) -> list[Raw] | None:
    """The text with the pushes to one vector written as stores, None where its size is not known."""
    uses = [n for n, t in enumerate(body) if t.text == name and body[n - 1].text not in (".", "->", "::")]
    pushes = [n for n in uses if _method(body, n) in _PUSHES]
    declared = uses[0]
    if body[declared - 1].text != ">" or body[declared + 1].text != ";":
        return None
    if any(_method(body, n) in _SIZES and n not in pushes for n in uses):
        return None
    at = declared + 2
    while body[at].text == name and _method(body, at) == "reserve":
        at = statement_end(body, at)
    first = next((n for n in uses if n >= at), -1)
    if len(pushes) == 1 and first == pushes[0]:
        return _by_loop(body, name, at, pushes[0])
    return _in_a_row(body, name, pushes) if first == pushes[0] else None


def _method(body: list[Raw], at: int) -> str:
    return body[at + 2].text if body[at + 1].text == "." else ""


def _in_a_row(body: list[Raw], name: str, pushes: list[int]) -> list[Raw] | None:
    """``v.push_back(a); v.push_back(b);`` one after the other."""
    ends = [statement_end(body, n) for n in pushes]
    if any(e != n for e, n in zip(ends, pushes[1:], strict=False)) or body[pushes[0] - 1].text not in (";", "{"):
        return None
    out = [*body[: pushes[0]], *made(f"{name} . resize ( {len(pushes)} ) ;", body[pushes[0]])]
    for k, (n, end) in enumerate(zip(pushes, ends, strict=True)):
        out += [*made(f"{name} [ {k} ] =", body[n]), *_pushed_value(body, name, n, end), *made(";", body[n])]
    return [*out, *body[ends[-1] :]]


def _by_loop(body: list[Raw], name: str, start: int, push: int) -> list[Raw] | None:
    """``for (int i = a; i < b; i++) v.push_back(e);`` in the block that declares ``v``."""
    loop = _enclosing(body, start, push)
    if loop is None:
        return _in_a_row(body, name, [push]) if not _inside(body, start, push) else None
    stop = closing(body, loop + 1)
    parts = split(body[loop + 2 : stop], ";")
    if len(parts) != 3 or len(parts[0]) < 4 or len(parts[1]) < 3:
        return None
    counter = next((parts[0][n - 1].text for n, t in enumerate(parts[0]) if t.text == "="), "")
    low = list(parts[0][[t.text for t in parts[0]].index("=") + 1 :]) if counter else []
    step = [t.text for t in parts[2]]
    if step not in ([counter, "++"], ["++", counter]) or [t.text for t in parts[1][:2]] != [counter, "<"]:
        return None
    inner = body[stop + 1 : statement_end(body, stop + 1)]
    depth, own = 0, push - stop - 1
    for n, t in enumerate(inner):
        depth += (t.text == "{") - (t.text == "}")
        if t.text in _LEAVES or (n == own and depth != (inner[0].text == "{")):
            return None
    place, end = body[push], statement_end(body, push)
    texts = " ".join(t.text for t in low)
    shifted = counter if texts == "0" else f"{counter} - ( {texts} )"
    count = parts[1][2:] if texts == "0" else [*made("(", place), *parts[1][2:], *made(f") - ( {texts} )", place)]
    changed = {t.text for t in (*parts[1][2:], *low) if t.kind == "NAME"}
    if any(t.text in changed and inner[n + 1].text in ("=", "+=", "-=", "++", "--") for n, t in enumerate(inner[:-1])):
        return None
    return [
        *body[:loop], *made(f"{name} . resize (", place), *count, *made(") ;", place), *body[loop:push],
        *made(f"{name} [ {shifted} ] =", place), *_pushed_value(body, name, push, end), *made(";", place), *body[end:],
    ]  # fmt: skip


def _pushed_value(body: list[Raw], name: str, at: int, end: int) -> list[Raw]:
    """What a push adds: the argument, or ``T(…)`` of all that ``emplace_back`` takes."""
    value = body[at + 4 : end - 2]
    first = next(n for n, t in enumerate(body) if t.text == name)
    of = body[first - 3 : first]  # < T > name
    if body[at + 2].text != "emplace_back" or [t.text for t in of[::2]] != ["<", ">"] or of[1].kind != "NAME":
        return value
    return [of[1], *made("(", body[at]), *value, *made(")", body[at])]


def _enclosing(body: list[Raw], start: int, push: int) -> int | None:
    """The ``for`` that stands in the block of ``start`` and holds ``push``."""
    at = start
    while at < push:
        if body[at].text == "for":
            if statement_end(body, closing(body, at + 1) + 1) > push:
                return at
        elif body[at].text == "{":
            close = closing(body, at)
            if close > push:
                return None
            at = close
        elif body[at].text == "}":
            return None
        at += 1
    return None


def _inside(body: list[Raw], start: int, push: int) -> bool:
    """Is a place in another block, or under a condition, than ``start``?"""
    between = [t.text for t in body[start:push]]
    return between.count("{") != between.count("}") or (body[push - 1].text not in (";", "}", "{"))


__all__ = ["without_loops_over_vectors"]
