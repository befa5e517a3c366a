"""One name for one value: a local that stands for unrelated values of several types gets a name for each.

``p = -x[i]; …; p = 0; while p < n: … p += 1`` has two webs of definitions that reach the same uses. Typed as one local
the counter would be a number that may have a fraction, which subscripts nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten

Place = tuple[Any, ...]  # of a definition: the statements around it by their numbers; () is the function's head
Reach = dict[str, frozenset[Place]]


def split(function: k.Function, names: Iterable[str]) -> k.Function:
    """The function with a name of its own for each web of the definitions of ``names``; the first web keeps it."""
    wanted = frozenset(names)
    if not wanted:
        return function
    found = _Webs(wanted)
    start: Reach = {n: frozenset({()}) if any(p.name == n for p in function.params) else frozenset() for n in wanted}
    found.block(function.body, start, ())
    taken = {p.name for p in function.params} | _names(function.body)
    chosen: dict[tuple[str, Place], str] = {}
    for name in sorted(wanted):
        roots = dict.fromkeys(found.root((name, place)) for place in sorted(found.places[name], key=repr_of))
        for root in list(roots)[1:]:
            number = next(n for n in range(2, len(taken) + 3) if f"{name}_{n}" not in taken)
            chosen[root] = f"{name}_{number}"
            taken.add(f"{name}_{number}")
    if not chosen:
        return function
    found.chosen = chosen
    body, _ = found.block(function.body, start, ())
    return replace(function, body=body)


def counted_and_set(function: k.Function) -> set[str]:
    """The names that are the counter of a loop here, and of what a statement sets there: strides and private counts are
    seen of counters that nothing else sets."""
    counters = {s.var for s in _flat(function.body) if isinstance(s, k.For)}
    return counters & {n for s in _flat(function.body) if not isinstance(s, k.For) for n in _defined(s)}


def repr_of(place: Place) -> tuple[tuple[int, str], ...]:
    """Places in the order of the source."""
    return tuple((x, "") if isinstance(x, int) else (-1, x) for x in place)


def _names(body: tuple[k.Stmt, ...]) -> set[str]:
    return {n for s in _flat(body) for n in _defined(s)} | {s.name for s in _flat(body) if isinstance(s, k.LocalArray)}


def _flat(body: tuple[k.Stmt, ...]) -> Iterator[k.Stmt]:
    for s in body:
        yield s
        yield from _flat(getattr(s, "body", ()))
        yield from _flat(getattr(s, "orelse", ()))


def _defined(s: k.Stmt) -> tuple[str, ...]:
    match s:
        case k.Assign(name=name):
            return (name,)
        case k.Atomic(result=name):
            return (name,) if name else ()
        case k.For(var=name):
            return (name,)
        case k.CallStmt(results=names):
            return names
    return ()


@dataclass
class _Webs:
    """The definitions of some names, joined where they reach one use; with ``chosen``, rewritten to the webs' names."""

    names: frozenset[str]
    parents: dict[tuple[str, Place], tuple[str, Place]] = field(default_factory=dict)
    places: dict[str, set[Place]] = field(default_factory=dict)
    chosen: dict[tuple[str, Place], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.places = {n: set() for n in self.names}

    def root(self, at: tuple[str, Place]) -> tuple[str, Place]:
        while at in self.parents:
            at = self.parents[at]
        return at

    def name(self, name: str, places: frozenset[Place]) -> str:
        """The name of what reaches a use; all of it is one web."""
        self.places[name] |= places
        roots = sorted({self.root((name, p)) for p in places}, key=lambda r: repr_of(r[1]))
        for other in roots[1:]:
            self.parents[other] = roots[0]
        return self.chosen.get(roots[0], name) if roots else name

    def read(self, e: Any, reach: Reach) -> Any:
        """An expression (or several) with the names of the webs."""

        def visit(x: Any) -> Any:
            if isinstance(x, k.Var) and x.name in self.names:
                return replace(x, name=self.name(x.name, reach[x.name]))
            return None

        return rewritten(e, visit)

    def define(self, name: str, place: Place, reach: Reach) -> str:
        if name not in self.names:
            return name
        reach[name] = frozenset({place})
        return self.name(name, reach[name])

    def block(self, body: tuple[k.Stmt, ...], reach: Reach, around: Place) -> tuple[tuple[k.Stmt, ...], Reach]:
        """The statements, and what reaches their end; ``around`` is the place that they stand at."""
        reach, out = dict(reach), []
        for number, s in enumerate(body):
            out.append(self.statement(s, reach, (*around, number)))
        return tuple(out), reach

    def statement(self, s: k.Stmt, reach: Reach, at: Place) -> k.Stmt:
        """A statement; ``reach`` becomes what reaches the next one."""
        match s:
            case k.If():
                condition = self.read(s.condition, reach)
                body, one = self.block(s.body, reach, (*at, "a"))
                orelse, two = self.block(s.orelse, reach, (*at, "b"))
                reach |= {n: one[n] | two[n] for n in self.names}
                return replace(s, condition=condition, body=body, orelse=orelse)
            case k.For() | k.While():
                return self.loop(s, reach, at)
            case k.Assign():
                value = self.read(s.value, reach)
                return replace(s, value=value, name=self.define(s.name, at, reach))
            case k.Atomic():
                s = replace(s, subscripts=self.read(s.subscripts, reach), values=self.read(s.values, reach))
                return replace(s, result=self.define(s.result, at, reach)) if s.result else s
            case k.CallStmt():
                args = self.read(s.args, reach)
                return replace(s, args=args, results=tuple(self.define(n, at, reach) for n in s.results))
        return self.read(s, reach)  # type: ignore[no-any-return]

    def loop(self, s: k.For | k.While, reach: Reach, at: Place) -> k.Stmt:
        """Any definition of its body may reach a round's begin, and its end."""
        if isinstance(s, k.For):
            s = replace(
                s, start=self.read(s.start, reach), stop=self.read(s.stop, reach), step=self.read(s.step, reach)
            )
        inside = dict(reach)
        for name, place in self.definitions(s.body, (*at, "a")):
            inside[name] |= {place}
        if isinstance(s, k.For):
            after = inside | ({s.var: inside[s.var] | {at}} if s.var in self.names else {})
            s = replace(s, var=self.define(s.var, at, inside))
        else:
            after = inside
            s = replace(s, condition=self.read(s.condition, inside))
        body, _ = self.block(s.body, inside, (*at, "a"))
        reach |= after
        orelse, end = self.block(s.orelse, reach, (*at, "b"))
        reach |= {n: reach[n] | end[n] for n in self.names}
        return replace(s, body=body, orelse=orelse)

    def definitions(self, body: tuple[k.Stmt, ...], around: Place) -> Iterator[tuple[str, Place]]:
        for number, s in enumerate(body):
            at = (*around, number)
            yield from ((n, at) for n in _defined(s) if n in self.names)
            yield from self.definitions(getattr(s, "body", ()), (*at, "a"))
            yield from self.definitions(getattr(s, "orelse", ()), (*at, "b"))


__all__ = ["split"]
