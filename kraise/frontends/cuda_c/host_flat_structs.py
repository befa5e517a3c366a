"""Memory of numbers that a CUDA C host function sees as structs, ``Body *p = (Body *)buf;``: it is an array of structs,
and ``p`` its only name.

Side conditions, each checked: all members are of the type of the numbers; the memory is allocated, copied, freed and
handed to functions of the host only, and no element of it is named as a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kraise.frontends.cuda_c.c_types import SPELLED, Struct
from kraise.frontends.cuda_c.host_names import concept
from kraise.frontends.cuda_c.tokens import Raw
from kraise.ir.types import ScalarType

_OTHERS = frozenset(("sizeof", "swap", "if", "while", "for", "switch", "return"))
_COPIES = frozenset(("malloc", "memcpy", "memset", "host.malloc", "host.calloc"))


def without_flat_structs(body: list[Raw], structs: Mapping[str, Struct], kernels: Iterable[str]) -> list[Raw]:
    """The function in which such memory is an array of structs."""
    n = 0
    while n < len(body) - 9:
        words = [t.text for t in body[n : n + 9]]
        of = words[0]
        if of in structs and words[1:2] == ["*"] and words[3:7] == ["=", "(", of, "*"] and words[7] == ")":
            name, flat = words[2], words[8]
            if body[n + 9].text == ";" and (new := _seen(body, n, name, flat, structs[of], frozenset(kernels))):
                body = new
                continue
        n += 1
    return body


def _seen(body: list[Raw], at: int, name: str, flat: str, of: Struct, kernels: frozenset[str]) -> list[Raw] | None:
    """The function in which ``flat`` is called ``name``; None where a side condition does not hold."""
    element = {SPELLED[str(t)] if isinstance(t, ScalarType) else "" for _, t in of.members}
    if len(element) != 1 or "" in element:
        return None
    (spelled,) = element
    uses = [n for n, t in enumerate(body) if t.text == flat and body[n - 1].text not in (".", "->", "::")]
    start = next((n for n in uses if [t.text for t in body[n - 2 : n]] == [spelled, "*"]), None)
    if start is None or any(t.text == name for t in body[:at]) or sum(_declares(body, n) for n in uses) > 1:
        return None
    if any(t.text == "=" for t in body[_begin(body, at) : at]) or _begin(body, at) != at:
        return None
    out = list(body)
    for n in uses:
        if n != at + 8 and n != start and not _plain(body, n, kernels):
            return None
        out[n] = replace(body[n], text=name)
        cast = [t.text for t in body[n + 1 : n + 5]]
        if cast == ["=", "(", spelled, "*"]:  # buf = (float *)malloc(bytes)
            out[n + 3] = replace(body[n + 3], text=of.name)
        elif cast[:1] == ["="] and n != at + 8:
            return None
    out[start - 2] = replace(body[start - 2], text=of.name)
    return out[:at] + out[at + 10 :]


def _declares(body: list[Raw], n: int) -> bool:
    return body[n - 1].text == "*" and body[n - 2].kind == "NAME"


def _begin(body: list[Raw], n: int) -> int:
    """The place where the statement around ``n`` begins."""
    while n and body[n - 1].text not in (";", "{", "}"):
        n -= 1
    return n


def _plain(body: list[Raw], n: int, kernels: frozenset[str]) -> bool:
    """Is memory as a whole assigned, allocated, copied, freed or given to a function that is no kernel?"""
    after = body[n + 1].text
    if after == "=" and _begin(body, n) == n:
        return True
    if after not in (",", ")"):
        return False
    opened = _opened(body, n)
    called = body[opened - 1] if opened else body[0]
    if called.kind != "NAME" or called.text in kernels | _OTHERS or "Launch" in called.text:
        return False
    return concept(called.text) in _COPIES or _argument(body[opened + 1 : n])


def _opened(body: list[Raw], n: int) -> int:
    """The bracket around the place ``n`` of a statement, 0 where there is none."""
    depth = 0
    while n and body[n].text not in (";", "{", "}"):
        n -= 1
        depth += (body[n].text == ")") - (body[n].text == "(")
        if depth < 0:
            return n
    return 0


def _argument(inner: list[Raw]) -> bool:
    """Does an argument begin directly before the name: ``f(n, buf)``, ``f(&buf)``?"""
    return not inner or inner[-1].text in (",", "&", ")")


__all__ = ["without_flat_structs"]
