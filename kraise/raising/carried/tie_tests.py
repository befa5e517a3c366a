"""Ties that a loop's direction decides: ``if (d < best || (d == best && j < at)) { best = d; at = j; }``.

What is kept, ``at``, is that of an earlier round or what it was before the loop. Where it grows from round to round,
``j < at`` never holds, and ``j > at`` always (the other way round where it falls): the extremum is the first one, or
the last. Side conditions, checked: it grows, or falls, with each round, and it begins on the right side of all rounds.
"""

from __future__ import annotations

from kraise.analysis.delinearize import provable
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.operations import TURNED
from kraise.ir.types import BOOL
from kraise.raising.carried.problem import Problem
from kraise.raising.writes.accumulate import holds, replacement


def untied(p: Problem, name: str, condition: eq.Expr, e: eq.Expr) -> eq.Expr:
    """``condition``, by which ``name`` is replaced by ``e``, without a test of ties that the direction decides."""
    c = p.carries[name]
    match condition:
        case eq.Op(name="or", args=(first, eq.Op(name="and", args=(eq.Op(name="eq", args=pair), tie)))):
            pass
        case eq.Op(name="or", args=(first, eq.Op(name="and", args=(tie, eq.Op(name="eq", args=pair))))):
            pass
        case _:
            return condition
    found = replacement(first, c, e)
    if found is None or not found.strict or found.where is not None or pair not in ((c, e), (e, c)):
        return condition
    for other, node in p.carries.items():
        if other != name and (always := _decided(p, other, node, condition, tie)) is not None:
            return eq.Op("le" if found.op == "min" else "ge", (e, c), BOOL) if always else first
    return condition


def _decided(p: Problem, other: str, node: eq.CarryIn, condition: eq.Expr, tie: eq.Expr) -> bool | None:
    """Whether ``tie`` holds in every round, or in none: it compares what ``other`` becomes with what it is."""
    match p.updates[other], tie:
        case eq.Op(name="select", args=(test, v, kept)), eq.Op(name=relation, args=(a, b)) if relation in TURNED:
            if test is not condition or kept is not node or holds(v, node):
                return None
        case _:
            return None
    if _number(b) is node and _number(a) is _number(v):
        pass
    elif _number(a) is node and _number(b) is _number(v):
        relation = TURNED[relation]
    else:
        return None
    new = to_poly(_number(v))
    by = new.coefficient(p.index).value
    if relation not in ("lt", "le", "gt", "ge") or not by or not new.is_affine_in((p.index.name,)):
        return None
    grows = by * p.step > 0
    beyond = new - to_poly(p.inits[other]) if grows else to_poly(p.inits[other]) - new  # from what it begins with
    above = relation in ("gt", "ge")
    closed = (relation in ("ge", "le")) == (above == grows)  # whether what it begins with may be met
    if not provable((*p.path, *p.range), beyond if closed else beyond - 1):
        return None
    return above == grows


def _number(e: eq.Expr) -> eq.Expr:
    """``e`` without conversions from one type of integers to another that is no narrower than the index."""
    while isinstance(e, eq.Cast) and e.type.is_integer and e.arg.type.is_integer:
        if e.type.kind != "int" or e.arg.type.kind != "int" or (e.type.bits or 32) < 32:
            return e
        e = e.arg
    return e


__all__ = ["untied"]
