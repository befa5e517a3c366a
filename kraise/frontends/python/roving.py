"""Names of arrays that change places (``src, dst = dst, src``): which they are, and what each may stand for.

Such a name is a number that says which of a fixed few arrays it is now. It is lowered as an array of its own name, and
:func:`settled` puts the choice in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import libcst as cst

from kraise.diagnostics import Span, refuse
from kraise.frontends.python.source import all_of
from kraise.ir.kernel import (
    ArrayRef,
    Assign,
    Atomic,
    Call,
    CallStmt,
    Const,
    Expr,
    For,
    If,
    Load,
    LocalArray,
    Op,
    Return,
    Shape,
    Stmt,
    Store,
    Var,
    While,
)
from kraise.ir.rewrite import rewritten
from kraise.ir.types import BOOL, INT, NUMBER


@dataclass(frozen=True)
class Rover:
    """The variable that says which of the arrays ``among`` a name stands for."""

    which: str
    among: tuple[str, ...]

    def number(self, name: str) -> Expr:
        return Const(self.among.index(name), INT)


def rovers(
    body: cst.CSTNode,
    params: list[str],
    ranks: Mapping[str, int],
    bound: Mapping[str, int],
    fresh: Callable[[str], str],
) -> dict[str, Rover]:
    """The names that change places among arrays of one rank; a parameter may stand for itself."""
    sets = _sets(body)
    links = {
        name: set[str]().union(*(n or () for n in sources))
        for name, sources in sets.items()
        if None not in sources and len(sources) == bound[name] and ranks.get(name)
    }
    found: dict[str, Rover] = {}
    again = {n for loop in all_of(cst.For | cst.While, body) for n in _sets(loop.body)}  # a new array in each round
    for name in links:
        among = _among(name, links, params)
        plain = all(n in params if n in links else n in params or (bound[n] == 1 and n not in again) for n in among)
        if len(among) > 1 and plain and len({ranks.get(n, 0) for n in (name, *among)}) == 1:
            found[name] = Rover(fresh(f"{name}_which"), among)
    return found


def _among(name: str, links: dict[str, set[str]], params: list[str]) -> tuple[str, ...]:
    seen, todo = {name}, [name]
    while todo:
        top = todo.pop()
        near = links[top] | {n for n, to in links.items() if top in to} if top in links else set()
        todo += [n for n in near if n not in seen]
        seen |= near
    return tuple(sorted(n for n in seen if n not in links or n in params))


def _sets(body: cst.CSTNode) -> dict[str, list[set[str] | None]]:
    """The names among which each assignment of a name chooses, None for one that does anything else."""
    found: dict[str, list[set[str] | None]] = {}
    for node in all_of(cst.Assign, body):
        if len(node.targets) != 1:
            continue
        target, value = node.targets[0].target, node.value
        pairs: list[tuple[cst.BaseExpression, cst.BaseExpression]] = [(target, value)]
        if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
            pairs = [(t.value, v.value) for t, v in zip(target.elements, value.elements, strict=False)]
        for t, v in pairs:
            if isinstance(t, cst.Name):
                found.setdefault(t.value, []).append(_names(v))
    return found


def _names(value: cst.BaseExpression) -> set[str] | None:
    match value:
        case cst.Name(value=name):
            return {name}
        case cst.IfExp(body=body, orelse=orelse):
            first, second = _names(body), _names(orelse)
            return None if first is None or second is None else first | second
    return None


def settle(body: cst.BaseSuite, found: Mapping[str, Rover]) -> set[str]:
    """Those names that no branch and no loop sets, and no choice."""
    inner = [s for s in body.body if isinstance(s, cst.For | cst.While | cst.If)]
    moving = set().union(*(_sets(s).keys() for s in inner))
    moving |= {n for n, sources in _sets(body).items() if any(s is None or len(s) > 1 for s in sources)}
    return {n for n, r in found.items() if not _groups(r, found) & moving}


def _groups(rover: Rover, found: Mapping[str, Rover]) -> set[str]:
    return {n for n, r in found.items() if set(r.among) & set(rover.among)}


def number_of(rover: Rover, value: cst.BaseExpression, known: Mapping[str, Rover], test: Callable[[Any], Expr]) -> Expr:
    """Which of its arrays ``value`` is."""
    match value:
        case cst.IfExp(test=condition, body=body, orelse=orelse):
            arms = number_of(rover, body, known, test), number_of(rover, orelse, known, test)
            return Op("select", (test(condition), *arms), INT)
        case cst.Name(value=name) if name in known:
            return Var(known[name].which, NUMBER)
        case cst.Name(value=name):
            return rover.number(name)
    raise AssertionError(value)


def settled(body: tuple[Stmt, ...], found: Mapping[str, Rover]) -> tuple[Stmt, ...]:
    """``body`` with the arrays themselves in place of the names that choose among them."""
    if not found:
        return body
    now: dict[str, int] = {}  # what the numbers are that no branch and no loop changes
    moving = {n for s in body if isinstance(s, If | For | While) for n in _assigned(s)}

    def visit(x: Any) -> Any:
        match x:
            case Load(array=a, subscripts=subs):
                inner = replace(x, subscripts=rewritten(subs, visit))
                return value(found[a], [replace(inner, array=n) for n in found[a].among]) if a in found else inner
            case Shape(array=a) if a in found:
                return value(found[a], [replace(x, array=n) for n in found[a].among])
            case Call(args=args):
                return called(replace(x, args=rewritten(args, visit)), 0, value)
            case Return(values=values) if any(isinstance(v, ArrayRef) and v.array in found for v in values):
                return replace(x, values=tuple(map(which_one, values)))
        return None

    def value(rover: Rover, arms: list[Any]) -> Expr:
        return arms[now[rover.which]] if rover.which in now else _value(rover, arms)  # type: ignore[no-any-return]

    def either(rover: Rover, arms: list[Stmt]) -> Stmt:
        return arms[now[rover.which]] if rover.which in now else _statement(rover, arms)

    def which_one(given: Any) -> Any:
        """The array itself that is returned: what names it is known, as nothing changes places in a loop."""
        if not isinstance(given, ArrayRef) or given.array not in found:
            return rewritten(given, visit)
        rover = found[given.array]
        if rover.which not in now:
            raise refuse("KR299", "an array that changes places is returned", given.span, "return the arrays")
        return replace(given, array=rover.among[now[rover.which]])

    def called(x: Any, first: int, choose: Callable[[Rover, list[Any]], Any]) -> Any:
        """A call with each of the arrays that an argument may be."""
        for at in range(first, len(x.args)):
            a = x.args[at]
            if isinstance(a, ArrayRef) and a.array in found:
                arms = [
                    called(replace(x, args=(*x.args[:at], replace(a, array=n), *x.args[at + 1 :])), at + 1, choose)
                    for n in found[a.array].among
                ]
                return choose(found[a.array], arms)
        return x

    def statement(s: Stmt) -> Stmt:
        match s:
            case Assign(name=name, value=Const(value=int() as number)) if name not in moving:
                now[name] = number
            case Assign(name=name, value=Var(name=other)) if other in now and name not in moving:
                now[name] = now[other]
            case Assign(name=name):
                now.pop(name, None)
            case If() | For() | While():
                blocks = {"body": block(s.body), "orelse": block(s.orelse)}
                return replace(rewritten(replace(s, body=(), orelse=()), visit), **blocks)  # type: ignore[no-any-return]
            case CallStmt():
                return called(replace(s, args=rewritten(s.args, visit)), 0, either)  # type: ignore[no-any-return]
        s = rewritten(s, visit)
        if isinstance(s, Store | Atomic) and s.array in found:
            done, rover = s, found[s.array]
            return either(rover, [replace(done, array=n) for n in rover.among])
        if isinstance(s, LocalArray) and s.like in found:
            return replace(s, like=found[s.like].among[0])
        return s

    def block(stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(map(statement, stmts))

    return block(body)


def _assigned(s: Stmt) -> set[str]:
    names: set[str] = set()
    rewritten(s, lambda x: names.add(x.name) if isinstance(x, Assign) else None)
    return names


def _is(rover: Rover, at: int, span: Span | None) -> Expr:
    return Op("eq", (Var(rover.which, NUMBER), Const(at, INT)), BOOL, span=span)


def _value(rover: Rover, arms: list[Any]) -> Expr:
    out: Expr = arms[-1]
    for at in reversed(range(len(arms) - 1)):
        out = Op("select", (_is(rover, at, arms[at].span), arms[at], out), arms[at].type, span=arms[at].span)
    return out


def _statement(rover: Rover, arms: list[Stmt]) -> Stmt:
    out = arms[-1]
    for at in reversed(range(len(arms) - 1)):
        out = If(_is(rover, at, arms[at].span), (arms[at],), (out,), span=arms[at].span)
    return out


__all__ = ["Rover", "number_of", "rovers", "settled"]
