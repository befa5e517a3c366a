"""Which parameters of kernels count the rounds of a host's loops, and from where to where.

``for (k = 0; k < n; k++) eliminate<<<…>>>(a, n, k)``: where ``k`` bounds the kernel's domains it would be static, and
the loop a program of n different launches. Here such parameters are found, with ranges in the kernel's own terms, and
the kernel is raised once more with them as indices (:mod:`kraise.raising.threads.rounds`): the loop stays a loop.

Side conditions, checked: every launch of the file gives the parameter a number within the range; the loop counts by a
constant step and is long (few rounds are written out, with slices of their own).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, set_within, sets
from kraise.ir.types import INT, ArrayType, ScalarType
from kraise.ir.walk import children, statement_expressions, statements, topological

FEW = 16  # rounds of a loop that is written out
Bound = eq.Expr | None
Again = Callable[[k.Function, tuple[eq.Axis, ...]], eq.Kernel]


def in_rounds(module: k.Module, hosts: Iterable[h.Host], kernels: list[eq.Kernel], again: Again) -> list[eq.Kernel]:
    """The kernels, those whose parameters count a host's rounds with them as indices, where ``again`` raises them so
    without more loops. A kernel that was refused may be raised with what the loops say."""
    found = _ranges(module, hosts)
    before = {x.name: x for x in kernels}
    out = []
    for function in module.functions:
        kernel = before.get(function.name)
        wanted = tuple(a for a in found.get(function.name, ()) if kernel is None or _is_size(kernel, a.name))
        if wanted:
            try:
                raised = again(function, wanted)
            except Refused:
                pass
            else:
                kernel = _better(kernel, raised)
        out += [] if kernel is None else [kernel]
    return out


def _better(kernel: eq.Kernel | None, raised: eq.Kernel) -> eq.Kernel:
    if kernel is None:
        return replace(raised, covers=(), least=())
    keeps = _loops(raised) <= _loops(kernel) and (raised.launch == kernel.launch or not raised.launch)
    return replace(raised, covers=kernel.covers, least=kernel.least) if keeps else kernel


def _loops(kernel: eq.Kernel) -> int:
    return sum(isinstance(s, eq.Fold) for s in statements(kernel.body))


def _is_size(kernel: eq.Kernel, name: str) -> bool:
    """Whether a parameter bounds a domain, or moves a flat subscript along: it would be static. Not where it is an
    exponent: its rounds differ in their strides."""
    nodes = topological(e for s in kernel.body for e in statement_expressions(s))
    mine = {n for n in nodes if isinstance(n, eq.Param) and n.name == name}
    if any(isinstance(n, eq.Op) and n.name in ("shl", "shr", "pow") and mine & {*children(n)} for n in nodes):
        return False
    bounds = [b for n in nodes for a in _axes(n) for b in (a.lo, a.hi)]
    for s in statements(kernel.body):
        bounds += [b for a in _axes(s) for b in (a.lo, a.hi)]
        bounds += [e for e in (*s.subscripts, *s.view) if e not in mine] if isinstance(s, eq.Write) else []
        bounds += s.shape if isinstance(s, eq.New) else ()
    bounds += [e for n in nodes if isinstance(n, eq.Read) for e in (*n.subscripts, *n.view) if e not in mine]
    bounds += [c for c, _ in kernel.checks]
    return not mine.isdisjoint(topological(bounds))


def _axes(node: object) -> tuple[eq.Axis, ...]:
    axes = getattr(node, "axes", ())
    axis = getattr(node, "axis", None)
    return (*axes, axis) if isinstance(axis, eq.Axis) else axes


# --- the launches --------------------------------------------------------------------------------


@dataclass
class _Loops:
    """The loops around a place of a host: first and last value of each counter, and whether there are many rounds."""

    first: dict[str, Poly] = field(default_factory=dict)
    last: dict[str, Poly] = field(default_factory=dict)
    long: set[str] = field(default_factory=set)


def _ranges(module: k.Module, hosts: Iterable[h.Host]) -> dict[str, tuple[eq.Axis, ...]]:
    """By kernel: the parameters that count rounds, with the ranges that hold for every launch of the file."""
    seen: dict[str, dict[str, list[tuple[Bound, Bound, bool]]]] = {}
    for host in hosts:
        reader = Reader(host)
        for launch, loops in _launches(host.body, _Loops(), reader):
            function = next((f for f in module.functions if f.name == launch.function), None)
            if function is None or launch.grid is None:
                continue
            own = reader.arguments(function, launch)
            for name, value in own.items():
                ends = _ends(name, value, own, loops, reader, function, launch)
                seen.setdefault(function.name, {}).setdefault(name, []).append(ends)
    return {kernel: tuple(_agreed(params)) for kernel, params in seen.items()}


def _agreed(params: dict[str, list[tuple[Bound, Bound, bool]]]) -> Iterator[eq.Axis]:
    for name, all_ends in params.items():
        if not any(counts for _, _, counts in all_ends):
            continue
        lo = _one([first for first, _, _ in all_ends], min)
        hi = _one([end for _, end, _ in all_ends], max)
        if lo is not None and hi is not None:
            yield eq.Axis(name, lo, hi)


def _one(bounds: list[Bound], pick: Callable) -> Bound:  # type: ignore[type-arg]
    """The one bound that holds for all launches, None where there is none."""
    if None in bounds:
        return None
    first = to_poly(bounds[0])  # type: ignore[arg-type]
    gaps = [(to_poly(b) - first).value for b in bounds]  # type: ignore[arg-type]
    return None if None in gaps else to_expr(first + pick(gaps))


def _launches(body: tuple[h.Stmt, ...], around: _Loops, reader: Reader) -> Iterator[tuple[h.Launch, _Loops]]:
    for stmt in body:
        match stmt:
            case h.Launch():
                yield stmt, around
            case h.For():
                yield from _launches(stmt.body, _within(stmt, around, reader), reader)
            case _:
                for block in h.children(stmt):
                    yield from _launches(block, around, reader)


def _within(stmt: h.For, around: _Loops, reader: Reader) -> _Loops:
    """The loops around the body of ``stmt``; a counter that a round changes itself is none."""
    start, stop, step = (reader.poly(e) for e in (stmt.start, stmt.stop, stmt.step))
    by = None if step is None else step.value
    if start is None or stop is None or not by or stmt.var in set_within(stmt.body):
        return around
    rounds = (stop - start).value
    ends = (start, stop - 1) if by > 0 else (stop + 1, start)
    long = {stmt.var} if rounds is None or abs(rounds) > FEW * abs(by) else set()
    return _Loops(around.first | {stmt.var: ends[0]}, around.last | {stmt.var: ends[1]}, around.long | long)


def _ends(
    name: str,
    value: Poly | None,
    own: dict[str, Poly | None],
    loops: _Loops,
    reader: Reader,
    function: k.Function,
    launch: h.Launch,
) -> tuple[Bound, Bound, bool]:
    """The least number that a launch gives a parameter, the first that is too large, and whether it counts rounds."""
    if value is None:
        return None, None, False
    counters = {a.name for a in value.atoms() if isinstance(a, eq.Param)} & loops.first.keys()
    low, high = (_extreme(value, loops, side) for side in (-1, 1))

    def told(end: Poly | None) -> Bound:
        return None if end is None else _in_terms(end, name, own, reader, function, launch)

    return told(low), told(None if high is None else high + 1), bool(counters & loops.long)


def _extreme(value: Poly, loops: _Loops, side: int) -> Poly | None:
    """The least (``side`` < 0) or largest value of a sum over the rounds of the loops around; None if that is not
    known."""
    for _ in range(1 + len(loops.first)):
        moving = [a for a in value.atoms() if isinstance(a, eq.Param) and a.name in loops.first]
        if not moving:
            return value
        at = moving[0]
        if any(m.count(at) > 1 for m in value.terms):
            return None
        slope = value.coefficient(at).value
        if slope is None:
            return None
        value = value.substitute(at, (loops.last if slope * side > 0 else loops.first)[at.name])  # type: ignore[union-attr]
    return None


def _in_terms(
    end: Poly, name: str, own: dict[str, Poly | None], reader: Reader, function: k.Function, launch: h.Launch
) -> Bound:
    """A number of the host as one of the kernel: a constant, or a sum of parameters and extents that it is given."""
    given = [(eq.Param(p.name, p.type), own[p.name]) for p in function.params if p.name in own and p.name != name]  # type: ignore[arg-type]
    for p, argument in zip(function.params, launch.args, strict=False):
        if isinstance(p.type, ArrayType) and isinstance(argument, k.ArrayRef) and argument.offset is None:
            extents = reader.shape(argument.array, p.type.ndim)
            given += [(eq.Shape(p.name, axis, INT), extent) for axis, extent in enumerate(extents)]  # type: ignore[misc]
    for here, there in given:
        gap = None if there is None else (end - there).value
        if gap is not None and end.value is None:
            return to_expr(to_poly(here) + gap)
    hosts = end.atoms()
    for here, there in given:
        for a in hosts if there is not None else ():
            gap = (there - to_poly(a)).value  # type: ignore[operator]
            if gap is not None:
                end, hosts = end.substitute(a, to_poly(here) - gap), hosts - {a}
                break
    return None if hosts else to_expr(end)


class Reader:
    """The numbers of a host function as polynomials over its parameters, extents and counters."""

    def __init__(self, host: h.Host):
        self.values: dict[str, h.Expr] = {}
        self.like: dict[str, str] = {}
        self.made: dict[str, tuple[k.Expr, ...]] = {}
        times: dict[str, int] = {}
        for stmt in _all(host.body):
            for name in sets(stmt):
                times[name] = times.get(name, 0) + 1
            match stmt:
                case h.Bind(name=name, value=h.Whole(array=array, offset=None, count=None)):
                    self.like[name] = array
                case h.Alloc(name=name, shape=None, like=array) if array:
                    self.like[name] = array
                case h.Alloc(name=name, shape=shape) if shape is not None:
                    self.made[name] = shape
        counters = {s.var for s in _all(host.body) if isinstance(s, h.For)}
        several = {n for n, count in times.items() if count > 1} | (times.keys() & {p.name for p in host.params})
        self.several = several  # what has another value at another place
        given = [s for s in host.body if isinstance(s, h.Assign) and s.name not in several]
        self.values = {s.name: s.value for s in given if not counters & {*expression_names(s.value)}}
        self.changing = times.keys() - self.values.keys() - counters

    def arguments(self, function: k.Function, launch: h.Launch) -> dict[str, Poly | None]:
        """The integers that a launch gives, by parameter; None where they are no sums."""
        pairs = zip(function.params, launch.args, strict=False)
        whole = [(p, a) for p, a in pairs if isinstance(p.type, ScalarType) and p.type.is_integer]
        return {p.name: self.poly(a) for p, a in whole}

    def shape(self, array: str, ndim: int) -> list[Poly]:
        """The extents of an array of the host."""
        for _ in range(1 + len(self.like)):
            if array in self.several:
                return []
            if array in self.made:
                found = [self.poly(e) for e in self.made[array]]
                return [p for p in found if p is not None] if None not in found else []
            if array not in self.like:
                break
            array = self.like[array]
        return [to_poly(eq.Shape(array, axis, INT)) for axis in range(ndim)]

    def poly(self, e: object, depth: int = 0) -> Poly | None:
        """An integer expression of the host; None where it holds anything but sums and products of numbers that do not
        change but by loops."""
        match e:
            case k.Const(value=int() as value) if type(value) is int:
                return to_poly(eq.Const(value, INT))
            case k.Var(name=name, type=t) if t.is_integer or t.kind == "number":
                if name in self.values and depth < 32:
                    found = self.poly(self.values[name], depth + 1)
                    return found if found is not None else to_poly(eq.Param(name, INT))
                return None if name in self.changing else to_poly(eq.Param(name, INT))
            case k.Shape(array=array, axis=axis):
                extents = self.shape(array, axis + 1)
                return extents[axis] if 0 <= axis < len(extents) else None
            case k.Cast(type=t, arg=arg) if t.is_integer and (t.bits or 64) >= 32:
                return self.poly(arg, depth)
            case k.Op(name="neg", args=(a,)):
                inner = self.poly(a, depth)
                return None if inner is None else -inner
            case k.Op(name="add" | "sub" | "mul" as name, args=(a, b)):
                left, right = self.poly(a, depth), self.poly(b, depth)
                if left is None or right is None:
                    return None
                return left + right if name == "add" else left - right if name == "sub" else left * right
        return None


def _all(body: tuple[h.Stmt, ...]) -> Iterator[h.Stmt]:
    for stmt in body:
        yield stmt
        for block in h.children(stmt):
            yield from _all(block)


__all__ = ["Reader", "in_rounds"]
