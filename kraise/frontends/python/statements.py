"""Statements: libcst to Kernel IR, every problem of a block collected before any is raised."""

from __future__ import annotations

import libcst as cst

from kraise.diagnostics import Refused
from kraise.frontends.python import aliases, arrays, assignments, calls, elementwise, helpers, loops, ramps
from kraise.frontends.python import expressions as ex
from kraise.frontends.python.fences import FENCE
from kraise.frontends.python.roving import settle
from kraise.frontends.python.scope import Scope, bindings
from kraise.frontends.python.source import dotted, walk
from kraise.ir.kernel import (
    ArrayRef,
    Assign,
    Atomic,
    Barrier,
    Break,
    CallStmt,
    Continue,
    Expr,
    If,
    Return,
    Stmt,
    Store,
    While,
)


def block(scope: Scope, node: cst.BaseSuite) -> list[Stmt]:
    """The statements of a suite; those with problems are left out and their diagnostics kept in the scope."""
    lines: list[cst.CSTNode] = []
    for item in node.body:
        lines.extend(item.body if isinstance(item, cst.SimpleStatementLine) else [item])
    result: list[Stmt] = []
    for line in lines:
        scope.pre = []
        try:
            lowered = statement(scope, line)
        except Refused as refused:
            _failed(scope, line, refused)
            continue
        hoisted = scope.taken()
        _check_order(scope, line, hoisted, lowered)
        result.extend([*hoisted, *lowered])
    return result


def _failed(scope: Scope, line: cst.CSTNode, refused: Refused) -> None:
    """Keep what is said of a line, unless it only follows from a line before that was refused."""
    head = (cst.BaseSuite, cst.Else, cst.If) if isinstance(line, cst.BaseCompoundStatement) else ()
    names = {n.value for n in walk(line, lambda n: n is line or not isinstance(n, head)) if isinstance(n, cst.Name)}
    if not names & scope.failed:
        scope.problems.extend(refused.diagnostics)
    scope.failed |= {n for n in bindings(line) if n not in scope.params and n not in scope.views}


def statement(scope: Scope, node: cst.CSTNode) -> list[Stmt]:
    """The statements of one line."""
    span = scope.span(node)
    if isinstance(node, cst.Assign | cst.AugAssign | cst.Return) and node.value is not None:
        whole = isinstance(node, cst.Assign) and arrays.makes(scope, node.value)
        if not whole:
            ramps.within(scope, node.value, node)
    match node:
        case cst.Assign(targets=targets, value=value):
            return assignments.assign_all(scope, [t.target for t in targets], value, node)
        case cst.AnnAssign(target=target, value=value):
            return [] if value is None else assignments.assign_all(scope, [target], value, node)
        case cst.Assert() if scope.guards:
            return guard(scope, node)
        case cst.AugAssign():
            return assignments.augmented(scope, node)
        case cst.If():
            return branch(scope, node)
        case cst.For():
            return list(loops.lower_for(scope, node))
        case cst.While():
            return while_loop(scope, node)
        case cst.Break():
            return [Break(span=span)]
        case cst.Continue():
            return [Continue(span=span)]
        case cst.Pass():
            return []
        case cst.Return(value=value):
            return [returned(scope, node, value)]
        case cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString()):
            return []
        case cst.Expr(value=cst.Call() as call):
            return effect(scope, call)
        case cst.Expr(value=value):
            raise scope.refuse(node, "this expression has no effect", "remove it, or assign it to a name")
        case cst.FunctionDef():
            raise scope.refuse(
                node, "a function defined inside a kernel is not accepted", "define it at the top of the module"
            )
    raise scope.refuse(node, f"this statement ({type(node).__name__}) is not accepted in a kernel")


def _check_order(scope: Scope, node: cst.CSTNode, hoisted: tuple[Stmt, ...], lowered: list[Stmt]) -> None:
    """What was hoisted before a statement must not write what the statement reads for other reasons."""
    written: set[str] = set()
    for item in hoisted:
        match item:
            case Atomic(array=array):
                written.add(array)
            case CallStmt(function=name, args=args):
                indices = scope.summaries[name].written
                written.update(a.array for k, a in enumerate(args) if k in indices and isinstance(a, ArrayRef))
    if not written:
        return
    read: set[str] = set()
    for item in lowered:
        match item:
            case Assign(value=value):
                read |= ex.variables(value)[1]
            case Store(value=value, subscripts=subscripts):
                for e in (value, *subscripts):
                    read |= ex.variables(e)[1]
            case If(condition=condition):
                read |= ex.variables(condition)[1]
    if read & written:
        scope.problems.append(
            scope.refuse(
                node,
                f"{sorted(read & written)[0]} is read and changed by a call in one statement",
                "put the call on a line of its own",
                "KR210",
            ).diagnostics[0]
        )


# --- control flow ----------------------------------------------------------------------------


def is_guard(node: cst.CSTNode) -> bool:
    """``if …: raise …`` or ``assert``: the function has a value only where it does not raise."""
    if isinstance(node, cst.Assert):
        return True
    if not isinstance(node, cst.If):
        return False
    lines = [s for line in node.body.body for s in (line.body if isinstance(line, cst.SimpleStatementLine) else [line])]
    return bool(lines) and isinstance(lines[-1], cst.Raise) and all(isinstance(s, cst.Assign) for s in lines[:-1])


def guard(scope: Scope, node: cst.CSTNode) -> list[Stmt]:
    """A guard at the top of a plain function becomes a precondition, which the docstring states."""
    test = node.test  # type: ignore[attr-defined]
    text = scope.source.tree.code_for_node(test).strip()
    scope.required.append(text if isinstance(node, cst.Assert) else negated(scope, test, text))
    orelse = getattr(node, "orelse", None)
    if orelse is None:
        return []
    if isinstance(orelse, cst.If):
        return guard(scope, orelse) if is_guard(orelse) else branch(scope, orelse)
    return block(scope, orelse.body)


_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def negated(scope: Scope, test: cst.BaseExpression, text: str) -> str:
    """The text of the opposite of a condition."""
    code = scope.source.tree.code_for_node
    match test:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
            opposite = _OPPOSITE.get(code(operator).strip())
            if opposite is not None:
                return f"{code(left).strip()} {opposite} {code(right).strip()}"
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return code(inner).strip()
    return f"not ({text})"


def branch(scope: Scope, node: cst.If) -> list[Stmt]:
    """``if``, ``elif``, ``else``."""
    if scope.guards and is_guard(node):
        return guard(scope, node)
    condition = ex.test(scope, node.test)
    hoisted = list(scope.taken())
    before, vague = dict(scope.views), set(scope.ambiguous)
    body = block(scope, node.body)
    aliases.leave(scope, before, bool(scope.loop_vars))
    lost = scope.ambiguous - vague
    scope.views = {**scope.views, **before}
    scope.ambiguous = set(vague)
    orelse: list[Stmt] = []
    if isinstance(node.orelse, cst.If):
        scope.pre = []
        try:
            orelse = branch(scope, node.orelse)
        except Refused as refused:
            scope.problems.extend(refused.diagnostics)
    elif node.orelse is not None:
        orelse = block(scope, node.orelse.body)
    aliases.leave(scope, before, bool(scope.loop_vars))
    scope.ambiguous |= lost
    for name in lost:
        scope.views.pop(name, None)
    return [*hoisted, If(condition, tuple(body), tuple(orelse), span=scope.span(node))]


def while_loop(scope: Scope, node: cst.While) -> list[Stmt]:
    """``while``; its condition is evaluated every round, so nothing can be hoisted out of it."""
    aliases.enter_loop(scope, bindings(node))
    with scope.no_hoisting():
        condition = ex.test(scope, node.test)
    before = dict(scope.views)
    scope.loop_vars.append("")
    try:
        body = block(scope, node.body)
    finally:
        scope.loop_vars.pop()
    aliases.leave(scope, before, in_loop=False)
    orelse = tuple(block(scope, node.orelse.body)) if node.orelse is not None else ()
    return [While(condition, tuple(body), False, orelse, span=scope.span(node))]


def returned(scope: Scope, node: cst.Return, value: cst.BaseExpression | None) -> Return:
    """``return``: nothing, a scalar, an array, or a tuple of these."""
    span = scope.span(node)
    if value is None or (isinstance(value, cst.Name) and value.value == "None"):
        return Return((), span=span)
    if scope.definition.kind == "kernel":
        raise scope.refuse(node, "a kernel returns nothing", "store the result into an array")
    elements = [e.value for e in value.elements] if isinstance(value, cst.Tuple) else [value]
    if not isinstance(value, cst.Tuple) and isinstance(value, cst.Call | cst.Name):
        values = assignments.tuple_value(scope, value)
        if values is not None:
            return Return(values, span=span)
    results: list[Expr | ArrayRef] = []
    for element in elements:
        view = ex.access(scope, element)
        if view is not None and view.rank:
            moving = view.array in scope.rovers and view.array not in settle(scope.definition.node.body, scope.rovers)
            if not view.whole or moving:  # what it holds now
                name = scope.fresh("result")
                scope.bound[name] = 1
                scope.hoist(node, *arrays.copied(scope, name, view, node))
                view = scope.views[name]
            results.append(ArrayRef(view.array, span=scope.span(element)))
        elif (made := elementwise.result(scope, element, node)) is not None:
            results.append(made)
        else:
            results.append(ex.scalar(scope, element))
    return Return(tuple(results), span=span)


def effect(scope: Scope, node: cst.Call) -> list[Stmt]:
    """A call on a line of its own: a barrier, an atomic, a helper that stores."""
    span, name = scope.span(node), dotted(node.func)
    if name in scope.functions and name not in scope.bound:
        return [helpers.statement(scope, node, name)]
    qualified, concept = calls.concept_of(scope, node)
    if concept == "barrier.block":
        calls.positional(scope, node, 0, 0)
        return [Barrier("block", span=span)]
    if concept == "barrier.warp":
        return [Barrier("warp", span=span)]
    if concept == "fence":
        return [Barrier(FENCE, span=span)]
    if concept == "fence.block":
        return []
    if concept.startswith("atomic."):
        return [calls.atomic(scope, node, concept)]
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "fill":
        view = ex.access(scope, node.func.value)
        if view is not None and view.rank:
            (argument,) = calls.positional(scope, node, 1, 1)
            return arrays.fill_view(scope, view, ex.scalar(scope, argument), node)
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "sync":
        inner = node.func.value
        if isinstance(inner, cst.Name) and inner.value in scope.grids:
            return [Barrier("grid", span=span)]
        if isinstance(inner, cst.Call) and calls.concept_of(scope, inner)[1] == "this_grid":
            return [Barrier("grid", span=span)]
    raise calls.unknown(scope, node, qualified or name)
