"""Loads that go round an array, of which the source itself reads every cell: ``x[(y + dy + h) % h]`` for all y below h,
whatever dy is, in rows of which it is so too.

Lanes beside the source's own (``dx = dy = 0``, which ``continue`` leaves out) then read no cell beyond these.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis.dependence import implied, impossible
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, topological

Path = Iterable[eq.Expr]
_ZERO = eq.Const(0, INT)


def goes_round(subscripts: tuple[eq.Expr, ...], view: tuple[eq.Expr, ...], paths: Iterable[Path], domain: Path) -> bool:
    """Whether places in rows are all cells below some sizes on one of the ``paths``, and none beyond them on the
    ``domain``."""
    if not view or len(subscripts) != len(view):
        return False
    places = [_place(s, None if at == 0 else view[at], tuple(domain)) for at, s in enumerate(subscripts)]
    return None not in places and any(_all(places, tuple(p)) for p in paths)  # type: ignore[arg-type]


def _place(s: eq.Expr, radix: eq.Expr | None, domain: tuple[eq.Expr, ...]) -> tuple[eq.Expr, eq.Expr] | None:
    """What is divided and by what, where a subscript is a remainder that is not negative; an index is one by the length
    of the row."""
    match s:
        case eq.Op(name="mod" | "tmod" as name, args=(a, size)) if radix is None or to_poly(size) == to_poly(radix):
            sure = name == "mod" or implied(domain, eq.Op("ge", (a, _ZERO), BOOL))
            return (a, size) if sure and not free_indices(size) else None
        case eq.Index() if radix is not None and implied(domain, eq.Op("lt", (s, radix), BOOL)):
            return (s, radix)
    return None


def _all(places: list[tuple[eq.Expr, eq.Expr]], path: tuple[eq.Expr, ...]) -> bool:
    """Whether the places are all that there are: each has an index of its own that runs through a whole turn."""
    turning = [_turning(a, size, path) for a, size in places]
    if None in turning or len(set(turning)) < len(turning):
        return False
    # an index that turns is in no other place
    if any(len(set(turning) & free_indices(a)) != 1 for a, _ in places):
        return False
    return not impossible(c for c in path if not free_indices(c) & set(turning))


def _turning(a: eq.Expr, size: eq.Expr, path: tuple[eq.Expr, ...]) -> str | None:
    """The index of which ``a`` is a sum with something else, where the path has all of its values below ``size``."""
    poly = to_poly(a)
    for name in sorted(free_indices(a)):
        index = next(n for n in topological((a,)) if isinstance(n, eq.Index) and n.name == name)
        turn = (eq.Op("ge", (index, _ZERO), BOOL), eq.Op("lt", (index, size), BOOL))
        alone = poly.is_affine_in((name,)) and poly.coefficient(index).value in (1, -1)
        if alone and all(implied(turn, c) for c in path if name in free_indices(c)):
            return name
    return None


__all__ = ["goes_round"]
