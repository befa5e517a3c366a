"""``for q in (i0, i1, i2)``: a loop over a few numbers that are no progression, written out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from kraise.frontends.python import expressions as ex
from kraise.frontends.python import statements
from kraise.frontends.python.scope import Scope, bindings
from kraise.frontends.python.source import walk
from kraise.ir.kernel import Assign, Continue, Expr, If, Op, Stmt
from kraise.ir.types import BOOL, NUMBER

_MOST = 8
_FEW = 2  # of ``continue``: what follows one may be written out in both arms of its choice


def written_out(scope: Scope, node: cst.For, progression: Callable[[list[Expr]], bool]) -> list[Stmt] | None:
    """The rounds one after another; None where the loop runs over something else, may be left, or is long."""
    if not isinstance(node.iter, cst.Tuple | cst.List) or not 0 < len(node.iter.elements) <= _MOST or node.orelse:
        return None
    if any(isinstance(e, cst.StarredElement) for e in node.iter.elements) or _left(node.body):
        return None
    if sum(isinstance(n, cst.Continue) for n in walk(node.body)) > _FEW:
        return None
    rows: list[tuple[Expr, ...]] = []
    for element in node.iter.elements:
        if isinstance(element.value, cst.Tuple | cst.List):
            rows.append(tuple(ex.scalar(scope, e.value) for e in element.value.elements))
        elif isinstance(element.value, cst.Name) and element.value.value in scope.views:
            return None
        else:
            rows.append((ex.scalar(scope, element.value),))
    pairs = isinstance(node.target, cst.Tuple)
    targets = [e.value for e in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
    if any(len(r) != len(targets) for r in rows) or not all(isinstance(t, cst.Name) for t in targets):
        return None
    if not pairs and progression([r[0] for r in rows]):
        return None
    names = [t.value for t in targets if isinstance(t, cst.Name)]
    if any(n in scope.loop_vars or n in scope.views for n in names):
        return None
    scope.bound.update(bindings(node))  # what the rounds bind is bound by each of them
    held = [tuple(scope.held(e, f"{n}_value", node) for n, e in zip(names, r, strict=True)) for r in rows]
    out = list(scope.taken())
    for row in held:
        out += [Assign(n, e, NUMBER, span=scope.span(node)) for n, e in zip(names, row, strict=True) if n != "_"]
        out += _to_its_end(statements.block(scope, node.body))
    return out


def _to_its_end(stmts: Sequence[Stmt]) -> list[Stmt]:
    """A round in which ``continue`` passes over what follows it: what follows is the other arm of the choice."""
    for at, s in enumerate(stmts):
        if isinstance(s, Continue):
            return list(stmts[:at])
        if isinstance(s, If) and _continues((s,)):
            rest = tuple(stmts[at + 1 :])
            arms = [tuple(_to_its_end((*arm, *rest))) for arm in (s.body, s.orelse)]
            condition, (body, orelse) = s.condition, arms
            if not body:
                condition, body, orelse = Op("not", (condition,), BOOL), orelse, ()
            return [*stmts[:at], *([If(condition, body, orelse, span=s.span)] if body else [])]
    return list(stmts)


def _continues(stmts: Sequence[Stmt]) -> bool:
    """Whether a round may end before the last of its statements; a loop within it has rounds of its own."""
    return any(isinstance(s, Continue) or (isinstance(s, If) and _continues((*s.body, *s.orelse))) for s in stmts)


def _left(body: cst.BaseSuite) -> bool:
    """Whether the loop may be left before its end."""
    inner = (cst.For, cst.While, cst.FunctionDef)
    return any(isinstance(n, cst.Break) for n in walk(body, lambda n: not isinstance(n, inner)))
