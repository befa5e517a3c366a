"""A loop around an atomic compare-and-swap, read as the atomic that it is, by running one of its rounds on symbols.

Let E be the value that the swap expects (what the round took for the cell's content) and R the one that it found. The
loop is one atomic update of the cell if every path of a round either swaps, and is left exactly if R is E, or does not
swap, and is left because of what E is; and if the next round begins with R (or looks at the cell anew) where this one
began with E. What is stored in terms of E, and when nothing is, says which atomic: ``E + v``, ``max(E, v)``, or v as
long as it is greater.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kraise.ir.kernel import (
    Assign,
    Atomic,
    Break,
    Call,
    Cast,
    Const,
    Continue,
    Expr,
    If,
    Load,
    Op,
    Stmt,
    Store,
    Var,
    Warp,
    While,
)
from kraise.ir.operations import TURNED
from kraise.ir.rewrite import rewritten
from kraise.ir.types import BOOL, NUMBER, ScalarType

NAMES = {"add": "add", "max": "max", "min": "min", "and_": "and", "or_": "or", "xor": "xor", "sub": "sub"}
NAMES["mul"] = "mul"  # there is no atomicMul: such a loop is how it is written
SIDES = {"lt": "min", "le": "min", "gt": "max", "ge": "max"}  # by how the new value compares with the old one
_NOT = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
_EXPECTED, _FOUND, _LATER = "$expected", "$found", "$later"


class _Other(Exception):
    """The loop does something else."""


@dataclass(frozen=True)
class _Path:
    """Where one way through a round is: what the variables are, what was asked of E, what is swapped in, whether that
    was ``won``."""

    env: tuple[tuple[str, Any], ...]
    tests: tuple[tuple[Any, bool], ...] = ()
    new: Any = None
    won: bool | None = None
    at: str = "on"


def with_atomics(body: Sequence[Any]) -> tuple[Any, ...]:
    """A function's body with such loops as atomics; what nobody reads of what they left is gone."""
    out = tuple(_replaced(body))
    results = {x.result for x in _nodes(out) if isinstance(x, Atomic)} - {""}
    while results:
        read = {x.name for x in _nodes(out) if isinstance(x, Var)}

        def visit(x: Any, read: set[str] = read) -> Any:
            if isinstance(x, Atomic) and x.name != "cas" and x.result and x.result not in read:
                return replace(x, result="")
            return None

        fewer = rewritten(_without(out, results, read), visit)
        if fewer == out:
            break
        out = fewer
    return out


def _without(stmts: tuple[Any, ...], results: set[str], read: set[str]) -> tuple[Any, ...]:
    """The statements without copies of ``results`` that are not ``read``."""
    kept: list[Any] = []
    for s in stmts:
        inner = {n: _without(getattr(s, n), results, read) for n in ("body", "orelse") if getattr(s, n, ())}
        copied = isinstance(s, Assign) and isinstance(plain(s.value), Var) and plain(s.value).name in results
        if not (copied and s.name not in read):
            kept.append(replace(s, **inner) if inner else s)
    return tuple(kept)


def _replaced(stmts: Sequence[Any]) -> list[Any]:
    out: list[Any] = []
    for s in stmts:
        inner = {n: tuple(_replaced(getattr(s, n))) for n in ("body", "orelse") if getattr(s, n, ())}
        s = replace(s, **inner) if inner else s
        found = as_atomic(out, s) if isinstance(s, While) else None
        if found is None:
            out.append(s)
            continue
        dropped, made = found
        del out[len(out) - dropped :]
        out += made
    return out


def as_atomic(before: Sequence[Any], loop: While) -> tuple[int, list[Stmt]] | None:
    """How many of the statements right ``before`` the loop belong to it, and what takes their and its place; None if
    it is no atomic."""
    swaps = [x for x in _nodes(loop.body) if isinstance(x, Atomic)]
    if len(swaps) != 1 or swaps[0].name != "cas" or not swaps[0].result or loop.orelse:
        return None
    (cas,) = swaps
    types = {x.name: x.type for x in _nodes(loop.body) if isinstance(x, Assign)}
    own = {*types, cas.result}
    count = 0
    while count < len(before) and isinstance(before[-1 - count], Assign) and before[-1 - count].name in own:
        count += 1
    try:
        found = _Rounds(cas, own).atomic(before[len(before) - count :], loop)
    except _Other:
        return None
    name, v = found
    if any(isinstance(x, Var) and x.name in {*own, _EXPECTED, _FOUND, _LATER} for x in _nodes((v, cas.subscripts))):
        return None
    if v.type not in (cas.type, NUMBER) and cas.type != NUMBER:
        return None
    left = Var(cas.result, cas.type)  # of no use to anyone: a later read is refused
    made: list[Stmt] = [replace(cas, name=name, values=(v,))]
    own -= {cas.result}
    made += [Assign(n, left if types[n] == cas.type else Cast(types[n], left), types[n]) for n in types if n in own]
    return count, made


class _Rounds:
    def __init__(self, cas: Atomic, own: set[str]):
        self.cas, self.own = cas, own
        self.expected = Var(_EXPECTED, cas.type)

    def atomic(self, before: Sequence[Any], loop: While) -> tuple[str, Expr]:
        (start,) = self.run(before, _Path(()))
        begun = [start] if loop.test_last else list(self.head(loop, start))
        ended = [p for p in begun if p.at == "break"]
        for first in (p for p in begun if p.at == "on"):
            for p in self.run(loop.body, first):
                if p.at == "break" or p.won is None and p.new is None and p.at == "on":
                    ended.append(p)
                    continue
                ended += self.over(loop, replace(p, at="on"), dict(start.env))
        if any(p.at != "break" or (p.new is not None and p.won is not True) for p in ended):
            raise _Other
        return _meaning([p for p in ended if p.new is not None], [p for p in ended if p.new is None], self.expected)

    def over(self, loop: While, p: _Path, start: dict[str, Any]) -> list[_Path]:
        """What follows a round that has swapped, or lost: those ways that leave."""
        if p.new is None:
            raise _Other
        left: list[_Path] = []
        asked = [p] if p.won is False and not loop.test_last else list(self.head(loop, p))
        for q in asked:
            if q.at == "break":
                left.append(q)
                continue
            again = dict(q.env)
            if q.won is not False or any(self.next(again.get(n)) != v for n, v in start.items()):
                raise _Other
        return left

    def next(self, e: Any) -> Any:
        """A value in terms of what the next round expects."""
        if isinstance(e, Op) and (side := self._swapped(e)) is not None:
            return Const(not side, BOOL)  # this round has lost
        return rewritten(
            e,
            lambda x: (
                {_FOUND: self.expected, _LATER: self.expected, _EXPECTED: Var("$before", x.type)}.get(x.name)
                if isinstance(x, Var)
                else None
            ),
        )

    def head(self, loop: While, p: _Path) -> Iterator[_Path]:
        yield from self.run((If(Op("not", (loop.condition,), BOOL), (Break(),)),), p)

    def run(self, stmts: Sequence[Any], path: _Path) -> list[_Path]:
        paths = [path]
        for s in stmts:
            done = [p for p in paths if p.at != "on"]
            paths = done + [q for p in paths if p.at == "on" for q in self.step(s, p)]
        return paths

    def step(self, s: Any, p: _Path) -> list[_Path]:
        match s:
            case Assign(name=name, value=v):
                return [replace(p, env=tuple((dict(p.env) | {name: self.value(v, p)}).items()))]
            case Atomic() if p.new is None:
                if self.value(s.subscripts, p) != s.subscripts or not same(self.value(s.values[0], p), self.expected):
                    raise _Other
                seen = dict(p.env) | {s.result: Var(_FOUND, s.type)}
                return [replace(p, env=tuple(seen.items()), new=self.value(s.values[1], p))]
            case If(condition=c, body=body, orelse=orelse):
                arms = ((True, body), (False, orelse))
                return [
                    r for holds, arm in arms for q in self.where(self.value(c, p), holds, p) for r in self.run(arm, q)
                ]
            case Break():
                return [replace(p, at="break")]
            case Continue():
                return [replace(p, at="continue")]
        raise _Other

    def where(self, c: Any, holds: bool, p: _Path) -> list[_Path]:
        """The way on which a condition (in terms of E and R) holds, or does not; none if it is decided otherwise."""
        match c:
            case Const(value=v):
                return [p] if bool(v) is holds else []
            case Op(name="not", args=(inner,)):
                return self.where(inner, not holds, p)
        side = self._swapped(c)
        if side is not None and p.new is not None:
            won = side is holds
            return [replace(p, won=won)] if p.won in (None, won) else []
        if p.new is not None or any(isinstance(x, Var) and x.name == _FOUND for x in _nodes(c)):
            raise _Other
        return [replace(p, tests=(*p.tests, (c, holds)))]

    def _swapped(self, c: Any) -> bool | None:
        """Whether a condition says that the swap took place (True), or that it did not."""
        if isinstance(c, Op) and c.name in ("eq", "ne"):
            names = {getattr(plain(a), "name", "") for a in c.args}
            return c.name == "eq" if names == {_EXPECTED, _FOUND} else None
        return None

    def value(self, e: Any, p: _Path) -> Any:
        env = dict(p.env)

        def visit(x: Any) -> Any:
            match x:
                case Var(name=name) if name in env:
                    return env[name]
                case Var(name=name) if name in self.own:
                    raise _Other  # what an earlier round left
                case Load(array=a, subscripts=subs) if a == self.cas.array:
                    if subs != self.cas.subscripts or (p.new is not None and p.won is not False):
                        raise _Other
                    # a look after a swap that was lost: what the next round may expect, and no answer to this one
                    return self.expected if p.new is None else Var(_LATER, self.cas.type)
                case Call() | Warp() | Store():
                    raise _Other
            return None

        return rewritten(e, visit)


def _meaning(swaps: list[_Path], idle: list[_Path], expected: Var) -> tuple[str, Expr]:
    """The atomic, and its operand."""
    news = {repr(p.new): p.new for p in swaps}
    if len(news) != 1:
        raise _Other
    (new,) = news.values()
    found = operation(new, expected)
    if not idle and found is not None:
        return found
    if isinstance(plain(new), Op) and plain(new).name == "select" and not idle:
        c, a, b = plain(new).args
        if same(b, expected):
            return _side(c, True, a, expected)
        if same(a, expected):
            return _side(c, False, b, expected)
        raise _Other
    if len(swaps) != 1 or len(idle) != 1 or len(swaps[0].tests) != 1 or len(idle[0].tests) != 1:
        raise _Other
    ((c, holds),) = swaps[0].tests
    if idle[0].tests != ((c, not holds),):
        raise _Other
    name, v = _side(c, holds, new, expected) if found is None else _side(c, holds, found[1], expected)
    if found is not None and found[0] != name:
        raise _Other
    return name, v


def _side(c: Any, holds: bool, v: Any, expected: Var) -> tuple[str, Expr]:
    """The extremum that stores ``v`` where a comparison of it with E holds (or does not)."""
    if isinstance(c, Op) and c.name in SIDES:
        a, b = c.args
        name = c.name if holds else _NOT[c.name]
        if same(a, v) and same(b, expected):
            return SIDES[name], v
        if same(b, v) and same(a, expected):
            return SIDES[TURNED[name]], v
    raise _Other


def plain(e: Any) -> Any:
    """An expression without reinterpretations and conversions between integers of one width."""
    while (isinstance(e, Op) and e.name == "bits") or (
        isinstance(e, Cast) and e.type.is_integer and e.arg.type.is_integer and e.type.bits == e.arg.type.bits
    ):
        e = e.args[0] if isinstance(e, Op) else e.arg
    return e


def same(a: Any, b: Any) -> bool:
    """Whether two expressions are one value, bit by bit."""
    a, b = plain(a), plain(b)
    if isinstance(a, Var) and isinstance(b, Var):
        return a.name == b.name
    return bool(a == b)


def operation(new: Any, assumed: Var) -> tuple[str, Expr] | None:
    """(operation, other operand) if ``new`` is ``assumed ⊕ other``."""
    new = plain(new)
    if not (isinstance(new, Op) and new.name in NAMES and len(new.args) == 2):
        return None
    a, b = new.args
    if same(a, assumed):
        return NAMES[new.name], b
    if same(b, assumed) and new.name != "sub":
        return NAMES[new.name], a
    return None


def _nodes(x: Any) -> Iterator[Any]:
    stack = [x]
    while stack:
        top = stack.pop()
        if isinstance(top, tuple | list):
            stack.extend(top)
        elif hasattr(top, "__dataclass_fields__") and not isinstance(top, ScalarType):
            yield top
            stack.extend(getattr(top, f) for f in top.__dataclass_fields__ if f not in ("span", "type"))


__all__ = ["NAMES", "SIDES", "TURNED", "as_atomic", "operation", "plain", "same", "with_atomics"]
