"""Instances of a domain in numbers, which show that a bound does not hold in it before a proof is looked for.

A proof digit by digit asks of every size whether it is a radix, and of every part again; where there is none, all of
that is asked in vain. A point of the domain at which the bound fails says so at once; it proves nothing else.
"""

from __future__ import annotations

from functools import lru_cache

import islpy as isl

from kraise.analysis import sets
from kraise.analysis.poly import Poly
from kraise.analysis.space import Space
from kraise.ir import equations as eq
from kraise.ir.order import by_text
from kraise.ir.types import INT
from kraise.ir.walk import topological, transform

_SIZES = ((4, 6, 5, 9, 7, 8), (32, 33, 40, 37, 64, 35), (2, 3, 1))  # of parameters and shapes, in turn
_FAR = 4096

Point = dict[eq.Expr, int]


def fails(poly: Poly, path: tuple[eq.Expr, ...]) -> bool:
    """Whether ``poly >= 0`` fails at an instance of ``path`` that is known; an index of which the path says nothing is
    any number, and so is a size."""
    try:
        return any(_below_zero(poly, point) for at in range(len(_SIZES)) for point in _known(path, at))
    except _Unknown:
        return False


def _below_zero(poly: Poly, point: Point) -> bool:
    for free in (-_FAR, _FAR):
        total, all_known = 0, True
        for m, c in poly.terms.items():
            for a in m:
                if a in point:
                    c *= point[a]
                else:
                    c *= _number(a, point, free)
                    all_known = False
            total += c
        if total < 0:
            return True
        if all_known:
            break
    return False


class _Unknown(Exception):
    """What has no number at an instance."""


def _number(e: eq.Expr, point: Point, free: int) -> int:
    if e in point:
        return point[e]
    match e:
        case eq.Const(value=int() as value):
            return value
        case eq.Index():
            return free
        case eq.Param(name=name) | eq.Shape(array=name) if e.type.is_integer:
            return 2 + sum(map(ord, name)) % 7  # a size like any other, not the same for all
        case eq.Op(name=name, args=(a, b)) if e.type.kind != "uint":
            found = _applied(name, _number(a, point, free), _number(b, point, free))
            if found is not None:
                return found
    raise _Unknown


def _applied(name: str, a: int, b: int) -> int | None:
    match name:
        case "add" | "sub" | "mul":
            return a + b if name == "add" else a - b if name == "sub" else a * b
        case "floordiv" | "mod" if b > 0:
            return a // b if name == "floordiv" else a % b
        case "tdiv" | "tmod" if b > 0 and a >= 0:
            return a // b if name == "tdiv" else a % b
    return None


def _folded(e: eq.Expr) -> eq.Expr:
    match e:
        case eq.Op(name=name, args=(eq.Const(value=int() as a), eq.Const(value=int() as b)), type=t) if t.is_integer:
            found = _applied(name, a, b)
            return e if found is None else eq.Const(found, t)
    return e


@lru_cache(maxsize=2_000)
def _known(path: tuple[eq.Expr, ...], at: int) -> tuple[Point, ...]:
    """Some instances of ``path`` for one choice of the sizes: the first, the last and another one."""
    sizes = [n for n in topological(path) if isinstance(n, eq.Param | eq.Shape) and n.type.is_integer]
    chosen = {s: _SIZES[at][place % len(_SIZES[at])] for place, s in enumerate(sorted(sizes, key=by_text))}
    numbers: dict[eq.Expr, eq.Expr] = {s: eq.Const(n, s.type) for s, n in chosen.items()}
    space = Space()
    space.path([transform(c, lambda e: _folded(numbers.get(e, e))) for c in path], {})
    if space.params or space.chosen:
        return ()  # what stands for these may be none of their values
    names = [*space.variables.values()]
    places = {eq.Index(name, INT): at for at, name in enumerate(space.variables)}

    near = [f"{name} <= {_FAR} and {name} >= -{_FAR}" for name in names]  # so that there is a last one

    def points() -> list[isl.Point]:
        (all_,) = sets.points([((*space.constraints, *near), names)], ())
        found = (x.sample_point() for x in (all_.lexmin(), all_.lexmax(), all_))
        return [x for x in found if not x.is_void()]

    none: list[isl.Point] = []
    at_ = [
        {i: p.get_coordinate_val(isl.dim_type.set, place).to_python() for i, place in places.items()}
        for p in sets.bounded(points, none)
    ]
    return tuple({**chosen, **found} for found in at_)


__all__ = ["fails"]
