"""Flags that say what the values beside them say: a lane that has stopped, whose values stay, would stop again.

``if (c(v)) break; v = f(v);`` for all lanes at once is ``stopped = stopped or c(v)``, ``v = v if stopped or c(v) else
f(v)``. Where c looks at nothing but what stays as it is in a lane that has stopped, it holds there in every later
round: ``stopped or c(v)`` is ``c(v)``, and no flag is carried. Side conditions: the flag begins as false, nothing else
looks at it, and what c looks at is of the fold's values (each kept where the lane has stopped) or the same in all
rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from kraise.analysis.conditions import conjuncts
from kraise.ir import equations as eq
from kraise.ir.types import BOOL
from kraise.ir.walk import map_statement, statement_expressions, statements, topological, transform
from kraise.raising.run import simplify

Change = Callable[[eq.Expr], eq.Expr]


def without_settled(stmts: tuple[eq.Stmt, ...], others: Iterable[eq.Expr]) -> tuple[tuple[eq.Stmt, ...], Change]:
    """The statements without such flags, and what makes the same of the expressions beside them; ``others`` look at
    what the statements leave."""
    used = [e for s in stmts for e in statement_expressions(s)] + list(others)
    results = {(n.fold, n.name) for n in topological(used) if isinstance(n, eq.FoldResult)}
    changes: list[Change] = []

    def one(stmt: eq.Stmt) -> eq.Stmt:
        if not isinstance(stmt, eq.Fold):
            return stmt
        stmt = replace(stmt, body=tuple(map(one, stmt.body)))
        for s in stmt.scalars:
            if s.type.kind == "bool" and (stmt.name, s.name) not in results:
                found = _without(stmt, s)
                if found is not None:
                    stmt, change = found
                    changes.append(change)
        return stmt

    out = tuple(map(one, stmts))

    def every(e: eq.Expr) -> eq.Expr:
        for change in changes:
            e = change(e)
        return e

    return out, every


def _without(fold: eq.Fold, flag: eq.ScalarCarry) -> tuple[eq.Fold, Change] | None:
    own = eq.CarryIn(fold.name, flag.name, flag.axes, flag.type)
    parts = _disjuncts(flag.update)
    rest = tuple(p for p in parts if p is not own)
    if flag.init != simplify.FALSE or own not in parts or not rest or not _stay(fold, own, parts, rest):
        return None
    stops = rest[0]
    for p in rest[1:]:
        stops = eq.Op("or", (stops, p), BOOL)
    goes = {simplify.negation(p) for p in rest}
    still = simplify.negation(own)
    memo: dict[eq.Expr, eq.Expr] = {}

    def node(e: eq.Expr) -> eq.Expr:
        match e:
            case eq.Op(name="or") if set(_disjuncts(e)) == set(parts):
                return stops
            case eq.Op(name="and", args=(a, b)) if still in conjuncts(e) and goes <= set(conjuncts(e)):
                left = [c for x in (a, b) for c in conjuncts(x) if c is not still]
                return simplify.conjunction(*left)
        return e

    def change(e: eq.Expr) -> eq.Expr:
        return transform(e, node, memo)

    scalars = tuple(s for s in fold.scalars if s is not flag)
    new = map_statement(replace(fold, scalars=scalars), change)
    assert isinstance(new, eq.Fold)
    left = topological(e for s in statements((new,)) for e in statement_expressions(s, nested=False))
    return None if own in left else (new, change)


def _stay(fold: eq.Fold, own: eq.CarryIn, parts: tuple[eq.Expr, ...], rest: tuple[eq.Expr, ...]) -> bool:
    """Whether what the condition looks at is the same in all later rounds of a lane that has stopped."""
    made = {s.after for s in statements(fold.body) if isinstance(s, eq.Write)}
    made |= {a.entry for a in fold.arrays}
    folds = {s.name for s in statements(fold.body) if isinstance(s, eq.Fold)}
    carries = {s.name: s for s in fold.scalars}
    for n in topological(rest):
        match n:
            case eq.CarryIn(fold=name, name=carried):
                if n is own or (name == fold.name and not _kept(n, carries[carried].update, parts)):
                    return False
            case eq.FoldResult(fold=name) if name in folds:
                return False
            case eq.Read(version=version) if version in made:
                return False
            case eq.Index(name=name) if fold.axis is not None and name == fold.axis.name:
                return False
            case eq.Reduce() | eq.ArgReduce() | eq.Scan():
                return False  # looks at other lanes
    return True


def _kept(value: eq.CarryIn, update: eq.Expr, parts: tuple[eq.Expr, ...]) -> bool:
    """Whether a round leaves a value as it is where the lane has stopped."""
    match update:
        case eq.Op(name="select", args=(c, a, _)) if a is value:
            return set(_disjuncts(c)) <= {*parts} and {*parts} <= {*_disjuncts(c)}
        case eq.Op(name="select", args=(c, _, b)) if b is value:
            return {simplify.negation(p) for p in parts} <= {*conjuncts(c)}
    return False


def _disjuncts(e: eq.Expr) -> tuple[eq.Expr, ...]:
    if isinstance(e, eq.Op) and e.name == "or" and e.type.kind == "bool":
        return tuple(dict.fromkeys(p for a in e.args for p in _disjuncts(a)))
    return (e,)


__all__ = ["without_settled"]
