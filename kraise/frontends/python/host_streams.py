"""Lists of streams and events in Python host functions: they have no part in the values, a loop over them has rounds.

``streams = [cuda.stream() for _ in range(k)]`` with ``for c, s in enumerate(streams)`` is ``for c in range(k)`` with
``s = cuda.stream()`` in its body; ``streams[i % k]`` is ``cuda.stream()``.

Side condition, checked: the list is made once, and nothing in its length is assigned anew. Where anything else is done
with the list, its name is not known any more. The stream of a copy (``stream=s``) is left out.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_scope import HostScope, ignored_call
from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.source import dotted, rebuilt, walk
from kraise.ir.host_names import fresh


def without_streams(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function without its lists of streams, and without the streams of copies."""
    node = _without_streams_of_copies(scope, node)
    made: dict[str, tuple[cst.Call, cst.BaseExpression]] = {}
    for inner in walk(node.body):
        match inner:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=name))],
                value=cst.ListComp(
                    elt=cst.Call() as each,
                    for_in=cst.CompFor(
                        iter=cst.Call(func=cst.Name(value="range"), args=[cst.Arg(value=count)]),
                        ifs=[],
                        inner_for_in=None,
                    ),
                ),
            ) if ignored_call(scope.imports.qualified(dotted(each.func))):
                made[name] = (each, count)
    for name, (_, count) in list(made.items()):
        if _times(node, name) > 1 or any(
            _times(node, n.value) > (0 if _is_parameter(node, n.value) else 1)
            for n in walk(count)
            if isinstance(n, cst.Name)
        ):
            del made[name]
    if not made:
        return node

    taken = {n.value for n in walk(node) if isinstance(n, cst.Name)}

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))])]
            ) if (
                name in made and isinstance(inner.body[0], cst.Assign) and isinstance(inner.body[0].value, cst.ListComp)
            ):
                return inner.with_changes(body=[cst.Pass()])
            case cst.Subscript(value=cst.Name(value=name)) if name in made:
                return made[name][0].deep_clone()
            case cst.For(target=target, iter=over, body=cst.IndentedBlock() as body):
                found = _rounds(target, over, made, taken)
                if found is not None:
                    counter, stream, name = found
                    each, count = made[name]
                    first = cst.SimpleStatementLine(
                        [cst.Assign([cst.AssignTarget(cst.Name(stream))], each.deep_clone())]
                    )
                    scope.source.positions[first] = scope.source.positions[inner]
                    lines = [first, *(rebuilt(scope.source, line, change) for line in body.body)]
                    rounds = cst.Call(cst.Name("range"), [cst.Arg(count.deep_clone())])
                    scope.source.positions[rounds] = scope.source.positions[inner]
                    return inner.with_changes(target=cst.Name(counter), iter=rounds, body=body.with_changes(body=lines))
        return None

    new: cst.FunctionDef = rebuilt(scope.source, node, change)
    return new


def _without_streams_of_copies(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """``d.copy_to_host(stream=s).sum()`` as ``d.copy_to_host().sum()``."""

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="copy_to_host" | "copy_to_device")), args=args):
                left = [a for a in args if a.keyword is None or a.keyword.value != "stream"]
                if len(left) < len(args):
                    new = inner.with_changes(
                        func=rebuilt(scope.source, inner.func, change),
                        args=[rebuilt(scope.source, a, change) for a in left],
                    )
                    scope.source.positions[new] = scope.source.positions[inner]
                    return new
        return None

    return rebuilt(scope.source, node, change)  # type: ignore[no-any-return]


def _rounds(
    target: cst.BaseExpression, over: cst.BaseExpression, made: Any, taken: set[str]
) -> tuple[str, str, str] | None:
    """The counter, the stream and the list of a loop over one."""
    match over, target:
        case cst.Name(value=name), cst.Name(value=stream) if name in made:
            return fresh(taken, f"{stream}_at"), stream, name
        case (
            cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(value=cst.Name(value=name))]),
            cst.Tuple(elements=[one, other]),
        ) if name in made and dotted(one.value) and dotted(other.value):
            return dotted(one.value), dotted(other.value), name
    return None


def _times(node: cst.FunctionDef, name: str) -> int:
    """How many statements assign a name."""
    return sum(
        name in assigned(line) for line in walk(node.body)
        if isinstance(line, cst.SimpleStatementLine) or (isinstance(line, cst.For) and name in _names(line.target))
    )  # fmt: skip


def _names(target: cst.CSTNode) -> set[str]:
    return {n.value for n in walk(target) if isinstance(n, cst.Name)}


def _is_parameter(node: cst.FunctionDef, name: str) -> bool:
    return any(p.name.value == name for p in (*node.params.params, *node.params.kwonly_params))
