"""Kernels that store to places that launches before them have counted: ``if (keep[i]) y[place[i]] = x[i]``.

Nothing in such a kernel says that two threads store to two cells; what is in ``place`` does: a launch (or several, in a
row) has made it the running count of ``keep``. Here what the arrays of a host hold is followed from launch to launch,
as equations over the host's own names, and put into those of the store, which :mod:`kraise.analysis.tallies` then sees
to take each place once. The kernel is raised as if it had been declared, with a docstring that says so.

Side conditions, each checked: every launch of the file is such a one; between the launches, in one block of
statements, nothing else changes the arrays; each is given as a whole; the counts are made for all elements that the
kernel asks for, by an equation that stores each element once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from kraise.analysis.conditions import conjuncts
from kraise.analysis.dependence import Access, may_meet, nonnegative
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import sets
from kraise.ir.types import BOOL, INT, ArrayType, ScalarType
from kraise.ir.walk import Unmovable, children, free_indices, rebuild, substitute, topological
from kraise.raising.hosts.rounds import Reader

Again = Callable[[k.Function, tuple[str, ...]], eq.Kernel]
DECLARED = " (declared)"
_SUMS = ("cumsum", "exclusive_sum")


def with_counted_places(
    module: k.Module, kernels: list[eq.Kernel], refused: Iterable[str], again: Again
) -> list[eq.Kernel]:
    """The kernels, and those ``refused`` for places that their launches have counted; ``again`` raises one with such
    sentences of ``--assume``."""
    asked = set(refused) - {x.name for x in kernels}
    launched = {s.function for x in module.hosts for s in _all(x.body) if isinstance(s, h.Launch)}
    more: list[eq.Kernel] = []
    for function in module.functions:
        if function.name not in asked & launched:
            continue
        arrays = [p.name for p in function.params if isinstance(p.type, ArrayType)]
        try:
            trial = again(function, tuple(f"{a} is stored once" for a in arrays))
        except Refused:
            continue
        stores = [s for s in trial.body if isinstance(s, eq.Write) and _by_data(s)]
        changed = [s.after.array for s in trial.body if isinstance(s, eq.Write)]
        if not stores or len(changed) < len(trial.body) or len({*changed}) < len(changed):
            continue
        found = [_Host(x, {y.name: y for y in kernels}, module).launches(trial, function, stores) for x in module.hosts]
        answers = [answer for each in found for answer in each]
        if answers and all(answers):
            names = " and ".join(x.name for x, each in zip(module.hosts, found, strict=True) if each)
            said = tuple(t.replace(DECLARED, f", as in {names}") for t in trial.assumptions)
            more.append(replace(trial, assumptions=said))
    return [*kernels, *more]


def _all(body: tuple[h.Stmt, ...]) -> Iterator[h.Stmt]:
    for stmt in body:
        yield stmt
        for block in h.children(stmt):
            yield from _all(block)


def _by_data(s: eq.Write) -> bool:
    return not s.accumulate and any(isinstance(n, eq.Read) for n in topological(s.subscripts))


@dataclass(frozen=True)
class _Content:
    """What an array holds for ``lo <= index < hi``: ``value``, over the names of the host."""

    index: str
    lo: Poly
    hi: Poly
    value: eq.Expr


@dataclass
class _Known:
    """What is known at a place of a block: how often each array was changed, and what is in it."""

    changes: dict[str, int] = field(default_factory=dict)
    contents: dict[str, _Content] = field(default_factory=dict)

    def now(self, array: str) -> str:
        """An array as it is here, under a name that it has nowhere else."""
        return f"{array}'{self.changes.get(array, 0)}"

    def changed(self, arrays: Iterable[str]) -> None:
        for a in arrays:
            self.changes[a] = self.changes.get(a, 0) + 1


class _Unknown(Exception):
    """The launch gives an argument that is not followed."""


class _Host:
    """The launches of one host."""

    def __init__(self, host: h.Host, kernels: dict[str, eq.Kernel], module: k.Module):
        self.host, self.kernels, self.module = host, kernels, module
        self.reader = Reader(host)
        self.answers: list[bool] = []

    def launches(self, trial: eq.Kernel, function: k.Function, stores: list[eq.Write]) -> list[bool]:
        """For each launch of the function, whether its stores go to different cells."""
        self.trial, self.function, self.stores = trial, function, stores
        self._block(self.host.body)
        several = any(isinstance(s, h.Point) or (isinstance(s, h.Bind) and s.view) for s in _all(self.host.body))
        return [x and not several for x in self.answers]  # names of one memory

    def _block(self, body: tuple[h.Stmt, ...]) -> None:
        known = _Known()
        for stmt in body:
            match stmt:
                case h.Launch(function=name) if name == self.function.name:
                    self.answers.append(self._apart(stmt, known))
                    known.changed(x for a in stmt.args for x in h.arrays_in(a))
                case h.Launch(function=name) if name in self.kernels:
                    self._launched(stmt, self.kernels[name], known)
                case h.Update(array=name, value=h.Library(name=does, args=(h.Whole() as of,)), offset=None) if (
                    does in _SUMS and of.offset is None and not of.clamps and of.count is not None
                ):
                    self._summed(name, does, of, known)
                case h.Alloc(name=name) | h.Bind(name=name) | h.Update(array=name):
                    known.changed((name,))
                case h.Assign() | h.Return():
                    pass
                case _:
                    for block in h.children(stmt):
                        self._block(block)
                    known.changed(sets(stmt) | set(known.changes))

    def _arguments(self, launch: h.Launch, params: Iterable[k.Param], known: _Known) -> dict[eq.Expr | str, Any]:
        """By parameter: the host's array as it is, or a number of the host. Raises _Unknown."""
        out: dict[eq.Expr | str, Any] = {}
        for p, a in zip(params, launch.args, strict=False):
            if isinstance(p.type, ArrayType):
                if not isinstance(a, k.ArrayRef) or a.offset is not None or a.rows or p.type.ndim != 1:
                    raise _Unknown
                out[p.name] = a.array
            elif isinstance(p.type, ScalarType):
                found = self.reader.poly(a) if p.type.is_integer else None
                if found is not None:
                    out[eq.Param(p.name, p.type)] = to_expr(found)
                elif isinstance(a, k.Const):
                    out[eq.Param(p.name, p.type)] = eq.Const(a.value, p.type)
                elif isinstance(a, k.Var) and a.name not in self.reader.changing:
                    out[eq.Param(p.name, p.type)] = eq.Param(a.name, p.type)
        arrays = [x for x in out.values() if isinstance(x, str)]
        if len({*arrays}) < len(arrays):
            raise _Unknown
        return out

    def _launched(self, launch: h.Launch, kernel: eq.Kernel, known: _Known) -> None:
        """What a launch leaves behind in the arrays that it stores to."""
        params: tuple[k.Param, ...] = kernel.params  # type: ignore[assignment]
        given = [x for a in launch.args for x in h.arrays_in(a)]
        try:
            arguments = self._arguments(launch, params, known)
        except _Unknown:
            known.changed(given)
            return
        contents = {}
        for s in kernel.body:
            if not isinstance(s, eq.Write) or s.where is not None or s.accumulate or s.view or s.segments:
                continue
            if len(s.axes) != 1 or s.before.number or s.after not in kernel.returns or kernel.launch:
                continue
            (axis,), array = s.axes, arguments.get(s.after.array)
            if axis.step != 1 or s.subscripts != (eq.Index(axis.name, INT),) or array is None:
                continue
            try:
                value, lo, hi = (_in_host(e, arguments, known) for e in (s.value, axis.lo, axis.hi))
            except _Unknown:
                continue
            contents[array] = _Content(axis.name, to_poly(lo), to_poly(hi), value)
        stored = {v.array for v in kernel.returns if isinstance(v, eq.Version)}
        pairs = list(zip(params, launch.args, strict=False))
        known.changed(x for p, a in pairs if p.name in stored or p.name not in arguments for x in h.arrays_in(a))
        known.contents |= {known.now(a): c for a, c in contents.items()}

    def _summed(self, array: str, does: str, of: h.Whole, known: _Known) -> None:
        """What a running sum of a library leaves behind."""
        count = self.reader.poly(of.count)
        kind = next((s.element for s in _all(self.host.body) if isinstance(s, h.Alloc) and s.name == of.array), INT)
        read = eq.Read(eq.Version(known.now(of.array), 0), (eq.Index("i", INT),), kind)
        known.changed((array,))
        if count is not None and kind.is_integer:
            zero, axis = eq.Const(0, kind), eq.Axis("i", eq.Const(0, INT), to_expr(count))
            value = eq.Scan("add", axis, read, zero, does == "cumsum", False, kind)
            known.contents[known.now(array)] = _Content("i", Poly({}), count, value)

    def _apart(self, launch: h.Launch, known: _Known) -> bool:
        try:
            arguments = self._arguments(launch, self.function.params, known)
            return all(self._once(s, arguments, known) for s in self.stores)
        except (_Unknown, Unmovable):
            return False

    def _once(self, s: eq.Write, arguments: dict[eq.Expr | str, Any], known: _Known) -> bool:
        """Whether a store takes each cell once, with what is known of what it loads."""
        if len(s.axes) != 1 or s.view or s.segments:
            return False
        (axis,) = s.axes
        parts = () if s.where is None else conjuncts(s.where)
        lo, hi = (_in_host(e, arguments, known) for e in (axis.lo, axis.hi))
        index = eq.Index(axis.name, INT)
        within = (eq.Op("ge", (index, lo), BOOL), eq.Op("lt", (index, hi), BOOL))
        exprs = [_in_host(e, arguments, known) for e in (*s.subscripts, *parts)]
        for _ in range(4):  # what a launch makes of what another has made
            names = {c.index for e in exprs for c in _looked_up(e, known)}
            if axis.name not in names and len(names) == 1:  # a running value keeps its index
                (own,) = names
                exprs = [substitute(e, {index: eq.Index(own, INT)}) for e in exprs]
                within = tuple(substitute(c, {index: eq.Index(own, INT)}) for c in within)  # type: ignore[assignment]
                axis, index = replace(axis, name=own), eq.Index(own, INT)
            new = [_with_contents(e, within, known) for e in exprs]
            if new == exprs:
                break
            exprs = new
        subscripts, path = tuple(exprs[: len(s.subscripts)]), (*within, *exprs[len(s.subscripts) :])
        store = Access("y", subscripts, path, True, span=s.span)
        return not may_meet(store, store, (axis.name,), frozenset())


def _in_host(e: eq.Expr, arguments: dict[eq.Expr | str, Any], known: _Known) -> eq.Expr:
    """An expression of a kernel over the host's names. Raises _Unknown."""
    memo: dict[eq.Expr, eq.Expr] = {}
    for n in topological((e,)):
        new: eq.Expr
        match n:
            case eq.Param():
                if n not in arguments:
                    raise _Unknown
                new = arguments[n]
            case eq.Shape() | eq.CarryIn() | eq.FoldResult() | eq.HelperCall():
                raise _Unknown
            case eq.Read(version=version):
                if version.number or version.array not in arguments or n.view:
                    raise _Unknown
                array = eq.Version(known.now(arguments[version.array]), 0)
                new = eq.Read(array, tuple(memo[x] for x in n.subscripts), n.type)
            case _:
                new = rebuild(n, tuple(memo[c] for c in children(n)))
        memo[n] = new
    return memo[e]


def _looked_up(e: eq.Expr, known: _Known) -> list[_Content]:
    reads = [n for n in topological((e,)) if isinstance(n, eq.Read)]
    return [known.contents[n.version.array] for n in reads if n.version.array in known.contents]


def _with_contents(e: eq.Expr, within: tuple[eq.Expr, ...], known: _Known) -> eq.Expr:
    """``e`` with what arrays are known to hold in place of loads, where it is within what was stored."""
    memo: dict[eq.Expr, eq.Expr] = {}
    for n in topological((e,)):
        memo[n] = rebuild(n, tuple(memo[c] for c in children(n)))
        if not isinstance(n, eq.Read) or n.version.array not in known.contents or len(n.subscripts) != 1:
            continue
        content, place = known.contents[n.version.array], n.subscripts[0]
        at = to_poly(place)
        around = (*within, *_ranges(e, free_indices(place)))
        if nonnegative(around, at - content.lo) and nonnegative(around, content.hi - at - 1):
            own = eq.Index(content.index, INT)
            memo[n] = content.value if place is own else substitute(content.value, {own: place})
    return memo[e]


def _ranges(e: eq.Expr, names: frozenset[str]) -> tuple[eq.Expr, ...]:
    """What the running values in ``e`` say of their indices."""
    axes = [n.axis for n in topological((e,)) if isinstance(n, eq.Scan) and n.axis.name in names]
    ends = [(eq.Index(a.name, INT), a) for a in axes]
    return tuple(c for i, a in ends for c in (eq.Op("ge", (i, a.lo), BOOL), eq.Op("lt", (i, a.hi), BOOL)))


__all__ = ["with_counted_places"]
