"""Sizes that are shared out: ``C`` is ``G * (C / G)`` where the kernel divides it by another size.

Channels in groups, the width of a head (``int hs = C / NH; out[t * C + h * hs + i]``): rows of the quotient make up a
row of C only if the divisor leaves nothing. Where the proof asks for that, C is written as a product for a whole run;
the emitted function checks that the division leaves nothing, and the quotient is ``C // G`` again at the end.
"""

from __future__ import annotations

from kraise.analysis.conditions import is_static
from kraise.analysis.delinearize import divided
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import transform
from kraise.raising.run.context import Context
from kraise.raising.run.state import State

_PREFIX = "share of "


def enter(cx: Context, st: State) -> None:
    """Gives the sizes their value as products, and demands it."""
    for size, by in cx.groups.items():
        st.env[size.name] = to_expr(to_poly(by) * to_poly(_share(size)))
        rest = eq.Op("mod", (size, by), INT)
        one = eq.Op("ge", (by, eq.Const(1, INT)), BOOL)
        cx.checks.append((one, f"{by.name} must be positive"))
        cx.checks.append((eq.Op("eq", (rest, eq.Const(0, INT)), BOOL), f"{size.name} must be a multiple of {by.name}"))
        cx.assumptions.append(f"{size.name} is a multiple of {by.name}")
        cx.facts = (*cx.facts, one)


def noted(cx: Context, a: eq.Expr, b: eq.Expr) -> eq.Expr | None:
    """The quotient of a size that is shared out, where it is one; a division of two sizes is remembered."""
    match a, b:
        case eq.Param(type=s), eq.Param(type=t) if a != b and s.kind == t.kind == "int":
            cx.quotients.setdefault(a, b)
    whole, by = to_poly(a), to_poly(b)
    if not cx.groups or whole.indices() or not is_static(whole) or len(by.terms) != 1:
        return None
    ((sizes, times),) = by.terms.items()
    found, rest = divided(whole, by)
    if rest.terms or times != 1 or not {*sizes} <= {*cx.groups.values()}:
        return None
    return to_expr(found)


def wished(cx: Context) -> dict[eq.Param, eq.Param]:
    """The sizes to share out: one divisor each, and none that is shared out itself."""
    found: dict[eq.Param, eq.Param] = {}
    for size, by in cx.quotients.items():
        if by not in found and size not in found.values():
            found[size] = by
    return found


def resolved(cx: Context, e: eq.Expr) -> eq.Expr:
    """``e`` with the sizes themselves in place of the products."""
    sizes = {_share(size): (size, by) for size, by in cx.groups.items()}

    def product(m: tuple[eq.Expr, ...]) -> Poly:
        left, out = list(m), Poly({(): 1})
        for share in m:
            if share in sizes:
                size, by = sizes[share]  # type: ignore[index]
                left.remove(share)
                whole = by in left
                if whole:
                    left.remove(by)
                out = out * to_poly(size if whole else eq.Op("floordiv", (size, by), INT))
        for a in left:
            out = out * Poly({(a,): 1})
        return out

    def one(node: eq.Expr) -> eq.Expr:
        if node in sizes or (isinstance(node, eq.Op) and node.name in ("add", "sub", "mul") and node.type.is_integer):
            poly = to_poly(node)
            back: dict[eq.Expr, eq.Expr] = {eq.Op("floordiv", pair, INT): share for share, pair in sizes.items()}
            if poly.atoms() & (sizes.keys() | back.keys()):
                out = Poly()
                for m, c in poly.terms.items():
                    out = out + product(tuple(back.get(a, a) for a in m)) * c
                return to_expr(out, node.type)
        return node

    return transform(e, one)


def _share(size: eq.Param) -> eq.Param:
    return eq.Param(_PREFIX + size.name, INT)


__all__ = ["enter", "noted", "resolved", "wished"]
