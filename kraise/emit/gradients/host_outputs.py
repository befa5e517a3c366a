"""What a host function takes and returns, as far as derivatives are concerned."""

from __future__ import annotations

from collections.abc import Mapping

from kraise.emit.gradients.outputs import Output, is_smooth, types_of
from kraise.emit.hosts.statics import nodes
from kraise.emit.text.names import identifier
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.types import ArrayType, ScalarType

Flow = Mapping[str, frozenset[str]]  # of each function that a host calls, the parameters that flow into its results


def outputs(host: o.Host) -> list[Output]:
    """What the host's function returns, in order, by the names of the parameters or variables."""
    types = types_of(host.params) | {n.targets[0]: n.value.element for n in nodes(host.body) if _makes(n)}  # type: ignore
    arrays = {p.name for p in host.params if isinstance(p.type, ArrayType)}
    out: list[Output] = []
    for slot, value in enumerate(host.returns):
        memory = host.memory[slot] if slot < len(host.memory) else ""
        name = memory or _name(value) or ("result" if len(host.returns) == 1 else f"result_{slot}")
        kind = types.get(name)
        scalar = isinstance(value, k.Var) and name not in arrays
        if scalar and isinstance(value.type, ScalarType):  # type: ignore[union-attr]
            kind = value.type  # type: ignore[union-attr]
        out.append(Output(identifier(name), slot, kind is None or is_smooth(kind), scalar))
    return out


def _makes(node: object) -> bool:
    return isinstance(node, o.Let) and isinstance(node.value, o.New | o.Cast)


def _name(value: h.Expr | o.Rotated) -> str:
    match value:
        case h.Whole(array=name, offset=None, count=None):
            return name
        case k.Var(name=name):
            return name
    return ""


def reaching(host: o.Host, flow: Flow, parameters: Mapping[str, tuple[str, ...]]) -> set[str]:
    """The variables and parameters whose values flow into what the host returns.

    ``flow`` says which parameters of a callee do, ``parameters`` gives their order.
    """
    found = _mentioned(*host.returns)
    while True:
        before = len(found)
        _back(host.body, found, flow, parameters)
        if len(found) == before:
            return found


def _back(body: tuple[o.Stmt, ...], found: set[str], flow: Flow, parameters: Mapping[str, tuple[str, ...]]) -> None:
    for stmt in reversed(body):
        match stmt:
            case o.Let(targets=targets, value=value) if found & set(targets):
                match value:
                    case o.Call(function=function, args=args):
                        names = parameters[function]
                        used = [a for n, a in zip(names, args, strict=False) if n in flow[function]]
                        # a target that is the memory of an argument keeps what the callee leaves of it
                        kept = [a for a in args if isinstance(a, h.Whole) and a.array in targets]
                        found |= _mentioned(*used, *kept)
                    case o.Put(base=base):
                        found |= {base} | _mentioned(value.value)
                    case o.New(fill=fill):
                        found |= _mentioned(fill)
                    case o.Rotated(variables=variables):
                        found |= set(variables)
                    case _:
                        found |= _mentioned(value)
            case o.Loop(names=names, initial=initial, nexts=nexts):
                for name, start, after in zip(names, initial, nexts, strict=True):
                    if name in found:
                        found |= {after} | _mentioned(start)
                _back(stmt.body, found, flow, parameters)
            case o.Branch(names=names, values=values, others=others):
                for name, one, other in zip(names, values, others, strict=True):
                    if name in found:
                        found |= _mentioned(one, other)
                _back(stmt.body, found, flow, parameters)
                _back(stmt.orelse, found, flow, parameters)


def _mentioned(*roots: object) -> set[str]:
    found: set[str] = set()
    for node in nodes(*roots):
        match node:
            case k.Var(name=name) | h.Whole(array=name) | k.Load(array=name):
                found.add(name)
            case o.Rotated(variables=variables):
                found |= set(variables)
    return found
