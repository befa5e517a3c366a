"""Calls that give several values, and several calls at once, in Python host functions.

``a, b = left.run(n), right.run(n)`` is one call after the other, and ``run(x, n)[-1]`` has a name for what the call
gives.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_called import Calls
from kraise.frontends.python.host_inlined import as_value
from kraise.frontends.python.host_rounds import number, tuple_of
from kraise.frontends.python.source import all_of, dotted
from kraise.ir.host_names import fresh


class Several(Calls):
    """The part that knows such calls; :class:`kraise.frontends.python.host_written.Written` has the rest."""

    small: Any
    reads_before: Any

    def constructors(self, target: cst.Tuple, value: cst.Tuple, node: cst.CSTNode) -> list[Any] | None:
        """``a, b = Pair(x, y), Pair(y, x)`` one after the other; None for another assignment."""
        made = [self.scope.records.get(dotted(v.value.func)) for v in value.elements if isinstance(v.value, cst.Call)]
        names = [{n.value for n in all_of(cst.Name, side)} for side in (target, value)]
        objects = any(c is not None and "__init__" in c.methods for c in made)
        if names[0] & names[1] or not (objects or self.several_written(value)):
            return None
        pairs: Any = zip(target.elements, value.elements, strict=True)
        single = [self.placed(cst.Assign([cst.AssignTarget(t.value)], v.value), node) for t, v in pairs]
        return [line for s in single for line in self.small(s, node)]

    def several_written(self, value: cst.Tuple) -> bool:
        """Are calls with statements of their own among the values of a tuple?"""
        calls = [e.value for e in value.elements if isinstance(e.value, cst.Call)]
        if any(dotted(c.func) in self.scope.makers for c in calls):
            return True
        found = [self.made_by(c) for c in calls]
        return any(made is not None and as_value(made[0]) is None for made in found)

    def part_of_result(self, node: cst.Subscript, call: cst.Call) -> cst.CSTNode | None:
        """``run(x, n)[-1]`` with names for what the host function gives; None where it stays."""
        kinds = self.scope.hosts[dotted(call.func)]
        at = number(node.slice[0].slice.value) if isinstance(node.slice[0].slice, cst.Index) else None
        if node is not self.root and self.reads_before(call):
            return None
        if kinds != (True,) and (len(kinds) < 2 or at is None or not -len(kinds) <= at < len(kinds)):
            return None
        new = self.expression(call)
        if not isinstance(new, cst.Call):  # written out
            return self.expression(node.with_changes(value=new))  # type: ignore[no-any-return]
        names = [fresh(self.taken, f"{dotted(call.func)}_{n}" if kinds[1:] else "whole") for n in range(len(kinds))]
        target: Any = tuple_of([cst.Name(n) for n in names]) if kinds[1:] else cst.Name(names[0])
        self.before.append(self.line(self.placed(cst.Assign([cst.AssignTarget(target)], new), node), node))
        return node.with_changes(value=target) if at is None or not kinds[1:] else cst.Name(names[at])
