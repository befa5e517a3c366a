"""Loops of CUDA C host functions: ``for`` as a counted loop, or a ``while`` with its start before it and its step at
the end of a round."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.host_loops import counted, stepping
from kraise.frontends.cuda_c.host_renames import changed_names
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.trees import child, trees
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import breaks, read_within
from kraise.ir.types import INT32

ONE = k.Const(1, INT32)


class Rounds:
    """The part of the reader that knows loops; :class:`kraise.frontends.cuda_c.host.HostReader` has the rest."""

    low: Any
    depth: int
    ignored: set[str]
    definitions: dict[str, k.Expr]
    renames: dict[str, list[Raw] | None]
    forget: Any
    within_reach: Any
    inlines: Any
    block: Any
    rows_made: Any
    placed: Any
    nest: Any
    under_own_names: Any
    shadowing: Any
    declaration: Any
    effect: Any
    as_while: Any
    statement: Any
    repeated: Any
    unrolled: Any

    def rounds(self, node: Tree) -> tuple[h.Stmt, ...]:
        """The body of a loop, which must not read what a round before it lost."""
        for name in changed_names(node):
            self.forget(name)  # what was computed from it is of the first round
        for call in node.find_data("call_expression"):
            for name in self.within_reach(call) & set(self.definitions) if self.inlines(call) else ():
                self.forget(name)
        before = set(self.ignored)
        self.depth += 1
        body = self.block(Tree("loop_body", [node], node.meta))
        self.depth -= 1
        lost = sorted((self.ignored - before) & read_within(body))
        if lost:
            reason = f"the value of {lost[0]} is not followed here (timing, a stream, input or an error code)"
            raise self.low.refuse("KR211", reason, node, "pass the number as a parameter")
        return body

    def for_loop(self, node: Tree) -> list[h.Stmt]:
        """A counted loop, or a while loop with its start before it and its step at the end of the body."""
        if (made := self.rows_made(node)) is not None:
            return made
        node = self.placed(node, choose=False)
        nest = self.nest(node)
        if nest is not None:
            return nest
        renames, init = self.renames, child(node, "for_init")
        if init is not None:
            (node,) = self.under_own_names(self.shadowing(init, self.low.scopes[1:]), node)
        init, test, step = (child(node, x) for x in ("for_init", "for_condition", "for_step"))
        body = [c for c in node.children if isinstance(c, Tree)][-1]
        span = self.low.span(node)
        self.low.scopes.append({})
        try:
            before: list[h.Stmt] = []
            for c in trees(init) if init is not None else []:
                if c.data == "declaration" or trees(c):  # and no `;` alone
                    before += self.declaration(c) if c.data == "declaration" else self.effect(c)
            plain = step is None or not step.children
            if plain and test is not None and test.children and stepping(test.children[0]) is not None:
                again = Tree("while_statement", [test.children[0], body], node.meta)  # for (i = n; i-- > 0;)
                return [*before, *self.statement(again)]
            if (again := self.as_while(test, step, body, node)) is not None:
                return [*before, *self.statement(again)]
            condition = self.repeated(test.children[0]) if test is not None and test.children else k.Const(True, INT32)
            after = self.effect(step.children[0]) if step is not None and step.children else []
            over = counted(before, condition, after, ())
            if over is not None:
                rounds = h.For(*over, ())
                written = self.unrolled(over[0], rounds, body, self.rounds)
                if written is not None:
                    return [*before[:-1], *written]
            inner = self.rounds(body)
        finally:
            self.low.scopes.pop()
            self.renames = renames
        found = counted(before, condition, after, inner)
        if found is not None:
            var, start, stop, by = found
            declared = init is not None and child(init, "declaration") is not None
            loop: list[h.Stmt] = [*before[:-1], h.For(var, start, stop, by, inner, span=span)]
            if not declared and by == ONE and not breaks(tuple(inner)):
                last = k.Op("max", (start, stop), INT32)
                loop.append(h.Assign(var, last, INT32, span=span))
            elif not declared:
                return [*before, h.While(condition, (*inner, *after), span=span)]
            return loop
        return [*before, h.While(condition, (*inner, *after), span=span)]
