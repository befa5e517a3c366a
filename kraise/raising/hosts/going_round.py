"""Loops of hosts that end because an unsigned counter goes round (``while (k < n) { …; k--; }``) are refused.

XLA (jaxlib 0.10) takes the number of rounds of a while loop from its counter's first number, step and bound, as if
nothing went round.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraise.diagnostics import refuse
from kraise.ir import host as h
from kraise.ir import kernel as k

_AWAY = {"lt": -1, "le": -1, "gt": 1, "ge": 1}  # the step by which the counter leaves its bound behind


def going_round(stmt: h.For | h.While) -> None:
    """Raises Refused (KR211) for such a loop."""
    steps = {s.name: by for s in _assigned(stmt.body) if (by := _step(s)) and s.type.kind == "uint"}
    for c in _conjuncts(stmt.condition):
        match c:
            case k.Op(name=name, args=(a, b)) if name in _AWAY:
                for counter, away in ((_plain(a), _AWAY[name]), (_plain(b), -_AWAY[name])):
                    if isinstance(counter, k.Var) and steps.get(counter.name, 0) * away > 0:
                        reason = f"the unsigned `{counter.name}` ends this loop by going round"
                        raise refuse("KR211", reason, stmt.span, "count with a signed number")


def _step(s: h.Assign) -> int:
    match s.value:
        case k.Op(name="add" | "sub" as name, args=(k.Var(name=own), k.Const(value=by))) if own == s.name:
            return int(by.real) if name == "add" else -int(by.real)
    return 0


def _plain(e: object) -> object:
    while isinstance(e, k.Cast) and e.type.is_integer:
        e = e.arg
    return e


def _conjuncts(e: object) -> Iterator[object]:
    match e:
        case k.Op(name="and", args=args):
            for a in args:
                yield from _conjuncts(a)
        case _:
            yield e


def _assigned(body: tuple[h.Stmt, ...]) -> Iterator[h.Assign]:
    for s in body:
        if isinstance(s, h.Assign):
            yield s
        for inner in h.children(s):
            yield from _assigned(inner)


__all__ = ["going_round"]
