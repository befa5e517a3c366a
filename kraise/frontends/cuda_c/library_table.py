"""grammar/cuda_libraries.toml as the reader of host functions asks for it: the rows of a call, what is dropped, what is
refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from kraise import dialects

_HIP = {"hipblas": "cublas", "cudablas": "cublas", "hipfft": "cufft", "cudafft": "cufft", "cudacub::": "cub::"}
_FUNCTORS = frozenset(
    ("plus", "minus", "multiplies", "divides", "modulus", "maximum", "minimum", "negate", "square", "identity", "less")
    + ("greater", "less_equal", "greater_equal", "equal_to", "not_equal_to", "logical_and", "logical_or", "logical_not")
)
LIBRARIES = ("cublas", "cufft", "thrust::", "cub::")
_LIBRARY_WORDS = re.compile(r"(cublas|cufft|hipblas|hipfft)[A-Z]\w*$|(thrust|cub|hipcub)$")


@dataclass(frozen=True)
class Row:
    """One call of the table; ``args`` without its marks is what the effects name."""

    name: str
    args: tuple[str, ...]
    let: Mapping[str, str]
    do: tuple[str, ...] = ()
    loop: str = ""
    place: str = ""
    value: str = ""


@cache
def _table() -> tuple[tuple[re.Pattern[str], Row], ...]:
    found = []
    for row in dialects.table("cuda_libraries")["calls"]:
        effects = Row(
            row["name"], tuple(row["args"].split()), row.get("let", {}), tuple(row.get("do", ())),
            row.get("loop", ""), row.get("place", ""), row.get("value", ""),
        )  # fmt: skip
        found.append((re.compile(row["name"] + "(_v2)?$"), effects))
    return tuple(found)


def canonical(name: str) -> str:
    """CUDA's name of a library call that HIP spells."""
    for prefix, own in _HIP.items():
        if name.startswith(prefix):
            return own + name[len(prefix) :]
    return name


@cache
def rows(name: str) -> tuple[Row, ...]:
    """The rows of a call, in order; none where it is not known."""
    return tuple(row for pattern, row in _table() if pattern.match(canonical(name)))


@cache
def transform(name: str) -> Mapping[str, object] | None:
    """The row of an execution of a cuFFT plan, None for another call."""
    for row in dialects.table("cuda_libraries")["transforms"]:
        if re.fullmatch(row["name"], canonical(name)):
            return row
    return None


def plan(name: str) -> tuple[str, ...]:
    """The arguments after the plan of a call that makes one, () for another call."""
    return tuple(dialects.table("cuda_libraries")["plans"].get(canonical(name), ()))


def _listed(section: str, name: str) -> str:
    table = dialects.table("cuda_libraries")[section]
    own = canonical(name)
    if own in table:
        return table[own]
    return next((v for key, v in table.items() if key.endswith("*") and own.startswith(key[:-1])), "")


def dropped(name: str) -> str:
    """What a library call without a part in the values is, "" for another call."""
    return _listed("dropped", name)


def refusal(name: str) -> str:
    """What to do instead of a library call that is refused by its name, "" for another call."""
    return _listed("refused", name)


def is_known(name: str) -> bool:
    """Is it a library call with an effect that is known?"""
    return bool(rows(name) or plan(name) or transform(name))


def is_library(name: str) -> bool:
    """Is it a call of a library, known or not?"""
    return bool(name) and (is_known(name) or bool(refusal(name)) or bool(dropped(name)))


def is_library_word(word: str) -> bool:
    """Is a token of a source the name of a library or of a call of one (and not of a type or a status)?"""
    calls = not word.endswith("_t") and not word.isupper()
    return calls and bool(_LIBRARY_WORDS.match(word)) and not dropped(word)


def standard_functor(words: list[str]) -> str:
    """``plus`` of ``thrust::plus<float>()`` or ``cub::Sum()``, "" for what is no functor of the library."""
    parts = [w for w in words if w not in ("thrust", "cub", "std", "::", "hipcub")]
    if parts[:1] and parts[0] in ("Sum", "Max", "Min") and parts[1:] in (["(", ")"], ["{", "}"]):
        return {"Sum": "plus", "Max": "maximum", "Min": "minimum"}[parts[0]]
    shaped = len(parts) >= 3 and (parts[-2:] in (["(", ")"], ["{", "}"])) and (len(parts) == 3 or parts[1] == "<")
    return parts[0] if parts and parts[0] in _FUNCTORS and shaped and "::" in words else ""
