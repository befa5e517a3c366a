"""Dual numbers: a value with its tangents along k directions, propagated by the partials of ``ir.operations``.

A value without tangents stays a plain scalar, so a partial is evaluated only where a tangent is nonzero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from kraise.ir.operations import OPERATIONS
from kraise.ir.types import ScalarType
from kraise.verify.scalars import Scalar, caster, evaluator, value_operation


class Dual:
    """``value`` and ``tangents`` (a vector of k numbers, not all zero)."""

    __slots__ = ("tangents", "value")

    def __init__(self, value: Scalar, tangents: np.ndarray):
        self.value = value
        self.tangents = tangents

    def __bool__(self) -> bool:
        return bool(self.value)

    def __repr__(self) -> str:
        return f"Dual({self.value}, {self.tangents})"


def plain(x: Any) -> Scalar:
    """The value without its tangents."""
    return x.value if type(x) is Dual else x


def dual(value: Scalar, tangents: np.ndarray | None) -> Any:
    """A dual number, or the plain value where the tangents are zero."""
    return value if tangents is None or not np.count_nonzero(tangents) else Dual(value, tangents)


def scale(partial: Scalar, tangents: np.ndarray) -> np.ndarray:
    """``partial * tangents`` with zero tangents staying zero even where the partial is not finite."""
    if np.isfinite(partial):
        return partial * tangents
    with np.errstate(all="ignore"):
        return np.where(tangents == 0, 0.0, partial * tangents)


def _wide(x: Scalar) -> Scalar:
    if type(x) is np.float64:
        return x
    return np.complex128(x) if isinstance(x, complex | np.complexfloating) else np.float64(x)


def _complex_abs(x: Scalar, v: Scalar, t: np.ndarray) -> np.ndarray:
    return (np.conj(x) * t).real / v if v else np.zeros_like(t.real)


# not holomorphic: linear in the tangent over the reals only
_REAL_LINEAR: dict[str, Callable[[Scalar, Scalar, np.ndarray], np.ndarray]] = {
    "real": lambda x, v, t: t.real,
    "imag": lambda x, v, t: t.imag,
    "conj": lambda x, v, t: t.conj(),
    "abs": _complex_abs,
}


# partials that need no product
_SIGNS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"1": np.positive, "-1": np.negative}


@cache
def partials_of(name: str) -> tuple[Callable[..., Scalar] | None, ...]:
    """The partial derivatives of an operation as functions of x, y, z and v; None where there is none or it is zero."""
    return tuple(evaluator(text, *"xyzv") if text not in ("", "0") else None for text in OPERATIONS[name].partials)


class Ties:
    """Counts points at which min or max had two equal operands with different tangents."""

    def __init__(self) -> None:
        self.count = 0


def dual_operation(name: str, ties: Ties) -> Callable[..., Any]:
    """The operation on plain values and dual numbers alike."""
    value_of = value_operation(name)
    partials = partials_of(name)
    padding: tuple[Scalar, ...] = (0.0,) * (3 - OPERATIONS[name].arity)
    selects = name in ("min", "max")
    signs = tuple(map(_SIGNS.get, OPERATIONS[name].partials))

    def operate(*operands: Any) -> Any:
        for operand in operands:
            if type(operand) is Dual:
                break
        else:
            return value_of(*operands)
        values = [plain(x) for x in operands]
        value = value_of(*values)
        if not partials or not isinstance(value, float | complex | np.inexact):
            return value
        if selects and values[0] == values[1]:
            ties.count += 1
        if name in _REAL_LINEAR and isinstance(values[0], complex | np.complexfloating):
            return dual(value, _REAL_LINEAR[name](values[0], value, operands[0].tangents))
        wide = None
        total: np.ndarray | None = None
        for operand, partial, sign in zip(operands, partials, signs, strict=True):
            if partial is None or type(operand) is not Dual:
                continue
            if sign is None:
                wide = wide or (*map(_wide, values), *padding, _wide(value))
                term = scale(partial(*wide), operand.tangents)
            else:
                term = sign(operand.tangents)
            total = term if total is None else total + term
        return dual(value, total)

    return operate


def dual_caster(t: ScalarType) -> Callable[[Any], Any]:
    """The conversion of ``scalars.caster``, keeping the tangents where the target is a float or complex."""
    convert = caster(t)
    keeps = t.is_inexact or t.kind == "number"

    def cast(x: Any) -> Any:
        if type(x) is not Dual:
            return convert(x)
        return Dual(convert(x.value), x.tangents) if keeps else convert(x.value)

    return cast
