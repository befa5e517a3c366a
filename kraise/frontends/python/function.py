"""One function: parameters, fence, body, and what its callers need to know."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import libcst as cst

from kraise import dialects
from kraise.diagnostics import Diagnostic, Refused
from kraise.frontends import fence
from kraise.frontends.cas_rounds import with_atomics
from kraise.frontends.python import annotations as written
from kraise.frontends.python import fences, one_number, remade, rows, statements, stencils
from kraise.frontends.python.constants import Folder, read_constants
from kraise.frontends.python.exchanged import exchanges
from kraise.frontends.python.names import Imports
from kraise.frontends.python.ranks import Ranks
from kraise.frontends.python.roving import rovers, settled
from kraise.frontends.python.scope import Scope, Summary, View, bindings
from kraise.frontends.python.source import Source, all_of, walk
from kraise.frontends.python.survey import Definition
from kraise.ir.kernel import (
    ArrayRef,
    Assign,
    Atomic,
    Barrier,
    CallStmt,
    Const,
    Constant,
    Function,
    Param,
    Return,
    Stmt,
    Store,
)
from kraise.ir.types import NUMBER, ArrayType, Type


@dataclass
class Context:
    """What all functions of a module share."""

    source: Source
    imports: Imports
    constants: dict[str, Constant]
    functions: dict[str, Definition]
    folder: Folder
    ranks: Ranks = field(default_factory=Ranks)
    fixed: dict[str, frozenset[str]] = field(default_factory=dict)
    copies: dict = field(default_factory=dict)

    def constants_of(self, definition: Definition) -> dict[str, Constant]:
        """The module's constants, and by value those of the function around a kernel."""
        found = dict(self.constants)
        for function in definition.around:
            rebound = {p.name.value for p in function.params.params} | set(bindings(function.body))
            found = {n: c for n, c in found.items() if n not in rebound}
            local = read_constants(self.source, self.imports, function.body.body, found)
            found |= {n: replace(c, name="") for n, c in local.items() if n in rebound and c.shape == ()}
        return found

    def written_types(self, definition: Definition) -> dict[str, Type]:
        """Types that annotations or the decorator's signature give to parameters."""
        params = definition.node.params.params
        found: dict[str, Type] = {}
        for param in params:
            if param.annotation is not None:
                type_ = written.annotated(param.annotation.annotation, self.imports.qualified)
                if type_ is not None:
                    found[param.name.value] = type_
        if definition.decorator is not None:
            given = written.signature(definition.decorator, self.imports.qualified, self.source.tree.code_for_node)
            if len(given) == len(params):
                found |= {p.name.value: t for p, t in zip(params, given, strict=True) if t is not None}
        return found

    def annotated_ranks(self, definition: Definition) -> dict[str, int]:
        """Ranks that the source writes down; "an array" is at least 1."""
        return {n: max(1, t.ndim) for n, t in self.written_types(definition).items() if isinstance(t, ArrayType)}


def lower(
    context: Context, definition: Definition, summaries: dict[str, Summary]
) -> tuple[Summary | None, list[Diagnostic]]:
    """The function in Kernel IR, untyped, or the diagnostics that say why not."""
    problems = _fence(context, definition)
    if (stencil := stencils.decorator(definition.node, context.imports)) is not None:
        reason = "of a stencil, numbers as subscripts (or a neighborhood) and one return at its end are read"
        hint = "write the loops that it stands for"
        problems.append(Diagnostic("KR299", reason, context.source.span(stencil), hint, definition.name))
        return None, problems
    if recursion := _recursion(context, definition):
        return None, problems + recursion
    names = context.ranks.of(definition.name)
    scope = Scope(
        context.source,
        context.imports,
        context.constants_of(definition),
        definition,
        names,
        summaries,
        {n: context.functions[d] for n, d in definition.visible.items()},
        context.copies,
    )
    scope.bound = bindings(definition.node.body)
    nodes = (n.value for n in all_of(cst.Name, definition.node))
    scope.used = {*nodes, *context.functions, *context.constants, *context.imports.bound}
    try:
        params = _params(context, scope, definition)
        scope.exchanges = exchanges(definition.node.body, scope.params, names, scope.bound)
        scope.remade = remade.names(scope)
        scope.rovers = rovers(definition.node.body, scope.params, names, scope.bound, scope.fresh)
    except Refused as refused:
        return None, _all(definition, problems, refused.diagnostics)
    started: list[Stmt] = []
    for name, rover in scope.rovers.items():
        scope.views[name] = View(name, (None,) * names[name])
        scope.bound[rover.which] = 2  # it changes
        if name in scope.params:
            started.append(Assign(rover.which, rover.number(name), NUMBER))
    body = (*started, *with_atomics(fences.marked(statements.block(scope, definition.node.body))))
    try:
        body = (*scope.tables.values(), *remade.with_one_shape(scope, settled(body, scope.rovers)))
    except Refused as refused:
        scope.problems.extend(refused.diagnostics)
    returns = _returns(scope, body)
    if problems or scope.problems:
        return None, _all(definition, problems, scope.problems)
    span = context.source.span(definition.node.name)
    doc = _stated(definition.doc, scope)
    function = Function(
        definition.name,
        definition.kind,
        params,
        body,
        doc,
        returns,
        widens=definition.decorated,
        must_be=(
            *((n, "given") for f, n in sorted(context.source.given) if f == definition.source_name),
            *((n, "floats") for n in sorted(scope.floats)),
            *((n, f"like {first}") for n, first in sorted(scope.alike)),
            *((n, f"shaped as {first}") for n, first in sorted(scope.congruent)),
            *dict.fromkeys(
                (*one_number.parameters(scope, params, body, summaries), *rows.parameters(scope, params, body))
            ),
        ),
        span=span,
    )
    effects, written = _effects(function, summaries)
    return Summary(
        function, effects, written, {p.name: names[p.name] for p in params if p.name in names}, definition.name
    ), []


def _all(definition: Definition, fenced: list[Diagnostic], found) -> list[Diagnostic]:
    """The fence's diagnostics and those of lowering, but for lines that the fence has refused already."""
    lines = {d.span.line for d in fenced if d.span is not None}
    more = [replace(d, kernel=definition.name) for d in found if d.span is None or d.span.line not in lines]
    return sorted([*fenced, *more], key=lambda d: (d.span.line, d.span.column) if d.span is not None else (0, 0))


def _fence(context: Context, definition: Definition) -> list[Diagnostic]:
    """Everything that the grammar does not accept; decorators and annotations are not code."""
    skipped = (cst.Annotation, cst.Decorator)
    refused = dialects.refused_nodes()  # one diagnostic for a whole try, with or class
    guards = _guards(definition) if definition.kind == "plain" else set()

    def inside(node: cst.CSTNode) -> bool:
        return type(node) not in skipped and type(node).__name__ not in refused and id(node) not in guards

    nodes = (
        (type(n).__name__, context.source.span(n))
        for n in walk(definition.node, inside)
        if type(n) not in skipped and id(n) not in guards
    )
    return fence.check(nodes, definition.name)


def _guards(definition: Definition) -> set[int]:
    """What belongs to the guards of a plain function outside loops: it is not translated but stated."""
    found: set[int] = set()
    loops = (cst.For, cst.While, cst.FunctionDef)
    for node in walk(definition.node.body, lambda n: type(n) not in loops):
        if statements.is_guard(node):
            found |= {id(node)} if isinstance(node, cst.Assert) else {id(node.test), id(node.body)}  # type: ignore[attr-defined]
    return found


def _stated(doc: str, scope: Scope) -> str:
    """The docstring with what the translation takes for granted."""
    said = []
    if scope.required:
        said.append("Requires (the source raises otherwise): " + "; ".join(scope.required) + ".")
    return "\n\n".join(([doc] if doc else []) + ["\n".join(said)]) if said else doc


def _recursion(context: Context, definition: Definition) -> list[Diagnostic]:
    """A function that reaches itself through calls."""
    reached: set[str] = set()
    todo = list(definition.calls)
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo.extend(context.functions[name].calls)
    if definition.name not in reached:
        return []
    span = context.source.span(definition.node.name)
    return [Diagnostic("KR209", f"{definition.name} calls itself", span, "write it as a loop", definition.name)]


def _params(context: Context, scope: Scope, definition: Definition) -> tuple[Param, ...]:
    """The parameters; arrays become views, scalars locals."""
    node = definition.node.params
    if isinstance(node.star_arg, cst.Param) or node.star_kwarg is not None:
        raise scope.refuse(
            definition.node.name, "starred parameters are not accepted in a kernel", "name each parameter"
        )
    declared = context.written_types(definition)
    made: list[Param] = []
    fixed: set[str] = set()
    for param in (*node.posonly_params, *node.params, *node.kwonly_params):
        name, span = param.name.value, context.source.span(param.name)
        by_name = param in node.kwonly_params and definition.kind == "plain"
        type_ = declared.get(name)
        rank = scope.ranks.get(name, 0)
        default = None
        if param.default is not None:
            value = context.folder.number(param.default)
            if value is None:
                raise scope.refuse(param.default, f"the default of {name} is no constant number", "remove the default")
            default = Const(value[0], value[1], span=span)  # type: ignore[arg-type]
        scope.params.append(name)
        if rank:
            element = type_.element if isinstance(type_, ArrayType) else NUMBER
            if isinstance(type_, ArrayType) and 0 < type_.ndim != rank:
                raise scope.refuse(
                    param.name, f"{name} is declared with {type_.ndim} axes and used with {rank}", "", "KR104"
                )
            if type_ is not None and not isinstance(type_, ArrayType):
                raise scope.refuse(param.name, f"{name} is declared a scalar and used as an array", "", "KR104")
            if element != NUMBER:
                fixed.add(name)
            scope.views[name] = View(name, (None,) * rank)
            made.append(Param(name, ArrayType(element, rank), default, keyword=by_name, span=span))
            continue
        if type_ is not None and not isinstance(type_, ArrayType) and type_ != NUMBER:
            fixed.add(name)
            made.append(Param(name, type_, default, keyword=by_name, span=span))
        else:
            made.append(Param(name, NUMBER, default, keyword=by_name, span=span))
    context.fixed[definition.name] = frozenset(fixed)
    return tuple(made)


def _flat(body: tuple[Stmt, ...]):
    stack = list(reversed(body))
    while stack:
        top = stack.pop()
        yield top
        for part in (getattr(top, "orelse", ()), getattr(top, "body", ())):
            stack.extend(reversed(part))


def _returns(scope: Scope, body: tuple[Stmt, ...]) -> tuple:
    """One entry a returned value, None for an array; all returns must agree."""
    found: list[tuple] = []
    for statement in _flat(body):
        if isinstance(statement, Return):
            shape = tuple(None if isinstance(v, ArrayRef) else NUMBER for v in statement.values)
            if found and shape != found[0]:
                scope.problems.append(
                    Diagnostic("KR104", "the returns of this function differ in what they return", statement.span)
                )
                break
            found.append(shape)
    return found[0] if found else ()


def _effects(function: Function, summaries: dict[str, Summary]) -> tuple[bool, frozenset[int]]:
    """(does it store, synchronise or call what does, parameters stored into)."""
    position = {p.name: k for k, p in enumerate(function.params)}
    effects, written = False, set()
    for statement in _flat(function.body):
        match statement:
            case Store(array=array) | Atomic(array=array):
                if array in position:
                    written.add(position[array])
                    effects = True
            case Barrier():
                effects = True
            case CallStmt(function=name, args=args):
                callee = summaries[name]
                effects = effects or callee.effects
                for k in callee.written:
                    argument = args[k]
                    if isinstance(argument, ArrayRef) and argument.array in position:
                        written.add(position[argument.array])
    return effects, frozenset(written)
