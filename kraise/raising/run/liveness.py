"""Which locals are read before they are written: liveness on structured Kernel IR."""

from __future__ import annotations

from collections.abc import Sequence

from kraise.ir import kernel as k


def reads(e: object) -> frozenset[str]:
    """The locals that an expression reads."""
    match e:
        case k.Var(name=name):
            return frozenset((name,))
        case k.Op(args=args) | k.Call(args=args) | k.Warp(args=args) | k.Load(subscripts=args):
            return frozenset().union(*(reads(a) for a in args))
        case k.Cast(arg=a):
            return reads(a)
        case k.ArrayRef(offset=o) if o is not None:
            return reads(o)
    return frozenset()


def exposed(stmts: tuple[k.Stmt, ...], live: frozenset[str]) -> frozenset[str]:
    """The locals whose value on entry to ``stmts`` may be read by them or, if ``live``, after them."""
    for s in reversed(stmts):
        live = _before(s, live)
    return live


def behind(stmts: Sequence[k.Stmt], live: frozenset[str]) -> list[frozenset[str]]:
    """For each of the statements the locals whose value may be read behind it."""
    found: list[frozenset[str]] = []
    for s in reversed(stmts):
        found.append(live)
        live = _before(s, live)
    return found[::-1]


def _many(items: tuple) -> frozenset[str]:
    return frozenset().union(*(reads(i) for i in items))


def _before(s: k.Stmt, live: frozenset[str]) -> frozenset[str]:
    match s:
        case k.Assign(name=name, value=v):
            return (live - {name}) | reads(v)
        case k.Store(subscripts=subs, value=v):
            return live | _many(subs) | reads(v)
        case k.Atomic(subscripts=subs, values=values, result=result):
            return (live - {result}) | _many(subs) | _many(values)
        case k.If(condition=c, body=a, orelse=b):
            return exposed(a, live) | exposed(b, live) | reads(c)
        case k.For(var=var, start=x, stop=y, step=z, body=body):
            inner = exposed(body, exposed(body, live) | live) - {var}
            return live | inner | _many((x, y, z))
        case k.While(condition=c, body=body):
            once = exposed(body, live | reads(c))
            return live | exposed(body, once | live | reads(c)) | reads(c)
        case k.LocalArray(shape=shape, fill=fill, values=values):
            return live | _many(shape) | _many(values) | reads(fill)
        case k.CallStmt(args=args, results=results):
            return (live - set(results)) | _many(args)
        case k.Return(values=values):
            return _many(values)
    return live


def assigned(stmts: tuple[k.Stmt, ...]) -> tuple[str, ...]:
    """The locals that ``stmts`` may assign, in order of first appearance."""
    out: dict[str, None] = {}
    for s in stmts:
        match s:
            case k.Assign(name=name) | k.Atomic(result=name) if name:
                out[name] = None
            case k.If(body=a, orelse=b):
                out |= dict.fromkeys((*assigned(a), *assigned(b)))
            case k.For(var=var, body=a):
                out |= dict.fromkeys((var, *assigned(a)))
            case k.While(body=a):
                out |= dict.fromkeys(assigned(a))
            case k.CallStmt(results=results):
                out |= dict.fromkeys(results)
    return tuple(out)
