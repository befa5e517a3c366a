"""Functions that give a second number through a pointer: ``sincosf(x, &s, &c)``, ``modff(x, &whole)``, ``frexpf(x,
&e)``."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.arithmetic import cast, is_simple
from kraise.frontends.cuda_c.values import NoValue, VarPlace
from kraise.ir.kernel import Cast, Const, Expr, Op, Var
from kraise.ir.types import BOOL, INT32, ScalarType


def sincos(low: Any, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
    x, targets = _taken(low, arguments, "angle")
    suffix = "f" if name.endswith("f") else ""
    for operation, target in zip(("sin", "cos"), targets, strict=True):
        low.write(low.element(target, None, node), low.math(operation + suffix, operation, [x], node), node)
    return NoValue()


def modf(low: Any, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
    x, targets = _taken(low, arguments, "t")
    whole = low.math("trunc", "trunc", [x], node)
    low.write(low.element(targets[0], None, node), whole, node)
    part = low.binary("-", x, whole, low.span(node))
    none = Const(0.0, part.type)  # an infinity is whole
    return Op("select", (Op("isinf", (x,), BOOL), none, part), part.type, span=low.span(node))


def frexp(low: Any, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
    x, targets = _taken(low, arguments, "t")
    fraction = low.math("sqrtf" if name.endswith("f") else "sqrt", "sqrt", [x], node)  # which type it is of
    t: ScalarType = fraction.type
    exponent = Op("exponent", (cast(x, t),), INT32, span=low.span(node))
    low.write(low.element(targets[0], None, node), exponent, node)
    return Op("fraction", (cast(x, t),), t, span=low.span(node))


def _taken(low: Any, arguments: list[Tree], hint: str) -> tuple[Expr, list[Any]]:
    """The number, as what a store through the pointers leaves alone, and the pointers."""
    x = low.scalar(arguments[0])
    targets = [low._pointer(a) for a in arguments[1:]]
    bare = x
    while isinstance(bare, Cast):
        bare = bare.arg
    places = [t.target for t in targets]
    elsewhere = all(p is None or (isinstance(p, VarPlace) and Var(p.name, p.type) != bare) for p in places)
    if not is_simple(x) or (isinstance(bare, Var) and not elsewhere):
        x = low.temporary(x, hint, arguments[0])
    return x, targets


CONCEPTS = {"sincos": sincos, "modf": modf, "frexp": frexp}
