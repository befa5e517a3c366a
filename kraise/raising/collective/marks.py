"""Values of the simulation: numbers that are known, and combinations of marks.

Every thread's datum gets a random 128-bit *mark*. A value made of data by one associative and commutative operator is
the sum of the marks of what was combined, modulo 2^64 in each of two halves: two values are combinations of the same
data, as often, if their sums are equal. (The marks are fixed, so the answer is the same each time; two different
combinations meet by chance with a probability of about 2^-100.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kraise.ir.types import ScalarType


class Beyond(Exception):
    """The simulation cannot go on: something unknown decides, or the program is not well defined."""


class Outside(Beyond):
    """A subscript leaves a shared array: no launch has blocks of this size."""


class Stored(Beyond):
    """A store to an array of the caller's."""


@dataclass(frozen=True)
class Combined:
    """By thread: data combined by ``op`` ("" where each is one datum), as sums of marks of shape (2, threads)."""

    op: str
    marks: np.ndarray
    type: ScalarType


@dataclass(frozen=True)
class Compared:
    """``a name b`` of data; with a ``tie``, also where both are equal and that holds."""

    name: str
    a: Combined
    b: Combined
    tie: Tie | None = None


@dataclass(frozen=True)
class Tie:
    """``a name b`` of what rides along with the data (:mod:`.picks`)."""

    name: str
    a: Value
    b: Value


class Unknown:
    """A value that is not simulated."""


UNKNOWN = Unknown()
Value = Combined | Compared | Unknown | np.ndarray


@lru_cache(maxsize=256)
def marks(family: int, count: int) -> np.ndarray:
    """The marks of the data 0 … count - 1 of a family, to be read only."""
    n = np.arange(count, dtype=np.uint64) + np.uint64(family * (1 << 32))
    out = np.stack([_mixed(n, np.uint64(half)) for half in (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)])
    out.setflags(write=False)
    return out


def _mixed(n: np.ndarray, salt: np.uint64) -> np.ndarray:
    """splitmix64."""
    with np.errstate(over="ignore"):
        z = (n + np.uint64(1)) * salt
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


_CONSTANT = 1 << 20  # the family of literals


class Literals:
    """Literals among data: each is a datum of its own until an operator of which it is the neutral element meets it."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[float, np.ndarray]] = {}

    def of(self, value: float) -> np.ndarray:
        key = repr(float(value))
        if key not in self.known:
            self.known[key] = (float(value), marks(_CONSTANT + len(self.known), 1)[:, 0])
        return self.known[key][1]

    def without_neutral(self, op: str, at: np.ndarray) -> np.ndarray:
        """``at`` with nothing in place of neutral elements of ``op``."""
        for value, mark in self.known.values():
            if is_neutral(op, value):
                hit = (at[0] == mark[0]) & (at[1] == mark[1])
                at = np.where(hit, np.uint64(0), at)
        return at


def is_neutral(op: str, value: float) -> bool:
    """Whether combining with ``value`` by ``op`` changes nothing."""
    match op:
        case "add" | "or" | "or_" | "xor":
            return value == 0
        case "mul" | "and":
            return value == 1
        case "and_":
            return value == -1
        case "min":
            return value == float("inf")
        case "max":
            return value == float("-inf")
    return False
