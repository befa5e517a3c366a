"""Numbers for parameters that count the rounds of a loop around a launch (:attr:`Kernel.rounds`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from numbers import Integral
from typing import Any

from kraise.ir.equations import Axis, Const, Expr, Op, Param, Shape

_LATER = (2, 1, 0)  # rounds after the first
_OPS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": min,
    "max": max,
}


def tried(axes: tuple[Axis, ...]) -> Iterator[dict[str, int]]:
    """Numbers for the parameters, those of a later round first; {} where there are none."""
    firsts = {a.name: int(a.lo.value.real) if isinstance(a.lo, Const) else 0 for a in axes}
    for later in _LATER if axes else (0,):
        yield {name: first + later for name, first in firsts.items()}


def within(axes: tuple[Axis, ...], args: Mapping[str, Any]) -> bool:
    """Whether the arguments are within the ranges, as far as these are known from them."""
    for a in axes:
        value, lo, hi = (_value(e, args) for e in (Param(a.name, a.lo.type), a.lo, a.hi))
        if value is not None and ((lo is not None and value < lo) or (hi is not None and value >= hi)):
            return False
    return True


def ends(axes: tuple[Axis, ...], args: Mapping[str, Any]) -> list[dict[str, int]]:
    """The first and the last round, as far as the arguments tell: arrays are as long as all rounds ask for."""
    first = {a.name: _value(a.lo, args) for a in axes}
    last = {a.name: None if (hi := _value(a.hi, args)) is None else hi - 1 for a in axes}
    return [{n: v for n, v in end.items() if v is not None} for end in (first, last)]


def _value(e: Expr, args: Mapping[str, Any]) -> int | None:
    match e:
        case Const(value=int() as value):
            return value
        case Param(name=name):
            found = args.get(name)
            return int(found) if isinstance(found, Integral) else None
        case Shape(array=array, axis=axis):
            shape = getattr(args.get(array), "shape", ())
            return int(shape[axis]) if axis < len(shape) else None
        case Op(name=name, args=(a, b)) if name in _OPS:
            left, right = _value(a, args), _value(b, args)
            return None if left is None or right is None else _OPS[name](left, right)
    return None


__all__ = ["ends", "tried", "within"]
