"""Loops of Python host functions over the rows of an array: ``for x in seq``, ``for t, x in enumerate(seq)``, and over
several arrays at once: ``for w, b in zip(ws, bs)``.

They are loops over numbers, with ``x = seq[t]`` first. Side conditions, checked: what the loop gives is used as an
array (elements stay numbers), ``seq`` is an array or a parameter that nothing in the loop sets or stores to.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_scope import HostScope, array_names
from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.source import all_of, dotted, placed, rebuilt, walk
from kraise.ir.host_names import fresh


def without_walks(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with such loops over numbers."""
    if not all_of(cst.For, node.body):
        return node
    array_names(scope, node)
    given = {p.name.value for p in (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)}
    said = {
        p.name.value for p in all_of(cst.Param, node.params) if p.annotation is not None
        and scope.text(p.annotation.annotation).partition("[")[0].rpartition(".")[2] in ("list", "List", "Sequence")
    }  # fmt: skip
    taken = {n.value for n in all_of(cst.Name, node)}
    listed = {
        dotted(t.target) for n in all_of(cst.Assign, node.body)
        if isinstance(n.value, cst.List | cst.Tuple | cst.ListComp | cst.Dict) for t in n.targets
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
        pairs = [(target, over)]
        match over:
            case cst.Call(func=cst.Name(value="zip"), args=args) if isinstance(target, cst.Tuple):
                if len(args) != len(target.elements) or any(a.star or a.keyword is not None for a in args):
                    return None
                pairs = [(t.value, a.value) for t, a in zip(target.elements, args, strict=True)]
        names = {dotted(n) for pair in pairs for n in pair}
        for one, rows in pairs:
            known = dotted(rows).isidentifier() and dotted(rows) not in listed
            if not known or not (dotted(rows) in given or dotted(rows) in scope.arrays):
                return None
            if not isinstance(one, cst.Name):
                return None
        elements = len(pairs) > 1 and all(dotted(rows) in scope.arrays for _, rows in pairs)
        if not elements and not any(dotted(one) in scope.arrays for one, _ in pairs):
            return None
        if len(names) < 2 * len(pairs) or _changes(loop.body, names):
            return None
        lists = {dotted(rows) for _, rows in pairs} & given
        scope.stacked |= {n for n in lists if len(pairs) > 1 or n in said}
        at = count or fresh(taken, f"{dotted(pairs[0][0])}_at")
        lines: list[Any] = []
        for one, rows in pairs:
            subscript = cst.Subscript(cst.Name(dotted(rows)), [cst.SubscriptElement(cst.Index(cst.Name(at)))])
            first: Any = cst.Assign([cst.AssignTarget(cst.Name(dotted(one)))], subscript)
            lines.append(cst.SimpleStatementLine([first]))
            for new in (subscript, first, lines[-1]):
                placed(scope.source, new, loop)
        body = [*lines, *(rebuilt(scope.source, s, change) for s in loop.body.body)]
        extents = [f"{dotted(rows)}.shape[0]" for _, rows in pairs]
        rounds = extents[0] if len(pairs) == 1 else f"min({', '.join(extents)})"
        made = cst.parse_expression(f"range({rounds})")
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
