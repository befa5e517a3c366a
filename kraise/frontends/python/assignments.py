"""Assignments: one target or several, tuples in parallel, cells, augmented ones."""

from __future__ import annotations

import libcst as cst

from kraise.frontends.python import aliases, arrays, calls, elementwise, exchanged, helpers, library, unread_rows
from kraise.frontends.python import expressions as ex
from kraise.frontends.python.roving import number_of
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.source import dotted
from kraise.frontends.python.views import View
from kraise.ir.kernel import Assign, Const, Expr, Stmt, Store, Var
from kraise.ir.types import NUMBER

AUGMENTED = {
    "AddAssign": "add",
    "SubtractAssign": "sub",
    "MultiplyAssign": "mul",
    "DivideAssign": "div",
    "FloorDivideAssign": "floordiv",
    "ModuloAssign": "mod",
    "PowerAssign": "pow",
    "LeftShiftAssign": "shl",
    "RightShiftAssign": "shr",
    "BitAndAssign": "and_",
    "BitOrAssign": "or_",
    "BitXorAssign": "xor",
}


def assign_all(scope: Scope, targets: list, value: cst.BaseExpression, node: cst.CSTNode) -> list[Stmt]:
    """``a = b = value``: evaluated once."""
    if id(value) in scope.exchanges.idle & scope.exchanges.pairs.keys():
        return []
    if id(value) in scope.exchanges.pairs:
        return exchanged.lowered(scope, scope.exchanges.pairs[id(value)], node)
    if len(targets) == 1:
        return assign(scope, targets[0], value, node)
    whole = arrays.makes(scope, value) or elementwise.operand(scope, value) is not None
    if whole and all(isinstance(t, cst.Name) for t in targets):
        first, *others = targets
        made = assign(scope, first, value, node)
        for other in others:
            aliases.alias(scope, other.value, scope.views[first.value], node)
        return made
    result = ex.scalar(scope, value)
    statements: list[Stmt] = []
    names = [t for t in targets if isinstance(t, cst.Name)]
    span = scope.span(node)
    if not isinstance(result, Const | Var) or (isinstance(result, Var) and result.name in {n.value for n in names}):
        holder = names[0].value if names else scope.fresh("value")
        if not names:
            scope.bound[holder] = 1
        statements.append(Assign(holder, result, NUMBER, span=span))
        targets = [t for t in targets if not names or t is not names[0]]
        result = Var(holder, NUMBER, span=span)
    for target in targets:
        statements.append(store(scope, target, result, node))
    return statements


def assign(scope: Scope, target: cst.BaseExpression, value: cst.BaseExpression, node: cst.CSTNode) -> list[Stmt]:
    """One target: a scalar, a view, an array, a lambda, a tuple, a cell."""
    if isinstance(target, cst.Tuple | cst.List):
        return unpack(scope, [e.value for e in target.elements], value, node)
    if not isinstance(target, cst.Name):
        if isinstance(target, cst.Subscript):
            if isinstance(value, cst.Tuple):
                return unpack(scope, _cells(scope, target, len(value.elements), node), value, node)
            filled = arrays.fill(scope, target, value, node)
            if filled is not None:
                return filled
        return [store(scope, target, ex.scalar(scope, value), node)]
    name = target.value
    if name in scope.rovers:
        rover = scope.rovers[name]
        return [Assign(rover.which, _number(scope, name, value), NUMBER, span=scope.span(node))]
    if isinstance(value, cst.Lambda):
        if scope.bound[name] > 1 or name in scope.params:
            raise scope.refuse(node, f"{name} is bound more than once, a lambda among them", "", "KR299")
        scope.lambdas[name] = value
        return []
    if scope.bound[name] == 1 and library.is_hardware(scope, value):
        scope.hardware[name] = scope.imports.qualified(dotted(value))
        return []
    made = arrays.allocation(scope, name, value, node)
    if made is not None:
        return made
    if isinstance(value, cst.Call):
        _, concept = calls.concept_of(scope, value)
        if concept == "this_grid":
            scope.grids.add(name)
            return []
        if concept.startswith("atomic."):
            return [calls.atomic(scope, value, concept, name)]
        callee = dotted(value.func)
        summary = scope.callee(callee)
        if summary is not None and summary.effects and len(summary.function.returns) == 1 and callee not in scope.bound:
            return [helpers.statement(scope, value, callee, (name,))]
    extents = tuple_value(scope, value)
    if extents is not None:
        if scope.bound[name] > 1 or name in scope.params:
            raise scope.refuse(node, f"{name} is bound more than once, a tuple among them", "unpack the tuple", "KR299")
        scope.tuples[name] = tuple(scope.held(e, f"{name}_{k}", node) for k, e in enumerate(extents))
        return []
    view = ex.access(scope, value)
    if view is not None and view.rank:
        aliases.alias(scope, name, view, node)
        return []
    computed = elementwise.bind(scope, name, value, node)
    if computed is not None:
        return computed
    return [store(scope, target, ex.scalar(scope, value), node)]


def _cells(scope: Scope, row: cst.Subscript, count: int, node: cst.CSTNode) -> list[cst.BaseExpression]:
    """The cells of a row that is stored to as a whole, ``a[i] = x, y, z``."""
    view = ex.access(scope, row)
    if not isinstance(view, View) or view.rank != 1:
        raise scope.refuse(node, "a tuple or list has no scalar value here", "use its elements one by one")
    ends = [cst.SubscriptElement(cst.Index(cst.Integer(str(at)))) for at in range(count)]
    return [row.with_changes(slice=(*row.slice, end)) for end in ends]


def _number(scope: Scope, name: str, value: cst.BaseExpression) -> Expr:
    """Which of its arrays a name that changes places is set to."""
    return number_of(scope.rovers[name], value, scope.rovers, lambda test: ex.test(scope, test))


def tuple_value(scope: Scope, value: cst.BaseExpression) -> tuple[Expr, ...] | None:
    """The elements of an expression that is a tuple of scalars, None if it is something else."""
    if isinstance(value, cst.Tuple):
        return tuple(ex.scalar(scope, e.value) for e in value.elements)
    if isinstance(value, cst.Name) and value.value in scope.tuples:
        return scope.tuples[value.value]
    if isinstance(value, cst.Call):
        found = calls.several(scope, value)
        return found if found is not None and len(found) > 1 else None
    return ex.shape_of(scope, value)


def store(scope: Scope, target: cst.BaseExpression, value: Expr, node: cst.CSTNode) -> Stmt:
    """A scalar into a local or into a cell."""
    span = scope.span(node)
    if isinstance(target, cst.Name):
        name = target.value
        if name in scope.views or name in scope.ambiguous:
            raise scope.refuse(node, f"the array {name} is rebound to a scalar", "use another name", "KR299")
        if name in scope.loop_vars:
            raise scope.refuse(node, f"the loop variable {name} is assigned in the loop", "use another name", "KR299")
        if isinstance(value, Const) and scope.bound[name] == 1 and name not in scope.params:
            scope.known[name] = value
        elif scope.bound[name] == 1 and name not in scope.params and scope.stable(value):
            scope.sizes[name] = value
        return Assign(name, value, NUMBER, span=span)
    if isinstance(target, cst.Subscript):
        view = ex.access(scope, target)
        if view is None:
            raise scope.refuse(target, "only arrays can be stored into", "pass the array as a parameter", "KR104")
        if view.rank:
            raise scope.refuse(
                target,
                f"{view.array} has {len(view.subscripts)} axes, and {view.rank} of them have no subscript here",
                "subscript every axis",
                "KR104",
            )
        if scope.is_table(view.array):
            raise scope.refuse(
                target, f"the table {view.array} of the module is changed", "pass it as a parameter", "KR210"
            )
        return Store(view.array, view.subscripts, value, span=span)  # type: ignore[arg-type]
    raise scope.refuse(target, "this cannot be assigned to in a kernel")


def unpack(scope: Scope, targets: list, value: cst.BaseExpression, node: cst.CSTNode) -> list[Stmt]:
    """``a, b = …``: parallel assignment, extents, thread indices, results of a helper, a short row."""
    if isinstance(value, cst.Call):
        callee = dotted(value.func)
        if callee in scope.functions and callee not in scope.bound and all(isinstance(t, cst.Name) for t in targets):
            names = tuple(_unused(scope, t.value) for t in targets)
            return [helpers.statement(scope, value, callee, names)]
    if isinstance(value, cst.Tuple | cst.List):
        elements = [e.value for e in value.elements]
        if len(elements) == len(targets) and (rest := _without_hardware(scope, targets, elements)) is not None:
            return (
                unpack(
                    scope, [t for t, _ in rest], value.with_changes(elements=[cst.Element(e) for _, e in rest]), node
                )
                if rest
                else []
            )
        roving = [isinstance(t, cst.Name) and t.value in scope.rovers for t in targets]
        if any(roving) and len(elements) == len(targets):
            pairs = list(zip(roving, targets, elements, strict=True))
            numbers = [_number(scope, t.value, e) if r else ex.scalar(scope, e) for r, t, e in pairs]
            places = [cst.Name(scope.rovers[t.value].which) if r else t for r, t, _ in pairs]
            return parallel(scope, places, numbers, node)
        if len(elements) == len(targets) and not any(isinstance(t, cst.Tuple) for t in targets):
            views = [ex.access(scope, e) for e in elements]
            if any(v is not None and v.rank for v in views):
                if all(v is not None and v.rank for v in views) and all(isinstance(t, cst.Name) for t in targets):
                    for target, view in zip(targets, views, strict=True):
                        aliases.alias(scope, target.value, view, node)  # type: ignore[arg-type]
                    return []
                return [s for t, e in zip(targets, elements, strict=True) for s in assign(scope, t, e, node)]
        if len(elements) == len(targets) and any(isinstance(t, cst.Tuple | cst.List) for t in targets):
            each = [p for t, e in zip(targets, elements, strict=True) for p in _nested(scope, t, e, node)]
            return parallel(scope, [t for t, _ in each], [v for _, v in each], node)
    values = tuple_value(scope, value) if not isinstance(value, cst.List) else None
    if values is None:
        view = ex.access(scope, value)
        if view is not None and view.rank == 1:
            at = scope.span(value)
            values = tuple(ex.load(scope, view.at((ex.integer(k, at),)), value) for k in range(len(targets)))
    if values is None or len(values) != len(targets):
        if values is None and isinstance(value, cst.Call):
            ex.scalar(scope, value)  # a call that is not known says so
        raise scope.refuse(
            node, f"{len(targets)} names for something that is not a tuple of {len(targets)}", "", "KR104"
        )
    return parallel(scope, targets, list(values), node)


def _nested(
    scope: Scope, target: cst.BaseExpression, value: cst.BaseExpression, node: cst.CSTNode
) -> list[tuple[cst.BaseExpression, Expr]]:
    """``(a, b), c = f(x), y``: each name with its value."""
    if not isinstance(target, cst.Tuple | cst.List):
        return [(target, ex.scalar(scope, value))]
    parts = [e.value for e in target.elements]
    values = tuple_value(scope, value)
    if values is None or len(values) != len(parts) or any(isinstance(p, cst.Tuple | cst.List) for p in parts):
        raise scope.refuse(node, f"{len(parts)} names for something that is not a tuple of {len(parts)}", "", "KR104")
    return list(zip(parts, values, strict=True))


def _without_hardware(
    scope: Scope, targets: list, elements: list[cst.BaseExpression]
) -> list[tuple[cst.BaseExpression, cst.BaseExpression]] | None:
    """``t, x = cuda.threadIdx, 0`` without the names for hardware indices; None where there are none."""
    pairs = list(zip(targets, elements, strict=True))
    own = [
        (t, e) for t, e in pairs
        if isinstance(t, cst.Name) and scope.bound[t.value] == 1 and library.is_hardware(scope, e)
    ]  # fmt: skip
    scope.hardware |= {t.value: scope.imports.qualified(dotted(e)) for t, e in own}
    return [p for p in pairs if p not in own] if own else None


def _unused(scope: Scope, name: str) -> str:
    if name != "_":
        return name
    fresh = scope.fresh("unused")
    scope.bound[fresh] = 1
    return fresh


def parallel(scope: Scope, targets: list, values: list[Expr], node: cst.CSTNode) -> list[Stmt]:
    """All values first, then the targets in order; a temporary only for a value that an earlier target changes."""
    span = scope.span(node)
    before: list[Stmt] = []
    changed_names: set[str] = set()
    changed_arrays: set[str] = set()
    for k, (target, value) in enumerate(zip(targets, values, strict=True)):
        names, read = ex.variables(value)
        if names & changed_names or read & changed_arrays:
            wish = f"{target.value}_new" if isinstance(target, cst.Name) else "moved"
            holder = scope.fresh(wish)
            scope.bound[holder] = 1
            before.append(Assign(holder, value, NUMBER, span=span))
            values[k] = Var(holder, NUMBER, span=span)
        if isinstance(target, cst.Name):
            changed_names.add(target.value)
        else:
            view = ex.access(scope, target)
            changed_arrays |= {view.array} if view is not None else set()
    after = [
        store(scope, t, v, node)
        for t, v in zip(targets, values, strict=True)
        if not (isinstance(t, cst.Name) and t.value == "_")
    ]
    return [*before, *after]


def augmented(scope: Scope, node: cst.AugAssign) -> list[Stmt]:
    """``x += …`` on a local or a cell."""
    span = scope.span(node)
    name = AUGMENTED.get(type(node.operator).__name__)
    if name is None:
        raise scope.refuse(node, "this augmented assignment is not accepted")
    if isinstance(node.target, cst.Name):
        whole = scope.views.get(node.target.value)
        if whole is not None and whole.rank and node.target.value not in scope.ambiguous:
            if elementwise.operand(scope, node.value) is not None:
                return elementwise.store(scope, whole, node.value, node, name)
            return arrays.fill_view(scope, whole, ex.scalar(scope, node.value), node, name)
        unread_rows.refuse_row(scope, node)
        held = ex.name_value(scope, node.target)
        return [store(scope, node.target, ex.op(name, held, ex.scalar(scope, node.value), span=span), node)]
    filled = arrays.fill(scope, node.target, node.value, node, name)
    if filled is not None:
        return filled
    view = ex.access(scope, node.target)
    if view is None or view.rank:
        return [store(scope, node.target, ex.integer(0), node)]  # refuses
    value = ex.op(name, ex.load(scope, view, node.target), ex.scalar(scope, node.value), span=span)
    stored = store(scope, node.target, value, node)
    assert isinstance(stored, Store)
    return [Store(view.array, view.subscripts, value, span=span)]  # type: ignore[arg-type]
