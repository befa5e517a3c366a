"""The statements of a module as a host function ``main``: a script that launches kernels (``--entry main``).

What a script does stands in the module itself or under ``if __name__ == "__main__":``. Where the file has no function
``main``, these statements are one, with what it copies back or prints as its results. Imports, definitions and the
constants of the module stay where they are.

Side condition, checked: a function of the file that the statements come to sees no name that they set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import libcst as cst

from kraise.diagnostics import refuse
from kraise.frontends.python.host_units import times_set
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, walk
from kraise.ir.kernel import Constant

NAME = "main"
_MAKERS = (
    "jit",
    "vectorize",
    "guvectorize",
    "reduce",
    "RawKernel",
    "RawModule",
    "ElementwiseKernel",
    "ReductionKernel",
)


def with_main(parsed: Source, imports: Imports, constants: Mapping[str, Constant], only: tuple[str, ...]) -> Source:
    """The source with the function, where it is asked for and there is something to make it of."""
    defined = {n.name.value: n for n in parsed.tree.body if isinstance(n, cst.FunctionDef | cst.ClassDef)}
    if NAME not in only or NAME in defined:
        return parsed
    own: list[Any] = []
    rest: list[Any] = []
    runs = {n for n, d in defined.items() if not _is_kernel(d)}
    mentioned = {n.value for d in defined.values() for n in all_of(cst.Name, d)}
    times = times_set(parsed.tree)
    for statement in parsed.tree.body:
        inner = _under_main(statement)
        for s in [statement] if inner is None else inner:
            stays = _is_left(s) or _makes_function(s, imports) or _is_constant(s, constants, times, mentioned)
            (rest if stays else own).append(s)
    if not any(_may_launch(n, runs) for s in own for n in walk(s)):
        return parsed
    _check_apart(parsed, defined, own, constants)
    body = cst.IndentedBlock(own)
    made = cst.FunctionDef(cst.Name(NAME), cst.Parameters(), body)
    for new in (made, made.name):
        parsed.positions.setdefault(new, parsed.positions[own[0]])
    return replace(parsed, tree=parsed.tree.with_changes(body=[*rest, made]))


def _under_main(statement: cst.CSTNode) -> list[Any] | None:
    """The statements under ``if __name__ == "__main__":``."""
    match statement:
        case cst.If(
            test=cst.Comparison(left=cst.Name(value="__name__"), comparisons=[_]),
            body=cst.IndentedBlock(body=inner),
            orelse=None,
        ):
            return list(inner)
    return None


def _is_left(statement: cst.CSTNode) -> bool:
    """Is it an import, a definition or a text: nothing that runs?"""
    match statement:
        case cst.FunctionDef() | cst.ClassDef():
            return True
        case cst.SimpleStatementLine(body=parts):
            texts = (cst.SimpleString, cst.ConcatenatedString)
            return all(
                isinstance(p, cst.Import | cst.ImportFrom | cst.Pass)
                or (isinstance(p, cst.Expr) and isinstance(p.value, texts))
                for p in parts
            )
        case cst.Try(body=body):
            return all(map(_is_left, body.body))
    return False


def _is_kernel(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.FunctionDef) and bool(node.decorators)


def _may_launch(node: cst.CSTNode, functions: set[str]) -> bool:
    """Is it a launch, or a call of a function of the file?"""
    match node:
        case cst.Call(func=cst.Subscript() | cst.Call()):
            return True
        case cst.Call(func=cst.Name(value=name)):
            return name in functions
        case cst.Call(args=[_, _, cst.Arg(value=cst.Tuple())]):  # a kernel in a string
            return True
    return False


def _makes_function(statement: cst.CSTNode, imports: Imports) -> bool:
    """``f = cuda.jit(g)``, ``k = cp.RawKernel(…)``"""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Assign(value=cst.Call(func=func))]):
            name = dotted(func.func if isinstance(func, cst.Call) else func)
            name = imports.qualified(name) if name else ""
            return name.startswith(("numba.", "cupy.", "cupyx.")) and name.rpartition(".")[2] in _MAKERS
    return False


def _is_constant(
    statement: cst.CSTNode, constants: Mapping[str, Constant], times: Mapping[str, int], mentioned: set[str]
) -> bool:
    """Does it give names to constants, once: numbers, or arrays that a function of the file reads?"""
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
        ) if times[name] == 1 and name in mentioned and _is_number(value):
            return True  # under `if __name__ == "__main__":`, too
        case cst.SimpleStatementLine():
            names = list(times_set(statement))
            return bool(names) and all(
                n in constants and times[n] == 1 and (not constants[n].shape or n in mentioned) for n in names
            )
    return False


def _is_number(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Tuple(elements=parts):
            return all(_is_number(p.value) for p in parts)
        case cst.UnaryOperation(expression=inner):
            return _is_number(inner)
        case cst.BinaryOperation(left=left, right=right):
            return _is_number(left) and _is_number(right)
    return isinstance(node, cst.Integer | cst.Float)


def _check_apart(
    parsed: Source, defined: Mapping[str, cst.CSTNode], own: list[Any], constants: Mapping[str, Constant]
) -> None:
    """Refuses a script whose functions see its variables."""
    names = {n for s in own for n in times_set(s)}
    waiting = [n.value for s in own for n in all_of(cst.Name, s) if n.value in defined]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        node = defined[name]
        bound = times_set(node)
        for inner in walk(node):
            if not isinstance(inner, cst.Name):
                continue
            if inner.value in defined:
                waiting.append(inner.value)
            elif inner.value in names and inner.value not in bound:
                reason = f"{name} sees {inner.value}, a variable of the script"
                raise refuse("KR211", reason, parsed.span(inner), f"give it to {name} as a parameter")


__all__ = ["NAME", "with_main"]
