"""Arrays of numbers of the module in Python host functions: ``W = np.array([0.25, 0.5])``, then ``cuda.to_device(W)``.

Such an array is made at the start of the function that mentions it.

Side condition, checked: the function does not change it (the next call would see that).
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kraise.frontends.python.host_rounds import literal
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.names import simple_statements
from kraise.frontends.python.source import walk
from kraise.ir import host as h
from kraise.ir.host_live import Needed, flat, stored


def with_module_arrays(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with the arrays of the module that it mentions; they are no constants of the scope any more."""
    bound = assigned(node.body) | {n for p in walk(node.params) if isinstance(p, cst.Param) for n in assigned(p)}
    mentioned = {n.value for n in walk(node.body) if isinstance(n, cst.Name)} - bound
    made: list[cst.SimpleStatementLine] = []
    for statement in simple_statements(scope.source.tree.body):
        match statement:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call(func=func)) if (
                name in mentioned and (constant := scope.constants.get(name)) is not None and constant.shape
            ):
                bits = constant.type.bits or 64
                kind = constant.type.kind if constant.type.kind == "bool" else f"{constant.type.kind}{bits}"
                values = cst.Arg(_rows(constant.values, constant.shape))
                array = cst.Call(func, [values, cst.Arg(cst.SimpleString(f'"{kind}"'), keyword=cst.Name("dtype"))])
                line = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name(name))], array)])
                for new in (line, line.body[0], array):
                    scope.source.positions.setdefault(new, scope.source.positions[statement])
                made.append(line)
                scope.module_arrays.add(name)
    if not made or not isinstance(node.body, cst.IndentedBlock):
        return node
    scope.constants = {n: c for n, c in scope.constants.items() if n not in scope.module_arrays}
    out = node.with_changes(body=node.body.with_changes(body=[*made, *node.body.body]))
    for a, b in ((out, node), (out.name, node.name)):
        scope.source.positions.setdefault(a, scope.source.positions[b])
    return out


def check_kept(scope: HostScope, body: tuple[h.Stmt, ...]) -> None:
    """Refuses a function that may change such an array."""
    if not scope.module_arrays:
        return
    needed = Needed(body, {n: stored(f) for n, f in scope.functions.items()})
    arrays = {needed.memory(n): n for n in scope.module_arrays}
    for stmt in flat(body):
        if isinstance(stmt, h.Update | h.Store | h.Launch | h.CallHost):
            for name in needed.changes(stmt) & set(arrays):
                reason = f"this may change {arrays[name]}, an array of the module"
                raise scope.refuse_at(stmt.span, reason, "copy it first, or make it a parameter")


def _rows(values: Sequence[object], shape: tuple[int, ...]) -> cst.BaseExpression:
    """Numbers row by row as lists."""
    if not shape:
        return literal(values[0])  # type: ignore[arg-type]
    each = len(values) // shape[0] if shape[0] else 0
    rows = [_rows(values[n * each : (n + 1) * each], shape[1:]) for n in range(shape[0])]
    return cst.List([cst.Element(r) for r in rows])
