"""Helpers that return before their end, for another place: what follows a way out is its other branch."""

from __future__ import annotations

from lark import Token, Tree

from kraise.frontends.cuda_c.trees import trees

_BRANCHES = ("if_statement", "if_else_statement")


def single_exit(lines: list[Tree], result: str) -> list[Tree] | None:
    """Statements in which ``return e;`` is ``result = e;`` ("": nothing is returned).

    None for a way out of a loop or a ``switch``, and where a number may be returned at some ends only.
    """
    out: list[Tree] = []
    for at, line in enumerate(lines):
        rest = lines[at + 1 :]
        if line.data == "return_statement":
            value = next((c for c in line.children if isinstance(c, Tree)), None)
            if (value is None) != (not result):
                return None
            return out if value is None else [*out, _set(result, value, line)]
        if not any(line.find_data("return_statement")):
            out.append(line)
            continue
        if line.data == "compound_statement":  # its names end with it: a way out of it is one of the whole
            inner = single_exit([*trees(line), *rest], result) if _ends(trees(line)) else None
            return None if inner is None else [*out, Tree("compound_statement", inner, line.meta)]
        if line.data not in _BRANCHES:
            return None
        test, then, *other = trees(line)
        sides: list[Tree] = []
        for side in (_statements(then), _statements(other[0]) if other else []):
            found = single_exit(side if _ends(side) else [*side, *rest], result)
            if found is None:
                return None
            sides.append(Tree("compound_statement", found, line.meta))
        before = line.children[: line.children.index(test)]
        return [*out, Tree("if_else_statement", [*before, test, *sides], line.meta)]
    return None if result else out


def _set(result: str, value: Tree, node: Tree) -> Tree:
    target = Tree("id_expression", [Token("NAME", result)], node.meta)
    whole = Tree("assignment_expression", [target, Token("EQUAL", "="), value], node.meta)
    return Tree("expression_statement", [whole], node.meta)


def _statements(node: Tree) -> list[Tree]:
    return trees(node) if node.data == "compound_statement" else [node]


def _ends(lines: list[Tree]) -> bool:
    """Does every way through statements end in a return?"""
    if not lines:
        return False
    last = lines[-1]
    if last.data == "if_else_statement":
        _, then, other = trees(last)
        return _ends(_statements(then)) and _ends(_statements(other))
    return last.data == "return_statement" or (last.data == "compound_statement" and _ends(trees(last)))
