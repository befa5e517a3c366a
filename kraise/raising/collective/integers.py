"""Integers by thread: what operations make of them in the simulation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kraise.ir.types import ScalarType
from kraise.raising.collective.marks import UNKNOWN, Beyond, Value

NUMBERS: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "min": np.minimum,
    "max": np.maximum,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
    "invert": np.invert,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "not": lambda a: ~truth(a),
    "and": lambda a, b: truth(a) & truth(b),
    "or": lambda a, b: truth(a) | truth(b),
}


def truth(a: np.ndarray) -> np.ndarray:
    return a if a.dtype == bool else a != 0


def number(name: str, args: list[np.ndarray], t: ScalarType) -> Value:
    if any(a.dtype == float for a in args):
        return UNKNOWN
    if name in ("tdiv", "floordiv", "tmod", "mod"):
        a, b = args
        if np.any(b == 0) or (name[0] == "t" and (np.any(a < 0) or np.any(b < 0))):
            raise Beyond("a division")
        return a // b if name.endswith("div") else a % b
    if name in ("shl", "shr"):
        a, b = args
        if np.any(b < 0) or (name == "shl" and np.any(b > 31)) or np.any(a < 0):
            raise Beyond("a shift")
        out = np.left_shift(a, b) if name == "shl" else np.right_shift(a, np.minimum(b, 62))  # all bits, or more
    elif name == "pow":
        a, b = args
        if np.any(a != 2) or np.any(b < 0) or np.any(b > 30):
            return UNKNOWN
        out = np.left_shift(a, b)
    elif name in NUMBERS:
        numbers = [a.astype(np.int64) if a.dtype == bool and name not in ("not", "and", "or") else a for a in args]
        out = NUMBERS[name](*numbers)
    else:
        return UNKNOWN
    if out.dtype != bool and out.size and (np.abs(out).max() >= 1 << 31 or (t.kind == "uint" and out.min() < 0)):
        raise Beyond("a number leaves its type")
    return out
