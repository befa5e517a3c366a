"""``sum(s * exp(m - n))``, where each s is a sum relative to an extremum m of its own, as one sum relative to n: what
the threads of a block have added up in one pass each, put together by two plain trees.

Side conditions, each checked: all terms of s have one factor ``exp(… - m)``, and m is an extremum of floats, as n is.
(Where m is that of nothing, s is the sum of nothing, and both are 0.)
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import equations as eq
from kraise.ir.walk import substitute
from kraise.raising.carried.rescaled import power_of
from kraise.raising.writes.accumulate import holds

_SIGNS = {"max": -1, "min": 1}


def in_one(node: eq.Reduce) -> eq.Reduce:
    """The sum with its terms relative to the common extremum, where they are products of that kind."""
    body = node.body
    if node.op != "add" or not isinstance(body, eq.Op) or body.name != "mul":
        return node
    for terms, e in (body.args, body.args[::-1]):
        if not isinstance(e, eq.Op) or e.name not in ("exp", "exp2"):
            continue
        match e.args[0]:
            case eq.Op(name="sub", args=(a, b)):
                ways = [(a, b), (b, a)]
            case _:
                continue
        for own, common in ways:
            sign = _SIGNS.get(own.op if isinstance(own, eq.Reduce) else own.name if isinstance(own, eq.Op) else "")
            if sign is None or (own is a) != (sign < 0) or not isinstance(common, eq.Reduce | eq.Op):
                continue
            kind = common.op if isinstance(common, eq.Reduce) else common.name
            if _SIGNS.get(kind) == sign and not holds(common, own) and power_of(terms, own) == (e.name, sign, ()):
                return replace(node, body=substitute(terms, {own: common}))
    return node


__all__ = ["in_one"]
