"""Operations on integers that are known."""

from __future__ import annotations

from kraise.ir.types import INT, ScalarType


def fits(value: int, type: ScalarType) -> bool:
    """Whether an integer is one of the type."""
    if type.bits is None:
        return type == INT
    low, high = (0, 2**type.bits) if type.kind == "uint" else (-(2 ** (type.bits - 1)), 2 ** (type.bits - 1))
    return low <= value < high


def _truncated(x: int, y: int) -> int:
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def folded(name: str, values: tuple[int, ...]) -> int | None:
    """The value of an operation on integers; None where it has none or is not folded."""
    match name, values:
        case "add", (x, y):
            return x + y
        case "sub", (x, y):
            return x - y
        case "mul", (x, y):
            return x * y
        case "floordiv", (x, y) if y:
            return x // y
        case "mod", (x, y) if y:
            return x % y
        case "tdiv", (x, y) if y:
            return _truncated(x, y)
        case "tmod", (x, y) if y:
            return x - y * _truncated(x, y)
        case "neg", (x,):
            return -x
        case "invert", (x,):
            return ~x
        case "abs", (x,):
            return abs(x)
        case "pow", (x, y) if 0 <= y <= 64:
            return x**y
        case "bit_length", (x,) if x >= 0:
            return x.bit_length()
        case "and_", (x, y):
            return x & y
        case "or_", (x, y):
            return x | y
        case "xor", (x, y):
            return x ^ y
        case "shl", (x, y) if 0 <= y < 64:
            return x << y
        case "shr", (x, y) if 0 <= y < 64:
            return x >> y
        case "min", (x, y):
            return min(x, y)
        case "max", (x, y):
            return max(x, y)
    return None


__all__ = ["fits", "folded"]
