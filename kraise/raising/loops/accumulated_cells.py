"""Arrays of accumulators of which only the sum is asked for, as one accumulator (Kernel IR to Kernel IR).

``float s[4] = {0}``, ``s[u] += e`` in loops and ``for u in 1 .. 4: s[0] += s[u]`` behind them say no more than ``s +=
e``: which cell a term went to does not matter to the sum of all. The side conditions: the cells start at zero; up to
the sum, whatever is done with a cell is to add to it what no cell is asked for; the sum takes each cell once; and
behind it no cell is spoken of but the one that holds it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import ScalarType
from kraise.raising.loops.accumulators import combined, operands

Stmts = tuple[k.Stmt, ...]


def without_cells(stmts: Stmts) -> Stmts:
    """``stmts`` with such arrays as locals of their names."""
    for at, s in enumerate(stmts):
        if isinstance(s, k.LocalArray) and (count := _count(s)) is not None:
            made = _as_local(s, count, stmts[at + 1 :])
            if made is not None:
                return without_cells((*stmts[:at], *made))
    nested = (k.If, k.For, k.While)
    if not any(isinstance(s, nested) and any(isinstance(x, k.LocalArray) for x in walked((s,))) for s in stmts):
        return stmts
    return tuple(_within(s) for s in stmts)


def _within(s: k.Stmt) -> k.Stmt:
    match s:
        case k.If(body=body, orelse=orelse):
            return replace(s, body=without_cells(body), orelse=without_cells(orelse))
        case k.For(body=body) | k.While(body=body):
            return replace(s, body=without_cells(body))
    return s


def _count(a: k.LocalArray) -> int | None:
    """How many cells an array of one thread has."""
    match a.shape:
        case (k.Const(value=int() as n),) if a.space == "local" and not a.dynamic and not a.values and n > 1:
            return n
    return None


def _as_local(a: k.LocalArray, count: int, rest: Stmts) -> Stmts | None:
    """What follows the array, with a local in its place."""
    before = 0
    if not _zero(a.fill):
        first = next((n for n, s in enumerate(rest) if _names(s, a.name)), None)
        if a.fill is not None or first is None or not _set_to_zero(rest[first], a.name, count):
            return None
        rest, before = (*rest[:first], *rest[first + 1 :]), first
    users = [n for n, s in enumerate(rest) if _names(s, a.name)]
    if not users or users[0] < before:
        return None
    zero = k.Const(0 if a.element.is_integer else 0.0, a.element, span=a.span)
    begun = k.Assign(a.name, zero, a.element, span=a.span)
    out = list(rest)
    for n in users:
        if (added := _added(rest[n], a)) is not None:
            out[n] = added
            continue
        total = _total(rest[n], a, count)
        if total is None:
            return None
        stmts, held = total
        behind = [rewritten(s, partial(_held, a, held)) for s in rest[n + 1 :]]
        if any(_names(s, a.name) for s in behind):
            return None
        return (begun, *out[:n], *stmts, *behind)
    return None


def _zero(e: k.Expr | None) -> bool:
    return isinstance(e, k.Const) and e.value == 0


def _names(s: object, array: str) -> bool:
    return any(
        isinstance(x, k.Load | k.Store | k.Atomic | k.ArrayRef | k.Shape) and x.array == array for x in walked(s)
    )


def _rounds(s: k.Stmt) -> tuple[int, int, k.Stmt] | None:
    """The first and the end of a loop in steps of one over one statement, and that."""
    match s:
        case k.For(
            start=k.Const(value=int() as lo), stop=k.Const(value=int() as hi), step=k.Const(value=1), body=(one,)
        ) if not s.orelse:
            return lo, hi, one
    return None


def _set_to_zero(s: k.Stmt, array: str, count: int) -> bool:
    match _rounds(s):
        case (0, int() as end, k.Store(array=name, subscripts=(k.Var(name=v),), value=value)):
            return end == count and name == array and isinstance(s, k.For) and v == s.var and _zero(value)
    return False


def _added(s: k.Stmt, a: k.LocalArray) -> k.Stmt | None:
    """A loop that does nothing with the cells but add to them, with the local in their place."""
    if not isinstance(s, k.For | k.While | k.If):
        return None

    def one(x: object) -> object | None:
        if not isinstance(x, k.Store) or x.array != a.name:
            return None
        return _addition(x, a) or x

    out = rewritten(s, one)
    return None if _names(out, a.name) else out


def _addition(x: k.Store, a: k.LocalArray) -> k.Assign | None:
    own = k.Var(a.name, a.element)
    value = rewritten(x.value, lambda e: own if _cell(e, a.name, x.subscripts) else None)
    joined = combined(a.name, value)
    if joined is None or joined[0] != "add" or value.type != a.element or _names((value, x.subscripts), a.name):
        return None
    return k.Assign(a.name, value, a.element, span=x.span)


def _cell(e: object, array: str, subscripts: tuple[k.Expr, ...]) -> bool:
    return isinstance(e, k.Load) and e.array == array and e.subscripts == subscripts


def _total(s: k.Stmt, a: k.LocalArray, count: int) -> tuple[Stmts, int | None] | None:
    """The sum of all cells, from the local, and the cell that holds it."""
    own = k.Var(a.name, a.element, span=s.span)
    match _rounds(s):
        case (1, int() as end, k.Store(array=a.name, subscripts=(k.Const(value=0) as at,)) as one) if end == count:
            assert isinstance(s, k.For)
            value = rewritten(one.value, lambda e: own if _cell(e, a.name, (at,)) else None)
            return ((), 0) if _is_sum(value, own, a.name, s.var, a.element) else None
        case (0, int() as end, k.Assign(name=t, value=value, type=kind)) if end == count and kind == a.element:
            assert isinstance(s, k.For)
            if not _is_sum(value, k.Var(t, kind), a.name, s.var, a.element):
                return None
            joined = k.Op("add", (k.Var(t, kind), own), kind, span=s.span)
            return (k.Assign(t, joined, kind, span=s.span),), None
    if not isinstance(s, k.Assign | k.Store | k.Atomic | k.Return):
        return None

    def summed(x: object) -> object | None:
        if not isinstance(x, k.Op) or x.name != "add" or x.type != a.element:
            return None
        parts = operands(x, "add")
        numbers = [_number(p, a.name) for p in parts]
        if sorted(n for n in numbers if n is not None) != [*range(count)]:
            return None
        total: k.Expr = own
        for p in (p for p, n in zip(parts, numbers, strict=True) if n is None):
            total = k.Op("add", (total, p), x.type, span=x.span)
        return total

    out = rewritten(s, summed)
    return None if _names(out, a.name) else ((out,), None)


def _number(e: k.Expr, array: str) -> int | None:
    match e:
        case k.Load(array=name, subscripts=(k.Const(value=int() as n),)) if name == array:
            return n
    return None


def _is_sum(e: k.Expr, first: k.Var, array: str, var: str, kind: ScalarType) -> bool:
    """Whether ``e`` is ``first`` and the cell that the loop's variable says."""
    parts = operands(e, "add")
    if len(parts) != 2 or e.type != kind:
        return False
    names = [p.name for p in parts if isinstance(p, k.Var)]
    cells = [p for p in parts if isinstance(p, k.Load) and p.array == array]
    if names != [first.name] or len(cells) != 1:
        return False
    match cells[0].subscripts:
        case (k.Var(name=v),):
            return v == var
    return False


def _held(a: k.LocalArray, held: int | None, x: object) -> object | None:
    """What is done with the cell that holds the sum, with the local."""
    match x:
        case k.Load(array=a.name) if held is not None and _number(x, a.name) == held:
            return k.Var(a.name, a.element, span=x.span)
        case k.Store(array=a.name, subscripts=(k.Const(value=at),), value=value) if held is not None and at == held:
            own = rewritten(value, partial(_held, a, held))
            return k.Assign(a.name, own, a.element, span=x.span)
    return None


__all__ = ["without_cells"]
