"""What a cell holds that one of two stores has filled: two loads that are one, two guards that are one.

``s[t + 1] = u[x]`` by all threads beside ``s[0] = u[x - 1]`` by the first: what ``s[t]`` holds is ``u[x - 1]`` whoever
stored it.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import classify, conjunction, conjuncts, negate
from kraise.analysis.dependence import implied
from kraise.analysis.poly import to_expr
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices, substitute, topological
from kraise.raising.memory.edges import at_edges, for_rows, same_place
from kraise.raising.memory.spread import guarded, spread
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation, tidy


def joined(path: tuple[eq.Expr, ...], conditions: list[eq.Expr], a: eq.Expr, b: eq.Expr) -> eq.Expr:
    """``a if conditions else b``. Two loads of one padded array, each with the guard that its place needs, are one load
    with both guards: where one is used, the other's guard holds."""
    (p, x, zero), (q, y, other) = guarded(a), guarded(b)
    if x is not y and same_under((*path, *conditions, *p), x, y):
        x = y = for_rows((*path, *conditions, *p), y)
    elif all(same_under((*path, *q, negate(c)), x, y) for c in conditions):
        y = x = x if x is y else _each(x, [(*path, *q, negate(c)) for c in conditions])
    elif len(conditions) == 1 and (both := _clamped(path, conditions[0], x, y)) is not None:
        x = y = both
    if x is y and not p and not q:
        return x
    if x is y:
        everywhere = at_edges(path, conditions, p, q, same=zero is other or not q)
        if everywhere:
            return simplify.select(conjunction(everywhere), x, other if q else zero, x.type)  # type: ignore[arg-type]
    if x is y and (not p or not q or zero is other):
        holds = all(c in p or implied((*path, *conditions, *p), c) for c in q)
        if holds and all(d in q or implied((*path, *q, negate(c)), d) for c in conditions for d in p):
            guard = conjunction(tuple(dict.fromkeys((*p, *q))))
            return simplify.select(guard, x, zero if p else other, x.type)  # type: ignore[arg-type]
    one = spread(path, conditions, a, b)
    return one if one is not None else simplify.select(conjunction(conditions), a, b, a.type)  # type: ignore[arg-type]


def _each(value: eq.Expr, paths: list[tuple[eq.Expr, ...]]) -> eq.Expr:
    """The value, by rows only where it keeps to them under each of the paths."""
    for path in paths:
        value = for_rows(path, value)
    return value


def _clamped(path: tuple[eq.Expr, ...], edge: eq.Expr, x: eq.Expr, y: eq.Expr) -> eq.Expr | None:
    """A load that is ``x`` at the edge and ``y`` elsewhere: ``u[max(16 * block - 1, 0)]`` by the thread of the edge is
    ``u[max(16 * block + thread - 1, 0)]``, if that is what the other threads load. The thread's distance from the edge
    is added to what is clamped."""
    fact = classify(edge)
    if fact is None or not (isinstance(x, eq.Read) and isinstance(y, eq.Read)) or x.version is not y.version:
        return None
    away = fact.poly
    if fact.kind == "ge":  # the threads but that of the edge: those at least one away from it
        edge, away, x, y = negate(edge), away + 1, y, x
    clamps = [n for n in topological(x.subscripts) if isinstance(n, eq.Op) and n.name in ("min", "max")]
    for clamp in (n for n in clamps if n.type.is_integer and free_indices(n)):
        for distance in (away, -away):
            further = _further(clamp, to_expr(distance))
            moved = replace(x, subscripts=tuple(tidy(substitute(s, {clamp: further})) for s in x.subscripts))
            if same_place((*path, edge), moved, x) and same_place((*path, negate(edge)), moved, y):
                return _each(moved, [(*path, edge), (*path, negate(edge))])
    return None


def _further(clamp: eq.Op, by: eq.Expr) -> eq.Expr:
    """``max(i + by, 0)`` for ``max(i, 0)``."""
    args = tuple(operation("add", (a, by), a.type) if free_indices(a) else a for a in clamp.args)
    return eq.Op(clamp.name, args, clamp.type)


def same_under(path: tuple[eq.Expr, ...], a: eq.Expr, b: eq.Expr) -> bool:
    """Whether the values are the same where ``path`` holds: loads of cells that are one cell there, and what is made
    of them."""
    if a is b:
        return True
    if type(a) is not type(b) or a.type != b.type:
        return False
    if isinstance(a, eq.Read) and isinstance(b, eq.Read):
        if a.version is not b.version:
            return False
        return same_place(path, a, b)
    if isinstance(a, eq.Op) and isinstance(b, eq.Op):
        return a.name == b.name and all(same_under(path, s, t) for s, t in zip(a.args, b.args, strict=True))
    if isinstance(a, eq.Cast) and isinstance(b, eq.Cast):
        return same_under(path, a.arg, b.arg)
    return False


def without_known(path: tuple[eq.Expr, ...], value: eq.Expr) -> eq.Expr:
    """``x if guard else 0`` without what ``path`` says of the guard already."""
    match value:
        case eq.Op(name="select", args=(c, x, eq.Const() as zero)):
            parts = conjuncts(c)
            left = [p for p in parts if not (p in path or implied(path, p))]
            if len(left) < len(parts):
                return simplify.select(simplify.conjunction(*left), x, zero, value.type)
    return value
