"""Sizes of the launch: a launch has at least one block, and a block at least one thread."""

from __future__ import annotations

from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq

KINDS = ("block", "grid", "threads", "warps")


def is_extent(e: eq.Expr) -> bool:
    """Whether ``e`` is an extent of the launch."""
    return isinstance(e, eq.Param) and "." in e.name and e.name.split(".")[0] in KINDS


def at_least_one(count: eq.Expr) -> bool:
    """Whether ``count`` is a positive number, or one made of extents of the launch."""
    poly = to_poly(count)
    if poly.value is not None:
        return poly.value >= 1
    return all(c > 0 and all(map(is_extent, m)) for m, c in poly.terms.items())


def has_a_thread(condition: eq.Expr) -> bool:
    """Whether a condition is that an extent of the launch is not zero: where a thread runs, its block has one."""
    match condition:
        case eq.Op(name="lt", args=(low, extent)) if extent.type.is_integer:
            return at_least_one(to_expr(to_poly(extent) - to_poly(low)))
    return False


__all__ = ["at_least_one", "has_a_thread", "is_extent"]
