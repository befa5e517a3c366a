"""Stores that both arms of a branch end with, as one store behind the branch (Kernel IR to Kernel IR).

``if c: …; y[j] = a`` / ``else: …; y[j] = b`` is ``if c: …; t = a`` / ``else: …; t = b`` and then ``y[j] = t``. A loop
whose rounds follow one another sees then that every round stores one cell, and which. The side conditions: both arms
end with a store to the cell of the same subscripts, which read no local that an arm sets and no array that one stores.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import kernel as k
from kraise.ir.types import ScalarType
from kraise.raising.loops.touched import stores
from kraise.raising.run.liveness import assigned, reads


def sunk(stmts: tuple[k.Stmt, ...], depth: int = 0) -> tuple[k.Stmt, ...]:
    """``stmts`` with the stores behind their branches; the same object where there are none."""
    out: list[k.Stmt] = []
    for s in stmts:
        match s:
            case k.If(body=a, orelse=b):
                inner = replace(s, body=sunk(a, depth + 1), orelse=sunk(b, depth + 1))
                if (inner.body, inner.orelse) == (a, b):
                    inner = s
                out += _behind(inner, depth)
            case k.For(body=a) | k.While(body=a):
                new = sunk(a, depth + 1)
                out.append(s if new == a else replace(s, body=new))
            case _:
                out.append(s)
    return stmts if len(out) == len(stmts) and all(x is y for x, y in zip(out, stmts, strict=True)) else tuple(out)


def _behind(s: k.If, depth: int) -> tuple[k.Stmt, ...]:
    if not s.body or not s.orelse:
        return (s,)
    first, second = s.body[-1], s.orelse[-1]
    if not isinstance(first, k.Store) or not isinstance(second, k.Store) or first.array != second.array:
        return (s,)
    if first.subscripts != second.subscripts:
        return (s,)
    read = frozenset().union(*(reads(x) for x in first.subscripts))
    before = (*s.body[:-1], *s.orelse[:-1])
    if read & set(assigned(before)) or _loaded(first.subscripts) & (stores(before) | {first.array}):
        return (s,)
    kind = _common(first.value, second.value)
    if kind is None:
        return (s,)
    local = f"${first.array}$stored{depth}"
    arms = [
        (*arm[:-1], k.Assign(local, x.value, kind, span=x.span)) for arm, x in ((s.body, first), (s.orelse, second))
    ]
    store = replace(second, value=k.Var(local, kind, span=second.span))
    if len(arms[0]) == len(arms[1]) == 1:
        chosen = k.Op("select", (s.condition, first.value, second.value), kind, span=s.span)
        return (replace(store, value=chosen),)
    return (replace(s, body=arms[0], orelse=arms[1]), store)


_EXACT = 1 << 24  # integers up to here are the same number in every type of float


def _common(a: k.Expr, b: k.Expr) -> ScalarType | None:
    """The type that holds either value unchanged, if one of the two does."""
    if a.type == b.type:
        return a.type
    for one, other in ((a, b), (b, a)):
        if isinstance(one, k.Const) and type(one.value) is int and abs(one.value) < _EXACT:
            return other.type if other.type.kind in ("number", "float", "int") else None
    return None


def _loaded(e: object) -> set[str]:
    match e:
        case tuple():
            return set().union(*map(_loaded, e))
        case k.Op(args=args):
            return _loaded(args)
        case k.Cast(arg=a):
            return _loaded(a)
        case k.Load(array=a, subscripts=subs):
            return {a} | _loaded(subs)
    return set()
