"""Functions of CUDA's device library that are more than one operation (``libdevice.fdim``, ``cuda.brev``)."""

from __future__ import annotations

from collections.abc import Callable

from kraise.diagnostics import Span
from kraise.frontends.python import expressions as ex
from kraise.ir.kernel import Cast, Const, Expr
from kraise.ir.types import BY_NAME, FLOAT, INT32, UINT32, ScalarType

Made = Callable[..., Expr]  # of the operands and the span of the call


def _fdim(a: Expr, b: Expr, span: Span | None) -> Expr:
    return ex.op("max", ex.op("sub", a, b, span=span), Const(0.0, FLOAT, span=span), span=span)


def _saturate(x: Expr, span: Span | None) -> Expr:
    low = ex.op("max", x, Const(0.0, FLOAT, span=span), span=span)
    return ex.op("min", low, Const(1.0, FLOAT, span=span), span=span)


def _reciprocal(x: Expr, span: Span | None) -> Expr:
    return ex.op("div", Const(1.0, FLOAT, span=span), x, span=span)


def _normcdf(x: Expr, span: Span | None) -> Expr:
    scaled = ex.op("mul", x, Const(-0.7071067811865476, FLOAT, span=span), span=span)
    return ex.op("mul", Const(0.5, FLOAT, span=span), ex.op("erfc", scaled, span=span), span=span)


def _scaled(x: Expr, n: Expr, span: Span | None) -> Expr:
    two = Const(2.0, FLOAT, span=span)
    return ex.op("mul", x, ex.op("pow", two, n, span=span), span=span)


def _of_pi(name: str) -> Made:
    def made(x: Expr, span: Span | None) -> Expr:
        pi = Const(3.141592653589793, FLOAT, span=span)
        return ex.op(name, ex.op("mul", x, pi, span=span), span=span)

    return made


def _as(type_: ScalarType, rounding: str = "") -> Made:
    """A conversion; a float is rounded before (a conversion to an integer cuts its fraction off)."""

    def made(x: Expr, span: Span | None) -> Expr:
        return Cast(type_, ex.op(rounding, x, span=span) if rounding else x, span=span)

    return made


def _find_first_set(x: Expr, span: Span | None) -> Expr:
    """One plus the position of the lowest set bit, 0 for 0."""
    lowest = ex.op("and_", x, ex.op("neg", x, span=span), span=span)
    below = ex.op("popcount", ex.op("sub", lowest, ex.integer(1, span), span=span), span=span)
    found = ex.op("add", below, ex.integer(1, span), span=span)
    zero = ex.integer(0, span)
    return ex.op("select", ex.op("eq", x, zero, span=span), zero, found, span=span)


def _bit_reverse(x: Expr, span: Span | None) -> Expr:
    """The 32 bits in the other order: neighbours swapped, then pairs, …"""
    x = Cast(UINT32, x, span=span)
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        bits, by = Const(mask, UINT32, span=span), Const(shift, UINT32, span=span)
        low = ex.op("shl", ex.op("and_", x, bits, span=span), by, span=span)
        high = ex.op("and_", ex.op("shr", x, by, span=span), bits, span=span)
        x = ex.op("or_", low, high, span=span)
    return x


DEVICE: dict[str, tuple[int, Made]] = {
    "fdim": (2, _fdim),
    "saturate": (1, _saturate),
    "reciprocal": (1, _reciprocal),
    "normcdf": (1, _normcdf),
    "scaled": (2, _scaled),
    "sinpi": (1, _of_pi("sin")),
    "cospi": (1, _of_pi("cos")),
    "float32": (1, _as(BY_NAME["float32"])),
    "float64": (1, _as(BY_NAME["float64"])),
    "int.down": (1, _as(INT32, "floor")),
    "int.up": (1, _as(INT32, "ceil")),
    "int.nearest": (1, _as(INT32, "round")),
    "int.cut": (1, _as(INT32, "trunc")),
    "find_first_set": (1, _find_first_set),
    "bit_reverse": (1, _bit_reverse),
}
