"""Questions about equation expressions: children, free indices, uses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraise.ir import equations as eq
from kraise.ir.types import INT, NUMBER
from kraise.ir.walk import statements as statements

STACK = "stack"  # an operation of the emitter's own: the axis of the subscripts, then what stands at each place


def last_of_stack(stmt: eq.Write) -> tuple[eq.Expr, ...]:
    """The subscripts of a store; of a stack those of its last value."""
    match stmt.value:
        case eq.Op(name="stack", args=(eq.Const(value=int() as axis), *values)):
            s = stmt.subscripts[axis]
            last = eq.Op("add", (s, eq.Const(len(values) - 1, INT)), INT)
            return (*stmt.subscripts[:axis], last, *stmt.subscripts[axis + 1 :])
    return stmt.subscripts


def children(node: eq.Expr) -> tuple[eq.Expr, ...]:
    """The operand expressions of a node (axis bounds are not among them)."""
    match node:
        case eq.Op(args=args) | eq.HelperCall(args=args):
            return args
        case eq.Cast(arg=arg):
            return (arg,)
        case eq.Read(subscripts=subscripts):
            return subscripts
        case eq.Reduce(body=body, where=where) | eq.ArgReduce(body=body, where=where):
            return (body,) if where is None else (body, where)
        case eq.Scan(body=body, init=init, other=other):
            return (body, init) if other is None else (body, other, init)
    return ()


def axes_of(node: eq.Expr) -> tuple[eq.Axis, ...]:
    """The axes that a node holds."""
    match node:
        case eq.Reduce(axes=axes) | eq.CarryIn(axes=axes) | eq.FoldResult(axes=axes):
            return axes
        case eq.ArgReduce(axis=axis) | eq.Scan(axis=axis):
            return (axis,)
    return ()


class Free:
    """The free index names of expressions, remembered by node."""

    def __init__(self) -> None:
        self._known: dict[eq.Expr, frozenset[str]] = {}

    def __call__(self, node: eq.Expr) -> frozenset[str]:
        found = self._known.get(node)
        if found is not None:
            return found
        # children first, without recursion deeper than the tree of one statement needs
        stack = [node]
        while stack:
            top = stack[-1]
            waiting = [c for c in children(top) if c not in self._known]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            self._known[top] = self._one(top)
        return self._known[node]

    def _one(self, node: eq.Expr) -> frozenset[str]:
        below = frozenset().union(*(self._known[c] for c in children(node))) if children(node) else frozenset()
        match node:
            case eq.Index(name=name):
                return frozenset((name,))
            case eq.Reduce(axes=axes):
                return below - {a.name for a in axes}
            case eq.ArgReduce(axis=axis):
                return below - {axis.name}
            case eq.Scan(axis=axis):
                return below | {axis.name}
            case eq.CarryIn(axes=axes) | eq.FoldResult(axes=axes):
                return frozenset(a.name for a in axes)
        return below


def walk(*roots: eq.Expr) -> Iterator[eq.Expr]:
    """Every node below the roots once."""
    seen: set[eq.Expr] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        stack.extend(reversed(children(node)))


def statement_roots(stmt: eq.Stmt) -> tuple[eq.Expr, ...]:
    """The expressions that stand in a statement itself (a fold's body aside)."""
    match stmt:
        case eq.Write(subscripts=subscripts, value=value, where=where):
            return (*subscripts, value) if where is None else (*subscripts, value, where)
        case eq.New(fill=fill):
            return () if fill is None else (fill,)
        case eq.Check(condition=condition, distinct=distinct):
            if distinct is not None:
                return (eq.Read(distinct, (), NUMBER),)
            return () if condition is None else (condition,)
        case eq.Fold(scalars=scalars, condition=condition, outputs=outputs):
            roots = (*(e for s in scalars for e in (s.init, s.update)), *(o.value for o in outputs))
            return roots if condition is None else (*roots, condition)


def rebuilt(node: eq.Expr, new: dict[eq.Expr, eq.Expr]) -> eq.Expr:
    """``node`` with its operands replaced by what ``new`` gives for them."""
    match node:
        case eq.Op(args=args) | eq.HelperCall(args=args):
            return replace(node, args=tuple(new[a] for a in args))
        case eq.Cast(arg=arg):
            return replace(node, arg=new[arg])
        case eq.Read(subscripts=subscripts):
            return replace(node, subscripts=tuple(new[s] for s in subscripts))
        case eq.Reduce(body=body, where=where) | eq.ArgReduce(body=body, where=where):
            return replace(node, body=new[body], where=None if where is None else new[where])
        case eq.Scan(body=body, init=init, other=other):
            return replace(node, body=new[body], init=new[init], other=None if other is None else new[other])
    return node


def substitute(node: eq.Expr, values: dict[eq.Expr, eq.Expr], memo: dict[eq.Expr, eq.Expr], bound: str = "") -> eq.Expr:
    """``node`` with whole subexpressions replaced, but not under a node that binds index ``bound``."""
    if node in values:
        return values[node]
    if node in memo:
        return memo[node]
    if bound and isinstance(node, eq.Reduce | eq.ArgReduce) and bound in {a.name for a in axes_of(node)}:
        return node
    out = rebuilt(node, {c: substitute(c, values, memo, bound) for c in children(node)})
    memo[node] = out
    return out
