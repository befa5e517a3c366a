"""Host loops in one form: a test before each round, no ``break``.

``do … while`` and ``break`` become a flag; a ``while`` that also counts up to a bound becomes a counted loop with a
condition, which has a static number of rounds and therefore a derivative in reverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import breaks, expression_names, fresh, live_before, set_within
from kraise.ir.types import BOOL, INT, ScalarType

TRUE, FALSE = k.Const(True, BOOL), k.Const(False, BOOL)


class Exits:
    """The loops of one function; ``taken`` are its names."""

    def __init__(self, taken: set[str]):
        self.taken = taken

    def block(self, body: tuple[h.Stmt, ...], after: frozenset[str] = frozenset()) -> tuple:
        """The statements with their loops in one form; ``after`` are the names that are read after the block."""
        out: list = []
        for at, stmt in enumerate(body):
            later = after | live_before(body[at + 1 :], after)
            match stmt:
                case h.If():
                    out.append(replace(stmt, body=self.block(stmt.body, later), orelse=self.block(stmt.orelse, later)))
                case h.While():
                    out += self.loop(stmt, later)
                case h.For():
                    out += self.loop(stmt, later)
                case _:
                    out.append(stmt)
        return tuple(out)

    def loop(self, stmt: h.While | h.For, after: frozenset[str]) -> list:
        """One loop, and the statements that it needs before it."""
        before: list = []
        condition: h.Expr | None = None if isinstance(stmt, h.For) else stmt.condition
        inside = after | live_before((stmt,), after)
        body = stmt.body
        if isinstance(stmt, h.For) and stmt.var in after | set_within(body):
            # the counter is also a variable: the loop counts under a name of its own
            counter = fresh(self.taken, f"{stmt.var}_")
            body = (h.Assign(stmt.var, k.Var(counter, INT), INT, span=stmt.span), *body)
            stmt = replace(stmt, var=counter)
        if breaks(body):
            live = fresh(self.taken, "live")
            before.append(h.Assign(live, TRUE, BOOL, span=stmt.span))
            body = _flagged(body, live)
            flag = k.Var(live, BOOL)
            if isinstance(stmt, h.While) and stmt.test_last:
                test = h.If(flag, (h.Assign(live, stmt.condition, BOOL, span=stmt.span),), span=stmt.span)
                body, condition = (*body, test), flag
            else:
                endless = isinstance(condition, k.Const) and bool(condition.value)
                condition = flag if condition is None or endless else k.Op("and", (flag, condition), BOOL)  # type: ignore[arg-type]
        elif isinstance(stmt, h.While) and stmt.test_last:
            live = fresh(self.taken, "live")
            before.append(h.Assign(live, TRUE, BOOL, span=stmt.span))
            body = (*body, h.Assign(live, stmt.condition, BOOL, span=stmt.span))
            condition = k.Var(live, BOOL)
        inner = self.block(body, inside)
        if isinstance(stmt, h.For):
            return [*before, replace(stmt, body=inner, condition=condition)]
        assert condition is not None
        found = self.counted(stmt, inner, condition)
        return [*before, found if found is not None else h.While(condition, inner, span=stmt.span)]

    def counted(self, stmt: h.While, body: tuple, condition: h.Expr) -> h.For | None:
        """``while … and it < bound: …; it += 1`` as a counted loop; None where there is no such bound.

        ``it`` is set once in the body, outside its branches, and the bound is made of names that the body does not
        set: then no more than ``bound - it`` rounds run (one at least, where the test comes last).
        """
        tests = list(_conjuncts(stmt.condition))
        changed = set_within(stmt.body)
        for test in tests:
            match test:
                case k.Op(name="lt" | "le" | "ne" as name, args=(k.Var(name=it) as var, bound)):
                    pass
                case k.Op(name="gt" | "ge" as name, args=(bound, k.Var(name=it) as var)):
                    pass
                case _:
                    continue
            if changed & set(expression_names(bound)) or _loads(bound) or not _steps(stmt.body, it):
                continue
            if var.type.is_inexact or any(t.is_inexact for t in _types(bound)):  # 0, 1, 2, 3 are below 3.5
                continue
            last = bound if name not in ("le", "ge") else k.Op("add", (bound, k.Const(1, INT)), INT)
            if name == "ne":
                continue
            rounds: k.Expr = k.Op("sub", (last, var), INT)
            if stmt.test_last:
                rounds = k.Op("max", (rounds, k.Const(1, INT)), INT)
            counter = fresh(self.taken, "round_")
            loop = h.For(counter, k.Const(0, INT), rounds, k.Const(1, INT), body, span=stmt.span)
            rest = [t for t in _conjuncts(condition) if t is not test]
            if not rest:
                return loop
            kept = rest[0]
            for t in rest[1:]:
                kept = k.Op("and", (kept, t), BOOL)  # type: ignore[arg-type]
            return replace(loop, condition=kept)
        return None


def _conjuncts(test: h.Expr) -> list:
    if isinstance(test, k.Op) and test.name == "and":
        return [t for a in test.args for t in _conjuncts(a)]
    return [test]


def _loads(*nodes: object) -> bool:
    """Does an expression look at memory?"""
    stack: list = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif isinstance(node, k.Load | h.Whole | h.Library):
            return True
        elif isinstance(node, k.Op):
            stack.extend(node.args)
        elif isinstance(node, k.Cast):
            stack.append(node.arg)
    return False


def _types(*nodes: object) -> Iterator[ScalarType]:
    """The types of the constants and variables of an expression."""
    for node in nodes:
        match node:
            case k.Const(type=t) | k.Var(type=t) | k.Cast(type=t):
                yield t
            case k.Op(args=args):
                yield from _types(*args)


def _steps(body: tuple, name: str) -> bool:
    """Is ``name = name + 1`` a statement of the body, and the only one that sets it?"""
    found = 0
    for stmt in body:
        match stmt:
            case h.Assign(name=target, value=k.Op(name="add", args=(k.Var(name=a), k.Const(value=1) as one))) if (
                target == name and a == name and not one.type.is_inexact
            ):
                found += 1
            case _ if name in set_within((stmt,)):
                return False
    return found == 1


def _negated(test: h.Expr) -> h.Expr:
    """``!test``; ``test`` of ``!test``, as loops begin that test with calls."""
    if isinstance(test, k.Op) and test.name == "not":
        return test.args[0]
    return k.Op("not", (test,), BOOL)  # type: ignore[arg-type]


def _flagged(body: tuple[h.Stmt, ...], live: str) -> tuple[h.Stmt, ...]:
    """The block with ``live = False`` for each break, and what follows one under ``if live``."""
    out: list[h.Stmt] = []
    for at, stmt in enumerate(body):
        if isinstance(stmt, h.Break):
            out.append(h.Assign(live, FALSE, BOOL, span=stmt.span))
            break
        if isinstance(stmt, h.If) and breaks((stmt,)):
            rest = _flagged(body[at + 1 :], live)
            if stmt.body == (h.Break(),) and not stmt.orelse:
                out.append(h.Assign(live, _negated(stmt.condition), BOOL, span=stmt.span))
            else:
                then, orelse = _flagged(stmt.body, live), _flagged(stmt.orelse, live)
                out.append(replace(stmt, body=then, orelse=orelse))
            if rest:
                out.append(h.If(k.Var(live, BOOL), rest, span=stmt.span))
            break
        out.append(stmt)
    return tuple(out)
