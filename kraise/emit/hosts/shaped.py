"""Flat arrays that a host's loop carries in the shape in which its kernels see them.

XLA updates cells of a loop's state in place where the state has the shape that the cells are counted in; a state that
every round reshapes is copied (a loop of stencils took three times as long, an elimination seven times, jaxlib 0.10 on
CPU). So the loop takes ``a.reshape(n, n)`` and every round begins with ``a.ravel()``, which cost nothing.

The array must have just these elements. A size that the host has given it says so; of an array of the caller's, which
may be longer, the loop takes the first ones, where nothing in the loop looks at others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from kraise.emit.hosts.statics import Callee, nodes, scalars
from kraise.emit.loads.filled import Terms, terms
from kraise.emit.text.names import identifier
from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.types import INT

Extents = tuple[k.Expr | None, ...]  # the first may be any
_SUMS = ("add", "sub", "mul", "neg")


@dataclass(frozen=True)
class Shape:
    """The extents in which a loop carries an array, and how many of its first elements these are (None: all)."""

    extents: tuple[k.Expr, ...]
    count: k.Expr | None = None


class Shaped:
    """The shapes of what the loops of one host function carry."""

    def __init__(self, host: o.Host, callees: Mapping[str, Callee]):
        self.callees = callees
        self.bound = _bindings(host)
        self.sizes = self._sizes()

    def of(self, loop: o.Loop) -> dict[str, Shape]:
        """The arrays that a loop had better carry in a shape of their own, by their names in a round."""
        found: dict[str, Shape] = {}
        inside = {t for s in _statements(loop.body) for t in _targets(s)} | {loop.var}
        for name, after, is_array in zip(loop.names, loop.nexts, loop.arrays, strict=True):
            for extents in self._seen(loop.body, name) if is_array else ():
                shape = None if scalars(*extents) & inside else self._shape(name, extents)
                if shape is not None and (shape.count is None or (after == name and self._only(loop, name, extents))):
                    found[name] = shape
                    break
        return found

    def _shape(self, name: str, extents: Extents) -> Shape | None:
        """The shape of an array that a kernel sees with these extents: all of it, where its size is known."""
        lead, inner = extents[0], tuple(e for e in extents[1:] if e is not None)
        size, row = self.sizes.get(name), self._terms(_product(inner))
        if lead is not None:
            whole = (lead, *inner)
            count = self._terms(_product(whole))
            if size is None:
                return None if None in (count, *self._all(whole)) else Shape(whole, _product(whole))
            if size == count:
                return Shape(whole)
        rows = None if size is None or row is None else _quotient(size, row)
        return None if rows is None else Shape((rows, *inner))

    # --- how kernels see an array

    def _seen(self, body: tuple[o.Stmt, ...], name: str) -> Iterator[Extents]:
        """The shapes in which kernels of a block see an array."""
        for stmt in _statements(body):
            if isinstance(stmt, o.Let) and isinstance(stmt.value, o.Call):
                for extents in self._by_call(stmt.value, name):
                    if extents is not None:
                        yield extents

    def _by_call(self, call: o.Call, name: str) -> Iterator[Extents | None]:
        """The shape in which a kernel sees an array, for each of its parameters that the array is given for."""
        callee = self.callees[call.function]
        given = dict(zip(callee.parameters, call.args, strict=False))
        for parameter, arg in given.items():
            if not any(isinstance(n, h.Whole | k.Load | k.Shape) and n.array == name for n in nodes(arg)):
                continue
            view = callee.shapes.get(parameter, ())
            extents = tuple(None if e is None else _in_host(e, given) for e in view)
            known = view and isinstance(arg, h.Whole) and arg.offset is arg.count is None
            yield extents if known and None not in extents[1:] else None  # type: ignore[misc]

    def _only(self, loop: o.Loop, name: str, extents: Extents) -> bool:
        """Whether a loop does nothing with an array but give it to kernels that see it in this shape."""
        if any(_names_array(n, name) for n in nodes(loop.condition)):
            return False
        wanted = self._all(extents)
        for stmt in _statements(loop.body):
            match stmt:
                case o.Let(targets=targets, value=o.Call() as call):
                    shapes = list(self._by_call(call, name))
                    if name in targets and not shapes:
                        return False
                    if any(s is None or None in s or self._all(s) != wanted for s in shapes):
                        return False
                case o.Let(targets=targets, value=value):
                    if name in targets or any(_names_array(n, name) for n in nodes(value)):
                        return False
                case o.Loop(names=names, initial=initial, nexts=nexts, condition=condition):
                    carried = list(zip(names, initial, nexts, strict=True))
                    if any(c != (name, h.Whole(name), name) for c in carried if c[0] == name or c[2] == name):
                        return False
                    others = [e for n, e, _ in carried if n != name]
                    if any(_names_array(n, name) for n in nodes(others, condition)):
                        return False
                case o.Branch():
                    if any(_names_array(n, name) for n in nodes(stmt.condition, stmt.values, stmt.others)):
                        return False
                    if name in stmt.names:
                        return False
        return True

    def _all(self, extents: Extents) -> list[Terms | None]:
        return [None if e is None else self._terms(e) for e in extents]

    # --- sizes

    def _terms(self, e: k.Expr) -> Terms | None:
        """An integer as a polynomial of numbers that have one value each, None where it is none."""
        said = self._equation(e)
        return None if said is None else terms(said)

    def _equation(self, e: object) -> eq.Expr | None:
        match e:
            case k.Const(value=int() as value):
                return eq.Const(int(value), INT)
            case k.Cast(type=kind, arg=arg) if kind.is_integer and (kind.bits or 64) >= 32:
                return self._equation(arg)
            case k.Var(name=name):
                values = self.bound.get(name, ())
                if len(values) != 1:
                    return None
                inner = self._equation(values[0]) if isinstance(values[0], k.Const | k.Var | k.Op | k.Cast) else None
                return eq.Param(name, INT) if inner is None else inner
            case k.Op(name=name, args=args) if name in _SUMS and e.type.is_integer:
                parts = tuple(map(self._equation, args))
                return None if None in parts else eq.Op(name, parts, INT)  # type: ignore[arg-type]
        return None

    def _sizes(self) -> dict[str, Terms | None]:
        """How many elements arrays have, by their names; None where nothing says so, or several values differ."""
        found: dict[str, Terms | None] = {}
        before = None
        while found != before:  # a size is found once, and lost once at most
            before = dict(found)
            for target, values in self.bound.items():
                for value in values:
                    known, size = self._size(value, target, found)
                    if known:
                        found[target] = size if found.get(target, size) == size else None
        return found

    def _size(self, value: object, target: str, found: Mapping[str, Terms | None]) -> tuple[bool, Terms | None]:
        """Whether a value says how many elements its target has, and how many that are."""
        match value:
            case o.New(shape=(extent,), values=()):
                return True, self._terms(extent)
            case h.Whole(count=count, clamps=clamps) if count is not None:
                return True, None if clamps else self._terms(count)
            case h.Whole(array=array, offset=None):
                return array in found, found.get(array)
            case o.Cast(value=inner):
                return self._size(inner, target, found)
            case o.Put(base=base):
                return base in found, found.get(base)
            case o.Call(args=args) if h.Whole(target) in args:
                return False, None  # the same memory
            case k.Const() | k.Var() | k.Op() | k.Cast():
                return False, None
        return True, None


def _in_host(e: eq.Expr, given: Mapping[str, h.Expr]) -> k.Expr | None:
    """An extent over a kernel's parameters in the numbers that a call gives for them."""
    match e:
        case eq.Const(value=value, name=name):
            return k.Const(value, INT, name)
        case eq.Param(name=name):
            found = given.get(identifier(name))
            return found if isinstance(found, k.Const | k.Var | k.Op | k.Cast) else None
        case eq.Op(name=name, args=args):
            parts = tuple(_in_host(a, given) for a in args)
            return None if None in parts else k.Op(name, parts, INT)  # type: ignore[arg-type]
    return None


def _product(extents: tuple[k.Expr, ...]) -> k.Expr:
    return reduce(lambda a, b: k.Op("mul", (a, b), INT), extents)


def _quotient(size: Terms, row: Terms) -> k.Expr | None:
    """How many rows an array of ``size`` elements has, as a sum of products; None where it is no such number."""
    if len(row) != 1:
        return None
    [(by, number)] = row.items()
    parts: list[k.Expr] = []
    for factors, c in size.items():
        left = list(factors)
        for f in by:
            if f not in left:
                return None
            left.remove(f)
        if c % number or c < 0 or not all(isinstance(f, eq.Param) for f in left):
            return None
        sizes: list[k.Expr] = [k.Var(f.name, INT) for f in left if isinstance(f, eq.Param)]
        parts.append(_product((k.Const(c // number, INT), *sizes) if c != number or not sizes else tuple(sizes)))
    return reduce(lambda a, b: k.Op("add", (a, b), INT), parts) if parts else None


def _names_array(node: object, name: str) -> bool:
    match node:
        case h.Whole(array=array) | k.Load(array=array) | k.Shape(array=array) | k.ArrayRef(array=array):
            return array == name
        case o.Put(base=base):
            return base == name
        case o.New(like=like):
            return like == name
        case o.Rotated(variables=variables):
            return name in variables
    return False


def _statements(body: tuple[o.Stmt, ...]) -> Iterator[o.Stmt]:
    for stmt in body:
        yield stmt
        match stmt:
            case o.Loop(body=inner):
                yield from _statements(inner)
            case o.Branch(body=one, orelse=other):
                yield from _statements((*one, *other))


def _targets(stmt: o.Stmt) -> tuple[str, ...]:
    match stmt:
        case o.Let(targets=targets):
            return targets
        case o.Loop(names=names, var=var):
            return (*names, var)
        case o.Branch(names=names):
            return names
    return ()


def _bound_by(stmt: o.Stmt) -> Iterator[tuple[str, object]]:
    """The names that a statement binds, each with what it is bound to."""
    match stmt:
        case o.Let(targets=targets, value=value):
            yield from ((t, value) for t in targets)
        case o.Loop(names=names, initial=initial, nexts=nexts, arrays=arrays):
            for name, first, after, is_array in zip(names, initial, nexts, arrays, strict=True):
                yield name, first
                yield name, h.Whole(after) if is_array else None
        case o.Branch(names=names, values=values, others=others):
            for name, one, other in zip(names, values, others, strict=True):
                yield name, one
                yield name, other


def _bindings(host: o.Host) -> dict[str, list[object]]:
    """What each name is bound to, parameters and counters included."""
    found: dict[str, list[object]] = {p.name: [None] for p in host.params}
    for stmt in _statements(host.body):
        for name, value in _bound_by(stmt):
            found.setdefault(name, []).append(value)
        if isinstance(stmt, o.Loop) and stmt.var:
            found.setdefault(stmt.var, []).append(None)
    return found
