"""Sums that were written out: ``x[0] + x[1] + … + x[31]`` is a sum over an index.

A ladder in a thread's own row (``s[ty][t] += s[ty][t + 16]``, then 8, 4, 2, 1) leaves such a sum. Its addends are one
expression but for numbers in subscripts and comparisons; where these move in step, the expression at each place of the
index is the addend itself.
"""

from __future__ import annotations

from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT, ScalarType
from kraise.ir.walk import axes_of, children, rebuild, substitute, topological
from kraise.raising.run.arithmetic import index_like, tidy

_LEAST, _MOST, _LARGEST, _WRITTEN = 16, 1024, 200, 2000
_NEUTRAL: dict[str, tuple[float, ...]] = {"add": (0,), "min": (), "max": ()}


# of an expression: how many addends it has at least, and whether it or one below it has enough
Lengths = dict[eq.Expr, tuple[int, bool]]


def rolled(e: eq.Expr, lengths: Lengths | None = None) -> eq.Expr:
    """``e`` with its long sums (and extrema) over an index where they are of one form; ``lengths`` may be kept between
    calls."""
    if not _is_long(e, {} if lengths is None else lengths):
        return e
    nodes = topological((e,))
    tops = {e} | {c for n in nodes for c in children(n) if not _joined(n, c)}
    memo: dict[eq.Expr, eq.Expr] = {}
    for n in nodes:  # children first
        found = _sum(n) if n in tops and isinstance(n, eq.Op) else None
        memo[n] = rebuild(n, tuple(memo[c] for c in children(n))) if found is None else found
    return memo[e]


def _is_long(e: eq.Expr, lengths: Lengths) -> bool:
    for n in topological((e,), lambda n: () if n in lengths else children(n)):
        if n not in lengths:
            below = [(lengths[c], _joined(n, c)) for c in children(n)]
            here = isinstance(n, eq.Op) and n.name in _NEUTRAL and not n.type.is_integer
            count = min(sum(length if joined else 1 for (length, _), joined in below), _MOST + 1) if here else 1
            lengths[n] = count, count >= _LEAST or any(long for (_, long), _ in below)
    return lengths[e][1]


def _joined(n: eq.Expr, below: eq.Expr) -> bool:
    """Whether both are parts of one sum."""
    return isinstance(n, eq.Op) and isinstance(below, eq.Op) and n.name == below.name and n.type == below.type


def _addends(node: eq.Op) -> list[eq.Expr]:
    """What is combined; more than are looked at where they are too many."""
    out: list[eq.Expr] = []
    stack: list[eq.Expr] = [node]
    while stack and len(out) + len(stack) <= _MOST:
        e = stack.pop()
        if isinstance(e, eq.Op) and e.name == node.name and e.type == node.type:
            stack.extend(reversed(e.args))
        else:
            out.append(e)
    return [*out, *stack]


def _sum(node: eq.Op) -> eq.Expr | None:
    if node.name not in _NEUTRAL or node.type.is_integer or node.type.kind == "bool":
        return None
    addends = _addends(node)
    if not _LEAST <= len(addends) <= _MOST:
        return None
    neutral = _NEUTRAL[node.name]
    parts = [a for a in addends if not (isinstance(a, eq.Const) and a.value in neutral)]
    if len(parts) < _LEAST or any(len(topological((a,))) > _LARGEST for a in parts):
        return None
    names = {n.name for n in topological((node,)) if isinstance(n, eq.Index)}
    names |= {
        a.name for n in topological((node,)) if isinstance(n, eq.Reduce | eq.ArgReduce | eq.Scan) for a in axes_of(n)
    }
    return along(node.name, parts, frozenset(names), node.type)


def along(op: str, parts: list[eq.Expr], taken: frozenset[str], type: ScalarType) -> eq.Reduce | None:
    """``parts`` combined as a reduction over a new index, none of ``taken``, if they are one expression whose numbers
    move in step."""
    if not _alike(parts):
        return None
    forms = [_form(a) for a in parts]
    form, _, movable = forms[0]
    if any(f is not form for f, _, _ in forms):
        return None
    steps = _in_step([numbers for _, numbers, _ in forms])
    if steps is None or any(b and not m for b, m in zip(steps[1], movable, strict=True)):
        return None
    first, by = steps
    name = next(n for n in ("lane", *(f"lane_{k}" for k in range(2, 99))) if n not in taken)
    x = eq.Index(name, INT)
    values: dict[eq.Expr, eq.Expr] = {
        _hole(at): to_expr(to_poly(x) * b + a) for at, (a, b) in enumerate(zip(first, by, strict=True))
    }
    body = tidy(substitute(form, values))
    return eq.Reduce(op, (eq.Axis(name, eq.Const(0, INT), eq.Const(len(parts), INT)),), body, None, type)


def _alike(parts: list[eq.Expr]) -> bool:
    """Whether they are one expression but for numbers, and no larger written out than is looked at: what is shared
    within one is looked at once here, and at each place in :func:`_form`."""
    shapes: dict[eq.Expr, tuple[eq.Expr, int]] = {}
    hole = to_poly(_hole(0))

    def below(n: eq.Expr) -> tuple[eq.Expr, ...]:
        return () if index_like(n) else children(n)

    for n in topological(parts, below):
        if index_like(n):
            poly = to_poly(n)
            shapes[n] = to_expr(poly - poly.offset + hole), 1
        else:
            under = [shapes[c] for c in children(n)]
            shapes[n] = rebuild(n, tuple(shape for shape, _ in under)), 1 + sum(size for _, size in under)
    first, size = shapes[parts[0]]
    return size <= _WRITTEN and all(shapes[p][0] is first for p in parts)


def _hole(at: int) -> eq.Index:
    return eq.Index(f"$number{at}", INT)


def _form(e: eq.Expr) -> tuple[eq.Expr, tuple[int, ...], tuple[bool, ...]]:
    """``e`` with holes for its numbers, the numbers, and which of them may move: those in subscripts and beside an
    index."""
    numbers: list[int] = []
    movable: list[bool] = []

    def visit(node: eq.Expr, subscript: bool) -> eq.Expr:
        if index_like(node):
            poly = to_poly(node)
            hole = _hole(len(numbers))
            numbers.append(poly.offset)
            movable.append(subscript or bool(poly.indices()))
            return to_expr(poly - poly.offset + to_poly(hole))
        inside = isinstance(node, eq.Read)
        return rebuild(node, tuple(visit(c, inside) for c in children(node)))

    return visit(e, False), tuple(numbers), tuple(movable)


def _in_step(rows: list[tuple[int, ...]]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The numbers at the first place and by how much each moves, if the rows are all the places from the first on."""
    for lead in range(len(rows[0])):
        ordered = sorted(rows, key=lambda r: r[lead])
        by = tuple(b - a for a, b in zip(ordered[0], ordered[1], strict=True))
        if by[lead] <= 0:
            continue
        places = (tuple(a + b * at for a, b in zip(ordered[0], by, strict=True)) for at in range(len(rows)))
        return (ordered[0], by) if all(p == r for p, r in zip(places, ordered, strict=True)) else None
    return None


__all__ = ["along", "rolled"]
