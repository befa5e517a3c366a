"""Blocks that take one row after another: ``for (row = blockIdx.x; row < rows; row += gridDim.x)`` around barriers.

Where a round tells the next one nothing, it is all the same whether a block takes the rows ``b``, ``b + gridDim``, …,
or there is a block for each row: the loop becomes a guard on the block's index (Kernel IR to Kernel IR), and how many
blocks there are no longer matters. The side conditions: nothing else in the kernel looks at the block's index or the
grid along that axis; no local and no array of the kernel's own is used in the loop and outside of it, or carries
a value from round to round; a barrier parts what two rounds do to the shared arrays, without which they would race.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import BOOL
from kraise.raising.loops.distributed import carried_by
from kraise.raising.run.calls import called


def one_row_each(module: k.Module, function: k.Function) -> tuple[k.Function, frozenset[int]]:
    """``function`` with such loops as guards, and the axes along which they ran."""
    axes: set[int] = set()
    functions = {f.name: f for f in module.functions}
    helpers = [functions[c].body for c in called(module, function) if c in functions]
    while True:
        body = _rewritten(function.body, function, helpers, axes)
        if body is None:
            return function, frozenset(axes)
        function = replace(function, body=body)


def _rewritten(
    body: tuple[k.Stmt, ...], function: k.Function, helpers: list[tuple[k.Stmt, ...]], axes: set[int]
) -> tuple[k.Stmt, ...] | None:
    """``body`` with the loop that ends it, or ends the branch that ends it, as a guard; None if there is none."""
    *before, last = body if body else (None,)
    match last:
        case k.For(start=k.Hw(kind="block", axis=axis) as block, step=k.Hw(kind="gridDim", axis=other)) if (
            axis == other
        ):
            if not _fit(last, axis, function, helpers):
                return None
            axes.add(axis)
            row = k.Assign(last.var, block, last.type, span=last.span)
            guard = k.Op("lt", (k.Var(last.var, last.type, span=last.span), last.stop), BOOL, span=last.span)
            return (*before, row, k.If(guard, last.body, (), span=last.span))  # type: ignore[return-value]
        case k.If(orelse=()):
            inner = _rewritten(last.body, function, helpers, axes)
            return None if inner is None else (*before, replace(last, body=inner))  # type: ignore[return-value]
    return None


def _fit(s: k.For, axis: int, function: k.Function, helpers: list[tuple[k.Stmt, ...]]) -> bool:
    inside, whole = [*walked(s.body)], [*walked(function.body)]
    if s.orelse or not any(isinstance(x, k.Barrier) and x.scope == "block" for x in inside):
        return False  # without barriers, the threads' index takes the rounds in
    if any(isinstance(x, k.Barrier) and x.scope == "grid" for x in inside) or _leaves(s.body):
        return False
    looks = [x for x in (*whole, *walked(helpers)) if isinstance(x, k.Hw) and x.axis == axis]
    if sum(x.kind in ("block", "gridDim") for x in looks) != 2 or carried_by(s, frozenset()):
        return False
    made = {x.name for x in whole if isinstance(x, k.LocalArray)}
    used, elsewhere = _arrays(inside) & made, [x for x in whole if not any(x is y for y in inside)]
    if used & _arrays(elsewhere) or any(
        x.fill is not None or x.values or x.space == "local" for x in elsewhere if isinstance(x, k.LocalArray)
    ):
        return False
    return _parted(s.body, used)


def _arrays(nodes: list[object]) -> set[str]:
    """The arrays that are read, written or passed on."""
    return {x.array for x in nodes if isinstance(x, k.Load | k.Store | k.Atomic | k.ArrayRef)}


def _leaves(body: tuple[k.Stmt, ...]) -> bool:
    """Whether a round may be left, or the kernel in it."""
    for s in body:
        match s:
            case k.Break() | k.Continue() | k.Return():
                return True
            case k.If(body=a, orelse=b):
                if _leaves(a) or _leaves(b):
                    return True
            case k.For(body=a) | k.While(body=a):
                if any(isinstance(x, k.Return) for x in walked(a)):
                    return True
    return False


def _parted(body: tuple[k.Stmt, ...], arrays: set[str]) -> bool:
    """Whether a barrier lies between the last use of one of the arrays in a round and the first in the next."""
    for order in (body, body[::-1]):
        for s in order:
            if isinstance(s, k.Barrier) and s.scope == "block":
                return True
            if _arrays([*walked(s)]) & arrays:
                break
    return False


__all__ = ["one_row_each"]
