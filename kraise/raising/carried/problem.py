"""A scalar carried by a loop, as the rules see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kraise.analysis.boxes import box
from kraise.analysis.conditions import conjunction, conjuncts
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import children, free_indices, rebuild, substitute, topological
from kraise.raising.run import simplify
from kraise.raising.run.earliest import before, earliest


@dataclass(frozen=True)
class Declined:
    """A rule does not apply, and why, in words for the user."""

    reason: str


@dataclass(frozen=True)
class Solved:
    """``replace``: what stands for nodes of the body (the carried value, its update) in terms of the index; ``final``:
    the values after the loop of the scalars that the rule settles."""

    final: dict[str, eq.Expr]
    replace: dict[eq.Expr, eq.Expr] = field(default_factory=dict)
    form: str = ""


@dataclass
class Problem:
    """One loop: its index, range and direction, the carried scalars with their values on entry, update and before the
    loop.

    ``path`` and ``open`` are those around the loop, ``range`` the conjuncts that bound the index. ``uses``: all
    expressions of the body other than the updates. ``settled`` names no longer need their CarryIn.
    """

    index: eq.Index
    start: eq.Expr
    stop: eq.Expr
    step: int
    range: tuple[eq.Expr, ...]
    path: tuple[eq.Expr, ...]
    open: tuple[str, ...]
    carries: dict[str, eq.CarryIn]
    inits: dict[str, eq.Expr]
    updates: dict[str, eq.Expr]
    uses: Callable[[], list[eq.Expr]]
    pending: list[str]
    folds: Callable[[], dict[str, list[eq.Expr]]] = dict  # what is computed in each loop inside that stays
    changing: Callable[[eq.Expr], bool] = lambda node: False  # a load of what rounds store, or what is made in a round
    # cells with a value for each index of the loops within: as found, as left, before the loop; not among ``pending``
    cells: dict[str, tuple[eq.Expr, eq.Expr, eq.Expr]] = field(default_factory=dict)
    demand: Callable[[eq.Expr], bool] = lambda size: False  # that a size is one at least; False if nothing checks it

    def used_in(self, name: str, *, besides: tuple[str, ...] = ()) -> bool:
        """Whether the value of ``name`` on entry is used by the body other than in the updates of ``name`` and
        ``besides``."""
        from kraise.raising.writes.accumulate import holds

        node = self.carries[name]
        own = {name, *besides}
        others = [u for n, u in self.updates.items() if n not in own]
        used = [*others, *self.uses()]
        return any(holds(e, node) for e in used) or bool(moved(node, used))

    def free_of_pending(self, expr: eq.Expr, *, besides: tuple[str, ...] = ()) -> bool:
        """Whether ``expr`` holds no carried value that is not settled yet, nor the result of an inner loop that uses
        one."""
        pending = {self.carries[n] for n in self.pending if n in self.carries and n not in besides}
        folds, stack, seen = self.folds(), [expr], set[str]()
        while stack:
            for n in topological((stack.pop(),)):
                if n in pending:
                    return False
                if isinstance(n, eq.FoldResult) and n.fold in folds and n.fold not in seen:
                    seen.add(n.fold)
                    stack += folds[n.fold]
        return True

    @property
    def runs(self) -> eq.Expr:
        """Whether the loop has a round."""
        if self.step > 0:
            return simplify.op("lt", (self.start, self.stop), BOOL)
        return simplify.op("gt", (self.start, self.stop), BOOL)

    def last(self) -> eq.Expr:
        """The index in the last round (if there is one)."""
        from kraise.raising.run.arithmetic import operation

        one = eq.Const(1, INT)
        if self.step == 1:
            return operation("sub", (self.stop, one), INT)
        if self.step == -1:
            return operation("add", (self.stop, one), INT)
        size = eq.Const(abs(self.step), INT)
        first, end = (self.start, self.stop) if self.step > 0 else (self.stop, self.start)
        span = operation("sub", (operation("sub", (end, first), INT), one), INT)
        rounds = simplify.op("floordiv", (span, size), INT)
        moved = operation("mul", (rounds, eq.Const(self.step, INT)), INT)
        return operation("add", (self.start, moved), INT)

    def reduce(self, op: str, body: eq.Expr, where: eq.Expr | None) -> eq.Expr:
        """The reduction of ``body`` over the loop, where ``where`` holds; affine conditions become its domain."""
        return reduce_over(self.index.name, self.range, self.path, self.open, op, body, where)

    def any(self, condition: eq.Expr) -> eq.Expr:
        """Whether ``condition`` holds in any round; what is the same in all of them is asked once."""
        condition, _ = self.until(condition)
        parts = conjuncts(condition)
        outside = [c for c in parts if self.index.name not in free_indices(c)]
        inside = conjunction([c for c in parts if c not in outside])
        found = self.runs if inside is None else self.reduce("or", inside, None)
        return simplify.conjunction(*outside, found)

    def until(self, condition: eq.Expr) -> tuple[eq.Expr, eq.Expr | None]:
        """``condition`` without that no round before has left the loop, and the round in which it then holds."""
        return earliest(condition, self.index.name, self.range)

    def domain(self, where: eq.Expr | None) -> tuple[eq.Axis, eq.Expr | None]:
        """The axis of the loop's index under ``where``, and the condition that is left."""
        return domain_of(self.index.name, self.range, self.path, self.open, where)

    def at(self, expr: eq.Expr, index: eq.Expr) -> eq.Expr:
        """``expr`` at another value of the loop's index."""
        return at_index(expr, self.index, index)


def last_value(p: Problem, name: str, init: eq.Expr | None) -> eq.Expr:
    """What the last round makes of a scalar that no round looks at, ``init`` where there is no round."""
    from kraise.raising.run.arithmetic import tidy

    v = p.updates[name]
    at_end = tidy(p.at(v, p.last())) if p.index.name in free_indices(v) else v
    return at_end if init is None else simplify.select(p.runs, at_end, init, at_end.type)


def moved(node: eq.CarryIn, exprs: Iterable[eq.Expr]) -> set[eq.CarryIn]:
    """What a loop carries, as it is taken at other lanes than the own one."""
    if not node.axes:
        return set()
    found = (n for n in topological(exprs) if isinstance(n, eq.CarryIn))
    return {n for n in found if (n.fold, n.name) == (node.fold, node.name) and n is not node}


def at_index(expr: eq.Expr, index: eq.Index, target: eq.Expr) -> eq.Expr:
    """``expr`` with ``target`` for ``index``; a running value at one place is a reduction up to there."""
    from kraise.raising.carried.reduction import combined

    def runs(node: eq.Expr) -> bool:
        return isinstance(node, eq.Scan) and node.axis.name == index.name and node.other is None

    def one(node: eq.Scan) -> eq.Expr:
        compare = {(True, False): "le", (False, False): "lt", (True, True): "ge", (False, True): "gt"}
        where = eq.Op(compare[node.inclusive, node.reverse], (index, target), BOOL)
        axis, left = domain_of(index.name, bounds_of(node.axis), (), tuple(free_indices(target)), where)
        # the body is of every round up to there: running values in it stay
        total = eq.Reduce(node.op, (axis,), node.body, left, node.type)
        return combined(node.op, node.init, total, node)

    if not isinstance(target, eq.Index):
        memo: dict[eq.Expr, eq.Expr] = {}
        for node in topological((expr,), lambda n: () if runs(n) else children(n)):
            memo[node] = one(node) if runs(node) else rebuild(node, tuple(memo[c] for c in children(node)))  # type: ignore[arg-type]
        expr = memo[expr]
    return substitute(expr, {index: target})


def bounds_of(axis: eq.Axis) -> tuple[eq.Expr, ...]:
    """The conjuncts that say what a unit-stride axis says."""
    i = eq.Index(axis.name, INT)
    return eq.Op("ge", (i, axis.lo), BOOL), eq.Op("lt", (i, axis.hi), BOOL)


def domain_of(
    name: str,
    bounds: tuple[eq.Expr, ...],
    path: tuple[eq.Expr, ...],
    context: tuple[str, ...],
    where: eq.Expr | None,
) -> tuple[eq.Axis, eq.Expr | None]:
    """The axis of index ``name`` under its own bounds and ``where``, and what the axis does not say of them.

    Raises:
        Unbounded: no bound known when the function is traced.
    """
    where = where if where is None else before(where, name, bounds)
    own = tuple(dict.fromkeys((*bounds, *(conjuncts(where) if where is not None else ()))))
    others = tuple(n for n in context if n != name)
    found = box((name,), tuple(dict.fromkeys((*own, *path))), others)
    left = [c for c in found.residue if c in own and c not in path]
    return found.axes[0], conjunction(left)


def reduce_over(
    name: str,
    bounds: tuple[eq.Expr, ...],
    path: tuple[eq.Expr, ...],
    context: tuple[str, ...],
    op: str,
    body: eq.Expr,
    where: eq.Expr | None,
) -> eq.Expr:
    axis, left = domain_of(name, bounds, path, context, where)
    return eq.Reduce(op, (axis,), body, left, body.type)
