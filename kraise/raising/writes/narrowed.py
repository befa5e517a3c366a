"""What a mask says of a summed index is the range of the index: ``sum of x[j] for 0 <= j < 32 where j < n``."""

from __future__ import annotations

from collections.abc import Callable, Container

from kraise.analysis.boxes import box
from kraise.analysis.conditions import Fact, classify, conjunction, conjuncts, fact_to_expr, is_static
from kraise.analysis.poly import Poly, to_poly
from kraise.analysis.segments import plain
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, topological
from kraise.raising.threads.launched import at_least_one, is_extent
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


def without_implied(node: eq.Reduce) -> eq.Reduce:
    """The mask without what another part of it says as well: ``base < n`` beside ``base + j < n`` for j from 0 on."""
    where = () if node.where is None else conjuncts(node.where)
    lows = {a.name: to_poly(a.lo).value for a in node.axes if a.step >= 1}
    kept = strongest(where, {name for name, low in lows.items() if low is not None and low >= 0})
    return node if kept == where else eq.Reduce(node.op, node.axes, node.body, conjunction(kept), node.type)


def strongest(where: tuple[eq.Expr, ...], from_zero: Container[str]) -> tuple[eq.Expr, ...]:
    """The conjuncts without those that another one implies, being more by extents of the launch and indices from zero
    on."""
    facts = {c: f.poly for c in where if (f := classify(c)) is not None and f.kind == "ge"}

    def not_negative(gap: Poly) -> bool:
        atoms = (x for m in gap.terms for x in m)
        signs = all(is_extent(x) or (isinstance(x, eq.Index) and x.name in from_zero) for x in atoms)
        return signs and all(c > 0 for c in gap.terms.values())

    kept = list(where)
    for c, poly in facts.items():
        if any(d is not c and d in kept and not_negative(poly - other) for d, other in facts.items()):
            kept.remove(c)
    return tuple(kept)


def by_parts(node: eq.Reduce, one: Callable[[eq.Expr], eq.Expr]) -> eq.Expr | None:
    """A sum of sums, ``sum of (sum a + sum b)``, as sums of their own, if each is over fewer indices so: what threads
    do of whole groups and of the rest."""
    match node:
        case eq.Reduce(op="add", body=eq.Op(name="add", args=(eq.Reduce(op="add"), eq.Reduce(op="add")) as args)):
            parts = [one(eq.Reduce("add", node.axes, a, node.where, node.type)) for a in args]
        case _:
            return _by_scale(node, one)
    for new, old in zip(parts, args, strict=True):
        assert isinstance(old, eq.Reduce)
        if not isinstance(new, eq.Reduce) or len(new.axes) >= len(node.axes) + len(old.axes):
            return None
    return eq.Op("add", tuple(parts), node.type)


def _by_scale(node: eq.Reduce, one: Callable[[eq.Expr], eq.Expr]) -> eq.Expr | None:
    """A sum of sums that are each divided by, or times, what is the same for all (``atomicAdd(loss, sum / n)``): of the
    one sum, if the two are one."""
    if node.op != "add" or node.where is not None or node.type.is_integer or not isinstance(node.body, eq.Op):
        return None
    body = node.body
    for at, part in enumerate(body.args):
        if not isinstance(part, eq.Reduce) or part.op != "add" or part.type.is_integer:
            continue
        if not (body.name == "mul" or (body.name in ("div", "neg") and at == 0)):
            continue
        others = tuple(x for n, x in enumerate(body.args) if n != at)
        if any(free_indices(x) & {a.name for a in node.axes} for x in others):
            continue
        whole = one(eq.Reduce("add", node.axes, part, None, part.type))
        if isinstance(whole, eq.Reduce) and not isinstance(whole.body, eq.Reduce):
            args = tuple(whole if n == at else x for n, x in enumerate(body.args))
            return eq.Op(body.name, args, body.type)
    return None


def by_chunks(node: eq.Reduce) -> eq.Reduce:
    """Threads that take a chunk each, ``t * size <= i < (t + 1) * size``, take all up to the end of the last one's."""
    where = () if node.where is None else conjuncts(node.where)
    facts = {c: f.poly for c in where if (f := classify(plain(c))) is not None and f.kind == "ge"}
    for a in node.axes:
        t = eq.Index(a.name, INT)
        own = [c for c in where if t in topological((c,))]
        if len(own) != 2 or not {*own} <= {*facts} or t in topological((node.body,)) or a.step != 1:
            continue
        if to_poly(a.lo).value != 0 or any(a.name in free_indices(e) for x in node.axes for e in (x.lo, x.hi)):
            continue
        for low, high in (own, own[::-1]):
            size = facts[low] + facts[high] + 1  # low: i - t * size >= 0
            chunk = facts[low] + to_poly(t) * size
            if t in size.atoms() or t in chunk.atoms() or not is_static(size):
                continue
            last = fact_to_expr(Fact("ge", to_poly(a.hi) * size - 1 - chunk))
            first = () if _from_zero(node.axes, chunk) else (fact_to_expr(Fact("ge", chunk)),)
            axes = tuple(x for x in node.axes if x is not a)
            rest = [c for c in where if c not in own]
            return by_chunks(eq.Reduce(node.op, axes, node.body, conjunction((*first, last, *rest)), node.type))
    return node


def by_residues(node: eq.Reduce) -> eq.Reduce:
    """Lanes that take every 32nd element each, from their own number on, take all of them: ``lane`` in 0 ... 31 and
    ``c >= lane`` with ``(c - lane) % 32 == 0`` is every c from 0 on, also where c is counted from a row's start."""
    if node.where is None:
        return node
    where = conjuncts(node.where)
    for lane in node.axes:
        size = to_poly(lane.hi)
        index = eq.Index(lane.name, INT)
        known = at_least_one(lane.hi) and index not in topological((node.body,))
        if lane.step != 1 or to_poly(lane.lo).value != 0 or not known:
            continue
        if any(lane.name in free_indices(e) for a in node.axes for e in (a.lo, a.hi)):
            continue
        for from_lane in [f.poly for c in where if (f := classify(plain(c))) is not None and f.kind == "ge"]:
            count = from_lane + to_poly(index)
            if lane.name in count.indices():
                continue
            shared = [c for c in where if _is_multiple(c, from_lane, size)]
            later = [c for c in where if classify(plain(c)) == Fact("ge", from_lane)]
            rest = [c for c in where if c not in shared and c not in later]
            if shared and not any(lane.name in free_indices(c) for c in rest):
                axes = tuple(a for a in node.axes if a is not lane)
                first = () if _from_zero(axes, count) else (fact_to_expr(Fact("ge", count)),)
                return by_residues(eq.Reduce(node.op, axes, node.body, conjunction((*first, *rest)), node.type))
    return node


def _is_multiple(c: eq.Expr, apart: Poly, size: Poly) -> bool:
    match plain(c):
        case eq.Op(name="eq", args=(eq.Op(name="mod", args=(x, n)), eq.Const(value=0))) if to_poly(n) == size:
            gaps = [(to_poly(x) - p).value for p in (apart, -apart)]
            return 0 in gaps or any(gap is not None and size.value and gap % size.value == 0 for gap in gaps)
    return False


def _from_zero(axes: tuple[eq.Axis, ...], count: Poly) -> bool:
    """Whether ``count`` is one of the indices, which starts at 0 or later."""
    return any(
        count == to_poly(eq.Index(a.name, INT))
        and a.step >= 1
        and (low := to_poly(a.lo).value) is not None
        and low >= 0
        for a in axes
    )


def _limits(c: eq.Expr, names: tuple[str, ...]) -> bool:
    fact, free = classify(c), free_indices(c)
    if fact is None or fact.kind != "ge" or len(free) != 1 or not free <= set(names):
        return False
    index = eq.Index(next(iter(free)), INT)
    return fact.poly.coefficient(index).value in (1, -1) and is_static(fact.poly.without(index))
