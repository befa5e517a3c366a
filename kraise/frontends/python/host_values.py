"""Expressions of a Python host function: scalars, whole arrays, library calls."""

from __future__ import annotations

import libcst as cst

from kraise import dialects
from kraise.diagnostics import Refused
from kraise.frontends.host_rows import library
from kraise.frontends.python import host_library, host_numpy
from kraise.frontends.python.annotations import scalar_type
from kraise.frontends.python.expressions import BINARY, COMPARISON, LOGICAL
from kraise.frontends.python.host_rounds import listed
from kraise.frontends.python.host_rounds import truth as truth_of
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.source import dotted
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import BOOL, COMPLEX, FLOAT, INT, NUMBER, ScalarType

_VIEWS = frozenset(
    (
        "item",
        "transpose",
        "ravel",
        "reshaped",
        "flip",
        "flipud",
        "fliplr",
        "diag",
        "diag_at",
        "real",
        "imag",
        "squeeze",
        "swapped",
        "moved_axis",
        "expanded",
        "broadcast",
    )
)


def value(scope: HostScope, node: cst.BaseExpression) -> h.Expr:
    """The value of an expression: a scalar, or an array as a whole. Refused: what is neither."""
    span = scope.span(node)
    match node:
        case cst.Integer():
            return k.Const(node.evaluated_value, INT, span=span)
        case cst.Float():
            return k.Const(node.evaluated_value, FLOAT, span=span)
        case cst.Imaginary():
            return k.Const(node.evaluated_value, COMPLEX, span=span)
        case cst.Name(value="True" | "False" as word):
            return k.Const(word == "True", BOOL, span=span)
        case cst.Name(value=name):
            return _name(scope, node, name)
        case cst.BinaryOperation(left=left, operator=cst.MatrixMultiply(), right=right):
            return library("matmul", (value(scope, left), value(scope, right)), span)
        case cst.BinaryOperation(left=left, operator=symbol, right=right):
            name = BINARY.get(type(symbol).__name__, "")
            if not name:
                raise scope.refuse(node, f"the operator {type(symbol).__name__} is not known in a host function")
            return _op(name, value(scope, left), value(scope, right), span=span)
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() | cst.Float() as inner):
            found = value(scope, inner)
            assert isinstance(found, k.Const)
            return k.Const(-found.value, found.type, span=span)
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            return _op("neg", value(scope, inner), span=span)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _op("not", value(scope, inner), span=span)
        case cst.UnaryOperation(operator=cst.Plus(), expression=inner):
            return value(scope, inner)
        case cst.BooleanOperation(left=left, operator=word, right=right):
            name = "and" if isinstance(word, cst.And) else "or"
            return _op(name, value(scope, left), value(scope, right), span=span)
        case cst.Comparison(left=left, comparisons=parts):
            return _comparison(scope, node, left, parts)
        case cst.IfExp(test=test, body=body, orelse=orelse) if (chosen := truth_of(test)) is not None:
            return value(scope, body if chosen else orelse)
        case cst.IfExp(test=test, body=body, orelse=orelse):
            return _op("select", value(scope, test), value(scope, body), value(scope, orelse), span=span)
        case cst.Attribute():
            return _attribute(scope, node)
        case cst.Subscript():
            return _subscript(scope, node)
        case cst.Call():
            return call(scope, node)
    raise scope.refuse(node, f"`{scope.text(node)}` is not known in a host function")


def truth(scope: HostScope, node: cst.BaseExpression) -> h.Expr:
    """The value of a loop's condition: a number is compared with 0, since ``jax.lax.while_loop`` takes no numbers."""
    match node:
        case cst.BooleanOperation(left=left, operator=word, right=right):
            name = "and" if isinstance(word, cst.And) else "or"
            return _op(name, truth(scope, left), truth(scope, right), span=scope.span(node))
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _op("not", truth(scope, inner), span=scope.span(node))
    found = value(scope, node)
    logical = isinstance(found, k.Op | k.Const | k.Cast) and found.type == BOOL
    return found if logical else _op("ne", found, k.Const(0, INT), span=scope.span(node))


def is_view(e: h.Expr) -> bool:
    """Does NumPy give memory of an array for this, no new memory?"""
    return isinstance(e, h.Whole | k.Load) or (isinstance(e, h.Library) and e.name in _VIEWS)


def _op(name: str, *args: h.Expr, span=None) -> h.Expr:
    return k.Op(name, args, BOOL if name in LOGICAL else NUMBER, span=span)  # type: ignore[arg-type]


def scalar(scope: HostScope, node: cst.BaseExpression) -> k.Expr:
    """The value of a scalar expression."""
    if scope.is_array(node):
        raise scope.refuse(node, f"`{scope.text(node)}` is an array where a number is needed")
    return value(scope, node)  # type: ignore[return-value]


def _name(scope: HostScope, node: cst.BaseExpression, name: str) -> h.Expr:
    span = scope.span(node)
    if name in scope.bindings:
        return scope.bindings[name]
    if name in scope.arrays:
        return h.Whole(name, span=span)
    if name in scope.scalars or name in scope.ignored:
        return k.Var(name, NUMBER, span=span)
    if name in scope.constants and scope.constants[name].shape == ():
        constant = scope.constants[name]
        return k.Const(constant.values[0], constant.type, name, span=span)
    if name in scope.tuples:
        raise scope.refuse(node, f"the tuple {name} is used as a number")
    if name in scope.lost:  # why it is not known has been said
        raise Refused()
    raise scope.refuse(node, f"{name} is not known in this function", code="KR102")


def _comparison(scope: HostScope, node: cst.Comparison, left: cst.BaseExpression, parts) -> h.Expr:
    found: h.Expr | None = None
    before = value(scope, left)
    for part in parts:
        name = COMPARISON.get(type(part.operator).__name__, "")
        if not name:
            raise scope.refuse(node, f"`{scope.text(node)}` compares objects, not numbers")
        after = value(scope, part.comparator)
        test = _op(name, before, after, span=scope.span(node))
        found = test if found is None else _op("and", found, test, span=scope.span(node))
        before = after
    assert found is not None
    return found


def _attribute(scope: HostScope, node: cst.Attribute) -> h.Expr:
    name = dotted(node)
    span = scope.span(node)
    if name in scope.arrays:
        return h.Whole(name, span=span)
    if name in scope.scalars:
        return k.Var(name, NUMBER, span=span)
    if scope.is_array(node.value):
        if node.attr.value == "T":
            return library("transpose", (value(scope, node.value),), span)
        if node.attr.value in ("size", "real", "imag"):
            row, array = node.attr.value, True if node.attr.value != "size" else None
            return library(row, (value(scope, node.value),), span, array=array)
    qualified = scope.imports.qualified(name)
    known = dialects.constants("numpy_scalar").get(qualified.replace("cupy.", "numpy.", 1))
    if known is not None:
        return k.Const(known, FLOAT, span=span)
    raise scope.refuse(node, f"`{scope.text(node)}` is not known in a host function")


def elements(scope: HostScope, node: cst.BaseExpression) -> tuple[h.Expr, ...] | None:
    """The elements of a tuple expression, None if it is none."""
    match node:
        case cst.Tuple(elements=given) | cst.List(elements=given):
            return tuple(value(scope, p.value) for p in given)
        case cst.Name(value=name) if name in scope.tuples:
            return scope.tuples[name]
        case cst.Name(value=name) if name not in scope.arrays | scope.scalars and name in scope.constants:
            parts = listed(scope, name)
            return None if parts is None else tuple(value(scope, p) for p in parts)
        case cst.Attribute(value=inner, attr=cst.Name(value="shape")) if dotted(inner) in scope.arrays:
            return None
        case cst.Call(func=cst.Name(value="tuple"), args=[cst.Arg(value=inner)]):
            return elements(scope, inner)
    return None


def _subscript(scope: HostScope, node: cst.Subscript) -> h.Expr:
    span = scope.span(node)
    match node.value:
        case cst.Attribute(value=inner, attr=cst.Name(value="shape")) if dotted(inner) in scope.arrays:
            axis = _index(scope, node)
            if isinstance(axis, k.Const):
                return k.Shape(dotted(inner), int(axis.value.real), span=span)
        case cst.Call(func=func) if scope.qualified(func) == "array.copy_to_host" and not scope.is_array(node):
            assert isinstance(func, cst.Attribute)
            return k.Load(dotted(func.value), _subscripts(scope, node), NUMBER, span=span)
    if isinstance(node.value, cst.Call) and (row := scope.one_of_several(node)):
        return host_library.called(scope, node.value, row, lambda n: value(scope, n))
    parts = elements(scope, node.value)
    if parts is not None:
        axis = _index(scope, node)
        if isinstance(axis, k.Const) and -len(parts) <= int(axis.value.real) < len(parts):
            return parts[int(axis.value.real)]
    name = dotted(node.value)
    if scope.is_array(node.value) and any(map(scope.gathers, node.slice)):
        return _gathered(scope, node)
    if name in scope.arrays and not any(map(scope.cuts, node.slice)):
        return k.Load(name, _subscripts(scope, node), NUMBER, span=span)
    whole = part(scope, node)
    if whole is not None:
        return whole
    if scope.is_array(node):
        found = host_numpy.taken(value(scope, node.value), list(node.slice), lambda n: scalar(scope, n), span)
        if found is not None:
            return found
    if scope.make is not None and scope.is_array(node.value) and not any(map(scope.cuts, node.slice)):
        own = scope.fresh("whole")  # (2 * x + y)[3]
        scope.arrays.add(own)
        scope.pending += scope.make(own, node.value, node)
        return k.Load(own, _subscripts(scope, node), NUMBER, span=span)
    raise scope.refuse(node, f"`{scope.text(node)}` is not known in a host function", "copy the part to a new array")


def _gathered(scope: HostScope, node: cst.Subscript) -> h.Expr:
    """``x[order]``: the elements at places that an array says. A choice by a condition has no size that is known."""
    span, items = scope.span(node), [i.slice.value for i in node.slice if isinstance(i.slice, cst.Index)]
    if any(isinstance(n, cst.Comparison | cst.BooleanOperation | cst.UnaryOperation) for n in items):
        raise scope.refuse(
            node, f"how many elements `{scope.text(node)}` has depends on data",
            "jax.numpy's shapes are static: write np.where(condition, value, neutral)", "KR213",
        )  # fmt: skip
    if len(items) < len(node.slice) or len(items) > 3:
        raise scope.refuse(
            node, f"`{scope.text(node)}` is not known in a host function", "copy the part to a new array"
        )
    places = ", ".join(f"{{{n + 1}}}" for n in range(len(items)))
    args = (value(scope, node.value), *(value(scope, i) for i in items))
    return h.Library("gathered", args, NUMBER, True, f"{{0}}[{places}]", f"d{{0}}[{places}]", span=span)


def part(scope: HostScope, node: cst.BaseExpression) -> h.Whole | None:
    """``x[a:b]`` of an array: elements along its first axis; None for anything else."""
    if not isinstance(node, cst.Subscript) or dotted(node.value) not in scope.arrays or len(node.slice) != 1:
        return None
    piece = node.slice[0].slice
    if not isinstance(piece, cst.Slice) or piece.step is not None:
        return None
    low = scalar(scope, piece.lower) if piece.lower is not None else None
    high = scalar(scope, piece.upper) if piece.upper is not None else None
    for bound in (low, high):
        if isinstance(bound, k.Const) and bound.value.real < 0:
            return None
    count: k.Expr | None = high if low is None or high is None else k.Op("sub", (high, low), INT)
    if low is not None and isinstance(high, k.Op) and high.name == "add" and high.args[0] == low:  # x[s : s + n]
        count = high.args[1]
    if isinstance(low, k.Const) and isinstance(high, k.Const) and high.value.real >= low.value.real:
        count = k.Const(high.value.real - low.value.real, INT)
    whole = any(scope.slides(node, var, size) for var, size in scope.sliding.items())
    clamps = count is not None and not whole
    return h.Whole(dotted(node.value), low, count, clamps, span=scope.span(node))


def _subscripts(scope: HostScope, node: cst.Subscript) -> tuple[k.Expr, ...]:
    found: list[k.Expr] = []
    for item in node.slice:
        if not isinstance(item.slice, cst.Index):
            raise scope.refuse(node, "a slice is not accepted here")
        if isinstance(item.slice.value, cst.List):
            raise scope.refuse(node, f"`{scope.text(node)}`: a list of places is not known", "np.take, or one by one")
        inner = elements(scope, item.slice.value)
        found += (
            [x for x in inner if not isinstance(x, h.Whole | h.Library | h.Record | h.Structs)]
            if inner is not None
            else []
        )
        found += [scalar(scope, item.slice.value)] if inner is None else []
    return tuple(found)


def _index(scope: HostScope, node: cst.Subscript) -> h.Expr | None:
    first = node.slice[0].slice
    return value(scope, first.value) if len(node.slice) == 1 and isinstance(first, cst.Index) else None


def call(scope: HostScope, node: cst.Call) -> h.Expr:
    """A call inside an expression."""
    span = scope.span(node)
    name = scope.qualified(node.func)
    args = [a.value for a in node.args]
    operation = dialects.operations("python").get(name)
    if name == "builtins.len" and len(args) == 1 and dotted(args[0]) in scope.arrays:
        return k.Shape(dotted(args[0]), 0, span=span)
    if name in ("builtins.max", "builtins.min") and len(args) >= 2:
        found = value(scope, args[0])
        for a in args[1:]:
            found = _op(name.rpartition(".")[2], found, value(scope, a), span=span)
        return found
    if name == "builtins.round" and len(args) == 1:
        return k.Cast(INT, _op("round", scalar(scope, args[0]), span=span), span=span)  # type: ignore[arg-type]
    concept = dialects.table("host_library")["python"].get(name, "")
    if dotted(node.func) in scope.hosts or concept.removesuffix("_like") in ("empty", "zeros", "ones", "full"):
        return _before(scope, node)
    typed = any(a.keyword is not None and a.keyword.value == "dtype" for a in node.args)
    listed = bool(args) and isinstance(args[0], cst.List)
    if concept == "convert" or (concept in ("clone", "alias") and (typed or listed)):
        return _before(scope, node)  # elements of another type
    if concept in ("clone", "alias", "fetch") and (name.startswith("array.") or args):
        return value(scope, node.func.value if isinstance(node.func, cst.Attribute) and not args else args[0])
    kind = scalar_type(name) if name else None
    if kind is not None and len(args) == 1:
        return _cast(scope, kind, args[0], span)
    if isinstance(node.func, cst.Attribute) and node.func.attr.value in ("item", "get", "copy") and not args:
        if not scope.is_array(node.func.value):
            return value(scope, node.func.value)
        if node.func.attr.value == "item":
            return k.Load(dotted(node.func.value), (k.Const(0, INT),), NUMBER, span=span)
    if name == "array.reshape" and node.args:
        return _reshaped(scope, node)
    if (contracted := host_numpy.contraction(name, node, lambda n: value(scope, n), span)) is not None:
        return contracted
    if (joined := host_numpy.joined(name, node, lambda n: value(scope, n), span)) is not None:
        return joined
    row = dialects.host_rows("python").get(name)
    if row is not None and not (operation is not None and not any(scope.is_array(a) for a in args)):
        return host_library.called(scope, node, row, lambda n: value(scope, n))
    if operation is not None and operation.operation == "log" and len(args) == 2 and name == "math.log":
        return _op("div", *(_op("log", value(scope, a), span=span) for a in args), span=span)
    row_of = OPERATIONS.get(operation.operation) if operation is not None else None
    if row_of is not None and len(args) != row_of.arity:
        raise scope.refuse(node, f"{scope.text(node.func)} is known with other operands only", code="KR213")
    if operation is not None:
        return _op(operation.operation, *(value(scope, a) for a in args), span=span)
    raise host_library.unknown(scope, node)


def _reshaped(scope: HostScope, node: cst.Call) -> h.Expr:
    """``u.reshape(-1)``, ``u.reshape(n, m)``, ``u.reshape((n, m))``: a view."""
    assert isinstance(node.func, cst.Attribute)
    whole, span = value(scope, node.func.value), scope.span(node)
    if any(a.keyword is not None or a.star for a in node.args):
        raise scope.refuse(
            node, f"`{scope.text(node)}`: keywords of reshape are not known", "give the extents only", "KR213"
        )
    given = [a.value for a in node.args]
    match given:
        case [cst.Attribute(value=like, attr=cst.Name(value="shape"))] if scope.is_array(like):
            text = "{0}.reshape({1}.shape)"
            return h.Library("reshaped", (whole, value(scope, like)), NUMBER, True, text, f"d{text}", span=span)
    extents = list(elements(scope, given[0]) or ()) if len(given) == 1 else []
    extents = extents or [scalar(scope, g) for g in given]
    if extents == [k.Const(-1, INT)]:
        return library("ravel", (whole,), span)
    if len(extents) > 4:
        raise scope.refuse(node, "an array of more than four axes is not known in a host function", code="KR213")
    places = ", ".join(f"{{{n + 1}}}" for n in range(len(extents)))
    text = f"{{0}}.reshape({places})"
    shapes = tuple(range(1, len(extents) + 1))
    return h.Library("reshaped", (whole, *extents), NUMBER, True, text, f"d{text}", shapes=shapes, span=span)


def _before(scope: HostScope, node: cst.Call) -> h.Expr:
    """A call inside an expression that stands before it: new memory, or another host function with one result."""
    assert scope.make is not None and scope.call is not None
    called, span = dotted(node.func) or "made", scope.span(node)
    kinds = scope.hosts.get(called, (True,))
    if len(kinds) != 1:
        raise scope.refuse(node, f"{called} gives {len(kinds)} values", "give them names first")
    own = scope.fresh(f"{called.rpartition('.')[2]}_value")
    if not kinds[0]:
        scope.scalars.add(own)
        scope.pending.append(h.CallHost(called, scope.call(node), (own,), (False,), span=span))
        return k.Var(own, NUMBER, span=span)
    scope.arrays.add(own)
    scope.pending += scope.make(own, node, node)
    return h.Whole(own, span=span)


def _cast(scope: HostScope, kind: ScalarType, node: cst.BaseExpression, span) -> h.Expr:
    found = value(scope, node)
    if kind == INT or kind.is_integer:
        return k.Cast(kind, found, span=span)  # type: ignore[arg-type]
    if kind in (FLOAT, BOOL):
        return found if kind == FLOAT else _op("ne", found, k.Const(0, INT), span=span)
    return k.Cast(kind, found, span=span)  # type: ignore[arg-type]
