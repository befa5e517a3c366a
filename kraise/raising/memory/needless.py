"""Guards that an atomic makes needless are left out (Kernel IR to Kernel IR): those of a minimum or maximum
(:mod:`kraise.ir.spared`), and ``if (s[b] > 0) atomicAdd(&h[b], s[b])``, where adding nothing changes nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.spared import conjuncts, spared
from kraise.ir.types import BOOL


def without_needless(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``body`` without such guards; the same if there are none."""

    def visit(node: object) -> object | None:
        if not isinstance(node, k.If):
            return None
        atomic, others = _spared(node) or _counted(node, body) or (None, ())
        if atomic is None or not others:
            return atomic
        return replace(node, condition=reduce(lambda a, b: k.Op("and", (a, b), BOOL, span=a.span), others))

    return rewritten(body, visit)


def _spared(node: k.If) -> tuple[k.Atomic, tuple[k.Expr, ...]] | None:
    found = spared(node)
    return None if found is None else (found[0], found[2])


def _counted(node: k.If, body: tuple[k.Stmt, ...]) -> tuple[k.Atomic, tuple[k.Expr, ...]] | None:
    """An atomic that adds an integer which is not negative, and the conditions beside that it is not zero. The integer
    is the cell of another array under the same subscripts: its guard is none that keeps a subscript inside."""
    match node:
        case k.If(body=(k.Atomic(name="add", result="", values=(v,)) as atomic,), orelse=()):
            parts = conjuncts(node.condition)
            needless = tuple(p for p in parts if _not_zero(p, v, body))
            cell = _value(v, body)
            alike = isinstance(cell, k.Load) and cell.array != atomic.array and cell.subscripts == atomic.subscripts
            if needless and alike:
                return atomic, tuple(p for p in parts if p not in needless)
    return None


def _not_zero(c: k.Expr, v: k.Expr, body: tuple[k.Stmt, ...]) -> bool:
    """Whether ``c`` says of the integer ``v`` no more than that it is not zero."""
    match c:
        case k.Op(name="ne" | "gt" as name, args=(a, k.Const(value=0))) if a.type.is_integer:
            same = a == v or _value(a, body) == _value(v, body)
            return same and (name == "ne" or a.type.kind == "uint" or _counts(_value(a, body), body))
    return False


def _value(e: k.Expr, body: tuple[k.Stmt, ...]) -> k.Expr:
    """``e``, or what the one assignment of a local gives it."""
    if isinstance(e, k.Cast) and e.type.is_integer and e.arg.type.is_integer and e.type.bits == e.arg.type.bits:
        return _value(e.arg, body)
    if not isinstance(e, k.Var):
        return e
    given = [s.value for s in walked(body) if isinstance(s, k.Assign) and s.name == e.name]
    return given[0] if len(given) == 1 and isinstance(given[0], k.Load) else e


def _counts(e: k.Expr, body: tuple[k.Stmt, ...]) -> bool:
    """Whether a cell of an array of the kernel's own holds a count: numbers are stored and added, none below zero."""
    if not isinstance(e, k.Load) or not any(isinstance(s, k.LocalArray) and s.name == e.array for s in walked(body)):
        return False
    for s in walked(body):
        match s:
            case k.ArrayRef(array=array) if array == e.array:
                return False
            case k.Store(array=array, value=value) if array == e.array:
                values: tuple[k.Expr, ...] = (value,)
            case k.Atomic(array=array, name=name, values=values) if array == e.array:
                if name != "add":
                    return False
            case _:
                continue
        if not all(isinstance(x, k.Const) and isinstance(x.value, int) and x.value >= 0 for x in values):
            return False
    return True


__all__ = ["without_needless"]
