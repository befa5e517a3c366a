"""Scalar values: NumPy types of IR types, C's conversions, and the operations' references made total.

Sized types are NumPy scalars of their width. Python's unsized ``int``, ``float`` and ``complex`` are Python numbers,
which NumPy (as JAX) takes as weakly typed beside an argument's dtype.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from kraise.ir.operations import OPERATIONS
from kraise.ir.types import COMPLEX128, FLOAT64, ScalarType
from kraise.verify import special

Scalar = Any
WEAK = (bool, int, float, complex)


@cache
def dtype_of(t: ScalarType) -> np.dtype | None:
    """The NumPy dtype of a scalar type; Python's kinds take 64 bits (complex 128); None for ``number``."""
    if t.kind == "number":
        return None
    if t.kind == "bool":
        return np.dtype(bool)
    if t.kind == "bfloat":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    bits = t.bits or (128 if t.kind == "complex" else 64)
    return np.dtype(f"{t.kind}{bits}")


def widened(t: ScalarType) -> ScalarType:
    """The type with its floats at 64 bits: what the oracle of derivatives computes in."""
    if t.kind == "bfloat" or (t.kind == "float" and t.bits is not None):
        return FLOAT64
    return COMPLEX128 if t.kind == "complex" and t.bits is not None else t


def is_sized(t: ScalarType) -> bool:
    """Does the language fix the width of this type?"""
    return t.bits is not None and t.kind != "number"


def is_weak(*values: Scalar) -> bool:
    """Are all of these plain Python numbers (np.float64 is a subclass of float, and is not)?"""
    return all(type(v) in WEAK for v in values)


def truncate(v: Scalar, low: int, high: int) -> int:
    """A float as an integer toward zero; NaN is 0 and what does not fit saturates, as on the device and in XLA."""
    if v != v:
        return 0
    if v in (math.inf, -math.inf):
        return high if v > 0 else low
    return min(max(int(v), low), high)


@cache
def caster(t: ScalarType) -> Callable[[Scalar], Scalar]:
    """The conversion to ``t`` with C's meaning: floats truncate, integers wrap around."""
    dtype = dtype_of(t)
    if dtype is None:
        return lambda v: v
    if t.kind == "bool":
        return bool
    if t.kind in ("int", "uint"):
        info = np.iinfo(dtype)
        low, high = int(info.min), int(info.max)
        span, make = high - low + 1, dtype.type
        weak = t.bits is None

        def to_integer(v: Scalar) -> Scalar:
            if isinstance(v, int | np.integer | np.bool_):
                n = int(v)
                if weak:
                    return n
            else:
                n = truncate(_real(v), low, high)
                if weak:
                    return n
            return make(n if low <= n <= high else (n - low) % span + low)

        return to_integer
    if t.kind == "complex":
        return complex if t.bits is None else dtype.type
    if t.bits is None:
        return lambda v: float(_real(v))
    make_float = dtype.type
    return lambda v: make_float(_real(v))


def _real(v: Scalar) -> Scalar:
    if isinstance(v, complex | np.complexfloating):
        raise TypeError("a complex value where a real one is needed")
    return v


@cache
def storer(dtype: np.dtype) -> Callable[[Scalar], Scalar]:
    """The conversion of an assignment to an element of an array of ``dtype``."""
    if dtype.kind == "b":
        return bool
    if dtype.kind in "iu":
        return caster(ScalarType("int" if dtype.kind == "i" else "uint", dtype.itemsize * 8))
    return (lambda v: v) if dtype.kind == "c" else _real


# --- operations -------------------------------------------------------------------------------

_SCOPE = {"np": np, "special": special, "math": math}


def evaluator(text: str, *parameters: str) -> Callable[..., Scalar]:
    """The function that a reference or partial of ``ir.operations`` denotes; the text is the table's own."""
    return eval(f"lambda {', '.join(parameters)}: {text}", dict(_SCOPE))


def _divide(x: Scalar, y: Scalar) -> Scalar:
    try:
        return x / y
    except ZeroDivisionError:  # Python numbers raise where C and NumPy give inf or nan
        if isinstance(x, complex) or isinstance(y, complex):
            return complex(np.complex128(x) / np.complex128(y))
        return float(np.float64(x) / np.float64(y))


def _zero(y: Scalar) -> bool:
    return isinstance(y, int | np.integer) and y == 0


def _floor_divide(x: Scalar, y: Scalar) -> Scalar:
    if _zero(y) and isinstance(x, int | np.integer):
        raise ZeroDivisionError("integer division by zero")
    return x // y if not is_weak(x, y) or y != 0 else float(np.floor_divide(float(x), float(y)))


def _modulo(x: Scalar, y: Scalar) -> Scalar:
    if _zero(y) and isinstance(x, int | np.integer):
        raise ZeroDivisionError("integer remainder by zero")
    return x % y if not is_weak(x, y) or y != 0 else math.nan


def _power(x: Scalar, y: Scalar) -> Scalar:
    if is_weak(x, y):
        if isinstance(x, complex) or isinstance(y, complex):
            return complex(np.complex128(x) ** np.complex128(y))
        if isinstance(x, int) and isinstance(y, int) and y >= 0:
            return x**y
        return float(np.float64(x) ** np.float64(y))
    if isinstance(y, int | np.integer) and isinstance(x, int | np.integer) and y < 0:
        return np.float64(x) ** np.float64(y)
    return x**y


_TOTAL: dict[str, Callable[..., Scalar]] = {
    "div": _divide,
    "floordiv": _floor_divide,
    "mod": _modulo,
    "pow": _power,
    "abs": abs,
}


@cache
def value_operation(name: str) -> Callable[..., Scalar]:
    """The operation on plain values: the table's reference, with Python numbers staying Python numbers."""
    if name in _TOTAL:
        return _TOTAL[name]
    row = OPERATIONS[name]
    reference = evaluator(row.reference, *"xyz"[: row.arity])

    def operate(*operands: Scalar) -> Scalar:
        value = reference(*operands)
        return value.item() if isinstance(value, np.generic) and is_weak(*operands) else value

    return operate
