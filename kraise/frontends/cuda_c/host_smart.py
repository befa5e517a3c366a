"""Pointers to objects of CUDA C hosts: smart ones, and what ``auto`` makes of them."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.trees import Node, kind, strip

_MAKERS = ("make_unique", "make_shared")


def made(reader: Any, node: Any) -> Any:
    """The type of what ``std::make_unique<T>(…)`` or ``std::make_shared<T>(…)`` makes; None for anything else."""
    if not isinstance(node, Tree) or kind(node) != "call_expression" or callee(node.children[0]) not in _MAKERS:
        return None
    inside = list(node.children[0].find_data("template_arguments"))  # type: ignore[union-attr]
    given = inside[-1] if inside else None  # the outermost
    found = reader.low.template_arguments(given) if given is not None else []
    return found[0] if len(found) == 1 else None


def is_place(reader: Any, node: Node) -> bool:
    """Is an expression of an object a pointer to it: ``&s``, or a name that was declared as one?"""
    inner = strip(node)
    if isinstance(inner, Tree) and inner.data == "unary_expression":
        return str(inner.children[0]) == "&"
    return callee(inner) in reader.places
