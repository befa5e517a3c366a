"""Walking over equations: children, rebuilding, memoised maps over the DAG, free indices, substitution.

Nodes are interned, so a shared subexpression is one object: everything here visits an object once, and nothing
recurses (an expression may be thousands of levels deep).

What binds: :class:`Reduce` and :class:`ArgReduce` bind the names of their axes in ``body`` and ``where`` (not in the
bounds of the axes). A :class:`Scan` leaves its axis free: its value is a function of that index. The same holds for
the axes of :class:`CarryIn` and :class:`FoldResult`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from kraise.ir.equations import (
    ArgReduce,
    Axis,
    CarryIn,
    Cast,
    Check,
    Expr,
    Fold,
    FoldResult,
    HelperCall,
    Index,
    New,
    Node,
    Op,
    Param,
    Read,
    Reduce,
    Scan,
    Stmt,
    Write,
)
from kraise.ir.types import INT

_NONE: frozenset[str] = frozenset()
_keep_below = vars(Node)["below"].__set__
_keep_free = vars(Node)["free"].__set__

# --- one level -------------------------------------------------------------------------------


def axes_of(expr: Expr) -> tuple[Axis, ...]:
    """The axes that the node itself holds (bound or free)."""
    match expr:
        case Reduce(axes=axes) | CarryIn(axes=axes) | FoldResult(axes=axes):
            return axes
        case ArgReduce(axis=axis) | Scan(axis=axis):
            return (axis,)
    return ()


def binders(expr: Expr) -> frozenset[str]:
    """The names of the indices that the node binds."""
    match expr:
        case Reduce(axes=axes):
            return frozenset(a.name for a in axes)
        case ArgReduce(axis=axis):
            return frozenset((axis.name,))
    return frozenset()


def _bounds(axes: tuple[Axis, ...]) -> tuple[Expr, ...]:
    return tuple(bound for axis in axes for bound in (axis.lo, axis.hi))


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly below, bounds of axes first; :func:`rebuild` takes them in the same order."""
    try:
        return expr.below
    except AttributeError:
        below = _children(expr)
        _keep_below(expr, below)
        return below


def _children(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Op(args=args) | HelperCall(args=args):
            return args
        case Cast(arg=arg):
            return (arg,)
        case Read(subscripts=subscripts, view=view):
            return subscripts + view
        case Reduce(body=body, where=where) | ArgReduce(body=body, where=where):
            return _bounds(axes_of(expr)) + ((body,) if where is None else (body, where))
        case Scan(axis=axis, body=body, init=init, other=other):
            return (axis.lo, axis.hi, body, init) + (() if other is None else (other,))
        case CarryIn(axes=axes) | FoldResult(axes=axes):
            return _bounds(axes)
    return ()


def _rebound(axes: tuple[Axis, ...], bounds: tuple[Expr, ...]) -> tuple[Axis, ...]:
    return tuple(Axis(a.name, bounds[2 * k], bounds[2 * k + 1], a.step) for k, a in enumerate(axes))


def is_unsigned_size(node: Expr) -> bool:
    """Whether ``node`` is an unsigned parameter: what is computed from it has its type when it is emitted."""
    return isinstance(node, Param) and node.type.kind == "uint"


def rebuild(expr: Expr, new: tuple[Expr, ...]) -> Expr:
    """The same node over other children; the node itself if they are the ones it has."""
    old = children(expr)
    if old == new:  # identity, element by element
        return expr
    if len(old) != len(new):
        raise ValueError(f"{type(expr).__name__} has {len(old)} children, not {len(new)}")
    match expr:
        case Op(name, _, kind):
            return Op(name, new, kind)
        case HelperCall(function, _, kind):
            return HelperCall(function, new, kind)
        case Cast(kind, _):
            return Cast(kind, new[0])
        case Read(version, subscripts, kind, _, safe, outside, limit):
            rank = len(subscripts)
            return Read(version, new[:rank], kind, new[rank:], safe, outside, limit)
        case Reduce(op, axes, _, where, kind):
            cut = 2 * len(axes)
            return Reduce(op, _rebound(axes, new), new[cut], None if where is None else new[cut + 1], kind)
        case ArgReduce(op, axis, _, where, last, kind):
            (axis,) = _rebound((axis,), new)
            return ArgReduce(op, axis, new[2], None if where is None else new[3], last, kind)
        case Scan(op, axis, _, _, inclusive, reverse, kind, other):
            (axis,) = _rebound((axis,), new)
            return Scan(op, axis, new[2], new[3], inclusive, reverse, kind, None if other is None else new[4])
        case CarryIn(fold, name, axes, kind):
            return CarryIn(fold, name, _rebound(axes, new), kind)
        case FoldResult(fold, name, axes, kind):
            return FoldResult(fold, name, _rebound(axes, new), kind)
    raise AssertionError(expr)


# --- the whole DAG ---------------------------------------------------------------------------


def topological(roots: Iterable[Expr], below: Callable[[Expr], Iterable[Expr]] = children) -> list[Expr]:
    """Every node reachable from the roots once, children before parents; the order depends on the expressions only."""
    order: list[Expr] = []
    seen: set[Expr] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack: list[tuple[Expr, Iterator[Expr]]] = [(root, iter(below(root)))]
        while stack:
            node, rest = stack[-1]
            for child in rest:
                if child not in seen:
                    seen.add(child)
                    under = below(child)
                    if not under:
                        order.append(child)
                        continue
                    stack.append((child, iter(under)))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


def transform(expr: Expr, fn: Callable[[Expr], Expr], memo: dict[Expr, Expr] | None = None) -> Expr:
    """``fn`` applied bottom-up: to each node, once, after its children. ``memo`` may be kept between calls."""
    memo = {} if memo is None else memo

    stack = [expr]
    while stack:
        node = stack[-1]
        if node in memo:
            stack.pop()
            continue
        below = children(node)
        unknown = [child for child in reversed(below) if child not in memo]
        if unknown:
            stack += unknown
            continue
        stack.pop()
        memo[node] = fn(rebuild(node, tuple([memo[child] for child in below])))
    return memo[expr]


def free_indices(expr: Expr) -> frozenset[str]:
    """The names of the indices on which the value depends."""
    try:
        return expr.free
    except AttributeError:
        pass
    for node in topological((expr,), lambda n: () if hasattr(n, "free") else children(n)):
        if hasattr(node, "free"):
            continue
        below = children(node)
        match node:
            case Index(name=name):
                names = frozenset((name,))
            case Reduce() | ArgReduce():
                cut = 2 * len(axes_of(node))
                inner = _NONE.union(*[c.free for c in below[cut:]]) - binders(node)
                names = inner.union(*[c.free for c in below[:cut]])
            case Op() | Cast() | Read() | HelperCall():
                names = below[0].free if len(below) == 1 else _NONE.union(*[c.free for c in below])
            case _:
                names = _NONE.union([a.name for a in axes_of(node)], *[c.free for c in below])
        _keep_free(node, names)
    return expr.free


# --- substitution ----------------------------------------------------------------------------


class Unmovable(ValueError):
    """A running value is asked for at a place that is no index: it exists as a whole axis only."""


def substitute(expr: Expr, mapping: Mapping[Any, Expr]) -> Expr:
    """Every occurrence of a key replaced by its value, at once (values are not searched again).

    An :class:`Index` is replaced only where it is free, and a binder whose name a value mentions is renamed first. The
    axis of a Scan, CarryIn or FoldResult follows when its index becomes another index; ValueError when it would become
    anything else.
    """
    mapping = {k: v for k, v in mapping.items() if k is not v}
    if not mapping:
        return expr
    arriving = frozenset().union(*(free_indices(v) for v in mapping.values()))
    memo: dict[Expr, Expr] = dict(mapping)
    hidden: dict[str, Expr] = {k.name: k for k in mapping if isinstance(k, Index)}
    if len(hidden) == len(mapping) and hidden.keys().isdisjoint(free_indices(expr)):
        return expr
    only = hidden.keys() if len(hidden) == len(mapping) else None  # nothing but these indices is replaced

    stack = [expr]
    while stack:
        node = stack[-1]
        if node in memo:
            stack.pop()
            continue
        if isinstance(node, Reduce | ArgReduce) and any(name in hidden or name in arriving for name in binders(node)):
            # a binder that hides or captures is done on its own, with another mapping
            memo[node] = _under_binder(node, mapping, arriving)
            continue
        waiting = len(stack)
        for child in reversed(children(node)):
            if child not in memo:
                if only is not None and only.isdisjoint(child.free):
                    memo[child] = child
                else:
                    stack.append(child)
        if len(stack) == waiting:
            stack.pop()
            memo[node] = _moved(node, hidden, memo)
    return memo[expr]


def _moved(node: Expr, renamed: Mapping[str, Expr], memo: Mapping[Expr, Expr]) -> Expr:
    """The node over its replaced children, with the name of a free axis that was renamed."""
    result = rebuild(node, tuple([memo[c] for c in children(node)]))
    if not isinstance(result, Scan | CarryIn | FoldResult):
        return result
    axes = []
    for axis in axes_of(result):
        key = renamed.get(axis.name)
        target = key if key is None else memo[key]
        if target is not None and not isinstance(target, Index):
            raise Unmovable(f"index {axis.name} of a {type(node).__name__} can only become another index")
        axes.append(axis if target is None else Axis(target.name, axis.lo, axis.hi, axis.step))
    return _with_axes(result, tuple(axes))


def _with_axes(node: Expr, axes: tuple[Axis, ...]) -> Expr:
    match node:
        case Reduce(op, _, body, where, kind):
            return Reduce(op, axes, body, where, kind)
        case ArgReduce(op, _, body, where, last, kind):
            return ArgReduce(op, axes[0], body, where, last, kind)
        case Scan(op, _, body, init, inclusive, reverse, kind, other):
            return Scan(op, axes[0], body, init, inclusive, reverse, kind, other)
        case CarryIn(fold, name, _, kind):
            return CarryIn(fold, name, axes, kind)
        case FoldResult(fold, name, _, kind):
            return FoldResult(fold, name, axes, kind)
    raise AssertionError(node)


def _lanes(key: Expr) -> frozenset[str]:
    """The indices of what a loop carries: what it is replaced by is that of any lane, also of a binder's."""
    return frozenset(a.name for a in key.axes) if isinstance(key, CarryIn | FoldResult) else frozenset()


def _under_binder(node: Expr, mapping: Mapping[Expr, Expr], arriving: frozenset[str]) -> Expr:
    """Substitution in a Reduce or ArgReduce a name of which is replaced (it is hidden) or captured (renamed)."""
    own = binders(node)
    below = children(node)
    axes = axes_of(node)
    cut = 2 * len(axes)
    bounds = tuple(substitute(c, mapping) for c in below[:cut])
    inner = {k: v for k, v in mapping.items() if not (isinstance(k, Index) and k.name in own)}
    taken = set(arriving | own).union(*(free_indices(c) for c in below))
    fresh: dict[str, str] = {}
    for name in sorted(own & frozenset().union(*(free_indices(v) - _lanes(k) for k, v in inner.items()))):
        number = 2
        while f"{name}_{number}" in taken:
            number += 1
        fresh[name] = f"{name}_{number}"
        taken.add(fresh[name])
    if fresh:
        carried = {k: v for k, v in inner.items() if fresh.keys() & _lanes(k)}
        renaming: dict[Expr, Expr] = {
            n: Index(fresh[n.name], n.type)
            for n in topological((*below[cut:], *carried.values()))
            if isinstance(n, Index) and n.name in fresh
        }
        renaming = {Index(n, INT): Index(new, INT) for n, new in fresh.items()} | renaming
        new_bodies = tuple(substitute(c, renaming) for c in below[cut:])
        inner |= {substitute(k, renaming): substitute(v, renaming) for k, v in carried.items()}
        node = rebuild(node, below[:cut] + new_bodies)
        node = _with_axes(node, tuple(Axis(fresh.get(a.name, a.name), a.lo, a.hi, a.step) for a in axes))
        below = children(node)
    return rebuild(node, bounds + tuple(substitute(c, inner) for c in below[cut:]))


# --- statements ------------------------------------------------------------------------------


def map_axes(axes: tuple[Axis, ...], fn: Callable[[Expr], Expr]) -> tuple[Axis, ...]:
    """The axes with ``fn`` applied to their bounds."""
    return tuple(Axis(a.name, fn(a.lo), fn(a.hi), a.step) for a in axes)


def _optional(expr: Expr | None, fn: Callable[[Expr], Expr]) -> Expr | None:
    return None if expr is None else fn(expr)


def statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Every statement, those of folds after the fold."""
    for stmt in body:
        yield stmt
        if isinstance(stmt, Fold):
            yield from statements(stmt.body)


def map_statement(stmt: Stmt, fn: Callable[[Expr], Expr]) -> Stmt:
    """The statement with ``fn`` applied to each expression it holds, those of a fold's body included."""
    match stmt:
        case Write():
            return replace(
                stmt,
                axes=map_axes(stmt.axes, fn),
                subscripts=tuple(map(fn, stmt.subscripts)),
                value=fn(stmt.value),
                where=_optional(stmt.where, fn),
                view=tuple(map(fn, stmt.view)),
            )
        case New():
            return replace(stmt, shape=tuple(map(fn, stmt.shape)), fill=_optional(stmt.fill, fn))
        case Fold():
            scalars = tuple(
                replace(s, axes=map_axes(s.axes, fn), init=fn(s.init), update=fn(s.update)) for s in stmt.scalars
            )
            outputs = tuple(replace(o, axes=map_axes(o.axes, fn), value=fn(o.value)) for o in stmt.outputs)
            return replace(
                stmt,
                outputs=outputs,
                axis=None if stmt.axis is None else map_axes((stmt.axis,), fn)[0],
                scalars=scalars,
                body=tuple(map_statement(s, fn) for s in stmt.body),
                condition=_optional(stmt.condition, fn),
            )
        case Check():
            return replace(stmt, condition=_optional(stmt.condition, fn))
    raise AssertionError(stmt)


def statement_expressions(stmt: Stmt, nested: bool = True) -> tuple[Expr, ...]:
    """The expressions that the statement holds, bounds of its axes included; ``nested``: a fold's body too."""
    found: list[Expr | None] = []
    match stmt:
        case Write():
            found += [*_bounds(stmt.axes), *stmt.subscripts, stmt.value, stmt.where, *stmt.view]
        case New():
            found += [*stmt.shape, stmt.fill]
        case Check():
            found.append(stmt.condition)
        case Fold():
            found += _bounds(() if stmt.axis is None else (stmt.axis,))
            for s in stmt.scalars:
                found += [*_bounds(s.axes), s.init, s.update]
            for o in stmt.outputs:
                found += [*_bounds(o.axes), o.value]
            found.append(stmt.condition)
            if nested:
                for inner in stmt.body:
                    found += statement_expressions(inner)
    return tuple(e for e in found if e is not None)
