"""The only reader of grammar/: what kraise accepts and how each language spells it.

Everything is data read once: operations with their spellings (intrinsics.toml), the vocabulary of a dialect
(qualified name -> concept), the node kinds that the Python front end takes, and the text of the CUDA C grammar.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_SHIPPED = Path(__file__).parent / "grammar"  # in a wheel; a checkout has it beside the package
_FOLDER = _SHIPPED if _SHIPPED.is_dir() else Path(__file__).parent.parent / "grammar"


@cache
def table(name: str) -> dict:
    """The parsed file grammar/``name``.toml; FileNotFoundError if there is none."""
    with (_FOLDER / f"{name}.toml").open("rb") as stream:
        return tomllib.load(stream)


@cache
def text(name: str) -> str:
    """The text of a file of grammar/, by its full name (``cuda_c.lark``)."""
    return (_FOLDER / name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Spelling:
    """How a call of a name reads: the operation, and whether its result is made an int or a float."""

    operation: str
    integer: bool = False
    inexact: bool = False


@cache
def operations(language: str) -> dict[str, Spelling]:
    """Spelling -> operation for ``python`` (qualified names) or ``cuda``."""
    found: dict[str, Spelling] = {}
    for operation, row in table("intrinsics").items():
        integer, inexact = set(row.get("integer", ())), set(row.get("inexact", ()))
        for name in row.get(language, ()):
            found[name] = Spelling(operation, name in integer, name in inexact)
            if language == "python" and name.startswith("numpy."):  # CuPy has NumPy's functions
                found.setdefault(f"cupy.{name[6:]}", found[name])
    return found


@cache
def vocabulary(*files: str) -> dict[str, str]:
    """Qualified name -> concept, from the ``[names]`` of one or several dialect files."""
    return {name: concept for file in files for name, concept in table(file).get("names", {}).items()}


@cache
def decorators(file: str) -> dict[str, str]:
    """Qualified name of a decorator -> kind of function, from a dialect file."""
    return dict(table(file).get("decorators", {}))


@cache
def constants(file: str) -> dict[str, float]:
    """Qualified name -> value, from a dialect file."""
    return dict(table(file).get("constants", {}))


@cache
def refused_names(file: str) -> dict[str, str]:
    """Qualified name -> hint, for the names of a dialect that are refused."""
    return dict(table(file).get("refused", {}))


@cache
def accepted_nodes() -> frozenset[str]:
    """The libcst node kinds that a Python kernel may hold."""
    return frozenset(kind for group in table("python")["accepted"].values() for kind in group)


@cache
def refused_nodes() -> dict[str, tuple[str, str]]:
    """Node kind -> (reason, hint) for the kinds that are refused with words of their own."""
    return {kind: (row["reason"], row.get("hint", "")) for kind, row in table("python")["refused"].items()}


@cache
def host_rows(language: str) -> dict[str, str]:
    """Qualified name of a library function that a host may call -> its row in host_library.toml."""
    rows = table("host_library")["rows"]
    return {name: row for row, facts in rows.items() for name in facts.get(language, ())}
