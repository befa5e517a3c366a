"""Calls: operations, casts, the vocabulary of numba.cuda, helper functions, local lambdas."""

from __future__ import annotations

import libcst as cst

from kraise import dialects
from kraise.frontends.python import elementwise, folds, helpers, rolled, subscripts
from kraise.frontends.python import expressions as ex
from kraise.frontends.python.annotations import scalar_type
from kraise.frontends.python.device import DEVICE
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.source import complex_part, dotted
from kraise.frontends.python.views import View
from kraise.ir.block_votes import vote
from kraise.ir.kernel import Atomic, Cast, Const, Expr, Hw, Op, Var, Warp
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import BOOL, BY_NAME, COMPLEX, FLOAT, INT, NUMBER, UINT32, ScalarType

INEXACT = ScalarType("inexact")  # a cast to it makes an int a float and leaves the rest; infer.py resolves it


def concept_of(scope: Scope, node: cst.Call) -> tuple[str, str]:
    """(qualified name, concept) of what is called; "" where the module does not say."""
    name = dotted(node.func)
    if not name or name.partition(".")[0] in scope.bound or name.partition(".")[0] in scope.params:
        return "", ""
    qualified = scope.imports.qualified(name)
    type_ = scalar_type(qualified) if "." in qualified and not qualified.startswith("builtins.") else None
    if type_ is not None:  # numba.cuda.float32, numba.types.float32, numba.core.types.float32, cupy.float32
        return qualified, f"type.{type_}"
    return qualified, dialects.vocabulary("numpy_scalar", "numba_cuda").get(qualified, "")


def positional(scope: Scope, node: cst.Call, least: int, most: int) -> list[cst.BaseExpression]:
    """The arguments of a call that takes no keywords."""
    if any(a.keyword is not None or a.star for a in node.args):
        raise scope.refuse(node, "keyword and starred arguments are not accepted in this call")
    whole = node.args[0].value if least == 2 < most and len(node.args) == 1 else None
    parts = whole.elements if isinstance(whole, cst.Tuple | cst.List) else ()
    if len(parts) > 1 and not any(isinstance(e, cst.StarredElement) for e in parts):
        return [e.value for e in parts]  # min((a, b))
    if not least <= len(node.args) <= most:
        raise scope.refuse(node, f"this call takes {least} to {most} arguments, not {len(node.args)}", "", "KR104")
    return [a.value for a in node.args]


def value(scope: Scope, node: cst.Call) -> Expr:
    """A call as a scalar."""
    span = scope.span(node)
    name = dotted(node.func)
    if id(node) in scope.within and scope.element is not None:
        return subscripts.element(scope, scope.within[id(node)], node)
    if isinstance(node.func, cst.Lambda):
        return inline(scope, node, node.func)
    if name in scope.lambdas:
        return inline(scope, node, scope.lambdas[name])
    if name in scope.functions and name not in scope.bound and name not in scope.params:
        return helpers.scalar_call(scope, node, name)
    qualified, concept = concept_of(scope, node)
    spelling = dialects.operations("python").get(qualified)
    if spelling is not None:
        return operation(scope, node, spelling)
    if concept.startswith("type."):
        (argument,) = positional(scope, node, 1, 1)
        return Cast(BY_NAME[concept.removeprefix("type.")], ex.scalar(scope, argument), span=span)
    if concept.startswith("atomic."):
        result = scope.fresh("old")
        scope.bound[result] = 1
        scope.hoist(node, atomic(scope, node, concept, result))
        return Var(result, NUMBER, span=span)
    if concept.startswith("block."):
        return block_vote(scope, node, concept.removeprefix("block."))
    if concept.startswith("warp."):
        return warp(scope, node, concept.removeprefix("warp."))
    if concept.startswith("device."):
        count, made = DEVICE[concept.removeprefix("device.")]
        return made(*(ex.scalar(scope, a) for a in positional(scope, node, count, count)), span)
    if concept.startswith("fold."):
        return folds.fold(scope, node, concept.removeprefix("fold."))
    if concept in ("global_index", "global_extent"):
        found = several(scope, node)
        if found is not None and len(found) == 1:
            return found[0]
        raise scope.refuse(
            node, f"{name}() of more than one axis is a tuple", "unpack it: i, j = cuda.grid(2)", "KR104"
        )
    reduced = elementwise.reduction(scope, node)
    if reduced is not None:
        return reduced
    if concept in _SPECIAL:
        return _SPECIAL[concept](scope, node)
    if isinstance(node.func, cst.Attribute) and not qualified:
        return method(scope, node, node.func)
    raise unknown(scope, node, qualified or name)


def unknown(scope: Scope, node: cst.Call, name: str):
    """The refusal of a call that no table knows."""
    hint = dialects.refused_names("numba_cuda").get(name, "")
    if name in scope.functions:
        hint = "its own diagnostics say why"
    elif name in _HINTS:
        return scope.refuse(node, *_HINTS[name], "KR103")
    elif not hint:
        hint = "define it here or in a file that this one imports, or spell it with math, numpy or numba.cuda"
    shown = name.removeprefix("builtins.") or "this expression"
    return scope.refuse(node, f"the call of {shown} is not known", hint, "KR103")


_HINTS = {
    "builtins.print": (
        "print() is a side effect, which the raised module would lose",
        "remove the line, and print what the kernel returns (or use jax.debug.print in the raised module)",
    ),
    "numpy.random.random": ("a function of random numbers has no array form", "pass the numbers as an array"),
}


def operation(scope: Scope, node: cst.Call, spelling: dialects.Spelling) -> Expr:
    """A call that is one row of the table of operations; min and max take any number of operands."""
    span, name = scope.span(node), spelling.operation
    arity = OPERATIONS[name].arity
    many = name in ("min", "max", "hypot")
    if name in ("min", "max") and len(node.args) == 1:
        given = node.args[0].value
        view = None if isinstance(given, cst.GeneratorExp) else ex.access(scope, given)
        if isinstance(given, cst.GeneratorExp) or (view is not None and view.rank == 1):
            return folds.fold(scope, node, name)
    if name == "log" and len(node.args) == 2:  # math.log(x, base)
        x, base = (ex.scalar(scope, a) for a in positional(scope, node, 2, 2))
        return ex.op("div", ex.op("log", x, span=span), ex.op("log", base, span=span), span=span)
    arguments = [ex.scalar(scope, a) for a in positional(scope, node, arity, 64 if many else arity)]
    if name == "hypot" and len(arguments) > 2:
        squares = [ex.op("mul", a, a, span=span) for a in arguments]
        total = squares[0]
        for square_ in squares[1:]:
            total = ex.op("add", total, square_, span=span)
        return ex.op("sqrt", total, span=span)
    result: Expr = ex.op(name, *arguments[:arity], span=span)
    for argument in arguments[arity:]:
        result = ex.op(name, result, argument, span=span)
    if spelling.integer:
        return Cast(INT, result, span=span)
    if spelling.inexact:
        return Op(name, tuple(Cast(INEXACT, a, span=a.span) for a in arguments), NUMBER, span=span)
    return result


def several(scope: Scope, node: cst.Call) -> tuple[Expr, ...] | None:
    """The values of a call that gives a tuple; None if it gives a scalar."""
    span = scope.span(node)
    name = dotted(node.func)
    if name in scope.functions and name not in scope.bound:
        return helpers.tuple_call(scope, node, name)
    _, concept = concept_of(scope, node)
    if concept in ("global_index", "global_extent"):
        axes = [ex.scalar(scope, a) for a in positional(scope, node, 1, 1)]
        if not isinstance(axes[0], Const) or axes[0].value not in (1, 2, 3):
            raise scope.refuse(node, "the number of axes must be 1, 2 or 3, written out", "", "KR104")
        found: list[Expr] = []
        for axis in range(int(axes[0].value)):  # type: ignore[arg-type]
            block, extent = Hw("block", axis, INT, span=span), Hw("blockDim", axis, INT, span=span)
            if concept == "global_extent":
                found.append(ex.op("mul", extent, Hw("gridDim", axis, INT, span=span), span=span))
            else:
                start = ex.op("mul", block, extent, span=span)
                found.append(ex.op("add", start, Hw("thread", axis, INT, span=span), span=span))
        return tuple(found)
    if concept == "divmod":
        a, b = (ex.scalar(scope, x) for x in positional(scope, node, 2, 2))
        return ex.op("floordiv", a, b, span=span), ex.op("mod", a, b, span=span)
    if concept == "sincos":
        (x,) = (ex.scalar(scope, a) for a in positional(scope, node, 1, 1))
        return ex.op("sin", x, span=span), ex.op("cos", x, span=span)
    if concept == "frexp":
        (x,) = (ex.scalar(scope, a) for a in positional(scope, node, 1, 1))
        return ex.op("fraction", x, span=span), ex.op("exponent", x, span=span)
    if concept == "modf":
        (x,) = (ex.scalar(scope, a) for a in positional(scope, node, 1, 1))
        whole = ex.op("trunc", x, span=span)
        part = ex.op("sub", x, whole, span=span)  # of an infinity nothing is left
        return ex.op("select", ex.op("isinf", x, span=span), Const(0.0, FLOAT, span=span), part, span=span), whole
    return None


def inline(scope: Scope, node: cst.Call, function: cst.Lambda) -> Expr:
    """A call of a lambda: its body with the arguments in place of the parameters."""
    names = [p.name.value for p in function.params.params]
    if any(p.default is not None for p in function.params.params) or function.params.star_kwarg is not None:
        raise scope.refuse(node, "a lambda with default or starred parameters is not accepted")
    arguments = [ex.scalar(scope, a) for a in positional(scope, node, len(names), len(names))]
    before = scope.substitutions
    scope.substitutions = {**before, **dict(zip(names, arguments, strict=True))}
    try:
        return ex.scalar(scope, function.body)
    finally:
        scope.substitutions = before


def method(scope: Scope, node: cst.Call, func: cst.Attribute) -> Expr:
    """``z.conjugate()``, ``x[i].item()``, ``x[i].astype(T)``."""
    span, last = scope.span(node), func.attr.value
    if last in ("conjugate", "conj"):
        return ex.op("conj", ex.scalar(scope, func.value), span=span)
    if last == "item" and not node.args:
        return ex.scalar(scope, func.value)
    if last == "astype" and len(node.args) == 1:
        type_ = scalar_type(scope.imports.qualified(dotted(node.args[0].value)))
        if type_ is not None:
            return Cast(type_, ex.scalar(scope, func.value), span=span)
    view = ex.access(scope, func.value)
    if isinstance(view, View) and view.rank:
        raise scope.refuse(
            node, f".{last}() works on a whole array, and a kernel is scalar code", "write the loop", "KR103"
        )
    raise unknown(scope, node, dotted(func) or f".{last}()")


def atomic(scope: Scope, node: cst.Call, concept: str, result: str = "") -> Atomic:
    """``cuda.atomic.add(array, index, value)``; compare_and_swap works on element 0."""
    name = concept.removeprefix("atomic.")
    first = name == "cas_first"
    count = 3 if first else 4 if name == "cas" else 3
    arguments = positional(scope, node, count, count)
    array, part = complex_part(arguments[0]) if name in ("add", "sub") else (arguments[0], "")
    view = ex.access(scope, array)
    if view is None or view.rank == 0:
        raise scope.refuse(arguments[0], "the first argument of an atomic must be an array", "", "KR104")
    indices: tuple[Expr, ...]
    if first:
        indices, rest, name = (ex.integer(0, scope.span(node)),), arguments[1:], "cas"
    else:
        indices, rest = index_tuple(scope, arguments[1], view), arguments[2:]
    # no mask: 0 or 1
    at = view.at(tuple(Cast(INT, i, span=i.span) if ex.is_logical(i) else i for i in indices))
    if len(indices) > view.rank or at.rank:
        raise scope.refuse(arguments[1], f"{len(indices)} subscripts for {view.rank} axes of {view.array}", "", "KR104")
    values = tuple(ex.scalar(scope, a) for a in rest)
    if part == "imag":
        values = (ex.op("mul", Const(1j, COMPLEX, span=scope.span(node)), *values, span=scope.span(node)),)
    return Atomic(name, view.array, at.subscripts, values, NUMBER, result, span=scope.span(node))  # type: ignore[arg-type]


def index_tuple(scope: Scope, node: cst.BaseExpression, view: View) -> tuple[Expr, ...]:
    """The subscripts that an index argument stands for."""
    if isinstance(node, cst.Tuple):
        parts = [ex.scalar(scope, e.value) for e in node.elements]
    elif isinstance(node, cst.Name) and node.value in scope.tuples:
        parts = list(scope.tuples[node.value])
    else:
        parts = [ex.scalar(scope, node)]
    for k, part in enumerate(parts):
        if isinstance(part, Const) and isinstance(part.value, int) and part.value < 0 and k < view.rank:
            extent = scope.extents(view, node)[k]
            parts[k] = ex.op("sub", extent, ex.integer(-part.value, part.span), span=part.span)
    return tuple(parts)


def warp(scope: Scope, node: cst.Call, name: str) -> Expr:
    """Warp primitives; the mask of participating lanes must be all of them (a constant)."""
    span = scope.span(node)
    if name == "eq":
        raise scope.refuse(node, "eq_sync is not supported yet", "write it with ballot_sync", "KR299")
    if name == "activemask":
        return Warp(name, (), UINT32, span=span)
    count = 3 if name.startswith("shfl") else 2
    mask, *arguments = (ex.scalar(scope, a) for a in positional(scope, node, count, count))
    if not isinstance(mask, Const) or int(mask.value) & 0xFFFFFFFF != 0xFFFFFFFF:  # type: ignore[arg-type]
        raise scope.refuse(node, "the mask of a warp primitive must be 0xFFFFFFFF, written out", "", "KR299")
    type_ = BOOL if name in ("any", "all") else UINT32 if name == "ballot" else NUMBER
    return Warp(name, tuple(arguments), type_, span=span)


def block_vote(scope: Scope, node: cst.Call, kind: str) -> Expr:
    """``cuda.syncthreads_count(condition)``: blocks with threads along x only (others are found to race)."""
    (argument,) = positional(scope, node, 1, 1)
    says = ex.scalar(scope, argument)
    array, result = scope.fresh("$votes"), scope.fresh("count")
    scope.bound[result] = 1
    steps, answer = vote(kind, says, array, result, (0,), scope.span(node))
    scope.hoist(node, *steps)
    return answer


# --- calls with a shape of their own -----------------------------------------------------------


def _len(scope: Scope, node: cst.Call) -> Expr:
    (argument,) = positional(scope, node, 1, 1)
    view = ex.access(scope, argument)
    if view is not None and view.rank:
        return scope.extents(view, node)[0]
    extents = ex.shape_of(scope, argument)
    if extents is None and isinstance(argument, cst.Name):
        extents = scope.tuples.get(argument.value)
    if extents is not None:
        return ex.integer(len(extents), scope.span(node))
    raise scope.refuse(node, "len() of something that is no array", "", "KR104")


def _cast(type_: ScalarType):
    def made(scope: Scope, node: cst.Call) -> Expr:
        (argument,) = positional(scope, node, 1, 1)
        span = scope.span(node)
        if isinstance(argument, cst.SimpleString):  # float("inf")
            try:
                return Const(float(str(argument.evaluated_value)), FLOAT, span=span)
            except ValueError:
                raise scope.refuse(node, "strings have no array form") from None
        return Cast(type_, ex.scalar(scope, argument), span=span)

    return made


def _bool(scope: Scope, node: cst.Call) -> Expr:
    (argument,) = positional(scope, node, 1, 1)
    inner = ex.test(scope, argument)
    return inner if ex.is_logical(inner) else Cast(BOOL, inner, span=scope.span(node))


def _complex(scope: Scope, node: cst.Call) -> Expr:
    parts = [ex.scalar(scope, a) for a in positional(scope, node, 1, 2)]
    span = scope.span(node)
    return Cast(COMPLEX, parts[0], span=span) if len(parts) == 1 else ex.op("complex", *parts, span=span)


def _round(scope: Scope, node: cst.Call) -> Expr:
    if len(node.args) == 2:
        raise scope.refuse(
            node, "round() to decimals is not supported yet", "scale the number before and after", "KR299"
        )
    return Cast(INT, _round_float(scope, node), span=scope.span(node))


def _round_float(scope: Scope, node: cst.Call) -> Expr:
    (argument,) = positional(scope, node, 1, 1)
    return ex.op("round", ex.scalar(scope, argument), span=scope.span(node))


def _square(scope: Scope, node: cst.Call) -> Expr:
    (argument,) = positional(scope, node, 1, 1)
    x = ex.scalar(scope, argument)
    return ex.op("mul", x, x, span=scope.span(node))


def _reciprocal(scope: Scope, node: cst.Call) -> Expr:
    (argument,) = positional(scope, node, 1, 1)
    span = scope.span(node)
    return ex.op("div", Const(1.0, FLOAT, span=span), ex.scalar(scope, argument), span=span)


def _clip(scope: Scope, node: cst.Call) -> Expr:
    x, low, high = (ex.scalar(scope, a) for a in positional(scope, node, 3, 3))
    span = scope.span(node)
    return ex.op("min", ex.op("max", x, low, span=span), high, span=span)


def _select(scope: Scope, node: cst.Call) -> Expr:
    condition, *arms = positional(scope, node, 3, 3)
    return ex.op("select", ex.test(scope, condition), *(ex.scalar(scope, a) for a in arms), span=scope.span(node))


def _logical(name: str):
    def made(scope: Scope, node: cst.Call) -> Expr:
        count = OPERATIONS[name].arity
        operands = [ex.test(scope, a) for a in positional(scope, node, count, count)]
        return ex.op(name, *operands, span=scope.span(node))

    return made


def _logical_xor(scope: Scope, node: cst.Call) -> Expr:
    a, b = (ex.test(scope, x) for x in positional(scope, node, 2, 2))
    span = scope.span(node)
    return ex.op("ne", Cast(BOOL, a, span=span), Cast(BOOL, b, span=span), span=span)


_SPECIAL = {
    "len": _len,
    "int": _cast(INT),
    "float": _cast(FLOAT),
    "bool": _bool,
    "complex": _complex,
    "round": _round,
    "round.float": _round_float,
    "square": _square,
    "reciprocal": _reciprocal,
    "clip": _clip,
    "roll": rolled.element,
    "where": _select,
    "select": _select,
    "logical.and": _logical("and"),
    "logical.or": _logical("or"),
    "logical.not": _logical("not"),
    "logical.xor": _logical_xor,
}
