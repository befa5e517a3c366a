"""Scalar programs run as they stand, on numbers that carry their derivatives: an oracle of its own beside kraise's.

A ``Dual`` goes through the program's own Python: its branches are taken or not, as the scalar program's are, so that
what is not executed has no derivative at all. ``min`` and ``max`` share a tie, as JAX does.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import digamma


class Dual:
    """A number and its derivatives."""

    __slots__ = ("tangent", "value")
    __array_priority__ = 1000

    def __init__(self, value: float, tangent: np.ndarray) -> None:
        self.value, self.tangent = float(value), tangent

    def __abs__(self) -> Dual:
        return chain(abs(self.value), (1.0 if self.value >= 0 else -1.0, self))

    def __neg__(self) -> Dual:
        return chain(-self.value, (-1.0, self))

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return self.value

    def __bool__(self) -> bool:
        return self.value != 0


def plain(x: Any) -> Any:
    return x.value if isinstance(x, Dual) else x


def chain(value: float, *terms: tuple[Any, Any]) -> Dual:
    """A value whose derivative is the sum of partials times tangents; a zero tangent stays zero."""
    total = np.zeros(1)
    for partial, operand in terms:
        if isinstance(operand, Dual) and operand.tangent.any():
            slope = _defined(partial) if callable(partial) else partial
            with np.errstate(all="ignore"):
                total = total + np.where(operand.tangent == 0, 0.0, slope * operand.tangent)
    return Dual(value, total)


def _defined(number: Callable[[], float]) -> float:
    try:
        return number()
    except (ValueError, OverflowError, ZeroDivisionError):
        return math.nan


def _binary(value: Callable[..., float], *partials: Callable[..., float]) -> Callable[..., Any]:
    def apply(a: Any, b: Any) -> Any:
        x, y = plain(a), plain(b)
        v = value(x, y)
        return chain(v, *((lambda p=p: p(x, y, v), operand) for p, operand in zip(partials, (a, b), strict=True)))

    return apply


def _unary(value: Callable[[float], float], partial: Callable[..., float]) -> Callable[[Any], Any]:
    def apply(a: Any) -> Any:
        if not isinstance(a, Dual):
            return value(a)
        v = value(a.value)
        return chain(v, (lambda: partial(a.value, v), a))

    return apply


def _power(x: float, y: float) -> float:
    return math.inf if x == 0 and y < 0 else float(x) ** y


_ARITHMETIC = {
    "add": _binary(operator.add, lambda x, y, v: 1.0, lambda x, y, v: 1.0),
    "sub": _binary(operator.sub, lambda x, y, v: 1.0, lambda x, y, v: -1.0),
    "mul": _binary(operator.mul, lambda x, y, v: y, lambda x, y, v: x),
    "truediv": _binary(operator.truediv, lambda x, y, v: 1 / y, lambda x, y, v: -v / y),
    "floordiv": _binary(operator.floordiv, lambda x, y, v: 0.0, lambda x, y, v: 0.0),
    "mod": _binary(operator.mod, lambda x, y, v: 1.0, lambda x, y, v: -math.floor(x / y)),
    "pow": _binary(
        _power,
        lambda x, y, v: y * _power(x, y - 1) if y else 0.0,
        lambda x, y, v: 0.0 if x == 0 and y > 0 else v * math.log(x),
    ),
}
for _name, _function in _ARITHMETIC.items():
    setattr(Dual, f"__{_name}__", _function)
    setattr(Dual, f"__r{_name}__", lambda a, b, f=_function: f(b, a))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Dual, f"__{_name}__", lambda a, b, name=_name: getattr(operator, name)(a.value, plain(b)))
for _name in ("floor", "ceil", "trunc"):
    setattr(Dual, f"__{_name}__", lambda a, name=_name: getattr(math, name)(a.value))

_FUNCTIONS = {
    "sqrt": _unary(math.sqrt, lambda x, v: 0.5 / v),
    "exp": _unary(math.exp, lambda x, v: v),
    "expm1": _unary(math.expm1, lambda x, v: v + 1),
    "log": _unary(math.log, lambda x, v: 1 / x),
    "log2": _unary(math.log2, lambda x, v: 1 / x / math.log(2)),
    "log10": _unary(math.log10, lambda x, v: 1 / x / math.log(10)),
    "log1p": _unary(math.log1p, lambda x, v: 1 / (1 + x)),
    "sin": _unary(math.sin, lambda x, v: math.cos(x)),
    "cos": _unary(math.cos, lambda x, v: -math.sin(x)),
    "tan": _unary(math.tan, lambda x, v: 1 + v * v),
    "asin": _unary(math.asin, lambda x, v: 1 / math.sqrt(1 - x * x)),
    "acos": _unary(math.acos, lambda x, v: -1 / math.sqrt(1 - x * x)),
    "atan": _unary(math.atan, lambda x, v: 1 / (1 + x * x)),
    "sinh": _unary(math.sinh, lambda x, v: math.cosh(x)),
    "cosh": _unary(math.cosh, lambda x, v: math.sinh(x)),
    "tanh": _unary(math.tanh, lambda x, v: 1 - v * v),
    "acosh": _unary(math.acosh, lambda x, v: 1 / math.sqrt(x * x - 1)),
    "atanh": _unary(math.atanh, lambda x, v: 1 / (1 - x * x)),
    "erf": _unary(math.erf, lambda x, v: 2 / math.sqrt(math.pi) * math.exp(-x * x)),
    "cbrt": _unary(math.cbrt, lambda x, v: 1 / (3 * v * v)),
    "fabs": abs,
    "pow": _ARITHMETIC["pow"],
    "atan2": _binary(math.atan2, lambda x, y, v: y / (x * x + y * y), lambda x, y, v: -x / (x * x + y * y)),
    "hypot": _binary(math.hypot, lambda x, y, v: x / v, lambda x, y, v: y / v),
    "fmod": _binary(math.fmod, lambda x, y, v: 1.0, lambda x, y, v: -math.trunc(x / y)),
    "copysign": _binary(
        math.copysign, lambda x, y, v: math.copysign(1, v) * (1 if x >= 0 else -1), lambda x, y, v: 0.0
    ),
    "lgamma": _unary(math.lgamma, lambda x, v: digamma(x)),
    "floor": lambda a: math.floor(plain(a)),
    "ceil": lambda a: math.ceil(plain(a)),
    "trunc": lambda a: math.trunc(plain(a)),
    "isnan": lambda a: math.isnan(plain(a)),
    "isfinite": lambda a: math.isfinite(plain(a)),
    "pi": math.pi,
    "inf": math.inf,
}


def _selecting(best: Callable[..., float]) -> Callable[..., Any]:
    def select(*operands: Any) -> Any:
        found = operands[0]
        for other in operands[1:]:
            if plain(found) == plain(other):
                found = chain(plain(found), (0.5, found), (0.5, other))
            elif best(plain(found), plain(other)) != plain(found):
                found = other
        return found

    return select


def _add(array: Any, at: Any, value: Any) -> None:
    array[at] = array[at] + value


def _larger(array: Any, at: Any, value: Any) -> None:
    array[at] = max(array[at], value, key=plain)


class Program:
    """The functions of a source text, run thread by thread where they ask for ``cuda.grid``."""

    def __init__(self, source: str) -> None:
        self.thread: Any = 0
        cuda = SimpleNamespace(
            jit=lambda f: f,
            grid=lambda dimensions: self.thread,
            atomic=SimpleNamespace(add=_add, max=_larger),
            local=SimpleNamespace(array=lambda shape, dtype: np.zeros(shape, object)),
        )
        self.names: dict[str, Any] = {"math": SimpleNamespace(**_FUNCTIONS), "cuda": cuda, "float64": float}
        self.names |= {"min": _selecting(min), "max": _selecting(max)}
        exec(re.sub(r"^(import|from) .*$", "", source, flags=re.M), self.names)

    def gradient(
        self, name: str, arguments: dict[str, Any], threads: Any, weights: Callable[[tuple[int, ...]], Any]
    ) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
        """The float arrays that a function writes (or what it returns), and the derivatives of their weighted sum."""
        floats = [n for n, v in arguments.items() if np.asarray(v).dtype == np.float64]
        units = iter(np.eye(sum(np.size(arguments[n]) for n in floats)))
        given: dict[str, Any] = {}
        for n, v in arguments.items():
            if n in floats:
                cells = np.empty(np.shape(v), object)
                for at in np.ndindex(*np.shape(v)):
                    cells[at] = Dual(np.asarray(v)[at], next(units))
                given[n] = cells if np.ndim(v) else cells[()]
            else:
                given[n] = np.copy(v) if np.ndim(v) else v
        before = {n: np.copy(v) for n, v in given.items() if isinstance(v, np.ndarray)}
        runs = [0] if threads is None else np.ndindex(*threads) if isinstance(threads, tuple) else range(threads)
        result = None
        for thread in runs:
            self.thread = thread
            result = self.names[name](*given.values())
        written = [
            n for n, old in before.items() if any(x is not y for x, y in zip(old.flat, given[n].flat, strict=True))
        ]
        outputs = [result] if result is not None else [given[n] for n in written if n in floats]
        values = [np.vectorize(plain, otypes=[float])(o) for o in outputs]
        total = np.zeros(sum(np.size(arguments[n]) for n in floats))
        for o in outputs:
            for w, cell in zip(weights(np.shape(o)).flat, np.asarray(o, object).flat, strict=True):
                total = total + w * (cell.tangent if isinstance(cell, Dual) else 0.0)
        cuts = np.cumsum([np.size(arguments[n]) for n in floats])[:-1]
        parts = np.split(total, cuts)
        return values, {n: p.reshape(np.shape(arguments[n])) for n, p in zip(floats, parts, strict=True)}
