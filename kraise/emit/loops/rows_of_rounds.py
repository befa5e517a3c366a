"""What a loop puts out row by row, and a later one takes row by row, stays rows on the way.

``cp[s, 0] = a; cp[s, i] = out[s, i]`` for 1 <= i < n lays the rounds' rows down lane by lane; the loop that goes back
over them takes them apart again, transposed twice. It reads an array of the rows themselves instead,
``concatenate((a[None], out))``; the other is made only where something else asks for it. (Measured on tridiagonal
systems by threads: half of the time.) The side conditions: the array is the kernel's own, two stores that follow one
another fill the cells 0 … n - 1 of each lane, and a load is one of these cells wherever its indices are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kraise.emit import tree
from kraise.emit.loads.mapped import mapped, named
from kraise.emit.text.linear import from_zero, linear
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import transform

Ranges = dict[str, set[eq.Axis]]
_ZERO = eq.Const(0, INT)


@dataclass(frozen=True)
class _Rows:
    """The stores of a first row and of all others, by lane; ``at``: which subscript counts rows, ``axis`` its range."""

    first: eq.Write
    rest: eq.Write
    at: int
    axis: eq.Axis

    def lanes(self, items: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
        return (*items[: self.at], *items[self.at + 1 :])


def in_rows(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such loads as loads from arrays of rows."""
    ranges = _ranges(kernel)
    for at, stmt in enumerate(kernel.body):
        rows = _rows(kernel.body[:at], stmt) if isinstance(stmt, eq.Write) else None
        made = None if rows is None else _made(kernel, rows)
        if rows is None or made is None:
            continue
        loads = {n for n in _loads(kernel) if n.version is rows.rest.after}
        if not all(_inside(n, rows, ranges) for n in loads) or not any(
            _by_round(s, loads, rows) for s in tree.statements(kernel.body[at + 1 :])
        ):
            continue
        return in_rows(_instead(kernel, at, rows, made, loads))
    return kernel


def _rows(before: tuple[eq.Stmt, ...], rest: eq.Write) -> _Rows | None:
    """The two stores, if ``rest`` is the second one."""
    if not isinstance(rest.value, eq.FoldResult) or not rest.value.axes or not _plain(rest):
        return None
    axis, own = rest.value.axes[-1], {a.name: a for a in rest.axes}
    at = next((k for k, s in enumerate(rest.subscripts) if s is eq.Index(axis.name, INT)), 0)
    if not at or own.get(axis.name) is not axis or linear(axis.lo).terms or linear(axis.lo).constant != 1:
        return None
    first = next((s for s in before if isinstance(s, eq.Write) and s.after is rest.before), None)
    if first is None or not _plain(first):
        return None
    rows = _Rows(first, rest, at, axis)
    lanes = rows.lanes(rest.subscripts)
    whole = all(isinstance(s, eq.Index) and (a := own.get(s.name)) is not None and from_zero(a) for s in lanes)
    alike = lanes == rows.lanes(first.subscripts) and {*first.axes} == {*rest.axes} - {axis}
    place = linear(first.subscripts[at])
    if not whole or not alike or len({*lanes}) < len(own) - 1 or place.terms or place.constant or axis.step != 1:
        return None
    return rows


def _plain(s: eq.Write) -> bool:
    return not (s.accumulate or s.safe or s.segments or s.view or s.where is not None)


def _made(kernel: eq.Kernel, rows: _Rows) -> eq.New | None:
    """The statement that makes the array, if the kernel does."""
    array = rows.rest.after.array
    return next((s for s in kernel.body if isinstance(s, eq.New) and s.version.array == array), None)


def _loads(kernel: eq.Kernel) -> set[eq.Read]:
    roots = [r for s in tree.statements(kernel.body) for r in tree.statement_roots(s)]
    roots += [r for r in kernel.returns if not isinstance(r, eq.Version)]
    return {n for n in tree.walk(*roots) if isinstance(n, eq.Read)}


def _ranges(kernel: eq.Kernel) -> Ranges:
    """What the indices of a kernel run over, by name."""
    found: Ranges = {}
    for a in _axes(kernel):
        found.setdefault(a.name, set()).add(a)
    return found


def _axes(kernel: eq.Kernel) -> Iterator[eq.Axis]:
    for s in tree.statements(kernel.body):
        match s:
            case eq.Write(axes=axes):
                yield from axes
            case eq.Fold(axis=axis, scalars=scalars, outputs=outputs):
                yield from () if axis is None else (axis,)
                yield from (a for c in scalars for a in c.axes)
                yield from (a for o in outputs for a in o.axes)
        for n in tree.walk(*tree.statement_roots(s)):
            yield from tree.axes_of(n)


def _inside(load: eq.Read, rows: _Rows, ranges: Ranges) -> bool:
    """Whether a load is of a cell that the two stores fill, wherever its indices are."""
    if load.view or load.safe or load.outside or load.limit is not None:
        return False
    own = {a.name: a for a in rows.rest.axes}
    lanes = zip(rows.lanes(load.subscripts), rows.lanes(rows.rest.subscripts), strict=True)
    for s, lane in lanes:
        assert isinstance(lane, eq.Index)
        size = linear(own[lane.name].hi)
        if not isinstance(s, eq.Index) or not ranges.get(s.name):
            return False
        if not all(from_zero(a) and linear(a.hi).same(size) for a in ranges[s.name]):
            return False
    place, end = linear(load.subscripts[rows.at]), linear(rows.axis.hi)
    index = next((a for a, _ in place.terms if isinstance(a, eq.Index)), None)
    if index is None:
        return (end - place).same(linear(eq.Const(1, INT)))
    back = place.coefficient(index) == -1
    if abs(place.coefficient(index)) != 1 or not ranges.get(index.name):
        return False
    shift, one = place.without(index), linear(eq.Const(1, INT))
    for a in ranges[index.name]:
        ends = (linear(a.lo), linear(a.hi) - one)
        least, most = (shift - e for e in reversed(ends)) if back else (shift + e for e in ends)
        if any(x.terms or x.constant < 0 for x in (least, end - one - most)):
            return False
    return True


def _by_round(s: eq.Stmt, loads: set[eq.Read], rows: _Rows) -> bool:
    """Whether a loop loads a row in each round."""
    if not isinstance(s, eq.Fold) or s.axis is None:
        return False
    index = eq.Index(s.axis.name, INT)
    roots = [r for x in tree.statements((s,)) for r in tree.statement_roots(x)]
    return any(n in loads and index in tree.walk(n.subscripts[rows.at]) for n in tree.walk(*roots))  # type: ignore


def _instead(kernel: eq.Kernel, at: int, rows: _Rows, made: eq.New, loads: set[eq.Read]) -> eq.Kernel:
    array = made.version.array
    name = f"rows {sum(isinstance(s, eq.New) for s in kernel.body)}.{array.split('.')[-1]}"
    versions = [eq.Version(name, k) for k in range(3)]

    def turned(items: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
        return (items[rows.at], *rows.lanes(items))

    lanes = rows.lanes(rows.rest.subscripts)
    sizes = {a.name: a.hi for a in rows.rest.axes}
    count = eq.Op("max", (eq.Const(1, INT), rows.axis.hi), INT)
    shape = (count, *(sizes[s.name] for s in lanes if isinstance(s, eq.Index)))
    first = replace(rows.first, before=versions[0], after=versions[1], subscripts=(_ZERO, *lanes))
    rest = replace(rows.rest, before=versions[1], after=versions[2], subscripts=turned(rows.rest.subscripts))
    stmts = (replace(made, version=versions[0], shape=shape), first, rest)
    memo: dict[eq.Expr, eq.Expr] = {}

    def one(n: eq.Expr) -> eq.Expr:
        return eq.Read(versions[2], turned(n.subscripts), n.type) if n in loads else n  # type: ignore[union-attr]

    def anew(e: eq.Expr) -> eq.Expr:
        return transform(e, one, memo)

    done = mapped(kernel, lambda e, axes: anew(e))
    done = replace(done, returns=tuple(r if isinstance(r, eq.Version) else anew(r) for r in done.returns))
    body = (*done.body[: at + 1], *stmts, *done.body[at + 1 :])
    stores = (done.body[at], next(s for s in done.body if isinstance(s, eq.Write) and s.after is rows.first.after))
    if not _asked(replace(done, body=tuple(s for s in body if s not in stores)), array):
        body = tuple(s for s in body if s not in stores and s is not made)
    return named(replace(done, body=body), memo.items())


def _asked(kernel: eq.Kernel, array: str) -> bool:
    """Whether anything but its stores asks for an array."""
    if any(n.version.array == array for n in _loads(kernel)):
        return True
    if any(isinstance(r, eq.Version) and r.array == array for r in kernel.returns):
        return True
    return any(
        (isinstance(s, eq.Write) and s.before.array == array)
        or (isinstance(s, eq.Fold) and any(c.outside.array == array for c in s.arrays))
        for s in tree.statements(kernel.body)
    )


__all__ = ["in_rows"]
