"""The dialect's vocabulary (grammar/cuda.toml, hip.toml, intrinsics.toml) as this front end asks for it."""

from __future__ import annotations

from functools import cache
from typing import Any

from kraise import dialects
from kraise.frontends.cuda_c.c_types import CType, Void, scalar, vector
from kraise.ir.kernel import Const, Hw
from kraise.ir.types import UINT32

_OPAQUE = ("thread_group", "thread_block", "grid_group", "coalesced_group")


@cache
def hardware() -> dict[str, str]:
    """threadIdx -> thread."""
    return dict(dialects.table("cuda")["hardware"])


@cache
def index_names() -> dict[str, Hw]:
    """hipThreadIdx_x and the like."""
    rows: dict[str, list[Any]] = dialects.table("hip")["indices"]
    return {name: Hw(kind, axis, UINT32) for name, (kind, axis) in rows.items()}


@cache
def opaque() -> frozenset[str]:
    """The handles that host functions hand around."""
    return frozenset(dialects.table("cuda")["opaque"]["names"])


@cache
def collective(name: str) -> str:
    """``block.reduce`` of BlockReduce; "" where a class template is none of CUB's collectives."""
    return dialects.table("cuda")["collectives"].get(name, "")


@cache
def type_called(name: str) -> CType | None:
    """A built-in type's meaning, or None."""
    table = dialects.table("cuda")
    name = table["aliases"].get(name, name)
    if name in table["types"]:
        return scalar(table["types"][name])
    if name == "dim3":
        return vector("uint3", scalar("uint32"), 3)
    if name in _OPAQUE or name in opaque():
        return Void(name)
    if name in table["pairs"]:
        return vector(name, scalar(table["pairs"][name]), 2)
    for prefix, element in table["vectors"].items():
        if name[: len(prefix)] == prefix and name[len(prefix) :] in ("1", "2", "3", "4"):
            return vector(name, scalar(element), int(name[-1]))
    return None


@cache
def concept(name: str) -> str:
    """A function's concept, or ""."""
    return dialects.table("cuda")["names"].get(name, "")


@cache
def constant(name: str) -> Const | None:
    """A constant of the standard headers."""
    row = dialects.table("cuda")["constants"].get(name)
    if row is None:
        return None
    text, type_name = row
    t = scalar(type_name)
    return Const(float(text) if t.is_inexact else int(text), t)


def operation(name: str) -> str:
    """The operation of ``ir.operations`` that a function of the math API is, or ""."""
    found = dialects.operations("cuda").get(name) or dialects.operations("cuda").get(f"std::{name}")
    return found.operation if found else ""


@cache
def refusal(name: str) -> str | None:
    """The hint for a function that is refused by name, or None."""
    rows = dialects.table("cuda")["refused"]
    if name in rows:
        return rows[name]
    return next((hint for prefix, hint in rows.items() if len(prefix) >= 5 and name.startswith(prefix)), None)
