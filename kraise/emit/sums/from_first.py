"""Running values that start from the cell before their first: ``a[0] + cumsum(a[1:])`` in ``a[1:]`` is ``cumsum(a)``.

That is what ``a[k] += a[k - 1]`` from 1 on becomes: the first cell keeps its value, which is the running value there.
Where the first cell is stored just before (``y[0] = x[0]``, then ``y[k] = y[k - 1] + x[k]``), that store goes, too, if
there surely is a first cell: the range ends with an array of which it is read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kraise.emit.guards import checked_sizes
from kraise.emit.stores.merge import users
from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.ir import equations as eq
from kraise.ir.types import FLOAT, INT, NUMBER
from kraise.ir.walk import substitute, topological

_NEUTRAL = {"add": 0, "mul": 1, "max": float("-inf"), "min": float("inf")}


def from_first(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such running values over all of their cells, within folds too."""
    return replace(kernel, body=_body(kernel.body, users(kernel), checked_sizes(kernel)))


def _body(body: tuple[eq.Stmt, ...], uses: Counter[eq.Version], positive: tuple[Linear, ...]) -> tuple[eq.Stmt, ...]:
    out: list[eq.Stmt] = []
    for stmt in body:
        if isinstance(stmt, eq.Fold):
            out.append(replace(stmt, body=_body(stmt.body, uses, positive)))
            continue
        if isinstance(stmt, eq.Write) and isinstance(stmt.value, eq.Scan):
            last = out[-1] if out else None
            if isinstance(last, eq.Write) and last.after is stmt.before and uses[last.after] == 1:
                both = _with_first(last, stmt, stmt.value, positive)
                if both is not None:
                    out[-1] = both
                    continue
            stmt = _in_place(stmt, stmt.value) or stmt
        out.append(stmt)
    return tuple(out)


def _in_place(stmt: eq.Write, scan: eq.Scan) -> eq.Write | None:
    own = isinstance(scan.body, eq.Read) and scan.body is eq.Read(
        stmt.before, stmt.subscripts, scan.body.type, stmt.view, scan.body.safe
    )
    return _longer(stmt, scan) if own and scan.init is _before(scan, scan.body) else None


def _with_first(first: eq.Write, stmt: eq.Write, scan: eq.Scan, positive: tuple[Linear, ...]) -> eq.Write | None:
    """Both stores as one."""
    axes = tuple(a for a in stmt.axes if a.name != scan.axis.name)
    cell = tuple(_before(scan, s) for s in stmt.subscripts)
    plain = not (first.accumulate or first.where or first.safe or first.segments)
    if not plain or (first.axes, first.subscripts, first.view) != (axes, cell, stmt.view):
        return None
    if first.value is not _before(scan, scan.body):
        return None
    if linear(scan.axis.lo).same(Linear()):
        own = next(a for a in stmt.axes if a.name == scan.axis.name)
        behind = linear(own.lo).same(Linear((), 1)) and own == replace(scan.axis, lo=own.lo)
        there = any(nonnegative(linear(own.hi) - size + -1) for size in positive)
        wide = replace(stmt, before=first.before, axes=tuple(scan.axis if a is own else a for a in stmt.axes))
        return wide if behind and there and _alone(stmt, scan) else None
    if not isinstance(scan.init, eq.Read):
        return None
    if (scan.init.version, scan.init.subscripts, scan.init.view) != (stmt.before, cell, stmt.view):
        return None
    there = isinstance(scan.axis.hi, eq.Shape) and any(
        isinstance(n, eq.Read)
        and not n.view
        and n.version.array == scan.axis.hi.array
        and linear(n.subscripts[scan.axis.hi.axis]).same(linear(scan.axis.lo) + -1)
        for n in topological((first.value,))
    )
    longer = _longer(stmt, scan) if there else None
    return None if longer is None else replace(longer, before=first.before)


def _longer(stmt: eq.Write, scan: eq.Scan) -> eq.Write | None:
    """The store with the cell before its first."""
    at = next((k for k, a in enumerate(stmt.axes) if a.name == scan.axis.name), None)
    if at is None or stmt.axes[at] is not scan.axis or not _alone(stmt, scan) or scan.op not in _NEUTRAL:
        return None
    if scan.axis.step != 1 or not (linear(scan.axis.lo).same(linear(eq.Const(1, INT)))):
        return None  # a range from 0 on is none that ends before it begins
    if any(isinstance(n, eq.Read) and n.version is stmt.after for n in topological((scan.body,))):
        return None
    axis = replace(scan.axis, lo=eq.Const(0, INT))
    neutral = eq.Const(_NEUTRAL[scan.op], FLOAT if scan.type is NUMBER and scan.op in ("min", "max") else scan.type)
    value = replace(scan, axis=axis, init=neutral)
    return replace(stmt, axes=(*stmt.axes[:at], axis, *stmt.axes[at + 1 :]), value=value)


def _alone(stmt: eq.Write, scan: eq.Scan) -> bool:
    """Whether the store is a plain one of running values, each with its own term."""
    plain = not (stmt.accumulate or stmt.where or stmt.safe or stmt.segments)
    return plain and scan.inclusive and not (scan.reverse or scan.other)


def _before(scan: eq.Scan, e: eq.Expr) -> eq.Expr:
    """``e`` at the place before the first."""
    return substitute(e, {eq.Index(scan.axis.name, INT): eq.Const(0, INT)})


__all__ = ["from_first"]
