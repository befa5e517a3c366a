"""Which numbers of threads a block can have, as its shared arrays tell."""

from __future__ import annotations

from kraise.analysis.conditions import negate
from kraise.analysis.dependence import Access
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import INT
from kraise.ir.walk import free_indices
from kraise.raising.collective.frame import Frame, numbers
from kraise.raising.loops.touched import stores
from kraise.raising.run.context import Context
from kraise.raising.run.state import State
from kraise.raising.run.values import resolve


def _within(st: State, array: str, found: Frame, size: int, count: int, certain: bool = False) -> bool:
    """Whether the cells that the threads of a block of ``size`` have touched so far are there (``certain``: those that
    every one of them touches)."""
    writes = [a for a in st.accesses if a.array == array and a.subscripts and a.write]
    for a in writes:
        if certain and not _by_all(a, writes, found, set(st.path)):
            continue
        at = numbers(found, (a.whole or a.subscripts)[-1], size)
        if at is not None and at.max() >= count:
            return False
    return True


def _by_all(a: Access, writes: list[Access], found: Frame, path: set[eq.Expr]) -> bool:
    """Whether every thread that gets to ``path`` made this access: nothing else that differs between threads decided
    of it, or it decided between two such accesses."""
    moving = [c for c in a.path if free_indices(c) & found.moving and c not in path]
    if len(moving) != 1:
        return not moving
    other = {*a.path, negate(moving[0])} - {moving[0]}
    return any(b.subscripts == a.subscripts and other == set(b.path) for b in writes)


def fits(cx: Context, st: State, found: Frame, size: int) -> bool:
    """Whether no thread of a block of ``size`` has left a shared array so far: no launch is that wide otherwise."""
    for name, local in st.locals.items():
        count = to_poly(local.shape[-1]).value if local.shared else None
        if count is not None and not _within(st, name, found, size, count, certain=True):
            return False
    return True


def sizes(cx: Context, st: State, s: k.Stmt, found: Frame) -> list[int]:
    """The numbers of threads that the shared arrays of ``s`` suggest: one a cell, or one for two cells."""
    found_sizes: dict[int, None] = {}
    for array in sorted(stores((s,))):
        local = st.locals.get(resolve(cx, st, array))
        if local is not None and local.shared:
            count = to_poly(local.shape[-1]).value
            if count is not None:
                those = (n for n in (count, count // 2) if 32 <= n <= 1024 and _within(st, array, found, n, count))
                found_sizes |= dict.fromkeys(those)
            elif local.shape[-1] is eq.Param("shared", INT):
                found_sizes |= dict.fromkeys(n for c in _literals(s) for n in (2 * c, c) if 32 <= n <= 1024)
    return list(found_sizes)


def of_warps(cx: Context, st: State, stmts: tuple[k.Stmt, ...], count: int) -> list[tuple[int, int]]:
    """The numbers of threads of which each warp has a cell in an array, and how many statements there are up to the
    last one that loads it, behind the first ``count``."""
    found: list[tuple[int, int]] = []
    for array in sorted(stores(stmts)):
        local = st.locals.get(resolve(cx, st, array))
        cells = to_poly(local.shape[-1]).value if local is not None and local.shared else None
        last = max((at for at, s in enumerate(stmts) if _loads(s, array)), default=0)
        if cells is not None and 1 < cells < 32 and last >= count:  # 32 are there for whatever block
            found.append((32 * cells, last + 1))
    return found


def _loads(s: k.Stmt, array: str) -> bool:
    return any(isinstance(x, k.Load) and x.array == array for x in walked(s))


def _literals(s: k.Stmt) -> list[int]:
    """The powers of two in a statement, the largest first."""
    found = {n.value for n in walked(s) if isinstance(n, k.Const) and type(n.value) is int}
    return sorted((n for n in found if n > 1 and n & (n - 1) == 0), reverse=True)


__all__ = ["fits", "of_warps", "sizes"]
