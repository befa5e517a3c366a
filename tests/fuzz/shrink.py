"""Smaller programs with the same bug: statements deleted or replaced by their bodies, expressions by parts."""

from __future__ import annotations

import ast
import copy
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.generate import Program

CONSTANTS = (0, 1, 1.0)


def shrink(program: Program, kernel: str, still: Callable[[Program], bool], seconds: float = 60.0) -> Program:
    """The smallest program found in the time for which ``still`` holds; it has the one kernel (and its helpers)."""
    end = time.monotonic() + seconds
    best = program
    improved = True
    while improved and time.monotonic() < end:
        improved = False
        for tree in _smaller(ast.parse(best.source), kernel):
            if time.monotonic() > end:
                break
            candidate = _program(best, tree, kernel)
            if candidate is not None and len(candidate.source) < len(best.source) and still(candidate):
                best, improved = candidate, True
                break
    return best


def _program(before: Program, tree: ast.Module, kernel: str) -> Program | None:
    """The program of a tree: the kernel keeps the parameters that it uses."""
    mine = next(k for k in before.kernels if k.name == kernel)
    for f in tree.body:
        if isinstance(f, ast.FunctionDef) and f.name == kernel:
            used = {n.id for statement in f.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
            f.args.args = [a for a in f.args.args if a.arg in used]
            mine = replace(mine, args=tuple(a for a in mine.args if a.name in used))
    try:
        source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    return replace(before, source=re.sub(r"\n\n\n+", "\n\n\n", source), kernels=(mine,))


def _smaller(tree: ast.Module, kernel: str) -> Iterator[ast.Module]:
    """Trees with one thing less, large things first."""
    for n, f in enumerate(tree.body):
        if isinstance(f, ast.FunctionDef) and f.name != kernel:
            yield _edited(tree, lambda t, n=n: t.body.pop(n))
    blocks = [
        (number, name)
        for number, node in enumerate(ast.walk(tree))
        for name in ("body", "orelse")
        if isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If) and getattr(node, name, None)
    ]
    for number, name in blocks:
        block = getattr(_nth(tree, number), name)
        for at in range(len(block)):
            if len(block) > 1 or name == "orelse":
                yield _edited(tree, lambda t, b=(number, name), at=at: getattr(_nth(t, b[0]), b[1]).pop(at))
            inner = block[at]
            if isinstance(inner, ast.If | ast.For | ast.While):
                for part in ("body", "orelse"):
                    if getattr(inner, part, None):
                        yield _edited(tree, lambda t, b=(number, name), at=at, p=part: _unwrap(t, b, at, p))
    subscripts = {id(n) for s in ast.walk(tree) if isinstance(s, ast.Subscript) for n in ast.walk(s.slice)}
    ranges = {id(n) for s in ast.walk(tree) if isinstance(s, ast.For) for n in ast.walk(s.iter)}
    heads = {id(n) for f in tree.body if isinstance(f, ast.FunctionDef) for d in f.decorator_list for n in ast.walk(d)}
    places = [number for number, node in enumerate(ast.walk(tree)) if isinstance(node, ast.expr) and _replaceable(node)]
    for number in places:
        node = _nth(tree, number)
        if id(node) in heads or id(node) in ranges and isinstance(node, ast.Name | ast.Attribute):
            continue
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr) and not isinstance(part, ast.Name | ast.Attribute) or _value_name(node, part):
                yield _edited(tree, lambda t, n=number, p=part: _put(t, n, copy.deepcopy(p)))
        for value in (0, 1) if id(node) in subscripts else () if id(node) in ranges else CONSTANTS:
            yield _edited(tree, lambda t, n=number, v=value: _put(t, n, ast.Constant(v)))


def _value_name(node: ast.AST, part: ast.AST) -> bool:
    return isinstance(part, ast.Name) and not isinstance(node, ast.Call | ast.Subscript | ast.Attribute)


def _replaceable(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.Call) or (
        isinstance(node, ast.Subscript | ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    )


def _edited(tree: ast.Module, edit: Callable[[ast.Module], object]) -> ast.Module:
    new = copy.deepcopy(tree)
    edit(new)
    return new


def _nth(tree: ast.Module, number: int) -> ast.AST:
    return next(node for n, node in enumerate(ast.walk(tree)) if n == number)


def _unwrap(tree: ast.Module, block: tuple[int, str], at: int, part: str) -> None:
    statements = getattr(_nth(tree, block[0]), block[1])
    statements[at : at + 1] = getattr(statements[at], part)


def _put(tree: ast.Module, number: int, new: ast.expr) -> None:
    """``new`` in the place of the ``number``th node."""
    old = _nth(tree, number)
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
                return
            if isinstance(value, list):
                for n, item in enumerate(value):
                    if item is old:
                        value[n] = new
                        return
