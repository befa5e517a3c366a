"""CUDA C in the strings of a Python file: cupy.RawKernel, cupy.RawModule, pycuda's SourceModule."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kraise.diagnostics import Diagnostic, Span
from kraise.diagnostics.collect import guard
from kraise.frontends.cuda_c.reader import read
from kraise.ir import kernel

_CALLS = ("RawKernel", "RawModule", "SourceModule")


@dataclass(frozen=True)
class Embedded:
    """A kernel source in a Python file.

    ``offset``: what to add to its line numbers; ``instantiate``: the template instances that the program asks for.
    """

    text: str
    offset: int
    instantiate: tuple[str, ...] = ()


def find_embedded(python_source: str) -> list[Embedded]:
    """The kernel sources in a Python file, in order. [] if it is no Python."""
    return _find(python_source, "")[0]


def read_embedded(
    python_source: str, file: str, *, defines: Iterable[str] = (), include_dirs: Iterable[str] = ()
) -> tuple[kernel.Module, list[Diagnostic]]:
    """All kernels in the strings of a Python file, as one module whose lines are those of the Python file.

    A string that cannot be read is reported, the others come out.
    """
    found, diagnostics = _find(python_source, file)
    functions: dict[str, kernel.Function] = {}
    constants: dict[str, kernel.Constant] = {}
    comments: dict[int, str] = {}
    for one in found:
        text = "\n" * one.offset + one.text
        given = {"defines": defines, "include_dirs": include_dirs, "instantiate": one.instantiate}
        outcome, problems = guard("", Span(file, one.offset + 1), read, text, file, **given)
        diagnostics += problems
        if outcome is None:
            continue
        module, unread = outcome
        diagnostics += unread
        for c in module.constants:
            if constants.setdefault(c.name, c) != replace(c, span=constants[c.name].span):
                reason = f"`{c.name}` has another value in another string of this file"
                diagnostics.append(Diagnostic("KR107", reason, Span(file, one.offset + 1)))
                module = replace(module, functions=())
        for f in module.functions:
            if functions.setdefault(f.name, f) != f:
                reason = f"there are two functions `{f.name}` in the strings of this file"
                diagnostics.append(Diagnostic("KR107", reason, f.span, kernel=f.name))
        comments |= dict(module.comments)
    module = kernel.Module(
        file, "cuda_c", tuple(functions.values()), tuple(constants.values()), comments=tuple(sorted(comments.items()))
    )
    return module, diagnostics


def _find(python_source: str, file: str) -> tuple[list[Embedded], list[Diagnostic]]:
    try:
        tree = ast.parse(python_source)
    except (SyntaxError, ValueError, RecursionError):
        return [], []
    names: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            names.update((t.id, node.value) for t in node.targets if isinstance(t, ast.Name))
    found: dict[tuple[int, int], Embedded] = {}
    diagnostics: list[Diagnostic] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in _CALLS:
            continue
        asked = {k.arg: k.value for k in node.keywords if k.arg}
        source = node.args[0] if node.args else asked.get("code") or asked.get("source")
        text = names.get(source.id, source) if isinstance(source, ast.Name) else source
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            instances = asked.get("name_expressions")
            wanted = tuple(e for e in _strings(names.get(getattr(instances, "id", ""), instances)) if "<" in e)
            found[(text.lineno, text.col_offset)] = Embedded(text.value, text.lineno - 1, wanted)
        elif source is not None:
            span = Span(file, source.lineno, source.col_offset + 1)
            reason = f"the source of this {name} is put together when the program runs: it cannot be read here"
            hint = "write it as one string, or translate the .cu file that it comes from"
            diagnostics.append(Diagnostic("KR101", reason, span, hint))
    return [found[key] for key in sorted(found)], diagnostics


def _strings(node: ast.expr | None) -> list[str]:
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)]
