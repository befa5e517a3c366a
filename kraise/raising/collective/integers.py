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
    return a if a.dtype.kind == "b" else a != 0


def number(name: str, args: list[np.ndarray], t: ScalarType) -> Value:
    if any(a.dtype.kind == "f" for a in args):
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
        numbers = [a.astype(np.int64) if a.dtype.kind == "b" and name not in ("not", "and", "or") else a for a in args]
        out = NUMBERS[name](*numbers)
    else:
        return UNKNOWN
    if name == "mul" and np.any(np.abs(args[0].astype(float) * args[1].astype(float)) > 2.0**62):
        raise Beyond("a number leaves its type")
    return _of_type(out, t)


def cast(a: np.ndarray, t: ScalarType) -> np.ndarray:
    """What a conversion to integers of type ``t`` makes of ``a``."""
    bits = t.bits or 32
    if a.dtype == bool or not t.is_integer or bits > 32 and not (t.kind == "uint" and np.any(a < 0)):
        return a
    if bits > 32:
        raise Beyond("a number of 64 bits")
    low = a & ((1 << bits) - 1)
    return low if t.kind == "uint" else np.where(low >> bits - 1, low - (1 << bits), low)


def _of_type(out: np.ndarray, t: ScalarType) -> np.ndarray:
    """``out``, as long as an operation of type ``t`` holds it.

    Raises:
        Beyond: it does not.
    """
    if out.dtype.kind != "b" and out.size:
        bits = min(t.bits or 32, 32)
        low, high = (0, 1 << bits) if t.kind == "uint" else (1 - (1 << bits - 1), 1 << bits - 1)
        if out.min() < low or out.max() >= high:
            raise Beyond("a number leaves its type")
    return out
