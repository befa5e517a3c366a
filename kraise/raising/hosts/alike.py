"""Two buffers that change places after every round are one where only their cells that no round writes matter of the
second, and these are alike.

``v = step(u, v); u, v = v, u`` with u and v alike before the loop: what the kernel leaves of v is what u has there, in
every round (by induction: the pair after a round is (new, u), and new differs from u only where the kernel writes).
So the round is ``u = step(u, u)``. A loop that carries one array moves none from place to place, and its gradient has
one cotangent (measured on rods of 200,000 cells: half of the time, the gradient 0.4 of it).

Side conditions, each checked: the loop carries the pair and does nothing but exchange it; one launch of a round writes
the second buffer, nothing else mentions it before, and nothing reads it after the loop; the kernel reads no cell of it
and writes cells along one axis that only sizes and what no round changes decide, whatever the data; both hold the same
value before the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir.walk import statement_expressions, statements, topological
from kraise.raising.hosts.dead import variables, without_dead


def with_one_buffers(
    hosts: Iterable[o.Host], kernels: Iterable[eq.Kernel]
) -> tuple[tuple[o.Host, ...], list[eq.Kernel]]:
    """The functions with such pairs as one array, and the kernels that say so."""
    named = {x.name: x for x in kernels}
    done = [_with_one_buffer(x, named) for x in hosts]
    onto = {name for _, names in done for name in names}
    exchanging = {name for x, _ in done for name in _exchanging(x.body)}
    for name in onto:
        named[name] = replace(named[name], onto_itself="set" if name in exchanging else "joined")
    return tuple(x for x, _ in done), list(named.values())


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


def _with_one_buffer(host: o.Host, kernels: Mapping[str, eq.Kernel]) -> tuple[o.Host, frozenset[str]]:
    """The function with such pairs as one array, and the kernels that it calls with one array for both."""
    found: set[str] = set()
    body = _block(host.body, _Values({}, {}), kernels, found)
    return (without_dead(replace(host, body=body)) if found else host), frozenset(found)


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
    body: tuple[o.Stmt, ...], values: _Values, kernels: Mapping[str, eq.Kernel], found: set[str]
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
                values.bind((*stmt.names, *_bound(stmt.body)))
            case o.Branch():
                first, second = (_block(b, values.copy(), kernels, found) for b in (stmt.body, stmt.orelse))
                stmt = replace(stmt, body=first, orelse=second)
                values.bind((*stmt.names, *_bound((stmt,))))
        out.append(stmt)
    return tuple(out)


def _loop(loop: o.Loop, values: _Values, kernels: Mapping[str, eq.Kernel], found: set[str]) -> o.Loop:
    start = dict(zip(loop.names, loop.initial, strict=True))
    after = dict(zip(loop.names, loop.nexts, strict=True))
    for read, written in after.items():
        if written not in loop.names or after[written] != read:
            continue
        if written == read or values.number(start[read]) != values.number(start[written]):
            continue
        kernel = _writer(loop, read, written, kernels)
        if kernel is not None:
            found.add(kernel)
            return _loop(_with_one(loop, read, written), values, kernels, found)
    return loop


def _writer(loop: o.Loop, read: str, written: str, kernels: Mapping[str, eq.Kernel]) -> str | None:
    """The kernel that makes ``written`` of a round, if it may be given ``read`` for it."""
    bound = _bound(loop.body)
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
    by = _decided_by(kernel, kernel.params[places[0]].name)  # type: ignore[attr-defined]
    if by is None:
        return None
    given = dict(zip((p.name for p in kernel.params), call.args, strict=False))  # type: ignore[attr-defined]
    if any(variables(given[n]) & changed for n in by if n in given):
        return None
    return call.function


def _with_one(loop: o.Loop, read: str, written: str) -> o.Loop:
    """The loop that carries ``read`` alone."""
    keep = [at for at, n in enumerate(loop.names) if n != written]
    body = list(loop.body)
    at = next(at for at, s in enumerate(body) if isinstance(s, o.Let) and written in s.targets)
    maker = body[at]
    assert isinstance(maker, o.Let) and isinstance(maker.value, o.Call)
    args = tuple(h.Whole(read) if a == h.Whole(written) else a for a in maker.value.args)
    body[at] = replace(maker, value=replace(maker.value, args=args))
    return replace(
        loop,
        names=tuple(loop.names[k] for k in keep),
        initial=tuple(loop.initial[k] for k in keep),
        nexts=tuple(loop.nexts[k] for k in keep),
        arrays=tuple(loop.arrays[k] for k in keep),
        body=tuple(body),
        unused=loop.unused - {written},
    )


def _bound(body: tuple[o.Stmt, ...]) -> list[str]:
    """The names that statements bind, as often as they do."""
    out: list[str] = []
    for stmt in body:
        match stmt:
            case o.Let(targets=targets):
                out += targets
            case o.Loop(names=names, body=inner):
                out += [*names, *_bound(inner)]
            case o.Branch(names=names, body=first, orelse=second):
                out += [*names, *_bound(first), *_bound(second)]
    return out


def _decided_by(kernel: eq.Kernel, array: str) -> set[str] | None:
    """The parameters that decide which cells of ``array`` the kernel writes, if nothing else does and it reads none."""
    everywhere = list(statements(kernel.body))
    stores = [s for s in everywhere if isinstance(s, eq.Write) and s.before.array == array]
    if len(stores) != 1 or stores[0] not in kernel.body:
        return None
    (store,) = stores
    plain = store.where is None and not (store.accumulate or store.safe or store.segments or store.view)
    if not plain or store.before.number or len(store.axes) != 1 or store.covers:
        return None
    values = [r for r in kernel.returns if not isinstance(r, eq.Version)]
    roots = [*(e for s in everywhere for e in statement_expressions(s)), *values]
    if any(isinstance(n, eq.Read) and n.version.array == array for n in topological(roots)):
        return None
    (axis,) = store.axes
    nodes = topological([*store.subscripts, axis.lo, axis.hi])
    if any(isinstance(n, eq.Read | eq.CarryIn | eq.FoldResult | eq.HelperCall) for n in nodes):
        return None
    if any(isinstance(n, eq.Index) and n.name != axis.name for n in nodes):
        return None
    return {n.name for n in nodes if isinstance(n, eq.Param)}


__all__ = ["with_one_buffers"]
