"""Flat subscripts as several: ``y * nx + x`` with 0 <= x < nx is element (y, x) of an array with rows of nx.

The digits are found from the strides of the indices in the polynomial and proved to lie within their radices; where the
proof fails the subscript stays flat. (Grosser et al., Optimistic delinearization of parametrically sized arrays, ICS
2015.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd

from kraise.analysis.conditions import classify
from kraise.analysis.dependence import nonnegative
from kraise.analysis.division import divided, leading, parted, quotient_of
from kraise.analysis.instances import fails
from kraise.analysis.poly import Monomial, Poly, to_expr
from kraise.ir import equations as eq
from kraise.ir.order import by_text
from kraise.ir.types import INT
from kraise.ir.walk import free_indices


@dataclass(frozen=True)
class Digits:
    """``subscripts`` from the outermost to the innermost, ``radices`` of all but the first."""

    subscripts: tuple[Poly, ...]
    radices: tuple[Poly, ...]


@lru_cache(maxsize=1 << 14)
def digits(poly: Poly, path: tuple[eq.Expr, ...], gaps: bool = False) -> Digits | None:
    """``poly`` in mixed radix, or None if it is affine with unit strides already or nothing can be proved.

    ``path`` are the conjuncts under which the subscript is used. With ``gaps`` the innermost digit may be fixed
    (``s * k + 1``): good for proofs, not for a view, since the last row need not be whole.
    """
    ways = [_strides(poly, gaps)]
    if ways[0] is None:
        ways = [_numbers(poly)]
        least = 0 if ways[0] is None else _tied(poly, path)
        if least == 1:
            return None
        ways = [[p for p in ways[0] if (p.value or 0) <= least]] if ways[0] and least else ways
    found = None
    others = _slanted(poly) if gaps else [_strides(poly, primitive=True)]
    for strides in (_broken(poly), *ways, *others):
        if found is None and strides is not None:
            found = _with_strides(poly, path, _signed(strides, path))
    return found


def _slanted(poly: Poly) -> list[list[Poly]]:
    """Rows of n for ``i * n + (d - i)``, whose index moves along a diagonal: its own stride is ``n - 1``. Where that is
    a size (rows of ``n + 1``: one border more than there are letters), rows that are one longer, or one shorter."""
    moving = [a for a in poly.atoms() if Poly({(a,): 1}).indices()]
    if any(sum(a in moving for a in m) > 1 for m in poly.terms):
        return []
    moving = [a for a in moving if len(moving) == 1 or poly.coefficient(a).value is None]  # (d - t) beside t * n
    if len(moving) != 1:
        return []
    stride = poly.coefficient(moving[0])
    sizes = [m for m in stride.terms if m]
    if len(sizes) != 1:
        return []
    size, one = Poly({sizes[0]: 1}), Poly({(): 1})
    return [[size, one]] if len(stride.terms) > 1 else [[size + 1, one], [size - 1, one]]


def _broken(poly: Poly) -> list[Poly] | None:
    """Strides of several indices one of which is in two digits: rows of n for ``(i + t + 1) * n + t``, of 512 for
    ``512 * i + 513 * t``."""
    moving = [a for a in poly.atoms() if Poly({(a,): 1}).indices()]
    if len(moving) < 2 or any(sum(a in moving for a in m) > 1 for m in poly.terms):
        return None
    own = {a: poly.coefficient(a) for a in moving}
    numbers = {abs(c.value or 0) for c in own.values()}
    if 0 not in numbers:
        row = min((n for n in numbers if n > 2), default=0)
        beside = {n % row for n in numbers if n > row} if row else set()
        return [Poly({(): row}), Poly({(): 1})] if beside & {1, row - 1} and beside <= {0, 1, row - 1} else None
    if all(len(c.terms) == 1 for c in own.values()):
        return None
    parts = {Poly({m: 1}) for c in own.values() for m in c.terms}
    strides = sorted(parts, key=lambda p: (-_degree(p), by_text(to_expr(p))))
    return strides if len(strides) > 1 and strides[-1].value == 1 else None


def _multiple_of(above: Poly, below: Poly) -> Poly | None:
    """``above / below`` if it is exact and no number."""
    quotient, rest = divided(above, below)
    return quotient if quotient.terms and not rest.terms and quotient.value is None else None


def _with_strides(poly: Poly, path: tuple[eq.Expr, ...], strides: list[Poly]) -> Digits | None:
    rough = None
    for at in range(len(strides) - 1):
        found = _taken_apart(poly, path, strides[at:], quotient_of)
        # rows of 2 * n: only where rows of n will not do, since every second of these has the same stride
        found = found or _taken_apart(poly, path, strides[at:], _multiple_of)
        for dividing in _chains(strides[at:]) if found is None else ():
            found = found or _taken_apart(poly, path, dividing, quotient_of)
        if found is not None and not all(map(_apart, found.subscripts)):
            rough, found = rough or found, None  # rows of 5 * n, where rows of n may do
        if found is not None or strides[at + 1].value is not None:
            return found or rough
        if quotient_of(strides[at], strides[at + 1]) is not None and not _difference(poly, strides[at]):
            # only where neither of two sizes divides the other may the second be the larger digit
            return rough or _window(poly, path, [s for s in strides[at + 1 :] if s.value is None])
    return rough


def _apart(digit: Poly) -> bool:
    """Whether no index is multiplied by a size in it: the digit hides no rows."""
    return all(len(m) < 2 or not Poly({m: 1}).indices() for m in digit.terms)


def _difference(poly: Poly, stride: Poly) -> bool:
    """Whether what the stride multiplies is a difference (``(t - block) * TILE * n``): no digit of its own."""
    quotient, _ = divided(poly, stride)
    return any(c < 0 for m, c in quotient.terms.items() if m) and any(c > 0 for m, c in quotient.terms.items() if m)


def _signed(strides: list[Poly], path: tuple[eq.Expr, ...]) -> list[Poly]:
    """The strides with such signs that each is a positive multiple of the next, where the path tells."""
    out = strides[-1:]
    for above in reversed(strides[:-1]):
        radix = quotient_of(above, out[0])
        negative = radix is not None and min(radix.terms.values()) < 0
        out.insert(0, -above if negative and radix is not None and provable(path, -radix - 1) else above)
    return out


def _taken_apart(
    poly: Poly,
    path: tuple[eq.Expr, ...],
    strides: list[Poly],
    quotient_by: Callable[[Poly, Poly], Poly | None],
) -> Digits | None:
    rest, subs, radices = poly, [], []
    for at in range(len(strides) - 1):
        above, below = strides[at], strides[at + 1]
        radix = quotient_by(above, below)
        if radix is None:
            return None
        quotient, rest = parted(rest, above)
        subs.append(quotient)
        radices.append(radix)
    return _carried([*subs, rest], radices, path)


def _carried(subs: list[Poly], radices: Sequence[Poly], path: tuple[eq.Expr, ...]) -> Digits | None:
    """The digits with what is carried between neighbours, from the innermost, so that each is proved to be within its
    radix; None if one is not."""
    for at in range(len(subs) - 1, 0, -1):
        radix = radices[at - 1]
        for shift in (0, -1, 1):
            digit = subs[at] - radix * shift
            if provable(path, digit) and provable(path, radix - 1 - digit):
                subs[at] = digit
                subs[at - 1] = subs[at - 1] + shift
                break
        else:
            return None
    return Digits(tuple(subs), tuple(radices))


def in_rows(poly: Poly, radices: tuple[Poly, ...], path: tuple[eq.Expr, ...]) -> Digits | None:
    """``poly`` in the given radices (``s`` with s < m is element (0, s) of rows of m), or None if it is not proved."""
    subs: list[Poly] = []
    rest = poly
    for at in range(len(radices)):
        size = radices[at]
        for r in radices[at + 1 :]:
            size = size * r
        quotient, rest = parted(rest, size)
        subs.append(quotient)
    return _carried([*subs, rest], radices, path)


def _chains(strides: list[Poly]) -> list[list[Poly]]:
    """Strides of which each divides the one before: of several sizes that divide one, but not each other, each in turn
    (``(bx * T + y) * h + by * T + x`` has rows of h, not of T)."""
    out = [_dividing(strides)]
    if len(out[0]) < len(strides) and all(s.value is None for s in strides[:-1]):
        for kept in out[0][1:-1]:
            fewer = _dividing([s for s in strides if s != kept])
            out += [fewer] if fewer not in out else []
    return out


def _dividing(strides: list[Poly]) -> list[Poly]:
    """The strides without those between that divide no larger one: ``y * nx + 32 * r + t`` has digits y and ``32 * r +
    t``."""
    out = strides[:1]
    for at, s in enumerate(strides[1:], 1):
        if at == len(strides) - 1 or quotient_of(out[-1], s) is not None:
            out.append(s)
    return out


def _tied(poly: Poly, path: tuple[eq.Expr, ...]) -> int:
    """The step of the least of several indices that a condition ties together as the subscript does (``4 * q + k <
    n``): they are then digits of one index. 0 if there are none."""
    names = poly.indices()
    own = [eq.Index(n, INT) for n in names]
    steps: list[int] = []
    for fact in (f for c in path if len(free_indices(c) & names) > 1 and (f := classify(c)) is not None):
        ratios = {_ratio(fact.poly.coefficient(i), poly.coefficient(i)) for i in own if i in fact.poly.atoms()}
        if sum(i in fact.poly.atoms() for i in own) > 1 and len(ratios) == 1 and None not in ratios:
            steps.append(min(abs(poly.coefficient(i).value or 1) for i in own if i in fact.poly.atoms()))
    return min(steps, default=0)


def _ratio(a: Poly, b: Poly) -> Fraction | None:
    return None if not a.value or not b.value else Fraction(a.value, b.value)


def chain(poly: Poly, path: tuple[eq.Expr, ...] = (), primitive: bool = False) -> list[tuple[Poly, Poly]] | None:
    """``(stride, radix of what is below it)`` from the largest stride down, numbers as strides included; ``primitive``:
    without what is common to a stride's terms (``2 * i`` is a digit of stride 1)."""
    strides = _strides(poly, primitive=True) if primitive else _strides(poly) or _numbers(poly)
    if strides is None:
        return None
    strides = _signed(strides, path)
    strides = [s for at, s in enumerate(strides) if not any(_times(s, t) for t in strides[at + 1 :])]
    if any(quotient_of(above, below) is None for above, below in zip(strides, strides[1:], strict=False)):
        strides = _dividing(strides)
    out = []
    for above, below in zip(strides, strides[1:], strict=False):
        radix = quotient_of(above, below)
        if radix is None:
            return None
        out.append((above, radix))
    return out


def _times(above: Poly, below: Poly) -> bool:
    """Whether ``above`` is a number of the size ``below``: no digit of its own."""
    if below.value is not None:
        return False
    ratios = {above.terms.get(m, 0) // c for m, c in below.terms.items()}
    return any(n > 1 and below * n == above for n in ratios)


def _numbers(poly: Poly) -> list[Poly] | None:
    """The strides of a subscript whose strides are numbers, if they form a chain down to 1."""
    found = set()
    for a in poly.atoms():
        if Poly({(a,): 1}).indices():
            c = poly.coefficient(a).value if poly.is_affine_in(Poly({(a,): 1}).indices()) else None
            if c is None:
                return None
            found.add(abs(c))
    sizes = sorted(found, reverse=True)
    if len(sizes) < 2 or sizes[-1] != 1 or any(x % y for x, y in zip(sizes, sizes[1:], strict=False)):
        return None
    return [Poly({(): n}) for n in sizes]


def _strides(poly: Poly, gaps: bool = False, primitive: bool = False) -> list[Poly] | None:
    """The strides of the indices, largest first, the last of them 1; None if they form no chain of symbolic sizes.

    Numbers as strides (``4 * i + k``) are affine as they stand and are left alone; ``primitive`` leaves the numbers in
    strides to the digits (``2 * y * w + 2 * x`` is element (2 * y, 2 * x) of rows of w).
    """
    found: dict[Poly, None] = {}
    moving = {a for a in poly.atoms() if Poly({(a,): 1}).indices()}
    for m in poly.terms:
        if sum(a in moving for a in m) > 1:
            return None
    for a in sorted(moving, key=by_text):
        stride = _positive(poly.coefficient(a))
        content = gcd(*stride.terms.values()) if primitive else 1
        found[Poly({m: c // content for m, c in stride.terms.items()})] = None
    strides = sorted(found, key=lambda p: (-_degree(p), -(p.value or 0), by_text(to_expr(p))))
    if gaps and strides and strides[-1].value != 1:
        strides.append(Poly({(): 1}))
    if len(strides) < 2 or strides[-1].value != 1 or strides[0].value is not None:
        return None
    return strides


def _degree(p: Poly) -> int:
    return max((len(m) for m in p.terms), default=0)


def _positive(p: Poly) -> Poly:
    """``p`` or its negative: the one with a positive leading coefficient."""
    return -p if p.terms[leading(p)] < 0 else p


_MANY = 3  # sizes: each is tried, and all others on what it leaves


def provable(path: tuple[eq.Expr, ...], poly: Poly) -> bool:
    """Whether ``poly >= 0`` wherever ``path`` holds: as an affine fact, or digit by digit."""
    if nonnegative(path, poly):
        return True
    if len(_sizes(poly)) >= _MANY and fails(poly, path):
        return False
    digit = leading_digit(poly, path)
    return digit is not None and provable(path, digit)


def _window(poly: Poly, path: tuple[eq.Expr, ...], sizes: list[Poly]) -> Digits | None:
    """Rows of one of the sizes where the path says that what it multiplies is a row: ``h * width + w`` with ``h = y *
    stride + i`` below the rows and ``w`` below the width; a product of numbers that are not negative is none."""
    below = [f.poly for f in map(classify, path) if f is not None and f.kind == "ge"]
    for size in sizes:
        row, rest = parted(poly, size)
        if not row.indices() or all((f + row).indices() for f in below) or not provable(path, size - 1 - rest):
            continue
        product = next((m for m, c in rest.terms.items() if c > 0 and len(m) > 1 and _none_negative(m, path)), None)
        left = Poly({m: c for m, c in rest.terms.items() if m != product})
        if provable(path, rest) or (product is not None and nonnegative(path, left)):
            return Digits((row, rest), (size,))
    return None


def _none_negative(atoms: Monomial, path: tuple[eq.Expr, ...]) -> bool:
    sizes = (eq.Param, eq.Shape)  # in a subscript a number is a size
    return all(isinstance(a, sizes) or nonnegative(path, Poly({(a,): 1})) for a in atoms)


def _sizes(poly: Poly) -> list[Poly]:
    """What multiplies its indices, and may be a radix: sizes, then numbers."""
    sizes = {poly.coefficient(a) for a in poly.atoms() if isinstance(a, eq.Index) and poly.is_affine_in((a.name,))}
    numbers = sorted((p for p in sizes if p.value), key=lambda p: -abs(p.value or 0))
    open_ = sorted((p for p in sizes if p.value is None), key=lambda p: by_text(to_expr(p)))
    return [*open_, *(p for p in numbers if abs(p.value or 0) > 1)]


@lru_cache(maxsize=1 << 14)
def leading_digit(poly: Poly, path: tuple[eq.Expr, ...]) -> Poly | None:
    """p with ``p >= 0`` equivalent to ``poly >= 0``, for poly = W * A + B with B in [0, W) (p = A) or [-W, 0) (p = A
    - 1)."""
    sizes = _sizes(poly)
    for size in sizes:
        w = size if min(size.terms.values()) > 0 else -size
        high, low = divided(poly, w)
        if w.value is not None and (w.value < 0 or not low.indices()):
            continue
        for shift in (0, 1):
            rest = low + w * shift
            if len(sizes) >= _MANY and (fails(rest, path) or fails(w - 1 - rest, path)):
                continue
            if provable(path, rest) and provable(path, w - 1 - rest):
                deeper = leading_digit(high - shift, path)
                return high - shift if deeper is None else deeper
    return None
