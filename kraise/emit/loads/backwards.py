"""Loads from the last element to the first of what was stored with one number, which XLA does not survive.

``z.at[:n].multiply(c)[::-1]``, with ``add`` or ``set``, too, and a number ``c``, ends the process where n is the length
of z (jaxlib 0.10.2, CPU: "Invalid binary instruction opcode map" in AlgebraicSimplifier::HandleReverse). A gather by
``n - 1 - i`` is another operation.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraise.emit import tree
from kraise.emit.context import Context
from kraise.emit.loads.dims import Dim, Range
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices


def of_one_number(context: Context, version: eq.Version, dims: Sequence[Dim]) -> bool:
    """Whether the load is a slice backwards, of what a store left with one number for all of its cells."""
    if not any(isinstance(d, Range) and d.backward for d in dims):
        return False
    writes = (s for s in tree.statements(context.kernel.body) if isinstance(s, eq.Write) and s.after == version)
    return any(w.where is None and not w.covers and not _moving(w) for w in writes)


def _moving(write: eq.Write) -> bool:
    """Whether what is stored, or combined with the cells, differs from cell to cell."""
    match write.value:
        case eq.Op(name="add" | "sub" | "mul" | "div" | "min" | "max", args=args) if not write.accumulate:
            own = [a for a in args if isinstance(a, eq.Read) and a.subscripts == write.subscripts]
            rest = [a for a in args if a not in own]
            return any(free_indices(a) for a in (rest if own else args))
    return bool(free_indices(write.value))


__all__ = ["of_one_number"]
