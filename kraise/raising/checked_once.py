"""``--checked``: that no two threads store to one element of an array of which that was declared.

Beside each such store, one that counts: after it no element may have been stored to twice.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, INT32
from kraise.ir.walk import statements


def with_counts(kernel: eq.Kernel, arrays: Collection[str]) -> eq.Kernel:
    """The kernel with the checks of its stores to ``arrays``; those in loops are not checked, and that is said."""
    out: list[eq.Stmt] = []
    last: dict[str, eq.Version] = {}
    notes: dict[str, None] = {}
    for s in kernel.body:
        out.append(s)
        if isinstance(s, eq.Write) and _stored(s, arrays):
            out += _counted(s, last)
        elif isinstance(s, eq.Fold):
            for w in statements(s.body):
                if isinstance(w, eq.Write) and _stored(w, arrays):
                    notes[f"Not checked: that {_said(w.after.array)}"] = None
    return replace(kernel, body=tuple(out), notes=(*kernel.notes, *notes))


def _said(array: str) -> str:
    return f"no two threads store to one element of {array}"


def _stored(s: eq.Write, arrays: Collection[str]) -> bool:
    return s.after.array in arrays and not s.accumulate


def _counted(s: eq.Write, last: dict[str, eq.Version]) -> list[eq.Stmt]:
    array = s.after.array
    out: list[eq.Stmt] = []
    dims = 1 if s.view else len(s.subscripts)
    shape = tuple(eq.Shape(array, d, INT) for d in range(dims))
    zero, one = eq.Const(0, INT32), eq.Const(1, INT32)
    if array not in last:
        last[array] = eq.Version(f"stores_to_{array.replace('.', '_')}", 0)
        out.append(eq.New(last[array], INT32, shape, zero, span=s.span))
    before = last[array]
    after = last[array] = eq.Version(before.array, before.number + 1)
    out.append(replace(s, before=before, after=after, value=one, accumulate="add", covers=False))
    places = tuple(eq.Index(f"c{d}", INT) for d in range(dims))
    axes = tuple(eq.Axis(i.name, eq.Const(0, INT), n) for i, n in zip(places, shape, strict=True))
    few = eq.Op("le", (eq.Read(after, places, INT32), one), BOOL)
    out.append(
        eq.Check(f"two threads store to one element of {array}", eq.Reduce("and", axes, few, None, BOOL), span=s.span)
    )
    return out


__all__ = ["with_counts"]
