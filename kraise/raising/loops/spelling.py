"""Expressions of the source but for their spelling: integers as polynomials, other operations by their operands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kraise.analysis.poly import Poly, constant, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import INT

_FREE = ("add", "mul", "min", "max")  # of which the order of operands does not matter
Form = Any  # what two expressions have in common where they are one but for their spelling


def local(name: str) -> eq.Param:
    return atom(("var", name))


def atom(form: Form) -> eq.Param:
    return eq.Param(repr(form), INT)


def poly_of(e: k.Expr, known: Mapping[str, Any]) -> Poly:
    """An integer expression in normal form; ``known``: what locals are (expressions, or forms)."""
    match e:
        case k.Const(value=int(value)):
            return constant(int(value))
        case k.Var(name=name) if name in known:
            found = known[name]
            if not isinstance(found, tuple):
                return poly_of(found, known)
            return found[1] if found[0] == "int" else to_poly(atom(found))
        case k.Op(name="add", args=(a, b)):
            return poly_of(a, known) + poly_of(b, known)
        case k.Op(name="sub", args=(a, b)):
            return poly_of(a, known) - poly_of(b, known)
        case k.Op(name="mul", args=(a, b)):
            return poly_of(a, known) * poly_of(b, known)
        case k.Op(name="neg", args=(a,)):
            return -poly_of(a, known)
        case k.Op(name="invert", args=(a,), type=t) if t.kind == "int":
            return -poly_of(a, known) - 1
        case k.Op(name="shl", args=(a, k.Const(value=int(by)))) if 0 <= by < 31:
            return poly_of(a, known) * 2**by
        case k.Cast(type=t, arg=a) if (
            t.is_integer and a.type.is_integer and (t.bits or 32) >= 32 <= (a.type.bits or 32)
        ):
            return poly_of(a, known)
    return to_poly(atom(_opaque(e, known)))


def form_of(e: k.Expr, known: Mapping[str, Any]) -> Form:
    if e.type.is_integer:
        return ("int", poly_of(e, known))
    if isinstance(e, k.Var) and isinstance(known.get(e.name), tuple):
        return known[e.name]
    return _opaque(e, known)


def _opaque(e: k.Expr, known: Mapping[str, Any]) -> Form:
    match e:
        case k.Const(value=value, type=t):
            return ("const", value, t.kind)
        case k.Var(name=name):
            return ("var", name)
        case k.Hw(kind=kind, axis=axis):
            return ("hw", kind, axis)
        case k.Op(name=name, args=args):
            forms = tuple(form_of(a, known) for a in args)
            return (name, *(sorted(forms, key=repr) if name in _FREE else forms))
        case k.Cast(type=t, arg=a):
            return ("cast", t.kind, t.bits, form_of(a, known))
        case k.Load(array=array, subscripts=subs):
            return ("load", array, *(form_of(x, known) for x in subs))
        case k.Shape(array=array, axis=axis):
            return ("shape", array, axis)
    return ("other", repr(e))


__all__ = ["Form", "atom", "form_of", "local", "poly_of"]
