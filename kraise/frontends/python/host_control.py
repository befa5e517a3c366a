"""Loops, ways out of a round and branches for errors of Python host functions."""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python import host_batches, host_nest, host_parts, host_ranks
from kraise.frontends.python import host_values as values
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.source import all_of, dotted
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT, NUMBER

ONE, ZERO = k.Const(1, INT), k.Const(0, INT)


class Control:
    """The part of the reader that knows control flow; :class:`kraise.frontends.python.host.Reader` has the rest."""

    scope: HostScope
    block: Any
    flushed: Any
    _moves_only: Any
    new_array: Any

    def loop(self, node: cst.For) -> list[h.Stmt]:
        """``for i in range(…)``."""
        scope = self.scope
        match node:
            case cst.For(target=cst.Name(value=var), iter=cst.Call(func=func, args=args), orelse=None) if (
                scope.imports.qualified(dotted(func)) == "builtins.range" or dotted(func).split(".")[-1] == "trange"
            ):
                nest = host_nest.outlined(self, node)  # type: ignore[arg-type]
                nest = nest or host_batches.batches(self, node, [a.value for a in args if a.keyword is None])
                if nest is not None:
                    return nest
                if scope.plain and host_nest.of_numbers(scope, node):
                    raise scope.refuse(node, "a loop over single elements that is no nest of its own here")
                scope.scalars.add(var)
                bounds = [values.scalar(scope, a.value) for a in args if a.keyword is None]
                start, stop, step = (ZERO, bounds[0], ONE) if len(bounds) == 1 else (*bounds, ONE)[:3]
                outer = scope.counters
                if (first := host_parts.least(node)) is not None:
                    scope.counters = {**outer, var: first}
                body = self.block(node.body.body, True)
                scope.counters = outer
                return [h.For(var, start, stop, step, body, span=scope.span(node))]
            case cst.For(iter=cst.Call(func=func, args=[cst.Arg(value=cst.Call() as inner), *_])) if (
                dotted(func).split(".")[-1] == "tqdm"
            ):
                return self.loop(node.with_changes(iter=inner))
            case cst.For(iter=cst.Call(func=func)) if scope.imports.qualified(dotted(func)) == "numba.prange":
                nest = host_nest.outlined(self, node)  # type: ignore[arg-type]
                if nest is not None:
                    return nest
        over = self.over_elements(node)
        if over is not None:
            return over
        raise scope.refuse(node, "a host loop that is raised runs over range(…)")

    def over_elements(self, node: cst.For) -> list[h.Stmt] | None:
        """``for i, s in enumerate(w)`` over the elements of an array of one axis."""
        over = node.iter
        while isinstance(over, cst.Call) and not over.args and self._moves_only(over):  # for p in part.copy_to_host()
            over = over.func.value  # type: ignore[attr-defined]
        scope, array, count = self.scope, dotted(over), ""
        if over is not node.iter and any(n.value == array for n in all_of(cst.Name, node.body)):
            return None  # a copy of it
        target: cst.BaseExpression = node.target
        match node:
            case cst.For(
                target=cst.Tuple(elements=[cst.Element(value=cst.Name(value=count)), cst.Element(value=target)]),
                iter=cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(value=inner)]),
            ):
                array, over = dotted(inner), inner
        if not array and host_ranks.rank(scope, over, scope.ranks) == 1:  # what it runs over has no name yet
            own = scope.fresh("elements")
            scope.arrays.add(own)
            scope.ranks[own] = 1
            made = self.new_array(own, over, node)
            parts = [cst.Arg(cst.Name(own))]
            again = cst.Call(cst.Name("enumerate"), parts) if over is not node.iter else parts[0].value
            return [*made, *(self.over_elements(node.with_changes(iter=again)) or ())]
        if not isinstance(target, cst.Name) or scope.ranks.get(array) != 1 or node.orelse is not None:
            return None
        count = count or scope.fresh("element")
        span = scope.span(node)
        element = cst.Subscript(cst.Name(array), [cst.SubscriptElement(cst.Index(cst.Name(count)))])
        first = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(target)], element)])
        size = cst.Call(cst.Name("len"), [cst.Arg(cst.Name(array))])
        body = (
            node.body.with_changes(body=[first, *node.body.body]) if isinstance(node.body, cst.IndentedBlock) else None
        )
        if body is not None and array.isidentifier():
            counted = node.with_changes(
                target=cst.Name(count), iter=cst.Call(cst.Name("range"), [cst.Arg(size)]), body=body
            )
            nest = host_nest.outlined(self, counted)  # type: ignore[arg-type]
            if nest is not None:
                return nest
        scope.scalars |= {count, target.value}
        each = h.Assign(target.value, k.Load(array, (k.Var(count, INT),), NUMBER, span=span), NUMBER, span=span)
        rounds = (each, *self.block(node.body.body, True))
        return [h.For(count, ZERO, k.Shape(array, 0, span=span), ONE, rounds, span=span)]

    def handled(self, node: cst.ExceptHandler) -> None:
        """What is done when something fails: it has no part in the values where it fails, too, or only CUDA does."""
        scope = self.scope
        kinds = [node.type] if not isinstance(node.type, cst.Tuple) else [e.value for e in node.type.elements]
        names = [scope.imports.qualified(dotted(k)) if k is not None else "" for k in kinds]
        if not fails(node.body) and not all(n.startswith(("numba.", "cupy.")) for n in names):
            raise scope.refuse(node, "a branch for errors that goes on", "let the error pass, or test for it before")
        scope.drop(node, "a branch for errors")

    def skip(self, node: cst.If, rest) -> list[h.Stmt]:  # type: ignore[no-untyped-def]
        """``if test: …; continue`` with the rest of the round after it."""
        condition = values.value(self.scope, node.test)
        before = self.flushed()
        inner: Any = node.body.body
        kept, last = list(inner[:-1]), inner[-1]
        if isinstance(node.body, cst.SimpleStatementSuite):  # if test: continue
            kept = [node.body.with_changes(body=kept)] if kept else []
        elif len(last.body) > 1:
            kept.append(last.with_changes(body=last.body[:-1]))
        then, other = self.block(kept, True), self.block(rest, True)
        return [*before, h.If(condition, then, other, span=self.scope.span(node))]


def skips(node: cst.CSTNode) -> bool:
    """Is a statement ``if test: …; continue``, without an ``else``?"""
    if not isinstance(node, cst.If) or node.orelse is not None or not node.body.body:
        return False
    last = node.body.body[-1]
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, cst.Continue)


def raises(body: cst.BaseSuite) -> bool:
    """Does a block only raise an exception?"""
    line = body.body[-1] if body.body else None
    last = line.body[-1] if isinstance(line, cst.SimpleStatementLine | cst.SimpleStatementSuite) else line
    return isinstance(last, cst.Raise) and len(body.body) == 1


def fails(body: cst.BaseSuite) -> bool:
    """Does a block end in an error, or in the end of the program?"""
    line = body.body[-1] if body.body else None
    last = line.body[-1] if isinstance(line, cst.SimpleStatementLine | cst.SimpleStatementSuite) else line
    if isinstance(last, cst.Expr) and isinstance(last.value, cst.Call):
        return dotted(last.value.func) in ("sys.exit", "exit", "quit")
    return isinstance(last, cst.Raise)
