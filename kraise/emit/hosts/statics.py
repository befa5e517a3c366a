"""Which scalars of a host function are static: they decide a shape, a trip count, a launch or a branch of the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kraise.diagnostics import refuse
from kraise.emit.text.records import Field
from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.operations import OPERATIONS
from kraise.ir.rewrite import parts_of
from kraise.ir.types import ScalarType

SHORT = 16


@dataclass(frozen=True)
class Callee:
    """An emitted function that a host calls: its name, its parameters' names, which of them are static, whether there
    are checks in it that it throws, whether the size of its dynamic shared memory matters, the parameters that are
    given by keyword only (the last ones), the static members of structs, the extents in which a kernel sees flat
    arrays, by parameter (see :mod:`kraise.emit.loads.rectangles`), and the parameters that must not be less than 0,
    with whether the function does nothing where they are (see :func:`kraise.emit.guards.sizes`)."""

    name: str
    parameters: tuple[str, ...]
    statics: frozenset[str]
    launch: str = ""
    throws: bool = False
    shared: bool = False
    named: tuple[str, ...] = ()
    fields: frozenset[Field] = frozenset()
    shapes: Mapping[str, tuple[eq.Expr | None, ...]] = field(default_factory=dict)
    sizes: Mapping[str, bool] = field(default_factory=dict)


def nodes(*roots: object, static: bool = True) -> Iterator[object]:
    """Every node of expressions and values; without ``static`` what is below a static library call is left out."""
    stack = list(roots)
    while stack:
        node = stack.pop()
        if isinstance(node, tuple | list):
            stack.extend(node)
        elif (parts := parts_of(type(node))) is not None:  # type: ignore[arg-type]
            yield node
            if not static and isinstance(node, h.Library) and node.static:
                continue
            stack.extend(getattr(node, name) for name in parts)


def scalars(*roots: object) -> set[str]:
    """The scalars that expressions mention."""
    return {n.name for n in nodes(*roots) if isinstance(n, k.Var)}


class Statics:
    """The static scalars of one host function (``names``), those that depend on data (``traced``), and the loops that
    must be Python's own because what they count is static (``python``, by identity)."""

    def __init__(self, host: o.Host, callees: Mapping[str, Callee]):
        self.host, self.callees = host, callees
        self.python: set[int] = set()
        self.moving = {s.var for s in _loops(host.body) if s.var and not _is_short(s)}
        self.read: list[k.Load] = []  # elements that stand where a static number must
        while True:
            self.read.clear()
            self.traced = self._fixpoint(self._trace)
            self.names = self._fixpoint(self._need)
            counting = {id(s) for s in _loops(host.body) if _counters(s) & self.names}
            if counting <= self.python:
                break
            self.python |= counting
        self.given = _given(host.body) - {p.name for p in host.params}
        clash = sorted(self.names & self.traced) or [f"an element of {e.array}" for e in self.read]
        if clash:
            reason = f"{clash[0]} decides a size, a trip count or a launch, and depends on data"
            span = host.span if self.names & self.traced else self.read[0].span or host.span
            raise refuse("KR214", reason, span, "pass it as a parameter, or bound the loop by one")

    def is_static(self, *roots: object) -> bool:
        """Is an expression known when the function is traced?"""
        return not self._from_data(roots, self.traced) and scalars(*roots) <= self.names

    def is_known(self, *roots: object) -> bool:
        """Would an expression be known, were its parameters static?"""
        return not self._from_data(roots, self.traced)

    def is_array(self, *roots: object) -> bool:
        """Is an expression made of JAX's values wherever it stands, so that it is no number of Python's?"""
        return any(_is_jax(n) or (isinstance(n, k.Var) and n.name in self.given) for n in nodes(*roots))

    def _fixpoint(self, step) -> set[str]:  # type: ignore[no-untyped-def]
        found: set[str] = set()
        while True:
            before = len(found)
            step(self.host.body, found)
            if len(found) == before:
                return found

    def _trace(self, body: tuple[o.Stmt, ...], traced: set[str]) -> None:
        """Scalars whose value comes from data: loads, calls, library results, and what is computed from them."""
        for stmt in body:
            match stmt:
                case o.Let(targets=targets, value=value):
                    if isinstance(value, o.Call) or self._from_data((value,), traced):
                        traced |= set(targets)
                case o.Loop(names=names, nexts=nexts, initial=initial):
                    if id(stmt) not in self.python:
                        traced |= _counters(stmt)
                    for name, start, after in zip(names, initial, nexts, strict=True):
                        if after in traced or self._from_data((start,), traced):
                            traced.add(name)
                    self._trace(stmt.body, traced)
                case o.Branch(condition=condition, names=names):
                    self._trace(stmt.body, traced)
                    self._trace(stmt.orelse, traced)
                    for name, one, other in zip(names, stmt.values, stmt.others, strict=True):
                        if self._from_data((condition, one, other), traced):
                            traced.add(name)

    def _from_data(self, roots: tuple, traced: set[str]) -> bool:
        for node in nodes(*roots, static=False):
            match node:
                case k.Var(name=name) if name in traced:
                    return True
                case k.Load() | h.Whole():
                    return True
                case h.Library(static=static) if not static:
                    return True
        return False

    def _need(self, body: tuple[o.Stmt, ...], needed: set[str]) -> None:
        for stmt in reversed(body):
            match stmt:
                case o.Let(targets=targets, value=value):
                    if set(targets) & needed and not isinstance(value, o.Call):
                        needed |= scalars(value)
                    self._value(value, needed)
                case o.Loop(names=names, initial=initial):
                    needed |= scalars(stmt.start, stmt.stop, stmt.step)
                    self._shapes(needed, initial, stmt.condition)
                    self._need(stmt.body, needed)
                    if _counters(stmt) & needed:
                        needed |= scalars(stmt.condition)
                    for name, start in zip(names, initial, strict=True):
                        if name in needed:
                            needed |= scalars(start)
                case o.Branch(condition=condition, names=names):
                    self._need(stmt.body, needed)
                    self._need(stmt.orelse, needed)
                    self._shapes(needed, condition)
                    if set(names) & needed:
                        needed |= scalars(condition, stmt.values, stmt.others)
        for value in self.host.returns:
            if isinstance(value, o.Rotated) and not scalars(value.rounds) & self.traced:
                needed |= scalars(value.rounds)

    def _value(self, value: object, needed: set[str]) -> None:
        match value:
            case o.Call(function=function, args=args, grid=grid, block=block, shared=shared):
                needed |= self._static(grid, block, shared, value.demands)
                callee = self.callees[function]
                for parameter, argument in zip(callee.parameters, args, strict=False):
                    if parameter in callee.statics:
                        needed |= self._static(argument)
                    elif isinstance(argument, h.Structs) and argument.struct.is_record:
                        each = zip(argument.struct.members, argument.members, strict=True)
                        whole = [e for (_, t), e in each if isinstance(t, ScalarType) and t.is_integer]
                        needed |= self._static(*whole)
                    elif isinstance(argument, h.Record):
                        kinds = zip(argument.struct.members, argument.members, strict=True)
                        needed |= scalars(*(e for (n, _), e in kinds if (argument.struct, n) in callee.fields))
            case o.New(shape=shape):
                needed |= self._static(shape)
        self._shapes(needed, value)

    def _shapes(self, needed: set[str], *roots: object) -> None:
        for node in nodes(*roots):
            if isinstance(node, h.Whole | o.Put):
                # a part of constant length may start where the counter of a loop says
                free = self.moving if node.count is not None and not node.clamps else set()
                needed |= scalars(node.count) | (scalars(node.offset) - free)
            elif isinstance(node, h.Library):
                needed |= scalars(*(node.args[n] for n in node.shapes))

    def starts_anywhere(self, offset: k.Expr | None) -> bool:
        """Is a place known only when the function runs?"""
        return offset is not None and not scalars(offset) <= self.names

    def _static(self, *roots: object) -> set[str]:
        """The scalars of expressions that must be known when the function is traced; elements of arrays never are."""
        self.read += [n for n in nodes(*roots) if isinstance(n, k.Load)]
        return scalars(*roots)


def _is_jax(node: object) -> bool:
    """Is this spelled as a load or a call of JAX's?"""
    if isinstance(node, k.Op):
        row = OPERATIONS[node.name]
        return not row.infix and not row.prefix and row.jnp.startswith("jnp.")
    return isinstance(node, k.Load) or (isinstance(node, h.Library) and not node.static)


def _given(body: tuple[o.Stmt, ...]) -> set[str]:
    """The names that only calls and library calls give values."""
    called: set[str] = set()
    others: set[str] = set()

    def visit(body: tuple[o.Stmt, ...]) -> None:
        for stmt in body:
            match stmt:
                case o.Let(targets=targets, value=value) if isinstance(value, o.Call) or _is_jax(value):
                    called.update(targets)
                case o.Let(targets=targets):
                    others.update(targets)
                case o.Loop(names=names, var=var):
                    others.update(names, (var,))
                    visit(stmt.body)
                case o.Branch(names=names):
                    others.update(names)
                    visit(stmt.body)
                    visit(stmt.orelse)

    visit(body)
    return called - others


def _counters(stmt: o.Loop) -> set[str]:
    """The scalars that a loop changes."""
    return {stmt.var, *(n for n, a in zip(stmt.names, stmt.arrays, strict=True) if not a)} - {""}


def _is_short(loop: o.Loop) -> bool:
    """Has a loop a constant number of rounds, and few? It may as well be written out."""
    bounds = [b.value for b in (loop.start, loop.stop, loop.step) if isinstance(b, k.Const) and type(b.value) is int]
    return len(bounds) == 3 and loop.condition is None and len(range(*bounds)) <= SHORT  # type: ignore[call-overload]


def _loops(body: tuple[o.Stmt, ...]) -> Iterator[o.Loop]:
    for stmt in body:
        match stmt:
            case o.Loop():
                yield stmt
                yield from _loops(stmt.body)
            case o.Branch():
                yield from _loops(stmt.body)
                yield from _loops(stmt.orelse)
