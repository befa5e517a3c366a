"""Windows that are clamped to their array become loads of an array whose edges are repeated (raising.md, step 6).

``x[min(max(i + d, 0), n - 1)]`` for all i and a few constants d is ``jnp.pad(x, r, mode="edge")[d + r : d + r + n]``:
no index arrays, and a gradient that is a slice again. One constant (``x[max(i - 1, 0)]``) is a
:class:`~kraise.emit.loads.dims.Clamp`.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit import tree
from kraise.emit.loads.mapped import Axes, mapped, named
from kraise.emit.loads.places import Ranges, Side, extent, made, side
from kraise.emit.loads.views import expression
from kraise.emit.text.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import INT

ZERO = eq.Const(0, INT)
_WIDEST = 64  # cells of a rim


def repeating(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such loads as loads of padded arrays."""
    roots = [r for s in tree.statements(kernel.body) for r in tree.statement_roots(s)]
    loads = (n for n in tree.walk(*roots) if isinstance(n, eq.Read) and not n.outside)
    return _Edges(kernel).kernel if any(_clamped(s) for n in loads for s in n.subscripts) else kernel


def _clamped(subscript: eq.Expr) -> tuple[eq.Expr, eq.Expr] | None:
    """What is clamped from 0 on, and the last position that it is clamped to."""
    match subscript:
        case eq.Op(name="min", args=(a, b)):
            inner, outer = "max", ((a, b), (b, a))
        case eq.Op(name="max", args=(a, b)):
            inner, outer = "min", ((a, b), (b, a))
        case _:
            return None
    for within, end in outer:
        match within:
            case eq.Op(name=name, args=(c, d)) if name == inner:
                for moving, other in ((c, d), (d, c)):
                    low, high = (other, end) if inner == "max" else (end, other)
                    if linear(low).same(Linear()):
                        return moving, high
    return None


class _Edges:
    """Rewrites the loads of a kernel, each in the ranges of the indices around it."""

    def __init__(self, kernel: eq.Kernel):
        self.free = tree.Free()
        self.own = made(kernel)
        self.memo: dict[tuple[eq.Expr, Axes], eq.Expr] = {}
        done = mapped(kernel, self._expression)
        self.kernel = named(done, ((old, new) for (old, _), new in self.memo.items()))

    def _expression(self, node: eq.Expr, axes: Axes) -> eq.Expr:
        found = self.memo.get((node, axes))
        if found is None:
            inner = (*axes, *tree.axes_of(node)) if isinstance(node, eq.Reduce | eq.ArgReduce | eq.Scan) else axes
            found = tree.rebuilt(node, {c: self._expression(c, inner) for c in tree.children(node)})
            if isinstance(found, eq.Read) and found is node:
                found = self._load(node, {a.name: a for a in axes})  # type: ignore[arg-type]
            self.memo[node, axes] = found
        return found

    def _load(self, node: eq.Read, ranges: Ranges) -> eq.Read:
        """The load, of the array with its edges repeated where that is what it means."""
        if node.outside or node.safe or node.limit is not None or not any(map(_clamped, node.subscripts)):
            return node
        subscripts, outside, indices = [], [], set[str]()
        for at, s in enumerate(node.subscripts):
            clamped = _clamped(s)
            limit = extent(self.own, node, at) if clamped is None else linear(clamped[1]) + 1
            moving = side(s if clamped is None else clamped[0], ranges, self.free)
            part = None if moving is None else _rims(moving, limit, ranges, clamped is not None)
            if moving is None or part is None or indices & moving.indices:
                return node
            indices |= moving.indices
            subscripts.append(s if clamped is None else clamped[0])
            outside.append(part)
        return replace(node, subscripts=tuple(subscripts), outside=tuple(outside))


def _rims(moving: Side, limit: Linear, ranges: Ranges, clamped: bool) -> eq.Outside | None:
    """How far a window reaches beyond its array; None where that is no number, or the subscript no window."""
    if not clamped:
        return eq.Outside(ZERO, expression(limit), ZERO, edge=True) if len(moving.indices) == 1 else None
    sizes = [linear(ranges[n].hi) - linear(ranges[n].lo) for n in moving.indices]
    before, after = -moving.start, moving.stop - limit
    if len(sizes) != 2 or all(z.terms or z.constant > _WIDEST for z in sizes) or before.terms or after.terms:
        return None
    if max(before.constant, after.constant) > _WIDEST:
        return None
    low, high = (eq.Const(max(w.constant, 0), INT) for w in (before, after))
    return eq.Outside(low, expression(limit), high, edge=True)
