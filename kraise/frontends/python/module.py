"""A whole file: which functions are read, in which order, and what is reported of those that are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

from kraise.diagnostics import Diagnostic
from kraise.diagnostics.collect import guard
from kraise.frontends.python import (
    captured,
    factories,
    given,
    grouped,
    host_script,
    imported,
    infer,
    nested,
    passes,
    ranks,
    records,
    source,
    spelled,
    survey,
)
from kraise.frontends.python.constants import Folder, read_constants
from kraise.frontends.python.function import Context, lower
from kraise.frontends.python.hosts import read_hosts, with_launched
from kraise.frontends.python.names import Imports, read_imports
from kraise.frontends.python.scope import Summary
from kraise.frontends.python.survey import Definition
from kraise.ir.kernel import Call, CallStmt, Constant, Function, Module


def read_module(
    text: str,
    file: str,
    kernel_decorators: tuple[str, ...],
    only: tuple[str, ...],
    foreign: Mapping[str, Function],
    folder: Path | None,
) -> tuple[Module, tuple[Diagnostic, ...]]:
    """See ``kraise.frontends.python.read``."""
    text = text.removeprefix("\ufeff")
    parsed = source.parse(text, file)
    try:
        with source.deep():
            parsed = imported.with_imported(parsed, folder, kernel_decorators, only)
            return _read(text, parsed, kernel_decorators, only, foreign)
    except RecursionError:
        raise source.too_deep(file) from None


def _read(
    text: str,
    parsed: source.Source,
    kernel_decorators: tuple[str, ...],
    only: tuple[str, ...],
    foreign: Mapping[str, Function],
):
    imports = read_imports(parsed.tree)
    parsed = given.as_given(grouped.as_constants(parsed, imports), imports)
    constants = read_constants(parsed, imports)
    text_of_file, parsed = parsed, factories.with_kernels(parsed, imports, constants)
    parsed = spelled.as_kernels(parsed, imports, kernel_decorators)
    parsed = captured.with_parameters(nested.in_module(parsed, imports, kernel_decorators), imports, kernel_decorators)
    parsed, with_members = records.flattened(parsed, imports, kernel_decorators, only)
    scripted, problems = guard(host_script.NAME, None, host_script.with_main, parsed, imports, constants, only)
    parsed = scripted or parsed
    if parsed is not text_of_file:
        constants = read_constants(parsed, imports)
    found = survey.survey(parsed, imports, kernel_decorators)
    only = with_launched(parsed, imports, found, only)
    wanted = _wanted(found, only, parsed.moved)
    folder = Folder(imports)
    folder.values = constants
    context = Context(parsed, imports, constants, found.functions, folder)
    context.ranks = _ranks(context, wanted)
    problems += _names(found, parsed)
    summaries: dict[str, Summary] = {}
    refused: dict[str, list[Diagnostic]] = {}
    for definition in wanted:
        summary, wrong = lower(context, definition, summaries)
        if summary is not None:
            summaries[definition.name] = summary
        else:
            refused[definition.name] = wrong
    fixed = {n: context.fixed[s.origin] for n, s in summaries.items()}
    typed = infer.infer({n: s.function for n, s in summaries.items()}, fixed, constants)
    typed |= {n: records.restored(typed[n], members, parsed) for n, members in with_members.items() if n in typed}
    functions = _ordered(typed, found, summaries)
    whole = {n for n, wrong in refused.items() if all(d.code == "KR103" for d in wrong)}
    passing = passes.as_hosts(found.functions, whole) - with_members.keys()
    others = tuple(f for f in functions if f.name not in passing)
    hosts, outlined, unread = read_hosts(context, found, others, only, foreign, passing=passing)
    hosts, unread = records.not_launched(hosts, unread, with_members)
    hosts = tuple(passes.giving_back(x, found.functions) if x.name in passing else x for x in hosts)
    unread = [d for d in unread if d.kernel not in passing]
    passing &= {x.name for x in hosts}  # the others are what they are as plain functions
    functions = tuple(f for f in functions if f.name not in passing)
    taken = {f.name for f in functions}
    hosts = tuple(x for x in hosts if x.name not in taken)
    functions = (*functions, *outlined)
    launched = {x.name for x in hosts} | {d.kernel for d in unread}
    # a host has its helpers written out, or says itself what is wrong
    reported = _reported([d for d in wanted if d.name not in launched], only, imports)
    for definition in found.functions.values():  # in the order of the source
        if definition.name in refused and definition.name in reported:
            problems.extend(_said(definition, refused[definition.name], parsed))
    problems = [d for d in problems if d.kernel not in launched] + unread
    module = Module(
        parsed.file,
        "python",
        functions,
        tuple(_used(constants, parsed, (*functions, *hosts))),
        (),
        survey.doc_of(parsed.tree),  # type: ignore[arg-type]
        source.comments(text),
        hosts,
    )
    return module, tuple(problems)


def _said(definition: Definition, found: list[Diagnostic], parsed: source.Source) -> list[Diagnostic]:
    """The diagnostics of a function; of one that is array code, that it is, once."""
    mark = survey.array_code(definition.node) if definition.kind != "kernel" else None
    span = None if mark is None else parsed.span(mark)
    if span is None:
        return found
    reason = (
        f"{definition.source_name} computes with whole arrays here: this is array code, and no scalar loops to raise"
    )
    hint = "array code needs no raising: write jax.numpy for numpy, and x = x.at[i].set(v) for x[i] = v"
    if definition.kind == "plain":
        reason = f"{definition.source_name} computes with whole arrays here, beside its loops: array code is not raised"
        hint = "write the line as a loop over elements, or give it a function of its own (it needs no raising)"
    return [Diagnostic("KR101", reason, span, hint, definition.name)]


def _names(found: survey.Survey, parsed: source.Source) -> list[Diagnostic]:
    """What is to be said of kernels that share a name."""
    said: list[Diagnostic] = []
    for again in found.repeated:
        first = parsed.span(found.functions[again.name].node.name)
        at = f" (first in line {first.line})" if first is not None else ""
        reason = f"{again.name} is defined more than once{at}; only the first is raised"
        hint = "give each kernel its own name"
        said.append(Diagnostic("KR107", reason, parsed.span(again.node.name), hint, again.name))
    for other in found.renamed:
        reason = f"there is another {other.source_name} in this file: this one is raised as {other.name}"
        hint = f"a kernel of one name in the file keeps that name: --only {other.name} still selects this one"
        at_name = parsed.span(other.node.name)
        said.append(Diagnostic("KR107", reason, at_name, hint, other.name, "note"))
    return said


def _ordered(typed: dict[str, Function], found: survey.Survey, summaries: dict[str, Summary]) -> tuple[Function, ...]:
    """Functions in the order of the source; a helper's copies stand for it where only they are called."""
    copies: dict[str, list[str]] = {}
    for name, summary in summaries.items():
        original = summary.origin
        if name != original:
            copies.setdefault(original, []).append(name)
    called = _called(typed)
    result: list[Function] = []
    for name, definition in found.functions.items():
        if name in typed and not (name in copies and name not in called and not definition.decorated):
            result.append(typed[name])
        result.extend(typed[c] for c in copies.get(name, ()) if c in called)
    return tuple(result)


def _called(functions: dict[str, Function]) -> set[str]:
    """Names of functions that some function calls."""
    found: set[str] = set()
    stack: list = [f.body for f in functions.values()]
    while stack:
        top = stack.pop()
        if isinstance(top, tuple):
            stack.extend(top)
        elif is_dataclass(top):
            if isinstance(top, Call | CallStmt):
                found.add(top.function)
            stack.extend(getattr(top, f.name) for f in fields(top) if f.name not in ("span", "type"))
    return found


def _wanted(found: survey.Survey, only: tuple[str, ...], moved: frozenset[str]) -> list[Definition]:
    """The functions to read, callees before callers."""
    if only:
        roots = [n for n in found.functions if n in only]
    else:
        roots = [n for n, d in found.functions.items() if d.kind == "kernel" or (d.kind == "plain" and n not in moved)]
        roots += [n for n, d in found.functions.items() if d.kind == "device" and d.decorated]
    order: list[Definition] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        definition = found.functions[name]
        for callee in definition.calls:
            visit(callee)
        if definition.kind in ("scalar", "host", "ufunc", ""):
            definition = replace(definition, kind="plain" if name in only else "device")
            found.functions[name] = definition
        order.append(definition)

    for name in roots:
        visit(name)
    return order


def _ranks(context: Context, wanted: list[Definition]) -> ranks.Ranks:
    facts = ranks.Ranks()
    tables = {n: len(c.shape) for n, c in context.constants.items() if c.shape}
    parameters = {d.name: [p.name.value for p in d.node.params.params] for d in wanted}
    for definition in wanted:
        ranks.collect(facts, definition, context.imports, parameters, tables)
        for name, rank in context.annotated_ranks(definition).items():
            facts.at_least((definition.name, name), rank)
    facts.solve()
    return facts


def _reported(wanted: list[Definition], only: tuple[str, ...], imports: Imports) -> set[str]:
    """Whose problems are the user's concern? Not those of hosts and tests that merely look like loops."""
    calls = {d.name: d.calls for d in wanted}
    todo = [d.name for d in wanted if d.decorated or d.name in only or survey.is_scalar_nest(d.node, imports)]
    found: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(calls.get(name, ()))
    return found


def _used(constants: dict[str, Constant], parsed: source.Source, functions: tuple) -> list[Constant]:
    """The constants that some function reads, in the order of the source."""
    names: set[str] = set()
    stack: list = [f.body for f in functions] if constants else []
    while stack:
        top = stack.pop()
        if isinstance(top, tuple):
            stack.extend(top)
            continue
        name = getattr(top, "array", "") or (getattr(top, "name", "") if type(top).__name__ == "Const" else "")
        if isinstance(name, str) and name:
            names.add(name)
        for attribute in getattr(top, "__dataclass_fields__", ()):
            value = getattr(top, attribute)
            if isinstance(value, tuple) or hasattr(value, "__dataclass_fields__"):
                stack.append(value)
    return [c for n, c in constants.items() if n in names]
