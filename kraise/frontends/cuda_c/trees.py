"""Small questions about lark trees."""

from __future__ import annotations

from collections.abc import Iterator

from lark import Token, Tree

Node = Tree | Token


def kind(node: Node) -> str:
    """The rule of a tree, the terminal of a token."""
    return str(node.data) if isinstance(node, Tree) else node.type


def trees(node: Tree, *kinds: str) -> list[Tree]:
    """The child trees of these kinds."""
    return [c for c in node.children if isinstance(c, Tree) and (not kinds or c.data in kinds)]


def child(node: Tree, *kinds: str) -> Tree | None:
    """The first child tree of one of these kinds."""
    return next((c for c in node.children if isinstance(c, Tree) and c.data in kinds), None)


def arguments_of(node: Node) -> Tree | None:
    """The template arguments of what is named: the outermost list, as of ``f<Max<float>>``."""
    lists = list(node.find_data("template_arguments")) if isinstance(node, Tree) else []  # innermost first
    return lists[-1] if lists else None


def words(node: Node) -> list[str]:
    """The texts of all tokens below."""
    if isinstance(node, Token):
        return [str(node)]
    return [w for c in node.children for w in words(c)]


def tokens(node: Node) -> Iterator[Token]:
    """All tokens below, in order."""
    stack = [node]
    while stack:
        top = stack.pop()
        if isinstance(top, Token):
            yield top
        else:
            stack.extend(reversed(top.children))


def position(node: Node) -> int:
    """Index of the first raw token of a node, or -1."""
    if isinstance(node, Token):
        return node.start_pos if isinstance(node.start_pos, int) else -1
    start = getattr(node.meta, "start_pos", None)
    return start if isinstance(start, int) else -1


def end(node: Node) -> int:
    """Index after the last raw token of a node, or -1."""
    if isinstance(node, Token):
        return node.end_pos if isinstance(node.end_pos, int) else -1
    stop = getattr(node.meta, "end_pos", None)
    return stop if isinstance(stop, int) else -1


def strip(node: Node) -> Node:
    """The expression without the parentheses and one-child wrappers around it."""
    while isinstance(node, Tree) and node.data in (
        "parenthesized_expression",
        "initializer_clause",
        "expression_statement",
    ):
        if len(node.children) != 1:
            break
        node = node.children[0]
    return node


def last_name(node: Node) -> Token | None:
    """The unqualified name of an id_expression or declarator_id."""
    found = None
    if isinstance(node, Token):
        return node
    for c in node.children:
        if isinstance(c, Token) and c.type in ("NAME", "TYPE_NAME", "TEMPLATE_FUNCTION", "TEMPLATE_NAME"):
            found = c
    return found
