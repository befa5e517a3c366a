"""The numbers that inferred cases take for sizes, and the extents of arrays that go with them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from kraise.ir import kernel as k
from kraise.verify.facts import walk
from kraise.verify.launches import Triple

PRIMES = (7, 11, 5, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
FEW = (2, 5, 6, 3)  # where the product of all sizes is the number of threads


def primes_for(block: Triple) -> Iterator[int]:
    """Sizes: small distinct primes, every other one above the block where that is not too large."""
    small = [p for p in PRIMES if p < 16]
    large = [p for p in PRIMES if max(block) < p < 50]
    mixed = [p for pair in zip(large, small, strict=False) for p in pair] if 8 <= max(block) <= 32 else small
    return itertools.cycle(dict.fromkeys((*mixed, *PRIMES)))


def rounded(extent: int, sizes: set[int], flat: bool) -> int:
    """The extent that an axis gets which needs ``extent``: the next size, or (``flat``) product of sizes, if near.

    A stencil that leaves the rim alone touches a little less than the array that its author had in mind.
    """
    near = 1.4 * extent if flat else extent + 2
    chosen = (c for n in (1, 2, 3) for c in itertools.combinations_with_replacement(sorted(sizes), n))
    products = set(map(math.prod, chosen))
    above = [p for p in (products if flat else sizes) if extent <= p <= near]
    return min(above) if above and extent > 4 else extent


def launched(function: k.Function, grid: Triple, block: Triple) -> set[int]:
    """How many threads there are along the axes whose number a source asks for: as long as a row of the launch."""
    axes = {n.axis for n in walk(function.body) if isinstance(n, k.Hw) and n.kind == "gridDim"}
    return {n for axis in axes if (n := grid[axis] * block[axis]) > 2}


def pitches(function: k.Function) -> set[int]:
    """The numbers that rows have as their length (``a[i * 1024 + j]``): what a source multiplies by, within reason."""
    factors = (a for n in walk(function.body) if isinstance(n, k.Op) and n.name == "mul" for a in n.args)
    return {a.value for a in factors if isinstance(a, k.Const) and type(a.value) is int and 2 < a.value <= 4096}
