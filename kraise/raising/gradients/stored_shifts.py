"""Shifts that cancel through an array: ``y = exp(x - m)`` is stored, and then ``y / sum(y)`` in its place.

As in :mod:`.shifts`, with the loads of such an array as what was stored there. Side conditions, checked: it is one
plain store, of which each load is of a cell that it makes; the array is not returned as it is then, for the same cells
are stored anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from kraise.ir.equations import Axis, Expr, Index, Kernel, Op, Read, Reduce, Stmt, Version, Write
from kraise.ir.types import INT, INT32
from kraise.ir.walk import (
    Unmovable,
    axes_of,
    children,
    map_statement,
    statement_expressions,
    statements,
    substitute,
    topological,
)
from kraise.raising.gradients.shifts import exponentials, replaced, shifts_of, stopped, with_values

Scope = tuple[Mapping[str, Axis], frozenset[Expr]]


def unshifted_stores(kernel: Kernel) -> Kernel:
    """The kernel with the maxima that cancel so behind ``stop_gradient``."""
    for s in kernel.body:
        if isinstance(s, Write) and any(isinstance(n, Op) and n.name == "exp" for n in topological((s.value,))):
            kernel = _unshifted(kernel, s)
    return kernel


def _unshifted(kernel: Kernel, s: Write) -> Kernel:
    own = {m for _, m in exponentials(replace(kernel, body=(s,), returns=()))}
    shifts = [g for g in shifts_of(kernel) if g & own]
    forwarded = _forwarded(kernel, s) if shifts else None
    if forwarded is None:
        return kernel
    for shift in shifts:
        if stopped(forwarded, shift) is forwarded:
            continue
        made: dict[Expr, Expr] = {}
        for node, m in exponentials(kernel):
            if m in shift:
                difference = node.args[0]
                assert isinstance(difference, Op)
                stop = Op("stop_gradient", (m,), m.type)
                made[node] = replace(node, args=(replace(difference, args=(difference.args[0], stop)),))
        kernel = with_values(kernel, made, made)
    return kernel


def _forwarded(kernel: Kernel, s: Write) -> Kernel | None:
    """The kernel without the store: each load of what it makes is the value. None where one is of another cell."""
    places = [n.name for n in s.subscripts if isinstance(n, Index)]
    if s.accumulate or s.segments or s.safe or sorted(places) != sorted(a.name for a in s.axes):
        return None
    if len(places) != len(s.subscripts) or s.after in kernel.returns:
        return None
    body: list[Stmt] = []
    for other in kernel.body:
        if other is s:
            continue
        reads = [n for n in topological(statement_expressions(other)) if isinstance(n, Read) and n.version is s.after]
        again = [x for x in statements((other,)) if isinstance(x, Write) and x.before is s.after]
        if (reads or again) and not isinstance(other, Write):
            return None
        if again and not _overwrites(s, again[0]):
            return None
        if reads and isinstance(other, Write):
            values = _values(s, other)
            if values is None:
                return None
            other = map_statement(other, partial(replaced, found=values))
        body.append(other)
    results = [r for r in kernel.returns if not isinstance(r, Version)]
    if any(isinstance(n, Read) and n.version is s.after for n in topological(results)):
        return None
    return replace(kernel, body=tuple(body))


def _overwrites(s: Write, t: Write) -> bool:
    """Whether a store makes all cells of another one anew."""
    plain = not (t.accumulate or t.segments or t.safe) and t.view == s.view and len(t.axes) == len(s.axes)
    if not plain:
        return False
    renamed = _renaming(s, t.subscripts, {a.name: a for a in t.axes})
    if renamed is None:
        return False
    return t.where is None or (s.where is not None and substitute(s.where, renamed) is t.where)


def _renaming(s: Write, subscripts: tuple[Expr, ...], axes: Mapping[str, Axis]) -> dict[Expr, Expr] | None:
    """The store's indices as those of a place within its range, where each subscript is an index of the same range."""
    ranges = {a.name: (a.lo, a.hi, a.step) for a in s.axes}
    found: dict[Expr, Expr] = {}
    for mine, place in zip(s.subscripts, subscripts, strict=True):
        axis = axes.get(place.name) if isinstance(place, Index) else None
        if axis is None or not isinstance(mine, Index) or ranges[mine.name] != (axis.lo, axis.hi, axis.step):
            return None
        found |= {Index(mine.name, kind): place for kind in (INT, INT32)}
    return found


def _values(s: Write, other: Write) -> dict[Expr, Expr] | None:
    """What the loads of the stored cells in a statement are; None where one may be another cell."""
    found: dict[Expr, Expr] = {}
    for load, (axes, held) in _loads(s.after, other):
        renamed = _renaming(s, load.subscripts, axes) if load.view == s.view and not load.safe else None
        if renamed is None:
            return None
        try:
            if s.where is not None and substitute(s.where, renamed) not in held:
                return None
            found[load] = substitute(s.value, renamed)
        except Unmovable:
            return None
    return found


def _loads(version: Version, s: Write) -> Iterator[tuple[Read, Scope]]:
    """The loads of a version in a statement, each with the axes and the conditions around it."""
    held = frozenset(() if s.where is None else (s.where,))
    own = {a.name: a for a in s.axes}
    stack: list[tuple[Expr, Scope]] = [(e, (own, held)) for e in statement_expressions(s)]
    seen: set[tuple[Expr, tuple[Axis, ...], frozenset[Expr]]] = set()
    while stack:
        node, (axes, held) = stack.pop()
        key = (node, tuple(axes.values()), held)
        if key in seen:
            continue
        seen.add(key)
        if isinstance(node, Read) and node.version is version:
            yield node, (axes, held)
        inner = axes_of(node)
        around = {**axes, **{a.name: a for a in inner}} if inner else axes
        more = held | {node.where} if isinstance(node, Reduce) and node.where is not None else held
        stack += [(c, (around, more)) for c in children(node)]


__all__ = ["unshifted_stores"]
