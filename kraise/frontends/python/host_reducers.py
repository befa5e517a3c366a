"""numba's reductions in Python host functions: ``cuda.reduce(lambda a, b: a + b)(x)`` is ``x.sum()``.

numba's reference manual, "GPU reduction": the decorated function must be associative; here it is a sum, a product, the
larger or the smaller of two. ``init`` is one operand more, and it is 0 where it is left out: ``largest(x)`` is
``max(0, x.max())``. Calls with other arguments are left as they are.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, rebuilt

_MAKERS = ("numba.cuda.reduce", "numba.cuda.Reduce")
_OPERATORS: dict[type, str] = {cst.Add: "sum", cst.Multiply: "prod"}
_COMPARED: dict[type, str] = {
    cst.GreaterThan: "max", cst.GreaterThanEqual: "max", cst.LessThan: "min", cst.LessThanEqual: "min",
}  # fmt: skip


def reducers(tree: cst.Module, imports: Imports) -> dict[str, str]:
    """The reductions of a module, by name: sum, prod, max or min."""
    found: dict[str, str] = {}
    functions: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, cst.FunctionDef):
            params = [p.name.value for p in node.params.params]
            body = node.body.body[-1] if node.body.body else None
            last = body.body[-1] if isinstance(body, cst.SimpleStatementLine | cst.SimpleStatementSuite) else body
            if len(params) == 2 and isinstance(last, cst.Return) and len(node.body.body) == 1:
                functions[node.name.value] = _operation(params, last.value)
            made = [imports.qualified(dotted(d.decorator)) for d in node.decorators]
            if len(made) == 1 and made[0] in _MAKERS and functions.get(node.name.value):
                found[node.name.value] = functions[node.name.value]
        for small in node.body if isinstance(node, cst.SimpleStatementLine) else ():
            match small:
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Name(value=name))],
                    value=cst.Call(func=func, args=[cst.Arg(value=given)]),
                ) if imports.qualified(dotted(func)) in _MAKERS:
                    what = functions.get(dotted(given), "")
                    if isinstance(given, cst.Lambda):
                        what = _operation([p.name.value for p in given.params.params], given.body)
                    if what:
                        found[name] = what
    return found


def without_reducers(source: Source, node: cst.FunctionDef, known: dict[str, str]) -> cst.FunctionDef:
    """A function with the calls of reductions as methods of arrays."""
    if not any(n.value in known for n in all_of(cst.Name, node.body)):
        return node

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Call(func=cst.Name(value=name), args=[cst.Arg(value=array, keyword=None), *rest]) if name in known:
                words = {a.keyword.value: a.value for a in rest if a.keyword is not None}
                if len(words) != len(rest) or not set(words) <= {"init", "stream"}:
                    return None
                made: Any = cst.Call(cst.Attribute(rebuilt(source, array, change), cst.Name(known[name])))
                return _with(known[name], made, words.get("init"))
        return None

    new: cst.FunctionDef = rebuilt(source, node, change)
    if new is not node and node.name in source.positions:
        source.positions.setdefault(new.name, source.positions[node.name])
    return new


def _with(what: str, made: Any, init: cst.BaseExpression | None) -> cst.BaseExpression:
    """The reduction with one operand more."""
    if init is None and what == "sum":
        return made  # type: ignore[no-any-return]
    init = init if init is not None else cst.Integer("0")
    if what in ("max", "min"):
        return cst.Call(cst.Name(what), [cst.Arg(init), cst.Arg(made)])
    sign: Any = cst.Add() if what == "sum" else cst.Multiply()
    return cst.BinaryOperation(init, sign, made, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _operation(params: list[str], value: cst.BaseExpression | None) -> str:
    """Which reduction a function of two numbers is; "" for another."""
    match value:
        case cst.BinaryOperation(left=a, operator=sign, right=b) if sorted([dotted(a), dotted(b)]) == sorted(params):
            return _OPERATORS.get(type(sign), "")
        case cst.Call(func=cst.Name(value="max" | "min" as what), args=[a, b]):
            return what if sorted([dotted(a.value), dotted(b.value)]) == sorted(params) else ""
        case cst.IfExp(
            test=cst.Comparison(left=a, comparisons=[cst.ComparisonTarget(operator=sign, comparator=b)]),
            body=then,
            orelse=other,
        ) if [dotted(a), dotted(b)] == [dotted(then), dotted(other)] and sorted(map(dotted, (a, b))) == sorted(params):
            return _COMPARED.get(type(sign), "")
    return ""
