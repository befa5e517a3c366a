"""Parameters that may be ``None``: the function is raised for calls in which they are given, and says so.

``1.0 if w is None else w[i]`` is ``w[i]``, and what stands under ``if w is None:`` is gone. Called without, the emitted
function raises: which of the two a call needs is known where it is written.

Side conditions, checked: what is left does not bind the parameter, or ask for ``None`` otherwise; no parameter before
it has a default; no function of the file calls this one, and might hand ``None`` on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import libcst as cst

from kraise.frontends.python.names import Imports
from kraise.frontends.python.scope import bindings
from kraise.frontends.python.source import Source, all_of, dotted, placed, rebuilt
from kraise.frontends.python.survey import is_host


def as_given(parsed: Source, imports: Imports) -> Source:
    """The source in which such parameters have no default, and no test of them is left."""
    body: list[Any] = list(parsed.tree.body)
    given: set[tuple[str, str]] = set()
    called = {dotted(c.func) for c in all_of(cst.Call, parsed.tree)}
    for at, node in enumerate(body):
        if not isinstance(node, cst.FunctionDef) or not isinstance(node.body, cst.IndentedBlock):
            continue
        if node.name.value in called:
            continue
        names = {n for c in all_of(cst.Comparison, node.body) if (n := _asked(c))}
        own = [p for p in node.params.params if p.name.value in names]
        if own and not is_host(node, imports) and _in_order(node, names):
            new = _settled(parsed, node, {p.name.value for p in own})
            if not any(p.name.value in bindings(new.body) for p in own):
                body[at] = new
                given |= {(node.name.value, p.name.value) for p in own}
    if not given:
        return parsed
    tree = placed(parsed, parsed.tree.with_changes(body=body), parsed.tree)
    return replace(parsed, tree=tree, given=frozenset(given))


def _asked(node: cst.Comparison) -> str:
    """``w`` of ``w is None`` and ``w is not None``; "" of another comparison."""
    match node:
        case cst.Comparison(
            left=cst.Name(value=name),
            comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.IsNot(), comparator=cst.Name(value="None"))],
        ):
            return name
    return ""


def _in_order(node: cst.FunctionDef, names: set[str]) -> bool:
    """Do parameters with defaults stand behind these, and have these no other default than ``None``?"""
    behind = False
    for p in node.params.params:
        if p.name.value in names:
            none = isinstance(p.default, cst.Name) and p.default.value == "None"
            if behind or not (none or p.default is None):
                return False
        behind |= p.default is not None and p.name.value not in names
    return True


def _settled(parsed: Source, node: cst.FunctionDef, names: set[str]) -> cst.FunctionDef:
    """The function where these are given."""

    def truth(test: cst.CSTNode) -> bool | None:
        match test:
            case cst.Comparison() if _asked(test) in names:
                return isinstance(test.comparisons[0].operator, cst.IsNot)
            case cst.UnaryOperation(operator=cst.Not(), expression=inner):
                found = truth(inner)
                return None if found is None else not found
            case cst.BooleanOperation(left=left, operator=operator, right=right):
                both = (truth(left), truth(right))
                decided = isinstance(operator, cst.Or)
                return decided if decided in both else both[0] if both[0] == both[1] else None
        return None

    def change(n: cst.CSTNode) -> cst.CSTNode | None:
        match n:
            case cst.IfExp(test=test, body=yes, orelse=no) if (found := truth(test)) is not None:
                return rebuilt(parsed, yes if found else no, change)  # type: ignore[no-any-return]
            case cst.Comparison() if (found := truth(n)) is not None:
                return cst.Name(str(found))
            case cst.IndentedBlock(body=lines):
                return n.with_changes(body=block(lines))
        return None

    def block(lines: Any) -> list[Any]:
        out: list[Any] = []
        for line in lines:
            while isinstance(line, cst.If) and (found := truth(line.test)) is not None:
                other = line.orelse
                if found or not isinstance(other, cst.If):
                    kept = line.body if found else other.body if other is not None else None
                    inner = kept.body if isinstance(kept, cst.IndentedBlock) else ()
                    suite = (
                        [cst.SimpleStatementLine(kept.body)] if isinstance(kept, cst.SimpleStatementSuite) else inner
                    )
                    out += block([placed(parsed, s, line) if s not in parsed.positions else s for s in suite])
                    break
                line = other
            else:
                out.append(rebuilt(parsed, line, change))
        return out or [cst.SimpleStatementLine([cst.Pass()])]

    params = [
        p.with_changes(default=None, equal=cst.MaybeSentinel.DEFAULT) if p.name.value in names else p
        for p in node.params.params
    ]
    made = node.with_changes(
        params=node.params.with_changes(
            params=[placed(parsed, p, o) for p, o in zip(params, node.params.params, strict=True)]
        ),
        body=placed(parsed, node.body.with_changes(body=block(node.body.body)), node.body),
    )
    return placed(parsed, made, node)  # type: ignore[no-any-return]
