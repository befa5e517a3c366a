"""Locals of a loop that are integers because they are subscripts, though nothing declares it (Python's arrays)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import cast

from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import INT, NUMBER, ScalarType
from kraise.ir.walk import substitute, topological
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned
from kraise.raising.run.state import State, map_access
from kraise.raising.run.values import resolve

_ARITHMETIC = ("add", "sub", "mul", "floordiv", "mod", "neg", "min", "max", "shr", "shl", "and_")


def whole(cx: Context, st: State, s: k.While) -> k.While:
    """Makes the locals integers that ``s`` carries and that it subscripts with, and what lies in the arrays that they
    come from; ``s`` with these types."""
    from kraise.raising.ragged.loops import integral

    assigns = [x for x in _nodes(s.body) if isinstance(x, k.Assign)]
    found = {n for x in _nodes((s.condition, s.body)) for sub in _subscripts(x) for n in _made_from(sub) or ()}
    while more := {n for x in assigns if x.name in found for n in _made_from(x.value) or ()} - found:
        found |= more
    mixed = {x.name for x in assigns if _made_from(x.value) is None}
    loads: dict[eq.Expr, eq.Expr] = {}
    for name in sorted(found - mixed):
        value = st.env.get(name)
        if value is not None and value.type.kind == "number" and integral(value).type.is_integer:
            st.env[name], cx.types[name] = integral(value), INT
            loads |= {n: integral(n) for n in topological((value,)) if isinstance(n, eq.Read)}
    if not loads:
        return s
    arrays = {n.version.array for n in loads if isinstance(n, eq.Read)}  # one array has one type: ends, too
    more_loads = (n for n in topological(st.env.values()) if isinstance(n, eq.Read) and n.version.array in arrays)
    loads |= {n: integral(n) for n in more_loads}

    def fn(e: eq.Expr) -> eq.Expr:  # they are integers wherever they are used
        return tidy(substitute(e, loads))

    st.env = {n: fn(v) for n, v in st.env.items()}
    st.names = {(e := fn(n.expr)): replace(n, expr=e) for n in st.names.values()}
    nodes = [None if a.node is None else cast("eq.Read", fn(a.node)) for a in st.accesses]
    st.accesses = [replace(map_access(a, fn), node=n) for a, n in zip(st.accesses, nodes, strict=True)]
    names = {n for n, v in st.env.items() if v.type.is_integer and (n in found - mixed or n not in assigned(s.body))}
    return cast("k.While", _typed(s, names, {a for a in _arrays(s) if resolve(cx, st, a) in arrays}))


def _arrays(root: object) -> set[str]:
    return {n.array for n in _nodes(root) if isinstance(n, k.Load)}


def _typed(node: object, names: set[str], arrays: set[str]) -> object:
    """A statement with the numbers among its parts that are integers as such: ``names`` and what ``arrays`` hold."""
    if isinstance(node, tuple):
        return tuple(_typed(x, names, arrays) for x in node)
    if not is_dataclass(node) or isinstance(node, type | Span | ScalarType):
        return node
    parts = {f.name: _typed(getattr(node, f.name), names, arrays) for f in fields(node)}
    match node:
        case k.Var(name=name, type=kind) if kind == NUMBER and name in names:
            parts["type"] = INT
        case k.Load(array=array, type=kind) if kind == NUMBER and array in arrays:
            parts["type"] = INT
        case k.Assign(name=name, type=kind) if kind == NUMBER and name in names:
            parts["type"] = INT
        case k.Op(name=name, type=kind) if kind == NUMBER and name in _ARITHMETIC:
            if all(a.type.is_integer for a in cast("tuple[k.Expr, ...]", parts["args"])):
                parts["type"] = INT
    return type(node)(**parts)


def _nodes(root: object) -> Iterator[object]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, tuple):
            stack.extend(node)
        elif is_dataclass(node) and not isinstance(node, Span):
            stack.extend(getattr(node, f.name) for f in fields(node))


def _subscripts(node: object) -> tuple[k.Expr, ...]:
    return node.subscripts if isinstance(node, k.Load | k.Store | k.Atomic) else ()


def _made_from(e: k.Expr) -> set[str] | None:
    """The locals of which a value is a whole-number combination; None if it may be a fraction where they are whole."""
    match e:
        case k.Var(name=name):
            return {name}
        case k.Const(value=int()) | k.Load() | k.Shape() | k.Hw():
            return set()
        case k.Cast(type=t):
            return set() if t.is_integer else None
        case k.Op(name=name, args=args) if name == "select" or name in _ARITHMETIC:
            parts = [_made_from(a) for a in (args[1:] if name == "select" else args)]
            return None if None in parts else set().union(*(p for p in parts if p is not None))
    return None
