"""A value of its own at each number of a short axis, as a stack: ``jnp.stack((a, b, c), axis=1)`` for ``c[k]``.

Elements of a row that stand beside one another are a part of the row: ``x[i, k]``.
A local array that is filled at numbers and read by a loop is a chain of choices, ``v2 if k == 2 else v1 if k == 1 else
v0``, in which each lane is computed as often as the axis is long. (Measured on rows of nine: a gradient takes 3.5 times
as long.) The side conditions: the axis runs over numbers, the choices compare its index with numbers alone, and what
they choose does not depend on it and differs (nearly) everywhere: where it does not, a choice says more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kraise.emit import tree
from kraise.emit.context import Frame, Val
from kraise.emit.loads.mapped import Axes, mapped, named
from kraise.emit.lower import Lowering
from kraise.emit.stores.alike import one_of
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear
from kraise.emit.text.python import Py
from kraise.emit.text.spelling import dtype_text
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT

NAME = "pick"  # an operation of the emitter's own: the number, then what stands at 0, 1, ...
_MOST = 32


def picked(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such choices as stacks."""
    known: dict[tuple[eq.Axis, ...], dict[eq.Expr, eq.Expr]] = {}

    def of(value: eq.Expr, axes: tuple[eq.Axis, ...]) -> eq.Expr:
        if not any(isinstance(n, eq.Op) and n.name == "select" for n in tree.walk(value)):
            return value
        return _Stacks(known.setdefault(axes, {}), axes).of(value)

    done = mapped(kernel, of)
    done = replace(done, body=tuple(_places(s, of) for s in done.body))
    return named(done, (pair for memo in known.values() for pair in memo.items()))


def _places(s: eq.Stmt, of: Callable[[eq.Expr, Axes], eq.Expr]) -> eq.Stmt:
    """A statement with the choices among the places that it stores to as stacks."""
    match s:
        case eq.Write(subscripts=subscripts, axes=axes):
            return replace(s, subscripts=tuple(of(x, axes) for x in subscripts))
        case eq.Fold(body=body):
            return replace(s, body=tuple(_places(x, of) for x in body))
    return s


class _Stacks:
    """Choices below the axes ``axes``."""

    def __init__(self, memo: dict[eq.Expr, eq.Expr], axes: tuple[eq.Axis, ...]):
        self.memo, self.every = memo, axes
        self.axes = {a.name: a for a in axes if _count(a)}

    def of(self, node: eq.Expr) -> eq.Expr:
        found = self.memo.get(node)
        if found is None:
            found = self.memo[node] = self._of(node)
        return found

    def _of(self, node: eq.Expr) -> eq.Expr:
        if (own := tree.axes_of(node)) and not isinstance(node, eq.Reduce):
            return node
        if own:
            inner = _Stacks({}, (*self.every, *own))
            return tree.rebuilt(node, {c: inner.of(c) for c in tree.children(node)})
        if isinstance(node, eq.Op) and node.name == "select" and (one := self._stack(node)) is not None:
            return one
        return tree.rebuilt(node, {c: self.of(c) for c in tree.children(node)})

    def _stack(self, node: eq.Op) -> eq.Expr | None:
        axis = next((a for n in tree.walk(node.args[0]) if (a := self.axes.get(getattr(n, "name", "")))), None)
        if axis is None:
            return None
        first, count = linear(axis.lo).constant, _count(axis)
        values = [_chosen(node, axis.name, first + k) for k in range(count)]
        several = len(set(values))
        if several < 2 or count - several > 1 or (several == 2 and count > 2):
            return None
        if any(v is None or v.type != node.type for v in values) or all(isinstance(v, eq.Const) for v in values):
            return None
        if any(n for v in values for n in tree.walk(v) if isinstance(n, eq.Index) and n.name == axis.name):  # type: ignore[arg-type]
            return None
        own = eq.Index(axis.name, INT)
        rows = tuple(a for a in self.every if a is not axis)
        if not first and (one := one_of(rows or self.every, tuple(values), own)) is not None:  # type: ignore[arg-type]
            return self.of(one)
        at: eq.Expr = own
        at = at if not first else eq.Op("sub", (at, eq.Const(first, INT)), INT)
        return eq.Op(NAME, (at, *(self.of(v) for v in values)), node.type)  # type: ignore[arg-type]


def _count(axis: eq.Axis) -> int:
    """How many numbers a short axis runs over; 0 for another axis."""
    lo, hi = linear(axis.lo), linear(axis.hi)
    count = hi.constant - lo.constant
    return count if axis.step == 1 and not lo.terms and not hi.terms and 1 < count <= _MOST else 0


def _chosen(node: eq.Expr, index: str, at: int) -> eq.Expr | None:
    """What is chosen at a number of the index; None where that does not tell."""
    while isinstance(node, eq.Op) and node.name == "select":
        if not any(isinstance(n, eq.Index) and n.name == index for n in tree.walk(node.args[0])):
            return node
        holds = _holds(node.args[0], index, at)
        if holds is None:
            return None
        node = node.args[1 if holds else 2]
    return node


_TESTS = {
    "eq": lambda d: d == 0,
    "ne": lambda d: d != 0,
    "lt": lambda d: d < 0,
    "le": lambda d: d <= 0,
    "gt": lambda d: d > 0,
    "ge": lambda d: d >= 0,
}


def _holds(condition: eq.Expr, index: str, at: int) -> bool | None:
    match condition:
        case eq.Op(name="not", args=(a,)):
            inner = _holds(a, index, at)
            return None if inner is None else not inner
        case eq.Op(name="and" | "or" as name, args=args) if condition.type.kind == "bool":
            parts = [_holds(a, index, at) for a in args]
            return None if None in parts else all(parts) if name == "and" else any(parts)
        case eq.Op(name=name, args=(a, b)) if name in _TESTS and a.type.is_integer and b.type.is_integer:
            form = linear(a) - linear(b)
            if all(isinstance(x, eq.Index) and x.name == index for x, _ in form.terms):
                return _TESTS[name](sum(c for _, c in form.terms) * at + form.constant)
    return None


def lowered(low: Lowering, node: eq.Op, frame: Frame) -> Val:
    """The stack, along the axis of the number."""
    number, *values = node.args
    own = tuple(a for a in frame if a.name in low.ctx.free(node))
    form = linear(number)
    along = [a for a in own if len(form.terms) == 1 and form.terms == linear(eq.Index(a.name, INT)).terms]
    whole = [a for a in along if _count(a) == len(values) and linear(a.lo).constant == -form.constant]
    if not whole or any(whole[0].name in low.ctx.free(v) for v in values):
        return low.lower(_choices(node), frame)
    rest = tuple(a for a in own if a is not whole[0])
    made: list[Py] = []
    for v in values:
        value = low.lower(v, rest)
        text = value.py
        if isinstance(v, eq.Const) and rest:
            text = py.call("jnp.full", low.ctx.shape_of(rest), text, py.Atom(dtype_text(v.type)))
        elif value.axes != rest:
            text = py.call("jnp.broadcast_to", text, low.ctx.shape_of(rest))
        made.append(text)
    at = own.index(whole[0])
    given = {"axis": py.number(at)} if at else {}
    return low.extend(py.call("jnp.stack", py.Tup(tuple(made)), **given), own, frame)


def _choices(node: eq.Op) -> eq.Expr:
    """The same by choices, where the number is none of an axis."""
    number, *values = node.args
    out = values[-1]
    for k, v in reversed([*enumerate(values)][:-1]):
        here = eq.Op("eq", (number, eq.Const(k, INT)), BOOL)
        out = eq.Op("select", (here, v, out), node.type)
    return out


__all__ = ["NAME", "lowered", "picked"]
