"""What is known of a number that sizes make: a length, a choice between two, a digit of few values.

Buffers that change places by the parity of a step, ``buf + (t & 1) * n`` and ``buf + ((t + 1) & 1) * n``, are apart:
``t & 1`` is 0 or 1, as t is even or odd, and the product with n is 0 or n. Of a number that is not affine but has few
values, each is one case of the set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kraise.analysis.poly import to_poly
from kraise.analysis.ties import ties
from kraise.ir import equations as eq

_MOST = 4  # values


@dataclass(frozen=True)
class _Digit:
    """A number that has ``values[r]`` where ``of`` leaves r when it is divided by their count. ``truncated``: what is
    negative has the value of its opposite, negated."""

    of: eq.Expr
    values: tuple[int, ...]
    truncated: bool = False


def said(space: Any, m: tuple[eq.Expr, ...], name: str, rename: Mapping[str, str]) -> list[str]:
    """What holds of the product ``m`` of sizes that is called ``name``, in isl's syntax."""
    if all(isinstance(a, eq.Shape) for a in m):
        return [f"{name} >= 0"]
    first = m[0]
    if len(m) == 1 and isinstance(first, eq.Op) and first.name in ("min", "max"):
        tied = ties(first, name, lambda e: space.poly(to_poly(e), rename))
        return [] if tied is None else [f"({tied})"]
    digits = [d for a in m if (d := _digit(a)) is not None]
    if len(digits) != 1:
        return []
    (digit,), others = digits, tuple(a for a in m if _digit(a) is None)
    of, size = space.poly(to_poly(digit.of), rename), space._monomial(others, rename) if others else "1"
    if of is None or size is None:
        return []
    count = len(digit.values)
    up = f"{of} >= 0 and " if digit.truncated else ""
    cases = [f"({up}({of}) mod {count} = {r} and {name} = {v}*{size})" for r, v in enumerate(digit.values)]
    if digit.truncated:
        down = f"({of}) < 0 and (-({of})) mod {count}"
        cases += [f"({down} = {r} and {name} = {-v}*{size})" for r, v in enumerate(digit.values)]
    return [f"({' or '.join(cases)})"]


def _digit(e: eq.Expr) -> _Digit | None:
    match e:
        case eq.Cast(type=t, arg=a) if t.is_integer and a.type.is_integer and (t.bits or 32) >= 32:
            inner = _digit(a)
            return None if inner is None or inner.truncated else inner
        case eq.Op(name="and_", args=(x, eq.Const(value=int() as c)) | (eq.Const(value=int() as c), x)):
            if 0 < c < _MOST and x.type.is_integer:
                count = 2 if c == 1 else 4
                return _Digit(x, tuple(r & c for r in range(count)))
        case eq.Op(name="mod" | "tmod" as name, args=(x, eq.Const(value=int() as c))) if 2 <= c <= _MOST:
            return _Digit(x, tuple(range(c)), name == "tmod" and x.type.kind != "uint")
        case eq.Op(name="xor", args=(x, eq.Const(value=int() as c)) | (eq.Const(value=int() as c), x)):
            inner = _digit(x)
            if inner is not None and not inner.truncated and 0 <= c < _MOST:
                return _Digit(inner.of, tuple(v ^ c for v in inner.values))
    return None


__all__ = ["said"]
