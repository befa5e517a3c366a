"""Windows that are clamped to their array, or go round it, become loads of an array whose edges are repeated, or that
begins anew (raising.md, step 6).

``x[min(max(i + d, 0), n - 1)]`` for all i and a few constants d is ``jnp.pad(x, r, mode="edge")[d + r : d + r + n]``:
no index arrays, and a gradient that is a slice again; ``x[(i + d) % n]`` is the same of ``mode="wrap"``. One constant
(``x[max(i - 1, 0)]``) is a :class:`~kraise.emit.loads.dims.Clamp`; where an array is clamped along several axes, its
loads share one that is padded along all. (Measured on 800 by 1,000 cells: 0.74 of the time of a pad for each.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kraise.emit import tree
from kraise.emit.loads.mapped import Axes, mapped, named
from kraise.emit.loads.places import Ranges, Side, extent, made, side
from kraise.emit.loads.views import expression
from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.ir import equations as eq
from kraise.ir.types import INT

ZERO = eq.Const(0, INT)
_WIDEST = 64  # cells of a rim
_FEW = 4  # places of a window round its array that are as many rolls of it


def repeating(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such loads as loads of padded arrays."""
    roots = [r for s in tree.statements(kernel.body) for r in tree.statement_roots(s)]
    loads = (n for n in tree.walk(*roots) if isinstance(n, eq.Read) and not n.outside)
    return _Edges(kernel).kernel if any(_clamped(s) or _one_sided(s) for n in loads for s in n.subscripts) else kernel


def _one_sided(subscript: eq.Expr) -> tuple[eq.Expr, Linear | None] | None:
    """What is clamped at 0 or at an end alone, and the number of positions then."""
    match subscript:
        case eq.Op(name="max", args=(a, b)) if linear(b).same(Linear()):
            return a, None
        case eq.Op(name="max", args=(a, b)) if linear(a).same(Linear()):
            return b, None
        case eq.Op(name="min", args=(a, b)):
            moving, end = (a, b) if any(isinstance(n, eq.Index) for n in tree.walk(a)) else (b, a)
            return moving, linear(end) + 1
    return None


def _clamped(subscript: eq.Expr) -> tuple[eq.Expr, Linear, str] | None:
    """What is clamped from 0 on or goes round, the number of positions that it is brought to, and which of both."""
    match subscript:
        case eq.Op(name="mod" | "tmod", args=(moving, size)) if linear(size).terms and not linear(size).constant:
            # what "tmod" leaves below zero is no position of the array
            form, turn = linear(moving), linear(size)
            if len(turn.terms) == 1 and turn.terms[0][1] == 1:
                form = form.without(turn.terms[0][0])
            return expression(form), turn, "wrap"
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
                        return moving, linear(high) + 1, "edge"
    return None


class _Edges:
    """Rewrites the loads of a kernel, each in the ranges of the indices around it."""

    def __init__(self, kernel: eq.Kernel):
        self.free = tree.Free()
        self.own = made(kernel)
        roots = [r for s in tree.statements(kernel.body) for r in tree.statement_roots(s)]
        self.summed = {a.name for n in tree.walk(*roots) if isinstance(n, eq.Reduce) for a in n.axes}
        self.memo: dict[tuple[eq.Expr, Axes], eq.Expr] = {}
        clamps: dict[tuple[eq.Version, tuple[eq.Expr, ...]], set[int]] = {}
        for n in tree.walk(*roots):
            if isinstance(n, eq.Read) and len(n.subscripts) > 1:
                at = {k for k, s in enumerate(n.subscripts) if _one_sided(s) is not None}
                clamps.setdefault((n.version, n.view), set()).update(at)
        self.several = {key for key, found in clamps.items() if len(found) > 1}  # clamped along several axes
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
        if node.outside or node.safe or node.limit is not None:
            return node
        if not any(map(_clamped, node.subscripts)):
            return self._beside(node, ranges) if (node.version, node.view) in self.several else node
        modes = {c[2] for c in map(_clamped, node.subscripts) if c is not None}
        mode = modes.pop()
        subscripts, outside, indices = [], [], set[str]()
        for at, s in enumerate(node.subscripts):
            clamped = _clamped(s)
            limit = extent(self.own, node, at) if clamped is None else clamped[1]
            moving = side(s if clamped is None else clamped[0], ranges, self.free)
            part = None if moving is None else self._rims(moving, limit, ranges, mode if clamped is not None else "")
            if mode == "wrap" and moving is not None and not nonnegative(-moving.start):
                part = part if limit.same(extent(self.own, node, at)) else None  # a part of the round may be no place
            if moving is None or part is None or indices & moving.indices or modes:
                return node
            indices |= moving.indices
            subscripts.append(s if clamped is None else clamped[0])
            outside.append(replace(part, edge=mode))
        return replace(node, subscripts=tuple(subscripts), outside=tuple(outside))

    def _beside(self, node: eq.Read, ranges: Ranges) -> eq.Read:
        """A load at neighbours of each place, clamped at one end of an axis, of the array padded along all axes."""
        subscripts, outside, indices = [], [], set[str]()
        for at, s in enumerate(node.subscripts):
            whole = extent(self.own, node, at)
            moved, limit = _one_sided(s) or (s, None)
            moving = side(moved, ranges, self.free)
            if (
                moving is None
                or len(moving.indices) != 1
                or indices & moving.indices
                or not (limit or whole).same(whole)
            ):
                return node
            before, after = -moving.start, moving.stop - whole
            if before.terms or after.terms or max(before.constant, after.constant) > _WIDEST:
                return node
            indices |= moving.indices
            subscripts.append(moved)
            widths = (expression(_width(w)) for w in (before, after))
            first, last = widths
            outside.append(eq.Outside(first, expression(whole), last, edge="edge"))
        if all(a is b for a, b in zip(subscripts, node.subscripts, strict=True)):
            return node
        return replace(node, subscripts=tuple(subscripts), outside=tuple(outside))

    def _rims(self, moving: Side, limit: Linear, ranges: Ranges, mode: str) -> eq.Outside | None:
        """How far a window reaches beyond its array; None where the subscript is no window, or one as wide as it."""
        if not mode:
            return eq.Outside(ZERO, expression(limit), ZERO) if len(moving.indices) == 1 else None
        sizes = [linear(ranges[n].hi) - linear(ranges[n].lo) for n in moving.indices]
        before, after = -moving.start, moving.stop - limit
        if len(sizes) != 2 or all(not z.terms and z.constant > _WIDEST for z in sizes):
            return None
        number = not before.terms and not after.terms and mode == "edge"
        if mode == "wrap" and any(not z.terms and z.constant <= _FEW for z in sizes):
            return None  # rolls, one a term
        if not number and not (_of_window((before, after), [ranges[n] for n in moving.indices & self.summed])):
            return None
        widths = [_width(w) for w in (before, after)]
        if any(not w.terms and w.constant > _WIDEST for w in widths):
            return None
        return eq.Outside(expression(widths[0]), expression(limit), expression(widths[1]))


def _of_window(widths: tuple[Linear, ...], summed: list[eq.Axis]) -> bool:
    """Whether how far a window reaches depends on its own size only: then it is a number where there is a window."""
    sizes = _sizes(tree.walk(*(e for axis in summed for e in (axis.lo, axis.hi))))
    return _sizes(tree.walk(*(a for w in widths for a, _ in w.terms))) <= sizes


def _sizes(nodes: Iterable[eq.Expr]) -> set[object]:
    """The sizes among ``nodes``, whatever width they are computed with."""
    found = (n for n in nodes if isinstance(n, eq.Param | eq.Shape))
    return {n.name if isinstance(n, eq.Param) else (n.array, n.axis) for n in found}


def _width(value: Linear) -> Linear:
    """How far a window reaches, none where it ends before."""
    if not value.terms:
        return Linear((), max(value.constant, 0))
    return value if nonnegative(value) else linear(eq.Op("max", (expression(value), ZERO), INT))
