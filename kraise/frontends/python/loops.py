"""Loops: ``for`` over range, arrays, enumerate and zip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from kraise.diagnostics import Span
from kraise.frontends.python import aliases, assignments, calls, elements, statements
from kraise.frontends.python import expressions as ex
from kraise.frontends.python.scope import Scope, bindings
from kraise.frontends.python.source import all_of, walk
from kraise.frontends.python.views import View
from kraise.ir.kernel import Assign, Const, Expr, For, Stmt, Var
from kraise.ir.types import INT, NUMBER

Item = Expr | View | tuple


@dataclass(frozen=True)
class Iteration:
    """What is looped over: bounds of an index, and what one round sees for a value of the index."""

    start: Expr
    stop: Expr
    step: Expr
    item: Callable[[Expr], Item]
    parallel: bool = False
    is_range: bool = False


def iteration(scope: Scope, node: cst.BaseExpression) -> Iteration:
    """The iterated expression of a ``for``."""
    span = scope.span(node)
    zero, one = ex.integer(0, span), ex.integer(1, span)
    if isinstance(node, cst.Call):
        _, concept = calls.concept_of(scope, node)
        match concept:
            case "range" | "prange" | "ramp.arange":
                bounds = _bounds(scope, node)
                if any(isinstance(b, Const) and not isinstance(b.value, int) for b in bounds):
                    raise scope.refuse(node, "a loop over np.arange of floats is not supported", "use range", "KR299")
                start, stop, step = (zero, bounds[0], one) if len(bounds) == 1 else (*bounds, one)[:3]
                if isinstance(step, Const) and step.value == 0:
                    raise scope.refuse(node, "the step of a range must not be zero", "", "KR104")
                parallel = concept == "prange" and not _one_after_another(scope)
                return Iteration(start, stop, step, lambda i: i, parallel, True)
            case "enumerate":
                return _enumerate(scope, node)
            case "zip":
                inner = [_from_zero(scope, iteration(scope, a), node) for a in calls.positional(scope, node, 1, 16)]
                stop = inner[0].stop
                for other in inner[1:]:
                    stop = ex.op("min", stop, other.stop, span=span)
                return Iteration(zero, stop, one, lambda i: tuple(one_.item(i) for one_ in inner))
            case "reversed":
                (argument,) = calls.positional(scope, node, 1, 1)
                return _reversed(scope, iteration(scope, argument), node)
    if isinstance(node, cst.Tuple | cst.List):
        return _progression(scope, node)
    view = ex.access(scope, node)
    if view is not None and view.rank:
        return Iteration(zero, scope.extents(view, node)[0], one, lambda i: view.at((i,)))
    raise scope.refuse(node, "a loop must run over a range or an array", "use for i in range(n)", "KR101")


def _one_after_another(scope: Scope) -> bool:
    """Whether a decorator leaves prange a range, as numba does without ``parallel=True``."""
    given = [d.decorator for d in scope.definition.node.decorators]
    words = [a for d in given if isinstance(d, cst.Call) for a in d.args if a.keyword is not None]
    return bool(given) and not any(a.keyword.value == "parallel" for a in words if a.keyword is not None)


def _bounds(scope: Scope, node: cst.Call) -> list[Expr]:
    """The arguments of a range; ``range(*a.shape)`` of an array of one axis too."""
    if len(node.args) == 1 and node.args[0].star == "*":
        extents = ex.shape_of(scope, node.args[0].value)
        if extents is not None and len(extents) <= 3:
            return list(extents)
    return [ex.scalar(scope, a) for a in calls.positional(scope, node, 1, 3)]


def _every_index(scope: Scope, node: cst.For) -> list[Stmt] | None:
    """``for i, j in np.ndindex(…)`` and ``for (i, j), v in np.ndenumerate(a)`` are nested loops; None for others."""
    if not isinstance(node.iter, cst.Call):
        return None
    _, concept = calls.concept_of(scope, node.iter)
    if concept not in ("ndindex", "ndenumerate", "product"):
        return None
    span = scope.span(node)
    target: cst.BaseExpression = node.target
    value: cst.BaseExpression | None = None
    view: View | None = None
    if concept == "ndenumerate":
        (array,) = calls.positional(scope, node.iter, 1, 1)
        view = ex.access(scope, array)
        if view is None or not (isinstance(target, cst.Tuple) and len(target.elements) == 2):
            raise scope.refuse(node.target, "ndenumerate gives an index and a value", "for (i, j), v in …", "KR104")
        extents = scope.extents(view, node.iter)
        pair = target.elements
        target, value = pair[0].value, pair[1].value
    else:
        arguments = [a.value for a in node.iter.args]
        if any(a.keyword is not None for a in node.iter.args) or not arguments:
            raise scope.refuse(node.iter, "ndindex takes a shape", "", "KR104")
        if concept == "product":
            first = _from_zero_to(scope, arguments)
            if first is None:
                reason = "product() runs over anything but ranges from zero"
                raise scope.refuse(node.iter, reason, "nest loops over ranges", "KR101")
        else:
            first = assignments.tuple_value(scope, arguments[0]) if len(arguments) == 1 else None
        extents = first if first is not None else tuple(ex.scalar(scope, a) for a in arguments)
    parts = [e.value for e in target.elements] if isinstance(target, cst.Tuple) else [target]
    if len(parts) != len(extents) or not all(isinstance(p, cst.Name) for p in parts) or isinstance(target, cst.Name):
        reason = f"an index of {len(extents)} axes needs a name for each"
        raise scope.refuse(node.target, reason, "write for i, j in …", "KR104")
    if _leaves(node.body) or node.orelse is not None:
        reason = "a loop over all indices with break or else is not supported yet"
        raise scope.refuse(node, reason, "nest loops over ranges", "KR299")
    inside = bindings(node.body)
    names = [_every_name(scope, p.value, inside, p) for p in parts]  # type: ignore[attr-defined]
    before = list(scope.taken())
    aliases.enter_loop(scope, bindings(node))
    outer = dict(scope.views)
    scope.loop_vars.extend(names)
    body: list[Stmt] = []
    try:
        if value is not None and view is not None:
            _bind(scope, value, view.at(tuple(Var(n, INT, span=span) for n in names)), body)
            body = [*scope.taken(), *body]
        body.extend(statements.block(scope, node.body))
    finally:
        del scope.loop_vars[len(scope.loop_vars) - len(names) :]
    aliases.leave(scope, outer, in_loop=False)
    for name, extent in zip(reversed(names), reversed(extents), strict=True):
        body = [For(name, ex.integer(0, span), extent, ex.integer(1, span), tuple(body), False, INT, span=span)]
    return [*before, *body]


def _every_name(scope: Scope, name: str, inside, node: cst.CSTNode) -> str:
    if name == "_":
        name = scope.fresh_index()
        scope.bound[name] = 1
    if name in scope.loop_vars or inside[name] or name in scope.views:
        raise scope.refuse(
            node, f"{name} has another meaning here or is assigned in the loop", "use a new name", "KR299"
        )
    return name


def _leaves(body: cst.BaseSuite) -> bool:
    """Is there a break that leaves this loop, not one inside it?"""
    inner = (cst.For, cst.While, cst.FunctionDef)
    return any(isinstance(n, cst.Break) for n in walk(body, lambda n: not isinstance(n, inner)))


def _progression(scope: Scope, node: cst.Tuple | cst.List) -> Iteration:
    """``for d in (-1, 0, 1)``: integers at equal distances are a range, doubled ones shifts of the first."""
    values = [ex.scalar(scope, e.value) for e in node.elements]
    numbers = [v.value for v in values if isinstance(v, Const) and type(v.value) is int]
    shift = _doubling(numbers) if len(numbers) == len(values) else ""
    if shift:
        at = scope.span(node)
        first, one = ex.integer(numbers[0], at), ex.integer(1, at)
        rounds = ex.integer(len(numbers), at)
        return Iteration(ex.integer(0, at), rounds, one, lambda i: ex.op(shift, first, i, span=at), False)
    steps = {b - a for a, b in zip(numbers, numbers[1:], strict=False)} or {1}
    if len(numbers) != len(values) or not numbers or len(steps) != 1 or steps == {0}:
        raise scope.refuse(
            node, "a loop over these values is not supported yet", "put them into a table of the module", "KR299"
        )
    step, span = steps.pop(), scope.span(node)
    bounds = (numbers[0], numbers[-1] + (1 if step > 0 else -1), step)
    start, stop, by = (ex.integer(b, span) for b in bounds)
    return Iteration(start, stop, by, lambda i: i, False, True)


def _is_progression(values: list[Expr]) -> bool:
    """Whether integers are at equal distances, or doubled."""
    numbers = [v.value for v in values if isinstance(v, Const) and type(v.value) is int]
    steps = {b - a for a, b in zip(numbers, numbers[1:], strict=False)} or {1}
    return len(numbers) == len(values) and (bool(_doubling(numbers)) or (len(steps) == 1 and steps != {0}))


def _doubling(numbers: list[int]) -> str:
    """Which shift of the first number gives the others, by one more each; "" where none does."""
    pairs = list(zip(numbers, numbers[1:], strict=False))
    if len(numbers) < 3 or min(numbers) <= 0:
        return ""
    return "shr" if all(a == 2 * b for a, b in pairs) else "shl" if all(b == 2 * a for a, b in pairs) else ""


def _from_zero_to(scope: Scope, ranges: list[cst.BaseExpression]) -> tuple[Expr, ...] | None:
    """The ends of ranges from zero, whose numbers ``itertools.product`` pairs as nested loops would."""
    if not all(isinstance(r, cst.Call) and calls.concept_of(scope, r)[1] == "range" for r in ranges):
        return None
    found = [iteration(scope, r) for r in ranges]
    if not all(_is(f.start, 0) and _is(f.step, 1) for f in found):
        return None
    return tuple(scope.frozen(f.stop, "end", r) for f, r in zip(found, ranges, strict=True))


def _is(e: Expr, value: int) -> bool:
    return isinstance(e, Const) and e.value == value


def _enumerate(scope: Scope, node: cst.Call) -> Iteration:
    span = scope.span(node)
    first: Expr = ex.integer(0, span)
    given = list(node.args)
    if len(given) == 2 and (given[1].keyword is None or given[1].keyword.value == "start"):
        first = ex.scalar(scope, given[1].value)
    elif len(given) != 1:
        raise scope.refuse(node, "enumerate takes one iterable and a start", "", "KR104")
    inner = _from_zero(scope, iteration(scope, given[0].value), node)
    if isinstance(first, Const) and first.value == 0:
        return Iteration(inner.start, inner.stop, inner.step, lambda i: (i, inner.item(i)))
    return Iteration(inner.start, inner.stop, inner.step, lambda i: (ex.op("add", i, first, span=span), inner.item(i)))


def _from_zero(scope: Scope, inner: Iteration, node: cst.CSTNode) -> Iteration:
    """The same rounds, counted from zero: of a range, or of an array from its end (``reversed(a)``)."""
    by = inner.step.value if isinstance(inner.step, Const) else None
    if not isinstance(by, int):
        raise scope.refuse(node, "the step of a range inside enumerate or zip must be a number", "", "KR299")
    if by != 1:
        return _stepped(inner, by, scope.span(node))
    if isinstance(inner.start, Const) and inner.start.value == 0:
        return Iteration(inner.start, inner.stop, inner.step, inner.item)
    span = scope.span(node)
    start = inner.start
    stop = ex.op("sub", inner.stop, start, span=span)
    return Iteration(ex.integer(0, span), stop, inner.step, lambda i: inner.item(ex.op("add", start, i, span=span)))


def _stepped(inner: Iteration, by: int, span: Span | None) -> Iteration:
    """The rounds of a range with a step, or of an array from its end, counted from zero."""
    way = ex.op("sub", inner.stop, inner.start, span=span)
    way = way if by > 0 else ex.op("neg", way, span=span)
    count = ex.op("add", way, ex.integer(abs(by) - 1, span), span=span)
    if abs(by) > 1:
        count = ex.op("floordiv", count, ex.integer(abs(by), span), span=span)

    def item(i: Expr) -> Item:
        gone = i if abs(by) == 1 else ex.op("mul", ex.integer(abs(by), span), i, span=span)
        return inner.item(ex.op("add" if by > 0 else "sub", inner.start, gone, span=span))

    return Iteration(ex.integer(0, span), count, ex.integer(1, span), item)


def _reversed(scope: Scope, inner: Iteration, node: cst.CSTNode) -> Iteration:
    if not (isinstance(inner.step, Const) and inner.step.value == 1):
        raise scope.refuse(node, "reversed() of a range with a step is not supported yet", "", "KR299")
    span = scope.span(node)
    one = ex.integer(1, span)
    last = ex.op("sub", inner.stop, one, span=span)
    before: Expr = ex.op("sub", inner.start, one, span=span)
    if isinstance(inner.start, Const):
        before = ex.integer(int(inner.start.value) - 1, span)  # type: ignore[arg-type]
    return Iteration(last, before, ex.integer(-1, span), inner.item, inner.parallel, inner.is_range)


def lower_for(scope: Scope, node: cst.For) -> list[Stmt]:
    """One ``for`` statement."""
    span = scope.span(node)
    nested = _every_index(scope, node)
    if nested is None:
        nested = elements.written_out(scope, node, _is_progression)
    if nested is not None:
        return nested
    found = iteration(scope, node.iter)
    before = list(scope.taken())
    inside = bindings(node.body)
    var, rename = _loop_variable(scope, node, found)
    if inside[var]:
        raise scope.refuse(
            node.target, f"the loop variable {var} is assigned in the loop", "use another name inside", "KR299"
        )
    aliases.enter_loop(scope, bindings(node))
    scope.loop_vars.append(var)
    outer = dict(scope.views)
    try:
        body: list[Stmt] = []
        if rename:
            _bind(scope, node.target, found.item(Var(var, INT, span=span)), body)
            body = [*scope.taken(), *body]
        body.extend(statements.block(scope, node.body))
    finally:
        scope.loop_vars.pop()
    aliases.leave(scope, outer, in_loop=False)
    orelse = tuple(statements.block(scope, node.orelse.body)) if node.orelse is not None else ()
    return [
        *before,
        For(var, found.start, found.stop, found.step, tuple(body), found.parallel, INT, orelse, span=span),
    ]


def _loop_variable(scope: Scope, node: cst.For, found: Iteration) -> tuple[str, bool]:
    """(name of the index, whether the targets must be bound from it)."""
    target = node.target
    if found.is_range:
        if not isinstance(target, cst.Name):
            raise scope.refuse(target, "the target of a loop over a range must be a name")
        name = target.value
        if name in scope.loop_vars:
            raise scope.refuse(
                target, f"{name} is the variable of an enclosing loop already", "use another name", "KR299"
            )
        if name in scope.views or name in scope.params and name in scope.ranks:
            raise scope.refuse(target, f"{name} is an array", "use another name", "KR299")
        if name == "_" and not any(n.value == "_" for n in all_of(cst.Name, node.body)):
            fresh = scope.fresh_index()
            scope.bound[fresh] = 1
            return fresh, False
        return name, False
    if isinstance(target, cst.Tuple):
        probe = found.item(Var("", INT))
        first = target.elements[0].value
        if (
            isinstance(probe, tuple)
            and isinstance(probe[0], Var)
            and isinstance(first, cst.Name)
            and first.value != "_"
            and first.value not in scope.loop_vars
        ):
            return first.value, True
    name = scope.fresh_index()
    scope.bound[name] = 1
    return name, True


def _bind(scope: Scope, target: cst.BaseExpression, item: Item, body: list[Stmt]) -> None:
    """Bind the targets of a loop to what one round sees."""
    match target, item:
        case cst.Name(value="_"), _:
            return
        case cst.Name(value=name), View() if item.rank:
            aliases.alias(scope, name, item, target)
        case cst.Name(value=name), View():
            body.append(Assign(name, ex.load(scope, item, target), NUMBER, span=scope.span(target)))
        case cst.Name(value=name), Var(name=same) if name == same:
            return
        case cst.Name(value=name), tuple():
            scope.tuples[name] = tuple(ex.load(scope, i, target) if isinstance(i, View) else i for i in item)
            raise scope.refuse(target, "a tuple of loop values needs one name for each", "unpack it in the loop header")
        case cst.Name(value=name), _:
            body.append(Assign(name, item, NUMBER, span=scope.span(target)))  # type: ignore[arg-type]
        case cst.Tuple(elements=elements), tuple() if len(elements) == len(item):
            for element, part in zip(elements, item, strict=True):
                _bind(scope, element.value, part, body)
        case cst.Tuple(elements=elements), View() if item.rank:
            for k, element in enumerate(elements):
                _bind(scope, element.value, item.at((ex.integer(k, scope.span(target)),)), body)
        case _:
            raise scope.refuse(target, "the targets of this loop do not fit what it runs over", "", "KR104")
