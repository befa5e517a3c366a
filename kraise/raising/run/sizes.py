"""Which scalars steer a kernel: they decide a branch, a loop, a subscript or an extent, directly or through locals.

Such a number is taken to be a size, 0 or more; one that only enters values may be negative, and ``(unsigned)m`` is then
not ``m``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import reads

_EXTENTS = frozenset(f"{head}.{axis}" for head in ("block", "grid") for axis in "xyz")  # one or more


def steering(cx: Context) -> frozenset[str]:
    """The names of the parameters and locals of the kernel that steer it, through the functions that it calls, too."""
    if cx.steers is None or cx.steers[0] is not cx.function:
        cx.steers = cx.function, _steering(cx.function, {f.name: f for f in cx.module.functions}, ())
    return cx.steers[1]


def natural(cx: Context, p: Poly) -> bool:
    """Whether a number is made of sizes so that it is not negative: how many tiles they have (``(n + 15) / 16``, ``(n -
    1) / 16 + 1``, ``(n + blockDim.x - 1) / blockDim.x``)."""
    sizes = steering(cx)

    def size(e: eq.Expr) -> bool:
        match e:
            case eq.Op(name="tdiv" | "floordiv" as name, args=(a, eq.Const(value=int() as by))):
                return by > 0 and counted(to_poly(a), 1 - by if name == "tdiv" else 0)
            case eq.Op(name="tdiv" | "floordiv", args=(a, eq.Param(name=name))) if name in _EXTENTS:
                return counted(to_poly(a), 0)
        return isinstance(e, eq.Shape) or (isinstance(e, eq.Param) and (e.name in sizes or e.name in _EXTENTS))

    def counted(p: Poly, least: int) -> bool:
        ones = sum(
            c for m, c in p.terms.items() if len(m) == 1 and isinstance(m[0], eq.Param) and m[0].name in _EXTENTS
        )
        return p.offset + ones >= least and all(c > 0 and all(map(size, m)) for m, c in p.terms.items() if m)

    return counted(p, 0)


def _steering(function: k.Function, functions: Mapping[str, k.Function], within: tuple[str, ...]) -> frozenset[str]:
    nodes = list(_nodes(function.body))
    found: set[str] = set()
    flows: list[tuple[str, frozenset[str]]] = []
    for n in nodes:
        match n:
            case k.If(condition=c) | k.While(condition=c) | k.Op(name="select", args=(c, _, _)):
                found |= _compared(c)
            case k.For(start=a, stop=b, step=c):
                found |= reads(a) | reads(b) | reads(c)
            case k.Load(subscripts=parts) | k.Store(subscripts=parts) | k.Atomic(subscripts=parts):
                found |= frozenset().union(*map(reads, parts))
            case k.Call(function=name, args=parts) | k.CallStmt(function=name, args=parts):
                callee = functions.get(name) if name not in within else None
                inner = _steering(callee, functions, (*within, name)) if callee else frozenset()
                pairs = zip(callee.params, parts, strict=False) if callee else ()
                found |= frozenset().union(*(reads(x) for p, x in pairs if p.name in inner))
                if callee is None:
                    found |= frozenset().union(*map(reads, parts))
                if isinstance(n, k.CallStmt):
                    flows += [(r, frozenset().union(*map(reads, parts))) for r in n.results]
            case k.LocalArray(shape=parts) | k.Warp(args=parts):
                found |= frozenset().union(*map(reads, parts))
            case k.Assign(name=name, value=v):
                flows.append((name, reads(v)))
    while more := [sources for name, sources in flows if name in found and not sources <= found]:
        found = found.union(*more)
    return frozenset(found)


def _compared(condition: k.Expr) -> frozenset[str]:
    """What a condition compares with more than a constant."""
    match condition:
        case k.Op(name="and" | "or" | "not", args=args):
            return frozenset().union(*map(_compared, args))
        case k.Op(name="lt" | "le" | "gt" | "ge" | "eq" | "ne", args=args) if any(map(_constant, args)):
            return frozenset()
        case k.Cast(arg=a):
            return _compared(a)
    return reads(condition)


def _constant(e: k.Expr) -> bool:
    return _constant(e.arg) if isinstance(e, k.Cast) else isinstance(e, k.Const)


def _nodes(root: object) -> Iterator[object]:
    stack: list[object] = [root]
    while stack:
        x = stack.pop()
        if isinstance(x, tuple):
            stack.extend(x)
        elif hasattr(x, "__dataclass_fields__"):
            yield x
            stack.extend(getattr(x, f) for f in x.__dataclass_fields__ if f not in ("span", "type"))
