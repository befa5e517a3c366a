"""What a mask says of a summed index is the range of the index: ``sum of x[j] for 0 <= j < 32 where j < n``."""

from __future__ import annotations

from kraise.analysis.boxes import box
from kraise.analysis.conditions import classify, conjunction, conjuncts, is_static
from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, topological
from kraise.raising.writes.decided import decided
from kraise.raising.writes.masks import bounds


def narrowed(node: eq.Reduce) -> eq.Reduce:
    """What the mask says of one index alone, by sizes, is the range of that index."""
    if node.where is None:
        return node
    names = tuple(a.name for a in node.axes)
    where = conjuncts(node.where)
    limits = tuple(c for c in where if _limits(c, names))
    if not limits:
        return node
    ranges = box(names, (*bounds(node.axes), *where))
    return eq.Reduce(node.op, ranges.axes, decided(node.body, limits), conjunction(ranges.residue), node.type)


def by_residues(node: eq.Reduce) -> eq.Reduce:
    """Lanes that take every 32nd element each, from their own number on, take all of them: ``lane`` in 0 ... 31 and
    ``c >= lane`` with ``(c - lane) % 32 == 0`` is every c."""
    if node.where is None:
        return node
    where = conjuncts(node.where)
    for lane in node.axes:
        size = to_poly(lane.hi).value
        index = eq.Index(lane.name, INT)
        if lane.step != 1 or to_poly(lane.lo).value != 0 or size is None or index in topological((node.body,)):
            continue
        for axis in node.axes:
            least = to_poly(axis.lo).value
            apart = to_poly(eq.Index(axis.name, INT)) - to_poly(index)
            if axis is lane or axis.step != 1 or least is None or least < 0 or free_indices(axis.hi) & {lane.name}:
                continue
            shared = [c for c in where if _is_multiple(c, apart, size)]
            later = [c for c in where if (f := classify(c)) is not None and f.kind == "ge" and f.poly == apart]
            rest = [c for c in where if c not in shared and c not in later]
            if shared and later and not any(lane.name in free_indices(c) for c in rest):
                axes = tuple(a for a in node.axes if a is not lane)
                return by_residues(eq.Reduce(node.op, axes, node.body, conjunction(rest), node.type))
    return node


def _is_multiple(c: eq.Expr, apart: Poly, size: int) -> bool:
    match c:
        case eq.Op(name="eq", args=(eq.Op(name="mod", args=(x, eq.Const(value=n))), eq.Const(value=0))) if n == size:
            poly = to_poly(x)
            return any((found := (poly - p).value) is not None and found % size == 0 for p in (apart, -apart))
    return False


def _limits(c: eq.Expr, names: tuple[str, ...]) -> bool:
    fact, free = classify(c), free_indices(c)
    if fact is None or fact.kind != "ge" or len(free) != 1 or not free <= set(names):
        return False
    index = eq.Index(next(iter(free)), INT)
    return fact.poly.coefficient(index).value in (1, -1) and is_static(fact.poly.without(index))
