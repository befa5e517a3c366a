"""CUDA C kernels of a Python file's strings in its host functions: ``k = cupy.RawKernel(text, "add")``, then
``k((blocks,), (threads,), (x, y, n))``, is the launch ``add[(blocks,), (threads,)](x, y, n)``.

A kernel's pointer is an array of one axis, whatever the array that a host gives it: where that is not known to have
one axis it is laid flat, and what the kernel stores is stored back.

Side conditions, checked: the name is set once in the file; the arguments stand in the call, or are a tuple of it; no
array is laid out in another order than its rows (``a.T``, ``a[:, 0]``: a kernel sees the memory, not the view).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import libcst as cst

from kraise.diagnostics import Diagnostic
from kraise.frontends.python import host_ranks
from kraise.frontends.python.host_scope import HostScope, array_names, launched
from kraise.frontends.python.host_units import times_set
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, placed, rebuilt, walk
from kraise.ir import kernel as k
from kraise.ir.host_live import stored
from kraise.ir.host_names import fresh
from kraise.ir.types import ArrayType

_OTHERS = frozenset(("ElementwiseKernel", "ReductionKernel", "RawKernel", "get_function"))
_VIEWS = frozenset((
    "T", "transpose", "swapaxes", "moveaxis", "rollaxis", "flip", "flipud", "fliplr", "rot90", "broadcast_to",
    "as_strided", "asfortranarray", "diagonal", "real", "imag", "view",
))  # fmt: skip
_WORDS = ("grid", "block", "args", "shared_mem")
_HINT = "give a RawKernel's source as one string of this file; write other kernels as expressions of arrays"


def names(tree: cst.Module, imports: Imports, functions: Mapping[str, k.Function]) -> dict[str, str]:
    """The names of a file that are such kernels: the functions of theirs, "" where that is not read."""
    times = times_set(tree)
    found: dict[str, str] = {}
    for node in all_of(cst.Assign, tree):
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call(func=func) as call):
                made = imports.qualified(dotted(func)).rpartition(".")
                of_module = made[2] == "get_function" or dotted(func).endswith(".get_function")
                if (made[0].startswith("cupy") and made[2] in _OTHERS) or of_module:
                    found[name] = _function(call, "get_function" if of_module else made[2])
    return {n: f if f in functions else "" for n, f in found.items() if times[n] == 1}


def _function(call: cst.Call, kind: str) -> str:
    if kind not in ("RawKernel", "get_function"):
        return ""
    place = 0 if kind == "get_function" else 1
    given = [a.value for a in call.args if a.keyword is None][place : place + 1]
    given += [a.value for a in call.args if a.keyword is not None and a.keyword.value == "name"]
    return str(given[0].evaluated_value) if given and isinstance(given[0], cst.SimpleString) else ""


def with_launches(source: Source, node: cst.FunctionDef, raw: Mapping[str, str]) -> cst.FunctionDef:
    """The function with such calls as launches."""
    if not raw or not any(n.value in raw for n in all_of(cst.Name, node.body)):
        return node
    tuples: dict[str, Any] = {}
    times = times_set(node)
    for inner in walk(node):
        match inner:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Tuple() as value):
                tuples[name] = value

    def change(call: cst.CSTNode) -> cst.CSTNode | None:
        match call:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) if name in raw:
                return cst.Pass()
            case cst.Call(func=cst.Name(value=name), args=args) if raw.get(name):
                given = dict(zip(_WORDS, [a.value for a in args if a.keyword is None], strict=False))
                given |= {a.keyword.value: a.value for a in args if a.keyword is not None}
                if any(a.star for a in args) or set(given) - {*_WORDS, "stream"} or not {*_WORDS[:3]} <= set(given):
                    return None
                name_of = dotted(given["args"])
                values = tuples.get(name_of) if times[name_of] == 1 else given["args"]
                shared = given.get("shared_mem")
                if not isinstance(values, cst.Tuple | cst.List):
                    return None
                items = [given["grid"], given["block"], *([cst.Integer("0"), shared] if shared is not None else [])]
                launch = cst.Subscript(cst.Name(raw[name]), [cst.SubscriptElement(cst.Index(i)) for i in items])
                return cst.Call(launch, [cst.Arg(e.value) for e in values.elements])
        return None

    return rebuilt(source, node, change)  # type: ignore[no-any-return]


def of_classes(source: Source, change: Callable[[cst.FunctionDef], cst.FunctionDef]) -> Source:
    """A file whose methods are changed."""

    def changed(node: Any) -> Any:
        if not isinstance(node, cst.ClassDef) or not isinstance(node.body, cst.IndentedBlock):
            return node
        body = [change(m) if isinstance(m, cst.FunctionDef) else m for m in node.body.body]
        if all(a is b for a, b in zip(body, node.body.body, strict=True)):
            return node
        return placed(source, node.with_changes(body=node.body.with_changes(body=body)), node)

    tree = [changed(n) for n in source.tree.body]
    if all(a is b for a, b in zip(tree, source.tree.body, strict=True)):
        return source
    return replace(source, tree=source.tree.with_changes(body=tree))


def with_array_module(source: Source, node: cst.FunctionDef, imports: Imports) -> cst.FunctionDef:
    """The function with CuPy's name for ``xp`` of ``xp = cupy.get_array_module(x)``."""
    times = times_set(node)
    cupy = next((n for n, q in imports.bound.items() if q == "cupy"), "")
    own: set[str] = set()
    for inner in walk(node.body):
        match inner:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call(func=func)):
                if imports.qualified(dotted(func)) == "cupy.get_array_module" and times[name] == 1:
                    own.add(name)
    if not own or not cupy:
        return node

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) if name in own:
                return cst.Pass()
            case cst.Name(value=name) if name in own:
                return cst.Name(cupy)
            case cst.Attribute(value=value, attr=attr):
                return inner.with_changes(value=rebuilt(source, value, change), attr=attr)
        return None

    return rebuilt(source, node, change)  # type: ignore[no-any-return]


def not_launched(node: cst.FunctionDef, raw: Mapping[str, str]) -> tuple[str, cst.CSTNode] | None:
    """The first call of such a name that is no launch."""
    for inner in walk(node.body):
        if isinstance(inner, cst.Call):
            called = inner.func.value if isinstance(inner.func, cst.Subscript) else inner.func
            if isinstance(called, cst.Name) and called.value in raw:
                return called.value, inner
    return None


def refusal(source: Source, name: str, called: str, call: cst.CSTNode) -> Diagnostic:
    """Why a host function that calls such a name is not raised."""
    reason = f"{called} is made from text that is not read, or is not launched as (grid, block, (arguments))"
    return Diagnostic("KR213", reason, source.span(call), _HINT, name)


def with_flat_arrays(scope: HostScope, node: cst.FunctionDef, foreign: Mapping[str, k.Function]) -> cst.FunctionDef:
    """The function with flat arrays for the pointers of its launches."""
    if not foreign or not isinstance(node.body, cst.IndentedBlock):
        return node
    array_names(scope, node)
    strided = _strided(node)
    own = replace(scope, functions={n: f for n, f in scope.functions.items() if n not in foreign})
    ranks = host_ranks.certain(own, node)
    taken = {n.value for n in all_of(cst.Name, node)}
    flats: dict[str, str] = {}

    def change(line: cst.CSTNode) -> Any:
        match line:
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call() as call)]) if (
                name := launched(scope, call)
            ) in foreign:
                if strided is not None:
                    reason = f"a kernel in C sees the memory that `{scope.text(strided)}` is a view of"
                    raise scope.refuse(call, reason, "copy the view before: jax arrays have one order")
                function = foreign[name]
                changed = {p.name for p, may in zip(function.params, stored(function), strict=True) if may}
                before: list[str] = []
                after: list[str] = []
                args = list(call.args)
                for at, (param, a) in enumerate(zip(function.params, call.args, strict=False)):
                    array = dotted(a.value)
                    if not isinstance(param.type, ArrayType) or ranks.get(array) == 1:
                        continue
                    if not array.isidentifier():
                        raise scope.refuse(
                            call, f"how many axes `{scope.text(a.value)}` has is not known", "name it before"
                        )
                    if array not in flats:
                        flats[array] = fresh(taken, f"{array}_flat")
                    flat = flats[array]
                    args[at] = a.with_changes(value=cst.Name(flat))
                    first = f"{flat} = {array}.ravel().copy()"
                    before += [first] if first not in before else []
                    last = f"{array}[...] = {flat}.reshape({array}.shape)"
                    after += [last] if param.name in changed and last not in after else []
                if not before:
                    return None
                new = call.with_changes(args=args)
                launch = line.with_changes(body=[cst.Expr(new)])
                lines = [*map(cst.parse_statement, before), launch, *map(cst.parse_statement, after)]
                for made in [new, *(n for x in lines for n in walk(x))]:
                    placed(scope.source, made, call)
                return cst.FlattenSentinel(lines)
        return None

    return _lines(scope, node, change)  # type: ignore[no-any-return]


def _strided(node: cst.FunctionDef) -> cst.CSTNode | None:
    """What may make an array whose elements are not in the order of its memory."""
    for inner in walk(node.body):
        match inner:
            case cst.Attribute(attr=cst.Name(value=word)) if word in _VIEWS:
                return inner
            case cst.Arg(keyword=cst.Name(value="order" | "strides")):
                return inner
            case cst.Assign(value=cst.Subscript(slice=items) as value) if len(items) > 1 or any(
                isinstance(i.slice, cst.Slice) and i.slice.step is not None for i in items
            ):
                return value
    return None


def _lines(scope: HostScope, node: Any, change: Any) -> Any:
    """A node with statements in place of others, at any depth."""
    if isinstance(node, cst.IndentedBlock):
        body: list[Any] = []
        for line in node.body:
            found = change(line)
            body += [_lines(scope, line, change)] if found is None else list(found)
        same = len(body) == len(node.body) and all(a is b for a, b in zip(body, node.body, strict=True))
        return node if same else node.with_changes(body=body)
    given = {n: getattr(node, n, None) for n in ("body", "orelse", "finalbody")}
    new = {
        n: _lines(scope, x, change) for n, x in given.items() if isinstance(x, cst.IndentedBlock | cst.If | cst.Else)
    }
    if all(given[n] is x for n, x in new.items()):
        return node
    return placed(scope.source, node.with_changes(**new), node)


__all__ = ["names", "not_launched", "with_flat_arrays", "with_launches"]
