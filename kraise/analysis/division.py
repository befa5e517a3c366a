"""Polynomials of index arithmetic divided by sizes: ``y * nx + x`` by ``nx`` is y, and x is left."""

from __future__ import annotations

from kraise.analysis.poly import Monomial, Poly
from kraise.ir.order import by_text

_MOST_STEPS = 64  # of a division, which ends by itself where the divisor's leading term stays the leading one


def leading(p: Poly) -> Monomial:
    return max(p.terms, key=lambda m: (len(m), by_text(m)))


def quotient_of(above: Poly, below: Poly) -> Poly | None:
    """``above / below`` if it is exact, and no number times a size (``8 * n / n`` is no digit of its own)."""
    if below.value == 1:
        return above
    if below.value and all(c % below.value == 0 for c in above.terms.values()):
        return Poly({m: c // below.value for m, c in above.terms.items()})
    quotient, rest = divided(above, below)
    exact = quotient.terms and not rest.terms and (quotient.value is None or abs(quotient.value) == 1)
    if not exact or (len(below.terms) == 1 and set(quotient.terms.values()) != {1}):
        return None
    return quotient


def _monomial_quotient(m: Monomial, by: Monomial) -> Monomial | None:
    left = list(m)
    for a in by:
        if a not in left:
            return None
        left.remove(a)
    return tuple(left)


def divided(poly: Poly, by: Poly) -> tuple[Poly, Poly]:
    """``(q, r)`` with poly = q * by + r: every term that the leading term of ``by`` divides goes into q."""
    lead = leading(by)
    size = by.terms[lead]
    quotient, rest = Poly(), poly
    for _ in range(_MOST_STEPS):
        found = [(m, _monomial_quotient(m, lead)) for m, c in rest.terms.items() if not c % size]
        hits = [(m, q) for m, q in found if q is not None]
        if not hits:
            break
        m, q = max(hits, key=lambda t: (len(t[0]), by_text(t[0])))
        part = Poly({q: rest.terms[m] // size})
        quotient, rest = quotient + part, rest - part * by
    return quotient, rest


def parted(poly: Poly, by: Poly) -> tuple[Poly, Poly]:
    """As :func:`divided`; of a constant beside a stride that is a number, and of a larger number of an index, the
    nearest multiple goes into q, too: ``256 * y + x - 257`` is x - 1 in row y - 1, ``257 * k`` is k in row k."""
    quotient, rest = divided(poly, by)
    stride, number = by.value or 0, rest.terms.get((), 0)
    if stride <= 1:
        return quotient, rest
    more = Poly({m: (2 * c + stride) // (2 * stride) for m, c in rest.terms.items() if m and abs(c) > stride})
    quotient, rest = quotient + more, rest - more * stride
    falls = any(c < 0 for m, c in rest.terms.items() if m) and not any(c > 0 for m, c in rest.terms.items() if m)
    rows = number // stride if falls else (2 * number + stride) // (2 * stride)  # columns from a row's end: 254 - x
    return quotient + rows, rest - rows * stride


__all__ = ["divided", "leading", "parted", "quotient_of"]
