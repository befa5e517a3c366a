"""Stores to the same cells under masks that exclude each other, as one store of a choice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kraise.emit import tree
from kraise.ir import equations as eq
from kraise.ir.types import BOOL

_OPPOSITE = {"eq": "ne", "ne": "eq"}  # the others are no opposites for NaN


def merged(kernel: eq.Kernel) -> eq.Kernel:
    """``y[i] = a where c`` and ``y[i] = b where not c`` as ``y[i] = a if c else b``."""
    return replace(kernel, body=_body(kernel.body, users(kernel)))


def users(kernel: eq.Kernel) -> Counter[eq.Version]:
    """How many statements build on each version or look at it, and whether it is returned."""
    uses: Counter[eq.Version] = Counter()
    for stmt in tree.statements(kernel.body):
        uses.update(_used(stmt))
    uses.update(v for v in kernel.returns if isinstance(v, eq.Version))
    for value in kernel.returns:
        if not isinstance(value, eq.Version):
            uses.update(n.version for n in tree.walk(value) if isinstance(n, eq.Read))
    return uses


def _used(stmt: eq.Stmt) -> set[eq.Version]:
    found = {n.version for n in tree.walk(*tree.statement_roots(stmt)) if isinstance(n, eq.Read)}
    match stmt:
        case eq.Write(before=before):
            found.add(before)
        case eq.Fold(arrays=arrays):
            found.update(c.outside for c in arrays)
            found.update(c.exit for c in arrays)
    return found


def _body(body: tuple[eq.Stmt, ...], uses: Counter[eq.Version]) -> tuple[eq.Stmt, ...]:
    out = [replace(s, body=_body(s.body, uses)) if isinstance(s, eq.Fold) else s for s in body]
    at = 0
    while at < len(out):
        first = out[at]
        if isinstance(first, eq.Write) and first.where is not None and uses[first.after] == 1:
            for to in range(at + 1, len(out)):
                second = out[to]
                if isinstance(second, eq.Write) and second.before is first.after:
                    one = _one(first, second)
                    if one is not None:
                        out[to] = one
                        del out[at]
                        at -= 1
                    break
        at += 1
    return tuple(out)


def _one(first: eq.Write, second: eq.Write) -> eq.Write | None:
    if first.accumulate or second.accumulate or first.safe or second.safe or first.where is None:
        return None
    same = first.axes == second.axes and first.subscripts == second.subscripts and first.view == second.view
    if not same or second.where is None:
        return None
    rest = _outside(first.where, second.where)
    if rest is None:
        return None
    parts = [second.value, *rest]
    old: dict[eq.Expr, eq.Expr] = {}
    for n in tree.walk(*parts):
        if isinstance(n, eq.Read) and n.version is first.after:
            if n.subscripts != second.subscripts or n.view != second.view:
                return None
            # where the second store writes, the first one did not
            old[n] = eq.Read(first.before, n.subscripts, n.type, n.view, n.safe)
    memo: dict[eq.Expr, eq.Expr] = {}
    value, *rest = (tree.substitute(p, old, memo) for p in parts)
    where: eq.Expr | None = None
    if rest:
        other = rest[0]
        for r in rest[1:]:
            other = eq.Op("and", (other, r), BOOL)
        where = eq.Op("or", (first.where, other), BOOL)
    kind = first.value.type if first.value.type == second.value.type else _wider(first.value, second.value)
    match first.where, first.value:
        case eq.Op(name="or", args=(a, b)), eq.Op(name="select", args=(c, x, y)) if c is a:
            # a if c else b, where c or d: then "else" is the next choice
            choice = eq.Op("select", (a, x, eq.Op("select", (b, y, value), kind)), kind)
        case _:
            choice = eq.Op("select", (first.where, first.value, value), kind)
    return replace(second, before=first.before, value=choice, where=where)


def _wider(a: eq.Expr, b: eq.Expr) -> eq.ScalarType:
    order = ("bool", "uint", "int", "bfloat", "float", "number", "complex")
    return max((a.type, b.type), key=lambda t: (order.index(t.kind), t.bits or 0))


def _outside(mask: eq.Expr, other: eq.Expr) -> list[eq.Expr] | None:
    """What ``other`` says beside "not ``mask``"; None where it does not say that."""
    asked = _parts(mask, "or")
    told = _parts(other, "and")
    left = [t for t in told if not any(_opposite(t, a) for a in asked)]
    excluded = [a for a in asked if any(_opposite(t, a) for t in told)]
    return left if len(excluded) == len(asked) else None


def _parts(node: eq.Expr, op: str) -> list[eq.Expr]:
    match node:
        case eq.Op(name=name, args=(a, b)) if name == op:
            return _parts(a, op) + _parts(b, op)
        case eq.Op(name="not", args=(eq.Op(name=name, args=(a, b)),)) if name == ("and" if op == "or" else "or"):
            return [_negated(p) for p in _parts(a, name) + _parts(b, name)]
    return [node]


def _negated(node: eq.Expr) -> eq.Expr:
    match node:
        case eq.Op(name="not", args=(a,)):
            return a
    return eq.Op("not", (node,), BOOL)


def _opposite(a: eq.Expr, b: eq.Expr) -> bool:
    if _negated(a) is b or a is _negated(b):
        return True
    match a, b:
        case eq.Op(name=x, args=p), eq.Op(name=y, args=q):
            return _OPPOSITE.get(x) == y and p == q
    return False
