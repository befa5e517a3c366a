"""Every i-th element at once, in a loop over i: ``a[i * i :: i] = False`` is a loop over these elements.

Side conditions, checked: the loop begins at a positive number and counts upwards, so the step is positive; the slice
begins at a sum of products of the loop's variable and of numbers that are not negative, and ends with the array; what
is stored is a number that is written out.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.scope import bindings
from kraise.frontends.python.source import Source, all_of, dotted, placed, rebuilt
from kraise.ir.host_names import fresh


def as_loops(parsed: Source, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with such loops; itself where it has none."""
    taken = {n.value for n in all_of(cst.Name, parsed.tree)}
    steps = {n.target.value for n in all_of(cst.For, node.body) if _upwards(n)}
    if not steps or not any(_stored(parsed, s, steps) for s in all_of(cst.SimpleStatementLine, node.body)):
        return node

    def within(inside: set[str]) -> Any:
        def change(n: cst.CSTNode) -> cst.CSTNode | None:
            match n:
                case cst.For(target=cst.Name(value=name)):
                    now = inside | {name} if _upwards(n) else inside - {name}
                    return n.with_changes(body=rebuilt(parsed, n.body, within(now)))
                case cst.SimpleStatementLine() if (found := _stored(parsed, n, inside)) is not None:
                    return _loop(parsed, n, *found, fresh(taken, "k"))
            return None

        return change

    return rebuilt(parsed, node, within(set()))  # type: ignore[no-any-return]


def _upwards(loop: cst.For) -> bool:
    """Is it a loop over positive numbers, each larger than the one before, whose variable nothing else sets?"""
    call = loop.iter
    if not isinstance(loop.target, cst.Name) or not isinstance(call, cst.Call) or dotted(call.func) != "range":
        return False
    ends = [a.value for a in call.args]
    sound = len(ends) in (2, 3) and all(isinstance(e, cst.Integer) for e in (ends[0], *ends[2:]))
    positive = sound and all(e.evaluated_value > 0 for e in (ends[0], *ends[2:]))  # type: ignore[attr-defined]
    return positive and not bindings(loop.body)[loop.target.value]


def _stored(
    parsed: Source, line: cst.CSTNode, steps: set[str]
) -> tuple[cst.Subscript, cst.BaseExpression, cst.BaseExpression, cst.BaseExpression] | None:
    """The target, the first place, the step and the value of ``a[i * i :: i] = False``."""
    match line:
        case cst.SimpleStatementLine(
            body=[
                cst.Assign(
                    targets=[
                        cst.AssignTarget(
                            target=cst.Subscript(
                                value=cst.Name(),
                                slice=[
                                    cst.SubscriptElement(
                                        slice=cst.Slice(lower=lower, upper=None, step=cst.Name(value=name) as step)
                                    )
                                ],
                            ) as target
                        )
                    ],
                    value=value,
                )
            ]
        ) if name in steps and lower is not None and _positive(lower, name) and _number(value):
            return target, lower, step, value
    return None


def _positive(e: cst.BaseExpression, name: str) -> bool:
    match e:
        case cst.Name(value=word):
            return word == name
        case cst.Integer():
            return True
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Multiply(), right=right):
            return _positive(left, name) and _positive(right, name)
        case cst.BinaryOperation(left=left, operator=cst.Power(), right=cst.Integer()):
            return _positive(left, name)
    return False


def _number(e: cst.BaseExpression) -> bool:
    return isinstance(e, cst.BaseNumber) or (isinstance(e, cst.Name) and e.value in ("True", "False"))


def _loop(parsed: Source, line: cst.CSTNode, target: Any, first: Any, step: Any, value: Any, index: str) -> cst.For:
    def at(new: Any) -> Any:
        return placed(parsed, new, line)

    length = at(cst.Call(at(cst.Name("len")), [cst.Arg(target.value)]))
    rounds = at(cst.Call(at(cst.Name("range")), [cst.Arg(first), cst.Arg(length), cst.Arg(step)]))
    cell = placed(parsed, cst.Subscript(target.value, [cst.SubscriptElement(cst.Index(at(cst.Name(index))))]), target)
    store = at(cst.SimpleStatementLine([at(cst.Assign([cst.AssignTarget(cell)], value))]))
    return at(cst.For(at(cst.Name(index)), rounds, at(cst.IndentedBlock([store]))))  # type: ignore[no-any-return]
