"""Which function of the file a call in a CUDA C host function means, where several have its name."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c.c_types import Pointer
from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.overloads import distance
from kraise.frontends.cuda_c.specialised import specialised, specialises
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.trees import arguments_of, trees


def definition_of(reader: Any, call: Tree) -> Definition | None:
    """The function that a call means; None where the file has none, or several that fit alike."""
    found = [d for d in reader.program.functions.get(callee(call.children[0]), []) if d.kind == "host" and d.item]
    if len(found) < 2:
        return found[0] if found else None
    return fitting(reader, found, call.children[0], trees(call)[1:])


def fitting(reader: Any, found: list[Definition], target: Any, args: list[Tree]) -> Definition | None:
    """The one of several functions that a call or a launch of ``target`` means; None where that is not known."""
    scores: list[tuple[int, Definition]] = []
    bound: dict[int, dict[str, Any]] = {}
    for d in found:
        if specialises(reader.program, d):
            continue
        try:
            scope = binding(reader, d, target, args)
            params, _ = reader.low._signature(d, reader.program.load(d), scope or {})
        except Refused:
            return None
        if scope is None or not sum(p.default is None for p in params) <= len(args) <= len(params):
            continue
        apart = [distance(p.type, t) for p, t in zip(params, types_of(reader, args), strict=False)]
        if None not in apart:
            bound[id(d)] = scope
            scores.append((2 * bool(d.parameters) + sum(a or 0 for a in apart), d))
    best = min((s for s, _ in scores), default=0)
    alike = [d for s, d in scores if s == best]
    if len(alike) != 1:
        return None
    try:
        return specialised(reader.low, alike[0], bound[id(alike[0])], found, args[0] if args else None)
    except Refused:
        return None


def binding(reader: Any, d: Definition, target: Any, args: list[Tree]) -> dict[str, Any] | None:
    """What the template parameters of a function are in a call; None where that is not known."""
    if not d.parameters:
        return {}
    given = arguments_of(target)
    explicit = reader.low.template_arguments(given) if given is not None else []
    types = types_of(reader, args)
    return reader.low._bind_template(d, explicit, types, reader.program.load(d))  # type: ignore[no-any-return]


def types_of(reader: Any, args: list[Tree]) -> list[Any]:
    """The types of arguments: of memory, of structs, of numbers."""
    out: list[Any] = []
    for a in args:
        array, owner = reader.pointer_name(a), reader.record_of(a)
        out.append(Pointer(reader.arrays[array]) if array else reader.kinds[owner] if owner else reader._type_of(a))
    return out


def is_another(reader: Any, call: Tree) -> bool:
    """Does a call mean another function than the one that has the name in the module? Raises Refused."""
    name = callee(call.children[0])
    found = [d for d in reader.program.functions.get(name, []) if d.kind == "host" and d.item]
    if len(found) < 2 or name not in reader.hosts:
        return False
    d = definition_of(reader, call)
    if d is None:
        reason = f"which of the {len(found)} functions {name} is called here is not known"
        raise reader.low.refuse("KR211", reason, call, "give them names of their own")
    return d is not found[0]
