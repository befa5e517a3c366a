"""Whether the source itself makes an access over a whole rectangle, tile by tile: ``x[(32 * by + ty) * w + 32 * bx +
tx]`` by all blocks and threads is each cell of rows of w.

Side conditions, each checked: the indices of a block and a thread stand in the place as ``T * b + t`` only; the thread
runs over all of 0 to T, the block from 0 on to an end that is the same for all; nothing else bounds them; each row ends
where the next one begins (the last row of a pitch need not be there to its end).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kraise.analysis.conditions import Fact, classify
from kraise.analysis.dependence import implied
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices

Path = Iterable[eq.Expr]


def made(
    executed: Mapping[tuple[str, tuple[eq.Expr, ...]], list[frozenset[eq.Expr]]],
    array: str,
    place: eq.Expr,
    domain: tuple[eq.Expr, ...],
) -> bool:
    """Whether an access of the source is to every cell ``place`` of the domain."""
    target = to_poly(place)
    for (name, subs), paths in executed.items():
        if name == array and len(subs) == 1 and subs[0].type.is_integer:
            source = to_poly(subs[0])
            if source.indices() and any(_covered(source, p, target, domain) for p in paths):
                return True
    return False


def _covered(source: Poly, path: Path, target: Poly, domain: tuple[eq.Expr, ...]) -> bool:
    ends = _ends(path)
    if ends is None or not source.is_affine_in(tuple(source.indices())):
        return False
    own = sorted(source.indices())
    if set(own) != set(ends) or not target.is_affine_in(tuple(target.indices())):
        return False
    left = {n: source.coefficient(eq.Index(n, INT)) for n in own}
    rows: list[tuple[Poly, Poly]] = []  # of each index, its stride and what its range of them makes
    for name in sorted(target.indices()):
        index = eq.Index(name, INT)
        stride = target.coefficient(index)
        found = _pair(left, stride, ends)
        if found is None:
            return False
        names, end = found
        rows.append((stride, stride * end))
        bounds = (eq.Op("ge", (index, eq.Const(0, INT)), BOOL), eq.Op("lt", (index, to_expr(end)), BOOL))
        if not all(implied(domain, c) for c in bounds):
            return False
        for n in names:
            del left[n]
    whole = sum(all(size != stride for stride, _ in rows) for _, size in rows) == 1  # rows end where the next begin
    return whole and not left and _constant(source) == _constant(target)


def _pair(left: Mapping[str, Poly], stride: Poly, ends: Mapping[str, Poly]) -> tuple[tuple[str, ...], Poly] | None:
    """The indices that together are one of this stride, and where they end."""
    for t in (n for n, c in left.items() if c == stride):
        size = ends[t]
        for b in (n for n, c in left.items() if n != t and c == stride * size):
            return (b, t), size * ends[b]
        return (t,), size
    return None


def _constant(p: Poly) -> Poly:
    return Poly({m: c for m, c in p.terms.items() if not any(free_indices(a) for a in m)})


def _ends(path: Path) -> dict[str, Poly] | None:
    """The end of each index that runs from 0 on; None where a condition says more than that."""
    begun: set[str] = set()
    ends: dict[str, Poly] = {}
    for c in path:
        names = sorted(free_indices(c))
        match classify(c), names:
            case Fact(kind="ge", poly=poly), [name]:
                index = eq.Index(name, INT)
                end = poly + to_poly(index) + 1  # of ``end - 1 - index >= 0``
                if poly == to_poly(index):
                    begun.add(name)
                elif name not in end.indices() and name not in ends:
                    ends[name] = end
                else:
                    return None
            case _:
                return None
    return ends if begun == {*ends} else None


__all__ = ["made"]
