"""Shifts that cancel: what a softmax subtracts has no derivative, and none is computed (raising.md, step 8).

``exp(x - m) / sum(exp(y - m))`` does not depend on ``m``: as a product of powers of ``exp(-m)`` its degree is zero. So
are ``m + log(sum(exp(x - m)))`` and what is made of these. There ``m`` stands behind ``stop_gradient``, where it is a
maximum or minimum, whose derivative is costly: a comparison with every element and a count of ties.
Side conditions: each exponential of ``m`` lies within such a value, and no sum over it binds an index of ``m``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from kraise.ir.equations import Axis, Const, Expr, Index, Kernel, Op, Reduce, Version
from kraise.ir.types import INT, INT32
from kraise.ir.walk import (
    children,
    free_indices,
    map_statement,
    statement_expressions,
    substitute,
    topological,
    transform,
)

_MOST = 8  # maxima of one kernel that are looked at


def unshifted(kernel: Kernel) -> Kernel:
    """The kernel with the maxima that cancel behind ``stop_gradient``."""
    for shift in shifts_of(kernel)[:_MOST]:
        kernel = stopped(kernel, shift)
    return kernel


def _roots(kernel: Kernel) -> list[Expr]:
    roots = [e for s in kernel.body for e in statement_expressions(s)]
    return roots + [r for r in kernel.returns if not isinstance(r, Version)]


def exponentials(kernel: Kernel) -> list[tuple[Op, Expr]]:
    """Each ``exp(x - m)`` of the kernel with its ``m``."""
    found: list[tuple[Op, Expr]] = []
    for node in topological(_roots(kernel)):
        match node:
            case Op(name="exp", args=(Op(name="sub", args=(_, m)),)):
                found.append((node, m))
    return found


def shifts_of(kernel: Kernel) -> list[frozenset[Expr]]:
    """The candidates: what is subtracted in an exponential and is a maximum or minimum over an axis; those together
    that differ in the names of bound indices only."""
    groups: dict[Expr, dict[Expr, None]] = {}
    for shift in dict.fromkeys(m for _, m in exponentials(kernel)):
        if any(isinstance(n, Reduce) and n.op in ("min", "max") for n in topological((shift,))):
            groups.setdefault(_unnamed(shift), {})[shift] = None
    return [frozenset(group) for group in groups.values()]


def _unnamed(value: Expr) -> Expr:
    """The value with names of their own for the indices that its reductions bind."""
    heights: dict[Expr, int] = {}

    def renamed(node: Expr) -> Expr:
        height = heights[node] = max((heights.get(c, 0) for c in children(node)), default=0)
        if not isinstance(node, Reduce):
            return node
        axes: list[Axis] = []
        mapping: dict[Expr, Expr] = {}
        for at, axis in enumerate(node.axes):
            name = f"{height}.{at}"
            axes.append(replace(axis, name=name))
            mapping |= {Index(axis.name, kind): Index(name, kind) for kind in (INT, INT32)}
        where = None if node.where is None else substitute(node.where, mapping)
        out = replace(node, axes=tuple(axes), body=substitute(node.body, mapping), where=where)
        heights[out] = height + 1
        return out

    return transform(value, renamed, {})


def stopped(kernel: Kernel, shifts: frozenset[Expr]) -> Kernel:
    """The kernel with one shift stopped, the same where some exponential of it counts for more than its ratio."""
    own = {node for node, m in exponentials(kernel) if m in shifts}
    degrees = Degrees(shifts, own)
    holding: set[Expr] = set()
    made: dict[Expr, Expr] = {}
    stop: dict[Expr, Expr] = {m: Op("stop_gradient", (m,), m.type) for m in shifts}
    for node in topological(_roots(kernel)):
        if node in own or any(c in holding for c in children(node)):
            holding.add(node)
            if degrees.of(node) == 0 or degrees.logarithm(node) == 0:
                made[node] = replaced(node, stop)
    changed = with_values(kernel, made, stop)
    return kernel if own & set(topological(_roots(changed))) else changed


def replaced(root: Expr, found: Mapping[Expr, Expr]) -> Expr:
    """The outermost of what is found replaced; nothing is free in a value that is not free in what it replaces."""
    return transform(root, lambda node: node, dict(found))


def with_values(kernel: Kernel, made: Mapping[Expr, Expr], named: Mapping[Expr, Expr]) -> Kernel:
    """The kernel with the values that are ``made`` in place of others, and with the names of those that are
    ``named``."""
    names = tuple(replace(n, expr=new) for n in kernel.names if (new := replaced(n.expr, named)) is not n.expr)
    return replace(
        kernel,
        body=tuple(map_statement(s, lambda e: replaced(e, made)) for s in kernel.body),
        returns=tuple(r if isinstance(r, Version) else replaced(r, made) for r in kernel.returns),
        names=(*kernel.names, *names),
    )


class Degrees:
    """Degrees of values in ``exp(-shift)``, and of sums in ``shift`` itself; None where a value has none."""

    def __init__(self, shifts: frozenset[Expr], own: set[Op], known: Mapping[Expr, int] = MappingProxyType({})) -> None:
        """``own`` are the exponentials of the ``shifts``; ``known`` says the degrees of other values."""
        self.shifts, self.own = shifts, own
        self.indices = frozenset().union(*(free_indices(m) for m in shifts))
        self._degrees: dict[Expr, int | None] = {**known}

    def of(self, root: Expr) -> int | None:
        """The power of ``exp(-shift)`` that the value is a multiple of."""
        for node in topological((root,), lambda n: () if n in self._degrees else children(n)):
            if node not in self._degrees:
                self._degrees[node] = self._degree(node)
        return self._degrees[root]

    def _degree(self, node: Expr) -> int | None:
        known = self._degrees
        if node in self.own:
            assert isinstance(node, Op) and isinstance(node.args[0], Op)
            return 1 if known[node.args[0].args[0]] == 0 else None
        match node:
            case Op(name="mul", args=(a, b)):
                return None if known[a] is None or known[b] is None else known[a] + known[b]  # type: ignore[operator]
            case Op(name="div", args=(a, b)):
                return None if known[a] is None or known[b] is None else known[a] - known[b]  # type: ignore[operator]
            case Op(name="add" | "sub", args=(a, b)):
                return self._alike(a, b)
            case Op(name="select", args=(c, a, b)) if known[c] == 0:
                return self._alike(a, b)
            case Op(name="neg", args=(a,)):
                return known[a]
            case Reduce(op="add", axes=axes, body=body, where=where) if known[body] != 0:
                bound = {a.name for a in axes} & self.indices
                return known[body] if not bound and (where is None or known[where] == 0) else None
        if node in self.shifts:
            return None
        return 0 if all(known[c] == 0 for c in children(node)) else None

    def _alike(self, a: Expr, b: Expr) -> int | None:
        if _zero(a) or _zero(b):
            return self._degrees[b if _zero(a) else a]
        return self._degrees[a] if self._degrees[a] == self._degrees[b] else None

    def logarithm(self, node: Expr) -> int | None:
        """The multiple of ``shift`` that a sum of the shift and of logarithms holds."""
        if node in self.shifts:
            return 1
        match node:
            case Op(name="log", args=(a,)) if self.of(a):
                return -(self.of(a) or 0)
            case Op(name="add" | "sub" as name, args=(a, b)):
                x, y = self.logarithm(a), self.logarithm(b)
                return None if x is None or y is None else x + y if name == "add" else x - y
            case Op(name="neg", args=(a,)):
                x = self.logarithm(a)
                return None if x is None else -x
        return 0 if self.of(node) == 0 else None


def _zero(node: Expr) -> bool:
    return isinstance(node, Const) and node.value == 0
