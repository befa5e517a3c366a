"""Comparisons of two indices: a diagonal or a triangle of a matrix."""

from __future__ import annotations

from kraise.emit.context import Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq
from kraise.ir.operations import TURNED


def offset(node: eq.Expr, frame: Frame) -> tuple[str, eq.Axis, eq.Axis, int] | None:
    """``(op, a, b, k)`` for a comparison ``b op a + k`` of the places of two of the frame's indices with step 1, whose
    starts differ by a number.

    ``op`` is "le", "gt", "eq" or "ne"; ``a`` comes before ``b`` in the frame.
    """
    if not (isinstance(node, eq.Op) and node.name in ("lt", "le", "gt", "ge", "eq", "ne")):
        return None
    difference = linear(node.args[0]) - linear(node.args[1])  # difference op 0
    terms = dict(difference.terms)
    if len(terms) != 2 or sorted(terms.values()) != [-1, 1]:
        return None
    names = {a.name: c for a, c in terms.items() if isinstance(a, eq.Index)}
    pair = tuple(x for x in frame if x.name in names)
    if len(names) != 2 or len(pair) != 2:
        return None
    a, b = pair
    starts = linear(b.lo) - linear(a.lo)
    if starts.terms or not all(x.step == 1 for x in pair):
        return None
    # difference = s * (b - a) + c
    s, c, op = names[b.name], difference.constant, node.name
    if s < 0:
        c = -c
        op = TURNED.get(op, op)
    c += starts.constant
    # now, of places,  b - a + c  op  0
    match op:
        case "le" | "gt" | "eq" | "ne":
            return op, a, b, -c
        case "lt":
            return "le", a, b, -c - 1
        case _:
            return "gt", a, b, -c - 1


def triangle(low: Lowering, node: eq.Expr, frame: Frame) -> Val | None:
    """``jnp.eye`` or ``jnp.tri`` for a comparison of two indices, else None."""
    found = offset(node, frame)
    if found is None:
        return None
    op, a, b, k = found
    if low.ctx.size(a) is None or low.ctx.size(b) is None:
        return None
    rows, columns = low.ctx.extent(a), low.ctx.extent(b)
    size: tuple[Py, ...] = (rows,) if rows == columns else (rows, columns)
    extra: dict[str, Py] = {"k": py.number(k)} if k else {}
    shape = "jnp.eye" if op in ("eq", "ne") else "jnp.tri"
    text: Py = py.call(shape, *size, **extra, dtype=Atom("bool"))
    if op in ("ne", "gt"):
        text = py.Un("~", text)
    return low.extend(text, (a, b), frame)


def triangular_part(low: Lowering, where: eq.Expr, body: eq.Expr, frame: Frame) -> Py | None:
    """``jnp.tril(A)``/``jnp.triu(A)`` of a body whose axes are exactly the two of the comparison ``where``."""
    found = offset(where, frame)
    if found is None or len(frame) != 2 or not {a.name for a in frame} <= low.ctx.free(body):
        return None
    op, _, _, k = found
    if op not in ("le", "gt"):
        return None
    value = low.lower(body, frame).py
    diagonal = k if op == "le" else k + 1
    extra: tuple[Py, ...] = (py.number(diagonal),) if diagonal else ()
    return py.call("jnp.tril" if op == "le" else "jnp.triu", value, *extra)
