"""Memory in another form: bytes as elements, rows as flat memory, flat memory as rows."""

from __future__ import annotations

from kraise.diagnostics import Span
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT, NUMBER


def elements(bytes_: k.Expr, size: int) -> k.Expr:
    """Bytes as a number of elements."""
    match bytes_:
        case k.Cast(arg=arg, type=kind) if kind.is_integer:
            return elements(arg, size)
        case k.Const(value=value) if not int(value.real) % size:
            return k.Const(int(value.real) // size, INT)
        case (
            k.Op(name="mul", args=(k.Const(value=value), other)) | k.Op(name="mul", args=(other, k.Const(value=value)))
        ):
            factor, rest = divmod(int(value.real), size)
            while isinstance(other, k.Cast) and other.type.is_integer:
                other = other.arg
            if not rest:
                return other if factor == 1 else k.Op("mul", (k.Const(factor, INT), other), INT)
    return k.Op("floordiv", (bytes_, k.Const(size, INT)), INT)


def flat(e: h.Expr) -> h.Library:
    """Rows as flat memory."""
    return h.Library("ravel", (e,), NUMBER, True, "{0}.ravel()", "linear")


def seen_as(e: h.Expr, rows: tuple[k.Expr, ...], span: Span | None) -> h.Library:
    """Flat memory as rows of these extents."""
    extents = ", ".join(f"{{{n + 1}}}" for n in range(len(rows)))
    shapes = tuple(range(1, len(rows) + 1))
    return h.Library(
        "rows", (e, *rows), NUMBER, True, f"{{0}}.reshape(-1, {extents})", "linear", shapes=shapes, span=span
    )
