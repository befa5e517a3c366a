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

    ``offset``: what to add to its line numbers; ``instantiate``: the template instances that the program asks for;
    ``defines``: the macros that its options define.
    """

    text: str
    offset: int
    instantiate: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()


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
        given = {"include_dirs": include_dirs, "instantiate": one.instantiate}
        given["defines"] = (*one.defines, *defines)
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
    names = _named(tree)
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
        text = None if source is None else _text(source, names)
        if text is not None:
            instances, options = (asked.get(key) for key in ("name_expressions", "options"))
            wanted = tuple(e for e in _strings(names.get(getattr(instances, "id", ""), instances)) if "<" in e)
            given = _strings(names.get(getattr(options, "id", ""), options))
            macros = tuple(o[2:].strip() for o in given if o.startswith("-D"))
            found[text[1], text[2]] = Embedded(text[0], text[1] - 1, wanted, macros)
        elif source is not None:
            span = Span(file, source.lineno, source.col_offset + 1)
            reason = f"the source of this {name} is put together when the program runs: it cannot be read here"
            hint = "write it as one string, or translate the .cu file that it comes from"
            diagnostics.append(Diagnostic("KR101", reason, span, hint))
    return [found[key] for key in sorted(found)], diagnostics


def _named(tree: ast.AST) -> dict[str, ast.expr]:
    """The names of the file that are given a value once and nowhere else (as an argument, by ``+=``)."""
    names: dict[str, ast.expr] = {}
    other: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=ast.expr() as value):
                given = [t for t in targets if isinstance(t, ast.Name)]
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                given = [target]
            case ast.AugAssign(target=ast.Name(id=name)) | ast.arg(arg=name):
                other.add(name)
                continue
            case _:
                continue
        other |= {t.id for t in given if t.id in names}
        names.update((t.id, value) for t in given)
    return {name: value for name, value in names.items() if name not in other}


def _text(node: ast.expr, names: dict[str, ast.expr], depth: int = 0) -> tuple[str, int, int] | None:
    """What an expression of string literals and names of such is, and where its last literal stands; None for any
    other."""
    if depth > 20:
        return None
    match node:
        case ast.Constant(value=str(value)):
            return value, node.lineno, node.col_offset
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name) if name in names:
            return _text(names[name], names, depth + 1)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _text(left, names, depth + 1), _text(right, names, depth + 1)
            if first is None or second is None:
                return None
            return first[0] + second[0], max(second[1] - first[0].count("\n"), 1), second[2]
    return None


def _strings(node: ast.expr | None) -> list[str]:
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)]
