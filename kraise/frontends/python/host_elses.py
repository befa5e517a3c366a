"""``for … else`` and ``while … else`` of Python host functions.

What stands under ``else`` runs where no ``break`` ends the loop: a name says whether one did. An ``else`` that only
prints has no part in the values, nor has one that only fails.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_control import fails
from kraise.frontends.python.host_kept import reads
from kraise.frontends.python.host_scope import HostScope, ignored_call
from kraise.frontends.python.source import all_of, dotted, placed, rebuilt, walk
from kraise.ir.host_names import fresh


def without_elses(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function without them."""
    if not any(n.orelse is not None for n in all_of(cst.For | cst.While, node.body)):
        return node
    taken = {n.value for n in all_of(cst.Name, node)}

    def change(block: cst.CSTNode) -> cst.CSTNode | None:
        if not isinstance(block, cst.IndentedBlock):
            return None
        lines = [rebuilt(scope.source, line, change) for line in block.body]
        return block.with_changes(body=[new for line in lines for new in _apart(scope, line, taken)])

    return rebuilt(scope.source, node, change)  # type: ignore[no-any-return]


def _apart(scope: HostScope, loop: Any, taken: set[str]) -> list[Any]:
    """A loop without its ``else``, and what stands for that."""
    if not isinstance(loop, cst.For | cst.While) or loop.orelse is None:
        return [loop]
    alone, after = placed(scope.source, loop.with_changes(orelse=None), loop), loop.orelse.body
    if fails(after) or all(_says(scope, line) for line in after.body):
        scope.drop(loop.orelse, "what a loop does that no break ends")
        return [alone]
    if not _breaks(loop.body):
        return [alone, *after.body]
    own = cst.Name(fresh(taken, "ended"))
    taken.add(own.value)

    def line(value: str, at: cst.CSTNode) -> Any:
        small = placed(scope.source, cst.Assign([cst.AssignTarget(own)], cst.Name(value)), at)
        return placed(scope.source, cst.SimpleStatementLine([small]), at)

    def noted(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.For() | cst.While() | cst.FunctionDef():
                return inner  # its breaks are its own
            case cst.IndentedBlock(body=lines) | cst.SimpleStatementSuite(body=lines):
                out: list[Any] = []
                for statement in [inner] if isinstance(inner, cst.SimpleStatementSuite) else lines:
                    parts = list(getattr(statement, "body", ()) if isinstance(statement, _LINES) else ())
                    if any(isinstance(p, cst.Break) for p in parts):
                        first = [p for p in parts if not isinstance(p, cst.Break)]
                        out += [placed(scope.source, cst.SimpleStatementLine(first), statement)] if first else []
                        last = placed(scope.source, cst.SimpleStatementLine([cst.Break()]), statement)
                        out += [line("True", statement), last]
                    else:
                        out.append(statement if parts else rebuilt(scope.source, statement, noted))
                return cst.IndentedBlock(out)
        return None

    marked = placed(scope.source, alone.with_changes(body=noted(alone.body)), loop)
    unless = cst.UnaryOperation(cst.Not(whitespace_after=cst.SimpleWhitespace(" ")), own)
    last = placed(scope.source, cst.If(placed(scope.source, unless, loop), after), loop.orelse)
    return [line("False", loop), marked, last]


_LINES = (cst.SimpleStatementLine, cst.SimpleStatementSuite)


def _breaks(body: cst.CSTNode) -> bool:
    """Does a block leave the loop around it by ``break``?"""
    return any(isinstance(n, cst.Break) for n in walk(body, lambda n: not isinstance(n, cst.For | cst.While)))


def _says(scope: HostScope, line: Any) -> bool:
    """Does a statement only print, or nothing at all?"""
    for small in line.body if isinstance(line, cst.SimpleStatementLine) else [line]:
        match small:
            case cst.Pass():
                continue
            case cst.Expr(value=cst.Call(func=func, args=args)) if ignored_call(
                scope.imports.qualified(dotted(func))
            ) and all(reads(n, scope.imports) for a in args for n in all_of(cst.Call, a)):
                continue
        return False
    return True
