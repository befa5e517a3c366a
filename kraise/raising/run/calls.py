"""Calls of functions of the module: evaluated in place, in a scope of their own (raising.md, step 1)."""

from __future__ import annotations

from kraise.diagnostics import Span, refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import ArrayType, ScalarType
from kraise.ir.walk import topological
from kraise.raising.run.context import Context
from kraise.raising.run.exits import structure
from kraise.raising.run.parameters import collect_types
from kraise.raising.run.state import State
from kraise.raising.run.statements import block
from kraise.raising.run.values import resolve, value

_WORTH_A_NAME = 6  # operations


def called(module: k.Module, function: k.Function) -> tuple[str, ...]:
    """The functions of the module that ``function`` calls, directly or through others.

    Raises:
        Refused: one calls itself.
    """
    known = {f.name: f for f in module.functions}
    out: dict[str, None] = {}

    def visit(f: k.Function, chain: tuple[str, ...]) -> None:
        for name, span in _calls(f.body):
            if name in chain:
                raise refuse(
                    "KR209", f"`{name}` calls itself", span, "write the recursion as a loop with a static bound"
                )
            out[name] = None
            if name in known:
                visit(known[name], (*chain, name))

    visit(function, (function.name,))
    return tuple(out)


def written(module: k.Module, function: k.Function) -> frozenset[str]:
    """The arrays of ``function`` that it stores to anywhere, by itself or through what it calls."""
    out: set[str] = set()
    stack: list[k.Stmt] = list(function.body)
    while stack:
        match stack.pop():
            case k.Store(array=a) | k.Atomic(array=a):
                out.add(a)
            case k.If(body=a, orelse=b) | k.For(body=a, orelse=b) | k.While(body=a, orelse=b):
                stack.extend((*a, *b))
            case k.CallStmt(function=name, args=args):
                callee = next((f for f in module.functions if f.name == name), None)
                inner = frozenset() if callee is None else written(module, callee)
                for p, given in zip(callee.params if callee else (), args, strict=False):
                    if isinstance(given, k.ArrayRef):
                        out |= {given.array + n[len(p.name) :] for n in inner if n.split(".")[0] == p.name}
    return frozenset(out)


def _calls(x: object) -> list[tuple[str, Span | None]]:
    out: list[tuple[str, Span | None]] = []
    stack: list[object] = [x]
    while stack:
        node = stack.pop()
        if isinstance(node, k.Call | k.CallStmt):
            out.append((node.function, node.span))
        if isinstance(node, tuple | list):
            stack.extend(node)
        elif hasattr(node, "__dataclass_fields__"):
            stack.extend(getattr(node, f) for f in node.__dataclass_fields__ if f not in ("span", "type"))
    return out


def call(cx: Context, st: State, s: k.Call | k.CallStmt) -> eq.Expr | None:
    """Runs the function called; returns its value (of a Call) or assigns its results (of a CallStmt)."""
    try:
        function = cx.module.function(s.function)
    except KeyError:
        raise refuse("KR103", f"`{s.function}` is not a function of this file", s.span) from None
    if len(s.args) > len(function.params):
        raise refuse("KR104", f"`{s.function}` takes {len(function.params)} arguments", s.span)
    outer_env, outer_arrays, outer_partial = st.env, st.arrays, st.partial
    env: dict[str, eq.Expr] = {n: v for n, v in outer_env.items() if n.startswith("$") and n in _cell_names(st)}
    arrays: dict[str, str] = {}
    for at, p in enumerate(function.params):
        a: object = s.args[at] if at < len(s.args) else p.default
        if a is None:
            raise refuse("KR104", f"`{s.function}` is called without its argument `{p.name}`", s.span)
        if isinstance(a, k.ArrayRef):
            if a.offset is not None:
                raise refuse("KR299", "a pointer into an array as an argument is not raised yet", s.span)
            arrays[p.name] = resolve(cx, st, a.array)
        elif isinstance(p.type, ArrayType):
            raise refuse("KR104", f"`{s.function}` wants an array for `{p.name}`", s.span)
        else:
            env[p.name] = value(cx, st, a)  # type: ignore[arg-type]
    env_in = dict(env)
    body = structure(function)
    if any(r is not None for r in body.returns):
        raise refuse("KR299", f"`{s.function}` returns an array", s.span)
    st.env, st.arrays = env, arrays
    st.partial = {n: c for n, c in outer_partial.items() if n in _cell_names(st)}
    outer_locals, outer_types = dict(st.locals), cx.types
    cx.types = {n: t for n, t in outer_types.items() if n.startswith("$")}  # its locals are its own, whatever the names
    collect_types(cx, body.body)
    block(cx, st, body.body, frozenset(f"$ret{i}" for i in range(len(body.returns))))
    results = [st.env.get(f"$ret{i}") for i in range(len(body.returns))]
    cx.types = outer_types | {n: t for n, t in cx.types.items() if n.startswith("$")}
    cells = {n: st.env[n] for n in _cell_names(st) if n in st.env}
    st.env, st.arrays, st.locals = {**outer_env, **cells}, outer_arrays, outer_locals
    inside = {n: c for n, c in st.partial.items() if n in cells}
    st.partial = {n: c for n, c in outer_partial.items() if n not in cells and n not in results_of(s)} | inside
    if any(r is None for r in results):
        raise refuse("KR207", f"`{s.function}` does not return a value on every path", s.span)
    if isinstance(s, k.Call):
        if not results:
            raise refuse("KR207", f"`{s.function}` returns nothing", s.span)
        kept = kept_function(cx, function) if len(results) == 1 and not arrays else None
        if kept is not None:
            given = tuple(env_in[p.name] for p in function.params)
            return eq.HelperCall(function.name, given, kept.body[0].type)
        return results[0]
    for name, v in zip(s.results, results, strict=False):
        st.env[name] = v  # type: ignore[assignment]
    return None


def results_of(s: k.Call | k.CallStmt) -> tuple[str, ...]:
    """The locals that a call assigns."""
    return s.results if isinstance(s, k.CallStmt) else ()


def kept_function(cx: Context, function: k.Function) -> eq.Helper | None:
    """The helper as a function of its own in the emitted module, where that reads better than its body at each call: a
    formula on floats that the kernel calls more than once."""
    if function.name not in cx.kept:
        cx.kept[function.name] = _formula(cx, function)
    helper = cx.kept[function.name]
    if helper is not None:
        cx.helpers[function.name] = helper
    return helper


def _formula(cx: Context, function: k.Function) -> eq.Helper | None:
    sites = sum(name == function.name for name, _ in _calls(cx.function.body))
    if sites < 2 or not all(isinstance(p.type, ScalarType) and not p.type.is_integer for p in function.params):
        return None
    params = tuple(eq.Param(p.name, p.type) for p in function.params)  # type: ignore[arg-type]
    alone = State(env={p.name: p for p in params})
    block(cx, alone, structure(function).body, frozenset(("$ret0",)))
    body = alone.env.get("$ret0")
    if alone.out or alone.accesses or body is None or not (body.type.is_inexact or body.type.kind == "number"):
        return None
    nodes = topological((body,))
    plain = all(isinstance(n, eq.Op | eq.Const | eq.Param | eq.Cast | eq.HelperCall) for n in nodes)
    if not plain or sum(isinstance(n, eq.Op) for n in nodes) < _WORTH_A_NAME:
        return None
    return eq.Helper(function.name, params, (body,), function.doc, function.span)


def _cell_names(st: State) -> set[str]:
    return {local for _, local in st.cells.values()}
