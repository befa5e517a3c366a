"""The ``jnp`` spellings of the table of operations as templates."""

from __future__ import annotations

import ast
from functools import cache

from kraise.emit.text import python as py
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq
from kraise.ir.types import ScalarType
from kraise.ir.walk import topological

_ZEROS = (py.number(0), py.number(0.0))


@cache
def template(text: str) -> ast.expr:
    """The parsed spelling of an operation, its operands as names ``_0``, ``_1``, ``_2``."""
    for k in range(3):
        text = text.replace(f"{{{k}}}", f"_{k}")
    return ast.parse(text, mode="eval").body


def repeats(text: str) -> bool:
    """Whether a spelling holds an operand more than once."""
    return any(text.count(f"{{{k}}}") > 1 for k in range(3))


_AST_OPS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def fill(node: ast.expr, values: list[Py]) -> Py:
    """The spelling with its operands put in."""
    match node:
        case ast.Name(id=name):
            return values[int(name[1:])] if name[0] == "_" else Atom(name)
        case ast.Constant(value=value):
            return py.number(value)  # type: ignore[arg-type]
        case ast.Attribute():
            return Atom(ast.unparse(node))
        case ast.Call(func=func, args=args):
            return py.Call(fill(func, values), tuple(fill(a, values) for a in args))
        case ast.Subscript(value=array, slice=at):
            return py.Sub(fill(array, values), (fill(at, values),))
        case ast.BinOp(op=op, left=left, right=right):
            return py.Bin(_AST_OPS[type(op)], fill(left, values), fill(right, values))
        case ast.UnaryOp(operand=operand):
            return py.Un("-", fill(operand, values))
    raise TypeError(ast.dump(node))


def plain(name: str, args: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
    """The operands of an operation without conversions that JAX makes by itself."""
    if len(args) == 2:
        if name == "add":
            first = _counted(*args)
            args = (first, _counted(args[1], first))  # one of two conditions: JAX's sum of both is whether any holds
        if name in ("add", "sub", "mul", "div"):
            args = tuple(_unconverted(a, b) for a, b in zip(args, args[::-1], strict=True))
    return args


def _counted(arg: eq.Expr, other: eq.Expr) -> eq.Expr:
    """``c`` for ``1 if c else 0`` that is added to a number."""
    match arg:
        case eq.Op(name="select", args=(c, eq.Const(value=1), eq.Const(value=0)), type=kind):
            if kind.is_integer and other.type.kind != "bool":
                return c
    return arg


def _unconverted(arg: eq.Expr, other: eq.Expr) -> eq.Expr:
    """``n`` for ``float(n)`` beside fractions of an array: JAX makes a whole number one of the array's type."""
    match arg:
        case eq.Cast(type=kind, arg=number) if kind.is_inexact and kind == other.type and _sized(other):
            known = all(isinstance(n, eq.Const | eq.Param | eq.Shape | eq.Op) for n in topological((number,)))
            narrow = number.type.kind == "int" and number.type.bits in (None, 32)
            return number if known and narrow and not isinstance(number, eq.Const) else arg
    return arg


def _sized(e: eq.Expr) -> bool:
    """Whether a value has its type of an array, not of a number that takes the type of what it meets."""
    match e:
        case eq.Read():
            return True
        case eq.Op(name="select", args=(_, a, b)):
            return _sized(a) or _sized(b)
        case eq.Op(args=args):
            return any(a.type == e.type and _sized(a) for a in args)
        case eq.Reduce(body=body):
            return body.type == e.type and _sized(body)
    return False


def transposed(array: Py, order: tuple[int, ...]) -> Py:
    """``array`` with its axes in another order."""
    if order == tuple(reversed(range(len(order)))) and len(order) == 2:
        return py.Attr(array, "T")
    return py.call("jnp.transpose", array, py.Tup(tuple(py.number(k) for k in order)))


def dtype_text(kind: ScalarType) -> str:
    """The spelling of an element type as a dtype."""
    if kind.kind == "bool":
        return "bool"
    if kind.bits is None:
        return {"int": "int", "float": "float", "complex": "complex"}.get(kind.kind, "float")
    return f"jnp.{kind}"


def wide(number: eq.Const) -> bool:
    """Whether an integer is beyond 32 bits: as a weak number it would have no value without 64 bits."""
    return number.type.is_integer and not -(2**31) <= int(number.value.real) < 2**31


def beyond_weak(number: eq.Const) -> bool:
    """Whether a number of an unsigned type is one that a weak integer of 32 bits cannot hold."""
    return number.type.kind == "uint" and int(number.value.real) >= 2**31


def of_numbers(name: str, args: tuple[eq.Expr, ...], texts: list[Py]) -> Py | None:
    """An operation of two numbers which Python itself refuses or makes complex, as floats have it; None for others."""
    if name in ("div", "mod", "floordiv") and texts[1] in _ZEROS and isinstance(args[0], eq.Const):
        return py.call({"div": "jnp.divide", "mod": "jnp.mod"}.get(name, "jnp.floor_divide"), *texts)
    if name == "pow" and not _is_real_power(*args):
        return py.call("jnp.power", *texts)
    return None


def _is_real_power(base: eq.Expr, exponent: eq.Expr) -> bool:
    """Whether Python's own power of two numbers is the floats': not complex, and no exception."""
    if not isinstance(base, eq.Const) or not isinstance(exponent, eq.Const):
        return True
    try:
        return isinstance(base.value**exponent.value, int | float)
    except ArithmeticError:
        return False
