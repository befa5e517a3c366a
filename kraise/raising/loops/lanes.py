"""The lanes of a fold: the indices over which its carried scalars are arrays."""

from __future__ import annotations

from kraise.analysis.boxes import Unbounded, box
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, substitute, topological

OPEN = eq.Param("$open", INT)


def lanes_of(names: tuple[str, ...], path: tuple[eq.Expr, ...], context: tuple[str, ...]) -> tuple[eq.Axis, ...]:
    """The ranges of the lanes of a fold: for each index that of the outermost conditions that bound it.

    A condition further in (another loop's range, a branch) narrows the lanes that run the fold, but its result may be
    used where that condition no longer holds; lanes that do not run it keep what they had. An index that nothing
    bounds has the bound OPEN, which :func:`within` does not take.
    """
    out = []
    for name in names:
        others = tuple(n for n in context if n != name)
        for upto in range(len(path) + 1):
            try:
                out.append(box((name,), path[:upto], others).axes[0])
                break
            except Unbounded:
                if upto == len(path):
                    out.append(eq.Axis(name, eq.Const(0, INT), OPEN))
    return tuple(out)


def within(lanes: tuple[eq.Axis, ...]) -> tuple[eq.Axis, ...]:
    """``lanes``, if all are bounded.

    Raises:
        Unbounded: no condition bounds one of the indices.
    """
    for a in lanes:
        if a.hi is OPEN:
            raise Unbounded(a.name, "upper")
    return lanes


def narrowed(
    left: dict[str, eq.CarryIn], inits: dict[str, eq.Expr], updates: dict[str, eq.Expr], lanes: tuple[eq.Axis, ...]
) -> dict[eq.Expr, eq.Expr]:
    """Each placeholder with only the lanes on which its value depends (least fixed point over all carried scalars)."""
    nodes = {c: n for n, c in left.items()}
    blank = {c: eq.Const(0, c.type) for c in nodes}
    names = {a.name for a in lanes}
    depends: dict[str, set[str]] = {}
    feeds: dict[str, set[str]] = {}
    for n in left:
        own = free_indices(inits[n]) | free_indices(substitute(updates[n], blank))
        depends[n] = set(own) & names
        feeds[n] = {nodes[x] for x in topological((updates[n],)) if x in nodes}  # type: ignore[index]
    changed = True
    while changed:
        changed = False
        for n in left:
            more = set().union(*(depends[m] for m in feeds[n])) - depends[n] if feeds[n] else set()
            if more:
                depends[n] |= more
                changed = True
    return {
        c: eq.CarryIn(c.fold, c.name, within(tuple(a for a in lanes if a.name in depends[n])), c.type)
        for n, c in left.items()
    }
