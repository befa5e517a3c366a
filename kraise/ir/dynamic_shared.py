"""Shared memory whose size the launch says: whether a result depends on the size, and what its elements are."""

from __future__ import annotations

from math import prod

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rename import within
from kraise.ir.types import INT
from kraise.ir.walk import statement_expressions, topological


def asks_for_size(kernel: eq.Kernel) -> bool:
    """Whether the size of the dynamic shared memory matters."""
    wanted = eq.Param("shared", INT)
    return any(n is wanted for s in kernel.body for n in topological(statement_expressions(s)))


def element_bytes(function: k.Function) -> int:
    """The bytes of an element of the dynamic shared memory of a kernel (a struct has an array for each member), 1 where
    it has none."""
    sizes = [
        max((a.element.bits or 8) // 8, 1)
        for a in within(function.body, k.LocalArray)
        if a.dynamic and a.space == "shared"
    ]
    if len(sizes) < 2:
        return sizes[0] if sizes else 1
    end = 0
    for size in sizes:
        end += -end % size + size
    return end + -end % max(sizes)


def element_width(function: k.Function) -> int:
    """How many numbers an element of the first dynamic shared array of a kernel is: 4 of ``float4``."""
    found = [a.shape for a in within(function.body, k.LocalArray) if a.dynamic and a.space == "shared"]
    return prod(int(n.value.real) for n in found[0] if isinstance(n, k.Const)) if found else 1
