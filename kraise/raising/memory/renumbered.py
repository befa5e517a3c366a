"""A store that several digits number, as a store over the numbers that they are digits of.

Threads in one line that fill a tile in several rounds (``row = t / 8 + o`` with ``o`` in steps of 32) name a row by two
or three digits; whose store fills a given cell is read off the row itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import gcd

from kraise.analysis.conditions import Fact, classify, conjuncts, fact_to_expr
from kraise.analysis.poly import Poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import Unmovable, free_indices, substitute
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawWrite, map_raw
from kraise.raising.threads.tiles import Domain, Launch, merged
from kraise.raising.writes.interleaved import MOST, group, sizes
from kraise.raising.writes.steps import in_ones

_OWN = "$"


def renumbered(raw: RawWrite, kept: frozenset[str]) -> RawWrite | None:
    """``raw`` over fewer indices, each with a name of its own, or None if no two are digits of one number.

    Those in ``kept`` (the blocks, the loops whose round the asking instance shares) stay as they are.
    """
    own = tuple(n for n in raw.loops if n not in kept)
    if len(own) < 2:
        return None
    names: dict[eq.Expr, eq.Expr] = {eq.Index(n, INT): eq.Index(n + _OWN, INT) for n in own}
    try:
        moved = map_raw(raw, lambda e: substitute(e, names))
    except (Unmovable, ValueError):  # what a loop carries exists along the thread's own index only
        return None
    assert isinstance(moved, RawWrite)
    own = tuple(n + _OWN for n in own)
    moved = in_ones(replace(moved, loops=own))
    path = tuple(dict.fromkeys(c for p in moved.path for c in conjuncts(_lowest(p))))
    found = merged(Domain(own, path, (*moved.subscripts, moved.value)), Launch())
    if len(found.names) == len(own):
        return None
    *subs, value = found.values
    others = tuple(n for n in raw.loops if n in kept)
    return replace(moved, loops=(*others, *found.names), path=found.path, subscripts=tuple(subs), value=value)


def as_one(cx: Context, raws: Sequence[Raw], kept: frozenset[str]) -> RawWrite | None:
    """The last of ``raws``, which follow each other in one array, together with those right before it, renumbered,
    where they are one store: the members of a vector that go to neighbouring places, or one row apart (``s[4 * c +
    1][r] = v.y``)."""
    stores = [renumbered(r, kept) or r for r in raws if isinstance(r, RawWrite)]
    for at in range(len(stores) - 1):
        if len(stores) - at not in sizes(stores, at):
            continue
        found = group(cx, stores, at, frozenset(), Launch())
        if found is not None and at + found[1] == len(stores):
            return renumbered(found[0], kept)
    return None


def readings(cx: Context, raws: Sequence[Raw], kept: frozenset[str]) -> Iterator[RawWrite | None]:
    """The last of ``raws`` over fewer indices, and together with those before it: each is made once, whatever cell is
    asked for."""
    last = raws[-1]
    assert isinstance(last, RawWrite)
    start = len(raws) - 1
    while start and len(raws) - start < MOST and _follows(raws[start - 1], last):
        start -= 1
    group = tuple(raws[start:])
    for some, make in (((last,), lambda: renumbered(last, kept)), (group, lambda: as_one(cx, group, kept))):
        if some is group and len(group) < 2:
            continue
        key = tuple(map(id, some)), kept
        if key not in cx.readings:
            cx.readings[key] = some, make()  # with the stores, so that their identities stay theirs
        yield cx.readings[key][1]


def _follows(r: Raw, last: RawWrite) -> bool:
    return isinstance(r, RawWrite) and r.after.array == last.after.array and r.loops == last.loops


def _lowest(condition: eq.Expr) -> eq.Expr:
    """``32 * k < 128`` as ``k < 4``."""
    fact = classify(condition)
    if fact is None or fact.kind != "ge":
        return condition
    by = gcd(*(c for m, c in fact.poly.terms.items() if m))
    return condition if by < 2 else fact_to_expr(Fact("ge", Poly({m: c // by for m, c in fact.poly.terms.items()})))


def digits_of(one: RawWrite) -> tuple[eq.Expr, ...]:
    """What ``one``, a renumbered store, says of single numbers: only if all of it holds is the instance that these
    numbers name the one that fills the cell."""
    return tuple(c for c in one.path if len(free_indices(c)) == 1 and all(n.endswith(_OWN) for n in free_indices(c)))


__all__ = ["digits_of", "readings", "renumbered"]
