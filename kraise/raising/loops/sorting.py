"""Sorts by neighbours: n phases that put the even and the odd pairs of n cells in order, in turn, sort them.

``for p in range(n / 2): s[2t], s[2t + 1] = min, max of both; s[2t + 1], s[2t + 2] = min, max of both`` is ``s =
sort(s)`` (odd-even transposition; Knuth, volume 3, 5.3.4: n phases do for n cells, whichever pairs come first). JAX
sorts in n log n steps, and its gradient is a permutation. The side conditions: the phases do nothing else, there are n
of them (more change nothing), and the pairs of both kinds are all that n cells have. Numbers that are no number (NaN)
go to the end, where the source leaves them in its way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kraise.analysis.conditions import conjuncts
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import statement_expressions, topological


@dataclass(frozen=True)
class _Pairs:
    """The cells ``first + 2 * k`` and the ones behind them, each pair in order, for 2 * k < cells - 1 - first."""

    first: int
    cells: Poly  # 2 * the number of pairs, or one more
    before: eq.Version
    after: eq.Version
    condition: tuple[eq.Expr, ...]


def as_sorts(stmts: tuple[eq.Stmt, ...], used: Iterable[eq.Version]) -> tuple[eq.Stmt, ...]:
    """The statements with such loops as sorts; ``used`` are versions that something beside them looks at."""
    out, looked_at = list(stmts), frozenset(used)
    for at, s in enumerate(stmts):
        if isinstance(s, eq.Fold) and len(s.body) == 4 and len(s.arrays) == 1 and s in out:
            here = out.index(s)
            found = _sort(s, out[here + 1 : here + 3], looked_at | _asked(stmts, at + 3))
            if found is not None:
                out[here : here + 1 + found[1]] = [found[0]]
    return tuple(out)


def _asked(stmts: tuple[eq.Stmt, ...], since: int) -> frozenset[eq.Version]:
    """The versions that statements from one on look at or build on."""
    nodes = topological(e for s in stmts[since:] for e in statement_expressions(s))
    built = {s.before for s in stmts[since:] if isinstance(s, eq.Write)}
    carried = {c.outside for s in stmts[since:] if isinstance(s, eq.Fold) for c in s.arrays}
    return frozenset(n.version for n in nodes if isinstance(n, eq.Read)) | built | carried


def _sort(fold: eq.Fold, behind: list[eq.Stmt], asked: frozenset[eq.Version]) -> tuple[eq.Write, int] | None:
    """The sort, and how many of the statements behind the loop are its last phase."""
    plain = not (fold.scalars or fold.outputs or fold.condition or fold.mapped)
    if not plain or fold.axis is None or fold.axis.step != 1:
        return None
    (carry,) = fold.arrays
    one, two = _pairs(fold.body[0], fold.body[1]), _pairs(fold.body[2], fold.body[3])
    if one is None or two is None or one.condition or two.condition or {one.first, two.first} != {0, 1}:
        return None
    if one.before is not carry.entry or two.before is not one.after or two.after is not carry.exit:
        return None
    even, odd = (one, two) if one.first == 0 else (two, one)
    cells = _cells(even.cells, odd.cells)
    if cells is None:
        return None
    rounds = to_poly(fold.axis.hi) - to_poly(fold.axis.lo)
    left = to_poly(to_expr(rounds * 2 - cells))
    after, last = carry.result, 0
    if left.value is None or left.value < 0:
        # n / 2 rounds of two phases, and one more where n is odd
        more = _pairs(*behind) if len(behind) == 2 else None
        if more is None or more.before is not carry.result or (more.first, more.cells) != (one.first, one.cells):
            return None
        if _doubled(rounds) != cells or carry.result in asked or not _where_odd(more.condition, cells):
            return None
        after, last = more.after, 2
    t = eq.Axis(_index(fold.body[0]), eq.Const(0, INT), to_expr(cells))
    at = eq.Index(t.name, INT)
    kind = fold.body[0].value.type  # type: ignore[union-attr]
    value = eq.Scan("sort", t, eq.Read(carry.outside, (at,), kind), eq.Const(0, kind), True, False, kind)
    return eq.Write(carry.outside, after, (t,), (at,), value, span=fold.span), last


def _index(s: eq.Stmt) -> str:
    assert isinstance(s, eq.Write)
    return s.axes[0].name


def _pairs(low: eq.Stmt, high: eq.Stmt) -> _Pairs | None:
    """Two stores that put pairs in order: the lesser to the first cell, then the greater to the second one."""
    if not isinstance(low, eq.Write) or not isinstance(high, eq.Write) or low.after is not high.before:
        return None
    for s in (low, high):
        if len(s.axes) != 1 or len(s.subscripts) != 1 or s.accumulate or s.view or s.safe or s.segments:
            return None
    (axis,), (a,), (b,) = low.axes, low.subscripts, high.subscripts
    place, step = to_poly(a), to_poly(eq.Index(axis.name, INT))
    if high.axes != low.axes or to_poly(b) != place + 1:
        return None
    factor = next((f for f in (1, 2) if (place - step * f).indices() == frozenset() and f * axis.step == 2), None)
    start = None if factor is None else to_poly(to_expr(place - step * factor + to_poly(axis.lo) * factor)).value
    if factor is None or start not in (0, 1):
        return None
    old = low.before
    kind = low.value.type
    first, second = eq.Read(old, (a,), kind), eq.Read(old, (b,), kind)
    condition = conjuncts(low.where) if low.where is not None else ()
    taken = conjuncts(high.where) if high.where is not None else ()
    if low.value not in (eq.Op("min", (first, second), kind), eq.Op("min", (second, first), kind)):
        return None
    if high.value is first:
        rest = tuple(c for c in taken if not _exceeds(c, first, second))
        if len(rest) != len(taken) - 1:
            return None
        taken = rest
    elif high.value not in (eq.Op("max", (first, second), kind), eq.Op("max", (second, first), kind)):
        return None
    if set(taken) != set(condition):
        return None
    length = to_poly(axis.hi) - to_poly(axis.lo)
    cells = _doubled(length) if axis.step == 1 else length + 1
    return None if cells is None else _Pairs(start, cells, old, high.after, tuple(condition))


def _exceeds(c: eq.Expr, a: eq.Expr, b: eq.Expr) -> bool:
    match c:
        case eq.Op(name="gt", args=(x, y)) | eq.Op(name="lt", args=(y, x)):
            return x is a and y is b
    return False


def _doubled(length: Poly) -> Poly | None:
    """c for a number of pairs that is ``c // 2``, whichever of the two for a number that is known."""
    if length.value is not None:
        return Poly({(): 2 * length.value})
    for m, factor in length.terms.items():
        match m:
            case (eq.Op(name="floordiv" | "tdiv", args=(x, eq.Const(value=2))),) if factor == 1:
                rest = (length - Poly({m: 1})).value
                return None if rest is None else to_poly(x) + 2 * rest
    return None


def _cells(even: Poly, odd: Poly) -> Poly | None:
    """n where the even pairs are ``n // 2`` and the odd ones ``(n - 1) // 2``."""
    if even.value is not None and odd.value is not None:
        pairs, between = even.value // 2, odd.value // 2
        return Poly({(): pairs + between + 1}) if pairs and pairs - between in (0, 1) else None
    return even if even.value is None and odd == even - 1 else None


def _where_odd(condition: tuple[eq.Expr, ...], cells: Poly) -> bool:
    """Whether a condition holds where the number of cells is odd (and there are some)."""
    found = False
    for c in condition:
        match c:
            case eq.Op(name="eq", args=(eq.Op(name="mod" | "tmod", args=(n, eq.Const(value=2))), eq.Const(value=1))):
                found |= to_poly(n) == cells
                if to_poly(n) != cells:
                    return False
            case eq.Op(name="gt", args=(n, eq.Const(value=0))) if to_poly(n) == cells:
                pass
            case _:
                return False
    return found


__all__ = ["as_sorts"]
