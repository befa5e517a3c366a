"""Accesses that are one block's share of those that all blocks make: ``x[t]`` of ``x[4 * block + t]`` where only the
first block comes to a statement (a store to one cell); or that are made by their index under another name (those of a
reduction over what a block's threads have stored)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import Unmovable, substitute

Path = frozenset[eq.Expr]
Subscripts = tuple[eq.Expr, ...]


def of_one_block(executed: Mapping[tuple[str, Subscripts], list[Path]], array: str, subs: Subscripts) -> list[Path]:
    """The paths of the accesses of which this one is the first block's, as that block goes them."""
    out: list[Path] = []
    for (name, others), paths in executed.items():
        if name != array or len(others) != len(subs):
            continue
        for mapping in _first_block(others, subs):
            try:
                if all(to_poly(substitute(a, mapping)) == to_poly(b) for a, b in zip(others, subs, strict=True)):
                    out += [frozenset(substitute(c, mapping) for c in p) for p in paths]
            except Unmovable:  # a loop's result has no value for one block
                continue
    return out


def _first_block(subs: Subscripts, one: Subscripts) -> Iterator[dict[eq.Expr, eq.Expr]]:
    """What may make ``one`` of ``subs``: the block is the first, and its threads may have another index there."""
    many, few = ([a for s in e for a in to_poly(s).atoms() if isinstance(a, eq.Index)] for e in (subs, one))
    blocks = [a for a in dict.fromkeys(many) if a not in few]
    threads = [a for a in dict.fromkeys(few) if a not in many]
    if len(blocks) == len(threads) == 1:
        yield {blocks[0]: threads[0]}
    if len(blocks) != 1 + len(threads) or len(threads) > 1:
        return
    for block in blocks:
        yield {block: eq.Const(0, INT), **{lane: threads[0] for lane in blocks if lane is not block}}
