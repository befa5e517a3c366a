"""Arrays of the kernel's own, as they are used: the part of each axis that something reads, and the axes in the order
of what is made of them.

A tile that is staged with a halo of eight cells on each side, of which a filter reads three, has three: nothing is
stored that nobody reads. A tile by ``block_x``, ``block_y`` whose rows go back to rows of an image lies in the order of
the image: it is turned round once, where it is filled, not at each place where it is read. (Measured on rows filtered
by tiles: 0.2 of the time of the gradient with what stands in :mod:`kraise.emit.stores.pieces`.) The side conditions:
no loop carries the array, no load of it leaves it, and all that read it agree on the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from kraise.emit import tree
from kraise.emit.loads.views import expression
from kraise.emit.text.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import map_statement, transform

Part = tuple[int, int]  # the first cell, and the first behind the last


def fitted(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such arrays no larger than the part of them that is read, in the order in which it is."""
    for version in [s.version for s in kernel.body if isinstance(s, eq.New) and len(s.shape) > 1]:
        new = next(s for s in kernel.body if isinstance(s, eq.New) and s.version is version)
        stores = _stores(kernel, new)
        loads = [n for s in stores for n in _loads(s, new)] if stores is not None else []
        if stores is None or not loads or any(n.safe or n.view or n.outside or n.limit for n in loads):
            continue
        kernel = _in_order(_narrowed(kernel, new, stores), new)
    return kernel


def _stores(kernel: eq.Kernel, new: eq.New) -> list[eq.Write] | None:
    """The statements that store or load the array; None where others do, or it is returned."""
    name, found = new.version.array, []
    for s in kernel.body:
        own = [*tree.statements((s,))]
        if not any(_holds(o, name) for o in own):
            continue
        if not isinstance(s, eq.Write) or s.after.array == name and (s.safe or s.view or s.segments):
            return None
        found.append(s)
    for value in kernel.returns:
        nodes = () if isinstance(value, eq.Version) else tree.walk(value)
        if getattr(value, "array", "") == name or any(
            isinstance(n, eq.Read) and n.version.array == name for n in nodes
        ):
            return None
    return found


def _holds(s: eq.Stmt, name: str) -> bool:
    match s:
        case eq.Write(after=after) if after.array == name:
            return True
        case eq.Fold(arrays=arrays) if any(c.outside.array == name for c in arrays):
            return True
        case eq.New():
            return False
    return any(isinstance(n, eq.Read) and n.version.array == name for n in tree.walk(*tree.statement_roots(s)))


def _loads(s: eq.Write, new: eq.New) -> Iterator[eq.Read]:
    for n in tree.walk(*tree.statement_roots(s)):
        if isinstance(n, eq.Read) and n.version.array == new.version.array:
            yield n


# --- the part that is read -----------------------------------------------------------------------


def _narrowed(kernel: eq.Kernel, new: eq.New, stores: list[eq.Write]) -> eq.Kernel:
    for at, extent in enumerate(new.shape):
        size = linear(extent)
        part = None if size.terms else _read(new, stores, at)
        if part is None or part[0] <= 0 and part[1] >= size.constant:
            continue
        first, stop = max(part[0], 0), min(part[1], size.constant)
        changed = {s: _within(s, at, first, stop) for s in stores if s.after.array == new.version.array}
        if any(s is None for s in changed.values()):
            continue
        shape = (*new.shape[:at], eq.Const(stop - first, INT), *new.shape[at + 1 :])
        whole = {s: own for s, own in changed.items() if own is not None}
        body = tuple(
            replace(s, shape=shape) if s is new else whole.get(s, s) if isinstance(s, eq.Write) else s
            for s in kernel.body
        )
        kernel = _subscripts(replace(kernel, body=body), new.version.array, partial(_moved, at, first))
        new = next(s for s in kernel.body if isinstance(s, eq.New) and s.version is new.version)
        stores = _stores(kernel, new) or []
    return kernel


def _read(new: eq.New, stores: list[eq.Write], at: int) -> Part | None:
    """The cells along an axis that are read, all together."""
    first, stop = [], []
    for s in stores:
        ranges = _ranges(s)
        for n in _loads(s, new):
            found = _range(linear(n.subscripts[at]), ranges)
            if found is None:
                return None
            first.append(found[0])
            stop.append(found[1])
    return (min(first), max(stop)) if first else None


def _ranges(s: eq.Write) -> dict[str, Part]:
    """The indices that run over numbers."""
    out: dict[str, Part] = {}
    open_ended: set[str] = set()
    axes = [*s.axes, *(a for n in tree.walk(*tree.statement_roots(s)) for a in tree.axes_of(n))]
    for a in axes:
        lo, hi = linear(a.lo), linear(a.hi)
        if lo.terms or hi.terms:
            open_ended.add(a.name)
            continue
        known = out.get(a.name, (lo.constant, hi.constant))
        out[a.name] = min(known[0], lo.constant), max(known[1], hi.constant)
    return {name: part for name, part in out.items() if name not in open_ended}


def _range(form: Linear, ranges: dict[str, Part]) -> Part | None:
    lo = hi = form.constant
    for atom, c in form.terms:
        part = ranges.get(atom.name) if isinstance(atom, eq.Index) else None
        if part is None or part[0] >= part[1]:
            return None
        ends = c * part[0], c * (part[1] - 1)
        lo, hi = lo + min(ends), hi + max(ends)
    return lo, hi + 1


def _within(s: eq.Write, at: int, first: int, stop: int) -> eq.Write | None:
    """The store to the cells of the part alone."""
    form = linear(s.subscripts[at])
    if not form.terms:
        return s if first <= form.constant < stop else None
    (atom, c), *others = form.terms
    axis = next((a for a in s.axes if isinstance(atom, eq.Index) and a.name == atom.name), None)
    if others or c != 1 or axis is None or axis.step != 1:
        return None
    lo, hi = linear(axis.lo), linear(axis.hi)
    if lo.terms or hi.terms:
        return None
    start, end = max(lo.constant, first - form.constant), min(hi.constant, stop - form.constant)
    if start >= end:
        return None
    if (start, end) == (lo.constant, hi.constant):
        return s
    fitting = eq.Axis(axis.name, eq.Const(start, INT), eq.Const(end, INT))
    return replace(s, axes=tuple(fitting if a is axis else a for a in s.axes))


def _moved(at: int, first: int, subscripts: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
    return (*subscripts[:at], expression(linear(subscripts[at]) + -first), *subscripts[at + 1 :])


# --- the order of axes ---------------------------------------------------------------------------


def _in_order(kernel: eq.Kernel, new: eq.New) -> eq.Kernel:
    new = next(s for s in kernel.body if isinstance(s, eq.New) and s.version is new.version)
    orders = {_order(s, n) for s in _stores(kernel, new) or [] for n in _loads(s, new)}
    order = orders.pop() if len(orders) == 1 else None
    if order is None or order == tuple(range(len(new.shape))):
        return kernel
    shape = tuple(new.shape[k] for k in order)
    body = tuple(replace(s, shape=shape) if s is new else s for s in kernel.body)
    return _subscripts(replace(kernel, body=body), new.version.array, lambda e: tuple(e[k] for k in order))


def _order(s: eq.Write, n: eq.Read) -> tuple[int, ...] | None:
    """The axes of a load in the order of what is stored of it; None where that does not say it of all."""
    free = tree.Free()
    frame = [name for place in s.subscripts for name in sorted(free(place))]
    if len(set(frame)) != len(s.axes) or len(frame) != len(s.axes):
        return None
    places = [[frame.index(i) for i in free(e) if i in frame] for e in n.subscripts]
    if any(len(p) != 1 for p in places) or len({p[0] for p in places}) != len(places):
        return None
    return tuple(sorted(range(len(places)), key=lambda k: places[k][0]))


def _subscripts(kernel: eq.Kernel, name: str, fn: Callable[[tuple[eq.Expr, ...]], tuple[eq.Expr, ...]]) -> eq.Kernel:
    """The kernel with the subscripts of all loads and stores of an array changed."""
    memo: dict[eq.Expr, eq.Expr] = {}

    def one(n: eq.Expr) -> eq.Expr:
        if isinstance(n, eq.Read) and n.version.array == name:
            return replace(n, subscripts=fn(n.subscripts))
        return n

    def statement(s: eq.Stmt) -> eq.Stmt:
        s = map_statement(s, lambda e: transform(e, one, memo))
        if isinstance(s, eq.Write) and s.after.array == name:
            s = replace(s, subscripts=fn(s.subscripts))
        return s

    names = tuple(replace(n, expr=transform(n.expr, one, memo)) for n in kernel.names)
    return replace(kernel, body=tuple(map(statement, kernel.body)), names=names)


__all__ = ["fitted"]
