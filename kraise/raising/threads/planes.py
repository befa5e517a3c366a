"""Blocks that are numbered by two indices: ``n = blockIdx.z / K, k = blockIdx.z % K``, and nothing but the launch says
how many there are.

The index is taken apart into n and k only if there are whole rows of K blocks: then n is below ``gridDim.z / K``. The
emitted function checks that K divides the number of blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.raising.run.arithmetic import operation
from kraise.raising.run.context import Context


def of_digit(cx: Context, splits: Sequence[tuple[str, eq.Expr]], digit: str) -> tuple[str, eq.Param] | None:
    """The index of a block of which ``digit`` is the leading one, which nothing bounds, and the size that it is divided
    by, where nothing else divides it."""
    name = cx.digits.get(digit, "").removesuffix("_high")
    sizes = [size for index, size in splits if index == name]
    alone = cx.extents.get(name) == ("gridDim",) and len(sizes) == 1
    return (name, sizes[0]) if alone and isinstance(sizes[0], eq.Param) else None


def whole_planes(cx: Context, name: str, blocks: eq.Param) -> eq.Expr:
    """How many blocks there are along an axis of which ``name`` is the index: so many rows of them, which is demanded,
    where they are taken to be whole."""
    size = cx.planes.get(name)
    if size is None:
        return blocks
    one, zero = eq.Const(1, INT), eq.Const(0, INT)
    rest = eq.Op("mod", (blocks, operation("max", (size, one), INT)), INT)
    said = f"{blocks.name} must be a multiple of {render_expr(size)}"
    cx.checks.append((eq.Op("eq", (rest, zero), BOOL), said))
    return operation("mul", (size, eq.Op("floordiv", (blocks, size), INT)), INT)


def written(s: eq.Write, extent: str) -> tuple[int, eq.Expr] | None:
    """The subscript of a store that runs over the rows of so many blocks, and how many are in each."""
    for a in s.axes:
        match a.hi:
            case eq.Op(name="floordiv", args=(eq.Param(name=name), eq.Param() as size)) if name == extent:
                at = [d for d, sub in enumerate(s.subscripts) if sub == eq.Index(a.name, INT)]
                return (at[0], size) if at else None
    return None


__all__ = ["of_digit", "whole_planes", "written"]
