"""``while v < stop: …; v += step`` as a counted loop (Kernel IR to Kernel IR)."""

from __future__ import annotations

from dataclasses import dataclass

from kraise.ir import kernel as k
from kraise.ir.types import INT
from kraise.raising.liveness import assigned, reads

_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


@dataclass(frozen=True)
class Counted:
    """What replaces the loop: ``before`` it, the loop, and ``after`` it (the variable's final value)."""

    var: str
    before: tuple[k.Stmt, ...]
    loop: k.For
    after: tuple[k.Stmt, ...]


def counted(s: k.While) -> Counted | None:
    """``s`` as a counted loop, or None: its last statement must step the variable that its condition compares with a
    bound, both by amounts that the body does not change."""
    if s.test_last or not s.body or not isinstance(s.condition, k.Op) or s.condition.name not in _TURNED:
        return None
    *rest, last = s.body
    if not isinstance(last, k.Assign) or last.name in assigned(tuple(rest)):
        return None
    v = last.name
    relation, (a, b) = s.condition.name, s.condition.args
    if isinstance(b, k.Var) and b.name == v:
        relation, a, b = _TURNED[relation], b, a
    if not (isinstance(a, k.Var) and a.name == v):
        return None
    step = _step(last.value, v)
    changed = {*assigned(s.body)}
    if step is None or (reads(step) | reads(b)) & changed or not (_still(b, s.body) and _still(step, s.body)):
        return None
    kind, span = a.type, s.span
    if not kind.is_integer:
        return None
    one = k.Const(1, INT)
    stop: k.Expr = b
    if relation in ("le", "ge"):
        stop = k.Op("add" if relation == "le" else "sub", (b, one), kind, span=span)
    upwards = relation in ("lt", "le")
    known = step.value if isinstance(step, k.Const) else None
    if known is not None and (known > 0) != upwards:  # type: ignore[operator]
        return None
    if known is None and not upwards:
        return None
    first = f"${v}$first"
    before = (k.Assign(first, a, kind, span=span),)
    loop = k.For(v, k.Var(first, kind), stop, step, tuple(rest), type=kind, span=span)
    after = (k.Assign(v, _final(k.Var(first, kind), stop, step, upwards, kind), kind, span=span),)
    return Counted(v, before, loop, after)


def _step(e: k.Expr, v: str) -> k.Expr | None:
    """The amount by which ``e`` is more than ``v``."""
    match e:
        case k.Op(name="add", args=(k.Var(name=n), amount)) if n == v and v not in reads(amount):
            return amount
        case k.Op(name="add", args=(amount, k.Var(name=n))) if n == v and v not in reads(amount):
            return amount
        case k.Op(name="sub", args=(k.Var(name=n), k.Const(value=int() as c, type=t))) if n == v:
            return k.Const(-c, t)
        case k.Cast(arg=a):
            return _step(a, v)
    return None


def _final(first: k.Expr, stop: k.Expr, step: k.Expr, upwards: bool, kind) -> k.Expr:  # noqa: ANN001
    """The variable when the condition first fails."""
    if isinstance(step, k.Const) and abs(step.value) == 1:  # type: ignore[arg-type]
        return k.Op("max" if upwards else "min", (first, stop), kind)
    # -((first - stop) // step) rounds, at least none
    gap = k.Op("sub", (first, stop), kind)
    rounds = k.Op("max", (k.Const(0, kind), k.Op("neg", (k.Op("floordiv", (gap, step), kind),), kind)), kind)
    return k.Op("add", (first, k.Op("mul", (rounds, step), kind)), kind)


def _still(e: k.Expr, body: tuple[k.Stmt, ...]) -> bool:
    """Whether ``e`` loads nothing that ``body`` may store, and calls nothing."""
    stored = stores(body)
    stack: list[object] = [e]
    while stack:
        x = stack.pop()
        match x:
            case k.Load(array=a, subscripts=subs):
                if a in stored:
                    return False
                stack.extend(subs)
            case k.Op(args=args):
                stack.extend(args)
            case k.Cast(arg=a):
                stack.append(a)
            case k.Call() | k.Warp():
                return False
    return True


def stores(stmts: tuple[k.Stmt, ...]) -> set[str]:
    """The arrays that ``stmts`` may write (every array passed to a call counts)."""
    out: set[str] = set()
    for s in stmts:
        match s:
            case k.Store(array=a) | k.Atomic(array=a):
                out.add(a)
            case k.If(body=a, orelse=b):
                out |= stores(a) | stores(b)
            case k.For(body=a) | k.While(body=a):
                out |= stores(a)
            case k.CallStmt(args=args):
                out |= {a.array for a in args if isinstance(a, k.ArrayRef)}
    return out
