"""What rides along with an extremum: ``if (w > v) { v = w; at = wat; }`` in a simulation.

The extremum itself is a sum of marks (:mod:`.marks`). What was chosen together with it is a :class:`Pick`: the data
among which the choice was, in the order in which a tie prefers them. A pick gets a mark of its own, so shuffles, stores
and loads carry it as they carry any datum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from kraise.ir import kernel as k
from kraise.ir.operations import TURNED
from kraise.ir.types import ScalarType
from kraise.raising.collective.marks import Beyond, Combined, Compared, Tie, Value, marks

_PICKS = 1 << 21  # the family of picks
_MOST, _ALL = 4096, 1 << 14
THREAD = "$thread"  # the family of the threads' own numbers


@dataclass(frozen=True)
class Pick:
    """The datum of ``family`` where that of ``key`` is the extremum (``op``) of the ``items``: of several, the first
    of them (``tie`` "first"), or the one with the least or the greatest datum of ``family`` ("min", "max")."""

    family: str
    key: str
    op: str
    tie: str
    items: tuple[int, ...]


Datum = tuple[str, tuple[int, ...]]  # a family, and one item
Mark = tuple[int, int]


class Picks:
    """The part of a simulation that knows of picks."""

    size: int
    families: dict[str, int]
    env: dict[str, Value]
    entry: Callable[[str], np.ndarray | None]
    known_picks: dict[tuple[int, int], Pick]
    interned: dict[Pick, tuple[int, int]]

    def value(self, e: k.Expr, on: np.ndarray) -> Value:
        raise NotImplementedError

    def count_of(self, family: str) -> int:
        """How many data there are of a family."""
        raise NotImplementedError

    def tied(self, first: Compared, rest: k.Expr, on: np.ndarray) -> Value:
        """``b > a || (b == a && ib < ia)``, of which ``first`` is the first part.

        Raises:
            Beyond: it is not of this shape.
        """
        match rest:
            case k.Op(name="and", args=(k.Op(name="eq", args=(x, y)), k.Op(name=name, args=(p, q)))):
                pass
            case _:
                raise Beyond("data decide")
        one, two = self.value(x, on), self.value(y, on)
        if first.name not in ("lt", "gt") or first.tie or name not in TURNED:
            raise Beyond("data decide")
        if not isinstance(one, Combined) or not isinstance(two, Combined):
            raise Beyond("data decide")
        if not any(alike(one, a, on) and alike(two, b, on) for a, b in ((first.a, first.b), (first.b, first.a))):
            raise Beyond("data decide")
        return Compared(first.name, first.a, first.b, Tie(name, self.value(p, on), self.value(q, on)))

    def ride(self, c: Compared, new: Value, old: Value, on: np.ndarray, name: str, t: ScalarType) -> Combined:
        """``new if c else old`` of what was chosen together with the keys that are compared; ``name`` is the local.

        Raises:
            Beyond: it was not chosen together with them.
        """
        least = self._least(c.tie, new, old, on) if c.tie else False
        base = self._entered(name) if isinstance(new, np.ndarray) or isinstance(old, np.ndarray) else None
        threads = [int(thread) for thread in np.nonzero(on)[0]]
        compared, by = _by_thread(c.a, on), _by_thread(c.b, on)
        pairs: list[tuple[Pick, Pick]] = []
        for thread, a, b, x, y in zip(threads, compared, by, _by_thread(new, on), _by_thread(old, on), strict=True):
            keys = self._key(c.a, a), self._key(c.b, b)
            one = self._rider(new, x, thread, name, base, keys)
            pairs.append((one, self._rider(old, y, thread, name, base, keys)))
        for first, second, greater in (
            ((c.a, compared), (c.b, by), c.name in ("gt", "ge")),
            ((c.b, by), (c.a, compared), c.name in ("lt", "le")),
        ):
            op = "max" if greater else "min"
            picks: list[Pick] = []
            for (one, two), mine, others in zip(pairs, first[1], second[1], strict=True):
                pick = self._merged(c, (one, first[0].op, mine), (two, second[0].op, others), op, least)
                if pick is None:
                    break
                picks.append(pick)
            else:
                out = np.zeros((2, self.size), dtype=np.uint64)
                for thread, pick in zip(threads, picks, strict=True):
                    out[0, thread], out[1, thread] = self._mark(pick)
                return Combined("", out, t)
        raise Beyond("data decide")

    def _least(self, tie: Tie, new: Value, old: Value, on: np.ndarray) -> bool:
        """Whether a tie takes the lesser of what rides along (or the greater)."""
        threads = [int(t) for t in np.nonzero(on)[0]]
        forward = all(_holds(tie.a, new, t) and _holds(tie.b, old, t) for t in threads)
        backward = all(_holds(tie.a, old, t) and _holds(tie.b, new, t) for t in threads)
        if forward == backward:
            raise Beyond("a tie that something else decides")
        return (tie.name in ("lt", "le")) == forward

    def _merged(
        self, c: Compared, one: tuple[Pick, str, Mark], two: tuple[Pick, str, Mark], op: str, least: bool
    ) -> Pick | None:
        """The pick of two, the new one and the old, each with what was compared of it (how it is combined, and its
        mark); where both are equal, in ties ``least`` says which. None if these are not theirs."""
        (new, mine, mark), (old, others, other) = one, two
        key = new.key or old.key or ("" if mine else self._known_datum(mark)[0])
        if not {new.op, old.op} <= {"", op} or new.family != old.family:
            return None
        if not self._sum(key, new, op, mine, mark) or not self._sum(key, old, op, others, other):
            return None
        tie, items = "first", old.items + new.items if c.name in ("lt", "gt") else new.items + old.items
        if c.tie is not None:
            tie, items = "min" if least else "max", tuple(sorted(items))
        if {p.tie for p in (new, old) if len(p.items) > 1} - {tie} or len(items) > _MOST:
            return None
        return Pick(new.family, key, op, tie, items)

    def _sum(self, key: str, p: Pick, op: str, held: str, mark: Mark) -> bool:
        """Whether what is ``held``, combined so, is the extremum of the pick's items of ``key``."""
        if (
            key not in self.families
            or held not in ("", op)
            or p.key not in ("", key)
            or (not held and len(p.items) > 1)
        ):
            return False
        return _total(self.families[key], self.count_of(key), p.items) == mark

    def _key(self, held: Combined, mark: Mark) -> Datum:
        """The one datum that a thread compares; no item if it is a combination."""
        return ("", ()) if held.op else self._known_datum(mark)

    def _known_datum(self, mark: Mark) -> Datum:
        found = self._datum_of(mark)
        if found is None:
            raise Beyond("data decide")
        return found

    def _rider(
        self, v: Value, mark: Mark, thread: int, name: str, base: np.ndarray | None, keys: tuple[Datum, Datum]
    ) -> Pick:
        """What a thread holds of what rides along, as a pick."""
        if isinstance(v, Combined) and not v.op:
            if mark in self.known_picks:
                return self.known_picks[mark]
            found = self._datum_of(mark)
            if found is not None:
                return Pick(found[0], "", "", "first", found[1])
        if isinstance(v, np.ndarray):  # numbers: those of the threads that the keys are of
            number = int(v[thread])
            for _, items in keys:
                if base is not None and items and items[0] < self.size and base[items[0]] == number:
                    return Pick(self._numbered(name), "", "", "first", items)
            if base is None and any(items == (number,) for _, items in keys):
                return Pick(self._numbered(THREAD), "", "", "first", (number,))
        raise Beyond("data decide")

    def _entered(self, name: str) -> np.ndarray | None:
        """The numbers that a local holds before the run, by thread."""
        try:
            return self.entry(name) if name else None
        except Beyond:
            return None

    def _numbered(self, family: str) -> str:
        self.families.setdefault(family, len(self.families))
        return family

    def _mark(self, p: Pick) -> tuple[int, int]:
        if p not in self.interned:
            known = _family(_PICKS, _ALL)
            if len(self.interned) == len(known):
                raise Beyond("too long")
            mark = self.interned[p] = known[len(self.interned)]
            self.known_picks[mark] = p
        return self.interned[p]

    def _datum_of(self, mark: Mark) -> Datum | None:
        for family, number in self.families.items():
            at = _places(number, self.count_of(family)).get(mark)
            if at is not None:
                return family, (at,)
        return None


def _mark_of(held: Combined, thread: int) -> Mark:
    return int(held.marks[0, thread]), int(held.marks[1, thread])


def _by_thread(v: Value, on: np.ndarray) -> list[Mark]:
    """The mark that each thread that is on holds; that of nothing where these are no data."""
    if not isinstance(v, Combined):
        return [(0, 0)] * int(on.sum())
    low, high = v.marks[:, on].tolist()
    return list(zip(low, high, strict=True))


@cache
def _family(number: int, count: int) -> list[tuple[int, int]]:
    low, high = _table(number, count).tolist()
    return list(zip(low, high, strict=True))


_table = cache(marks)


@lru_cache(1 << 14)
def _total(number: int, count: int, items: tuple[int, ...]) -> tuple[int, int]:
    """The mark of the sum of some data of a family. (Many threads hold the same ones.)"""
    own, at = _table(number, count), np.array(items, dtype=np.intp)
    return int(own[0, at].sum()), int(own[1, at].sum())


@cache
def _places(number: int, count: int) -> dict[tuple[int, int], int]:
    return {mark: n for n, mark in enumerate(_family(number, count))}


def _holds(v: Value, w: Value, thread: int) -> bool:
    """Whether a thread has the same in both."""
    if isinstance(v, np.ndarray) and isinstance(w, np.ndarray):
        return bool(v[thread] == w[thread])
    if isinstance(v, Combined) and isinstance(w, Combined):
        return _mark_of(v, thread) == _mark_of(w, thread)
    return False


def alike(a: Combined, b: Combined, on: np.ndarray) -> bool:
    """Whether the threads that are on have the same in both."""
    return bool(np.array_equal(a.marks[:, on], b.marks[:, on]))


__all__ = ["THREAD", "Pick", "Picks", "alike"]
