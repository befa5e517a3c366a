"""``read``: a source text to a module of Kernel IR, with the diagnostics of what was left out."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.frontends.cuda_c import enzyme
from kraise.frontends.cuda_c.functions import Lowering
from kraise.frontends.cuda_c.headers import with_includer
from kraise.frontends.cuda_c.host_variants import Variants
from kraise.frontends.cuda_c.hosts import read_hosts
from kraise.frontends.cuda_c.instantiate import Instantiation, bindings_of, instantiations
from kraise.frontends.cuda_c.namespaces import apart
from kraise.frontends.cuda_c.overloads import kernel_names
from kraise.frontends.cuda_c.plain import is_plain_candidate
from kraise.frontends.cuda_c.preprocess import preprocess
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.qualified import without_namespaces
from kraise.frontends.cuda_c.scan import scan
from kraise.frontends.cuda_c.specialised import specialises
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.textures import as_arrays
from kraise.frontends.cuda_c.told_blocks import told_blocks
from kraise.ir import kernel
from kraise.ir.activity import Activity

PLAIN = (".c", ".cpp", ".cc", ".cxx")


def read(
    source: str,
    file: str,
    *,
    defines: Iterable[str] = (),
    include_dirs: Iterable[str] = (),
    instantiate: Iterable[str] = (),
    only: Iterable[str] = (),
) -> tuple[kernel.Module, tuple[Diagnostic, ...]]:
    """Read CUDA C, HIP or C. Functions with problems are left out of the module; their diagnostics name them.

    ``instantiate`` are template instances such as ``kernel<float, 16>``; ``only`` names host functions that are wanted
    (``main`` is read only then). Raises Refused (KR100, KR105) where the file as a whole cannot be read.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 12_000))
    try:
        return _read(source, file, tuple(defines), tuple(include_dirs), tuple(instantiate), tuple(only))
    finally:
        sys.setrecursionlimit(limit)


def _read(
    source: str,
    file: str,
    defines: tuple[str, ...],
    include_dirs: tuple[str, ...],
    instantiate: tuple[str, ...],
    only: tuple[str, ...] = (),
) -> tuple[kernel.Module, tuple[Diagnostic, ...]]:
    text = preprocess(source, file, defines, include_dirs)
    unit = scan(as_arrays(text.tokens))
    told = apart(unit.tokens, unit)
    unit = unit if told is unit.tokens else scan(told)
    plain_names = without_namespaces(unit.tokens, unit)
    unit = unit if plain_names is unit.tokens else scan(plain_names)
    program = Program(unit, Lowering, file)
    program.comments = text.comments
    diagnostics = [*text.diagnostics, *unit.diagnostics]
    functions: list[kernel.Function] = []
    instances = instantiations(program, instantiate, diagnostics)
    plain = file.endswith(PLAIN)
    seen: set[str] = set()
    asked, misread = enzyme.calls(unit)
    diagnostics += misread
    callers, differentiated = {c.caller for c in asked}, {c.function for c in asked}
    activities: list[Activity] = []
    for item in unit.items:
        if item.kind == "broken" and item.problem is not None:
            diagnostics.append(replace(item.problem, kernel=item.name))
    for name, definitions in program.functions.items():
        for d in definitions:
            if name in callers:
                continue
            if d.kind == "kernel":
                kind = "kernel"
            elif name in differentiated:
                kind = "kernel" if enzyme.is_launched(unit, name) else "plain"
            elif plain and d.kind == "host" and is_plain_candidate(unit, d):
                kind = "plain"
            else:
                continue
            if d.kind == "kernel" and any(specialises(program, x) for x in definitions):
                reason = f"the template `{name}` is defined again for arguments of its own"
                hint = "give each definition a name"
                diagnostics.append(Diagnostic("KR107", reason, _item_span(program, d), hint, name))
                continue
            own = kernel_names(program, name).get(d.item.first if d.item else 0, "") if d.kind == "kernel" else name
            if own in seen or not own:
                hint = "one of them is enough; kernels that take other types may share a name"
                reason = f"there are two functions `{name}`"
                diagnostics.append(Diagnostic("KR107", reason, _item_span(program, d), hint, name))
                continue
            found, problems = read_function(program, d, kind, own, instances.get(name, []))
            diagnostics += [replace(p, kernel=p.kernel or own) for p in problems]
            if found is not None:
                seen.add(own)
                functions.append(found)
                activities += _activities(asked, found, diagnostics)
    diagnostics += enzyme.passed_over(asked, activities)
    for token in program.inferred.values():
        diagnostics.append(
            Diagnostic(
                "KR102",
                f"`{token.text}` is not declared: it is read as a type, because nothing else fits",
                token.span,
                "is a header missing? give -I DIR",
                severity="warning",
            )
        )
    variants = Variants(read_function, taken=set(program.functions))
    hosts, outlined, more = read_hosts(program, functions, only, instances, variants)
    diagnostics += more
    functions, others, hosts = variants.settled(functions, hosts, instances, diagnostics)
    functions += [*others, *outlined]
    devices = [i.function for i in program.instances.values() if not i.inline]
    module = kernel.Module(
        file,
        "cuda_c",
        (*_called(devices, functions), *functions),
        _constants(program, (*devices, *functions, *hosts)),
        comments=tuple(sorted(text.comments.items())),
        hosts=hosts,
        activities=tuple(activities),
        blocks=told_blocks(program, frozenset(f.name for f in functions if f.kind == "kernel")),
    )
    return module, with_includer(diagnostics, file, include_dirs)


def _activities(asked: list[enzyme.Call], function: kernel.Function, diagnostics: list[Diagnostic]) -> list[Activity]:
    """What the file's calls of Enzyme say of a function."""
    found: dict[Activity, None] = {}
    for call in asked:
        if call.function == function.name:
            try:
                found[enzyme.activity(call, function)] = None
            except Refused as refused:
                diagnostics += refused.diagnostics
    return list(found)


def _item_span(program: Program, d: Definition) -> Span | None:
    return program.unit.tokens[d.item.first].span if d.item is not None else None


def read_function(
    program: Program,
    d: Definition,
    kind: str,
    name: str,
    instances: list[Instantiation],
    null: frozenset[str] = frozenset(),
) -> tuple[kernel.Function | None, list[Diagnostic]]:
    """One kernel (for pointers that are ``null``); first with unsuffixed literals as floats, again as doubles if a
    double takes part."""
    problems: list[Diagnostic] = []
    saved = dict(program.instances), dict(program.instance_names)
    program.kernel = d if kind == "kernel" else None
    try:
        program.load(d)
        scope, static, notes = bindings_of(program, d, instances)
        low: Any = None
        for wide in (False, True):
            program.instances, program.instance_names = dict(saved[0]), dict(saved[1])
            low = Lowering(program, wide)
            found = low.function(d, kind, name, dict(scope), static, null)
            if not low.saw_double:
                break
        problems += notes
        problems += low.notes
        if not low.wide and low.inexact_literal is not None:
            low.note(
                "KR104", "literals without a suffix are computed as float: no double takes part", low.inexact_literal
            )
            problems.append(low.notes[-1])
        return found, problems
    except Refused as refused:
        program.instances, program.instance_names = saved
        program.active.clear()
        here = _item_span(program, d)
        return None, [replace(x, span=x.span or here) for x in refused.diagnostics]
    except RecursionError:
        program.active.clear()
        return None, [Diagnostic("KR101", "this is nested too deeply", _item_span(program, d))]


def _called(devices: list[kernel.Function], functions: list[kernel.Function]) -> list[kernel.Function]:
    """The device functions that a kernel reaches, callees first."""
    by_name = {f.name: f for f in devices}
    order: list[str] = []

    def visit(x: object) -> None:
        if isinstance(x, kernel.Call | kernel.CallStmt) and x.function in by_name and x.function not in order:
            for s in by_name[x.function].body:
                visit(s)
            if x.function not in order:
                order.append(x.function)
        for child in _children(x):
            visit(child)

    for f in functions:
        for s in f.body:
            visit(s)
    return [by_name[n] for n in order]


def _children(x: object) -> list[object]:
    out: list[object] = []
    for name in getattr(x, "__dataclass_fields__", ()):
        if name in ("span", "type", "types"):
            continue
        value = getattr(x, name)
        if isinstance(value, tuple):
            out += [v for v in value if hasattr(v, "__dataclass_fields__")]
        elif hasattr(value, "__dataclass_fields__"):
            out.append(value)
    return out


def _constants(program: Program, functions: tuple[Any, ...]) -> tuple[kernel.Constant, ...]:
    """The named constants and tables that the functions use, in the order of their first use."""
    found: dict[str, kernel.Constant] = {}

    def visit(x: object) -> None:
        if isinstance(x, kernel.Const) and x.name and x.name not in found:
            c = program.constants.get(x.name)
            if c is not None:
                found[x.name] = kernel.Constant(x.name, c.type, (c.value,))
        array = getattr(x, "array", "")
        if array and array in program.tables and array not in found:
            found[array] = program.tables[array]
        for child in _children(x):
            visit(child)

    for f in functions:
        for s in f.body:
            visit(s)
    return tuple(found.values())
