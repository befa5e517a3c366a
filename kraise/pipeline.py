"""The whole flow on one screen: text -> Kernel IR -> equations -> text. Read this first.

Stages refuse by raising :class:`Refused`; here the diagnostics of all kernels of a file are collected, so that one
refused kernel does not stop the others, and a bug of ours (any other exception) becomes one KR900 with its place.
Stages are imported when they are first needed: ``kraise --version`` pays for none of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.diagnostics.collect import guard, placed
from kraise.options import Options
from kraise.verify.request import Request

if TYPE_CHECKING:
    from kraise.ir import equations, kernel
    from kraise.ir.activity import Activity
    from kraise.verify.cases import Case
    from kraise.verify.original import Original
    from kraise.verify.report import Report

LANGUAGES = {".py": "python"} | dict.fromkeys((".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".hip"), "cuda_c")
HEADERS = (".h", ".hh", ".hpp", ".inl")  # CUDA C where one is named; in a folder, what includes them is read
DEFAULTS = Options()


@dataclass(frozen=True)
class Translation:
    """What became of one source file: the module's text (None if no kernel was raised), the raised kernels' names,
    the findings, the equations and the Kernel IR."""

    text: str | None
    raised: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    module: equations.Module | None
    source: kernel.Module | None


def language_of(file: str, options: Options) -> str:
    """The language of ``file``; raises Refused (KR105) where neither its suffix nor the options tell."""
    suffix = PurePath(file).suffix.lower()
    language = options.language or LANGUAGES.get(suffix, "cuda_c" if suffix in HEADERS else "")
    if not language:
        reason = f"`{PurePath(file).name}` is neither Python nor CUDA C by its suffix"
        raise Refused(Diagnostic("KR105", reason, Span(file, 1), "say which with --language python|cuda_c"))
    return language


def read(source: str, file: str, options: Options) -> tuple[kernel.Module, tuple[Diagnostic, ...]]:
    """Text -> Kernel IR, and what could not be read; raises Refused where the whole file cannot be.

    The module knows its file by name only: the same source gives the same text, whatever folder it lies in.
    """
    name = PurePath(file).name
    from kraise.ir.tables import with_tables

    if language_of(file, options) == "python":
        from kraise.frontends import embedded, python

        given: dict[str, Any] = {"kernel_decorators": options.kernel_decorators, "only": options.only}
        given["folder"] = Path(file).parent
        if not embedded.holds(source):
            found = python.read(source, name, **given)
        else:
            other, more = embedded.read(source, file, options.defines, options.include_dirs)
            given["foreign"] = {f.name: f for f in other.functions if f.kind == "kernel"}
            found = embedded.joined(*python.read(source, name, **given), other, more)
        return with_tables(found[0]), found[1]
    from kraise.frontends import cuda_c

    module, findings = cuda_c.read(
        source,
        name,
        defines=options.defines,
        include_dirs=(str(Path(file).parent), *options.include_dirs),
        instantiate=options.instantiate,
        only=options.only,
    )
    return with_tables(module), findings


def raise_all(
    module: kernel.Module, options: Options, unread: tuple[Diagnostic, ...] = ()
) -> tuple[list[equations.Kernel], kernel.Module, list[Diagnostic]]:
    """Kernel IR -> equations, kernel by kernel; a device function is raised with those that call it. Where a host
    function that was asked for is ``unread``, the kernels come out none the less. Parameters that are called like the
    launch's keywords have other names in the module that comes back."""
    from kraise.ir.host import launched_by
    from kraise.ir.launch_names import with_underscores
    from kraise.raising import raise_function

    kernels, findings = [], []
    chosen = {*options.only, *(name for x in module.hosts for name in launched_by(x))}
    if {d.kernel for d in unread if d.severity == "error"} & set(options.only):
        chosen |= {f.name for f in module.functions if f.kind == "kernel"}
    for function in module.functions:
        if function.kind == "device" or (options.only and function.name not in chosen):
            continue
        module, function = with_underscores(module, function, launched=False)
        raised, refused = guard(function.name, function.span, raise_function, module, function, options)
        if raised is not None and raised.launch:
            module, other = with_underscores(module, function, launched=True)
            if other is not function:
                raised, refused = guard(other.name, other.span, raise_function, module, other, options)
        kernels += [raised] if raised is not None else []
        findings += refused
    return kernels, module, findings


def misunderstood(sentence: str) -> str:
    """Why a sentence of ``--grad`` is not understood, "" where it is."""
    from kraise.ir.activity import ActivityError, parse

    try:
        parse(sentence)
    except ActivityError as error:
        return str(error)
    return ""


def not_assumed(sentence: str) -> str:
    """Why a sentence of ``--assume`` is not understood, "" where it is."""
    from kraise.ir.assumptions import KNOWN, assumption

    return "" if assumption(sentence) else f"`{sentence}` is not understood; write {KNOWN}"


def with_derivatives(
    kernels: list[equations.Kernel], hosts: tuple[Any, ...], own: tuple[Activity, ...], options: Options
) -> tuple[list[equations.Kernel], tuple[Any, ...], list[Diagnostic]]:
    """The kernels and host functions with what the user wants differentiated, or else what the source itself (``own``)
    differentiates.

    A sentence that names no function concerns each that fits.
    """
    functions: list[Any] = [*kernels, *hosts]
    if not (own or options.grad) or not functions:
        return kernels, hosts, []
    from kraise.emit.gradients.derivatives import lacked, lacking
    from kraise.ir.activity import parse

    findings: list[Diagnostic] = []
    for sentence in options.grad:
        activity = parse(sentence)
        named = [f for f in functions if f.name == activity.kernel]
        fitting = functions if len(functions) == 1 else [f for f in functions if not lacking(f, activity)]
        if not activity.kernel and not fitting:
            findings += lacked(functions, activity, sentence.strip()).diagnostics
        chosen = named if activity.kernel else fitting
        functions = [replace(f, derivatives=(*f.derivatives, activity)) if f in chosen else f for f in functions]
    for at, f in enumerate(functions):
        if not f.derivatives:
            functions[at] = replace(f, derivatives=tuple(a for a in own if a.kernel == f.name))
    return functions[: len(kernels)], tuple(functions[len(kernels) :]), findings


def raise_all_hosts(
    module: kernel.Module, kernels: list[equations.Kernel], refused: list[Diagnostic], options: Options
) -> tuple[tuple[Any, ...], list[equations.Kernel], kernel.Module, list[Diagnostic]]:
    """Host IR -> values, host by host, callees first; the kernels and the module with what they need beside them (some
    kernels that were ``refused`` are raised by what the hosts say)."""
    if not module.hosts:
        return (), kernels, module, []
    from kraise.raising import raise_function
    from kraise.raising.hosts.module import raise_hosts

    scattering = [d.kernel for d in refused if d.code == "KR202"]
    return raise_hosts(module, kernels, raise_function, options, scattering)


def emit(module: equations.Module) -> tuple[str | None, equations.Module, list[Diagnostic]]:
    """Equations -> text. A kernel that cannot be emitted is left out and reported; the others come out."""
    from kraise.emit import emit_module

    if not module.kernels and not module.hosts:
        return None, module, []
    text, findings = guard("", None, emit_module, module)
    if text is None and module.hosts:  # a host function may be the culprit: they are tried one by one
        kept_hosts: tuple[Any, ...] = ()
        problems: list[Diagnostic] = []
        if guard("", None, emit_module, replace(module, hosts=()))[0] is not None:
            lost: set[str] = set()
            for host in module.hosts:
                if lost.intersection(host.calls):
                    lost.add(host.name)
                    reason = "a function that it calls was not emitted"
                    problems.append(Diagnostic("KR212", reason, host.span, kernel=host.name))
                    continue
                # a host function comes out without its derivatives, too
                for one in dict.fromkeys((host, replace(host, derivatives=()))):
                    given_hosts = (*kept_hosts, one)
                    whole, refused = guard(host.name, host.span, emit_module, replace(module, hosts=given_hosts))
                    problems += refused if one is host or whole is None else []
                    if whole is not None:
                        kept_hosts = given_hosts
                        break
                else:
                    lost.add(host.name)
            module = replace(module, hosts=kept_hosts)
            return emit_module(module) if module.kernels or kept_hosts else None, module, problems
        given = module.hosts
        text, module, findings = emit(replace(module, hosts=()))
        reason = "a function that it calls was not emitted"
        return text, module, [*findings, *(Diagnostic("KR212", reason, x.span, kernel=x.name) for x in given)]
    if text is None:  # find the culprits one by one, then emit the others together
        kept: tuple[equations.Kernel, ...] = ()
        culprits: list[Diagnostic] = []
        for k in module.kernels:
            # a kernel comes out without its derivatives, too
            for one in dict.fromkeys((k, replace(k, derivatives=()))):
                done, refused = guard(k.name, k.span, emit_module, replace(module, kernels=(one,)))
                culprits += refused if one is k or done is None else []
                if done is not None:
                    kept += (one,)
                    break
        if not culprits or kept == module.kernels:
            return None, replace(module, kernels=()), findings
        text, rest, more = emit(replace(module, kernels=kept))
        return text, rest, culprits + more
    return text, module, findings


def translate(source: str, file: str, options: Options = DEFAULTS) -> Translation:
    """One source text to one JAX module. Never raises for what the source holds: see ``diagnostics``."""
    from kraise.ir import equations
    from kraise.ir.activity import Memory

    outcome, findings = guard("", Span(PurePath(file).name, 1), read, source, file, options)
    if outcome is None:
        return Translation(None, (), placed(findings, file), None, None)
    ir, unread = outcome
    kernels, ir, refused = raise_all(ir, options, unread)
    memory = Memory(options.remat or "auto", options.limit)
    hosts, kernels, ir, not_raised = raise_all_hosts(ir, kernels, refused, options)
    done = {k.name for k in kernels}  # some of them by what the hosts say
    refused = [d for d in refused if d.kernel not in done or d.severity != "error"]
    kernels = [replace(k, memory=memory) for k in kernels]
    hosts = tuple(replace(h, remat=memory.remat) for h in hosts)
    kernels, hosts, unknown = with_derivatives(kernels, hosts, ir.activities, options)
    around = (ir.constants, ir.comments, ir.doc, hosts, options.checked)
    module = equations.Module(ir.file, ir.language, tuple(kernels), *around)
    text, module, unprinted = emit(module)
    all_findings = placed([*unread, *refused, *unknown, *not_raised, *unprinted], file)
    raised = tuple(k.name for k in (*(k for k in module.kernels if not k.rimmed), *module.hosts))
    return Translation(text, raised, all_findings, module, ir)


def explain(done: Translation) -> tuple[tuple[str, int, str], ...]:
    """The raised functions of a translation: name, source line, and equations as readable mathematics (of a host
    function its statements, and what was left out of it)."""
    from kraise.ir.print_equations import render_kernel
    from kraise.ir.print_host import render_host

    kernels = done.module.kernels if done.module else ()
    shown = [(k.name, k.span.line if k.span else 1, render_kernel(k)) for k in kernels]
    hosts = [x for x in done.source.hosts if x.name in done.raised] if done.source else []
    return (*shown, *((x.name, x.span.line if x.span else 1, render_host(x)) for x in hosts))


def compiled(
    done: Translation, request: Request, options: Options = DEFAULTS
) -> tuple[dict[str, tuple[str, str]], list[Diagnostic]]:
    """What XLA makes of each raised function: its arguments in words, and the kernels of its compiled module, counted.

    The sizes are those of the request; where it leaves some open, they come from its case or are inferred.
    """
    from kraise.verify.chosen import case_for
    from kraise.verify.hlo import compile_function, described, given_case

    found, findings = dict[str, tuple[str, str]](), list[Diagnostic]()
    for name in done.raised if done.source is not None and done.text is not None else ():
        assert done.source is not None
        function = done.source.function(name)
        own = {p.name for p in function.params}
        shapes = {n: s for n, s in request.shapes.items() if n in own}
        values = {n: v for n, v in request.values.items() if n in own}
        wanted = replace(request, shapes=shapes, values=values)
        case = given_case(function, shapes, values)
        problems: list[Diagnostic] = []
        if case is None or request.case:
            case, problems = guard(name, function.span, case_for, done.source, name, wanted, "", options.assume)
        if case is not None:
            done_with, problems = guard(name, function.span, compile_function, done.source, done.text, name, case)
            found |= {name: (described(case), str(done_with))} if done_with is not None else {}
        findings += problems
    return found, findings


def verify(
    done: Translation, request: Request, file: str = "", source: str = "", options: Options = DEFAULTS
) -> tuple[list[Report], list[Diagnostic]]:
    """The raised kernels of a translation against the reference interpreter, and why some could not be compared.

    With ``request.original`` the ``source`` itself runs, too: C++ through the machine's compiler, Python as it stands.
    """
    from kraise.verify.chosen import counted_case
    from kraise.verify.compare import verify as compare
    from kraise.verify.launches import demanded_sizes, demanded_threads, lone_axes, wide_rows

    reports: list[Report] = []
    findings: list[Diagnostic] = []
    original, problems = guard("", None, _original, source, file, options) if request.original else (None, [])
    findings += problems
    for name in done.raised:
        span = done.source.function(name).span if done.source else None
        functions: tuple[Any, ...] = (*done.module.kernels, *done.module.hosts) if done.module else ()
        asked = next((f.derivatives for f in functions if f.name == name), ())
        chosen: dict[str, Any] = {"gradients": request.gradients, "original": original, "activities": asked}
        chosen["thorough"] = request.thorough
        counted = next((k.rounds for k in done.module.kernels if k.name == name), ()) if done.module else ()
        demanded = (demanded_threads(functions, name), lone_axes(functions, name))
        wanted = replace(request, suggested=demanded_sizes(functions, name))
        for order in ("", "rising", "falling"):  # the function says which sizes it does not take
            asked_for = (done.source, name, wanted, order, options.assume, demanded)
            case, problems = guard(name, span, counted_case, counted, *asked_for)
            checked = None
            if case is not None:
                checked, problems = guard(name, span, compare, done.source, done.text, name, case, **chosen)
            if checked is not None and case is not None and checked.failures and not checked.unfit:
                checked, problems = _with_fitting_data(done, name, case, wanted, options, checked, chosen)
            if checked is None or case is None or not (case.inferred and checked.unfit):
                break
            if case.grid and case.block:
                rows = wide_rows(functions, name, case.grid, case.block)
                wanted = replace(wanted, values={**rows, **request.values})
        reports += [checked] if checked is not None else []
        findings += problems
    return reports, list(placed(findings, file or (done.source.file if done.source else "")))


def _with_fitting_data(
    done: Translation, name: str, case: Case, request: Request, options: Options, report: Report, chosen: dict[str, Any]
) -> tuple[Report | None, list[Diagnostic]]:
    """The report of a comparison that failed, unless the case breaks what the kernel takes for granted of data: then
    that of positive numbers, or why there is none (KR502)."""
    from kraise.verify.chosen import case_for
    from kraise.verify.compare import broken
    from kraise.verify.compare import verify as compare

    relied = next((k.relied for k in done.module.kernels if k.name == name), ()) if done.module else ()
    if not relied or done.source is None or done.module is None:
        return report, []
    found, _, _ = raise_all(done.source, replace(options, checked=True, only=(name,)))
    module = replace(done.module, kernels=tuple(found), hosts=(), checked=True)
    text = emit(module)[0]
    if text is None or not (why := broken(done.source, text, name, case, relied)):
        return report, []
    span = done.source.function(name).span
    if case.inferred:
        sizes = replace(request, values={**{n: v for n, v in case.args.items() if type(v) is int}, **request.values})
        other, _ = guard(name, span, case_for, done.source, name, sizes, "", options.assume, ({}, frozenset()), True)
        if other is not None and not broken(done.source, text, name, other, relied):
            return guard(name, span, compare, done.source, done.text, name, other, **chosen)
    hint = "give arguments that keep to it: a case.toml beside the source"
    return None, [Diagnostic("KR502", f"the arguments break what is assumed: {why}", span, hint, name)]


def _original(source: str, file: str, options: Options) -> Original:
    from kraise.frontends import cuda_c, embedded
    from kraise.verify.original import Original

    folder = str(Path(file).parent)
    folders = (folder, *options.include_dirs)
    if language_of(file, options) == "python" and not embedded.holds(source):
        return Original("python", source, folder)

    given: dict[str, Any] = {"defines": options.defines, "include_dirs": folders}
    text, name = source, PurePath(file).name
    if language_of(file, options) == "python":
        found = cuda_c.find_embedded(source)
        text = "\n".join(one.text for one in found)
        given["instantiate"] = tuple(i for one in found for i in one.instantiate)
    else:
        given["instantiate"] = options.instantiate
    ready = cuda_c.compiler_input(text, name, **given)
    return Original("cuda_c", ready.text, folder, ready.calls, ready.variables, ready.meets, options.defines, folders)
