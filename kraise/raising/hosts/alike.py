"""Two buffers that change places after every round are one where only their cells that no round writes matter of the
second, and these are alike.

``v = step(u, v); u, v = v, u`` with u and v alike before the loop: what the kernel leaves of v is what u has there, in
every round (by induction: the pair after a round is (new, u), and new differs from u only where the kernel writes).
So the round is ``u = step(u, u)``. A loop that carries one array moves none from place to place, and its gradient has
one cotangent (measured on rods of 200,000 cells: half of the time, the gradient 0.4 of it). On plates this is so where
the loop may end early (0.7 of the time, the gradient a quarter; on a GPU each ``cond`` copies what it carries), by a
function of its own (:mod:`.plates`). Where it may not end early two rounds at a time are the quicker ones
(:mod:`kraise.emit.loops.remat`).

Side conditions, each checked: the loop carries the pair and does nothing but exchange it; one launch of a round writes
the second buffer, nothing else mentions it before, and nothing reads it after the loop; the kernel reads no cell of it
that it has not written, and writes cells that only sizes and what no round changes decide, whatever the data; both hold
the same value before the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir.walk import statement_expressions, statements, topological
from kraise.raising.hosts.dead import variables, without_dead
from kraise.raising.hosts.plates import in_place, is_box


@dataclass
class _Found:
    """The kernels that hosts call with one array for two: those that write along an axis, and those of a box as
    functions of their own."""

    taken: set[str]
    rows: set[str] = field(default_factory=set)
    plates: dict[tuple[str, str, str], eq.Kernel] = field(default_factory=dict)

    def plate(self, kernel: eq.Kernel, read: str, written: str) -> str:
        """The name of the function that is given ``read`` for ``written``, too; "" where there is none."""
        key = (kernel.name, read, written)
        if key not in self.plates:
            name = f"{kernel.name}_in_place"
            made = None if name in self.taken else in_place(kernel, read, written, name)
            if made is None:
                return ""
            self.taken.add(name)
            self.plates[key] = made
        return self.plates[key].name


def with_one_buffers(
    hosts: Iterable[o.Host], kernels: Iterable[eq.Kernel], taken: Iterable[str]
) -> tuple[tuple[o.Host, ...], list[eq.Kernel]]:
    """The functions with such pairs as one array, and the kernels that say so; functions that are ``taken`` stay."""
    named = {x.name: x for x in kernels}
    found = _Found({*named, *taken})
    done = tuple(_with_one_buffer(x, named, found) for x in hosts)
    exchanging = {name for x in done for name in _exchanging(x.body)}
    for name in found.rows:
        named[name] = replace(named[name], onto_itself="set" if name in exchanging else "joined")
    return done, [*named.values(), *found.plates.values()]


def _exchanging(body: tuple[o.Stmt, ...], within: bool = False) -> set[str]:
    """The kernels that loops call in which arrays change places."""
    found: set[str] = set()
    for stmt in body:
        match stmt:
            case o.Let(value=o.Call(function=name)) if within:
                found.add(name)
            case o.Loop(names=names, nexts=nexts, body=inner):
                moved = any(b in names and a != b for a, b in zip(names, nexts, strict=True))
                found |= _exchanging(inner, within or moved)
            case o.Branch(body=first, orelse=second):
                found |= _exchanging(first, within) | _exchanging(second, within)
    return found


def _with_one_buffer(host: o.Host, kernels: Mapping[str, eq.Kernel], found: _Found) -> o.Host:
    """The function with such pairs as one array."""
    body = _block(host.body, _Values({}, {}), kernels, found)
    if body == host.body:
        return host
    called = {s.value.function for s in lets(body) if isinstance(s.value, o.Call)}
    new = [x.name for x in found.plates.values() if x.name in called and x.name not in host.calls]
    return without_dead(replace(host, body=body, calls=(*(n for n in host.calls if n in called), *new)))


class _Values:
    """Which variables hold equal values, as far as expressions tell: each has the number of its value."""

    def __init__(self, of: Mapping[str, int], known: dict[object, int]):
        self.of, self.known = dict(of), known

    def number(self, value: o.Value) -> int:
        """The number of a value: equal expressions over equal values have one."""
        match value:
            case h.Whole(array=name, offset=None, count=None) if name in self.of:
                return self.of[name]
        within = tuple(sorted((n, self.of[n]) for n in variables(value) if n in self.of))
        return self.known.setdefault((value, within), len(self.known))

    def bind(self, names: Iterable[str], value: o.Value | None = None) -> None:
        """Names that hold ``value`` from here on, or what nothing is known of."""
        for name in names:
            self.of[name] = self.known.setdefault(object(), len(self.known)) if value is None else self.number(value)

    def copy(self) -> _Values:
        return _Values(self.of, self.known)


def _block(
    body: tuple[o.Stmt, ...], values: _Values, kernels: Mapping[str, eq.Kernel], found: _Found
) -> tuple[o.Stmt, ...]:
    out: list[o.Stmt] = []
    for stmt in body:
        match stmt:
            case o.Let(targets=targets, value=value):
                values.bind(targets, value if len(targets) == 1 else None)
            case o.Loop():
                stmt = _loop(stmt, values, kernels, found)
                values.bind(stmt.names)
                stmt = replace(stmt, body=_block(stmt.body, values.copy(), kernels, found))
                values.bind((*stmt.names, *bound_by(stmt.body)))
            case o.Branch():
                first, second = (_block(b, values.copy(), kernels, found) for b in (stmt.body, stmt.orelse))
                stmt = replace(stmt, body=first, orelse=second)
                values.bind((*stmt.names, *bound_by((stmt,))))
        out.append(stmt)
    return tuple(out)


def _loop(loop: o.Loop, values: _Values, kernels: Mapping[str, eq.Kernel], found: _Found) -> o.Loop:
    start = dict(zip(loop.names, loop.initial, strict=True))
    after = dict(zip(loop.names, loop.nexts, strict=True))
    for read, written in after.items():
        if written not in loop.names or after[written] != read:
            continue
        if written == read or values.number(start[read]) != values.number(start[written]):
            continue
        call = _writer(loop, read, written, kernels, found)
        if call is not None:
            return _loop(_with_one(loop, written, call), values, kernels, found)
    return loop


def _writer(loop: o.Loop, read: str, written: str, kernels: Mapping[str, eq.Kernel], found: _Found) -> o.Call | None:
    """The launch that makes ``written`` of a round, given ``read`` for it, if that may be."""
    bound = bound_by(loop.body)
    makers = [s for s in loop.body if isinstance(s, o.Let) and written in s.targets]
    if bound.count(written) != 1 or len(makers) != 1 or read in bound or written not in loop.unused:
        return None
    (maker,) = makers
    call = maker.value
    if not isinstance(call, o.Call) or call.function not in kernels or call.groups or call.fields:
        return None
    places = [at for at, a in enumerate(call.args) if written in variables(a)]
    before = loop.body[: loop.body.index(maker)]
    if len(places) != 1 or call.args[places[0]] != h.Whole(written) or h.Whole(read) not in call.args:
        return None
    if written in variables(before, loop.condition, call.grid, call.block, call.shared, call.demands):
        return None
    kernel = kernels[call.function]
    changed = {*loop.names, *bound, loop.var}
    if variables(call.grid, call.block, call.shared) & changed:
        return None
    param = kernel.params[places[0]].name  # type: ignore[attr-defined]
    decided = cells_decided_by(kernel, param)
    if decided is None or decided[0].covers:
        return None
    store, by = decided
    given = dict(zip((p.name for p in kernel.params), call.args, strict=False))  # type: ignore[attr-defined]
    if any(variables(given[n]) & changed for n in by if n in given):
        return None
    if len(store.axes) == 1 and not store.view:
        found.rows.add(call.function)
        return replace(call, args=tuple(h.Whole(read) if a == h.Whole(written) else a for a in call.args))
    readers = [n for n, a in given.items() if a == h.Whole(read)]
    if loop.condition is None or not is_box(store) or len(readers) != 1:
        return None
    name = found.plate(kernel, readers[0], param)
    return replace(call, function=name, args=tuple(a for a in call.args if a != h.Whole(written))) if name else None


def _with_one(loop: o.Loop, written: str, call: o.Call) -> o.Loop:
    """The loop without ``written``, which ``call`` makes of the other array."""
    body = [replace(s, value=call) if isinstance(s, o.Let) and written in s.targets else s for s in loop.body]
    return uncarried(loop, written, tuple(body))


def uncarried(loop: o.Loop, name: str, body: tuple[o.Stmt, ...]) -> o.Loop:
    """The loop with that body, which carries ``name`` no more."""
    keep = [at for at, n in enumerate(loop.names) if n != name]
    return replace(
        loop,
        names=tuple(loop.names[k] for k in keep),
        initial=tuple(loop.initial[k] for k in keep),
        nexts=tuple(loop.nexts[k] for k in keep),
        arrays=tuple(loop.arrays[k] for k in keep),
        body=body,
        unused=loop.unused - {name},
    )


def bound_by(body: tuple[o.Stmt, ...]) -> list[str]:
    """The names that statements bind, as often as they do."""
    out: list[str] = []
    for stmt in body:
        match stmt:
            case o.Let(targets=targets):
                out += targets
            case o.Loop(names=names, body=inner):
                out += [*names, *bound_by(inner)]
            case o.Branch(names=names, body=first, orelse=second):
                out += [*names, *bound_by(first), *bound_by(second)]
    return out


def cells_decided_by(kernel: eq.Kernel, array: str) -> tuple[eq.Write, set[str]] | None:
    """The store to ``array`` and the parameters that decide which cells it writes, if nothing else does, whatever the
    data, and the kernel reads no cell that it has not written."""
    everywhere = list(statements(kernel.body))
    stores = [s for s in everywhere if isinstance(s, eq.Write) and s.before.array == array]
    if len(stores) != 1 or stores[0] not in kernel.body:
        return None
    (store,) = stores
    if store.where is not None or store.accumulate or store.safe or store.segments or store.before.number:
        return None
    values = [r for r in kernel.returns if not isinstance(r, eq.Version)]
    roots = [*(e for s in everywhere for e in statement_expressions(s)), *values]
    if any(isinstance(n, eq.Read) and n.version is store.before for n in topological(roots)):
        return None
    nodes = topological([*store.subscripts, *store.view, *(bound for a in store.axes for bound in (a.lo, a.hi))])
    if any(isinstance(n, eq.Read | eq.CarryIn | eq.FoldResult | eq.HelperCall) for n in nodes):
        return None
    if any(isinstance(n, eq.Index) and n.name not in {a.name for a in store.axes} for n in nodes):
        return None
    return store, {n.name for n in nodes if isinstance(n, eq.Param)}


def lets(body: tuple[o.Stmt, ...]) -> list[o.Let]:
    """The assignments of a block, and of the blocks in it."""
    found: list[o.Let] = []
    for s in body:
        match s:
            case o.Let():
                found.append(s)
            case o.Loop(body=inner):
                found += lets(inner)
            case o.Branch(body=first, orelse=second):
                found += lets((*first, *second))
    return found


__all__ = ["bound_by", "cells_decided_by", "lets", "uncarried", "with_one_buffers"]
