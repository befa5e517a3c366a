"""Calls of Python host functions in the spelling that the tables have.

``np.arange(n, dtype=np.float32)`` is ``np.arange(n).astype(np.float32)``, the type in ``np.array(x, np.int32)`` a
keyword, ``np.add(a, b, out=c)`` is ``c[...] = np.add(a, b)``. What is chosen by a condition is a choice: ``h[m] = v``
is ``h[...] = np.where(m, v, h)``, ``h[h > 0].sum()`` is
``np.where(h > 0, h, 0).sum()``. ``if n == 1: k = 1`` has a block of its own.

Side condition, checked: a range of whole numbers begins at one (NumPy counts in the type that is asked for).
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_arguments import is_number
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import times_set
from kraise.frontends.python.source import dotted, placed, rebuilt, walk

_TYPED = {
    "array": 1,
    "asarray": 1,
    "ascontiguousarray": 1,
    "zeros_like": 1,
    "ones_like": 1,
    "empty_like": 1,
    "full_like": 2,
}
_PLACE = {f"{m}.{n}": at for m in ("numpy", "cupy") for n, at in _TYPED.items()}  # where the type stands
_RANGES = ("numpy.arange", "cupy.arange", "numpy.linspace", "cupy.linspace")


def with_one_spelling(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with these calls as the tables know them."""
    where = _Where(scope, node)

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Call(func=func, args=args) if (name := scope.imports.qualified(dotted(func))) in _RANGES:
                kinds = [a for a in args if a.keyword is not None and a.keyword.value == "dtype"]
                places = [a for a in args if a.keyword is None]
                if name.endswith("arange") and len(places) == 4:
                    kinds = [places[3]]
                if len(kinds) != 1 or not _begins_whole(scope, places, kinds[0].value):
                    return None
                left = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in args if a is not kinds[0]]
                range_ = placed(scope.source, inner.with_changes(args=left), inner)
                made = cst.Call(cst.Attribute(range_, cst.Name("astype")), [cst.Arg(kinds[0].value)])
                placed(scope.source, made.func, inner)
                return placed(scope.source, made, inner)
            case cst.Call(func=func, args=args) if (at := _PLACE.get(scope.imports.qualified(dotted(func)), 0)) and len(
                [a for a in args if a.keyword is None and not a.star]
            ) > at:
                given = [rebuilt(scope.source, a, change) for a in args]
                given[at] = cst.Arg(given[at].value, keyword=cst.Name("dtype"))
                given = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in given]
                return placed(scope.source, inner.with_changes(args=given), inner)
            case cst.Expr(value=cst.Call() as call) if (put := _put(scope, call)) is not None:
                value = rebuilt(scope.source, put[1], change)
                every = cst.Subscript(put[0], [cst.SubscriptElement(cst.Index(cst.Ellipsis()))])
                stored = cst.Assign([cst.AssignTarget(every)], placed(scope.source, value, call))
                for part in (stored, stored.targets[0], every):
                    placed(scope.source, part, inner)
                return stored
            case cst.Comparison(
                left=cst.Name() as left,
                comparisons=[cst.ComparisonTarget(operator=cst.In(), comparator=cst.Tuple(elements=parts))],
            ) if parts and all(is_number(p.value) for p in parts):  # k in (3, 4)
                return where.at(_among(left, [p.value for p in parts]), inner)
            case cst.SimpleStatementSuite(body=parts):  # if n == 1: k = 1
                lines = [placed(scope.source, cst.SimpleStatementLine([p]), p) for p in parts]
                lines = [rebuilt(scope.source, line, change) for line in lines]
                return placed(scope.source, cst.IndentedBlock(lines), inner)
            case cst.Call() | cst.Assign() | cst.AugAssign() | cst.UnaryOperation():
                return where.changed(inner)
        return None

    return rebuilt(scope.source, node, change)  # type: ignore[no-any-return]


def _among(left: cst.Name, values: list[cst.BaseExpression]) -> cst.BaseExpression:
    """``k == 3 or k == 4``"""
    each = [cst.Comparison(cst.Name(left.value), [cst.ComparisonTarget(cst.Equal(), v)]) for v in values]
    found: cst.BaseExpression = each[0]
    for other in each[1:]:
        found = cst.BooleanOperation(found, cst.Or(), other)
    return found.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _put(scope: HostScope, call: cst.Call) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """Where ``np.add(a, b, out=c)`` and ``np.copyto(c, a)`` put their result, and that; None for another call."""
    module, _, name = scope.imports.qualified(dotted(call.func)).rpartition(".")
    if module not in ("numpy", "cupy"):
        return None
    match call.args:
        case [cst.Arg(value=into, keyword=None), cst.Arg(value=value, keyword=None)] if name == "copyto":
            return (into, value) if dotted(into) else None
    out = [a for a in call.args if a.keyword is not None and a.keyword.value == "out"]
    if len(out) != 1 or not dotted(out[0].value):
        return None
    left = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in call.args if a is not out[0]]
    return out[0].value, placed(scope.source, call.with_changes(args=left), call)


def _begins_whole(scope: HostScope, places: list[cst.Arg], kind: cst.BaseExpression) -> bool:
    if "int" not in scope.text(kind):
        return True
    first = [places[0].value, *(p.value for p in places[2:3])] if len(places) > 1 else []
    return not any(isinstance(n, cst.Float | cst.Divide) for v in first for n in walk(v))


_SIGNS: dict[type, type] = {
    cst.AddAssign: cst.Add, cst.SubtractAssign: cst.Subtract, cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
}  # fmt: skip


class _Where:
    """Elements that a condition chooses."""

    def __init__(self, scope: HostScope, node: cst.FunctionDef):
        self.scope = scope
        bound = scope.imports.bound
        self.numpy = next((n for q in ("numpy", "cupy") for n, own in bound.items() if own == q), "")
        times = times_set(node)
        self.masks: set[str] = set()
        for inner in walk(node.body):
            match inner:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                    if times[name] == 1 and self.is_condition(value):
                        self.masks.add(name)

    def is_condition(self, node: cst.BaseExpression) -> bool:
        """Is an expression a comparison, or made of such?"""
        match node:
            case cst.Name(value=name):
                return name in self.masks
            case cst.UnaryOperation(operator=cst.BitInvert(), expression=inner):
                return self.is_condition(inner)
            case cst.BinaryOperation(left=left, operator=cst.BitAnd() | cst.BitOr(), right=right):
                return self.is_condition(left) and self.is_condition(right)
            case cst.Comparison(comparisons=parts):
                return not any(isinstance(p.operator, cst.In | cst.NotIn | cst.Is | cst.IsNot) for p in parts)
        return False

    def chosen(self, node: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
        """The array and the condition of ``h[h > 0]``."""
        match node:
            case cst.Subscript(value=array, slice=[cst.SubscriptElement(slice=cst.Index(value=mask))]) if (
                self.numpy and dotted(array) and self.is_condition(mask)
            ):
                return array, mask
        return None

    def changed(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What stands in place of a node; None: the node itself."""
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript() as target)], value=value) if (
                found := self.chosen(target)
            ):
                return self.stored(node, target, *found, value)
            case cst.AugAssign(target=cst.Subscript() as target, operator=sign, value=value) if type(
                sign
            ) in _SIGNS and (found := self.chosen(target)):
                added = cst.BinaryOperation(
                    found[0], _SIGNS[type(sign)](), value, [cst.LeftParen()], [cst.RightParen()]
                )
                return self.stored(node, target, *found, added)
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="sum" | "mean" as name)), args=[]) if (
                found := self.chosen(owner)
            ):
                return self.reduced(node, name, *found)
            case cst.Call(func=func, args=[cst.Arg(value=operand, keyword=None)]) if (
                found := self.chosen(operand)
            ) and (called := self.scope.imports.qualified(dotted(func)).rpartition(".")[2]) in ("sum", "mean"):
                return self.reduced(node, called, *found)
            case cst.UnaryOperation(operator=cst.BitInvert(), expression=inner) if self.numpy and self.is_condition(
                inner
            ):
                return self.at(self.called("logical_not", inner), node, inner)
        return None

    def called(self, name: str, *args: cst.BaseExpression) -> cst.Call:
        """``np.name(…)``"""
        return cst.Call(cst.Attribute(cst.Name(self.numpy), cst.Name(name)), [cst.Arg(a) for a in args])

    def stored(
        self,
        node: Any,
        target: cst.Subscript,
        array: cst.BaseExpression,
        mask: cst.BaseExpression,
        value: cst.BaseExpression,
    ) -> cst.CSTNode:
        """``h[m] = 2 * g[m]`` as ``h[...] = np.where(m, 2 * g, h)``."""
        text = self.scope.text(mask)

        def whole(inner: cst.CSTNode) -> cst.CSTNode | None:
            found = self.chosen(inner) if isinstance(inner, cst.Subscript) else None
            return found[0] if found is not None and self.scope.text(found[1]) == text else self.changed(inner)

        mask = rebuilt(self.scope.source, mask, self.changed)
        choice = self.called("where", mask, rebuilt(self.scope.source, value, whole), array)
        every = target.with_changes(slice=[cst.SubscriptElement(cst.Index(cst.Ellipsis()))])
        made = cst.Assign([cst.AssignTarget(every)], choice)
        return self.at(made, node, mask, array)

    def reduced(self, node: Any, name: str, array: cst.BaseExpression, mask: cst.BaseExpression) -> cst.CSTNode:
        """``h[m].sum()`` as ``np.sum(np.where(m, h, 0))``, the mean as a quotient."""
        mask = rebuilt(self.scope.source, mask, self.changed)
        total: cst.BaseExpression = self.called("sum", self.called("where", mask, array, cst.Integer("0")))
        if name == "mean":
            brackets = {"lpar": [cst.LeftParen()], "rpar": [cst.RightParen()]}
            total = cst.BinaryOperation(total, cst.Divide(), self.called("count_nonzero", mask), **brackets)  # type: ignore[arg-type]
        return self.at(total, node, mask, array)

    def at(self, made: Any, node: cst.CSTNode, *kept: cst.CSTNode) -> Any:
        """A new node, all of it at the place of an old one."""
        for part in walk(made, lambda n: n not in kept):
            placed(self.scope.source, part, node)
        return made
