"""Cells of threads whose number is a multiple of what a round shares: ``a[t] += a[t + s]`` where ``t % (2 * s) == 0``.

With t = 2 * s * q, both subscripts are multiples of s, which is not zero (the source divides by it): 2 * q and
2 * r + 1 are never the same.
"""

from __future__ import annotations

from typing import Any

from kraise.analysis.poly import Monomial, Poly, to_poly
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices


def multiples(space: Any, a: Any, b: Any, names_a: Any, names_b: Any, p: Poly, q: Poly) -> tuple[str, str] | None:
    """The texts of two subscripts, divided by what their indices are multiples of; None where they are not."""
    shared = names_a.shared
    for index, step in _stepped(a.path):
        ((unit, times),) = step.terms.items()
        if all(x != index or s != step for x, s in _stepped(b.path)) or not unit:
            continue
        if any(free_indices(x) - shared for x in unit) or index.name in shared:
            continue
        sides = [_divided(x, index, unit) for x in (p, q)]
        if None in sides:
            continue
        texts: list[str] = []
        for side, names, own in ((sides[0], names_a, "a"), (sides[1], names_b, "b")):
            count, rest = side  # type: ignore[misc]
            whole = space.poly(rest, names)
            if whole is not None:
                texts.append(f"{count * times}*{space.variable(f'whole {own}')} + {whole}")
        if len(texts) < 2:
            continue
        one, other = (space.variable(n.get(index.name, index.name)) for n in (names_a, names_b))
        v, w = space.variable("whole a"), space.variable("whole b")
        space.constraints.append(f"(({v} = {w} and {one} = {other}) or ({v} != {w} and {one} != {other}))")
        return texts[0], texts[1]
    return None


def _stepped(path: tuple[eq.Expr, ...]) -> list[tuple[eq.Index, Poly]]:
    """The indices that are multiples of a product, and what of."""
    from kraise.analysis.dependence import nonnegative  # which asks for these

    found = []
    for c in path:
        match c:
            case eq.Op(name="eq", args=(eq.Op(name="mod" | "tmod", args=(x, by)), eq.Const(value=0))):
                i, step = _bare(x), Poly({_plain(m): n for m, n in to_poly(by).terms.items()})
                if isinstance(i, eq.Index) and len(step.terms) == 1 and nonnegative(path, to_poly(i)):
                    found.append((i, step))
    return found


def _divided(p: Poly, index: eq.Index, unit: Monomial) -> tuple[int, Poly] | None:
    """How often ``p`` counts the index, and the rest of it divided by ``unit``; None where that is not whole."""
    count, rest = 0, {}
    for m, c in p.terms.items():
        left = list(_plain(m))
        if left == [index]:
            count = c
            continue
        for x in unit:
            if x not in left:
                return None
            left.remove(x)
        rest[tuple(left)] = c
    return count, Poly(rest)


def _plain(m: Monomial) -> Monomial:
    """Without casts: what a subscript says is no number near the end of its type."""
    return tuple(map(_bare, m))


def _bare(e: eq.Expr) -> eq.Expr:
    while isinstance(e, eq.Cast) and e.type.is_integer and e.arg.type.is_integer and (e.type.bits or 32) >= 32:
        e = e.arg
    return e


__all__ = ["multiples"]
