"""Loops of Python host functions over generators of the file, written out.

``for xb, yb in batches(x, y, 32): body`` is the statements of ``batches`` with ``xb, yb = …`` and ``body`` in place of
``yield …``.

Side conditions, checked: the generator gives its values at one place, and has no ``return``; a body with a way out of
its loop (``break``, ``continue``) stands at the end of the generator's only loop, which is its last statement.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_called import Calls
from kraise.frontends.python.host_inlined import renamed, uses
from kraise.frontends.python.host_units import Unit, assigned
from kraise.frontends.python.source import all_of, rebuilt, walk
from kraise.ir.host_names import fresh


class Generated(Calls):
    """The part that writes loops over generators out."""

    def generated(self, made: Unit, loop: cst.For) -> list[Any] | None:
        """The statements of a generator around the body of a loop over it; None where a side condition fails."""
        assert isinstance(loop.iter, cst.Call)
        if uses(loop.body.body, cst.Break, cst.Continue) and not _last(made):
            return None
        names = self.given(made, loop.iter, None, simple=False)
        opening = self.flushed()
        target = {n.value for n in all_of(cst.Name, loop.target)}
        for name in sorted({n for s in made.body for n in assigned(s)}):
            if name in self.taken | target:
                names[name] = cst.Name(fresh(self.taken, name))
        lines = [renamed(self.scope.source, s, names) for s in made.body]
        times = 0

        def change(inner: cst.CSTNode) -> cst.CSTNode | None:
            nonlocal times
            if not isinstance(inner, cst.IndentedBlock):
                return None
            out: list[Any] = []
            for line in inner.body:
                value = _given(line)
                if value is None:
                    out.append(rebuilt(self.scope.source, line, change))
                    continue
                times += 1
                set_ = cst.Assign([cst.AssignTarget(loop.target)], value)
                out += [self.line(self.placed(set_, loop), loop), *loop.body.body]
            return inner.with_changes(body=out)

        block = change(cst.IndentedBlock(lines))
        assert isinstance(block, cst.IndentedBlock)
        return [*opening, *self.block(block.body)] if times == 1 else None


def _given(line: cst.CSTNode) -> cst.BaseExpression | None:
    """What a statement gives to the loop over its generator, None where it gives nothing."""
    match line:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Yield(value=value))]):
            return value if isinstance(value, cst.BaseExpression) else None
    return None


def _last(made: Unit) -> bool:
    """Is a generator one loop at its end, and does it give its value at the end of each round?"""
    match made.body[-1:]:
        case (cst.For(body=body) | cst.While(body=body) as loop,):
            loops = sum(isinstance(n, cst.For | cst.While) for s in made.body for n in walk(s))
            return loops == 1 and _given(body.body[-1]) is not None and loop.orelse is None
    return False
