"""Which functions of a CUDA C file are host functions, and their IR.

They launch kernels, or call a library that does, or call another host function.

One that only calls libraries and is not understood is passed over, unless another host function needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from kraise.diagnostics import Diagnostic
from kraise.diagnostics.collect import guard
from kraise.frontends.cuda_c.host import HostReader
from kraise.frontends.cuda_c.host_refusals import first_of_each
from kraise.frontends.cuda_c.host_variants import Variants
from kraise.frontends.cuda_c.instantiate import Instantiation
from kraise.frontends.cuda_c.library_table import is_library_word
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.scan import Item
from kraise.frontends.cuda_c.structs import Definition
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten

_LAUNCHES = frozenset(("<<<", "hipLaunchKernelGGL", "cudaLaunchKernel", "hipLaunchKernel"))


def read_hosts(
    program: Program,
    functions: list[k.Function],
    only: tuple[str, ...],
    instances: dict[str, list[Instantiation]],
    variants: Variants,
) -> tuple[tuple[h.Host, ...], list[k.Function], list[Diagnostic]]:
    """The host functions of a file, callees first; loops of theirs that became functions; why some were not read.

    ``main`` is read only where ``only`` names it.
    """
    candidates: dict[str, Definition] = {}
    words: dict[str, set[str]] = {}
    for name, definitions in program.functions.items():
        for d in definitions:
            if d.kind == "host" and d.item is not None and name not in candidates:
                candidates[name] = d
                words[name] = {t.text for t in program.unit.tokens[d.item.first + 1 : d.item.last + 1]} - {name}
    classes: set[str] = set()
    types = [i for i in program.unit.items if i.kind == "type"]
    while more := {i.name for i in types if i.name not in classes and _mentions(program, i, _LAUNCHES | classes)}:
        classes |= more
    libraries = {n for n, w in words.items() if not w & _LAUNCHES and any(map(is_library_word, w))}
    found = {n for n, w in words.items() if w & (_LAUNCHES | classes)} | libraries
    while more := {n for n, w in words.items() if n not in found and w & found}:
        found |= more
    order: list[str] = []

    def visit(name: str, above: tuple[str, ...] = ()) -> None:
        if name in order or name in above:
            return
        for other in [n for n in candidates if n in words[name] & found]:
            visit(other, (*above, name))
        order.append(name)

    for name in [n for n in candidates if n in found]:
        if name != "main" or "main" in only:
            visit(name)
    done: dict[str, h.Host] = {}
    skips: dict[str, set[int]] = {}
    copied: dict[str, set[int]] = {}
    timed: dict[str, set[int]] = {}
    bound: dict[str, dict[str, Any]] = {}
    alone: set[str] = set()  # hosts that give what they show
    on_device: set[str] = set()  # hosts that work on variables of the device
    outlined: list[k.Function] = []
    written_out: set[str] = set()  # helpers that their callers hold: it is no loss that they are not functions
    problems: list[Diagnostic] = []
    by_name = {f.name: f for f in functions}
    wanted = _wanted(only, words, found)
    for name in order:
        if only and name not in wanted:
            continue
        kinds = {n: tuple(isinstance(v, k.ArrayRef) for v in h.returned(x.body)) for n, x in done.items()}
        reader = HostReader(program, by_name, kinds)
        reader.skips, reader.instances, reader.finished = skips, instances, done
        reader.variants = variants
        reader.host_params = {n: x.params for n, x in done.items()}
        reader.host_copied, reader.host_bound, reader.on_device = copied, bound, on_device
        reader.host_timed, reader.others_alone = timed, alone
        place = program.unit.tokens[candidates[name].item.first].span  # type: ignore[union-attr]
        host, wrong = guard(name, place, reader.read, candidates[name], name)
        wanted_by = [n for n in order if name in words[n] and n not in libraries]
        problems += first_of_each(wrong) if name not in libraries or name in only or wanted_by else []
        if host is not None:
            done[name] = host
            on_device |= {name} if reader.symbols else set()
            alone |= {name} if reader.alone else set()
            skips[name] = reader.skipped
            bound[name] = reader.bound
            copied[name] = {at for at, p in enumerate(host.params) if p.name in reader.copied}
            timed[name] = {at for at, p in enumerate(host.params) if p.name in reader.timed}
            problems += reader.warned
            outlined += reader.outlined
            written_out |= reader.written_out
    variants.written_out |= written_out
    problems = [p for p in problems if p.kernel not in written_out or p.kernel in only]
    return _under_own_names(tuple(done.values()), by_name), outlined, problems


def _under_own_names(hosts: tuple[h.Host, ...], functions: Mapping[str, k.Function]) -> tuple[h.Host, ...]:
    """The hosts, of which one that is called like a kernel (C++ tells them apart by their arguments; a module has one
    function of a name) is ``reduce_host``."""
    taken = {*functions, *(x.name for x in hosts)}
    names: dict[str, str] = {}
    for name in (x.name for x in hosts if x.name in functions):
        names[name] = next(n for n in _numbered(f"{name}_host") if n not in taken)
        taken.add(names[name])

    def calls(x: Any) -> h.CallHost | None:
        return replace(x, function=names[x.function]) if isinstance(x, h.CallHost) and x.function in names else None

    def named(x: h.Host) -> h.Host:
        said = f"`{x.name}` of the source, which has a kernel of that name, too." if x.name in names else ""
        doc = "\n\n".join(filter(None, (x.doc, said)))
        return replace(x, name=names.get(x.name, x.name), doc=doc, body=rewritten(x.body, calls))

    return tuple(map(named, hosts)) if names else hosts


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{at}" for at in count(2))


def _mentions(program: Program, item: Item, words: frozenset[str] | set[str]) -> bool:
    """Does a class have one of the words: may a method of it launch?"""
    parts = [item, *program.outside_methods.get(item.name, [])]
    return any(t.text in words for i in parts for t in program.unit.tokens[i.first : i.last + 1])


def _wanted(only: tuple[str, ...], words: dict[str, set[str]], found: set[str]) -> set[str]:
    wanted = {n for n in only if n in found}
    while more := {m for n in wanted for m in words[n] & found} - wanted:
        wanted |= more
    return wanted
