"""Rows that must not overlap: ``A[i * ld + j]`` with j < n is an array of rows only if n <= ld (contract, section 3).

Where a proof needs it, that is assumed and the run repeated; the emitted function checks it, because sizes are static,
and the docstring says so. (Grosser et al., Optimistic delinearization of parametrically sized arrays, ICS 2015.)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

from kraise.analysis.boxes import largest
from kraise.analysis.conditions import classify, is_static, negate
from kraise.analysis.delinearize import chain, provable
from kraise.analysis.dependence import Access, implied
from kraise.analysis.division import parted
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Span, refuse
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, topological
from kraise.raising.memory.both_ends import are_ends, both_ends
from kraise.raising.memory.colours import whole_turns

Path = tuple[eq.Expr, ...]
Check = tuple[eq.Expr, str]
ZERO, ONE = eq.Const(0, INT), eq.Const(1, INT)
_SMALL = 16
_VALUES: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "min": min,
    "max": max,
    "floordiv": operator.floordiv,
    "tdiv": lambda x, y: -(-x // y) if (x < 0) != (y < 0) else x // y,
    "le": operator.le,
    "lt": operator.lt,
    "ge": operator.ge,
    "gt": operator.gt,
}


def wanted(subscript: eq.Expr, path: Path) -> tuple[eq.Expr, ...]:
    """The conditions on sizes under which the digits of a flat subscript stay within their rows; () if there are
    none, or if no sizes meet them."""
    poly = to_poly(subscript)
    strides = chain(poly, path) or _within_rows(poly, path)
    if strides is None:
        return _steps(poly, path)
    out: list[eq.Expr] = []
    below = [above for above, _ in strides[1:]]
    rest = poly
    for at, (above, radix) in enumerate(strides):
        rest = parted(rest, above)[1]
        digit = parted(rest, below[at])[0] if at < len(below) else rest
        top = largest(digit, path)
        if top is None or not is_static(top):
            return ()
        if not provable(path, digit):
            low = largest(-digit, path)
            if low is None or not is_static(low) or not low.atoms():
                return ()
            more = Poly({m: c for m, c in low.terms.items() if c > 0 and m})
            if not more.terms:
                out.append(eq.Op("ge", (to_expr(-low), ZERO), BOOL))  # as of the pivot's column, a[i * n + k]
            elif (rows := more - low).value is None or (radix.value and rows.value > 0):  # type: ignore[operator]
                out.append(eq.Op("le", (to_expr(more), to_expr(rows)), BOOL))  # columns counted from a row's end
            else:
                return ()  # what only small sizes meet
        slack = radix - 1 - top
        if slack.terms and all(c < 0 for c in slack.terms.values()):
            return ()  # rows that overlap at every size
        if not provable(path, slack):
            if radix.value is None and not any(c > 0 for m, c in slack.terms.items() if m):
                return ()  # what only small sizes meet
            if radix.value is not None and slack.terms.get((), 0) + 2 * sum(c for m, c in slack.terms.items() if m) < 0:
                return ()  # what only sizes of one meet, as n + 15 <= 16
            out.append(eq.Op("le", (to_expr(top + 1), to_expr(radix)), BOOL))
    return tuple(out)


def _within_rows(poly: Poly, path: Path) -> list[tuple[Poly, Poly]] | None:
    """The strides of ``(t * H + h) * D + 2 * i``, where a guard says that the last digit keeps to its row, or a block's
    threads alone bound it."""
    strides = chain(poly, path, primitive=True)
    if strides is None:
        return None
    rest = poly
    for above, _ in strides:
        rest = parted(rest, above)[1]
    last = largest(rest, path)
    launched = last is not None and any(isinstance(a, eq.Param) and a.name.startswith("block.") for a in last.atoms())
    kept = provable(path, rest) and (launched or provable(path, strides[-1][1] - 1 - rest))
    return strides if kept else None


def in_known_rows(subscript: eq.Expr, radices: tuple[Poly, ...], path: Path) -> tuple[eq.Expr, ...]:
    """The conditions on sizes under which a subscript whose innermost digit does not move (the pivot's column of
    ``a[i * n + k]``) keeps to the rows in which its array is seen; () as above."""
    rest = to_poly(subscript)
    for at in range(len(radices)):
        size = radices[at]
        for r in radices[at + 1 :]:
            size = size * r
        rest = parted(rest, size)[1]
    if not radices or not is_static(rest):
        return ()
    radix = radices[-1]
    for carry in (0, -1, 1):  # the row above or below, as of the last cell n in rows of n + 1
        digit = rest - radix * carry
        slack = radix - 1 - digit
        open_bounds = [p for p in (digit, slack) if not provable(path, p)]
        if any(not any(c > 0 for m, c in p.terms.items() if m) for p in open_bounds):
            continue  # a number, or what only small sizes meet
        return tuple(_bound(p, digit, radix) for p in open_bounds)
    return ()


def _bound(gap: Poly, digit: Poly, radix: Poly) -> eq.Expr:
    """``gap >= 0``, as a comparison that reads well: of the digit with 0 or its radix, or of a size with a number."""
    if digit.value is None and gap == radix - 1 - digit:
        return eq.Op("le", (to_expr(digit + 1), to_expr(radix)), BOOL)
    least = -gap.terms.get((), 0)
    return eq.Op("ge", (to_expr(gap + least), ONE if least == 1 else eq.Const(least, INT)), BOOL)


def _steps(poly: Poly, path: Path) -> tuple[eq.Expr, ...]:
    """That the step of a subscript is at least one (``x[i * incx]``): with none, all threads would have one cell."""
    moving = [m for m in poly.terms if any(free_indices(a) for a in m)]
    if len(moving) != 1:
        return ()
    steps = [a for a in moving[0] if isinstance(a, eq.Param) and a.type.is_integer]
    if len(moving[0]) != len(steps) + 1 or not isinstance(next(a for a in moving[0] if a not in steps), eq.Index):
        return ()
    return tuple(eq.Op("ge", (a, ONE), BOOL) for a in steps if not provable(path, to_poly(a) - 1))


def apart(accesses: Iterable[Access]) -> tuple[eq.Expr, ...]:
    """The conditions under which cells of a row that threads store are not those that others use a row further on
    (``x[i * 1024 + j] = x[(i - 1) * 1024 + j]`` for j < n: n <= 1024), or cells of another colour across a seam. Where
    they do not hold the kernel has a race."""
    accesses = list(accesses)
    out: dict[eq.Expr, None] = {}
    flat = [a for a in accesses if len(a.subscripts) == 1 and not a.view]
    for w in (a for a in flat if a.write):
        at = to_poly(w.subscripts[0])
        names = [x for x in at.atoms() if isinstance(x, eq.Index)]
        if len(names) != 1 or at.coefficient(names[0]).value != 1 or len(at.indices()) != 1:
            continue
        top, low = largest(to_poly(names[0]), w.path), largest(-to_poly(names[0]), w.path)
        if top is None or low is None or not is_static(top) or not is_static(low):
            continue
        for a in flat:
            gap = to_poly(a.subscripts[0]) - at
            if a.array != w.array or gap.indices() or not gap.terms or not is_static(gap):
                continue
            if min(gap.terms.values()) < 0:
                gap = -gap
            row = any(at.coefficient(x) in (gap, -gap) for x in at.atoms() if isinstance(x, eq.Param))
            if not row and not (a.write and _multiple_of_a_size(gap)):
                continue  # no row further on: whoever writes x[i] = x[i + 1] has no such launch in mind
            if not provable(w.path, gap - 1 - top - low):
                if not row:
                    (size,) = gap.terms
                    gap = Poly({size: 1})
                out[eq.Op("le", (to_expr(top + low + 1), to_expr(gap)), BOOL)] = None
    return tuple(out) or whole_turns(accesses) or both_ends(accesses)


def of_windows(condition: eq.Expr) -> bool:
    """Whether a condition says that windows keep to their rows: ``places + width - 1 <= row``, each a size of its own.

    Of one size (``width <= step``) it says that frames do not overlap, which they may.
    """
    match condition:
        case eq.Op(name="le", args=(most, eq.Param() as row)):
            top = to_poly(most)
            sizes = all(isinstance(a, eq.Param) and "." not in a.name and a is not row for a in top.atoms())
            return sizes and sum(c > 0 for m, c in top.terms.items() if m) > 1
    return False


def of_large_sizes(condition: eq.Expr) -> tuple[eq.Expr, ...]:
    """That a size is no smaller than some number, which makes a condition on it hold: ``w >= 3`` for ``2 * ((w - 3) /
    2) + 3 <= w``; () where sizes of any magnitude fail it, or none."""
    nodes = topological((condition,))
    sizes = {e for e in nodes if not isinstance(e, eq.Const | eq.Op)}
    if not any(isinstance(e, eq.Op) and e.name in ("floordiv", "tdiv") for e in nodes):
        return ()  # no part of a size
    if len(sizes) != 1 or not all(isinstance(e, eq.Param) and "." not in e.name for e in sizes):
        return ()
    failing = [n for n in range(8 * _SMALL) if not _at(condition, n)]
    if not failing or failing[-1] >= _SMALL:
        return ()
    return (eq.Op("ge", (sizes.pop(), eq.Const(failing[-1] + 1, INT)), BOOL), condition)


def _at(e: eq.Expr, size: int) -> int | None:
    """The value of an expression of one size, None where it has none."""
    match e:
        case eq.Const(value=int() as value):
            return int(value)
        case eq.Param():
            return size
        case eq.Op(name=name, args=(a, b)) if name in _VALUES:
            x, y = _at(a, size), _at(b, size)
            return None if x is None or y is None or (y == 0 and "div" in name) else int(_VALUES[name](x, y))
    return None


def neighbours(one: eq.Expr, other: eq.Expr) -> bool:
    """Whether two conditions say of one size, but for a number, that it is no more than one row."""
    match one, other:
        case eq.Op(name="le", args=(a, row)), eq.Op(name="le", args=(b, same)) if row is same:
            return (to_poly(a) - to_poly(b)).value is not None
    return False


def rows_of_blocks(condition: eq.Expr) -> dict[str, int]:
    """The parameter n of ``block <= n`` (``x[blockIdx.x * n + threadIdx.x]``), and how many elements a thread has."""
    match condition:
        case eq.Op(name="le", args=(a, eq.Param(name=name))) if "." not in name:
            times = to_poly(a).coefficient(eq.Param("block.x", INT)).value if a.type.is_integer else None
            if times in (1, 2) and to_poly(a) == to_poly(eq.Param("block.x", INT)) * times:
                return {name: times}
    return {}


def _multiple_of_a_size(gap: Poly) -> bool:
    """``3 * n``: fields one after another in one array, ``f[i + 3 * n]``."""
    return len(gap.terms) == 1 and all(len(m) == 1 and isinstance(m[0], eq.Param) for m in gap.terms)


def strongest(conditions: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
    """The conditions without those that the others say."""
    left = list(conditions)
    for c in conditions:
        others = tuple(x for x in left if x is not c)
        if len(others) < len(left) and implied(others, c):
            left.remove(c)
    return tuple(left)


def message(condition: eq.Expr) -> str:
    """What the ValueError says where the condition does not hold."""
    match condition:
        case eq.Op(name="eq", args=(eq.Op(name="mod"), _)):
            what = "cells of one colour would be neighbours"
        case eq.Op(name="ge", args=(_, least)):
            what = "cells would overlap" if least is ONE else "a subscript or a bound would be negative"
        case eq.Op(name="le", args=(width, begin)) if are_ends(width, begin):
            what = "the cells at both ends would overlap"
        case _:
            what = "rows would overlap"
    return f"{what}: {render_expr(condition)} must hold"


def open_checks(checks: tuple[Check, ...], span: Span | None) -> tuple[Check, ...]:
    """The checks that the sizes decide.

    Raises:
        Refused: KR299, one holds at no size, or not beside the others: the emitted function would do nothing but raise,
            and what is proved from them means nothing.
    """
    out: list[Check] = []
    for condition, text in checks:
        known = decided(condition)
        if known is False:
            raise refuse("KR299", f"no launch meets what the proof needs ({text})", span, "see the sizes in that line")
        if known is None and all(condition is not c for c, _ in out):
            out.append((condition, text))
    stated = [(c, text) for c, text in out if classify(c) is not None]
    for at, (c, text) in enumerate(stated):
        if at and implied(tuple(x for x, _ in stated[:at]), negate(c)):
            both = f"{stated[0][1]}; {text}" if at == 1 else text
            raise refuse(
                "KR299", f"no launch meets all that the proof needs ({both})", span, "see the sizes in that line"
            )
    return tuple(out)


def decided(condition: eq.Expr) -> bool | None:
    """Whether a comparison of numbers holds; None for any other condition."""
    match condition:
        case eq.Op(name="le" | "lt" | "ge" | "gt" | "eq" as name, args=(a, b)):
            gap = (to_poly(b) - to_poly(a)).value
            if gap is None:
                return None
            return {"le": gap >= 0, "lt": gap > 0, "ge": gap <= 0, "gt": gap < 0, "eq": gap == 0}[name]
    return None


__all__ = [
    "apart",
    "decided",
    "in_known_rows",
    "message",
    "neighbours",
    "open_checks",
    "of_windows",
    "rows_of_blocks",
    "strongest",
    "wanted",
]
