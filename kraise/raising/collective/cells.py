"""Which cells the threads of a block of known size touch, thread by thread."""

from __future__ import annotations

import numpy as np

from kraise.analysis.dependence import Access
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.raising.collective.frame import frame, numbers
from kraise.raising.run.context import Context


def touched(cx: Context, a: Access) -> list[tuple[int, tuple[int, ...]]] | None:
    """Thread and cell of every instance of the access in one block, conditions on data left out; None if that is not
    decided by the thread's number."""
    key = (a.subscripts, a.path)
    if key not in cx.touched:
        cx.touched[key] = _touched(cx, a)
    return cx.touched[key]


def _touched(cx: Context, a: Access) -> list[tuple[int, tuple[int, ...]]] | None:
    found = frame(cx)
    size = None if found is None else to_poly(found.extent).value
    if found is None or found.rows or size is None or not 0 < size <= 1024:
        return None
    on = np.ones(size, dtype=bool)
    for c in a.path:
        holds = numbers(found, c, size)
        if holds is not None:
            on &= holds.astype(bool)
    cells = []
    for s in a.subscripts:
        if isinstance(s, eq.Index) and s.name in cx.blocks:
            continue
        at = numbers(found, s, size)
        if at is None:
            return None
        cells.append(at)
    return [(int(t), tuple(int(c[t]) for c in cells)) for t in np.nonzero(on)[0]]
