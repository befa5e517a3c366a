"""``while`` loops of CUDA C host functions whose condition steps a counter: ``while (n-- > 0)``."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.host_loops import Stepping, back_step, before_step
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import BOOL


class SteppedLoops:
    """The part of the reader that knows them; see :class:`kraise.frontends.cuda_c.host.HostReader`."""

    low: Any
    effect: Any
    rounds: Any
    repeated: Any
    forget: Any

    def stepped_while(self, test: Stepping, body: Tree, span: Any) -> list[h.Stmt]:
        """``while (n-- > 0)``: the counter steps at the head of a round, and once more where the last test is made."""
        once = self.effect(test.step)
        if test.gate is not None and test.first:
            raise self.low.refuse("KR211", "an assignment inside an expression", test.step, "give it a line of its own")
        rounds = self.rounds(body)
        loop = h.While(self.repeated(test.plain), (*rounds, *once) if test.first else (*once, *rounds), span=span)
        last = [h.If(self.repeated(test.gate), tuple(once), span=span)] if test.gate is not None else once
        return [*once, loop] if test.first else [loop, *last]

    def stepped_do(self, test: Stepping, body: Tree, span: Any) -> list[h.Stmt]:
        """``do … while (err > tol && ++n < most)``: the counter steps at the end of a round; where the gate ends the
        loop, it has one step too many."""
        self.forget(test.name)  # its start is that of the first round
        rounds, once = self.rounds(body), self.effect(test.step)
        condition = self.repeated(test.plain)
        if not test.first:  # the test looks at the number before the step
            condition = before_step(condition, test.name, once[0])
            if condition is None:
                raise self.low.refuse("KR211", "an assignment inside an expression", test.step, "write it as ++n")
        loop = h.While(condition, (*rounds, *once), True, span=span)
        if test.gate is None:
            return [loop]
        held = self.repeated(test.gate)
        return [loop, h.If(k.Op("not", (held,), BOOL), (back_step(once[0]),), span=span)]
