"""Values whose type is open until the call: what is an integer, or a boolean, if the arrays of it hold ones.

Python's ``s = 0.0; s += a[i]`` sums bytes as floats, and JAX's ``a[:-1] + a[1:]`` sums them as bytes, which wrap; two
booleans added are one boolean in JAX. Beside a number of Python's own the sum keeps the type of an array of floats:
``1.0 * a`` is an array of floats for every ``a``, and ``a`` itself (bit for bit) where that holds floats already.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from kraise.ir import equations as eq
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import FLOAT, INT, NUMBER, ScalarType

_ONE: dict[ScalarType | None, eq.Const] = {FLOAT: eq.Const(1.0, FLOAT), INT: eq.Const(1, INT)}


@lru_cache(maxsize=1 << 14)  # expressions share parts
def is_open(e: eq.Expr) -> bool:
    """Whether a value may be an integer or a boolean, by what its arrays hold, and JAX computes with it as one."""
    match e:
        case _ if e.type != NUMBER:
            return False
        case eq.Op(name="select", args=(_, *arms)):
            return all(is_open(a) or not _inexact(a) for a in arms)
        case eq.Op(name=name, args=args):
            row = OPERATIONS.get(name)
            if row is not None and row.result == "inexact":
                return False
            return not any(_inexact(a) for a in args)
        case eq.Reduce(body=body):
            return is_open(body)
    return isinstance(e, eq.Read | eq.Scan | eq.CarryIn | eq.Param)


def _inexact(e: eq.Expr) -> bool:
    return e.type.is_inexact or (e.type == NUMBER and not is_open(e))


def like(kind: ScalarType | None, e: eq.Expr) -> eq.Expr:
    """``e`` as what is added to a number of type ``kind`` of Python's: as floats, or at least as integers."""
    if e.type.kind == "bool":
        return eq.Cast(INT, e)
    if isinstance(e, eq.Op) and e.name == "neg" and kind == FLOAT and is_open(e):
        return eq.Op("mul", (eq.Const(-1.0, FLOAT), *e.args), e.type)
    return eq.Op("mul", (_ONE[kind], e), e.type) if kind in _ONE and is_open(e) else e


def in_floats(node: eq.Reduce) -> bool:
    """Whether a float sums up what may be integers, of which JAX would make integers of the same width."""
    return node.op == "add" and node.type == FLOAT and is_open(node.body)


def floats(e: eq.Expr) -> eq.Expr:
    """An open value as floats, of a product the first factor."""
    match e:
        case eq.Op(name="mul", args=(a, b)) if is_open(a):
            return eq.Op("mul", (floats(a), b), e.type)
    return eq.Op("mul", (_ONE[FLOAT], e), e.type)


def with_floats(node: eq.Reduce) -> eq.Reduce:
    """The sum as one of floats where JAX would add integers in their own width."""
    return replace(node, body=floats(node.body)) if in_floats(node) else node


def kind_of(init: eq.Expr) -> ScalarType | None:
    """The type of :func:`like` for a sum that begins with ``init``; None where that is open, too."""
    if init.type.is_inexact:
        return FLOAT if init.type.kind == "float" else None
    return INT if init.type.is_integer or init.type.kind == "bool" else None
