"""Guards that whole blocks pass or fail together, where the sizes are multiples of the blocks (contract, section 3).

A barrier under ``if (row < n)`` is met by all threads of a block only if n is a multiple of its threads along that
axis: ``16 * block + thread < 16 * q`` is ``block < q``. The source is not defined on a launch with a last block in
part, so the multiple is demanded: a parameter is written as ``16 * q`` for a whole run
(:mod:`kraise.raising.threads.multiples`, or :mod:`kraise.raising.threads.groups` where the block's size is a name).
"""

from __future__ import annotations

from math import gcd

from kraise.analysis.conditions import classify
from kraise.analysis.delinearize import provable
from kraise.analysis.division import divided
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices
from kraise.raising.run.context import Context
from kraise.raising.threads.multiples import tilewise

Path = tuple[eq.Expr, ...]


def uniform(cx: Context, condition: eq.Expr, inside: set[str]) -> bool:
    """Whether all threads of a block (``inside``: the indices that tell them apart) agree on a condition. Sizes that
    would have to be multiples for that are wished for, and a product of sizes is demanded to be one."""
    if not free_indices(condition) & inside:
        return True
    match condition:
        case eq.Op(name="and" | "or", args=args):
            sides = [uniform(cx, a, inside) for a in args]  # what both wish for
            return all(sides)
        case eq.Op(name="not", args=(a,)):
            return uniform(cx, a, inside)
    fact = classify(condition)
    if fact is None or fact.kind != "ge":
        return False
    parts, more = tilewise(cx, to_expr(fact.poly), (*cx.facts, *cx.launch_path))
    found = to_poly(parts)
    own = {m: c for m, c in found.terms.items() if _of_threads(m, inside)}
    whole = found - Poly(own)
    stride = _stride(whole)
    if stride is None:
        return False
    for m, by in _sizes(whole, stride).items():
        match m, by:
            case (eq.Param() | eq.Shape() as size,), int():
                cx.wished.setdefault(size, by)
            case (eq.Param() as size,), eq.Param() if size.type.kind == by.type.kind == "int":
                cx.shared_out.setdefault(size, by)
            case _, int():  # a product of sizes
                whole = whole - Poly({m: whole.terms[m]}) + to_poly(_TILES) * (by * whole.terms[m])
                _demand(cx, to_expr(Poly({m: 1})), by)
    _, rest = divided(whole, stride)
    rest = rest + Poly(own)
    return any(
        provable(more, rest + stride * on) and provable(more, stride - 1 - rest - stride * on) for on in (0, 1, -1)
    )


_TILES = eq.Param("$tiles", INT)


def _of_threads(m: tuple[eq.Expr, ...], inside: set[str]) -> bool:
    return any(isinstance(a, eq.Index) and (a.name in inside or a.name.startswith("$t")) for a in m)


def _stride(whole: Poly) -> Poly | None:
    """What the block's index, and the round's, are multiplied by: a number, or a template's integer."""
    parts = [whole.coefficient(a) for a in whole.atoms() if isinstance(a, eq.Index)]
    if parts and all(p.value for p in parts):
        by = gcd(*(p.value for p in parts if p.value))
        return Poly({(): by}) if by > 1 else None
    sizes = {m for p in parts for m in p.terms}
    if len(sizes) != 1 or len(m := sizes.pop()) != 1 or not isinstance(m[0], eq.Param) or "." in m[0].name:
        return None
    return to_poly(m[0])


def _sizes(whole: Poly, stride: Poly) -> dict[tuple[eq.Expr, ...], int | eq.Param]:
    """The products of sizes that are not multiples of the stride as they stand, and what would have to divide each."""
    out: dict[tuple[eq.Expr, ...], int | eq.Param] = {}
    for m, c in divided(whole, stride)[1].terms.items():
        if m and all(isinstance(a, eq.Shape) or (isinstance(a, eq.Param) and "." not in a.name) for a in m):
            by = next(iter(stride.atoms()), None)
            out[m] = by if isinstance(by, eq.Param) else (stride.value or 1) // gcd(stride.value or 1, c)
    return out


def _demand(cx: Context, size: eq.Expr, by: int) -> None:
    rest = eq.Op("mod", (size, eq.Const(by, INT)), INT)
    text = f"{render_expr(size)} must be a multiple of {by}"
    check = (eq.Op("eq", (rest, eq.Const(0, INT)), BOOL), text)
    if check not in cx.checks:
        cx.checks.append(check)
        cx.assumptions.append(text.replace("must be", "is"))


__all__ = ["uniform"]
