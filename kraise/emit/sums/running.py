"""Sums over all that comes before an index, or after it: ``sum of x[j] for j <= i`` is ``cumsum(x)[i]``.

A masked square of products costs a step for each pair. What holds the index itself, ``w[i] * x[j]``, stands outside of
the sum. Two such bounds at once are two running sums, as of an integral image (Crow, SIGGRAPH 1984).
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.emit.context import Frame, Val
from kraise.emit.loads.masks import conjuncts
from kraise.emit.lower import Lowering
from kraise.emit.sums import contraction, row_totals
from kraise.emit.sums.widths import kept_width
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.emit.text.python import ALL, Atom, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.open_types import in_floats
from kraise.ir.operations import TURNED
from kraise.ir.types import BOOL
from kraise.ir.walk import transform


@dataclass(frozen=True)
class Bound:
    """``summed <= own + shift``, or ``>=`` where ``after``: the places of a running sum that are asked for."""

    summed: eq.Axis
    own: eq.Axis
    after: bool
    skipped: Linear  # places of the running sum before the first that is asked for
    missing: int  # places asked for where nothing is summed: before the first, or after the last
    all_summed: bool  # every summed index is within some bound

    @property
    def size(self) -> Linear:
        return linear(self.own.hi) - linear(self.own.lo)


def running(low: Lowering, node: eq.Reduce, frame: Frame, own: Frame) -> Val | None:
    """The reduction by running sums (or extrema), or None where its mask or its body is of another kind."""
    if (total := row_totals.last(low, node, frame, own)) is not None:
        return total
    if node.where is None or node.op not in ("add", "min", "max") or not own:
        return None
    bounds, masks = _bounds(low, node, own)
    names = {b.own.name for b in bounds}
    if not bounds or any(low.ctx.free(m) & names for m in masks):
        return None
    summed = {a.name for a in node.axes}
    whole = node.body
    if all(b.all_summed for b in bounds):
        whole = _without_masks(node)
    parts = contraction.Product([whole], [])
    if node.op == "add":
        parts = contraction.factored(low, whole, summed)
    elif any(b.missing for b in bounds):
        return None
    inside = [f for f in parts.factors if low.ctx.free(f) & summed]
    if any(low.ctx.free(f) & names for f in inside):
        return None
    body = _body(node, bounds, inside, masks)
    if body is None or not {b.summed.name for b in bounds} <= low.ctx.free(body):
        return None
    core = _core(low, node, bounds, body, own)
    outside = [f for f in parts.factors if not low.ctx.free(f) & summed and not _is_one(f)]
    return contraction.scaled(low, core, outside, parts, frame)


def from_one_before(low: Lowering, node: eq.Reduce, frame: Frame) -> bool:
    """Whether the mask is one bound, ``k <= i + c``, that the place before the range's first is always within."""
    assert node.where is not None
    found = _bound(low, node.where, node.axes, frame) if len(node.axes) == 1 else None
    return found is not None and not found.after and found.missing <= 1


def _without_masks(node: eq.Reduce) -> eq.Expr:
    """The body without what keeps operands safe where the mask does not hold: every place is summed for some index."""
    assert node.where is not None
    known = {node.where, *conjuncts(node.where)}

    def holds(c: eq.Expr) -> bool:
        if isinstance(c, eq.Reduce) and c.op == "or" and c.where is None:
            c = c.body  # for some of the other index: for which it is summed
        return known.issuperset(conjuncts(c))

    def one(n: eq.Expr) -> eq.Expr:
        match n:
            case eq.Op(name="select", args=(c, a, _), type=kind) if holds(c):
                return a if a.type == kind else eq.Cast(kind, a)
        return n

    return transform(node.body, one)


def _body(node: eq.Reduce, bounds: list[Bound], inside: list[eq.Expr], masks: list[eq.Expr]) -> eq.Expr | None:
    """What is summed along the bounds' axes, the others summed already."""
    rest = tuple(a for a in node.axes if a.name not in {b.summed.name for b in bounds})
    where: eq.Expr | None = None
    for m in masks:
        where = m if where is None else eq.Op("and", (where, m), BOOL)
    if not inside and (where is None or node.op != "add"):
        return None
    body: eq.Expr = eq.Const(1, node.type)
    for at, f in enumerate(inside):
        body = f if at == 0 else eq.Op("mul", (body, f), node.type)
    if rest:
        return eq.Reduce(node.op, rest, body, where, node.type)
    if where is None:
        return body
    if node.op != "add":
        return None
    if not inside and node.type.is_integer:
        return where
    return eq.Op("select", (where, body, eq.Const(0, node.type)), node.type)


def _bounds(low: Lowering, node: eq.Reduce, own: Frame) -> tuple[list[Bound], list[eq.Expr]]:
    """The bounds that the mask sets, one for each summed index at most, and what else it says."""
    bounds: list[Bound] = []
    masks: list[eq.Expr] = []
    assert node.where is not None
    for condition in conjuncts(node.where):
        found = _bound(low, condition, node.axes, own)
        if found is None or any(b.summed.name == found.summed.name or b.own is found.own for b in bounds):
            masks.append(condition)
        else:
            bounds.append(found)
    return bounds, masks


def _bound(low: Lowering, condition: eq.Expr, axes: Frame, own: Frame) -> Bound | None:
    """``j < i + c`` or ``j >= i + c`` of a summed index j and another one i, and the part of the running sum that the
    range of i asks for."""
    if not (isinstance(condition, eq.Op) and condition.name in ("lt", "le", "gt", "ge")):
        return None
    form = linear(condition.args[0]) - linear(condition.args[1])
    terms = {a.name: c for a, c in form.terms if isinstance(a, eq.Index)}
    j = next((a for a in axes if a.name in terms), None)
    i = next((a for a in own if a.name in terms), None)
    if i is None or j is None or len(form.terms) != 2 or sorted(terms.values()) != [-1, 1]:
        return None
    if i.step != 1 or j.step != 1:
        return None
    j = _as_long(j, i)
    name, shift = condition.name, form.constant
    if terms[j.name] < 0:  # i - j + c op 0
        name = TURNED[name]
    else:
        shift = -shift
    # now  j op i + shift
    shift += {"lt": -1, "gt": 1}.get(name, 0)
    first, last = linear(i.lo) + shift, linear(i.hi) + (shift - 1)
    lo, top = linear(j.lo), linear(j.hi) + -1
    after = name in ("gt", "ge")
    start = first - lo  # the place of the first
    over = last - top  # how far the last is beyond the end
    if after:
        missing = over.constant if not over.terms and over.constant > 0 else 0
        good = nonnegative(start) and (missing or nonnegative(-over))
    else:
        missing = -start.constant if not start.terms and start.constant < 0 else 0
        good = (missing or nonnegative(start)) and nonnegative(-over)
    if not good or not low.ctx.is_static(start):
        return None
    every = start.same(Linear()) if after else over.same(Linear())
    return Bound(j, i, after, Linear() if missing and not after else start, missing, every)


def _as_long(j: eq.Axis, i: eq.Axis) -> eq.Axis:
    """``j < max(n, 1)`` as ``j < n``, where there is an i at all only if n is one or more."""
    match j.hi:
        case eq.Op(name="max", args=(a, b)):
            for e, least in ((a, b), (b, a)):
                if nonnegative(linear(e) - linear(least) - linear(i.hi) + linear(i.lo) + 1):
                    return eq.Axis(j.name, j.lo, e, j.step)
    return j


def _core(low: Lowering, node: eq.Reduce, bounds: list[Bound], body: eq.Expr, own: Frame) -> tuple[Py, Frame]:
    from kraise.emit.sums.scans import full, running_text

    by_own = {b.own: b for b in bounds}
    kept = tuple(a for a in own if a in by_own or a.name in low.ctx.free(body))
    inner = tuple(by_own[a].summed if a in by_own else a for a in kept)
    text = full(low, body, inner)
    if in_floats(node):
        text = py.as_floats(text)
    for at, axis in enumerate(kept):
        if axis not in by_own:
            continue
        bound, terms = by_own[axis], text
        text = running_text(node.op, text, at, len(kept), bound.after, kept_width(low.ctx, node.op, node.type))
        if node.op == "add" and node.type.is_integer and isinstance(terms, Atom) and _is_exclusive(bound):
            text = py.Bin("-", text, terms)  # no padded copy; exact, as integers wrap
        else:
            text = _asked(low, bound, text, at, len(kept))
    return text, kept


def _is_exclusive(bound: Bound) -> bool:
    """Whether each place asks for the sum of those before it, ``j < i``, of as many as are summed."""
    made = linear(bound.summed.hi) - linear(bound.summed.lo)
    return not bound.after and bound.missing == 1 and bound.skipped.same(Linear()) and bound.size.same(made)


def _asked(low: Lowering, bound: Bound, text: Py, at: int, rank: int) -> Py:
    """The places of a running sum that are asked for, zeros where there is nothing to sum."""
    ctx = low.ctx
    made = linear(bound.summed.hi) - linear(bound.summed.lo)
    if bound.missing:
        width = (py.number(0), py.number(bound.missing)) if bound.after else (py.number(bound.missing), py.number(0))
        none = py.Tup((py.number(0), py.number(0)))
        widths = py.Tup(width) if rank == 1 else py.Tup(tuple(py.Tup(width) if k == at else none for k in range(rank)))
        text = py.call("jnp.pad", text, widths)
    stop = bound.skipped + bound.size
    whole = stop.same(made + bound.missing) and (not bound.missing or ctx.never_negative(made))
    start = None if bound.skipped.same(Linear()) else ctx.static(bound.skipped)
    if start is None and whole:
        return text
    return py.Sub(text, (*[ALL] * at, Slice(start, None if whole else ctx.at_least_zero(stop))))


def _is_one(factor: eq.Expr) -> bool:
    return isinstance(factor, eq.Const) and factor.value == 1


__all__ = ["running"]
