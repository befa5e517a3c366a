"""Accumulators that the source declares to have 64 bits: ``s = np.int64(0)`` before ``s += x[i]``.

What an array of a Python kernel holds is open until the call; numba and NumPy add to such an accumulator in the wider
of the two types, whatever it is. What is added says so by an operation of its own, for JAX adds in the array's type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraise.ir.kernel import Assign, Call, Cast, Const, Expr, For, Function, If, Load, Op, Stmt, Var, While
from kraise.ir.operations import WIDENING
from kraise.ir.types import FLOAT64, INT64, NUMBER, ScalarType

_THROUGH = frozenset(("add", "sub", "mul", "neg", "floordiv", "mod", "pow", "shl", "shr", "and_", "or_", "xor"))
_CHOSEN = frozenset(("select", "min", "max", "abs"))
_OPERATION = {kind: name for name, kind in WIDENING.items()}


def widened(function: Function) -> Function:
    """The typed function, what its accumulators of 64 bits add in 64 bits."""
    assigned: dict[str, list[Assign]] = {}
    for s in _assignments(function.body):
        assigned.setdefault(s.name, []).append(s)
    for kind in (FLOAT64, INT64):
        declared = {
            name
            for name, group in assigned.items()
            if group[0].type == NUMBER and any(_says(s.value, kind) for s in group)
        }
        if declared:
            given = {p.name for p in function.params if isinstance(p.type, ScalarType)}
            work = _Work(kind, declared, function.kind in ("kernel", "device"), assigned, given - assigned.keys())
            function = replace(function, body=work.block(function.body))
    return function


def _says(e: Expr, kind: ScalarType) -> bool:
    return isinstance(e, Cast | Const) and e.type == kind


def _assignments(body: tuple[Stmt, ...]) -> Iterator[Assign]:
    for s in body:
        if isinstance(s, Assign):
            yield s
        yield from _assignments(getattr(s, "body", ()))
        yield from _assignments(getattr(s, "orelse", ()))


class _Work:
    def __init__(
        self,
        kind: ScalarType,
        declared: set[str],
        compiled: bool,
        assigned: dict[str, list[Assign]],
        given: set[str],
    ):
        self.kind, self.declared, self.given = kind, declared, given
        self.every = compiled and kind.is_integer  # numba multiplies integers in 64 bits, too
        self.wide = set(declared)
        while True:
            more = {n for n, group in assigned.items() if all(self.is_wide(s.value) for s in group)} - self.wide
            if not more:
                break
            self.wide |= more

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map(self.statement, body))

    def statement(self, s: Stmt) -> Stmt:
        match s:
            case Assign(name=name, value=value) if name in self.declared:
                return replace(s, value=self.accumulated(name, value))
            case If() | For() | While():
                return replace(s, body=self.block(s.body), orelse=self.block(s.orelse))
        return s

    def accumulated(self, name: str, e: Expr) -> Expr:
        """``e``, with what is added to the accumulator (multiplied with it …) in its width."""
        if not isinstance(e, Op) or e.name not in _THROUGH | _CHOSEN or not _holds(e, name):
            return e
        args = list(e.args)
        for at, a in enumerate(args):
            if e.name == "select" and at == 0:
                continue
            if _holds(a, name):
                args[at] = self.accumulated(name, a)
            elif e.name in _THROUGH:
                args[at] = self.made_wide(a)
        return replace(e, args=tuple(args))

    def is_wide(self, e: Expr) -> bool:
        match e:
            case Var(name=name):
                return e.type == self.kind or name in self.wide
            case Op(name=name, args=args) if name in _THROUGH:
                return e.type == self.kind or any(map(self.is_wide, args))
            case Op(name=name):
                return name == _OPERATION[self.kind] or e.type == self.kind
        return e.type == self.kind

    def made_wide(self, e: Expr) -> Expr:
        if e.type != NUMBER or self.is_wide(e) and not self.every:
            return e
        match e:
            case Op(name=name, args=args) if name in _THROUGH and any(a.type == NUMBER for a in args):
                if self.every:
                    return replace(e, args=tuple(map(self.made_wide, args)))
                for at, a in enumerate(args):
                    if (one := self.made_wide(a)) is not a:
                        return replace(e, args=(*args[:at], one, *args[at + 1 :]))
                return e
            case Var(name=name) if name in self.wide or name in self.given:  # a parameter may be a number of Python's
                return e
            case Op() | Load() | Var() | Call():
                return Op(_OPERATION[self.kind], (e,), NUMBER, span=e.span)
        return e


def _holds(e: Expr, name: str) -> bool:
    match e:
        case Var(name=own):
            return own == name
        case Op(name="select", args=(_, a, b)):
            return _holds(a, name) or _holds(b, name)
        case Op(args=args):
            return any(_holds(a, name) for a in args)
    return False


__all__ = ["widened"]
