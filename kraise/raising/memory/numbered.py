"""Small shared arrays whose cells are named by numbers: ``s[0]`` and ``s[1]`` are two variables (Kernel IR to Kernel
IR).

A block leaves its mean in one cell and its deviation in the next. Told apart, each is one cell, which is a scalar where
it is stored once (:mod:`kraise.raising.writes.squeezed`).
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten
from kraise.ir.types import INT
from kraise.raising.collective.opened import walked

_MOST = 16  # cells


def numbered(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``body`` with an array of one cell for each cell of such arrays; the same if there are none."""
    every = [*walked(body)]
    arrays = {s.name: s for s in every if isinstance(s, k.LocalArray) and _small(s)}
    for s in every:
        match s:
            case k.Load(array=array, subscripts=subs) | k.Store(array=array, subscripts=subs):
                pass
            case k.Atomic(array=array, subscripts=subs):
                pass
            case k.ArrayRef(array=array) | k.Shape(array=array):
                arrays.pop(array, None)
                continue
            case _:
                continue
        if array in arrays and not _cell(arrays[array], subs):
            arrays.pop(array)
    if not arrays:
        return body
    taken = {n for s in every for n in (getattr(s, "name", None), getattr(s, "array", None)) if n}
    names = {(a, c): _fresh(f"{a}{c}", taken) for a, s in arrays.items() for c in range(_cells(s))}

    def visit(n: object) -> object | None:
        if isinstance(n, k.LocalArray) and n.name in arrays:
            one = (k.Const(1, INT),)
            return tuple(replace(n, name=names[n.name, c], shape=one) for c in range(_cells(n)))
        if isinstance(n, k.Load | k.Store | k.Atomic) and n.array in arrays:
            (at,) = n.subscripts
            assert isinstance(at, k.Const) and isinstance(at.value, int)
            rest = {f: rewritten(getattr(n, f), visit) for f in ("value", "values") if hasattr(n, f)}
            return replace(n, array=names[n.array, at.value], subscripts=(replace(at, value=0),), **rest)
        return None

    return rewritten(body, visit)  # type: ignore[no-any-return]


def _small(s: k.LocalArray) -> bool:
    plain = s.space == "shared" and not s.dynamic and not s.values and s.fill is None
    return plain and len(s.shape) == 1 and 2 <= _cells(s) <= _MOST


def _cells(s: k.LocalArray) -> int:
    extent = s.shape[0]
    return extent.value if isinstance(extent, k.Const) and type(extent.value) is int else 0


def _cell(s: k.LocalArray, subscripts: tuple[k.Expr, ...]) -> bool:
    at = subscripts[0] if len(subscripts) == 1 else None
    return isinstance(at, k.Const) and type(at.value) is int and 0 <= at.value < _cells(s)


def _fresh(wish: str, taken: set[str]) -> str:
    name, number = wish, 2
    while name in taken:
        name, number = f"{wish}_{number}", number + 1
    taken.add(name)
    return name


__all__ = ["numbered"]
