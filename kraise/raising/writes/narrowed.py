"""What a mask says of a summed index is the range of the index: ``sum of x[j] for 0 <= j < 32 where j < n``."""

from __future__ import annotations

from kraise.analysis.boxes import box
from kraise.analysis.conditions import classify, conjunction, conjuncts, is_static
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices
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


def _limits(c: eq.Expr, names: tuple[str, ...]) -> bool:
    fact, free = classify(c), free_indices(c)
    if fact is None or fact.kind != "ge" or len(free) != 1 or not free <= set(names):
        return False
    index = eq.Index(next(iter(free)), INT)
    return fact.poly.coefficient(index).value in (1, -1) and is_static(fact.poly.without(index))
