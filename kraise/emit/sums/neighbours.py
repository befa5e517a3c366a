"""What a cell and its neighbour both compute is computed once, and taken at both places.

``k[i] * (u[i + 1] - u[i]) - k[i - 1] * (u[i] - u[i - 1])`` is ``flow[1:] - flow[:-1]`` of ``flow = k * (u[1:] -
u[:-1])``, over one place more. The gradient then fills up two arrays in place of four.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraise.emit import tree
from kraise.emit.blocks import Frame, Pair, Val
from kraise.emit.lower import Lowering
from kraise.emit.sums.mirrored import numbers, ordered
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear
from kraise.emit.text.python import ALL, Atom, Slice
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import substitute, transform

_DEEP = 2  # values of two places within values of two places
_MOST = 400  # nodes of a value that is looked through


def pairs(kernel: eq.Kernel) -> dict[eq.Expr, Pair]:
    """The values of stores that are computed at two neighbouring places."""
    found: dict[eq.Expr, Pair] = {}
    if kernel.memory.limit:
        return found
    for stmt in tree.statements(kernel.body):
        if isinstance(stmt, eq.Write):
            for axis in stmt.axes:
                if axis.step == 1:
                    found |= _along(stmt.value, axis, found)
    return found


def _along(root: eq.Expr, axis: eq.Axis, known: dict[eq.Expr, Pair], depth: int = 0) -> dict[eq.Expr, Pair]:
    nodes = list(values(root))
    if len(nodes) > _MOST:
        return {}
    groups: dict[eq.Expr, dict[int, eq.Expr]] = {}
    negative: set[eq.Expr] = set()
    for node in nodes:
        apart = isinstance(node, eq.Op | eq.HelperCall) and node not in known
        found = placed(node, axis.name, masked=True) if apart else None
        if found is not None:
            key, turned = ordered(found[0]) if numbers(node) else (found[0], False)
            groups.setdefault(key, {}).setdefault(found[1], node)
            if turned:
                negative.add(node)
    both = [g for g in groups.values() if len(g) == 2 and max(g) - min(g) == 1]
    paired = {n for g in both for n in g.values()}
    both = [g for g in both if all(of_several(n, paired) for n in g.values())]
    larger = {n for g in both for n in g.values()}
    out: dict[eq.Expr, Pair] = {}
    for group in both:
        before, after = min(group), max(group)
        if not _stands_alone(root, set(group.values()), larger):
            continue
        place = eq.Index(f"{axis.name} or the next", INT)
        at = before if _masked(group[before]) else after  # where fewer loads are taken to be inside
        if _masked(group[before]) and _masked(group[after]):
            continue
        shifted = linear_shift(place, -at)
        value = substitute(group[at], dict.fromkeys(indices(group[at], axis.name), shifted))
        lo, hi = (linear_shift(e, d) for e, d in ((axis.lo, before), (axis.hi, after)))
        wide = eq.Axis(place.name, lo, hi)
        for offset, node in group.items():
            turned = (node in negative) != (group[at] in negative)
            out[node] = Pair(value, axis, wide, offset == before, turned)
    for wide, value in {(p.axis, p.value): None for p in out.values()} if depth < _DEEP else ():
        out |= _along(value, wide, known | out, depth + 1)  # what a flux is made of at both of its cells
    return out


def _masked(node: eq.Expr) -> bool:
    """Whether a mask keeps some load of a value inside its array."""
    return any(isinstance(n, eq.Read) and n.safe for n in values(node))


def values(root: eq.Expr) -> Iterator[eq.Expr]:
    """The nodes of a value that are over the store's own indices."""
    seen: set[eq.Expr] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            if isinstance(node, eq.Op | eq.Cast | eq.HelperCall):
                stack += reversed(tree.children(node))


def of_several(root: eq.Expr, paired: set[eq.Expr]) -> bool:
    """Whether a value is made of more than one load, or value that is computed twice itself: a square is not."""
    found: set[eq.Expr] = set()
    seen: set[eq.Expr] = set()
    stack = [*tree.children(root)]
    while stack:
        node = stack.pop()
        if node in paired or isinstance(node, eq.Read):
            found.add(node)
        elif node not in seen:
            seen.add(node)
            stack += tree.children(node)
    return len(found) > 1


def _stands_alone(root: eq.Expr, nodes: set[eq.Expr], others: set[eq.Expr]) -> bool:
    """Whether a value is used elsewhere than within larger ones of the kind."""
    stack, seen = [root], set()
    while stack:
        node = stack.pop()
        if node in nodes:
            return True
        if node not in seen and node not in others:
            seen.add(node)
            stack += tree.children(node)
    return False


def placed(node: eq.Expr, index: str, masked: bool = False) -> tuple[eq.Expr, int] | None:
    """What a value computes from the place of its last load on, and that place; None for other kinds of values.

    ``masked``: loads that masks keep inside are as others.
    """
    loads: dict[eq.Expr, int] = {}
    for n in values(node):
        match n:
            case eq.Read():
                offset = _offset(replace(n, safe=False) if masked else n, index)
                if offset is None:
                    return None
                if offset:
                    loads[n] = max(offset.values())
            case eq.Const() | eq.Param() | eq.Op() | eq.Cast() | eq.HelperCall():
                pass
            case _:
                return None
    if len(loads) < 2:
        return None
    last = max(loads.values())

    def moved(e: eq.Expr) -> eq.Expr:
        if not isinstance(e, eq.Read):
            return e
        subs = tuple(linear_shift(own, c - last) if (own := _own(s, index)) else s for s, c in _constants(e))
        return replace(e, subscripts=subs, safe=e.safe and not masked)

    return transform(node, moved), last


def _offset(load: eq.Read, index: str) -> dict[eq.Expr, int] | None:
    """How far from the index a load is, nothing if it does not move with it; None where it does otherwise."""
    if load.safe or load.outside or load.limit is not None:
        return None
    found: dict[eq.Expr, int] = {}
    for s, constant in _constants(load):
        own = _own(s, index)
        if own is not None:
            form = linear(s)
            if form.coefficient(own) != 1 or len(form.terms) != 1:
                return None
            found[load] = max(constant, found.get(load, constant))
        elif any(isinstance(n, eq.Index) and n.name == index for n in tree.walk(s)):
            return None
    return found


def _constants(load: eq.Read) -> Iterator[tuple[eq.Expr, int]]:
    return ((s, linear(s).constant) for s in load.subscripts)


def _own(subscript: eq.Expr, index: str) -> eq.Expr | None:
    return next((a for a, _ in linear(subscript).terms if isinstance(a, eq.Index) and a.name == index), None)


def indices(node: eq.Expr, name: str) -> list[eq.Expr]:
    return [n for n in tree.walk(node) if isinstance(n, eq.Index) and n.name == name]


def linear_shift(e: eq.Expr, by: int) -> eq.Expr:
    """``e + by``."""
    return e if by == 0 else eq.Op("add", (e, eq.Const(by, INT)), INT)


def sliced(low: Lowering, node: eq.Expr, frame: Frame) -> Val | None:
    """A value of a pair, as a part of what both places are computed in."""
    pair = low.ctx.neighbours.get(node)
    if pair is None or pair.own not in frame:
        return None
    own = tuple(a for a in frame if a.name in low.ctx.free(node))
    wide = tuple(pair.axis if a is pair.own else a for a in own)
    known = low.variable(pair.value, wide)
    name = known[0] if known else low.define(pair.value, wide)
    part = Slice(None, py.number(-1)) if pair.first else Slice(py.number(1), None)
    at = own.index(pair.own)
    text: py.Py = py.Sub(Atom(name), (*[ALL] * at, part))
    return low.extend(py.Un("-", text) if pair.negative else text, own, frame)


__all__ = ["indices", "linear_shift", "of_several", "pairs", "placed", "sliced", "values"]
