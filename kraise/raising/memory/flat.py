"""Digits put together again: element (row, column) of rows of n as the flat subscript ``row * n + column``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.raising.run.arithmetic import index_like


def flattened(read: eq.Read, tail: int = 0) -> eq.Read:
    """The load with its digits put together again: one flat subscript, and those of the ``tail`` last axes."""
    return eq.Read(read.version, flat(read.subscripts, read.view, tail), read.type, (), read.safe)


def flat(subs: tuple[eq.Expr, ...], view: tuple[eq.Expr, ...], tail: int) -> tuple[eq.Expr, ...]:
    stop = len(subs) - tail
    total = to_poly(subs[0])
    for s, radix in zip(subs[1:stop], view[1:stop], strict=True):
        total = total * to_poly(radix) + to_poly(s)
    return (to_expr(total), *subs[stop:])


def same_place(
    places: Iterable[tuple[str, tuple[eq.Expr, ...]]], array: str, subs: tuple[eq.Expr, ...]
) -> Iterator[tuple[eq.Expr, ...]]:
    """Those of the subscripts of an array that are ``subs``, however their sums are written."""
    for a, found in places if subs else ():
        if a == array and found[1:] == subs[1:] and index_like(found[0]) and to_poly(found[0]) == to_poly(subs[0]):
            yield found


__all__ = ["flat", "flattened", "same_place"]
