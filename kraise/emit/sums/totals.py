"""The sum of a row beside its running sums is the last of these.

``total[b] = sum_t x[b, t]`` and ``y[b, t] = cumsum_t(x[b, t])`` of the same rows (or ``cumsum - x``, exact in
integers, which wrap): the running sums are made once, as an array of their own, of which one column is the totals.
(Measured on sums of blocks: 0.6 of the time.) The side conditions: the rows are never empty, both are over all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraise.emit import tree
from kraise.emit.loads.mapped import named
from kraise.emit.sums.scans import is_neutral
from kraise.emit.text.linear import from_zero, linear
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, transform


def of_running(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such totals as the last running values."""
    for at, running, total, lanes in _pairs(kernel):
        return of_running(_last(kernel, at, running, total, lanes))
    return kernel


def _pairs(kernel: eq.Kernel) -> Iterator[tuple[int, eq.Scan, eq.Reduce, tuple[eq.Axis, ...]]]:
    """Running values, the total of the same rows, the indices of these, and the store before which both are made."""
    stores = [(at, s) for at, s in enumerate(kernel.body) if isinstance(s, eq.Write) and not s.segments]
    totals = {
        (n.op, *n.axes, *_masked(n.op, n.body, n.where), n.type): (at, s, n)
        for at, s in stores
        for n in tree.walk(s.value)
        if isinstance(n, eq.Reduce) and len(n.axes) == 1
    }
    for at, s in stores if totals else ():
        for n in tree.walk(s.value):
            if not isinstance(n, eq.Scan) or n.op == "linear" or n.other is not None or n.reverse:
                continue
            found = totals.get((n.op, n.axis, *_masked(n.op, n.body, None), n.type))
            exact = n.inclusive or (n.op == "add" and n.type.is_integer)
            if found is None or not exact or not is_neutral(n) or not _whole(n.axis):
                continue
            names = free_indices(n.body) - {n.axis.name}
            lanes = tuple(a for a in s.axes if a.name in names)
            if len(lanes) == len(names) and {*lanes} <= {*found[1].axes} and all(map(from_zero, lanes)):
                yield min(at, found[0]), n, found[2], lanes


def _masked(op: str, body: eq.Expr, where: eq.Expr | None) -> tuple[eq.Expr, eq.Expr | None]:
    """What is added up, and where: of a choice between it and zero, too."""
    match body:
        case eq.Op(name="select", args=(condition, value, eq.Const(value=0))) if op == "add" and where is None:
            return value, condition
    return body, where


def _whole(a: eq.Axis) -> bool:
    """Whether an axis has a place: a number of them, or one for each thread of a block."""
    size = linear(a.hi)
    threads = all(c > 0 and isinstance(x, eq.Param) and x.name.startswith("block.") for x, c in size.terms)
    return from_zero(a) and threads and size.constant >= (not size.terms)


def _last(kernel: eq.Kernel, at: int, running: eq.Scan, total: eq.Reduce, lanes: tuple[eq.Axis, ...]) -> eq.Kernel:
    axes = (*lanes, running.axis)
    name = f"running {sum(isinstance(s, eq.New) for s in kernel.body)}.running"
    before, after = (eq.Version(name, k) for k in (0, 1))
    places = tuple(eq.Index(a.name, INT) for a in axes)
    last = eq.Op("sub", (running.axis.hi, eq.Const(1, INT)), INT)
    load: eq.Expr = eq.Read(after, places, running.type)
    if not running.inclusive:
        load = eq.Op("sub", (load, running.body), running.type)
    instead: dict[eq.Expr, eq.Expr] = {running: load, total: eq.Read(after, (*places[:-1], last), total.type)}
    sums = replace(running, inclusive=True)
    instead |= {sums: eq.Read(after, places, running.type)}
    memo: dict[eq.Expr, eq.Expr] = {}

    def anew(s: eq.Stmt) -> eq.Stmt:
        return replace(s, value=transform(s.value, lambda n: instead.get(n, n), memo)) if isinstance(s, eq.Write) else s

    made = (
        eq.New(before, running.type, tuple(a.hi for a in axes)),
        eq.Write(before, after, axes, places, sums, covers=True),
    )
    body = tuple(anew(s) for s in kernel.body)
    return named(replace(kernel, body=(*body[:at], *made, *body[at:])), memo.items())


__all__ = ["of_running"]
