"""An index in steps of m that is divided by a number is m times another, and a remainder: ``i % 8 == 0`` with
``y[i / 8]``, ``i % 2 != 0`` with ``y[i / 2]``."""

from __future__ import annotations

from collections.abc import Callable

from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import Unmovable, free_indices, substitute, topological
from kraise.raising.run.arithmetic import operation, tidy
from kraise.raising.run.state import RawWrite, map_raw


def in_steps(r: RawWrite) -> RawWrite:
    """``r`` with such indices counted in ones."""
    return _counted(r, lambda i: any(_divides(n, i) for n in topological((*r.subscripts, r.value))))


def in_ones(r: RawWrite) -> RawWrite:
    """``r`` with every index in steps counted in ones, whether it is divided or not."""
    return _counted(r, lambda _: True)


def _counted(r: RawWrite, wanted: Callable[[eq.Index], bool]) -> RawWrite:
    for c in r.path:
        found = _multiple(c, r.loops)
        if found is None:
            continue
        index, size, first = found
        if not wanted(index):
            continue
        whole = operation("mul", (eq.Const(size, INT), index), INT)
        if first:
            whole = operation("add", (whole, eq.Const(first, INT)), INT)

        def fn(e: eq.Expr, index: eq.Index = index, whole: eq.Expr = whole) -> eq.Expr:
            return tidy(substitute(e, {index: whole}))

        try:
            moved = map_raw(r, fn)
        except (Unmovable, ValueError):
            continue
        assert isinstance(moved, RawWrite)
        return _counted(moved, wanted)
    return r


def _multiple(c: eq.Expr, loops: tuple[str, ...]) -> tuple[eq.Index, int, int] | None:
    """The index that ``c`` says is a multiple of a number and a remainder more, the number, and the remainder."""
    match c:
        case eq.Op(
            name="eq", args=(eq.Op(name="mod", args=(x, eq.Const(value=int() as m))), eq.Const(value=int() as r))
        ):
            pass
        case eq.Op(
            name="ne", args=(eq.Op(name="mod", args=(x, eq.Const(value=int() as m))), eq.Const(value=int() as other))
        ) if m == 2:
            r = 1 - other
        case _:
            return None
    poly = to_poly(x)
    rest = Poly({t: k for t, k in poly.terms.items() if t and k % m}) if m > 1 and 0 <= r < m else Poly({})
    (name,) = rest.indices() if len(rest.indices()) == 1 else ("",)
    index = eq.Index(name, INT)
    return (index, m, (r - poly.offset) % m) if name in loops and rest == to_poly(index) else None


def _divides(n: eq.Expr, index: eq.Index) -> bool:
    return isinstance(n, eq.Op) and n.name in ("floordiv", "mod") and index.name in free_indices(n.args[0])
