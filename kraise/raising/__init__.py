"""Kernel IR to equations: see :func:`kraise.raising.best.raise_function`."""

import sys

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.options import Options
from kraise.raising import best

DEEPEST = 5_000


def raise_function(
    module: k.Module, function: k.Function, options: Options, rounds: tuple[eq.Axis, ...] = ()
) -> eq.Kernel:
    """:func:`kraise.raising.best.raise_function`, with room for long chains of operations, which nest deeply."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEEPEST))
    try:
        return best.raise_function(module, function, options, rounds)
    finally:
        sys.setrecursionlimit(limit)


__all__ = ["raise_function"]
