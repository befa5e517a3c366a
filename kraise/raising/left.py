"""What is left in equations of which there had better be less: loops, arrays that are made, arrays that loops carry."""

from __future__ import annotations

from collections.abc import Mapping

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.walk import statement_expressions, topological
from kraise.raising.writes.finish import covers

Body = tuple[eq.Stmt, ...]


def made(body: Body) -> set[str]:
    """The arrays that the equations make."""
    return {s.version.array for s in body if isinstance(s, eq.New)}


def fewer(body: Body, than: Body) -> bool:
    """Whether the equations make fewer arrays than others."""
    return len(made(body)) < len(made(than))


def carried(body: Body, own: set[str]) -> bool:
    """Whether a loop carries an array of a thread's ``own``."""
    folds = [s for s in body if isinstance(s, eq.Fold)]
    return any(any(a.outside.array in own for a in s.arrays) or carried(s.body, own) for s in folds)


def remade(body: Body, own: set[str]) -> bool:
    """Whether loops that carry arrays of a thread's ``own`` make each as a whole in every round, without loops in
    them, and none of its cells is looked at alone: the cells of such an array are an axis of its equation."""
    shapes = {s.version.array: s.shape for s in body if isinstance(s, eq.New)}
    for fold in (s for s in body if isinstance(s, eq.Fold)):
        inside = [s for s in fold.body if isinstance(s, eq.Write) and s.after.array in own]
        if any(isinstance(s, eq.Fold) for s in fold.body) or not {a.outside.array for a in fold.arrays} & own <= {
            s.after.array for s in inside
        }:
            return False
        if not all(s.where is None and covers(s.axes, s.subscripts, s.after.array, shapes) for s in inside):
            return False
        nodes = topological(statement_expressions(fold))
        cells = [n.subscripts for n in nodes if isinstance(n, eq.Read) and n.version.array in own]
        if any(isinstance(sub, eq.Const) for subs in cells for sub in subs):
            return False
    return True


def loops(body: Body) -> int:
    """How many loops there are, with those inside."""
    return sum(1 + loops(s.body) for s in body if isinstance(s, eq.Fold))


def by_shares(body: Body, shares: Mapping[eq.Param, eq.Param]) -> int:
    """How many loads stand at a multiple of the quotient of two sizes: ``x[t * C + h * (C // NH) + i]``."""
    pairs = {*shares.items()}
    reads = [n for n in topological([e for s in body for e in statement_expressions(s)]) if isinstance(n, eq.Read)]
    polys = [to_poly(s) for r in reads for s in r.subscripts]
    return sum(any(len(m) > 1 and any(_quotient(a) in pairs for a in m) for m in p.terms) for p in polys)


def _quotient(e: eq.Expr) -> tuple[eq.Expr, ...]:
    return e.args if isinstance(e, eq.Op) and e.name in ("floordiv", "tdiv") else ()


def halved(body: Body) -> bool:
    """Whether a loop's rounds halve or double what tells threads apart (``t < 8 >> round``, ``t % (2 << round)``): the
    steps of a tree, of which each has less to do. (Not those of a scan, ``t - (1 << round)``, in which all have.)"""
    for s in body:
        if not isinstance(s, eq.Fold) or s.axis is None:
            continue
        nodes = [n for n in topological(statement_expressions(s)) if isinstance(n, eq.Op)]
        powers: set[eq.Expr] = set()
        for n in nodes:
            scaled = n.name == "mul" and any(a in powers for a in n.args)
            if scaled or (n.name in ("shr", "shl") and _is_index(n.args[1], s.axis.name)):
                powers.add(n)
        if any(a in powers for n in nodes for a in _told_apart(n)):
            return True
    return False


def _told_apart(n: eq.Op) -> tuple[eq.Expr, ...]:
    """What an operation bounds or divides something else by."""
    match n:
        case eq.Op(name="lt" | "le", args=(_, limit)) | eq.Op(name="gt" | "ge", args=(limit, _)):
            return (limit,)
        case eq.Op(name="add" | "sub" | "mul" | "lt" | "le" | "gt" | "ge" | "eq" | "ne"):
            return ()
    return n.args


def _is_index(e: eq.Expr, name: str) -> bool:
    return isinstance(e, eq.Index) and e.name == name


__all__ = ["by_shares", "carried", "fewer", "halved", "loops", "made", "remade"]
