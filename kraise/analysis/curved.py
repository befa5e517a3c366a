"""Subscripts that are quadratic in an index: rows of triangles packed one after the other.

``A[i * (i + 1) / 2 + j]`` with ``0 <= j <= i`` is element (i, j) of a lower triangle, ``d[i * n - i * (i + 1) / 2 + j -
i - 1]`` one of an upper triangle (the storage of LAPACK's packed matrices). With q(i) for what is not affine in i, the
step ``q(i + 1) - q(i)`` is: if it is not negative at two rows, it is not between them, so the later row starts a step
of the earlier one beyond that one's start, at least. So it is with ``q(i) + c * i``, where c is what the subscript
multiplies i by outside of q (``i * n - i * (i - 1) / 2 - 2 * i + j - 1``). That is all that isl is told of q.
"""

from __future__ import annotations

from typing import Any

from kraise.analysis.conditions import static_expr
from kraise.analysis.poly import Poly, constant, to_poly
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices


def curved(space: Any, a: Any, b: Any, names_a: Any, names_b: Any, p: Poly, q: Poly) -> tuple[str, str] | None:
    """The texts of two subscripts with unknown numbers for what is quadratic in them, if it is the same in both."""
    from kraise.analysis.dependence import nonnegative  # which asks for these

    found = _quadratic(p)
    if found is None:
        return None
    index, curve = found
    for part in (curve, _with_multiples(p, index, curve)):  # ``64 * i - 2 * i * h`` has a step of 64 - 2 * h
        if part != Poly({m: c for m, c in q.terms.items() if m in part.terms}):
            continue
        step, beside = _step(part, index), (p - part).terms.get((index,), 0)
        if step is None:
            continue
        both = dict.fromkeys((0, beside))
        if lines := [c for c in both if nonnegative(a.path, step + c) and nonnegative(b.path, step + c)]:
            break
    else:
        return None
    texts = [space.poly(x, names) for x, names in ((p - part, names_a), (q - part, names_b))]
    steps = [space.poly(step, names) for names in (names_a, names_b)]
    if None in texts or None in steps:
        return None
    i, j = (space.variable(names.get(index.name, index.name)) for names in (names_a, names_b))
    one, other = (space.variable(f"curved {index.name} {side}") for side in "ab")
    for c in lines:
        ahead = f"{i} < {j} and {other} + {c}*{j} >= {one} + {c}*{i} + {steps[0]} + {c}"
        behind = f"{i} > {j} and {one} + {c}*{i} >= {other} + {c}*{j} + {steps[1]} + {c}"
        space.constraints.append(f"(({ahead}) or ({behind}) or ({i} = {j} and {one} = {other}))")
    if all(sum(isinstance(x, eq.Index) for x in m) == 1 == m.count(index) for m in part.terms):
        known = [(v, space.poly(part, names)) for v, names in ((one, names_a), (other, names_b))]
        space.constraints += [f"{v} = {text}" for v, text in known if text is not None]  # conditions speak of it, too
    return f"{texts[0]} + {one}", f"{texts[1]} + {other}"


def _quadratic(p: Poly) -> tuple[eq.Index, Poly] | None:
    """The index in which ``p`` is not affine, and the terms that are not; None if there are none, or of several."""
    terms = {m: c for m, c in p.terms.items() if m and not _affine(m)}
    indices = {n for m in terms for x in m for n in free_indices(x)}
    if len(indices) != 1:
        return None
    (name,) = indices
    named = [x for m in terms for atom in m for x in _within(atom) if isinstance(x, eq.Index)]
    return (named[0], Poly(terms)) if named and all(x is named[0] for x in named) and name == named[0].name else None


def _with_multiples(p: Poly, index: eq.Index, part: Poly) -> Poly:
    """All terms that the index is in."""
    return Poly({m: c for m, c in p.terms.items() if m in part.terms or m == (index,)})


def _affine(m: tuple[eq.Expr, ...]) -> bool:
    return all(map(static_expr, m)) or (len(m) == 1 and isinstance(m[0], eq.Index))


def _within(atom: eq.Expr) -> set[eq.Expr]:
    half = _half(atom)
    return {atom} if half is None else half.atoms()


def _half(atom: eq.Expr) -> Poly | None:
    """P, for P / 2."""
    match atom:
        case eq.Op(name="floordiv" | "tdiv", args=(x, eq.Const(value=2))):
            return to_poly(x)
    return None


def _step(part: Poly, index: eq.Index) -> Poly | None:
    """``q(i + 1) - q(i)``, if that is affine; halves must be whole numbers at each i."""
    total, ahead = Poly(), to_poly(index) + 1
    for m, c in part.terms.items():
        half = _half(m[0]) if len(m) == 1 else None
        if half is None:
            if not all(x is index or static_expr(x) for x in m):
                return None
            total += Poly({m: c}).substitute(index, ahead) - Poly({m: c})
            continue
        if not all(x is index or static_expr(x) for x in half.atoms()):
            return None
        change = half.substitute(index, ahead) - half
        if any(v % 2 for x in (change, half.substitute(index, constant(0))) for v in x.terms.values()):
            return None
        total += Poly({n: v // 2 * c for n, v in change.terms.items()})
    return total if total.is_affine_in((index.name,)) and all(len(m) < 2 for m in total.terms) else None


__all__ = ["curved"]
