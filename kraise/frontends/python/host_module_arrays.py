"""Arrays of numbers of the module in Python host functions: ``W = np.array([0.25, 0.5])``, then ``cuda.to_device(W)``.

Such an array is made at the start of the function that mentions it; so is what the module computes of such arrays and
of numbers (``V = W.T.copy()``, ``x = np.linspace(0, 1, N)``).

Side conditions, checked: the function does not change it (the next call would see that); the module sets the name once,
and nothing in the file changes it in place; the same comes out whenever it is computed (no random numbers, no files).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import libcst as cst

from kraise.frontends.python.host_rounds import literal
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import assigned, times_set
from kraise.frontends.python.names import simple_statements
from kraise.frontends.python.source import all_of, dotted, walk
from kraise.ir import host as h
from kraise.ir.host_live import Needed, flat, stored


def with_module_arrays(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with the arrays of the module that it mentions; they are no constants of the scope any more."""
    bound = assigned(node.body) | {n for p in all_of(cst.Param, node.params) for n in assigned(p)}
    mentioned = {n.value for n in all_of(cst.Name, node.body)} - bound
    made: list[cst.SimpleStatementLine] = []
    computed = _computed(scope)
    mentioned |= {n for name in mentioned & set(computed) for n in _needs(computed, name)}
    for statement in _statements(scope.source.tree):
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
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) if (
                name in mentioned and name in computed and name not in scope.module_arrays
            ):  # fmt: skip
                line = cst.SimpleStatementLine([statement])
                scope.source.positions.setdefault(line, scope.source.positions[statement])
                made.append(line)
                scope.module_arrays.add(name)
    if not made or not isinstance(node.body, cst.IndentedBlock):
        return node
    scope.constants = {n: c for n, c in scope.constants.items() if n not in scope.module_arrays}
    out = node.with_changes(body=node.body.with_changes(body=[*made, *node.body.body]))
    for a, b in ((out, node), (out.name, node.name)):
        scope.source.positions.setdefault(a, scope.source.positions[b])
    return out


def _computed(scope: HostScope) -> dict[str, cst.Assign]:
    """What the module computes once for all of numbers, of its arrays and of other such names, by its name."""
    times = times_set(scope.source.tree)
    stored_to = _stored_to(scope.source.tree)
    found: dict[str, cst.Assign] = {}
    for statement in _statements(scope.source.tree):
        match statement:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=name))],
                value=cst.Call() | cst.BinaryOperation() | cst.Subscript() | cst.Attribute() | cst.UnaryOperation(),
            ) if times[name] == 1 and name not in stored_to and name not in scope.constants:
                arrays = bool(all_of(cst.Call, statement.value)) or _names(statement) & set(found)
                if arrays and _settled(scope, statement.value, set(found)):
                    found[name] = statement
    return found


@lru_cache(maxsize=16)  # of one module it is asked for each of its functions
def _statements(tree: cst.Module) -> tuple[cst.CSTNode, ...]:
    return tuple(simple_statements(tree.body))


@lru_cache(maxsize=16)
def _stored_to(tree: cst.Module) -> frozenset[str]:
    stores = (n.target for n in all_of(cst.AssignTarget | cst.AugAssign, tree))
    return frozenset(dotted(t.value) for t in stores if isinstance(t, cst.Subscript | cst.Attribute))


def _names(node: cst.CSTNode) -> set[str]:
    return {n.value for n in all_of(cst.Name, node)}


def _needs(computed: dict[str, cst.Assign], name: str) -> set[str]:
    """The names that a computed one is made of."""
    found = _names(computed[name].value)
    return found | {n for other in found & set(computed) if other != name for n in _needs(computed, other)}


def _settled(scope: HostScope, node: cst.BaseExpression, known: set[str]) -> bool:
    """Is an expression of the module made of numbers, of its constants and ``known`` names, by NumPy's functions?"""
    words = {id(n.keyword) for n in all_of(cst.Arg, node)}
    words |= {id(n.attr) for n in all_of(cst.Attribute, node)}
    for inner in walk(node):
        match inner:
            case cst.Call(func=func):
                name = scope.imports.qualified(dotted(func)) if dotted(func) else ""
                owner = dotted(func).partition(".")[0]
                method = isinstance(func, cst.Attribute) and (not owner or owner in known or owner in scope.constants)
                whole = name.startswith(("numpy.", "math.", "builtins.")) and not name.startswith(_CHANGING)
                if not (whole or method):
                    return False
            case cst.Name(value=name) if id(inner) not in words:
                qualified = scope.imports.qualified(name)
                if name not in known and name not in scope.constants and not qualified.startswith(_KNOWN):
                    return False
            case cst.Lambda() | cst.Comparison() | cst.IfExp() | cst.ListComp() | cst.GeneratorExp() | cst.DictComp():
                return False
    return True


_KNOWN = ("numpy", "math", "builtins.")
_CHANGING = (
    "numpy.random", "numpy.load", "numpy.genfromtxt", "numpy.fromfile", "numpy.memmap", "builtins.open",
    "builtins.input", "builtins.eval", "builtins.exec", "builtins.globals", "builtins.list", "builtins.dict",
)  # fmt: skip


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
