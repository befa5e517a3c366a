"""Expressions over parts of arrays, made loops: ``x[1:] = a[1:] - a[:-1]``, ``r = p[i] - q``, ``np.sum(a[i] * w)``.

An expression is evaluated element by element: while ``scope.element`` holds the indices of an element, a name that is
an array stands for that element (the last axes align, as in NumPy). What is read and written at once is copied first.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import libcst as cst

from kraise import dialects
from kraise.frontends.python import calls, masks, spread, subscripts
from kraise.frontends.python import expressions as ex
from kraise.frontends.python.ranks import ELEMENTWISE, REDUCTIONS, SPREADS
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.views import View, minus
from kraise.ir.kernel import ArrayRef, Assign, Const, Expr, For, If, Load, LocalArray, Op, Shape, Stmt, Store, Var
from kraise.ir.rewrite import walked
from kraise.ir.types import BOOL, FLOAT, INT, INT64, NUMBER


def operand(scope: Scope, node: cst.CSTNode) -> View | None:
    """The array with most axes among the operands of an elementwise expression; None if it is a scalar."""
    match node:
        case cst.Name(value=name) if name in scope.tuples or name in scope.substitutions or name in scope.lambdas:
            return None
        case cst.Name() | cst.Subscript():
            return ex.access(scope, node) if subscripts.free_axes(scope, node) else None
        case cst.Call() if id(node) in scope.within:
            return scope.within[id(node)]
        case cst.BinaryOperation(left=left, right=right):
            return _larger(operand(scope, left), operand(scope, right))
        case cst.UnaryOperation(expression=inner):
            return operand(scope, inner)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            return _larger(operand(scope, left), operand(scope, right))
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="astype"))):
            return operand(scope, inner)
        case cst.Call(args=arguments):
            qualified, concept = calls.concept_of(scope, node)
            numpys = qualified in dialects.operations("python") or concept.startswith(ELEMENTWISE)
            if (numpys and qualified.startswith("numpy.")) or qualified.removeprefix("builtins.") == "abs":
                found: View | None = None
                for argument in arguments:
                    found = _larger(found, operand(scope, argument.value))
                return found
    return None


def _larger(a: View | None, b: View | None) -> View | None:
    if a is None or b is None:
        return b if a is None else a
    return b if b.rank > a.rank else a


def nest(indices: list[str], shape: tuple[Expr, ...], body: tuple[Stmt, ...], span) -> Stmt:
    """Loops over all elements of a shape, the last index innermost."""
    for name, extent in zip(reversed(indices), reversed(shape), strict=True):
        body = (For(name, ex.integer(0, span), extent, ex.integer(1, span), body, False, INT, span=span),)
    return body[0]


def fresh_indices(scope: Scope, count: int) -> list[str]:
    """New names for loop indices."""
    names = [scope.fresh_index() for _ in range(count)]
    for name in names:
        scope.bound[name] = 1
    return names


def at_element(
    scope: Scope, node: cst.BaseExpression, indices: list[str], shape: tuple[Expr, ...]
) -> tuple[Expr, tuple[Expr, ...]]:
    """The value of an elementwise expression at one element, and the shape, which its operands agree on."""
    before, scope.element = (scope.element, scope.beside), tuple(Var(i, INT, span=scope.span(node)) for i in indices)
    scope.beside, once = [], scope.may_hoist or scope.once
    try:
        with scope.no_hoisting():
            scope.once = once
            value = ex.scalar(scope, node)
        agreed = list(shape)
        for axis, extent in dict.fromkeys(scope.beside):
            own = shape[-axis]
            if extent != own:
                agreed[-axis] = Op("same_extent", (agreed[-axis], extent), INT, span=scope.span(node))
        return value, tuple(agreed)
    finally:
        scope.element, scope.beside = before


def store(scope: Scope, target: View, value: cst.BaseExpression, node: cst.CSTNode, name: str = "") -> list[Stmt]:
    """``target = value`` (or ``target += value`` for the operation ``name``) element by element."""
    span = scope.span(node)
    source = operand(scope, value)
    assert source is not None
    if source.rank > target.rank:
        raise scope.refuse(
            node, f"{source.rank} axes do not fit into the {target.rank} that are assigned to", "", "KR104"
        )
    shape = scope.extents(target, node)
    indices = fresh_indices(scope, target.rank)
    element, shape = at_element(scope, value, indices, shape)
    element = _numbers_first(scope, element, target.array, set(indices), node)
    at = target.at(tuple(Var(i, INT, span=span) for i in indices))
    stored = ex.op(name, ex.load(scope, at, node), element, span=span) if name else element
    if not moves(element, target.array, at.subscripts, set(indices)):
        body = Store(target.array, at.subscripts, stored, span=span)  # type: ignore[arg-type]
        return [nest(indices, shape, (body,), span)]
    # the right-hand side reads other elements of what is assigned: all of it first, as NumPy does
    holder = _temporary(scope, shape, target.array, node)
    first = Store(holder.name, tuple(Var(i, INT, span=span) for i in indices), stored, span=span)
    again = fresh_indices(scope, target.rank)
    places: tuple[Expr, ...] = tuple(Var(i, INT, span=span) for i in again)
    copied = ex.load(scope, View(holder.name, places), node)
    second = Store(target.array, target.at(places).subscripts, copied, span=span)  # type: ignore[arg-type]
    return [holder, nest(indices, shape, (first,), span), nest(again, shape, (second,), span)]


def _numbers_first(scope: Scope, element: Expr, array: str, indices: set[str], node: cst.CSTNode) -> Expr:
    """The value with what is one number for all elements, and reads the array that is stored to, as it is before:
    ``A[i, k] / A[k, k]`` in ``A[i, k:] -= A[i, k] / A[k, k] * A[k, k:]``."""
    reads = any(isinstance(n, Load | ArrayRef) and n.array == array for n in walked(element))
    if not reads or not scope.may_hoist:
        return element
    if not _varying(element, indices):
        return scope.held(element, "value", node)
    changes: dict = {}
    for item in fields(element):
        before = getattr(element, item.name)
        if isinstance(before, tuple) and item.name != "span":
            changes[item.name] = tuple(
                _numbers_first(scope, b, array, indices, node) if is_dataclass(b) else b  # type: ignore[arg-type]
                for b in before
            )
        elif is_dataclass(before) and item.name == "arg":
            changes[item.name] = _numbers_first(scope, before, array, indices, node)  # type: ignore[arg-type]
    return replace(element, **changes) if changes else element


def moves(element: Expr, array: str, subscripts: tuple, indices: set[str]) -> bool:
    """Does the value read the array where another element is stored? Not in the same places of another row (which is
    this one, or apart from it): ``A[k, k + i]`` while ``A[r, k + i]`` is stored."""
    stack: list = [element]
    while stack:
        top = stack.pop()
        if isinstance(top, Load) and top.array == array and top.subscripts != subscripts:
            pairs = list(zip(top.subscripts, subscripts, strict=True))
            own = all(a == b or not (_varying(a, indices) or _varying(b, indices)) for a, b in pairs)
            if not own and not any(_apart(a, b, indices) for a, b in pairs):
                return True
        if isinstance(top, ArrayRef) and top.array == array:
            return True
        stack.extend(getattr(top, "args", ()))
        stack.extend(getattr(top, "subscripts", ()))
        if hasattr(top, "arg"):
            stack.append(top.arg)
    return False


def _apart(a: Expr, b: Expr, indices: set[str]) -> bool:
    """Do two subscripts differ for all elements, whatever the element?"""
    if _varying(a, indices) or _varying(b, indices):
        return False
    difference = minus(a, b)
    return isinstance(difference, Const) and difference.value != 0


def _varying(subscript: Expr, indices: set[str]) -> bool:
    return bool(ex.variables(subscript)[0] & indices)


def _temporary(scope: Scope, shape: tuple[Expr, ...], like: str, node: cst.CSTNode, wish: str = "") -> LocalArray:
    """A new array; only code that runs on one thread may make one."""
    if scope.definition.kind == "kernel":
        raise scope.refuse(
            node,
            "an array expression in a kernel needs a temporary array",
            "write the loop element by element",
            "KR299",
        )
    name = scope.fresh(wish or "moved")
    return made(scope, name, shape, like, node)


def made(scope: Scope, name: str, shape: tuple[Expr, ...], like: str, node: cst.CSTNode) -> LocalArray:
    """The new array ``name``, its extents fixed as they are now; its type that of ``like``, or of what is stored."""
    if scope.definition.kind == "kernel":
        raise scope.refuse(
            node,
            f"{name} would be a new array, and a kernel has none but shared and local ones",
            "write it element by element",
            "KR299",
        )
    scope.bound[name] = max(1, scope.bound[name])
    shape = tuple(scope.frozen(s, f"{name}_extent", node) for s in shape)
    scope.views[name] = View(name, (None,) * len(shape))
    scope.ranks[name] = len(shape)
    scope.shapes[name] = shape
    return LocalArray(name, NUMBER, shape, "heap", None, (), like, span=scope.span(node))


def bind(scope: Scope, name: str, value: cst.BaseExpression, node: cst.CSTNode) -> list[Stmt] | None:
    """``name = expression`` where the expression is an array: a new one; None if it is a scalar."""
    if isinstance(value, cst.Name | cst.Subscript):
        return None
    source = operand(scope, value)
    if source is None:
        return None
    if name in scope.params or scope.times_made(name) > 1:
        raise scope.refuse(
            node, f"{name} is bound more than once, a new array among them", "give the new array its own name", "KR299"
        )
    span = scope.span(node)
    shape = scope.extents(source, node)
    indices = fresh_indices(scope, source.rank)
    element, shape = at_element(scope, value, indices, shape)
    array = made(scope, name, shape, "", node)
    if is_float(scope, element):
        scope.kinds[name] = (FLOAT, "")
    elif masks.is_truth(scope, element):
        scope.kinds[name] = (BOOL, "")
    body = Store(name, tuple(Var(i, INT, span=span) for i in indices), element, span=span)
    return [*scope.taken(), array, nest(indices, shape, (body,), span)]


def is_float(scope: Scope, value: Expr) -> bool:
    """Whether a value is surely one of numpy's floats: of numbers, sizes and elements of such arrays, with a fraction,
    a quotient or such an element among them."""
    parts = _real_parts(scope, value)
    return parts is not None and "float" in parts


def _real_parts(scope: Scope, value: Expr) -> set[str] | None:
    """Which kinds of numbers make a value, ``float`` and ``int``; None where another one might."""
    match value:
        case Const(value=bool()):
            return None
        case Const(value=int() | float() as number):
            return {"float" if isinstance(number, float) else "int"}
        case Shape():
            return {"int"}
        case Var(name=name):
            if name in scope.known or name in scope.sizes:
                return _real_parts(scope, scope.known.get(name) or scope.sizes[name])
            counts = [e for shape in scope.shapes.values() for e in shape]
            return {"int"} if any(isinstance(e, Var) and e.name == name for e in counts) else None
        case Load(array=array):
            element, _ = scope.kind(array)
            return {"float"} if element == FLOAT else {"int"} if element in (INT, INT64) else None
        case Op(name="add" | "sub" | "mul" | "div" | "neg" as name, args=args):
            found = [_real_parts(scope, a) for a in args]
            if any(f is None for f in found):
                return None
            return set().union(*(f for f in found if f), {"float"} if name == "div" else ())
    return None


def result(scope: Scope, value: cst.BaseExpression, node: cst.CSTNode) -> ArrayRef | None:
    """A returned array expression: computed into an array before; None if it is a scalar."""
    if operand(scope, value) is None:
        return None
    name = scope.fresh("result")
    scope.bound[name] = 1
    statements = bind(scope, name, value, node)
    if statements is None:
        return None
    scope.hoist(node, *statements)
    return ArrayRef(name, span=scope.span(node))


# --- reductions ------------------------------------------------------------------------------


def reduction(scope: Scope, node: cst.Call) -> Expr | None:
    """``np.sum(e)``, ``e.max()``, ``np.dot(a, b)``: a loop before the statement; None if the call is no reduction."""
    qualified, _ = calls.concept_of(scope, node)
    head, _, last = qualified.rpartition(".")
    arguments = [a.value for a in node.args]
    if isinstance(node.func, cst.Attribute) and node.func.attr.value in SPREADS and head in ("", "numpy"):
        return spread.value(scope, node, head)
    if head == "numpy" and last in REDUCTIONS:
        kind = REDUCTIONS[last]
    elif isinstance(node.func, cst.Attribute) and not qualified and node.func.attr.value in REDUCTIONS:
        kind = REDUCTIONS[node.func.attr.value]
        arguments = [node.func.value, *arguments]
    else:
        return None
    if len(arguments) != (2 if kind == "dot" else 1) or any(a.keyword is not None or a.star for a in node.args):
        raise scope.refuse(
            node, f"{last or kind} with these arguments is not supported yet", "write the loop over the axis", "KR299"
        )
    views = [operand(scope, a) for a in arguments]
    if views[0] is None:
        return None
    if kind in ("dot", "argmin", "argmax") and any(v is None or v.rank != 1 for v in views):
        raise scope.refuse(node, f"{kind} of more than one axis is not supported yet", "write the loops", "KR299")
    return _reduced(scope, node, kind, arguments, views[0])


_WISHES = {"sum": "total", "mean": "total", "dot": "total", "prod": "product", "min": "least", "max": "most"}


def _reduced(scope: Scope, node: cst.Call, kind: str, arguments: list, view: View) -> Expr:
    span = scope.span(node)
    if not (scope.may_hoist or scope.once):
        scope.hoist(node)  # refuses
    outer, around = list(scope.taken()), (scope.element, scope.may_hoist)
    scope.element, scope.may_hoist = None, True
    shape = scope.extents(view, node)
    indices = fresh_indices(scope, view.rank)
    elements = []
    for argument in arguments:
        one, shape = at_element(scope, argument, indices, shape)
        elements.append(one)
    scope.element, scope.may_hoist = around
    outer += scope.taken()  # numbers within
    element = ex.op("mul", *elements, span=span) if kind == "dot" else elements[0]
    total = scope.fresh(_WISHES.get(kind, "found"))
    scope.bound[total] = 2  # not stable
    held = Var(total, NUMBER, span=span)
    zero = tuple(ex.integer(0, span) for _ in indices)
    first: Expr = ex.integer(0, span)
    answer: Expr = held
    body: tuple[Stmt, ...]
    more: list[Stmt] = []
    match kind:
        case "any" | "all":
            first = Const(kind == "all", BOOL, span=span)
            hit = element if kind == "any" else ex.op("not", element, span=span)
            body = (If(hit, (Assign(total, Const(kind == "any", BOOL, span=span), BOOL, span=span),), span=span),)
        case "min" | "max":
            first = _at(element, indices, zero)
            body = (Assign(total, ex.op(kind, held, element, span=span), NUMBER, span=span),)
        case "argmin" | "argmax":
            best = scope.fresh("least" if kind == "argmin" else "most")
            scope.bound[best] = 2
            better = ex.op("lt" if kind == "argmin" else "gt", element, Var(best, NUMBER, span=span), span=span)
            index = Var(indices[0], INT, span=span)
            taken = (Assign(best, element, NUMBER, span=span), Assign(total, index, NUMBER, span=span))
            more = [Assign(best, _at(element, indices, zero), NUMBER, span=span)]
            body = (If(better, taken, span=span),)
        case _:
            if kind == "prod":
                first = ex.integer(1, span)
            name = "mul" if kind == "prod" else "add"
            body = (Assign(total, ex.op(name, held, element, span=span), NUMBER, span=span),)
    if kind == "mean":
        first = Const(0.0, FLOAT, span=span)
        count = tuple(Op("slice_count", (s,), INT, span=span) if isinstance(s, Op) else s for s in shape)
        answer = ex.op("div", held, ex.product(list(count), span), span=span)
    over = nest(indices, shape, body, span)
    if kind in ("min", "max", "argmin", "argmax") and len(indices) == 1:
        assert isinstance(over, For)
        over = replace(over, start=ex.integer(1, span))  # the first element is held already
    scope.pre = [*outer, *more, Assign(total, first, NUMBER, span=span), over]
    return answer


def _at(expr: Expr, indices: list[str], values: tuple[Expr, ...]) -> Expr:
    """The expression with values in place of the indices."""
    if isinstance(expr, Var) and expr.name in indices:
        return values[indices.index(expr.name)]
    changes: dict = {}
    for item in fields(expr):
        before = getattr(expr, item.name)
        if isinstance(before, tuple):
            changes[item.name] = tuple(_at(b, indices, values) if is_dataclass(b) else b for b in before)  # type: ignore[arg-type]
        elif is_dataclass(before) and item.name in ("arg", "offset"):
            changes[item.name] = _at(before, indices, values)  # type: ignore[arg-type,assignment]
    return replace(expr, **changes) if changes else expr
