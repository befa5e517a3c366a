"""Products whose operands are guarded by their own extents, the store by its own: ``C = A @ B`` where C is no larger.

A tile of ``A`` is zero where ``y >= A.shape[0]`` or ``k >= A.shape[1]``; the store asks for ``y < C.shape[0]``. What
a guard says of a summed index is the range of the sum: a product with 0 adds nothing. What it says of an index of the
store matters only where the result is larger than the operand: that it is not is stated in the docstring and checked
(contract, section 3), and the operand is a slice of the array.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import classify, conjunction, conjuncts, is_static
from kraise.analysis.dependence import implied
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, map_statement, topological, transform
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.context import Context
from kraise.raising.threads.tiles import without_ceilings
from kraise.raising.writes.masks import bounds
from kraise.raising.writes.narrowed import narrowed


def within_operands(cx: Context, stmts: tuple[eq.Stmt, ...]) -> tuple[eq.Stmt, ...]:
    """The statements with such products over what their operands hold."""
    return tuple(_written(cx, s) if isinstance(s, eq.Write) else s for s in stmts)


def _written(cx: Context, s: eq.Write) -> eq.Write:
    outer = {a.name: to_poly(a.hi) for a in s.axes if a.step == 1}

    def one(node: eq.Expr) -> eq.Expr:
        if not isinstance(node, eq.Reduce) or node.op != "add":
            return node
        factors = _factors(node.body)
        found = [_guarded(f) for f in factors]
        if len(factors) < 2 or not any(c for c, _ in found):
            return node
        own = {a.name for a in node.axes}
        inside, needed = list[eq.Expr](), list[tuple[Poly, Poly]]()
        for c in dict.fromkeys(c for conditions, _ in found for c in conditions):
            if free_indices(c) and free_indices(c) <= own and _bounds(c):
                inside.append(c)
                continue
            limit = _limit(c, outer.keys() - own)
            if limit is None:
                return node
            needed.append((outer[limit[0]], limit[1]))
        if needed and not all(isinstance(f, eq.Read) for _, f in found):
            return node
        for extent, most in needed:
            _state(cx, extent, most)
        known = (*bounds(s.axes), *bounds(node.axes))
        held = [_held(f, (*known, *conditions)) for conditions, f in found]
        body = held[0]
        for f in held[1:]:
            body = eq.Op("mul", (body, f), node.body.type)
        where = (*bounds(node.axes), *(() if node.where is None else conjuncts(node.where)), *inside)
        kept = without_ceilings(where)
        axes = tuple(replace(a, hi=_end(a, kept)) for a in node.axes)
        return narrowed(
            eq.Reduce("add", axes, body, conjunction([c for c in kept if c not in bounds(axes)]), node.type)
        )

    return map_statement(s, lambda e: transform(e, one)) if _has_product(s) else s  # type: ignore[return-value]


def _end(axis: eq.Axis, kept: tuple[eq.Expr, ...]) -> eq.Expr:
    """The end of a range, or what cuts its last tile off."""
    if bounds((axis,))[-1] in kept:
        return axis.hi
    index = eq.Index(axis.name, INT)
    ends = [(f.poly + to_poly(index) + 1) for c in kept if (f := classify(c)) is not None and _upper(c, axis.name)]
    return to_expr(ends[0])


def _upper(c: eq.Expr, name: str) -> bool:
    fact = classify(c)
    return (
        fact is not None
        and fact.kind == "ge"
        and free_indices(c) == {name}
        and fact.poly.coefficient(eq.Index(name, INT)).value == -1
    )


def _has_product(s: eq.Write) -> bool:
    return any(
        isinstance(n, eq.Reduce) and n.op == "add" and any(_guarded(f)[0] for f in _factors(n.body))
        for n in topological((s.value,))
    )


def _factors(e: eq.Expr) -> list[eq.Expr]:
    match e:
        case eq.Op(name="mul", args=(a, b)):
            return [*_factors(a), *_factors(b)]
    return [e]


def _guarded(e: eq.Expr) -> tuple[tuple[eq.Expr, ...], eq.Expr]:
    """The conditions under which a factor is not 0, and what it is then."""
    match e:
        case eq.Op(name="select", args=(c, a, eq.Const(value=0))) if a.type == e.type or a.type.bits is None:
            return conjuncts(c), a
    return (), e


def _held(e: eq.Expr, known: tuple[eq.Expr, ...]) -> eq.Expr:
    """A load that its conditions keep within its array, as one that need not be brought there."""
    if not isinstance(e, eq.Read) or not e.safe or e.view or e.limit or not all(map(index_like, e.subscripts)):
        return e
    ends = [(x, eq.Shape(e.version.array, at, INT)) for at, x in enumerate(e.subscripts)]
    inside = [eq.Op("ge", (x, eq.Const(0, INT)), BOOL) for x, _ in ends]
    inside += [eq.Op("lt", (x, end), BOOL) for x, end in ends]
    return replace(e, safe=False) if all(implied(known, c) for c in inside) else e


def _bounds(c: eq.Expr) -> bool:
    """Whether a condition bounds one index by sizes."""
    fact, free = classify(c), free_indices(c)
    if fact is None or fact.kind != "ge" or len(free) != 1:
        return False
    index = eq.Index(next(iter(free)), INT)
    return fact.poly.coefficient(index).value in (1, -1) and is_static(fact.poly.without(index))


def _limit(c: eq.Expr, names: set[str]) -> tuple[str, Poly] | None:
    """The index of the store that a condition keeps below an extent, and that extent."""
    free = free_indices(c)
    if len(free) != 1 or not free <= names or not _bounds(c) or not _upper(c, *free):
        return None
    (name,) = free
    fact = classify(c)
    assert fact is not None
    limit = fact.poly.without(eq.Index(name, INT)) + 1
    return (name, limit) if all(isinstance(a, eq.Shape) for a in limit.atoms()) and limit.value is None else None


def _state(cx: Context, extent: Poly, most: Poly) -> None:
    """That the result is no larger than the operand: said in the docstring and checked."""
    condition = eq.Op("le", (to_expr(extent), to_expr(most)), BOOL)
    known = tuple(c for c, _ in cx.checks)
    if not implied((*known, *cx.assumed), condition):
        own, other = ({a.array for a in p.atoms() if isinstance(a, eq.Shape)} for p in (extent, most))
        cx.assumptions.append(render_expr(condition))
        cx.checks.append((condition, f"{'/'.join(own) or 'the result'} is larger than {'/'.join(other)}"))
