"""Methods that a class declares and the file defines outside of it (``void Heat::step() { … }``): they are the class's
own, as if their bodies stood in it.

Side condition: the definition of a member of a class template has the template's own parameter names; another is left
out, and a call of it is not known.
"""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c.scan import Item, Unit
from kraise.frontends.cuda_c.structs import StructDefinition, TemplateParameter, template_parameters
from kraise.frontends.cuda_c.trees import child, trees


def owner(unit: Unit, item: Item) -> str:
    """``Heat`` of ``void Heat::step()``, "" for a function of its own."""
    toks = unit.tokens
    at = next((n for n in range(item.first, item.last) if toks[n].text == "(" and toks[n - 1].text == item.name), 0) - 1
    at -= toks[at - 1].text == "~"  # of a destructor
    if at <= item.first or toks[at - 1].text != "::":
        return ""
    at -= 2
    if toks[at].text == ">":  # Buffer<T>::fill
        depth = 1
        while depth and at > item.first:
            at -= 1
            depth += {">": 1, "<": -1}.get(toks[at].text, 0)
        at -= 1
    return toks[at].text


def adopted(
    program: Any, node: Tree, definition: StructDefinition, parameters: list[TemplateParameter], items: list[Item]
) -> None:
    """Gives a class the bodies of the methods and constructors that stand outside of it."""
    declared = [d for d in trees(node) if d.data in ("function_declaration", "constructor_definition")]
    for item in items:
        (tree, *_) = program.parse(item).children
        own: list[TemplateParameter] = []
        while tree.data == "template_declaration":
            own += template_parameters(tree)
            tree = tree.children[-1]
        if [p.name for p in own[: len(parameters)]] != [p.name for p in parameters]:
            continue
        if tree.data == "constructor_definition":
            same = [d for d in declared if d.data == tree.data and _is_twin(d, tree) and not _has_body(d)]
            tree = _with_defaults(tree, same[0] if same else None)
            definition.constructors[:] = [c for c in definition.constructors if not any(c is d for d in same)]
            definition.constructors.append(tree)
        elif tree.data == "function_definition":
            same = [d for d in declared if d.data == "function_declaration" and _named(d) == item.name]
            same = [d for d in same if _is_twin(d, tree)]
            program.method(_with_defaults(tree, same[0] if same else None), definition, own[len(parameters) :])


def _parameters(node: Tree) -> list[Tree]:
    head = child(node, "function_declarator")
    return trees(head if head is not None else node, "parameter_declaration")


def _named(node: Tree) -> str:
    head = child(node, "function_declarator")
    inner = child(head, "declarator") if head is not None else None
    found = child(inner, "declarator_id") if inner is not None else None
    return next((str(t) for t in reversed(found.children) if isinstance(t, Token)), "") if found is not None else ""


def _has_body(node: Tree) -> bool:
    return child(node, "compound_statement") is not None or child(node, "function_end") is not None


def _is_twin(one: Tree, other: Tree) -> bool:
    """May these be the declaration and the definition of one function? Overloads differ in the number of parameters
    here; those that do not are two candidates for a call, which is then refused."""
    tilde = ["~" in [str(c) for c in t.children] for t in (one, other)]
    return len(_parameters(one)) == len(_parameters(other)) and tilde[0] == tilde[1]


def _with_defaults(tree: Tree, declared: Tree | None) -> Tree:
    """The definition with the default arguments of its declaration."""
    if declared is None:
        return tree
    given = dict(zip(map(id, _parameters(tree)), _parameters(declared), strict=True))

    def change(node: Any) -> Any:
        if not isinstance(node, Tree):
            return node
        if id(node) in given:
            default = child(given[id(node)], "initializer_clause")
            return Tree(node.data, [*node.children, *([default] if default is not None else [])], node.meta)
        if node.data == "compound_statement":
            return node
        return Tree(node.data, [change(c) for c in node.children], node.meta)

    return change(tree)  # type: ignore[no-any-return]
