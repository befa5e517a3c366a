"""Numbers that a host hands a kernel for sizes, and that may be less than 0: ``n - 20`` of a guard that lets nobody
through. All numbers are Python's here: an unsigned difference that would wrap round is one below 0.

A kernel's text takes the parameters that bound its slices for sizes (``x[:n]``). What a host computes is one where it
is a sum of sizes, or where the bounds of the loops and the branches around say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kraise.emit.hosts.statics import scalars
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT32, ScalarType

Sum = tuple[dict[k.Expr, int], int]
_DEPTH = 5


@dataclass
class Sizes:
    """What is known of the numbers of one host function, at one place of it."""

    values: dict[str, list[h.Expr | None]]  # what each name is bound to, anywhere (None: unknown)
    params: frozenset[str]
    counters: frozenset[str]
    facts: list[Sum] = field(default_factory=list)  # sums that are not negative at this place
    taken: set[str] = field(default_factory=set)  # the host's own parameters that were taken for sizes

    def is_size(self, e: h.Expr) -> bool:
        """Is the number 0 or more? Says of no number that may be less that it is."""
        return self._good(_sum(e), _DEPTH, frozenset())

    def bind(self, names: tuple[str, ...]) -> None:
        """The names have other values from here on."""
        self.facts = [f for f in self.facts if not _names(f) & set(names)]

    def learn(self, e: h.Expr) -> None:
        """The number is 0 or more from here on."""
        self.facts = [*self.facts, _sum(e)]

    def _good(self, value: Sum, depth: int, given: frozenset[str]) -> bool:
        terms, constant = value
        if constant >= 0 and all(c > 0 and self._atom(a, given) for a, c in terms.items()):
            return True
        if not depth or constant < 0 and not terms:
            return False
        for atom, c in terms.items():
            for other in self._instead(atom, c, terms):
                if self._good(_add(value, other, 1), depth - 1, given):
                    return True
        return False

    def _instead(self, atom: k.Expr, c: int, terms: dict[k.Expr, int]) -> Iterator[Sum]:
        """Sums that are no more than 0: the value is no less with one of them added."""
        for fact in self.facts:
            if (of := fact[0].get(atom, 0)) * c > 0 and abs(of) <= abs(c):
                yield _add(({}, 0), fact, -(c // of))
        match atom:
            case k.Var(name=name) if (told := self._definition(name)) is not None:
                yield _add(_add(({}, 0), _sum(told), c), ({atom: 1}, 0), -c)  # the same number
            case k.Op(name="min", args=args) if c < 0:
                for a in args:
                    yield _add(_add(({}, 0), _sum(a), c), ({atom: 1}, 0), -c)
            case k.Op(name="max", args=args) if c > 0:
                for a in args:
                    yield _add(_add(({}, 0), _sum(a), c), ({atom: 1}, 0), -c)
            case k.Op(name="tdiv" | "floordiv" | "tmod" | "mod", args=(a, k.Const(value=int() as by))) if (
                c < 0 and by > 0 and self.is_size(a)
            ):
                whole = atom.name in ("tmod", "mod")
                yield _add(_add(({}, 0), _sum(a), c), ({atom: 1}, 0), -c)  # no more than what is divided
                if whole:
                    yield _add(({}, c * (by - 1)), ({atom: 1}, 0), -c)

    def _stays(self, name: str) -> bool:
        """Has a name one value, or one in each round of one loop?"""
        return len(self.values.get(name, ())) <= (name not in self.params)

    def _definition(self, name: str) -> h.Expr | None:
        told = self.values.get(name, [])
        if len(told) != 1 or told[0] is None or name in self.params or name in self.counters:
            return None
        return told[0] if all(map(self._stays, _names(_sum(told[0])))) and name not in _names(_sum(told[0])) else None

    def _atom(self, e: h.Expr, given: frozenset[str]) -> bool:
        """Is a number that is no sum 0 or more?"""
        match e:
            case k.Const(value=value):
                return not isinstance(value, complex) and value >= 0
            case k.Var(name=name) if name in given:
                return True
            case k.Var(name=name):
                if name in self.params:
                    self.taken.add(name)
                if any(_add(fact, _sum(e), -1)[0] == {} and fact[1] <= 0 for fact in self.facts):
                    return True
                told = self.values.get(name, [] if name in self.params else [None])
                # of a number that a loop carries: at first, and after a round if it was before
                fixed = [f for f in self.facts if all(map(self._stays, _names(f))) and not _names(f) & self.counters]
                elsewhere = replace(self, facts=fixed)  # a counter had another value in the round that bound the name
                return all(v is not None and elsewhere._good(_sum(v), 2, given | {name}) for v in told)
            case k.Shape() | h.Library(static=True):
                return True
            case k.Cast(type=kind, arg=arg):
                return kind.kind == "bool" or self._good(_sum(arg), 2, given)
            case k.Op(name="max", args=args):
                return any(self._good(_sum(a), 2, given) for a in args)
            case k.Op(name="and_", args=args):
                return any(self._good(_sum(a), 2, given) for a in args)
            case k.Op(name="abs"):
                return True
            case k.Op(name="select", args=(_, a, b)):
                return all(self._good(_sum(x), 2, given) for x in (a, b))
            case k.Op(name=name, type=kind, args=args):
                keeps = name in _KEEPING and all(self._good(_sum(a), 2, given) for a in args)
                return kind.kind == "bool" or keeps
        return False


_KEEPING = ("mul", "div", "tdiv", "tmod", "floordiv", "mod", "shl", "shr", "or_", "xor", "min", "add", "sqrt", "pow",
            "ceil", "floor", "round", "log2")  # fmt: skip


def _sum(e: h.Expr) -> Sum:
    match e:
        case k.Const(value=int() as value):
            return {}, int(value)
        case k.Cast(type=kind, arg=k.Const() | k.Var() | k.Op() | k.Cast() as arg) if (
            kind.is_integer and arg.type.is_integer and (kind.bits or 64) >= 32
        ):
            return _sum(arg)
        case k.Op(name="add" | "sub" | "neg" as name, args=args):
            first, *rest = map(_sum, args)
            if name == "neg":
                return _add(({}, 0), first, -1)
            for other in rest:
                first = _add(first, other, 1 if name == "add" else -1)
            return first
        case k.Op(name="mul", args=(a, b)):
            for number, factor in ((_sum(a), b), (_sum(b), a)):
                if not number[0]:
                    return _add(({}, 0), _sum(factor), number[1])
        case k.Var(name=name):
            return {k.Var(name, INT32): 1}, 0
    return {e: 1}, 0  # type: ignore[dict-item]


def _names(value: Sum) -> set[str]:
    return scalars(*value[0])


def _add(a: Sum, b: Sum, times: int) -> Sum:
    terms = dict(a[0])
    for atom, c in b[0].items():
        terms[atom] = terms.get(atom, 0) + c * times
    return {t: c for t, c in terms.items() if c}, a[1] + b[1] * times


_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "ne": "eq"}


def opposite(condition: k.Expr) -> k.Expr:
    """What holds where a condition does not."""
    match condition:
        case k.Op(name="eq" | "lt" | "le" | "gt" | "ge" | "ne"):
            return replace(condition, name=_OPPOSITE.get(condition.name, "ne"))
    return k.Op("not", (condition,), BOOL)


def told(condition: h.Expr | None, holds: bool = True) -> list[Sum]:
    """The sums that are not negative where a condition holds, or where it does not."""
    match condition:
        case k.Op(name="not", args=(a,)):
            return told(a, not holds)
        case k.Op(name="and" | "or" as name, args=args) if (name == "and") is holds:
            return [f for a in args for f in told(a, holds)]
        case k.Op(name="lt" | "le" | "gt" | "ge" | "eq" | "ne" as name, args=(a, b)):
            kinds = [getattr(x, "type", None) for x in (a, b)]
            how: str = name if holds else _OPPOSITE.get(name, "ne")
            if how == "ne" or not all(isinstance(t, ScalarType) and t.is_integer and t.kind != "uint" for t in kinds):
                return []
            low, high = (_sum(a), _sum(b)) if how in ("lt", "le") else (_sum(b), _sum(a))
            gap = _add(_add(high, low, -1), ({}, 1), -1 if how in ("lt", "gt") else 0)
            return [gap, _add(({}, 0), gap, -1)] if how == "eq" else [gap]
    return []


def of_loop(stmt: o.Loop) -> list[Sum]:
    """What a loop's bounds say of its counter within a round, and what its condition says."""
    return [*told(stmt.condition), *_range(stmt)]


def _range(stmt: o.Loop) -> list[Sum]:
    if not stmt.var or stmt.start is None or stmt.stop is None or stmt.step is None:
        return []
    counter = _sum(k.Var(stmt.var, stmt.start.type))
    start, stop = _sum(stmt.start), _sum(stmt.stop)
    match stmt.step:
        case k.Const(value=int() as step) if step > 0:
            return [_add(counter, start, -1), _add(_add(stop, counter, -1), ({}, 1), -1)]
        case k.Const(value=int() as step) if step < 0:
            return [_add(start, counter, -1), _add(_add(counter, stop, -1), ({}, 1), -1)]
    return []


def _least(stmt: o.Loop) -> h.Expr | None:
    """The least value of a loop's counter."""
    match stmt.step:
        case k.Const(value=int() as step) if step > 0:
            return stmt.start
        case k.Const(value=int() as step) if step < 0 and stmt.stop is not None:
            return k.Op("add", (stmt.stop, k.Const(1, INT32)), INT32)
    return None


def bindings(body: tuple[o.Stmt, ...]) -> dict[str, list[h.Expr | None]]:
    """What each name of a host function is bound to, anywhere in it."""
    found: dict[str, list[h.Expr | None]] = {}

    def add(name: str, value: object) -> None:
        known = isinstance(value, k.Const | k.Var | k.Op | k.Cast | k.Shape)
        found.setdefault(name, []).append(value if known else None)  # type: ignore[arg-type]

    def visit(body: tuple[o.Stmt, ...]) -> None:
        for stmt in body:
            match stmt:
                case o.Let(targets=targets, value=value):
                    for target in targets:
                        add(target, value if len(targets) == 1 else None)
                case o.Loop(names=names, initial=initial, nexts=nexts, var=var):
                    visit(stmt.body)
                    for name, first, after in zip(names, initial, nexts, strict=True):
                        add(name, first)
                        kind = getattr(first, "type", None)
                        add(name, k.Var(after, kind) if isinstance(kind, ScalarType) and after != name else first)
                    if var:
                        add(var, _least(stmt))
                case o.Branch(names=names):
                    visit(stmt.body)
                    visit(stmt.orelse)
                    for name, one, other in zip(names, stmt.values, stmt.others, strict=True):
                        add(name, one)
                        add(name, other)

    visit(body)
    return found


__all__ = ["Sizes", "bindings", "of_loop", "opposite", "told"]
