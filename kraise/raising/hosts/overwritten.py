"""Arrays that each round of a loop writes before it reads them are not carried from round to round.

``q = matvec(A, p, q)`` writes cells of q that only sizes decide, and reads none: what the round before left in them is
lost, and the other cells are what they were before the loop. So each round is given the array from before the loop, and
the loop carries one array less: ``cond`` copies none, and its gradient keeps none. Of two buffers that change places
(``rank, new = new, rank``) the second need not be carried where all of it is written: the first, which is of its shape
and surely of its type, stands for it.

Side conditions, each checked: the loop does nothing else with the name, nothing reads it after the loop or tests it
before a round; what comes first to mention it in a round is the one launch that writes it, or a store to its only cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir.host_names import fresh
from kraise.ir.rename import renamed
from kraise.ir.types import ArrayType, ScalarType
from kraise.raising.hosts.alike import bound_by, cells_decided_by, lets, uncarried
from kraise.raising.hosts.dead import variables, without_dead

Kernels = Mapping[str, eq.Kernel]


def without_overwritten(host: o.Host, kernels: Kernels) -> o.Host:
    """The function with loops that carry no such array."""
    taken = {*variables(host.body, host.returns), *bound_by(host.body), *(p.name for p in host.params)}
    body = _block(host.body, host, kernels, taken)
    return host if body == host.body else without_dead(replace(host, body=body))


def _block(body: tuple[o.Stmt, ...], host: o.Host, kernels: Kernels, taken: set[str]) -> tuple[o.Stmt, ...]:
    out: list[o.Stmt] = []
    for stmt in body:
        match stmt:
            case o.Loop():
                stmt = replace(stmt, body=_block(stmt.body, host, kernels, taken))
                for name in stmt.names:
                    stmt = _without(stmt, name, host, kernels, taken)
            case o.Branch(body=first, orelse=second):
                one, other = (_block(b, host, kernels, taken) for b in (first, second))
                stmt = replace(stmt, body=one, orelse=other)
        out.append(stmt)
    return tuple(out)


def _without(loop: o.Loop, name: str, host: o.Host, kernels: Kernels, taken: set[str]) -> o.Loop:
    """The loop without ``name``, if each round overwrites it; the same if not."""
    at = loop.names.index(name)
    after = loop.nexts[at]
    if not loop.arrays[at] or name not in loop.unused or name in variables(loop.condition):
        return loop
    maker = next((s for s in loop.body if name in variables(s) | {*bound_by((s,))}), None)
    if not isinstance(maker, o.Let) or maker.targets.count(name) != 1 or loop.nexts.count(name) != 1:
        return loop
    bound = bound_by(loop.body)
    new = name
    if after == name:
        match loop.initial[at]:
            case h.Whole(array=given, offset=None, count=None) if given not in {*loop.names, *bound} - {name}:
                pass
            case _:
                return loop
        only = isinstance(maker.value, o.Put) and _sets_its_cell(maker.value, name, host)
        if not only and (bound.count(name) != 1 or not _overwrites(loop, maker, name, kernels)):
            return loop
        new = fresh(taken, f"{name}_2")
    else:
        given = after
        changes_places = given in loop.names and loop.nexts[loop.names.index(given)] == name
        if not changes_places or loop.condition is None or given in bound or bound.count(name) != 1:
            return loop
        first = loop.initial[loop.names.index(given)]
        kinds = {_element(loop.initial[at], host), _element(first, host)}
        if not _covers(maker, name, kernels) or len(kinds) > 1 or None in kinds:
            return loop
    place = loop.body.index(maker)
    targets = tuple(new if t == name else t for t in maker.targets)
    made = replace(maker, targets=targets, value=renamed(maker.value, {name: given}))
    return uncarried(loop, name, (*loop.body[:place], made, *renamed(loop.body[place + 1 :], {name: new})))


def _sets_its_cell(put: o.Put, name: str, host: o.Host) -> bool:
    """Whether a store is to the only cell of an array that the function makes with one."""
    if put.base != name or name in variables(put.value, put.subscripts) or not put.subscripts:
        return False
    made = [s.value for s in lets(host.body) if name in s.targets]
    news = [v for v in made if isinstance(v, o.New)]
    others = [v for v in made if not isinstance(v, o.New)]
    own = all(
        (isinstance(v, o.Put) and v.base == name) or (isinstance(v, o.Call) and h.Whole(name) in v.args) for v in others
    )
    if len(news) != 1 or news[0].shape is None or len(news[0].shape) != len(put.subscripts) or not own:
        return False
    pairs = zip(news[0].shape, put.subscripts, strict=True)
    return all((getattr(n, "value", None), getattr(at, "value", None)) == (1, 0) for n, at in pairs)


def _element(value: o.Value, host: o.Host) -> ScalarType | str | None:
    """The element type of an array before a loop, or the parameter whose type it has; None where neither is known."""
    for _ in range(len(host.body) + 1):
        match value:
            case o.New(element=kind) | o.Cast(element=kind) if kind.kind != "number":
                return kind
            case h.Whole(array=name) | o.New(like=name, values=()) if name:
                made = [s.value for s in lets(host.body) if name in s.targets]
                made = [v for v in made if not (isinstance(v, o.Call) and h.Whole(name) in v.args)]  # it keeps its type
                param = next((p.type for p in host.params if p.name == name), None)
                if not made and isinstance(param, ArrayType):
                    return name if param.element.kind == "number" else param.element
                if len(made) != 1 or param is not None:
                    return None
                (value,) = made
            case _:
                return None
    return None


def _overwrites(loop: o.Loop, maker: o.Let, name: str, kernels: Kernels) -> bool:
    """Whether the statement writes cells of ``name`` that are the same ones in each round, and reads none of them."""
    found = _place(maker, name, kernels)
    if found is None:
        return False
    call, kernel, param = found
    changed = {*loop.names, *bound_by(loop.body), loop.var}
    decided = cells_decided_by(kernel, param)
    if decided is None or variables(call.grid, call.block, call.shared) & changed:
        return False
    given = dict(zip((p.name for p in kernel.params), call.args, strict=False))  # type: ignore[attr-defined]
    return not any(variables(given[n]) & changed for n in decided[1] if n in given)


def _covers(maker: o.Let, name: str, kernels: Kernels) -> bool:
    """Whether the statement writes all of ``name``, and reads none of it."""
    found = _place(maker, name, kernels)
    decided = None if found is None else cells_decided_by(found[1], found[2])
    return decided is not None and bool(decided[0].covers)


def _place(maker: o.Let, name: str, kernels: Kernels) -> tuple[o.Call, eq.Kernel, str] | None:
    """The launch that writes ``name``, its kernel, and the kernel's parameter for it."""
    call = maker.value
    if not isinstance(call, o.Call) or call.function not in kernels or call.groups or call.fields:
        return None
    if name in variables(call.grid, call.block, call.shared, call.demands):
        return None
    places = [at for at, a in enumerate(call.args) if name in variables(a)]
    if len(places) != 1 or call.args[places[0]] != h.Whole(name):
        return None
    kernel = kernels[call.function]
    return call, kernel, kernel.params[places[0]].name  # type: ignore[attr-defined]


__all__ = ["without_overwritten"]
