"""Loops of Python host functions over the rows of an array: ``for x in seq``, ``for t, x in enumerate(seq)``.

They are loops over numbers, with ``x = seq[t]`` first. Side conditions, checked: what the loop gives is used as an
array (elements stay numbers), ``seq`` is an array or a parameter that nothing in the loop sets or stores to.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_scope import HostScope, array_names
from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.source import dotted, placed, rebuilt, walk
from kraise.ir.host_names import fresh


def without_walks(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with such loops over numbers."""
    if not any(isinstance(n, cst.For) for n in walk(node.body)):
        return node
    array_names(scope, node)
    given = {p.name.value for p in (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)}
    taken = {n.value for n in walk(node) if isinstance(n, cst.Name)}
    listed = {
        dotted(t.target) for n in walk(node.body) if isinstance(n, cst.Assign)
        and isinstance(n.value, cst.List | cst.Tuple | cst.ListComp | cst.Dict) for t in n.targets
    }  # fmt: skip

    def change(loop: cst.CSTNode) -> cst.CSTNode | None:
        if not isinstance(loop, cst.For) or loop.orelse is not None or not isinstance(loop.body, cst.IndentedBlock):
            return None
        count, over = "", loop.iter
        target: cst.BaseExpression = loop.target
        match loop:
            case cst.For(
                target=cst.Tuple(elements=[cst.Element(value=cst.Name(value=count)), cst.Element(value=target)]),
                iter=cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(value=over)]),
            ):
                pass
        rows, row = dotted(over), dotted(target)
        known = rows.isidentifier() and rows not in listed and (rows in given or rows in scope.arrays)
        if not known or not isinstance(target, cst.Name) or row not in scope.arrays or _changes(loop.body, {rows, row}):
            return None
        at = count or fresh(taken, f"{row}_at")
        subscript = cst.Subscript(cst.Name(rows), [cst.SubscriptElement(cst.Index(cst.Name(at)))])
        first: Any = cst.Assign([cst.AssignTarget(cst.Name(row))], subscript)
        line = cst.SimpleStatementLine([first])
        for new in (subscript, first, line):
            placed(scope.source, new, loop)
        body = [line, *(rebuilt(scope.source, s, change) for s in loop.body.body)]
        made = cst.parse_expression(f"range({rows}.shape[0])")
        return loop.with_changes(target=cst.Name(at), iter=made, body=loop.body.with_changes(body=body))

    return rebuilt(scope.source, node, change)  # type: ignore[no-any-return]


def _changes(body: cst.BaseSuite, names: set[str]) -> bool:
    """Does a loop set one of the names, or store to elements of one?"""
    if names & assigned(body):
        return True
    for inner in walk(body):
        match inner:
            case cst.AssignTarget(target=cst.Subscript(value=owner)) | cst.AugAssign(target=cst.Subscript(value=owner)):
                if dotted(owner) in names:
                    return True
    return False


__all__ = ["without_walks"]
