"""Operands of operations on integers: what JAX would give another type keeps its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraise.diagnostics import refuse
from kraise.emit.context import Context, Frame, Val
from kraise.emit.loads.tables import entry
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.names import identifier
from kraise.emit.text.python import Atom, Py
from kraise.emit.text.spelling import beyond_weak, wide
from kraise.ir import equations as eq
from kraise.ir.operations import BITWISE, OPERATIONS, counts_bits
from kraise.ir.types import FLOAT32, FLOAT64, INT, INT32, INT64, UINT32, UINT64
from kraise.ir.walk import is_unsigned_size, topological

if TYPE_CHECKING:
    from kraise.emit.lower import Lowering


def in_order(low: Lowering, args: tuple[eq.Expr, ...], frame: Frame) -> None:
    """Lowers what a comparison has and the source named in the order in which it did: variables are made in its order,
    and gradients are summed up in that order (measured on the larger of two neighbours: 0.6 of the time)."""
    named = [n for a in args if (n := low.ctx.wishes.get(a)) is not None and n.span is not None]
    if len(named) > 1:
        for n in sorted(named, key=lambda n: n.span.line):  # type: ignore[union-attr]
            low.lower(n.expr, frame)


def operand(low: Lowering, arg: eq.Expr, parent: eq.Op, frame: Frame) -> Val:
    """An operand; a constant of an unsigned type that a weak integer cannot hold keeps its type, and unsigned sizes
    have the type of what is computed from them (``(int)n - 5`` may be negative)."""
    kind = parent.type
    open_kind = parent.name in ("min", "max", "select") and kind.kind == "number"
    if open_kind and _below_zero(arg) and not any(map(_fractional, parent.args)):  # an array may hold what has no sign
        return Val(py.call("jnp.int_", low.constant(arg)), (), 0)  # type: ignore[arg-type]
    if isinstance(arg, eq.Const) and keeps_width(arg, parent):
        return Val(py.call(f"jnp.{arg.type}", low.constant(arg)), (), 0)  # the source's own width, whatever it meets
    if isinstance(arg, eq.Const) and arg.type.kind == "uint" and int(arg.value.real) >= 2**31:
        return Val(py.call(f"jnp.{arg.type}", low.constant(arg)), (), 0)
    if isinstance(arg, eq.Const) and arg.type == INT and not -(2**63) <= int(arg.value.real) < 2**63:
        reason = f"{arg.value} is more than an integer of 64 bits holds, and JAX has none with more"
        raise refuse("KR303", reason, hint="compute in np.uint64: np.uint64(0xff…), and start from np.uint64(seed)")
    if isinstance(arg, eq.Const) and wide(arg):
        kind = kind if kind.kind == "uint" and kind.bits == 32 else arg.type
        return Val(py.call(f"jnp.{kind if kind.bits else INT64}", low.constant(arg)), (), 0)
    known = (32,) if low.ctx.free(parent) else (32, 64)  # 64 unsigned bits beside an index would be a float
    if isinstance(arg, eq.Param) and arg.type.kind == "uint" and arg.type.bits in known:
        text = Atom(low.ctx.param_text(arg.name))
        if kind.kind == "int" and (kind.bits or arg.type.bits == 64):
            return Val(py.call(f"jnp.{kind if kind.bits else INT64}", text), (), 0)
        if kind.kind != "int":
            kind = kind if kind.kind == "uint" and kind.bits in (32, 64) else arg.type
            return Val(py.call(f"jnp.{kind}", text), (), 0)
    if isinstance(arg, eq.Param) and arg.type == kind and kind.is_integer and kind.bits in (8, 16):
        return Val(py.call(f"jnp.{kind}", Atom(low.ctx.param_text(arg.name))), (), 0)  # what is given may be wider
    value = low.lower(arg, frame)
    if isinstance(arg, eq.Read) and arg.type in (UINT32, UINT64) and entry(low.ctx.tables, arg) is not None:
        return Val(py.call(f"jnp.{arg.type}", value.py), (), 0)  # one of Python's numbers, which do not wrap
    if kind.kind == "int" and not counts_bits(parent.name, arg.type, kind) and _of_unsigned_sizes(low, arg):
        common = kind if kind.bits else INT64 if low.ctx.x64 else INT32
        return Val(py.call("jnp.asarray", value.py, Atom(f"jnp.{common}")), (), 0)
    return value


def keeps_width(arg: eq.Expr, parent: eq.Op) -> bool:
    """Whether it is a number to which the source gives 64 bits (``np.uint64(13)``), beside one of an open type: so many
    has the result, whatever integers it meets."""
    open_kind = parent.type.kind == "number" and parent.name in _MODULAR
    return open_kind and isinstance(arg, eq.Const) and arg.type in (INT64, UINT64)


_MODULAR = ("add", "sub", "mul", "shl", "shr", *BITWISE)


def _below_zero(arg: eq.Expr) -> bool:
    return isinstance(arg, eq.Const) and isinstance(arg.value, int) and arg.value < 0


def _fractional(e: eq.Expr) -> bool:
    """Whether a value is no integer whatever the arguments hold."""
    match e:
        case eq.Op(name="select", args=(_, *arms)):
            return any(map(_fractional, arms))
        case eq.Op(name=name, args=args):
            row = OPERATIONS.get(name)
            inexact = e.type.is_inexact or (row is not None and row.result == "inexact")
            return inexact or any(map(_fractional, args))
        case eq.Reduce(body=body) | eq.Scan(body=body):
            return _fractional(body)
    return e.type.is_inexact


def literal(low: Lowering, node: eq.Const) -> Val:
    """A number; one of an unsigned type that a weak integer cannot hold has its type."""
    text = low.constant(node)
    return Val(py.call(f"jnp.{node.type}", text) if beyond_weak(node) else text, (), 0)


def _of_unsigned_sizes(low: Lowering, arg: eq.Expr) -> bool:
    """Whether sizes are computed with in an unsigned type, in which they must not meet what is negative."""
    if not isinstance(arg, eq.Op) or arg.type.kind != "uint" or low.ctx.free(arg):
        return False
    return any(map(is_unsigned_size, topological((arg,))))


def as_floats(low: Lowering, node: eq.Cast, frame: Frame) -> Val | None:
    """An index as floats: ``jnp.arange(n, dtype=jnp.float32)`` fuses where integers are made first; None where it is
    another value, used twice, or made anew in each round of a loop."""
    arg = node.arg
    if not isinstance(arg, eq.Index) or node.type not in (FLOAT32, FLOAT64):
        return None
    if low.ctx.uses[node] != 1 or len(low.ctx.blocks) > 1:
        return None
    for axis in (a for a in frame if a.name == arg.name and a.step == 1 and linear(a.lo).same(Linear())):
        text = py.call("jnp.arange", low.ctx.extent(axis), dtype=Atom(f"jnp.{node.type}"))
        return low.extend(text, (axis,), frame)
    return None


def named(context: Context, node: eq.Const) -> Py:
    """A constant of the module by its name; a whole number that JAX would not take beside floats as a float."""
    large = node.type.kind == "float" and abs(node.value.real) >= 2**31
    name = Atom(identifier(node.name))
    return py.call("float", name) if large and node.name in context.integral else name
