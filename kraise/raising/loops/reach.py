"""How far a loop's bounds reach, whatever the lane: what makes its range known when the function is traced.

``range(1 + (i + colour) % 2, n, 2)`` starts at 1 at the earliest, ``range(n if flag[i] else m)`` ends before ``max(n,
m)``. The loop is over the range that every lane's lies in; what a lane leaves out is a condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kraise.analysis.conditions import static_expr
from kraise.analysis.dependence import nonnegative
from kraise.analysis.poly import sum_wraps, to_expr, to_poly, wraps
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.raising.loops.ranges import Range
from kraise.raising.run.arithmetic import operation

Path = Sequence[eq.Expr]


def reaching(rng: Range, path: Path) -> Range:
    """``rng`` with bounds that hold in every lane, where its own start or stop depends on the lane."""
    own = _phased(rng, path)
    if own is not None:
        return own
    up = rng.step > 0
    more: list[eq.Expr] = []
    for bound, low in ((rng.start, up), (rng.stop, not up)):
        if static_expr(bound) or all(isinstance(a, eq.Index) or static_expr(a) for a in to_poly(bound).atoms()):
            continue
        furthest = reach(bound, path, up=not low)
        if furthest is not None:
            sign = ("ge" if up else "le") if bound is rng.start else ("lt" if up else "gt")
            more.append(eq.Op(sign, (rng.index, furthest), BOOL))
    return replace(rng, within=(*rng.within, *more)) if more else rng


def _phased(rng: Range, path: Path) -> Range | None:
    """A start ``c + e % step`` says which residue the rounds have: ``j >= c`` and ``(j - c - e) % step == 0``."""
    start = to_poly(rng.start)
    if rng.step < 2 or rng.within:
        return None
    for atom in start.atoms():
        e = _modulo(atom, rng.step, path)
        sign = start.coefficient(atom).value
        rest = start.without(atom)
        if e is None or sign not in (1, -1) or not all(static_expr(a) for a in rest.atoms()):
            continue
        least = rest if sign == 1 else rest - (rng.step - 1)
        gone = to_poly(rng.index) - rest - to_poly(e) * sign
        constant = gone.terms.get((), 0)
        phase = to_expr(gone - (constant - constant % rng.step))
        residue = eq.Op("mod", (phase, eq.Const(rng.step, INT)), INT)
        there = eq.Op("eq", (residue, eq.Const(0, INT)), BOOL)
        return replace(rng, phase=(eq.Op("ge", (rng.index, to_expr(least)), BOOL), there))
    return None


def _modulo(atom: eq.Expr, step: int, path: Path) -> eq.Expr | None:
    """``e`` where the atom is ``e % step``."""
    match atom:
        case eq.Op(name="mod" | "tmod" as name, args=(e, eq.Const(value=int() as size))) if size == step:
            return e if name == "mod" or nonnegative(path, to_poly(e)) else None
        case eq.Op(name="and_", args=(e, eq.Const(value=int() as mask))) if mask + 1 == step and not step & mask:
            return e
        case eq.Op(name="and_", args=(eq.Const(value=int() as mask), e)) if mask + 1 == step and not step & mask:
            return e
    return None


def reach(e: eq.Expr, path: Path, *, up: bool) -> eq.Expr | None:
    """The greatest (``up``) or least value of an integer expression, made of sizes and numbers; None if unknown."""
    if static_expr(e):
        return e
    match e:
        case eq.Cast(arg=a, type=t) if t.is_integer and a.type.kind == "bool":
            return eq.Const(int(up), INT)
        case eq.Cast(arg=a, type=t) if t.is_integer and a.type.is_integer and (t.bits or 32) >= (a.type.bits or 32):
            found = reach(a, path, up=up)
            return found if t.kind == a.type.kind else None
        case eq.Index():
            return _of_index(e, path, up=up)
        case eq.Op() if wraps(e) or sum_wraps(e):
            return None
        case eq.Op(name="add" | "sub" as name, args=(a, b)):
            one, two = reach(a, path, up=up), reach(b, path, up=up if name == "add" else not up)
            return None if one is None or two is None else operation(name, (one, two), INT)
        case eq.Op(name="mul", args=(a, b)):
            return _product(a, b, path, up=up)
        case eq.Op(name="mod", args=(_, eq.Const(value=int() as size))) if size > 0:
            return eq.Const(size - 1 if up else 0, INT)
        case eq.Op(name="tmod", args=(_, eq.Const(value=int() as size))) if size > 0:
            return eq.Const(size - 1 if up else 0 if e.type.kind == "uint" else 1 - size, INT)
        case eq.Op(name="and_", args=(_, eq.Const(value=int() as mask)) | (eq.Const(value=int() as mask), _)):
            return eq.Const(mask if up else 0, INT) if mask >= 0 else None
        case eq.Op(name="select", args=(_, a, b)) | eq.Op(name="min" | "max", args=(a, b)):
            one, two = reach(a, path, up=up), reach(b, path, up=up)
            if one is not None and two is not None:
                either = ("max" if up else "min") if e.name == "select" else e.name
                return operation(either, (one, two), INT)
            if isinstance(e, eq.Op) and e.name == ("min" if up else "max"):
                return two if one is None else one
    return None


def _product(a: eq.Expr, b: eq.Expr, path: Path, *, up: bool) -> eq.Expr | None:
    low = [reach(x, path, up=False) for x in (a, b)]
    if any(x is None or not nonnegative((), to_poly(x)) for x in low):
        return None
    ends = [reach(x, path, up=True) for x in (a, b)] if up else low
    return None if None in ends else operation("mul", tuple(x for x in ends if x is not None), INT)


def _of_index(index: eq.Index, path: Path, *, up: bool) -> eq.Expr | None:
    """What the path says of an index by itself."""
    for c in path:
        match c:
            case eq.Op(name="lt" | "le" as name, args=(a, b)) if up and a is index and static_expr(b):
                return operation("sub", (b, eq.Const(1, INT)), INT) if name == "lt" else b
            case eq.Op(name="ge" | "gt" as name, args=(a, b)) if not up and a is index and static_expr(b):
                return b if name == "ge" else operation("add", (b, eq.Const(1, INT)), INT)
    return None
