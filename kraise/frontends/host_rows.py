"""Rows of grammar/host_library.toml as nodes of Host IR, for both front ends."""

from __future__ import annotations

from typing import Any

from kraise import dialects
from kraise.ir import host as h
from kraise.ir.types import BOOL, INT, NUMBER, ScalarType

KINDS = {"bool": BOOL, "int": INT}


def facts(row: str) -> dict[str, Any]:
    """What the table says of a row; KeyError if there is none."""
    return dialects.table("host_library")["rows"][row]


def library(
    row: str, args: tuple[h.Expr, ...], span: Any = None, *, kind: ScalarType | None = None, array: bool | None = None
) -> h.Library:
    """A call of a row. ``array`` says what the row leaves open; ``kind`` is the type of a number that it gives."""
    known = facts(row)
    is_array = bool(known.get("array")) if array is None else array
    found = KINDS.get(known.get("type", ""), NUMBER) if kind is None else kind
    return h.Library(
        row, args, found, is_array, known["jnp"], known["derivative"], bool(known.get("static")),
        tuple(known.get("shapes", ())), known.get("numpy", ""), span=span,
    )  # fmt: skip
