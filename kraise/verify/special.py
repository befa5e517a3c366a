"""Scalar functions that NumPy lacks, for the references and partials of ``ir.operations``.

Each keeps the type of its first operand: a NumPy scalar stays of its dtype, a Python number stays one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kraise.verify.errors import InterpreterError


def _like(x: Any, value: float) -> Any:
    return x.dtype.type(value) if isinstance(x, np.generic) and x.dtype.kind != "i" else value


def _wrap(x: Any, value: int) -> Any:
    """``value`` in the integer type of ``x``, wrapped around; a Python int stays unbounded."""
    if not isinstance(x, np.integer):
        return value
    info = np.iinfo(x.dtype)
    return x.dtype.type((value - int(info.min)) % (int(info.max) - int(info.min) + 1) + int(info.min))


def _bits_of(x: Any) -> int:
    return x.dtype.itemsize * 8 if isinstance(x, np.integer) else 64


def slice_start(at: Any, extent: Any) -> int:
    """Where ``x[at:]`` begins in an axis."""
    return slice(int(at), None).indices(int(extent))[0]


def slice_stop(at: Any, extent: Any) -> int:
    """Where ``x[:at]`` ends."""
    return slice(None, int(at)).indices(int(extent))[1]


def slice_last(at: Any, extent: Any) -> int:
    """Where ``x[at::-1]`` begins."""
    return slice(int(at), None, -1).indices(int(extent))[0]


def slice_before(at: Any, extent: Any) -> int:
    """Before where ``x[:at:-1]`` ends."""
    return slice(None, int(at), -1).indices(int(extent))[1]


def same_extent(one: Any, other: Any) -> Any:
    """The extent that two arrays have in common."""
    if one != other:
        raise InterpreterError(f"operands of {one} and {other} elements do not fit together")
    return one


def _total(function: Callable[[float], float], pole: float) -> Callable[[Any], Any]:
    def total(x: Any) -> Any:
        try:
            return _like(x, function(float(x)))
        except OverflowError:
            return _like(x, math.inf)
        except ValueError:
            return _like(x, math.nan if math.isinf(float(x)) else pole)

    return total


erf = _total(math.erf, math.nan)
erfc = _total(math.erfc, math.nan)
lgamma = _total(math.lgamma, math.inf)
gamma = _total(math.gamma, math.nan)


def tdiv(x: Any, y: Any) -> Any:
    """C's integer quotient, rounded toward zero."""
    a, b = int(x), int(y)
    quotient = abs(a) // abs(b)
    return _wrap(x, quotient if (a < 0) == (b < 0) else -quotient)


def tmod(x: Any, y: Any) -> Any:
    """C's integer remainder: the sign of the dividend."""
    a, b = int(x), int(y)
    return _wrap(x, abs(a) % abs(b) if a >= 0 else -(abs(a) % abs(b)))


def remainder(x: Any, y: Any) -> Any:
    """IEEE remainder: x - y times the nearest integer to x / y."""
    try:
        return _like(x, math.remainder(float(x), float(y)))
    except ValueError:
        return _like(x, math.nan)


def round_away(x: Any) -> Any:
    """C's ``round``: halves away from zero."""
    if not np.abs(x) < 2**52:
        return x
    whole = np.trunc(x)
    return whole + np.copysign(1.0, x).astype(np.result_type(x)) if np.abs(x - whole) >= 0.5 else whole


def digamma(x: Any) -> Any:
    """The derivative of lgamma: reflection below zero, recurrence up to 10, then the asymptotic series."""
    z = float(x)
    if math.isnan(z) or z == -math.inf or (z <= 0 and z == math.floor(z)):
        return _like(x, math.nan)
    if z < 0:
        return _like(x, float(digamma(1 - z)) - math.pi / math.tan(math.pi * z))
    total = 0.0
    while z < 10:
        total -= 1 / z
        z += 1
    w = 1 / (z * z)
    series = w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w * (1 / 132 - w * 691 / 32760)))))
    return _like(x, total + math.log(z) - 0.5 / z - series)


def popcount(x: Any) -> int:
    """The number of one bits (of the two's complement, for a negative number)."""
    return (int(x) & ((1 << _bits_of(x)) - 1)).bit_count()


def clz(x: Any) -> int:
    """The number of leading zero bits; the width for 0."""
    bits = _bits_of(x)
    return bits - (int(x) & ((1 << bits) - 1)).bit_length()


def ffs(x: Any) -> int:
    """The position, from 1, of the lowest one bit; 0 for 0."""
    return (int(x) & -int(x)).bit_length()


def brev(x: Any) -> Any:
    """The bits in reverse order."""
    bits = _bits_of(x)
    return _wrap(x, int(f"{int(x) & ((1 << bits) - 1):0{bits}b}"[::-1], 2))


def mulhi(x: Any, y: Any) -> Any:
    """The upper half of the double-width product."""
    return _wrap(x, (int(x) * int(y)) >> _bits_of(x))


def bits(x: Any, dtype: Any = None) -> Any:
    """The bits of ``x`` read as a value of ``dtype``, of the same width."""
    return x if dtype is None else np.asarray(x).view(dtype)[()]
