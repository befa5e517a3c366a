"""Windows that lie side by side in rows: ``(y * k + a) * w + x * k + b`` with y < h / k, x < w / k and a, b < k is
element (y * k + a, x * k + b) of rows of w, for ``w / k * k`` is no more than w.

A quotient that is greater than an index that is not negative is one of a positive number: it is rounded down in C, too.
"""

from __future__ import annotations

from kraise.analysis.conditions import classify
from kraise.analysis.delinearize import Digits
from kraise.analysis.dependence import nonnegative
from kraise.analysis.division import parted
from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq

Path = tuple[eq.Expr, ...]
Whole = tuple[Poly, Poly, Poly, Poly]  # ``x``, ``k``, ``w`` and ``w / k`` of x < w / k


def windows(poly: Poly, path: Path) -> Digits | None:
    """The digits of such a place, None of others."""
    known = _bounds(path)
    return _windows(poly, path, known) if known else None


def _bounds(path: Path) -> list[Whole]:
    found: list[Whole] = []
    for fact in (f for c in path if (f := classify(c)) is not None and f.kind == "ge"):
        quotients = [a for a in fact.poly.atoms() if isinstance(a, eq.Op) and a.name in ("tdiv", "floordiv")]
        if len(quotients) != 1:
            continue
        (q,) = quotients
        index = Poly({(q,): 1}) - 1 - fact.poly
        width, size = map(to_poly, q.args)
        if size.value is None and len(index.terms) == 1 and index.indices() and nonnegative(path, index):
            found.append((index, size, width, Poly({(q,): 1})))
    return found


def _windows(poly: Poly, path: Path, known: list[Whole]) -> Digits | None:
    for index, size, width, _ in known:
        row, rest = parted(poly, width)
        if not row.indices() or not _within(rest - index * size, size, path):
            continue
        if index == row or (len(row.terms) == 1 and row.is_affine_in(tuple(row.indices()))):
            return Digits((row, rest), (width,))
        above = _windows(row, path, known)
        if above is not None:
            return Digits((*above.subscripts, rest), (*above.radices, width))
        if last_of_windows(row, path) is not None:
            return Digits((row, rest), (width,))
    return None


def last_of_windows(poly: Poly, path: Path) -> Poly | None:
    """The largest place in such windows, ``w / k * k - 1`` of ``x * k + b``; None of other places."""
    tops = (count * size - 1 for index, size, _, count in _bounds(path) if _within(poly - index * size, size, path))
    return next(tops, None)


def _within(place: Poly, size: Poly, path: Path) -> bool:
    return nonnegative(path, place) and nonnegative(path, size - 1 - place)


__all__ = ["last_of_windows", "windows"]
