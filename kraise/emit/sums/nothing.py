"""Extrema and places over ranges that may hold nothing, of which all uses ask for more than that.

``m = max(start, x.max())`` and ``x.argmax() if x.max() > start else other`` are ``start`` and ``other`` where x has no
elements. JAX raises for an extremum or a place of nothing; the start may stand for that extremum (it is not beyond
itself), and any number for the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraise.emit import tree
from kraise.emit.context import Frame
from kraise.emit.lower import Lowering
from kraise.emit.text.linear import linear
from kraise.ir import equations as eq

_BEYOND = {"gt": ("max", "min"), "lt": ("min", "max")}  # an extremum on the left, on the right


def started(body: tuple[eq.Stmt, ...], values: Iterable[eq.Expr]) -> dict[eq.Expr, eq.Const | None]:
    """The extrema that are only compared and joined with a number, with that number, and the places that are asked for
    where something is found (None: any will do)."""
    roots = [r for s in tree.statements(body) for r in tree.statement_roots(s)] + list(values)
    uses: dict[eq.Expr, set[eq.Expr]] = {}
    nodes = tuple(tree.walk(*roots))
    for node in nodes:
        for child in tree.children(node):
            if isinstance(child, eq.Reduce | eq.ArgReduce):
                uses.setdefault(child, set()).add(node)
    own = set(roots)
    starts: dict[eq.Expr, eq.Const] = {}
    for found, parents in uses.items():
        if isinstance(found, eq.Reduce) and found.op in ("min", "max") and found not in own:
            numbers = {_start(p, found) for p in parents}
            if len(numbers) == 1 and (one := numbers.pop()) is not None:
                starts[found] = one
    choices = (n for n in nodes if isinstance(n, eq.Op) and n.name == "select")
    return {**starts, **{p: None for n in choices for p in _asked(n, starts)}}


def _start(parent: eq.Expr, found: eq.Reduce) -> eq.Const | None:
    """The number that ``found`` is joined with, or beyond which it must be."""
    match parent:
        case eq.Op(name=name, args=(a, b)) if (name == found.op or name in _BEYOND) and a is not b:
            other = b if a is found else a
            if name in _BEYOND and found.op != _BEYOND[name][a is not found]:
                return None
            return other if isinstance(other, eq.Const) else None
    return None


def _asked(choice: eq.Op, starts: dict[eq.Expr, eq.Const]) -> Iterator[eq.ArgReduce]:
    """The places in the arm of a choice that is taken where they are found: where some value is true, or the extremum
    is beyond its start."""
    condition, arm, _ = choice.args
    found = [n for n in (condition, *tree.children(condition)) if isinstance(n, eq.Reduce)]
    held = {(n.axes, n.body) for n in found if n.op == "or" or n in starts}
    for n in tree.walk(arm):
        if isinstance(n, eq.ArgReduce) and ((n.axis,), n.body) in held:
            yield n


def doubtful(low: Lowering, node: eq.ArgReduce, own: Frame) -> bool:
    """Whether a place is asked for in a range that may hold nothing while there are lanes."""
    size = linear(node.axis.hi) - linear(node.axis.lo)
    if node not in low.ctx.starts or node in low.ctx.nonempty or not low.ctx.is_static(size):
        return False
    return not any((linear(a.hi) - linear(a.lo)).same(size) for a in own)
