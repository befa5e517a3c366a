"""How many places of a range a mask of bounds leaves: ``max(min(i + r + 1, n) - max(i - r, 0), 0)``, no mask of all.

``pixels`` of a window that the border of an image cuts off is the product of such numbers, one a direction.
"""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.context import Frame, Val
from kraise.emit.loads.masks import conjuncts
from kraise.emit.loads.views import expression
from kraise.emit.lower import Lowering
from kraise.emit.text.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import INT, INT32


def counted(low: Lowering, node: eq.Reduce, frame: Frame, own: Frame) -> Val | None:
    """The number of places where bounds hold, each of one summed index, or None where it is another sum."""
    ctx = low.ctx
    masks = _masks(node)
    spoken = {n for m in masks for n in ctx.free(m)}
    if any(a.step != 1 for a in node.axes) or not spoken & {a.name for a in own}:
        return None
    lower: dict[str, list[Linear]] = {a.name: [linear(a.lo)] for a in node.axes}
    upper: dict[str, list[Linear]] = {a.name: [linear(a.hi)] for a in node.axes}
    for m in masks:
        found = _bound(m, {a.name for a in node.axes})
        if found is None:
            return None
        name, end, above = found
        (upper if above else lower)[name].append(end)
    total: eq.Expr | None = None
    for a in node.axes:
        count = _between(lower[a.name], upper[a.name])
        total = count if total is None else eq.Op("mul", (total, count), INT)
    assert total is not None
    plain = node.type == INT or (node.type == INT32 and not ctx.x64)
    value = low.lower(total if plain else eq.Cast(node.type, total), own)
    return low.extend(value.py, own, frame) if value.axes == own and value.rank == len(own) else None


def _masks(node: eq.Reduce) -> list[eq.Expr]:
    """The conditions of a count; none of another sum."""
    if node.op != "add" or not node.type.is_integer:
        return []
    masks = [] if node.where is None else list(conjuncts(node.where))
    match node.body:
        case eq.Const(value=1):
            return masks
        case eq.Op(name="select", args=(c, eq.Const(value=1), eq.Const(value=0))):
            return [*masks, *conjuncts(c)]
    return []


def _bound(mask: eq.Expr, summed: set[str]) -> tuple[str, Linear, bool] | None:
    """``k < value`` (True) or ``k >= value`` (False) of one summed index, whose factor is one."""
    if not (isinstance(mask, eq.Op) and mask.name in ("lt", "le", "gt", "ge") and mask.args[0].type.is_integer):
        return None
    if any(isinstance(n, eq.Read | eq.Reduce | eq.Scan | eq.ArgReduce) for n in tree.walk(mask)):
        return None
    gap = linear(mask.args[1]) - linear(mask.args[0])
    gap = gap if mask.name in ("lt", "le") else -gap
    gap += -1 if mask.name in ("lt", "gt") else 0  # is not negative
    mine = [(a, c) for a, c in gap.terms if any(isinstance(n, eq.Index) and n.name in summed for n in tree.walk(a))]
    index, c = mine[0] if len(mine) == 1 else (mask, 0)
    if not isinstance(index, eq.Index) or abs(c) != 1:
        return None
    rest = gap.without(index)
    return (index.name, rest + 1, True) if c < 0 else (index.name, -rest, False)


def _between(lower: list[Linear], upper: list[Linear]) -> eq.Expr:
    # as places of the array: what is taken from all of them is added to all
    shift = Linear()
    for atom, c in (t for v in (*lower, *upper) for t in v.terms):
        if isinstance(atom, eq.Index) and c < 0 and not shift.coefficient(atom):
            shift += Linear(((atom, -c),))
    first, last = _end("max", [v + shift for v in lower]), _end("min", [v + shift for v in upper])
    return eq.Op("max", (eq.Op("sub", (last, first), INT), eq.Const(0, INT)), INT)


def _end(name: str, values: list[Linear]) -> eq.Expr:
    kept: list[Linear] = []
    for v in values:
        if not any(v.same(k) for k in kept):
            kept.append(v)
    out = _sum(kept[0])
    for v in kept[1:]:
        out = eq.Op(name, (out, _sum(v)), INT)
    return out


def _sum(value: Linear) -> eq.Expr:
    """The sum with what is taken away behind what is added."""
    parts = sorted(value.terms, key=lambda t: (t[1] < 0, not isinstance(t[0], eq.Index)))
    if not parts or parts[0][1] < 0:
        return expression(value)
    out: eq.Expr | None = None
    for atom, c in parts:
        term = atom if abs(c) == 1 else eq.Op("mul", (eq.Const(abs(c), INT), atom), INT)
        out = term if out is None else eq.Op("add" if c > 0 else "sub", (out, term), INT)
    assert out is not None
    if value.constant:
        out = eq.Op("add" if value.constant > 0 else "sub", (out, eq.Const(abs(value.constant), INT)), INT)
    return out


__all__ = ["counted"]
