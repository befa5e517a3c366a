"""Conditions taken apart: the parts that must all hold, and the sums of sizes and indices that they bound."""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.text.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT

Masks = tuple[eq.Expr, ...]
_NEGATED = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}


def zero(node: eq.Expr) -> bool:
    """Whether a value is the constant 0."""
    return isinstance(node, eq.Const) and not isinstance(node.value, bool) and node.value == 0


def conjuncts(condition: eq.Expr) -> Masks:
    """The parts of a condition that must all hold."""
    match condition:
        case eq.Op(name="and", args=args):
            return tuple(dict.fromkeys(p for a in args for p in conjuncts(a)))
        case eq.Op(name="not", args=(eq.Op(name="or", args=args),)):
            return tuple(dict.fromkeys(p for a in args for p in conjuncts(negated(a))))
        case eq.Op(name="not", args=(eq.Op() as a,)) if negated(a) is not condition:
            return (negated(a),)
    return (condition,)


def negated(condition: eq.Expr) -> eq.Expr:
    """Not ``condition``; a comparison of integers is turned round."""
    match condition:
        case eq.Op(name="not", args=(a,)):
            return a
        case eq.Op(name=name, args=(a, b)) if name in _NEGATED and a.type.is_integer and b.type.is_integer:
            return eq.Op(_NEGATED[name], (a, b), BOOL)
    return eq.Op("not", (condition,), BOOL)


def positive(mask: eq.Expr) -> tuple[Linear, ...]:
    """The sums of sizes and indices of which a comparison says that they are not negative; () for other masks."""
    match mask:
        case eq.Op(name="lt" | "le" | "gt" | "ge" | "eq" as name, args=(a, b)):
            if not (a.type.is_integer and b.type.is_integer):
                return ()
            up = number(linear(b) - linear(a))
            if not all(isinstance(x, eq.Index) or is_static(x) or _of_block(x) or power(x) for x, _ in up.terms):
                return ()
            if name == "eq":
                return up, -up
            return (up + -(name == "lt") if name in ("lt", "le") else -up + -(name == "gt"),)
    return ()


def _of_block(atom: eq.Expr) -> bool:
    """Whether a value is the place of a block: its number times its size."""
    match atom:
        case eq.Op(name="mul", args=(eq.Index(), size)):
            return is_static(size)
    return False


def power(atom: eq.Expr) -> str:
    """The index k of a power of two, ``1 << k``; "" for other values."""
    match atom:
        case eq.Op(name="shl", args=(eq.Const(value=1), eq.Index(name=name))):
            return name
    return ""


def number(form: Linear) -> Linear:
    """The sum with named constants as the numbers that they are, and the places of blocks in one type."""
    out = Linear((), form.constant)
    for atom, c in form.terms:
        if isinstance(atom, eq.Const) and isinstance(atom.value, int):
            out += atom.value * c
        elif isinstance(atom, eq.Op) and _of_block(atom):
            out += Linear(((eq.Op("mul", (eq.Index(atom.args[0].name, INT), atom.args[1]), INT), c),))  # type: ignore[union-attr]
        else:
            out += Linear(((atom, c),))
    return out


def is_static(atom: eq.Expr) -> bool:
    """Whether a value is made of integer parameters, shapes and constants."""
    return all(isinstance(n, eq.Param | eq.Shape | eq.Const | eq.Op) and n.type.is_integer for n in tree.walk(atom))
