"""Braces around what a variable of a CUDA C host function begins with: ``size_t bytes{0}``, ``float *p{}``."""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c.trees import child, kind, trees
from kraise.ir.types import ScalarType


def braces_of(node: Any) -> list[Tree]:
    """The braced lists of an initializer."""
    if kind(node) == "braced_init_list":
        return [node]
    found = child(node, "braced_init_list") if isinstance(node, Tree) else None
    return [found] if found is not None else []


def unbraced(base: Any, declarator: Tree, initial: list[Tree]) -> list[Tree]:
    """The initializer of a number or a pointer without its braces; empty ones are zero."""
    if len(initial) != 1 or any(t.data.endswith("array_declarator") for t in declarator.iter_subtrees()):
        return initial
    inner = initial[0]
    if kind(inner) == "initializer_clause" and len(inner.children) == 1:
        inner = inner.children[0]  # type: ignore[assignment]
    points = any(declarator.find_data("ptr_operator"))
    if kind(inner) != "braced_init_list" or not (isinstance(base, ScalarType) or points) or len(trees(inner)) > 1:
        return initial
    zero = Tree("null_pointer", [Token("NAME", "nullptr")], inner.meta)
    number = Tree("number", [Token("NUMBER", "0")], inner.meta)
    return trees(inner) or [zero if points else number]
