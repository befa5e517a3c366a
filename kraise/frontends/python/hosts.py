"""Which functions of a Python module are host functions (they launch kernels, or call one that does), and their IR."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import libcst as cst

from kraise.diagnostics import Diagnostic
from kraise.frontends.python import (
    host_classes,
    host_closures,
    host_elements,
    host_elementwise,
    host_inputs,
    host_partials,
    host_raw,
    host_reducers,
    host_results,
    host_units,
    host_unread,
    infer,
    ranks,
    source,
)
from kraise.frontends.python.function import Context, lower
from kraise.frontends.python.host_attributes import without_objects
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_words import holding, module_tables
from kraise.frontends.python.names import Imports
from kraise.frontends.python.passes import gives, reached, with_shapes
from kraise.frontends.python.source import all_of, dotted, walk
from kraise.frontends.python.survey import Definition, Survey, functions_of
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import changed, stored
from kraise.ir.host_sharing import synced


def read_hosts(
    context: Context,
    found: Survey,
    functions: tuple[k.Function, ...],
    only: tuple[str, ...],
    foreign: Mapping[str, k.Function] = MappingProxyType({}),
    told: Mapping[str, set[str]] = MappingProxyType({}),
    passing: frozenset[str] = frozenset(),
) -> tuple[tuple[h.Host, ...], list[k.Function], list[Diagnostic]]:
    """The host functions of a module, callees first; loops of theirs that became functions; why some were not read.

    A method counts under the name of the function that it becomes; of two functions of one name the first counts.
    ``foreign`` are the kernels in strings of the file, ``told`` the attributes that methods were found to change,
    ``passing`` the plain functions that are read as hosts of the nests in them.
    """
    kernels = {n for n, d in found.functions.items() if d.kind == "kernel"} | set(foreign)
    nodes: dict[str, cst.FunctionDef] = {}
    for node, around, method in functions_of(context.source.tree):
        if not around and not method and node.name.value not in kernels:
            nodes.setdefault(node.name.value, node)
    of_elements = host_elementwise.units(context.source.tree, context.imports)
    raw = host_raw.names(context.source.tree, context.imports, foreign)
    raw = {n: f for n, f in raw.items() if n not in of_elements}

    def with_launches(node: cst.FunctionDef) -> cst.FunctionDef:
        node = host_raw.with_array_module(context.source, node, context.imports)
        return host_elementwise.with_outputs(
            context.source, host_raw.with_launches(context.source, node, raw), of_elements
        )

    nodes = {n: with_launches(f) for n, f in nodes.items()}
    nodes = {n: with_shapes(context.source, f) if n in reached(passing, found) else f for n, f in nodes.items()}
    launching_methods = host_raw.of_classes(context.source, with_launches)
    by_name = {**foreign, **{f.name: f for f in functions}}
    stores = {n: stored(by_name[n]) for n in kernels if n in by_name}
    methods = host_classes.methods(launching_methods, context.imports, stores, told)
    methods = {n: m for n, m in methods.items() if n not in nodes and n not in kernels}
    nodes |= {n: m.node for n, m in methods.items()}
    owners = {n: m.owner for n, m in methods.items()}
    plain = [
        without_objects(context.source, n) if isinstance(n, cst.ClassDef) else n for n in launching_methods.tree.body
    ]
    records = host_units.records(launching_methods.tree.with_changes(body=plain), context.imports)
    contexts = host_units.context_managers(context.source.tree, context.imports)
    generators = host_units.generators(context.source.tree.body)
    enums = host_units.enumerations(context.source.tree, context.imports)
    reducers = host_reducers.reducers(context.source.tree, context.imports)
    nodes = {n: f for n, f in nodes.items() if n not in reducers}
    held = host_partials.held(context.source, context.imports)
    elementwise, unread = host_unread.generated(context.source.tree, context.imports)
    held_in = holding(module_tables(context.source.tree, kernels), kernels)
    elementwise |= set(of_elements)
    left_open = host_elementwise.left_open(context.source.tree, of_elements)
    started = {*_launching(records, kernels), *reducers, *elementwise}
    hosts = _hosts(nodes, kernels, started, held, held_in, passing)
    while more := _mentioning(records, {*hosts, *started}) - started:  # by functions that launch, or by other objects
        started |= more
        hosts = _hosts(nodes, kernels, started, held, held_in, passing)
    apart = set(by_name) - _only_of_hosts(nodes, by_name, hosts, passing)
    made = {n: u for n, f in nodes.items() if n not in apart and (u := host_units.unit(f))}
    launching = {n: u for n, u in made.items() if n in hosts}
    made = {n: u for n, u in made.items() if n not in unread}
    helpers = {n: u for n, u in made.items() if n not in hosts and n not in contexts and n not in generators}
    helpers |= {n: u for n, u in host_units.lambdas(context.source.tree.body).items() if n not in nodes}
    helpers |= of_elements
    given = host_elements.given({n: f for n, f in nodes.items() if n in hosts}, context.imports)
    makers = host_closures.makers(nodes.values())
    for name, owner in owners.items():  # the state of a class whose methods launch is made by its __init__
        if name == host_classes.function_name(owner, "__init__") and owner in {owners.get(n) for n in hosts}:
            hosts.setdefault(name, set())
    done: dict[str, h.Host] = {}
    asked: dict[str, host_inputs.Inputs] = {}  # what functions take from outside
    kinds: dict[str, tuple[bool, ...]] = {}
    sure: dict[str, frozenset[str]] = {}
    moves: dict[str, set[str]] = {}
    problems: list[Diagnostic] = []
    outlined: list[k.Function] = []
    written: set[str] = set()  # helpers that their callers hold: it is no loss that they are not functions

    def scope_for(
        name: str, units: Mapping[str, host_units.Unit], arrays: set[str], node: cst.FunctionDef
    ) -> HostScope:
        scope = HostScope(
            context.source, context.imports, context.constants, by_name, frozenset(kernels - set(by_name)), kinds,
            helpers, units, records, contexts, enums, reducers,
        )  # fmt: skip
        scope.generators = generators
        scope.makers = makers
        scope.given = given.get(name, set()) | arrays
        scope.elementwise = frozenset(elementwise)
        scope.plain = name in passing
        scope.foreign = foreign
        mentioned = {x.value for x in all_of(cst.Name, node)}
        scope.left_open = {n for n in left_open if n in mentioned}
        scope.host_params = {n: x.params for n, x in done.items()}
        scope.host_numbers, scope.host_moves = sure, moves
        scope.outline = partial(_outline, context)
        return scope

    changes: dict[str, tuple[bool, ...]] = dict(stores)  # the parameters that each may change
    missed: dict[str, set[str]] = {}
    for name in _ordered(hosts):
        wanted = name in only or any(name in hosts[o] for o in only if o in hosts)
        if (only and not wanted) or (name == "main" and not wanted):
            continue
        node, inputs = host_inputs.with_inputs(context.source, context.imports, nodes[name], asked)
        if inputs.names:
            asked[name] = inputs
            launching |= {name: u} if name in launching and (u := host_units.unit(node)) is not None else {}
        scope_of = partial(scope_for, name, launching, inputs.arrays)
        host, wrong, scope = host_results.read(scope_of, node, name, stores, inputs.names)
        host = host and host_inputs.noted(host, inputs)
        problems += wrong
        if host is not None:
            changes |= {f.name: stored(f) for f in scope.outlined}
            host = synced(host, changes.get)
            written |= scope.written
            if name in owners:  # its attributes stand nowhere in the source as parameters
                attributes = tuple(p.name for p in host.params if p.span is None)
                host = replace(host, owner=owners[name], attributes=attributes)
            if name == host_classes.function_name(owners.get(name, ""), "__init__"):
                host = replace(host, state=host_classes.returned(nodes[name]))
            done[name] = host
            changes[name] = changed(host, changes)
            if name in methods and name != host_classes.function_name(methods[name].owner, "__init__"):
                may = {p.name for p, is_changed in zip(host.params, changes[name], strict=True) if is_changed}
                own = {a for n, a in methods[name].spelled.items() if n in may}
                if not own <= methods[name].changed:
                    missed[name] = own | set(told.get(name, ()))
            sure[name], moves[name] = scope.numbers, scope.moves
            outlined += scope.outlined
            kinds[name] = tuple(isinstance(v, k.ArrayRef) for v in h.returned(host.body))
    if missed:  # by what is called, or a view: what these methods return was not known
        return read_hosts(context, found, functions, only, foreign, {**told, **missed}, passing)
    for name, node in nodes.items():
        if name not in done and name not in by_name and (call := host_raw.not_launched(node, raw)) is not None:
            problems = [p for p in problems if p.kernel != name]
            problems.append(host_raw.refusal(context.source, name, *call))
    for name, node in nodes.items():
        if name not in hosts and (elsewhere := _launched(node) & set(context.imports.bound)):
            reason = f"{', '.join(sorted(elsewhere))}, which is launched here, is a kernel of another file"
            hint = "no file beside this one, or of its package, defines it: put its file there"
            problems.append(Diagnostic("KR213", reason, context.source.span(node.name), hint, name))
    refused = {p.kernel for p in problems}
    seen = {*done, *refused, *by_name, *written}
    silent = host_unread.refusals(context.source, context.imports, unread, kernels, seen, set(records))
    problems += [p for p in silent if (not only and p.kernel != "main") or p.kernel in only]
    problems = [p for p in problems if p.kernel not in written or p.kernel in only]
    return tuple(done.values()), outlined, problems


def with_launched(parsed: source.Source, imports: Imports, found: Survey, only: tuple[str, ...]) -> tuple[str, ...]:
    """The names that are asked for, and of a host function among them what it launches and calls."""
    if not only:
        return only
    kernels = {n for n, d in found.functions.items() if d.kind == "kernel"}
    nodes = {n.name.value: n for n, around, method in functions_of(parsed.tree) if not around and not method}
    for name, method in host_classes.methods(parsed, imports, {}).items():
        nodes.setdefault(name, method.node)
    classes = {n.name.value: n for n in parsed.tree.body if isinstance(n, cst.ClassDef)}
    hosts = _hosts({n: f for n, f in nodes.items() if n not in kernels}, kernels)
    wanted = list(only)
    for name in wanted:
        own: cst.ClassDef | cst.FunctionDef | None = classes.get(name) or nodes.get(name)
        mentioned = {n.value for n in all_of(cst.Name, own.body)} if own is not None else set()
        if name in hosts or name in classes or (mentioned & set(classes) and name not in kernels):
            called = {n for n in found.functions if n in mentioned and found.functions[n].kind == "plain"}
            more = sorted((mentioned & (kernels | set(classes) | set(hosts))) | called)
            wanted += [m for m in more if m not in wanted]
    return tuple(n for n in wanted if n not in classes)


def _outline(context: Context, node: cst.FunctionDef) -> k.Function | None:
    """A function made of a loop of a host, lowered as a plain function; None where that fails."""
    definition = Definition(node.name.value, node, "plain", False)
    facts = context.ranks
    parameters = {definition.name: [p.name.value for p in node.params.params]}
    tables = {n: len(c.shape) for n, c in context.constants.items() if c.shape}
    ranks.collect(facts, definition, context.imports, parameters, tables)
    facts.solve()
    with source.deep():
        summary, _ = lower(context, definition, {})
    if summary is None:
        return None
    return infer.infer({definition.name: summary.function}, {definition.name: frozenset()}, context.constants)[
        definition.name
    ]


def _only_of_hosts(
    nodes: Mapping[str, cst.FunctionDef],
    functions: Mapping[str, k.Function],
    hosts: Collection[str],
    passing: Collection[str],
) -> set[str]:
    """The functions of which only host functions make use: those without loops, and of plain ones all that give back a
    number or an array of their own."""
    callers: dict[str, set[str]] = {}
    for name, node in nodes.items():
        for inner in walk(node.body):
            if isinstance(inner, cst.Name) and inner.value in functions:
                callers.setdefault(inner.value, set()).add(name)
    fitting = {
        n for n, own in callers.items() if n in nodes and own <= {*hosts} and functions[n].kind != "kernel"
    }  # fmt: skip
    loops = cst.For | cst.While
    plain = set(passing)
    while more := {n for n in fitting - plain if callers[n] <= plain and gives(nodes[n])}:
        plain |= more
    return {n for n in fitting if n in plain or not all_of(loops, nodes[n].body)}


def _launching(records: Mapping[str, host_units.Record], kernels: set[str]) -> set[str]:
    """The classes with a method that launches."""
    return {
        name for name, record in records.items() for made in record.methods.values() for line in made.body
        if any(dotted(n.value) in kernels for n in all_of(cst.Subscript | cst.Attribute, line))
    }  # fmt: skip


def _mentioning(records: Mapping[str, host_units.Record], names: Collection[str]) -> set[str]:
    """The classes with a method that mentions one of the names."""
    return {
        name for name, record in records.items() for made in record.methods.values() for line in made.body
        if any(n.value in names for n in all_of(cst.Name, line))
    }  # fmt: skip


def _launched(node: cst.FunctionDef) -> set[str]:
    """The names that a function launches (``kernel[grid, block](…)``), whatever they are."""
    return {
        n.func.value.value for n in all_of(cst.Call, node.body)
        if isinstance(n.func, cst.Subscript) and isinstance(n.func.value, cst.Name)
    }  # fmt: skip


_TELLING = cst.Subscript | cst.Call | cst.For | cst.Name | cst.Assign


def _hosts(
    nodes: Mapping[str, cst.FunctionDef],
    kernels: set[str],
    classes: Collection[str] = (),
    held: Mapping[str, str] = MappingProxyType({}),
    tables: Collection[str] = (),
    more_of_them: Collection[str] = (),
) -> dict[str, set[str]]:
    """The functions that launch, directly, by a call or by an object, with the host functions that each calls; ``held``
    are the functions that ``functools.partial`` holds, by their names, ``tables`` what holds kernels."""
    calls: dict[str, set[str]] = {}
    found = set(more_of_them)
    launchers = {n for n, f in nodes.items() if _launched(f) & {p.name.value for p in f.params.params}}
    for name, node in nodes.items():
        calls[name] = set()
        for inner in all_of(_TELLING, node.body):
            match inner:
                case cst.Subscript(value=value) if dotted(value) in kernels:
                    found.add(name)
                case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value="forall"))) if (
                    dotted(value) in kernels
                ):
                    found.add(name)
                case cst.Call(func=cst.Name(value=callee), args=args) if callee in launchers and any(
                    dotted(a.value) in kernels for a in args
                ):
                    found.add(name)
                case cst.For() if _launched(node) & host_units.assigned(inner) and any(
                    isinstance(n, cst.Name) and n.value in kernels for n in walk(node)
                ):  # for kernel, s in ((add, 1.0), …)
                    found.add(name)
                case (
                    cst.Call(func=cst.Name(value=callee)) | cst.Call(func=cst.Attribute(value=cst.Name(value=callee)))
                ) if callee in classes:
                    found.add(name)
                case cst.Name(value=table) if table in tables:
                    found.add(name)
                case cst.Call(func=cst.Name(value=callee)) if (callee := held.get(callee, callee)) in nodes:
                    calls[name].add(callee)
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=own))]) if held.get(own) in nodes:
                    calls[name].add(held[own])
    while True:
        more = {n for n, c in calls.items() if n not in found and c & found}
        if not more:
            return {n: calls[n] & found for n in nodes if n in found}
        found |= more


def _ordered(hosts: Mapping[str, set[str]]) -> list[str]:
    order: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in order or name in above:
            return
        for callee in sorted(hosts[name], key=list(hosts).index):
            visit(callee, (*above, name))
        order.append(name)

    for name in hosts:
        visit(name, ())
    return order
