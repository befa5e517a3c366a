"""Short ways to write equations by hand, for tests."""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.types import BOOL, FLOAT64, INT32, ScalarType
from kraise.raising.run.simplify import conjunction, negation

N = eq.Param("n", INT32)
i, j, k, t = (eq.Index(name, INT32) for name in "ijkt")


def const(value: bool | int | float) -> eq.Const:
    """A constant of the type that a test means by the Python value."""
    kind = BOOL if isinstance(value, bool) else INT32 if isinstance(value, int) else FLOAT64
    return eq.Const(value, kind)


def axis(name: str, hi: eq.Expr = N, lo: int = 0) -> eq.Axis:
    return eq.Axis(name, const(lo), hi)


I, J, K = axis("i"), axis("j"), axis("k")  # noqa: E741


def op(name: str, *args: eq.Expr | float) -> eq.Expr:
    """An operation, float unless it compares; numbers become constants like the other operand."""
    nodes = [a for a in args if not isinstance(a, bool | int | float)]
    floats = any(a.type.is_inexact for a in nodes)
    full = tuple(
        const(float(a) if floats and not isinstance(a, bool) else a) if isinstance(a, bool | int | float) else a
        for a in args
    )
    kind = BOOL if name in ("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "isnan", "isfinite") else None
    return eq.Op(name, full, kind or (FLOAT64 if floats or name == "div" else full[-1].type))


def select(c: eq.Expr, a: eq.Expr | float, b: eq.Expr | float) -> eq.Expr:
    return op("select", c, a, b)


def read(array: str, *subscripts: eq.Expr, type: ScalarType = FLOAT64, version: int = 0) -> eq.Expr:
    return eq.Read(eq.Version(array, version), subscripts, type)


def reduce(body: eq.Expr, axes: tuple[eq.Axis, ...] = (J,), where: eq.Expr | None = None, op: str = "add") -> eq.Expr:
    return eq.Reduce(op, axes, body, where, body.type)


def write(
    value: eq.Expr, axes: tuple[eq.Axis, ...] = (I,), where: eq.Expr | None = None, array: str = "y", number: int = 0
) -> eq.Write:
    """``array[axes] = value``, from version ``number`` to the next."""
    subscripts = tuple(eq.Index(a.name, INT32) for a in axes)
    return eq.Write(eq.Version(array, number), eq.Version(array, number + 1), axes, subscripts, value, where)


def kernel(
    *body: eq.Stmt, returns: tuple[eq.Version | eq.Expr, ...] = (eq.Version("y", 1),), **more: object
) -> eq.Kernel:
    return eq.Kernel("f", (), body, returns, **more)  # type: ignore[arg-type]


__all__ = [
    "N", "I", "J", "K", "i", "j", "k", "t", "axis", "const", "op", "select", "read", "reduce", "write", "kernel",
    "conjunction", "negation",
]  # fmt: skip
