"""Arrays that the kernel makes, as they begin: whose they are, how large, and what an initializer says."""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import INT
from kraise.raising.run import simplify
from kraise.raising.run.context import Context
from kraise.raising.run.state import LocalArray, RawNew, State


def new_array(cx: Context, st: State, s: k.LocalArray, shape: tuple[eq.Expr, ...], fill: eq.Expr | None) -> LocalArray:
    """Makes the array of ``s`` in ``st``: its prefix are the indices of those that have one each."""
    shared = s.space == "shared"
    prefix = cx.blocks if shared else tuple(n for n in st.open if n not in st.folds)
    if shared and s.dynamic and (not shape or s.name not in cx.parts):  # in rows, or of vectors: it counts numbers
        cells = eq.Param("shared", INT)
        shape = (simplify.op("floordiv", (cells, shape[0]), INT), shape[0]) if shape else (cells,)
    version = cx.version(s.name)
    private = s.space != "heap" or s.name in cx.scratch
    local = LocalArray(s.name, prefix, shape, s.element, s.like, shared, private)
    st.locals[s.name] = cx.made[s.name] = local
    st.versions[s.name] = version
    st.fences.pop(s.name, None)
    st.cells.pop(s.name, None)
    st.out.append(RawNew(eq.New(version, s.element, shape, fill, s.like, s.span)))
    return local


def initial(s: k.LocalArray, sizes: list[int]) -> tuple[k.Expr, ...]:
    """The values of an initializer, the rest zero."""
    total = 1
    for n in sizes:
        total *= n
    zero = k.Const(0.0 if s.element.is_inexact else 0, s.element, span=s.span)
    return (*s.values, *(zero for _ in range(total - len(s.values))))


__all__ = ["initial", "new_array"]
