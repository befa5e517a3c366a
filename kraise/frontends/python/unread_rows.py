"""``row = M[i]`` and ``row *= 2``, where nothing reads ``row``: a number is lost, and a row changes ``M``."""

from __future__ import annotations

import libcst as cst

from kraise.frontends.python.scope import Scope, bindings
from kraise.frontends.python.source import walk


def refuse_row(scope: Scope, node: cst.AugAssign) -> None:
    """Nothing says whether an element of an array that is changed in place, and not read, is a row of it.

    Raises:
        Refused: KR104.
    """
    assert isinstance(node.target, cst.Name)
    name, body = node.target.value, scope.definition.node.body
    named = sum(isinstance(n, cst.Name) and n.value == name for n in walk(body))
    if named > bindings(body)[name] or not _of_array(scope, name, body):
        return
    raise scope.refuse(
        node,
        f"{name} may be a row of an array that is changed here, or a number that nothing reads",
        f"write {name}[:] if it is a row, and remove the line otherwise",
        "KR104",
    )


def _of_array(scope: Scope, name: str, body: cst.CSTNode) -> bool:
    """Whether it is an element of an array, or what a caller passes."""
    if name in scope.params:
        return True
    for node in walk(body):
        match node:
            case cst.Assign(targets=targets, value=cst.Subscript() as value):
                if any(isinstance(t.target, cst.Name) and t.target.value == name for t in targets):
                    base = value.value
                    return not isinstance(base, cst.Attribute) or base.attr.value != "shape"
            case cst.For(target=cst.Name(value=each), iter=cst.Name() | cst.Subscript()) if each == name:
                return True
    return False
