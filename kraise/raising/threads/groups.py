"""Sizes that are shared out: ``C`` is ``G * (C / G)`` where the kernel divides it by another size.

Channels in groups, the width of a head (``int hs = C / NH; out[t * C + h * hs + i]``): rows of the quotient make up a
row of C only if the divisor leaves nothing. Where the proof asks for that, C is written as a product for a whole run;
the emitted function checks that the division leaves nothing, and the quotient is ``C // G`` again at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kraise.analysis.conditions import Fact, classify, is_static
from kraise.analysis.delinearize import Digits, in_rows
from kraise.analysis.division import divided
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute, topological, transform
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


def noted(cx: Context, a: eq.Expr, b: eq.Expr, floors: bool = True) -> eq.Expr | None:
    """The quotient of a size that is shared out, where it is one (``floors``: rounded down, also of what is one less
    than a multiple); a division of two sizes is remembered."""
    match a, b:
        case eq.Param(type=s), eq.Param(type=t) if a != b and s.kind == t.kind == "int":
            cx.quotients.setdefault(a, b)
    whole, by = to_poly(a), to_poly(b)
    if not cx.groups or whole.indices() or not is_static(whole) or len(by.terms) != 1:
        return None
    ((sizes, times),) = by.terms.items()
    found, rest = divided(whole, by)
    if times != 1 or not {*sizes} <= {*cx.groups.values()}:
        return None
    if floors and rest.value == -1:  # the divisors are positive: (G * q + G - 1) // G
        return to_expr(found - 1)
    return None if rest.terms else to_expr(found)


def tiled(poly: Poly, path: Iterable[eq.Expr]) -> dict[eq.Param, eq.Param]:
    """The sizes that another one must divide for a flat subscript to keep to its rows: ``i * n + T * r + k`` where r
    runs to ``(n + T - 1) // T``."""
    out: dict[eq.Param, eq.Param] = {}
    facts: list[Fact] | None = None
    for r in poly.atoms():
        by = _size(poly.coefficient(r)) if isinstance(r, eq.Index) and poly.is_affine_in((r.name,)) else None
        if by is None:
            continue
        if facts is None:
            facts = [f for f in map(classify, path) if f is not None and f.kind == "ge"]
        for fact in facts:
            rounds = fact.poly + to_poly(r) + 1
            if fact.poly.coefficient(r).value != -1 or len(rounds.terms) != 1:
                continue
            match next(iter(rounds.atoms()), None):
                case eq.Op(name="floordiv", args=(inner, divisor)) if divisor is by:
                    size = _size(to_poly(inner) - to_poly(by) + 1)
                    if size is not None and any(size in m for m in poly.terms):
                        out[size] = by
    return out


def in_whole_rows(cx: Context, poly: Poly, path: tuple[eq.Expr, ...]) -> Digits | None:
    """``poly`` as row and column of rows that are shared out."""
    for size, by in cx.groups.items():
        row = to_poly(by) * to_poly(_share(size))
        if not row.atoms() <= poly.atoms():
            continue
        apart, more, back = _threads_apart(cx, to_expr(poly), by)
        found = in_rows(to_poly(apart), (row,), (*path, *more))
        if found is not None and found.subscripts[0].terms:
            return replace(found, subscripts=tuple(to_poly(substitute(to_expr(s), back)) for s in found.subscripts))
    return None


def _threads_apart(
    cx: Context, e: eq.Expr, by: eq.Param
) -> tuple[eq.Expr, tuple[eq.Expr, ...], dict[eq.Expr, eq.Expr]]:
    """``e`` with indices that count a block of ``by`` threads and its threads as ``by * block + thread``, what is known
    of that thread, and what it is."""
    more: list[eq.Expr] = []
    back: dict[eq.Expr, eq.Expr] = {}
    for axis in (axis for axis, size in cx.named.items() if size is by):
        t, b = cx.threads.get(("thread", axis)), cx.threads.get(("block", axis))
        names = [] if t is None or b is None else [n for n in free_indices(t) if n in cx.axes]
        if t is None or b is None or len(names) != 1 or isinstance(t, eq.Index):
            continue
        own = eq.Index(f"$t{axis}", INT)
        e = substitute(e, {eq.Index(names[0], INT): to_expr(to_poly(b) * to_poly(by) + to_poly(own))})
        more += [eq.Op("ge", (own, eq.Const(0, INT)), BOOL), eq.Op("lt", (own, by), BOOL)]
        back[own] = t
    return e, tuple(more), back


def of_shares(size: eq.Expr) -> bool:
    """Whether a size is written with the parts of one that is shared out."""
    return any(isinstance(n, eq.Param) and n.name.startswith(_PREFIX) for n in topological((size,)))


def sizes_of(cx: Context, param: eq.Param) -> tuple[str, ...]:
    """The parameter's own name, or those of the two sizes that a share is the quotient of: it is no size of its own,
    and is not negative where they are not (the divisor is demanded to be positive)."""
    for size, by in cx.groups.items():
        if _share(size) == param:
            return size.name, by.name
    return (param.name,)


def _size(poly: Poly) -> eq.Param | None:
    """The one size that ``poly`` is."""
    (atom,) = poly.atoms() if len(poly.atoms()) == 1 else (None,)
    own = isinstance(atom, eq.Param) and "." not in atom.name and atom.type.kind == "int" and poly == to_poly(atom)
    return atom if own else None  # type: ignore[return-value]


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


__all__ = ["enter", "in_whole_rows", "noted", "of_shares", "resolved", "sizes_of", "tiled", "wished"]
