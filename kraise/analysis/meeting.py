"""Where two accesses certainly meet: a point, asked of islpy, for the reader of a refusal."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache

import islpy as isl

from kraise.analysis import sets
from kraise.analysis.dependence import Access, Question
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices

_REACHES = (2, 4, 40, 1100)  # small numbers read best


def meeting(a: Access, b: Access, distinct: tuple[str, ...], shared: frozenset[str]) -> str:
    """Two instances that touch one cell, in words (``i = 0 and i = 1 at y[0], for n = 2``); "" where none is sure: a
    condition is not affine, or depends on data."""
    question = Question(a, b, distinct, shared)
    space = question.space
    if a.array != b.array or space.dropped or not question.exact:
        return ""
    for differing in question.differing:
        for reach in _REACHES:
            found = _point(question, differing, reach)
            if found is not None:
                return _said(question, a, b, distinct, found)
    return ""


def _point(question: Question, differing: str, reach: int) -> Mapping[str, int] | None:
    """Values of the names of the question, none larger than ``reach``."""
    space = question.space
    inner, outer = list(space.variables.values()), list(space.params.values())
    small = [f"0 <= {name} <= {reach}" for name in (*inner, *outer)]
    place = _first((*space.constraints, differing, *small), tuple(inner), tuple(outer))
    return None if place is None else dict(zip((*outer, *inner), place, strict=True))


@lru_cache(maxsize=4_000)  # of each attempt of a search at the same accesses
def _first(where: tuple[str, ...], inner: tuple[str, ...], outer: tuple[str, ...]) -> tuple[int, ...] | None:
    """The first point that meets all of ``where``, None if there is none or isl gives up: its ``outer`` and ``inner``
    names in order."""

    def ask() -> tuple[int, ...] | None:
        (domain,) = sets.points([(where, (*outer, *inner))], ())
        if domain.is_empty():
            return None
        point = domain.lexmin().sample_point()
        count = len(outer) + len(inner)
        return tuple(point.get_coordinate_val(isl.dim_type.set, n).to_python() for n in range(count))

    return sets.bounded(ask, None)


def _said(question: Question, a: Access, b: Access, distinct: tuple[str, ...], found: Mapping[str, int]) -> str:
    space = question.space

    def at(rename: Mapping[str, str]) -> dict[str, int]:
        names = sorted(frozenset().union(*(free_indices(s) for s in (*a.subscripts, *b.subscripts))) | set(distinct))
        known = {n: space.variables.get(rename.get(n, n)) for n in names}
        return {n: found[v] for n, v in known.items() if v is not None and not n.startswith("$")}

    first, second = (at(rename) for rename in question.names)
    if not all(n in first and n in second for n in distinct) or first == second:
        return ""
    sizes: dict[eq.Expr, int] = {}
    for key, name in space.params.items():
        if isinstance(key, eq.Param | eq.Shape):
            sizes[key] = found[name]
    cell = _cell(a, first, sizes)
    shown = ", ".join(f"{_name(key)} = {v}" for key, v in sizes.items())
    one, two = (", ".join(f"{n} = {v}" for n, v in side.items()) for side in (first, second))
    return f"{one} and {two}" + (f" at {cell}" if cell else "") + (f", for {shown}" if shown else "")


def _name(key: eq.Expr) -> str:
    return f"{key.array}.shape[{key.axis}]" if isinstance(key, eq.Shape) else getattr(key, "name", "")


def _cell(a: Access, indices: Mapping[str, int], sizes: Mapping[eq.Expr, int]) -> str:
    """``y[3]``; "" where a subscript is no arithmetic on known numbers."""
    if a.view and not a.whole:
        return ""
    places = [_value(s, indices, sizes) for s in a.whole or a.subscripts]
    return "" if None in places or not places else f"{a.array}[{', '.join(map(str, places))}]"


def _value(e: eq.Expr, indices: Mapping[str, int], sizes: Mapping[eq.Expr, int]) -> int | None:
    match e:
        case eq.Const(value=int() as value):
            return value
        case eq.Index(name=name):
            return indices.get(name)
        case eq.Op(name=name, args=(x, y)) if name in _ARITHMETIC:
            one, two = _value(x, indices, sizes), _value(y, indices, sizes)
            if one is None or two is None or (two <= 0 and name not in ("add", "sub", "mul")):
                return None
            return _ARITHMETIC[name](one, two)
    return sizes.get(e)


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {  # of numbers that are not negative, as all are here
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "tdiv": operator.floordiv,
    "mod": operator.mod,
    "tmod": operator.mod,
}
