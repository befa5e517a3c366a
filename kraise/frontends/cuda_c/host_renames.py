"""Names in trees of CUDA C host functions: those that a body changes and declares, and others in their place."""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.trees import kind, last_name, strip, tokens, trees


def changed_names(body: Tree) -> set[str]:
    """The names that a body assigns to."""
    found: set[str] = set()
    for t in body.iter_subtrees():
        if t.data == "assignment_expression":
            found.add(callee(t.children[0]))
        elif t.data in ("unary_expression", "postfix_expression") and {"++", "--"} & {str(c) for c in t.children}:
            found |= {callee(c) for c in t.children if isinstance(c, Tree)}
        elif t.data == "unary_expression" and str(t.children[0]) == "&":
            found.add(callee(t.children[1]))
        elif t.data == "call_expression" and callee(t.children[0]) == "swap":
            found |= {callee(a) for a in trees(t)[1:]}
    return found - {""}


def changed_objects(body: Tree) -> set[str]:
    """The variables that a body assigns to, or to a member of."""
    found: set[str] = set()
    for t in body.iter_subtrees():
        changes = t.data in ("unary_expression", "postfix_expression") and {"++", "--", "&"} & set(map(str, t.children))
        if t.data == "assignment_expression" or changes:
            place: Any = strip(next((c for c in t.children if isinstance(c, Tree)), t.children[0]))
            while kind(place) == "member_expression":
                place = strip(place.children[0])
            found.add(callee(place) if isinstance(place, Tree) else "")
    return found - {""}


def locals_of(declarator: Tree, body: Tree) -> set[str]:
    """The names that a function has for itself."""
    given = {str(last_name(d)) for d in declarator.find_data("declarator_id") if last_name(d) is not None}
    return given | declared_names(body)


def declared_once(*parts: Tree) -> set[str]:
    """The variables that are declared in one place only, so that a name is one variable."""
    found = [n for p in parts for n in _declared(p)]
    return {n for n in found if found.count(n) == 1}


def declared_names(body: Tree) -> set[str]:
    """The variables that a body declares."""
    return set(_declared(body))


def _declared(body: Tree) -> list[str]:
    found = [str(t) for d in body.find_data("declarator_id") if (t := last_name(d)) is not None]
    return found + [str(t) for d in body.find_data("identifier_list") for t in tokens(d) if t.type == "NAME"]


def members_of(body: Tree) -> set[str]:
    """The members that a body names."""
    return {str(t) for m in body.find_data("member_name") for t in tokens(m)}


def with_names(node: Any, names: dict[str, Any]) -> Any:
    """A tree with other names, or expressions in the place of names; ``*&x`` and ``(&x)[0]`` are ``x``."""
    if not isinstance(node, Tree):
        return node
    if node.data == "id_expression" and len(node.children) == 1 and str(node.children[0]) in names:
        new = names[str(node.children[0])]
        return Tree("id_expression", [Token("NAME", new)], node.meta) if isinstance(new, str) else new
    if node.data == "member_name":
        return node
    if node.data in ("declarator_id", "identifier_list"):
        parts: list[Any] = [
            Token("NAME", names[str(c)]) if isinstance(names.get(str(c)), str) else c for c in node.children
        ]
        return Tree(node.data, parts, node.meta)
    children = [with_names(c, names) for c in node.children]
    pointed = node.data == "unary_expression" and str(children[0]) == "*"
    if pointed or (node.data == "subscript_expression" and [str(t) for t in tokens(children[1])] == ["0"]):
        inner = strip(children[1 if pointed else 0])
        if kind(inner) == "unary_expression" and str(inner.children[0]) == "&":  # type: ignore[union-attr]
            return inner.children[1]  # type: ignore[union-attr]
    return Tree(node.data, children, node.meta)
