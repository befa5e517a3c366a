"""Threads that do several elements each, whose number a guard on the elements bounds: ``for (k = 4 * t; k < min(4 * t +
4, n); k++)``.

Each element is one thread's, so a launch with more threads does no more, and is taken to cover the guarded range.
"""

from __future__ import annotations

from kraise.analysis.boxes import Unbounded, box
from kraise.analysis.conditions import Fact, classify, is_static
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.raising.run.state import RawWrite
from kraise.raising.threads import tiles


def elements_bounded(raw: RawWrite, own: tuple[str, ...]) -> bool:
    """Whether the threads' indices are digits of an element's (``4 * i + j`` with 0 <= j < 4) that a guard bounds."""
    found = tiles.merged_write(raw, tiles.Launch())
    if left := {*own} & {*found.loops}:
        return all(any(_numbered(raw, n, d) for d in raw.loops if d not in own) for n in left)
    try:
        box(found.loops, found.path)
    except Unbounded:
        return False
    return True


def _numbered(r: RawWrite, q: str, d: str) -> bool:
    """Whether the write is under a bound on ``c * q + d``, the number of an element, with 0 <= d < c."""
    big, small = eq.Index(q, INT), eq.Index(d, INT)
    facts = {f for c in r.path if (f := classify(c)) is not None and f.kind == "ge"}
    for f in facts:
        size = -f.poly.coefficient(big)
        rest = f.poly.without(big)
        if not size.terms or rest.coefficient(small).value != -1 or not is_static(rest.without(small)):
            continue
        whole = (size.value is None or size.value > 1) and is_static(size)
        if whole and Fact("ge", to_poly(small)) in facts and Fact("ge", size - to_poly(small) - 1) in facts:
            return True
    return False


__all__ = ["elements_bounded"]
