"""The host functions of a module, callees first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from kraise.diagnostics import Diagnostic
from kraise.diagnostics.collect import guard
from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.host_live import stored
from kraise.raising.hosts import cover, function, part
from kraise.raising.hosts.alike import with_one_buffers
from kraise.raising.hosts.attributes import without_idle_attributes
from kraise.raising.hosts.compacted import with_counted_places
from kraise.raising.hosts.copies import without_copies
from kraise.raising.hosts.effects import effects
from kraise.raising.hosts.joined import Joined
from kraise.raising.hosts.nests import Nests
from kraise.raising.hosts.overwritten import without_overwritten
from kraise.raising.hosts.own_ends import with_own_ends
from kraise.raising.hosts.rounds import in_rounds
from kraise.raising.hosts.single import in_single


def raise_hosts(
    module: k.Module,
    kernels: list[eq.Kernel],
    raise_function: Callable[..., eq.Kernel],
    options: Any,
    scattering: Iterable[str] = (),
) -> tuple[tuple[o.Host, ...], list[eq.Kernel], k.Module, list[Diagnostic]]:
    """Host IR -> values: the hosts, and the kernels and the module with those that they need beside them. Of the
    kernels that are not raised, ``scattering`` store to places that data say."""
    module = replace(module, hosts=tuple(map(in_single, module.hosts)))
    source = module.hosts
    module, kernels = with_own_ends(module, kernels, lambda m, f: raise_function(m, f, options))
    read = {x.name: x for x, now in zip(source, module.hosts, strict=True) if x is not now}
    given = tuple(map(without_copies, module.hosts))
    kernels = with_counted_places(
        replace(module, hosts=given),
        kernels,
        scattering,
        lambda f, said: raise_function(module, f, replace(options, assume=(*options.assume, *said))),
    )
    kernels = in_rounds(module, given, kernels, lambda f, rounds: raise_function(module, f, options, rounds))
    functions = {x.name: effects(x, module.function(x.name)) for x in kernels}
    nests = Nests(module, {x.name: x for x in kernels}, lambda m, f: raise_function(m, f, options))
    joined = Joined(module, raise_function, options)
    hosts: dict[str, o.Host] = {}
    findings: list[Diagnostic] = []
    module = replace(module, hosts=without_idle_attributes(module.hosts, functions))
    parts: dict[str, h.Host] = {}
    for host in map(without_copies, module.hosts):

        def attempt(x: h.Host) -> tuple[o.Host | None, list[Diagnostic]]:
            return guard(x.name, x.span, function.raise_host, x, functions, hosts, joined.find)

        whole = nests.within(host)
        functions.update({x.name: effects(x, f) for x, f in zip(nests.raised, nests.functions, strict=True)})
        raised, refused = attempt(whole) if whole is not host else (None, [])
        if raised is None:
            raised, refused = attempt(host)
        if raised is None:
            written = {f.name: stored(f) for f in module.functions}
            found = part.of_main(host, written, lambda x: attempt(x)[0], refused)
            parts[host.name], raised = found if found is not None else (host, None)
        if raised is not None:
            hosts[host.name] = raised
        findings += refused or cover.warnings(host, {x.name: x for x in kernels})
    called = {name for x in hosts.values() for name in x.calls}
    kept = [x for x in (*joined.kernels, *nests.raised) if x.name in called]
    made = [*nests.functions, *(f for f in joined.functions.values() if f is not None)]
    more = tuple(f for f in made if f.name in called)
    given = tuple(parts.get(x.name, read.get(x.name, x)) for x in module.hosts)
    module = replace(module, functions=(*module.functions, *more), hosts=given)
    names = [x.name for x in (*module.functions, *module.hosts)]
    done, kernels = with_one_buffers(hosts.values(), [*kernels, *kept], names)
    named = {x.name: x for x in kernels}
    return tuple(without_overwritten(x, named) for x in done), kernels, module, findings
