"""Expressions: libcst to Kernel IR, untyped (infer.py types them once the function is whole)."""

from __future__ import annotations

import libcst as cst

from kraise.diagnostics import Refused
from kraise.frontends.python import calls, comparisons, library
from kraise.frontends.python import subscripts as sub
from kraise.frontends.python.scope import Scope, bindings
from kraise.frontends.python.source import dotted
from kraise.frontends.python.views import View
from kraise.ir.kernel import ArrayRef, Assign, Cast, Const, Expr, Load, Op, Var
from kraise.ir.types import BOOL, COMPLEX, FLOAT, INT, NUMBER

BINARY = {
    "Add": "add",
    "Subtract": "sub",
    "Multiply": "mul",
    "Divide": "div",
    "FloorDivide": "floordiv",
    "Modulo": "mod",
    "Power": "pow",
    "LeftShift": "shl",
    "RightShift": "shr",
    "BitAnd": "and_",
    "BitOr": "or_",
    "BitXor": "xor",
}
COMPARISON = {
    "LessThan": "lt",
    "LessThanEqual": "le",
    "GreaterThan": "gt",
    "GreaterThanEqual": "ge",
    "Equal": "eq",
    "NotEqual": "ne",
}
_MOST_CHOICES = 8  # elements of a tuple among which a number chooses
LOGICAL = frozenset({"and", "or", "not", *COMPARISON.values(), "isnan", "isinf", "isfinite", "signbit"})


def op(name: str, *args: Expr, span=None) -> Op:
    """An operation whose type is still to be inferred."""
    return Op(name, args, BOOL if name in LOGICAL else NUMBER, span=span)


def integer(value: int, span=None) -> Const:
    return Const(value, INT, span=span)


def scalar(scope: Scope, node: cst.BaseExpression) -> Expr:
    """The value of a scalar expression. Refused: what is no scalar, or not known."""
    span = scope.span(node)
    match node:
        case cst.Integer():
            return Const(node.evaluated_value, INT, span=span)
        case cst.Float():
            return Const(node.evaluated_value, FLOAT, span=span)
        case cst.Imaginary():
            return Const(complex(node.value), COMPLEX, span=span)
        case cst.Name():
            return name_value(scope, node)
        case cst.BinaryOperation(left=left, operator=symbol, right=right):
            name = BINARY.get(type(symbol).__name__)
            if name is None:
                raise scope.refuse(node, f"the operator {type(symbol).__name__} is not accepted in a kernel")
            return op(name, scalar(scope, left), scalar(scope, right), span=span)
        case cst.UnaryOperation(
            operator=cst.Minus(), expression=cst.Integer() | cst.Float() | cst.Imaginary() as inner
        ):
            value = scalar(scope, inner)
            assert isinstance(value, Const)
            return Const(-value.value, value.type, span=span)
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            return op("neg", scalar(scope, inner), span=span)
        case cst.UnaryOperation(operator=cst.Plus(), expression=inner):
            return scalar(scope, inner)
        case cst.UnaryOperation(operator=cst.BitInvert(), expression=inner):
            return op("invert", scalar(scope, inner), span=span)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return op("not", test(scope, inner), span=span)
        case cst.BooleanOperation():
            return boolean(scope, node)
        case cst.Comparison():
            return comparisons.comparison(scope, node)
        case cst.IfExp(test=condition, body=body, orelse=orelse):
            chosen = test(scope, condition)
            with scope.no_hoisting():
                return op("select", chosen, scalar(scope, body), scalar(scope, orelse), span=span)
        case cst.Subscript():
            return subscripted(scope, node)
        case cst.Attribute():
            return attribute(scope, node)
        case cst.Call():
            return calls.value(scope, node)
        case cst.NamedExpr(target=cst.Name(value=name) as target, value=inner):
            if scope.bound[name] > 1 or name in scope.params or scope.element is not None:
                raise scope.refuse(
                    node, f"{name} is bound elsewhere too, besides inside this expression", "assign it on its own line"
                )
            scope.hoist(node, Assign(name, scalar(scope, inner), NUMBER, span=span))
            return Var(name, NUMBER, span=scope.span(target))
        case cst.Tuple() | cst.List():
            raise scope.refuse(node, "a tuple or list has no scalar value here", "use its elements one by one")
        case cst.SimpleString() | cst.ConcatenatedString():
            raise scope.refuse(node, "strings have no array form")
    raise scope.refuse(node, f"this expression ({type(node).__name__}) is not accepted in a kernel")


def test(scope: Scope, node: cst.BaseExpression) -> Expr:
    """The truth of an expression, as a condition (infer.py compares numbers with zero)."""
    if isinstance(node, cst.BooleanOperation):
        left = test(scope, node.left)
        with scope.no_hoisting():
            right = test(scope, node.right)
        return op("and" if isinstance(node.operator, cst.And) else "or", left, right, span=scope.span(node))
    return scalar(scope, node)


def boolean(scope: Scope, node: cst.BooleanOperation) -> Expr:
    """``and``/``or`` as a value: Python gives the operand itself, which matters where it is a number."""
    left = scalar(scope, node.left)
    with scope.no_hoisting():
        right = scalar(scope, node.right)
    span = scope.span(node)
    conjunction = isinstance(node.operator, cst.And)
    if is_logical(left) and is_logical(right):
        return op("and" if conjunction else "or", left, right, span=span)
    return op("select", left, right, left, span=span) if conjunction else op("select", left, left, right, span=span)


def is_logical(expr: Expr) -> bool:
    return (isinstance(expr, Op) and expr.name in LOGICAL) or (isinstance(expr, Const) and expr.type == BOOL)


def name_value(scope: Scope, node: cst.Name) -> Expr:
    """A name as a scalar: substituted, local, constant of the module, or constant of a library."""
    name, span = node.value, scope.span(node)
    if name in scope.substitutions:
        return scope.substitutions[name]
    if name in ("True", "False"):
        return Const(name == "True", BOOL, span=span)
    if name in scope.ambiguous:
        raise scope.refuse(
            node,
            f"{name} may stand for different parts of an array here",
            "give each part a name of its own, or subscript the array directly",
            "KR299",
        )
    view = scope.views.get(name)
    if view is not None:
        if view.rank == 0:
            return load(scope, view, node)
        if scope.element is not None:
            return sub.element(scope, view, node)
        raise scope.refuse(
            node,
            f"{name} is an array here, and one number is needed",
            "subscript it with one index per axis; array expressions are taken only where a whole one is assigned",
        )
    if name in scope.tuples:
        raise scope.refuse(node, f"{name} is a tuple here", "use its elements")
    if name in scope.bound or name in scope.params:
        _as_number(scope, name)
        return Var(name, NUMBER, span=span)
    constant = scope.constants.get(name)
    if constant is not None:
        if constant.shape:
            raise scope.refuse(node, f"{name} is a table, and a kernel computes with scalars", "subscript it")
        return Const(constant.values[0], constant.type, constant.name, span=span)
    known = library.constant(scope, name, node)
    if known is not None:
        return known
    if name == "None":
        raise scope.refuse(node, "None has no array form", "pass a number or an array")
    raise unknown_name(scope, node, name)


def unknown_name(scope: Scope, node: cst.CSTNode, name: str) -> Refused:
    """The refusal of a name that is no local, parameter or constant; it says where the name comes from."""
    for function in reversed(scope.definition.around):
        where = function.name.value
        if name in (p.name.value for p in function.params.params):
            hint = f"make {name} a parameter of the kernel, or a constant of the module"
            reason = f"{name} is a parameter of {where}, the function around the kernel: its value is not known here"
            return scope.refuse(node, reason, hint, "KR102")
        if name in bindings(function.body):
            hint = f"make {name} a parameter of the kernel, or assign it a number once"
            return scope.refuse(node, f"{name} is a variable of {where}, and no constant number", hint, "KR102")
    if name in scope.imports.bound:
        hint = f"write its value into this file, or make it a parameter: `{name}` of another module is not read"
        return scope.refuse(node, f"{name} is imported, and its value is not known", hint, "KR102")
    if bindings(scope.source.tree)[name]:
        hint = "assign it once, at the top of the module, a number or a table of numbers; or make it a parameter"
        return scope.refuse(node, f"{name} is not a constant number of the module", hint, "KR102")
    return scope.refuse(node, f"the name {name} is not known", "is it misspelled, or missing as a parameter?", "KR102")


def attribute(scope: Scope, node: cst.Attribute) -> Expr:
    """``cuda.threadIdx.x``, ``math.pi``, ``a.size``, ``z.real``."""
    name, span = dotted(node), scope.span(node)
    if name:
        known = library.constant(scope, name, node)
        if known is not None:
            return known
    last = node.attr.value
    view = access(scope, node.value)
    if isinstance(view, View) and view.rank > 0:
        if last == "size":
            return product(list(scope.extents(view, node)), span)
        if last == "ndim":
            return integer(view.rank, span)
        raise scope.refuse(node, f".{last} of an array is not accepted in a kernel", "subscript the array first")
    if last in ("real", "imag"):
        return op(last, scalar(scope, node.value), span=span)
    if name and name.partition(".")[0] not in scope.bound and name.partition(".")[0] not in scope.params:
        raise scope.refuse(node, f"the name {name} is not known", code="KR102")
    raise scope.refuse(node, f".{last} is not accepted in a kernel", MEMBERS)


MEMBERS = "members are read of parameters of which nothing else is used: p[i].x, or q.x behind one q = p[i]; params.x"


def product(factors: list[Expr], span) -> Expr:
    result = factors[0]
    for factor in factors[1:]:
        result = op("mul", result, factor, span=span)
    return result


# --- arrays ----------------------------------------------------------------------------------


def access(scope: Scope, node: cst.CSTNode) -> View | None:
    """The part of an array that a name or a chain of subscripts stands for; None if it is no array."""
    if isinstance(node, cst.Name):
        name = node.value
        if name in scope.ambiguous:
            name_value(scope, node)  # refuses
        if name in scope.views:
            return scope.views[name]
        if name in scope.bound or name in scope.params:
            return None
        constant = scope.constants.get(name)
        if constant is not None and constant.shape:
            return View(name, (None,) * len(constant.shape))
        return None
    if isinstance(node, cst.Subscript):
        view = access(scope, node.value)
        if view is None:
            return None
        given = sub.subscripts(scope, node, view)
        if len(given) > view.rank:
            raise scope.refuse(
                node,
                f"{len(given)} subscripts for {view.rank} {'axis' if view.rank == 1 else 'axes'} of {view.array}",
                "",
                "KR104",
            )
        return view.at(given)
    return scope.within.get(id(node))


def subscripted(scope: Scope, node: cst.Subscript) -> Expr:
    """A subscript as a scalar: a load, an extent, or an element of a tuple."""
    extents = shape_of(scope, node.value)
    if extents is None and isinstance(node.value, cst.Name):
        extents = scope.tuples.get(node.value.value)
    if extents is None and isinstance(node.value, cst.Call):
        extents = calls.several(scope, node.value)
    if extents is not None:
        return tuple_element(scope, node, extents)
    view = access(scope, node)
    if view is None:
        name = dotted(node.value)
        if name and name.partition(".")[0] not in scope.bound and name not in scope.params:
            raise unknown_name(scope, node, name)
        raise scope.refuse(node, "only arrays can be subscripted", "", "KR104")
    if view.rank:
        if scope.element is not None:
            return sub.element(scope, view, node)
        raise scope.refuse(
            node,
            f"{view.array} has {len(view.subscripts)} axes, and {view.rank} of them have no subscript here",
            "subscript every axis",
            "KR104",
        )
    _as_number(scope, view.array)
    return load(scope, view, node)


def tuple_element(scope: Scope, node: cst.Subscript, extents: tuple[Expr, ...]) -> Expr:
    element = node.slice[0].slice
    index = scalar(scope, element.value) if isinstance(element, cst.Index) and len(node.slice) == 1 else None
    if isinstance(index, Const) and isinstance(index.value, int) and -len(extents) <= index.value < len(extents):
        return extents[index.value]
    table = scope.table(node.value.value, extents) if isinstance(node.value, cst.Name) else None
    if table is not None and index is not None and (index.type.is_integer or index.type == NUMBER):
        return Load(table.name, (index,), table.element, span=scope.span(node))
    if index is not None and index.type in (INT, NUMBER) and len(extents) <= _MOST_CHOICES:
        return _chosen(scope, extents, index, node)
    raise scope.refuse(node, f"the element of a tuple of {len(extents)} must be a constant in its range", "", "KR104")


def _chosen(scope: Scope, elements: tuple[Expr, ...], index: Expr, node: cst.CSTNode) -> Expr:
    """The element whose number the index is, counted from the end where it is below zero."""
    span = scope.span(node)
    at = op("mod", index, integer(len(elements), span), span=span)
    found = elements[-1]
    for k in reversed(range(len(elements) - 1)):
        test = op("eq", at, integer(k, span), span=span)
        found = op("select", test, elements[k], found, span=span)
    return found


def shape_of(scope: Scope, node: cst.CSTNode) -> tuple[Expr, ...] | None:
    """The extents where the expression is ``a.shape``, None otherwise."""
    if isinstance(node, cst.Attribute) and node.attr.value == "shape":
        view = access(scope, node.value)
        if view is None:
            raise scope.refuse(node, ".shape of something that is no array", "", "KR104")
        return scope.extents(view, node)
    match node:
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value="shape")) as whole, slice=[element]):
            if isinstance(element.slice, cst.Slice):  # a.shape[:2]
                extents = shape_of(scope, whole)
                return None if extents is None else extents[_constant_slice(scope, element.slice)]
    return None


def _constant_slice(scope: Scope, node: cst.Slice) -> slice:
    bounds: list[int | None] = []
    for part in (node.lower, node.upper, node.step):
        value = None if part is None else scalar(scope, part)
        if value is not None and not (isinstance(value, Const) and isinstance(value.value, int) and value.value):
            zero = isinstance(value, Const) and value.value == 0 and part is not node.step
            if not zero:
                raise scope.refuse(node, "the bounds of a slice of a shape must be constant", "", "KR104")
        bounds.append(None if value is None else int(value.value))  # type: ignore[union-attr,arg-type]
    return slice(*bounds)


def load(scope: Scope, view: View, node: cst.CSTNode) -> Load:
    """The element that a view without a free axis stands for."""
    assert view.rank == 0
    return Load(view.array, view.subscripts, NUMBER, span=scope.span(node))  # type: ignore[arg-type]


def _as_number(scope: Scope, name: str) -> None:
    """Within an expression over arrays, ``name`` (or an element of it) is taken for a number."""
    if scope.element is not None:
        scope.numbers.append((name, tuple(i.name for i in scope.element if isinstance(i, Var))))


def values(expr: Expr) -> set[str]:
    """The locals and arrays of which an expression takes the value: not those that say where."""
    match expr:
        case Var(name=name) | Load(array=name):
            return {name}
    parts = (*getattr(expr, "args", ()), *((expr.arg,) if isinstance(expr, Cast) else ()))
    return {name for p in parts if not isinstance(p, ArrayRef) for name in values(p)}


def variables(expr: Expr) -> tuple[set[str], set[str]]:
    """(locals, arrays) that an expression reads."""
    names: set[str] = set()
    arrays: set[str] = set()
    stack: list = [expr]
    while stack:
        top = stack.pop()
        match top:
            case Var(name=name):
                names.add(name)
            case Load(array=array, subscripts=inner):
                arrays.add(array)
                stack.extend(inner)
            case _:
                stack.extend(getattr(top, "args", ()))
                if hasattr(top, "arg"):
                    stack.append(top.arg)
                if hasattr(top, "array"):  # an array as an argument
                    arrays.add(top.array)
    return names, arrays
