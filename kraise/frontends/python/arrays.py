"""Arrays that a function makes (shared, local, ``np.zeros``) and whole-row stores of one scalar."""

from __future__ import annotations

import libcst as cst

from kraise.frontends.python import calls, elementwise, masks, number_lists, remade, rolled, steps, subscripts
from kraise.frontends.python import expressions as ex
from kraise.frontends.python.annotations import of_dtype
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.source import dotted, subscripted, walk
from kraise.frontends.python.views import View
from kraise.ir.kernel import Const, Expr, LocalArray, Stmt, Store, Var
from kraise.ir.rewrite import walked
from kraise.ir.types import BOOL, COMPLEX, FLOAT, INT, NUMBER, ScalarType


def allocation(scope: Scope, name: str, value: cst.BaseExpression, node: cst.CSTNode) -> list[Stmt] | None:
    """``name = <allocation>`` as statements, None if the value is no allocation."""
    made_again = name in scope.remade and name in scope.shapes
    fresh = scope.fresh(f"{name}_new") if made_again else name
    scope.bound[fresh] = max(scope.bound[fresh], 1)
    found = _allocated(scope, fresh, value, node)
    for s in found or ():
        if isinstance(s, LocalArray):
            scope.kinds[s.name] = scope.kind(s.like) if s.like else (_kept(scope, s, tuple(found or ()), value), "")
    return remade.again(scope, name, fresh, found, node) if made_again and found else found


def _kept(scope: Scope, array: LocalArray, made: tuple[Stmt, ...], value: cst.BaseExpression) -> ScalarType:
    """The type that a new array keeps: of floats, where all that ``made`` gives it is; of a list what is stored."""
    if array.element != NUMBER or (isinstance(value, cst.Call) and calls.concept_of(scope, value)[1] == "alloc.list"):
        return array.element
    given = [s.value for s in walked(made) if isinstance(s, Store) and s.array == array.name]
    given += [] if array.fill is None else [array.fill]
    return FLOAT if given and all(elementwise.is_float(scope, e) for e in given) else NUMBER


def _allocated(scope: Scope, name: str, value: cst.BaseExpression, node: cst.CSTNode) -> list[Stmt] | None:
    if isinstance(value, cst.List) and scope.ranks.get(name, 0):
        if (other := number_lists.otherwise(scope.definition.node.body, name)) is not None:
            reason = f"{name} is a list: * repeats it, + joins it to another one, and a slice of it is a copy"
            raise scope.refuse(
                other, reason, "make it an array (np.array), or write the loop over its elements", "KR299"
            )
        return _literal(scope, name, value, node)
    if not isinstance(value, cst.Call):
        return None
    _, concept = calls.concept_of(scope, value)
    method = value.func.attr.value if isinstance(value.func, cst.Attribute) else ""
    if concept.startswith("array.const"):
        return _const(scope, name, value, node)
    if concept.startswith("array."):
        return _declared(scope, name, value, node, concept.removeprefix("array."))
    if concept == "table":
        return _array(scope, name, value, node)
    if concept.startswith("alloc"):
        return _numpy(scope, name, value, node, concept)
    if concept == "roll" and name not in scope.params and (scope.times_made(name) < 2 or name in scope.remade):
        return rolled.array(scope, name, value, node)
    if concept.startswith("ramp."):
        from kraise.frontends.python.ramps import filled

        return filled(scope, name, value, node, concept.removeprefix("ramp."))
    source: cst.BaseExpression | None = None
    if concept == "copy" and value.args:
        source = value.args[0].value
    elif method == "copy" and isinstance(value.func, cst.Attribute):
        source = value.func.value
    if source is not None:
        view = ex.access(scope, source)
        if view is not None and view.rank:
            return copied(scope, name, view, node)
    return None


def makes(scope: Scope, value: cst.BaseExpression) -> bool:
    """Whether an expression is an array that is made there."""
    return isinstance(value, cst.Call) and calls.concept_of(scope, value)[1].startswith(("alloc", "ramp."))


def _argument(call: cst.Call, position: int, *names: str) -> cst.BaseExpression | None:
    for k, argument in enumerate(call.args):
        if argument.keyword is None and k == position:
            return argument.value
        if argument.keyword is not None and argument.keyword.value in names:
            return argument.value
    return None


def _shape(scope: Scope, node: cst.BaseExpression | None, call: cst.Call) -> tuple[Expr, ...]:
    if node is None:
        raise scope.refuse(call, "the shape of the array is missing", "", "KR104")
    extents = ex.shape_of(scope, node)
    if extents is not None:
        return extents
    if isinstance(node, cst.Tuple | cst.List):
        return tuple(ex.scalar(scope, e.value) for e in node.elements)
    if isinstance(node, cst.Name):
        if node.value in scope.tuples:
            return scope.tuples[node.value]
        table = scope.constants.get(node.value)
        if table is not None and table.shape and node.value not in scope.bound:
            return tuple(Const(v, INT, span=scope.span(node)) for v in table.values)
    return (ex.scalar(scope, node),)


def element_type(scope: Scope, node: cst.BaseExpression | None, fallback: ScalarType) -> tuple[ScalarType, str]:
    """(element type, array whose type it is) of a dtype argument."""
    if node is None:
        return fallback, ""
    if isinstance(node, cst.Attribute) and node.attr.value == "dtype":
        view = ex.access(scope, node.value)
        if view is not None:
            return NUMBER, view.array
    found = of_dtype(node, scope.imports.qualified)
    if isinstance(found, ScalarType):
        return found, ""
    raise scope.refuse(node, "this element type is not known", "use a type of numpy or numba", "KR104")


def made(scope: Scope, name: str, shape: tuple[Expr, ...], node: cst.CSTNode) -> tuple[Expr, ...]:
    """Record the new array; its extents keep the values that they have now."""
    if (scope.times_made(name) > 1 and name not in scope.remade) or name in scope.params:
        raise scope.refuse(node, f"{name} is bound more than once, a new array among them", "use another name", "KR299")
    shape = tuple(scope.frozen(s, f"{name}_extent", node) for s in shape)
    scope.views[name] = View(name, (None,) * len(shape))
    scope.ranks[name] = len(shape)
    scope.shapes[name] = shape
    return shape


def _declared(scope: Scope, name: str, call: cst.Call, node: cst.CSTNode, space: str) -> list[Stmt]:
    """``cuda.shared.array(shape, dtype)``; a shape of 0 is the launch's dynamic shared memory."""
    shape = _shape(scope, _argument(call, 0, "shape"), call)
    shape = tuple(scope.known.get(s.name, s) if isinstance(s, Var) else s for s in shape)
    element, like = element_type(scope, _argument(call, 1, "dtype", "type"), NUMBER)
    span = scope.span(node)
    if space == "shared" and len(shape) == 1 and isinstance(shape[0], Const) and shape[0].value == 0:
        made(scope, name, shape, node)
        del scope.shapes[name]
        return [LocalArray(name, element, (), space, like=like, dynamic=True, span=span)]
    if not all(isinstance(s, Const) and isinstance(s.value, int) for s in shape):
        folded = tuple(_folded(s) for s in shape)
        if any(f is None for f in folded):
            raise scope.refuse(
                call, f"the shape of a {space} array must be constant", "use constants of the module", "KR104"
            )
    return [LocalArray(name, element, made(scope, name, shape, node), space, like=like, span=span)]


def _folded(expr: Expr) -> int | None:
    """The value of a constant integer expression, None if it is not one."""
    match expr:
        case Const(value=int() as value):
            return value
        case ex.Op(name="add" | "sub" | "mul" | "floordiv" as name, args=(left, right)):
            a, b = _folded(left), _folded(right)
            if a is None or b is None or (name == "floordiv" and b == 0):
                return None
            return {"add": a + b, "sub": a - b, "mul": a * b, "floordiv": a // b if b else 0}[name]
    return None


def _numpy(scope: Scope, name: str, call: cst.Call, node: cst.CSTNode, concept: str) -> list[Stmt]:
    """``np.zeros(shape, dtype)`` and relatives."""
    kind = concept.rpartition(".")[2]
    span = scope.span(node)
    full = kind in ("full", "list")
    filled = _argument(call, 1, "fill_value") if full else None
    dtype = _argument(call, 2 if full else 1, "dtype")
    if concept.startswith("alloc_like"):
        source = _argument(call, 0, "a", "prototype")
        view = ex.access(scope, source) if source is not None else None
        if view is None or view.rank == 0:
            raise scope.refuse(call, "only an array has a likeness", "", "KR104")
        shape = scope.extents(view, node)
        element, like = element_type(scope, dtype, NUMBER)
        like = like or (view.array if dtype is None else "")
    else:
        shape = _shape(scope, _argument(call, 0, "shape"), call)
        fallback = FLOAT
        if kind == "list":
            fallback = NUMBER  # of what is stored in it
        elif filled is not None and dtype is None:
            value = ex.scalar(scope, filled)
            fallback = value.type if isinstance(value, Const) else NUMBER
        element, like = element_type(scope, dtype, fallback)
    fill: Expr | None = None
    if filled is not None:
        fill = ex.scalar(scope, filled)
    elif kind in ("zeros", "ones"):
        number = int(kind == "ones")
        exact = {"bool": Const(bool(number), BOOL), "int": Const(number, INT), "uint": Const(number, INT)}
        inexact = Const(float(number), FLOAT) if element != COMPLEX else Const(complex(number), COMPLEX)
        fill = Const(number, INT, span=span) if element == NUMBER else exact.get(element.kind, inexact)
    shape = made(scope, name, shape, node)
    if fill is None or isinstance(fill, Const) or not scope.loop_vars:
        return [LocalArray(name, element, shape, "heap", fill, (), like, span=span)]
    # each round's own number
    array = LocalArray(name, element, shape, "heap", None, (), like, span=span)
    return [array, *fill_view(scope, scope.views[name], fill, node)]


def _array(scope: Scope, name: str, call: cst.Call, node: cst.CSTNode) -> list[Stmt]:
    """``np.array([0.0, x])``: its element type must be plain to see."""
    rows, dtype = _argument(call, 0, "object"), _argument(call, 1, "dtype")
    if not isinstance(rows, cst.List):
        raise scope.refuse(call, "np.array of something that is no list is not accepted in a kernel", "use .copy()")
    element, like = element_type(scope, dtype, NUMBER)
    if dtype is None:
        lines = [e.value for e in rows.elements]
        numbers = [e.value for r in lines for e in (r.elements if isinstance(r, cst.List) else [cst.Element(r)])]
        if not all(map(_is_number, numbers)) or not any(_is_number(n, cst.Float) for n in numbers):
            raise scope.refuse(call, "the element type of this array is not known", "give it a dtype", "KR104")
        element = FLOAT
    return _literal(scope, name, rows, node, element, like)


def _is_number(node: cst.BaseExpression, kind: type = cst.BaseNumber) -> bool:
    """Whether it is a number that is written out, with a sign or without."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus | cst.Plus):
        node = node.expression
    return isinstance(node, kind) and not isinstance(node, cst.Imaginary)


def _literal(
    scope: Scope, name: str, value: cst.List, node: cst.CSTNode, element: ScalarType = NUMBER, like: str = ""
) -> list[Stmt]:
    """``acc = [0.0, 0.0]``: a local array with its values, ``[[1, 2], [3, 4]]`` of two axes."""
    rows = [e.value for e in value.elements]
    lines = [r.elements for r in rows if isinstance(r, cst.List)]
    flat = [e.value for line in lines for e in line] if lines else rows
    ragged = lines and (len(lines) < len(rows) or len(set(map(len, lines))) > 1)
    if not flat or ragged or any(isinstance(r, cst.List | cst.Tuple) for r in flat):
        if not rows:
            reason = f"{name} is a list that grows, and no single loop over a range appends to it once in each round"
            hint = f"make an array as long as it may become: {name}[k] = …; k += 1"
            raise scope.refuse(node, reason, hint)
        raise scope.refuse(node, "this list of lists is not accepted in a kernel", "use an array")
    span = scope.span(node)
    values = [ex.scalar(scope, r) for r in flat]
    width = len(flat) // len(rows)
    extents = [len(rows), width] if lines else [len(rows)]
    shape = made(scope, name, tuple(Const(n, INT, span=span) for n in extents), node)
    numbers = [v.value for v in values if isinstance(v, Const) and type(v.value) in (int, float)]
    if len(numbers) == len(values) and _only_read(scope, name):
        if element == NUMBER and not like:
            element = FLOAT if any(isinstance(n, float) for n in numbers) else INT
        return [LocalArray(name, element, shape, "local", None, tuple(values), like, span=span)]
    found: list[Stmt] = [LocalArray(name, element, shape, "local", like=like, span=span)]
    for k, v in enumerate(values):
        place = divmod(k, width) if lines else (k,)
        found.append(Store(name, tuple(Const(p, INT, span=span) for p in place), v, span=span))
    return found


_READING = frozenset(("sum", "min", "max", "mean", "prod", "copy", "astype", "dot", "argmin", "argmax"))


def _only_read(scope: Scope, name: str) -> bool:
    """Whether the elements of a local array stay what they are: nothing stores to it, has it by another name or may
    change it."""
    for node in walk(scope.definition.node.body):
        match node:
            case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.AnnAssign(target=target):
                if _part(target, name) or (isinstance(node, cst.AugAssign) and dotted(target) == name):
                    return False
            case cst.Call(func=cst.Attribute(value=cst.Name(value=owner), attr=how)) if owner == name:
                if how.value not in _READING:
                    return False
            case cst.Call(func=func, args=args) if any(dotted(a.value) == name or _slices(a.value, name) for a in args):
                if not scope.imports.qualified(dotted(func)).startswith(("numpy.", "math.", "builtins.")):
                    return False
        value = node.value if isinstance(node, cst.Assign | cst.AnnAssign | cst.NamedExpr | cst.Return) else None
        if value is not None and (dotted(value) == name or _slices(value, name)):
            return False
    return True


def _part(value: cst.BaseExpression, name: str) -> bool:
    """Whether it is an element or a part of an array, in brackets."""
    return isinstance(value, cst.Subscript) and subscripted(value) == name


def _slices(value: cst.BaseExpression, name: str) -> bool:
    """Whether it is a part of an array that may be one itself: a slice, or a row."""
    rank = len(value.slice) if isinstance(value, cst.Subscript) else 0
    return _part(value, name) and (rank < 2 or any(isinstance(e.slice, cst.Slice) for e in value.slice))  # type: ignore[attr-defined]


def _const(scope: Scope, name: str, call: cst.Call, node: cst.CSTNode) -> list[Stmt]:
    """``cuda.const.array_like(TABLE)`` is the table."""
    (argument,) = calls.positional(scope, call, 1, 1)
    view = ex.access(scope, argument)
    if view is None or view.rank == 0:
        raise scope.refuse(
            call,
            f"{dotted(argument) or 'this'} is no table of the module",
            "assign it once, a list or np.array of numbers",
            "KR102",
        )
    scope.views[name] = view
    return []


def copied(scope: Scope, name: str, view: View, node: cst.CSTNode) -> list[Stmt]:
    """A new array with the elements of another, copied by loops."""
    span = scope.span(node)
    shape = made(scope, name, scope.extents(view, node), node)
    copy = LocalArray(name, NUMBER, shape, "heap", None, (), view.array, span=span)
    indices = elementwise.fresh_indices(scope, len(shape))
    places: tuple[Expr, ...] = tuple(Var(i, INT, span=span) for i in indices)
    body: Stmt = Store(name, places, ex.load(scope, view.at(places), node), span=span)
    return [copy, elementwise.nest(indices, shape, (body,), span)]


def fill(
    scope: Scope, target: cst.BaseExpression, value: cst.BaseExpression, node: cst.CSTNode, name: str = ""
) -> list[Stmt] | None:
    """``a[:] = s`` or ``a[i] += e`` for a scalar or an array expression; None if the target is a single cell."""
    if not isinstance(target, cst.Subscript):
        return None
    if (masked := masks.store(scope, target, value, node, name)) is not None:
        return masked
    if not subscripts.free_axes(scope, target):
        return None
    if (stepped := steps.store(scope, target, value, node, name)) is not None:
        return stepped
    view = ex.access(scope, target)
    if view is None or view.rank == 0:
        return None
    if elementwise.operand(scope, value) is not None:
        return elementwise.store(scope, view, value, node, name)
    return fill_view(scope, view, ex.scalar(scope, value), node, name)


def fill_view(scope: Scope, view: View, value: Expr, node: cst.CSTNode, name: str = "") -> list[Stmt]:
    """One scalar into every element of a view."""
    span = scope.span(node)
    indices = elementwise.fresh_indices(scope, view.rank)
    at = view.at(tuple(Var(i, INT, span=span) for i in indices))
    held = value
    scope.numbers += [(n, (*indices,)) for n in sorted(ex.values(value))]
    if view.array in ex.variables(value)[1]:
        held = scope.frozen(value, "value", node)
    stored = ex.op(name, ex.load(scope, at, node), held, span=span) if name else held
    body = Store(view.array, at.subscripts, stored, span=span)  # type: ignore[arg-type]
    return [elementwise.nest(indices, scope.extents(view, node), (body,), span)]
