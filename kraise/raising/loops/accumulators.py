"""Several accumulators of one loop as one (Kernel IR to Kernel IR).

``s0 += x[i]; s1 += x[i + 1]`` in a loop and ``s0 + s1`` behind it keep a processor's pipelines busy and say no more
than ``s += x[i] + x[i + 1]``. The side conditions: they start at zero, the loop only adds to each of them, and
what is asked for behind it is the sum of all, once.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.raising.run.liveness import assigned, behind, exposed, reads

_JOINS = ("add", "mul", "min", "max")


def one_accumulator(stmts: tuple[k.Stmt, ...], live: frozenset[str] = frozenset()) -> tuple[k.Stmt, ...]:
    """``stmts`` with such accumulators as one; ``live``: the locals that are read behind them."""
    out = list(stmts)
    at, afters = 0, behind(out, live)
    while at < len(out):
        after = afters[at]
        match s := out[at]:
            case k.If(body=body, orelse=orelse):
                body, orelse = one_accumulator(body, after), one_accumulator(orelse, after)
                out[at] = s if (body, orelse) == (s.body, s.orelse) else replace(s, body=body, orelse=orelse)
            case k.For(body=body) | k.While(body=body):
                body = one_accumulator(body, after | exposed((s,), after))
                loop = s if body == s.body else replace(s, body=body)
                joined = _joined_behind(out[:at], loop, out[at + 1 :], live)
                out[at:] = joined or [loop, *out[at + 1 :]]
                afters = behind(out, live) if joined else afters
        at += 1
    return stmts if tuple(out) == stmts else tuple(out)


def _joined_behind(
    before: list[k.Stmt], loop: k.For | k.While, behind: list[k.Stmt], live: frozenset[str]
) -> list[k.Stmt] | None:
    """The loop with one accumulator and what is behind it; None where there are none, or not so."""
    adds = [s for s in loop.body if isinstance(s, k.Assign) and (j := combined(s.name, s.value)) and j[0] == "add"]
    others = tuple(s for s in loop.body if s not in adds)
    asked = _locals((*others, *(p for s in adds for p in combined(s.name, s.value)[1])))  # type: ignore[index]
    asked |= reads(loop.condition) if isinstance(loop, k.While) else frozenset()
    own = [s for s in adds if s.name not in asked and s.name not in assigned(others) and _from_zero(s.name, before)]
    names = [s.name for s in own]
    if len(names) < 2 or len(set(names)) != len(names) or len({s.type for s in own}) != 1:
        return None
    users = [n for n, s in enumerate(behind) if {*names} & (_locals((s,)) | {*assigned((s,))})]
    if not users or {*names} & (live | exposed(tuple(behind[users[0] + 1 :]), live)):
        return None
    user = behind[users[0]]
    if not isinstance(user, k.Assign | k.Store | k.Atomic | k.Return):
        return None
    total = _total(user, names)
    if total is None:
        return None
    first, kept = names[0], [total]
    begun: list[k.Stmt] = []
    if isinstance(total, k.Assign) and isinstance(total.value, k.Var) and total.type == own[0].type:
        between = behind[: users[0]]
        if total.name not in {*_locals((loop, *between)), *assigned((loop, *between))}:
            first, kept = total.name, []  # behind the loop it goes by this name
            zero = k.Const(0 if total.type.is_integer else 0.0, total.type)
            begun = [k.Assign(first, zero, total.type, span=total.span)]

    def named(s: k.Stmt) -> k.Stmt:
        if s not in own:
            return s
        assert isinstance(s, k.Assign)
        value = rewritten(
            s.value, lambda x: replace(x, name=first) if isinstance(x, k.Var) and x.name == s.name else None
        )
        return replace(s, name=first, value=value)

    loop = replace(loop, body=tuple(map(named, loop.body)))
    return [*begun, loop, *behind[: users[0]], *kept, *behind[users[0] + 1 :]]


def _from_zero(name: str, before: list[k.Stmt]) -> bool:
    """Whether the last that is said of a local before the loop is that it is zero."""
    for s in reversed(before):
        if isinstance(s, k.Assign) and s.name == name:
            return isinstance(s.value, k.Const) and s.value.value == 0
        if name in _locals((s,)) or name in assigned((s,)):
            return False
    return False


def _locals(nodes: tuple[object, ...]) -> frozenset[str]:
    return frozenset(x.name for x in walked(nodes) if isinstance(x, k.Var))


def _total(user: k.Stmt, names: list[str]) -> k.Stmt | None:
    """``user`` without all but the first of the accumulators ``names`` in the one sum that has them all."""
    found: list[k.Expr] = []

    def one(x: object) -> object | None:
        if not isinstance(x, k.Op) or x.name != "add":
            return None
        parts = operands(x, "add")
        own = [p for p in parts if isinstance(p, k.Var) and p.name in names]
        if sorted(p.name for p in own) != sorted(names):
            return None
        total, *others = [p for p in parts if p not in own or p.name == names[0]]  # type: ignore[union-attr]
        for p in others:
            total = k.Op("add", (total, p), x.type, span=x.span)
        found.append(total)
        return total

    out = rewritten(user, one)
    if len(found) != 1 or sum(isinstance(x, k.Var) and x.name in names for x in walked((out,))) != 1:
        return None
    return out  # type: ignore[no-any-return]


def combined(name: str, value: k.Expr) -> tuple[str, list[k.Expr]] | None:
    """The operation and the other operands where ``value`` is ``name`` combined with them."""
    if not isinstance(value, k.Op) or value.name not in _JOINS:
        return None
    parts = operands(value, value.name)
    others = [p for p in parts if not (isinstance(p, k.Var) and p.name == name)]
    return (value.name, others) if len(others) == len(parts) - 1 and all(name not in reads(p) for p in others) else None


def operands(e: k.Expr, op: str) -> list[k.Expr]:
    """What ``op`` combines to ``e``."""
    if isinstance(e, k.Op) and e.name == op:
        return [x for a in e.args for x in operands(a, op)]
    return [e]


__all__ = ["combined", "one_accumulator", "operands"]
