"""Enumerators of the module in Python host functions, as their places among their kind."""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_rounds import integer, truth
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.source import all_of, dotted


class Enumerators:
    """The part that knows enumerators; :class:`kraise.frontends.python.host_written.Written` has the rest."""

    scope: HostScope
    node: cst.FunctionDef
    own: set[str]
    expression: Any

    def decided(self, test: Any) -> bool | None:
        """Whether a test of enumerators holds; None for any other."""
        if not any(dotted(n.value) in self.scope.enums for n in all_of(cst.Attribute, test)):
            return None
        return truth(self.expression(test))

    def enumerator(self, node: cst.CSTNode) -> cst.BaseExpression | None:
        """The place of ``Method.EULER`` among its kind."""
        match node:
            case cst.Attribute(value=cst.Name(value=kind), attr=cst.Name(value=name)) if kind not in self.own:
                place = self.scope.enums.get(kind, {}).get(name)
                return integer(place) if place is not None else None
        return None

    def compared(self, node: cst.Comparison) -> cst.CSTNode | None:
        """``m is Method.EULER`` by numbers, where ``m`` is surely one of its kind; None for another comparison."""
        sides = [node.left, *(c.comparator for c in node.comparisons)]
        if len(sides) != 2 or not any(self.enumerator(s) for s in sides):
            return None
        for other in sides:
            known = self.enumerator(other) is not None or isinstance(other, cst.Integer)  # what stands for one
            if not known and not (isinstance(other, cst.Name) and self.only_enumerators(other.value)):
                raise self.scope.refuse(
                    node, f"`{self.scope.text(node)}` compares objects, not numbers", "pass a number"
                )
        sign = node.comparisons[0].operator
        equal: Any = cst.Equal() if isinstance(sign, cst.Is | cst.Equal) else cst.NotEqual()
        left, right = (self.enumerator(s) or s for s in sides)
        return cst.Comparison(left, [cst.ComparisonTarget(equal, right)])

    def only_enumerators(self, name: str) -> bool:
        """Is a name of the function the counter of loops over enumerators, and nothing else?"""
        loops = [n for n in all_of(cst.For, self.node.body) if dotted(n.target) == name]
        times = sum(n.value == name for t in all_of(cst.AssignTarget | cst.Param, self.node)
                    for n in all_of(cst.Name, t))  # fmt: skip
        return (
            bool(loops)
            and not times
            and all(
                isinstance(n.iter, cst.Tuple | cst.List) and all(self.enumerator(e.value) for e in n.iter.elements)
                for n in loops
            )
        )
