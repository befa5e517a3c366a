"""How many axes the arrays of a host function have, by the kernels that take them and by what is said of them."""

from __future__ import annotations

import libcst as cst

from kraise import dialects
from kraise.frontends.python.host_scope import HostScope, launched
from kraise.frontends.python.host_units import times_set
from kraise.frontends.python.source import all_of, dotted, walk
from kraise.ir.types import NUMBER, ArrayType, ScalarType


def of(scope: HostScope, node: cst.FunctionDef) -> dict[str, tuple[ScalarType, int]]:
    """Element type and number of axes of the arrays that kernels take."""
    found: dict[str, tuple[ScalarType, int]] = {}
    for inner in walk(node.body):
        if isinstance(inner, cst.Call):
            function = scope.functions.get(launched(scope, inner) or dotted(inner.func))
            taken = function.params if function is not None else scope.host_params.get(dotted(inner.func), ())
            for param, argument in zip(taken, inner.args, strict=False):
                if isinstance(param.type, ArrayType):
                    found.setdefault(dotted(argument.value), (param.type.element, param.type.ndim))
    for inner in walk(node.body):  # of the others, what is said of their shape
        match inner:
            case cst.Subscript(
                value=cst.Attribute(value=owner, attr=cst.Name(value="shape")),
                slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer() as axis))],
            ):
                known = found.get(dotted(owner), (NUMBER, 1))
                found[dotted(owner)] = known[0], max(known[1], axis.evaluated_value + 1)
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Tuple(elements=parts))],
                value=cst.Attribute(value=owner, attr=cst.Name(value="shape")),
            ):
                found.setdefault(dotted(owner), (NUMBER, len(parts)))
    return found


def certain(scope: HostScope, node: cst.FunctionDef) -> dict[str, int]:
    """The arrays whose number of axes is surely known: a kernel takes them, all their axes are named, or made here."""
    found: dict[str, int] = dict.fromkeys(scope.walked, 1)
    lists = {
        n.targets[0].target.value: [e.value for e in n.value.elements] for n in all_of(cst.Assign, node.body)
        if isinstance(n.targets[0].target, cst.Name)
        and isinstance(n.value, cst.List | cst.Tuple)
    }  # fmt: skip
    for inner in walk(node.body):
        match inner:
            case cst.Call():
                function = scope.functions.get(launched(scope, inner) or dotted(inner.func))
                for param, argument in zip(function.params if function is not None else (), inner.args, strict=False):
                    if isinstance(param.type, ArrayType):
                        found.setdefault(dotted(argument.value), param.type.ndim)
                        for each in lists.get(_of_list(argument.value), ()):  # kernel[grid, block](bufs[t % 2])
                            found.setdefault(_same(scope, each), param.type.ndim)
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Tuple(elements=parts))],
                value=cst.Attribute(value=owner, attr=cst.Name(value="shape")),
            ):
                found.setdefault(dotted(owner), len(parts))
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Call() as made):
                concept = dialects.table("host_library")["python"].get(scope.qualified(made.func), "")
                if concept in ("empty", "zeros", "ones", "full") and made.args and dotted(target):
                    shape = made.args[0].value
                    if isinstance(shape, cst.Tuple | cst.List):
                        found.setdefault(dotted(target), len(shape.elements))
                    elif not isinstance(shape, cst.Name | cst.Attribute):
                        found.setdefault(dotted(target), 1)
    times = times_set(node)
    while True:
        before = len(found)
        for inner in walk(node.body):
            match inner:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value) if times[
                    name
                ] == 1 and (axes := rank(scope, value, found)):
                    found.setdefault(name, axes)
            match inner:
                case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value) if dotted(target):
                    other = _same(scope, value)
                    for one, two in ((other, dotted(target)), (dotted(target), other)):
                        if one in found and two:
                            found.setdefault(two, found[one])
        if len(found) == before:
            return found


def rank(scope: HostScope, value: cst.BaseExpression, found: dict[str, int]) -> int:
    """How many axes an expression of NumPy has, 0 where that is not known."""
    match value:
        case cst.Name() | cst.Attribute():
            return found.get(dotted(value), 0)
        case cst.UnaryOperation(expression=inner):
            return rank(scope, inner, found)
        case cst.BinaryOperation(left=left, operator=operator, right=right) if not isinstance(
            operator, cst.MatrixMultiply
        ):
            sides = [rank(scope, side, found) for side in (left, right)]
            unknown = any(not n and scope.is_array(side) for n, side in zip(sides, (left, right), strict=True))
            return 0 if unknown else max(sides)
        case cst.Call(func=func, args=args):
            name = scope.qualified(func)
            facts = dialects.table("host_library")["rows"].get(dialects.host_rows("python").get(name, ""), {})
            if "rank" in facts:
                return int(facts["rank"])
            if name in dialects.operations("python") and len(args) == 1:
                return rank(scope, args[0].value, found)
        case cst.Subscript() if row := scope.one_of_several(value):
            return int(dialects.table("host_library")["rows"][row].get("rank", 0))
    return 0


def _of_list(node: cst.BaseExpression) -> str:
    """The list of which an expression is an element; "" for anything else."""
    return dotted(node.value) if isinstance(node, cst.Subscript) else ""


def _same(scope: HostScope, value: cst.BaseExpression) -> str:
    """The array that an expression is a copy of, or that it is made like; "" for anything else."""
    if not isinstance(value, cst.Call):
        return dotted(value) if dotted(value) in scope.arrays else ""
    concept = dialects.table("host_library")["python"].get(scope.qualified(value.func), "")
    if concept not in ("alias", "clone", "fetch") and not concept.endswith("_like"):
        return ""
    owner = value.args[0].value if value.args else value.func.value if isinstance(value.func, cst.Attribute) else value
    return dotted(owner)
