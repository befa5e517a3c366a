"""Where an access certainly leaves its array: a point for each choice of the sizes, asked of islpy."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from kraise.analysis import sets
from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly
from kraise.analysis.space import Space
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices

LARGE = 2  # sizes below it may be special: a range of one element has no neighbours
FULL = 1024  # as many elements as a block has threads at most


def witness(
    a: Access,
    place: Poly,
    outside: Poly,
    launch: tuple[eq.Expr, ...],
    threads: tuple[str, ...],
    least: int = LARGE,
    everywhere: bool = False,
) -> dict[str, int] | None:
    """Values of indices and sizes with ``outside >= 0``, if all sizes from ``least`` on have such; "" is the
    subscript's own value. What only the subscript names is a size, too, where they are ``FULL``. ``everywhere``: sizes
    for which the path lets nothing through have none, too."""
    space = Space()
    names = frozenset().union(*(free_indices(c) for c in (*a.path, *a.subscripts)))
    space.path((*a.path, *(c for c in launch if free_indices(c) & names)), {})
    sizes = list(space.params.values())
    text, at = space.poly(outside, {}), space.poly(place, {})
    if space.dropped or text is None or at is None:
        return None
    if least == FULL:
        sizes = list(space.params.values())
    where = [*space.constraints, f"at = {at}", *(f"{p} >= {least}" for p in sizes)]
    if everywhere and not all(isinstance(key, eq.Param | eq.Shape) for key in space.params):
        return None
    large = [f"{p} >= {least}" for p in sizes] if everywhere else None
    point = sets.bounded(lambda: _point(space, where, f"{text} >= 0", threads, large), None)
    if point is None:
        return None
    return _values(space, point, names)


@dataclass(frozen=True)
class Some:
    """Sizes for which an access leaves its array, none below zero: ``values`` of one such launch, "" that of the
    subscript, and ``sizes``, all of them, with a name for each size."""

    values: dict[str, int]
    sizes: isl.Set
    params: dict[object, str]

    def spared_by(self, inside: Poly) -> bool:
        """Whether they are the sizes for which ``inside >= 0`` does not hold, but for some of which one is 0: there
        may be nothing then that leaves."""
        space = Space(dict(self.params))
        text = space.poly(inside, {})
        if text is None or len(space.params) > len(self.params):
            return False
        names = ", ".join(self.params.values())
        all_ = " and ".join(f"{p} >= 0" for p in self.params.values())
        others = isl.Set(f"[{names}] -> {{ : {text} < 0 and {all_} }}")
        some = isl.Set(f"[{names}] -> {{ : {all_.replace('>= 0', '>= 1')} }}")
        return sets.bounded(
            lambda: bool(self.sizes.is_subset(others) and others.intersect(some).is_subset(self.sizes)), False
        )


def somewhere(a: Access, place: Poly, outside: Poly, launch: tuple[eq.Expr, ...]) -> Some | None:
    """The sizes for which there is a point with ``outside >= 0``; None if there are none, or that is not known."""
    space = Space()
    names = frozenset().union(*(free_indices(c) for c in (*a.path, *a.subscripts)))
    space.path((*a.path, *(c for c in launch if free_indices(c) & names)), {})
    text, at = space.poly(outside, {}), space.poly(place, {})
    plain = all(isinstance(key, eq.Param | eq.Shape) for key in space.params)
    if space.dropped or space.products or not plain or text is None or at is None:
        return None
    where = [*space.constraints, f"at = {at}", f"{text} >= 0", *(f"{p} >= 0" for p in space.params.values())]
    params, variables = ", ".join(space.params.values()), ", ".join([*space.variables.values(), "at"])
    points = sets.parse(f"[{params}] -> {{ [{variables}] : {' and '.join(where)} }}")
    point = None if points is None else sets.bounded(points.sample_point, None)
    if points is None or point is None or point.is_void():
        return None
    sizes = sets.bounded(points.params, None)
    return None if sizes is None else Some(_values(space, point, names), sizes, space.params)


def _values(space: Space, point: isl.Point, names: frozenset[str]) -> dict[str, int]:
    value = lambda kind, n: point.get_coordinate_val(kind, n).to_python()  # noqa: E731
    out = {name: value(isl.dim_type.set, n) for n, name in enumerate(space.variables)}
    out = {name: v for name, v in out.items() if name in names and not name.startswith("$")}
    for n, key in enumerate(space.params):
        if isinstance(key, eq.Param):
            out[key.name] = value(isl.dim_type.param, n)
        elif isinstance(key, eq.Shape):
            out[f"{key.array}.shape[{key.axis}]"] = value(isl.dim_type.param, n)
    return out | {"": value(isl.dim_type.set, len(space.variables))}


def always(
    domain: tuple[eq.Expr, ...], part: tuple[eq.Expr, ...], launch: tuple[eq.Expr, ...], threads: tuple[str, ...]
) -> bool:
    """Whether each choice of large sizes has an instance in ``domain`` that meets ``part``, too."""
    space = Space()
    names = frozenset().union(*map(free_indices, (*domain, *part)))
    space.path((*domain, *(c for c in launch if free_indices(c) & names)), {})
    kept = len(space.constraints)
    space.path(part, {})
    if space.dropped or space.products:
        return False
    where = [*space.constraints[:kept], "at = 0", *(f"{p} >= {FULL}" for p in space.params.values())]
    inside = " and ".join(space.constraints[kept:]) or "at = 0"
    return sets.bounded(lambda: _point(space, where, inside, threads), None) is not None


def _point(
    space: Space, where: list[str], outside: str, threads: tuple[str, ...], large: list[str] | None = None
) -> isl.Point | None:
    """The first point outside, if each choice of the sizes has one: each that has a point at all, or each ``large``."""
    variables, params = [*space.variables.values(), "at"], list(space.params.values())
    groups: list[sets.Group] = [(where, variables), ([outside], variables)]
    domain, beyond, *given = sets.points([*groups, *([] if large is None else [(large, ())])], params)
    instances = domain.project_out(isl.dim_type.set, len(space.variables), 1)
    for n, name in enumerate(space.variables):
        if name in threads and not instances.dim_has_upper_bound(isl.dim_type.set, n):
            domain = domain.fix_val(isl.dim_type.set, n, isl.Val(0))  # of a launch of any size, thread 0 is sure
    leaving = domain.intersect(beyond)
    sizes = given[0].params() if given else domain.params()
    if leaving.is_empty() or not sizes.is_subset(leaving.params()):
        return None
    return leaving.lexmin().sample_point()
