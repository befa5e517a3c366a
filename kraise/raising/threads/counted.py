"""Kernels whose result depends on how many threads run: an atomic that adds, in every thread that comes to it.

There an index that the source computes and never reads still says that the launch has this axis: ``int j = blockIdx.y``
beside ``atomicAdd(&x[i], 1)`` adds once for each row of blocks. Elsewhere such an index means nothing, and is dropped.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.raising.run.calls import called

_IDEMPOTENT = frozenset({"min", "max", "and", "or", "exch"})


def counted(module: k.Module, function: k.Function, calls: tuple[str, ...], shared: bool = False) -> bool:
    """Whether the result depends on how many threads run one statement: an atomic that adds to an array of the
    caller's (or, if ``shared``, of the block's)."""
    functions = {f.name: f for f in module.functions}
    for f in (function, *(functions[c] for c in calls if c in functions)):
        nodes = list(walked(f.body))
        own = {n.name for n in nodes if isinstance(n, k.LocalArray) and not (shared and n.space == "shared")}
        if any(isinstance(n, k.Atomic) and n.name not in _IDEMPOTENT and n.array not in own for n in nodes):
            return True
    return False


def launched_axes(module: k.Module, function: k.Function) -> set[tuple[str, int]]:
    """The indices along the axes that a launch in the file has, beside those that the kernel looks at: its threads
    add once for each row of such a launch. Without a launch in the file, a kernel has the axes that it names."""
    found: set[tuple[str, int]] = set()
    for x in walked(module.hosts):
        if isinstance(x, h.Launch) and x.function == function.name:
            for kind, extents in (("block", x.grid or ()), ("thread", x.block or ())):
                found |= {
                    (kind, axis) for axis, n in enumerate(extents) if not (isinstance(n, k.Const) and n.value == 1)
                }
    return found


def without_idle(module: k.Module, function: k.Function) -> k.Function:
    """``function`` without the hardware indices that nothing reads, where the number of threads does not matter."""
    body = _live(function.body)
    if body is function.body or counted(module, function, called(module, function), shared=True):
        return function
    return replace(function, body=body)


def _live(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """Without assignments of hardware indices to variables that nothing reads."""
    while True:
        read = {n.name for n in walked(body) if isinstance(n, k.Var)}
        idle = {
            id(n)
            for n in walked(body)
            if isinstance(n, k.Assign) and n.name not in read and any(isinstance(x, k.Hw) for x in walked(n.value))
        }
        if not idle:
            return body

        def visit(node: object, idle: set[int] = idle) -> object | None:
            for name in ("body", "orelse"):
                inner = getattr(node, name, None)
                if isinstance(inner, tuple) and any(id(s) in idle for s in inner):
                    kept = tuple(s for s in inner if id(s) not in idle)
                    return rewritten(replace(node, **{name: kept}), visit)  # type: ignore[type-var]
            return None

        body = rewritten(tuple(s for s in body if id(s) not in idle), visit)


__all__ = ["counted", "launched_axes", "without_idle"]
