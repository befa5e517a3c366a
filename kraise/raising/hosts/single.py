"""Integers and tests that a host makes of floats it sets itself: ``float dt = 0.1f; int steps = (int)(0.3f / dt);`` is
3, and ``dt == 0.1`` does not hold.

In the emitted text such floats are Python's, of 64 bits, and ``int(0.3 / 0.1)`` is 2. Where the width makes a
difference the integer, or what the test gives, is known here. Side condition: every number in it is a literal or a name
that is set once, to such a number. What parameters make is taken as Python computes it.
"""

from __future__ import annotations

import math
import operator
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import flat
from kraise.ir.host_names import sets
from kraise.ir.types import ScalarType

_ARITHMETIC: dict[str, Callable[..., float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "floor": math.floor,
    "ceil": math.ceil,
}
_COMPARED: dict[str, Callable[..., bool]] = {n: getattr(operator, n) for n in ("lt", "le", "gt", "ge", "eq", "ne")}
Both = tuple[float, float]  # a number as the source has it, and as Python has it


def in_single(host: h.Host) -> h.Host:
    """The host with the integers that 64 bits would get wrong."""
    body = list(flat(host.body))
    times = Counter(n for s in body for n in sets(s)) + Counter(p.name for p in host.params)
    known: dict[str, Both] = {}
    for s in body:
        if isinstance(s, h.Assign) and times[s.name] == 1:
            found = _numbers(s.value, known)
            if found is not None:
                known[s.name] = (_wide(found[0], s.type), found[1])
    return _rewritten(host, known)


def _rewritten(node: Any, known: dict[str, Both]) -> Any:
    if isinstance(node, tuple):
        new = tuple(_rewritten(n, known) for n in node)
        return new if any(a is not b for a, b in zip(new, node, strict=True)) else node
    if not is_dataclass(node) or isinstance(node, ScalarType | type):
        return node
    if isinstance(node, k.Cast) and node.type.is_integer and not node.arg.type.is_integer:
        both = _numbers(node.arg, known)
        if both is not None and int(both[0]) != int(both[1]):
            return k.Const(int(both[0]), node.type, span=node.span)
    if isinstance(node, k.Op) and node.name in _COMPARED:
        a, b = (_numbers(x, known) for x in node.args)
        if a is not None and b is not None:
            holds, pythons = (_COMPARED[node.name](a[at], b[at]) for at in (0, 1))
            if holds is not pythons:
                return k.Const(holds, node.type, span=node.span)
    changed = {
        f.name: new
        for f in fields(node)
        if f.name not in ("span", "type") and (new := _rewritten(old := getattr(node, f.name), known)) is not old
    }
    return replace(node, **changed) if changed else node


def _numbers(e: object, known: dict[str, Both]) -> Both | None:
    try:
        return _both(e, known)
    except (ArithmeticError, ValueError):
        return None


def _both(e: object, known: dict[str, Both]) -> Both | None:
    match e:
        case k.Const(value=int() | float() as value, type=t):
            return _wide(value, t), value
        case k.Var(name=name):
            return known.get(name)
        case k.Cast(type=t, arg=arg) if t.is_inexact:
            one = _both(arg, known)
            return None if one is None else (_wide(one[0], t), one[1])
        case k.Op(name=name, args=args, type=t) if name in _ARITHMETIC and t.kind == "float":
            parts = [_both(a, known) for a in args]
            there = [p for p in parts if p is not None]
            if len(there) < len(parts):
                return None
            own, pythons = (_ARITHMETIC[name](*(p[at] for p in there)) for at in (0, 1))
            return _wide(own, t), pythons
    return None


def _wide(value: float, t: ScalarType) -> float:
    """A number as its type holds it."""
    return float(struct.unpack("f", struct.pack("f", value))[0]) if t.kind == "float" and t.bits == 32 else value


__all__ = ["in_single"]
