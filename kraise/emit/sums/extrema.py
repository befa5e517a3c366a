"""Extrema of a value and of what a range holds (``max(start, max of x[k])``) as one reduction."""

from __future__ import annotations

from math import isfinite

from kraise.emit import tree
from kraise.emit.context import Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.operands import literal
from kraise.emit.sums import running
from kraise.emit.sums.reductions import FUNCTIONS, as_read, empty_value, reduction, some_values
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear, nonnegative
from kraise.emit.text.python import Py
from kraise.ir import equations as eq
from kraise.ir.types import INT, INT32


def extremum(low: Lowering, node: eq.Op, frame: Frame) -> Val | None:
    """``max(start, max of x[k])`` as one reduction, or with what is left of it where there is no x[k], else None."""
    whole = joined(low, node, frame)
    if whole is not None:
        return low.lower(whole, frame)
    return from_constant(low, node, frame) or from_start(low, node, frame) or from_number(low, node, frame)


def from_constant(low: Lowering, node: eq.Op, frame: Frame) -> Val | None:
    """``x.max(axis=1, initial=-1e30)``: an extremum of a number and of what a range holds, of which nobody asks for a
    derivative (JAX's tangent of an extremum of nothing is NaN); else None."""
    for start, rest in (node.args, node.args[::-1]):
        if not isinstance(start, eq.Const) or not isinstance(rest, eq.Reduce) or rest.op != node.name:
            continue
        if node not in low.ctx.constant or low.ctx.uses[node] > 1 or not node.type.is_inexact or rest.where is not None:
            continue
        return _over(low, rest, rest.body, frame, literal(low, start).py)
    return None


def from_number(low: Lowering, node: eq.Op, frame: Frame) -> Val | None:
    """``jnp.max(jnp.where(mask, k, 0), initial=0)``: an extremum of integers and of a number, which stands where a mask
    hides them; else None."""
    for start, rest in (node.args, node.args[::-1]):
        if not isinstance(start, eq.Const) or not isinstance(rest, eq.Reduce) or rest.op != node.name:
            continue
        if not node.type.is_integer or rest.type != node.type or rest.where is None or low.ctx.uses[rest] > 1:
            continue
        body = eq.Op("select", (rest.where, rest.body, eq.Const(start.value, rest.type)), rest.type)
        inner = as_read(low, body, tuple(a for a in frame if a.name in low.ctx.free(rest)), rest.axes)
        # where the mask hides none, the number stands nowhere
        below = rest.op == "max" and start.value.real <= 0 and low.is_nonnegative(rest.body, inner)
        some = below and empty_value(low.ctx, rest, rest.axes) is None
        return _over(low, rest, body, frame, None if some else literal(low, start).py)
    return None


def _over(low: Lowering, rest: eq.Reduce, body: eq.Expr, frame: Frame, initial: Py | None) -> Val | None:
    """The extremum of ``body`` over the axes of ``rest``, and of ``initial``; None where not all are axes of it."""
    own = tuple(a for a in frame if a.name in low.ctx.free(rest))
    inner = as_read(low, body, own, rest.axes)
    value = low.lower(body, inner)
    if not all(a in value.axes for a in rest.axes):
        return None
    axes = tuple(sorted(inner.index(a) for a in rest.axes))
    text = reduction(FUNCTIONS[rest.op], value.py, () if len(axes) == len(inner) else axes, initial)
    return low.extend(text, own, frame)


def from_start(low: Lowering, node: eq.Op, frame: Frame) -> Val | None:
    """``jnp.maximum(start, x[:n].max()) if n > 0 else start``: what is left of an extremum of nothing, else None."""
    for start, rest in (node.args, node.args[::-1]):
        if not isinstance(rest, eq.Reduce) or rest.op != node.name or low.ctx.uses[rest] > 1:
            continue
        if isinstance(start, eq.Reduce) or rest in low.ctx.constant:
            continue
        some = some_values(low.ctx, rest, frame, arrays=True)
        if some is None:
            continue
        return _if_any(low, node, rest, some, start, frame)
    return None


def from_other(low: Lowering, node: eq.Op, frame: Frame) -> Val | None:
    """``jnp.where(x.max() > start, x.argmax(), other) if n > 0 else other``: the place of an extremum that is beyond a
    start, which that of nothing is not; else None."""
    condition, place, other = node.args
    match condition:
        case eq.Op(name="gt" | "lt" | "ge" | "le" as relation, args=(a, b)):
            more = relation in ("gt", "ge")
            pairs = ((a, b, "max" if more else "min"), (b, a, "min" if more else "max"))
        case _:
            return None
    for found, start, op in pairs:
        if not isinstance(found, eq.Reduce) or found.op != op or low.ctx.uses[found] > 1 or found in low.ctx.nonempty:
            continue
        finite = isinstance(start, eq.Const) and isfinite(start.value.real)
        if relation in ("ge", "le") and (not finite or found.type.is_integer):
            continue
        places = [n for n in tree.walk(place) if isinstance(n, eq.ArgReduce) and (n.axis,) == found.axes]
        some = some_values(low.ctx, found, frame, arrays=True) if places else None
        if some is not None and all(low.ctx.uses[n] <= 1 for n in places):
            low.ctx.nonempty.update(places)
            made = _if_any(low, node, found, some, other, frame)
            low.ctx.nonempty.difference_update(places)
            return made
    return None


def _if_any(low: Lowering, node: eq.Op, found: eq.Reduce, some: Py, alone: eq.Expr, frame: Frame) -> Val | None:
    """``node`` if ``found`` is the extremum of something, else what it is then."""
    low.ctx.nonempty.add(found)
    whole, rest = low.operation(node, frame), low.lower(alone, frame)
    low.ctx.nonempty.discard(found)  # over other threads it is asked again
    if whole.axes != rest.axes or whole.rank != rest.rank:
        if whole.rank != len(whole.axes) or not set(rest.axes) <= set(whole.axes):
            return None
        shape = low.ctx.shape_of(whole.axes)
        if rest.axes:
            text = py.call("jnp.broadcast_to", low.lower(alone, whole.axes).py, shape)
        else:
            text = py.call("jnp.full", shape, rest.py)
        rest = Val(text, whole.axes, whole.rank)
    return Val(py.IfExp(some, whole.py, rest.py), whole.axes, whole.rank)


def joined(low: Lowering, node: eq.Op, frame: Frame) -> eq.Expr | None:
    """``max(x[0], max of x[k] for k from 1)`` is the maximum from 0; with the neutral element, the reduction."""
    for first, rest in (node.args, node.args[::-1]):
        if not isinstance(rest, eq.Reduce) or rest.op != node.name:
            continue
        if rest.where is not None and not running.from_one_before(low, rest, frame):
            continue
        if (
            rest.where is None
            and isinstance(first, eq.Const)
            and first.value == float("inf" if node.name == "min" else "-inf")
        ):
            return rest
        if len(rest.axes) != 1 or low.ctx.uses[rest] > 1:
            continue
        axis = rest.axes[0]
        lo = linear(axis.lo)
        if lo.terms or axis.step != 1 or axis.name in low.ctx.free(first):
            continue
        indices = [n for n in tree.walk(rest.body) if isinstance(n, eq.Index) and n.name == axis.name]
        for kind in {n.type for n in indices} | {INT, INT32}:
            start = eq.Const(lo.constant - 1, kind)
            if tree.substitute(rest.body, dict.fromkeys(indices, start), {}) is first:
                joined = eq.Reduce(rest.op, (eq.Axis(axis.name, start, axis.hi),), rest.body, rest.where, rest.type)
                low.ctx.nonempty.add(joined)  # the source reads the first one whatever the extent
                return joined
    return None


def beside_places(body: tuple[eq.Stmt, ...]) -> set[eq.Expr]:
    """The extrema over ranges that hold something, as ``argmin`` of the same is computed and refuses an empty one."""
    found: set[eq.Expr] = set()
    stack: list[eq.Expr] = [s.value for s in body if isinstance(s, eq.Write)]
    seen: set[eq.Expr] = set()
    while stack:
        node = stack.pop()
        if node in seen or isinstance(node, eq.Op) and node.name == "select":
            continue  # the range may be empty where the other arm is taken
        seen.add(node)
        if isinstance(node, eq.ArgReduce) and node.where is None:
            size = linear(node.axis.hi) - linear(node.axis.lo)
            if not size.terms or nonnegative(size):
                found.add(eq.Reduce(node.op, (node.axis,), node.body, None, node.body.type))
        stack += tree.children(node)
    return found


__all__ = ["beside_places", "extremum", "from_other"]
