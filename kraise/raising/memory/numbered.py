"""Shared arrays some of whose axes are named by numbers only: ``s[0]`` and ``s[1]`` are two variables, ``s[0][t]`` and
``s[1][t]`` two arrays (Kernel IR to Kernel IR).

A block leaves its mean in one cell and its deviation in the next, or sums two values side by side. Told apart, a cell
is a scalar where it is stored once (:mod:`kraise.raising.writes.squeezed`), and a row is an array like any other.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import INT

_MOST = 16  # arrays in place of one


def numbered(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``body`` with an array for each number (or each choice of numbers) of such arrays; the same if there are none."""
    every = [*walked(body)]
    arrays = {s.name: s for s in every if isinstance(s, k.LocalArray) and _plain(s)}
    axes = {a: {d for d in range(len(s.shape)) if _extent(s, d) > 0} for a, s in arrays.items()}
    for s in every:
        match s:
            case k.ArrayRef(array=array) | k.Shape(array=array):
                axes.pop(array, None)
            case k.Load() | k.Store() | k.Atomic() if s.array in axes:
                made = arrays[s.array]
                same = len(s.subscripts) == len(made.shape)
                axes[s.array] = {d for d in axes[s.array] if same and _number(s.subscripts[d], _extent(made, d))}
    sizes = {a: [_extent(arrays[a], d) for d in sorted(own)] for a, own in axes.items()}
    axes = {a: own for a, own in axes.items() if own and 2 <= prod(sizes[a]) <= _MOST}
    if not axes:
        return body
    taken = {n for s in every for n in (getattr(s, "name", None), getattr(s, "array", None)) if n}
    names = {(a, at): _fresh(a + "_".join(map(str, at)), taken) for a in axes for at in product(*map(range, sizes[a]))}

    def visit(n: object) -> object | None:
        if isinstance(n, k.LocalArray) and n.name in axes:
            left = tuple(e for d, e in enumerate(n.shape) if d not in axes[n.name])
            shape = left or (k.Const(1, INT),)
            return tuple(replace(n, name=name, shape=shape) for (a, _), name in names.items() if a == n.name)
        if isinstance(n, k.Load | k.Store | k.Atomic) and n.array in axes:
            own = axes[n.array]
            at = tuple(n.subscripts[d].value for d in sorted(own))  # type: ignore[union-attr]
            subs = tuple(rewritten(e, visit) for d, e in enumerate(n.subscripts) if d not in own)
            rest = {f: rewritten(getattr(n, f), visit) for f in ("value", "values") if hasattr(n, f)}
            return replace(n, array=names[n.array, at], subscripts=subs or (k.Const(0, INT),), **rest)  # type: ignore[index]
        return None

    return rewritten(body, visit)  # type: ignore[no-any-return]


def _plain(s: k.LocalArray) -> bool:
    return s.space == "shared" and not s.dynamic and not s.values and s.fill is None


def _extent(s: k.LocalArray, axis: int) -> int:
    extent = s.shape[axis]
    return extent.value if isinstance(extent, k.Const) and type(extent.value) is int else 0


def _number(at: k.Expr, below: int) -> bool:
    return isinstance(at, k.Const) and type(at.value) is int and 0 <= at.value < below


def _fresh(wish: str, taken: set[str]) -> str:
    name, number = wish, 2
    while name in taken:
        name, number = f"{wish}_{number}", number + 1
    taken.add(name)
    return name


__all__ = ["numbered"]
