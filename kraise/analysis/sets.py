"""The polyhedral library islpy, asked with a bound and never twice.

A question is a conjunction of constraints in isl's syntax over names ``v0``, ``p0``, …. Constraints that share no name,
however indirectly, are asked apart (a product is empty if one factor is), and names are numbered anew, so that the
parts that many questions have in common are answered once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

import islpy as isl

from kraise.analysis import linear, witnesses

Set = isl.Set
T = TypeVar("T")

_NAME = re.compile(r"\b([vp]\d+)\b")
_OPERATIONS = 5_000_000  # isl's own count (about a second), not a clock: the same answer each time


def bounded(ask: Callable[[], T], otherwise: T) -> T:
    """What ``ask`` gives, ``otherwise`` where isl gives up."""
    isl.DEFAULT_CONTEXT.set_max_operations(_OPERATIONS)
    isl.DEFAULT_CONTEXT.reset_operations()
    try:
        return ask()
    except isl.Error:
        return otherwise


@lru_cache(maxsize=4_000)
def parse(text: str) -> Set | None:
    """The set, None if it takes too long."""
    return bounded(lambda: Set(text), None)


Group = tuple[Sequence[str], Sequence[str]]


def points(groups: Sequence[Group], params: Sequence[str]) -> list[Set]:
    """The sets of points that meet all of the constraints, for each group of these and their variables; raises
    isl.Error where isl gives up."""
    rows = [linear.texts(constraints, variables, params) for constraints, variables in groups]
    known = [found for found in rows if found is not None]
    if len(known) == len(groups):
        pairs = zip(known, groups, strict=True)
        return [Set(linear.union(found, variables, params)) for found, (_, variables) in pairs]
    outer = ", ".join(params)
    return [Set(f"[{outer}] -> {{ [{', '.join(inner)}] : {' and '.join(met) or '1 = 1'} }}") for met, inner in groups]


def contains(outer: Set, inner: Set) -> bool:
    """Whether it is proved that ``inner`` lies within ``outer``."""
    return bounded(lambda: bool(inner.is_subset(outer)), False)


def union(own: Set, others: list[Set]) -> Set:
    """All points of ``own`` and ``others``; those of ``own`` alone where that takes too long."""

    def joined() -> Set:
        out = own
        for other in others:
            out = out.union(other)
        return out.coalesce()

    return bounded(joined, own) if others else own


def downwards(points: Set) -> Set:
    """The points and all from 0 up to them; none where nothing bounds them above (threads of which nobody knows how
    many there are: a launch of so many that all of them exist is none)."""

    none = isl.Set.empty(points.get_space())

    def filled() -> Set:
        below = points.apply(isl.Map("{ [y] -> [x] : 0 <= x <= y }")).coalesce()
        return below if below.remove_divs().dim_has_upper_bound(isl.dim_type.set, 0) else none

    return bounded(filled, none)


def empty(constraints: Iterable[str]) -> bool:
    """Whether it is proved that no integers meet all ``constraints``."""
    return Conjunction().with_all(constraints).empty()


class _Group:
    """Constraints that share names, however indirectly, by their places, and what they were found to be."""

    __slots__ = ("empty", "members", "names")

    def __init__(self, names: frozenset[str], members: list[int]) -> None:
        self.names, self.members = names, members
        self.empty: bool | None = None  # not asked


class Conjunction:
    """Constraints to which more are added: what shares no name with the new ones is neither grouped nor asked again."""

    __slots__ = ("_groups", "_places")

    def __init__(self) -> None:
        self._groups: list[_Group] = []
        self._places: dict[str, int] = {}

    def with_all(self, more: Iterable[str]) -> Conjunction:
        """These constraints and ``more`` of them."""
        out = Conjunction()
        out._groups, out._places = self._groups, self._places.copy()
        for constraint in more:
            if constraint in out._places:
                continue
            names, members = _names(constraint), [len(out._places)]
            out._places[constraint] = members[0]
            apart = []
            for group in out._groups:
                if names.isdisjoint(group.names):
                    apart.append(group)
                else:
                    names |= group.names
                    members += group.members
            out._groups = [*apart, _Group(names, members)]
        return out

    def empty(self) -> bool:
        """Whether it is proved that no integers meet all of them."""
        texts: list[str] = []
        for group in self._groups:
            if group.empty is None:
                texts = texts or [*self._places]
                group.empty = _empty(*_canonical(tuple([texts[at] for at in sorted(group.members)])))
            if group.empty:
                return True
        return False


@lru_cache(maxsize=20_000)
def _split(constraint: str) -> tuple[str, ...]:
    """What stands between the names of a constraint, and in each second place a name."""
    return tuple(_NAME.split(constraint))


@lru_cache(maxsize=20_000)
def _names(constraint: str) -> frozenset[str]:
    return frozenset(_split(constraint)[1::2])


@lru_cache(maxsize=20_000)
def _canonical(group: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The constraints with names numbered in the order in which they come, and these names."""
    numbers: dict[str, str] = {}
    renamed = []
    for constraint in group:
        parts = list(_split(constraint))
        for at in range(1, len(parts), 2):
            name = parts[at]
            known = numbers.get(name)
            if known is None:
                known = numbers[name] = f"{name[0]}{len(numbers)}"
            parts[at] = known
        renamed.append("".join(parts))
    return tuple(renamed), tuple(numbers.values())


@lru_cache(maxsize=20_000)
def _empty(constraints: tuple[str, ...], names: tuple[str, ...]) -> bool:
    if witnesses.met(constraints, names):
        return False
    plain = tuple(c for c in constraints if " or " not in c and "!=" not in c)
    if len(constraints) - len(plain) > 1 and empty(plain):
        return True  # each choice doubles isl's work, and few proofs need them
    rows = linear.texts(constraints, names)
    spelled = f"{{ [{', '.join(names)}] : {' and '.join(constraints)} }}"

    def ask() -> bool:
        for points in (Set(spelled),) if rows is None else map(isl.BasicSet, rows):
            point = points.sample_point()
            if not point.is_void():
                witnesses.keep(point, len(names))
                return False
        return True

    return bounded(ask, False)
