"""A number that is summed over and taken apart there: ``x[(i / S * C + c) * S + i % S]`` for i < N * S.

The number is two indices, ``i / S`` below N and ``i % S`` below S, and what is loaded at them lies in rows (raising.md,
steps 2 and 7). The indices of threads are taken apart before a run (:mod:`kraise.raising.threads.splits`); these
belong to loops, which have their range only now. The side conditions: the range begins at zero and is a whole multiple
of the divisor, and the digits of a flat subscript are proved to stay within their rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraise.analysis.conditions import is_static
from kraise.analysis.delinearize import digits
from kraise.analysis.division import divided
from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import children, free_indices, map_statement, rebuild, substitute, topological, transform
from kraise.raising.memory.ranged import box
from kraise.raising.optimistic import wanted
from kraise.raising.run.arithmetic import index_like, tidy
from kraise.raising.run.context import Context
from kraise.raising.run.state import ROWS
from kraise.raising.threads.row_views import by_launch
from kraise.raising.threads.splits import quotient

Path = tuple[eq.Expr, ...]
_DIVISIONS = ("floordiv", "tdiv", "mod", "tmod")


Changed = dict[eq.Expr, eq.Expr]


def taken_apart(
    cx: Context, stmts: tuple[eq.Stmt, ...], values: tuple[eq.Version | eq.Expr, ...], known: Path
) -> tuple[tuple[eq.Stmt, ...], tuple[eq.Version | eq.Expr, ...], Changed]:
    """The statements and returned values with such sums over two indices in place of one, and what became of each
    value; the context gets what rows would want."""
    changed: Changed = {}
    out = tuple(_statement(cx, s, known, changed) for s in stmts)
    kept = tuple(v if isinstance(v, eq.Version) else _expression(cx, v, known, changed) for v in values)
    return out, kept, changed


def _statement(cx: Context, s: eq.Stmt, known: Path, changed: Changed) -> eq.Stmt:
    match s:
        case eq.Write():
            domain = (*known, *box(s.axes))
            return map_statement(s, lambda e: _expression(cx, e, domain, changed))
        case eq.Fold():
            return replace(s, body=tuple(_statement(cx, b, known, changed) for b in s.body))
    return s


def _expression(cx: Context, e: eq.Expr, domain: Path, changed: Changed) -> eq.Expr:
    nodes = topological((e,))
    if not any(isinstance(n, eq.Op) and n.name in _DIVISIONS for n in nodes):
        return e
    if not any(isinstance(n, eq.Reduce) for n in nodes):
        return e
    memo: dict[tuple[eq.Expr, Path], eq.Expr] = {}

    def visit(n: eq.Expr, path: Path) -> eq.Expr:
        found = memo.get((n, path))
        if found is None:
            old, inner, first = n, path, 0
            if isinstance(n, eq.Reduce):
                n, mine = _reduce(cx, n, path)
                inner, first = (*path, *mine), 2 * len(n.axes)  # type: ignore[union-attr]
            parts = tuple(c if at < first else visit(c, inner) for at, c in enumerate(children(n)))
            found = memo[old, path] = rebuild(n, parts)
            if found is not old:
                changed.setdefault(old, found)
        return found

    return visit(e, domain)


def _reduce(cx: Context, node: eq.Reduce, path: Path) -> tuple[eq.Reduce, Path]:
    """The sum with the first of its numbers taken apart, and again, and what its axes say."""
    for at, axis in enumerate(node.axes):
        for size in _divisors(node, axis):
            rows, rest = divided(to_poly(axis.hi), to_poly(size))
            if not rows.terms or rest.terms:
                continue
            taken = {n.name for n in topological((node,)) if isinstance(n, eq.Index)} | {
                n for c in path for n in free_indices(c)
            }
            taken |= cx.divisible  # names of a thread's digits, which ask for another run
            high, low = (_unused(f"{axis.name}_{part}", taken) for part in ("high", "low"))
            own = (eq.Axis(high, axis.lo, to_expr(rows)), eq.Axis(low, axis.lo, size))
            axes = (*node.axes[:at], *own, *node.axes[at + 1 :])
            inner = (*path, *box(axes))
            whole = to_expr(to_poly(eq.Index(high, INT)) * to_poly(size) + to_poly(eq.Index(low, INT)))
            moved = _Moved(cx, inner, {eq.Index(axis.name, INT): whole})
            where = None if node.where is None else moved.of(node.where)
            return _reduce(cx, replace(node, axes=axes, body=moved.of(node.body), where=where), path)
    return node, box(node.axes)


def _divisors(node: eq.Reduce, axis: eq.Axis) -> Iterator[eq.Expr]:
    """What an axis that begins at zero is divided by where something is loaded for the sum, the smallest first."""
    if axis.step != 1 or to_poly(axis.lo).terms or not is_static(to_poly(axis.hi)):
        return
    found: dict[eq.Expr, None] = {}
    loads = [n for n in topological((node.body,)) if isinstance(n, eq.Read)]
    for n in topological(place for load in loads for place in load.subscripts):
        match n:
            case eq.Op(name=name, args=(eq.Index(name=i), by)) if name in _DIVISIONS and i == axis.name:
                size = to_poly(by)
                if is_static(size) and not by_launch((by,)) and (size.value is None or size.value > 1):
                    found[by] = None
    yield from sorted(found, key=lambda e: (max(map(len, to_poly(e).terms)), to_poly(e).value or 0))


class _Moved:
    """Values with digits in place of an index, and their flat loads in rows where the digits make them."""

    def __init__(self, cx: Context, path: Path, mapping: dict[eq.Expr, eq.Expr]):
        self.cx, self.path, self.mapping = cx, path, mapping
        self.new = frozenset(n for e in mapping.values() for n in free_indices(e))
        self.memo: dict[eq.Expr, eq.Expr] = {}

    def of(self, e: eq.Expr) -> eq.Expr:
        return tidy(transform(substitute(e, self.mapping), self._one, self.memo))

    def _one(self, node: eq.Expr) -> eq.Expr:
        match node:
            case eq.Op(name=name, args=(a, b)) if name in _DIVISIONS and free_indices(a) & self.new and index_like(a):
                return quotient(self.cx, self.path, name, a, b) or node
            case eq.Read(subscripts=(place,), view=()) if free_indices(place) & self.new and index_like(place):
                return self._load(node, place)
        return node

    def _load(self, node: eq.Read, place: eq.Expr) -> eq.Read:
        poly = to_poly(place)
        node = replace(node, subscripts=(to_expr(poly),))
        if node.version.array in self.cx.made:
            return node
        found = digits(poly, self.path)
        if found is not None and not by_launch(to_expr(r) for r in found.radices):
            subscripts = tuple(map(to_expr, found.subscripts))
            return replace(node, subscripts=subscripts, view=(ROWS, *map(to_expr, found.radices)))
        for condition in wanted(to_expr(poly), self.path):
            self.cx.wanted.setdefault(condition, set()).add(node.version.array)
        return node


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


__all__ = ["taken_apart"]
