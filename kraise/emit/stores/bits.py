"""Accumulations bit by bit: and, or and xor, which no scatter of JAX's has."""

from __future__ import annotations

from kraise.diagnostics import refuse
from kraise.emit.context import Assign, Frame
from kraise.emit.loads import subscripts as subs
from kraise.emit.lower import Lowering, dtype_text
from kraise.emit.stores import versions
from kraise.emit.text import python as py
from kraise.emit.text.python import ALL, NONE, Atom, Py
from kraise.ir import equations as eq

NAMES = ("and_", "or_", "xor")
_SYMBOLS = {"and_": "&", "or_": "|", "xor": "^"}
_PLANES = {"and_": "min", "or_": "max", "xor": "add"}


def accumulate(low: Lowering, stmt: eq.Write, frame: Frame, rest: Frame) -> None:
    """``y[s] ^= value`` over index arrays: each bit is a plane, scattered by max, min or add, then put together.

    Where no subscript moves, all values are reduced first. A lane that the mask leaves out has the neutral element.
    """
    ctx, op = low.ctx, stmt.accumulate
    kind = stmt.value.type
    if kind.bits is None or not kind.is_integer:
        raise refuse("KR306", f"no scatter that combines by {op.rstrip('_')}", stmt.span)
    value: eq.Expr = stmt.value
    if stmt.where is not None:
        value = eq.Op("select", (stmt.where, value, eq.Const(-1 if op == "and_" else 0, kind)), kind)
        if kind.kind == "uint" and op == "and_":
            raise refuse("KR306", "no scatter that combines by and under a condition", stmt.span)
    whole = (*frame, *rest)
    text = low.lower(value, whole)
    if text.axes != whole:
        text_py: Py = py.call("jnp.broadcast_to", text.py, ctx.shape_of(whole))
    else:
        text_py = text.py
    function = f"jnp.bitwise_{op.rstrip('_')}.reduce"
    if rest:
        axes = tuple(py.number(len(frame) + at) for at in range(len(rest)))
        axis = {} if len(whole) == 1 else {"axis": axes[0] if len(axes) == 1 else py.Tup(axes)}
        text_py = py.call(function, text_py, **axis)
    extents = ctx.array_extents(stmt.before, stmt.view)
    items, _ = subs.index_arrays(low, stmt.subscripts, extents, frame, stmt.safe)
    if not frame:

        def combined(base: Py) -> Py:
            at = py.Sub(base, tuple(items))
            new = py.Bin(_SYMBOLS[op], at, text_py)
            return py.method(py.Sub(py.Attr(base, "at"), tuple(items)), "set", new)

        versions.assign(low, stmt, combined)
        return
    bit = ctx.names.fresh("bit")
    ctx.emit(Assign(bit, py.call("jnp.arange", py.number(kind.bits), dtype=Atom(dtype_text(kind)))))
    one = py.Bin("&", py.Bin(">>", py.Sub(text_py, (*[ALL] * len(frame), NONE)), Atom(bit)), py.number(1))
    bits = ctx.names.fresh("bits")
    ctx.emit(Assign(bits, one))

    def make(base: Py) -> Py:
        rank = len(stmt.subscripts)
        old = py.Bin("&", py.Bin(">>", py.Sub(base, (*[ALL] * rank, NONE)), Atom(bit)), py.number(1))
        planes: Py = py.method(py.Sub(py.Attr(old, "at"), tuple(items)), _PLANES[op], Atom(bits))
        if op == "xor":
            planes = py.Bin("&", planes, py.number(1))
        return py.call("jnp.sum", py.Bin("<<", planes, Atom(bit)), axis=py.number(-1), dtype=Atom(dtype_text(kind)))

    versions.assign(low, stmt, make)
