"""Sizes that whole tiles make up: ``n`` is ``16 * (n / 16)`` where the last tile would leave its row otherwise.

A tile loop over rows of n (``for t in range(0, n, 16)``: ``x[i * n + t + k]``) stays within its rows only if 16 divides
n. Where the proof asks for that, the size is written as ``16 * q`` for a whole run, so that every bound and digit is
exact; the emitted function checks that 16 divides n, and q is n / 16 again at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd

from kraise.analysis.conditions import Fact, classify
from kraise.analysis.delinearize import Digits, in_rows, provable
from kraise.analysis.division import divided
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute, transform
from kraise.raising.run.context import Context
from kraise.raising.run.state import State

Multiples = Mapping[eq.Expr, int]  # a parameter, and the number that divides it
_PREFIX = "tiles of "


def wished(poly: Poly, path: Iterable[eq.Expr]) -> dict[eq.Expr, int]:
    """The parameters that a number must divide for a flat subscript to keep to its rows: ``i * n + 16 * r + k`` where r
    runs to n / 16, rounded up, or ``i * n + r + k`` where r runs to n in steps of 16."""
    path = tuple(path)
    out = _in_steps(poly, path)
    facts: list[Fact] | None = None
    for r in poly.atoms():
        by = poly.coefficient(r).value if isinstance(r, eq.Index) else None
        if by is None or by < 2 or not poly.is_affine_in((r.name,)):  # type: ignore[union-attr]
            continue
        if facts is None:
            facts = [f for f in map(classify, path) if f is not None and f.kind == "ge"]
        for fact in facts:
            rounds = fact.poly + to_poly(r) + 1
            if fact.poly.coefficient(r).value != -1 or len(rounds.terms) != 1:
                continue
            match next(iter(rounds.atoms()), None):
                case eq.Op(name="floordiv", args=(inner, eq.Const(value=c))) if c == by:
                    size = to_poly(inner) - (by - 1)
                    (atom,) = size.atoms() if len(size.atoms()) == 1 else (None,)
                    if isinstance(atom, eq.Param) and size == to_poly(atom) and any(atom in m for m in poly.terms):
                        out[atom] = by
    return {size: by for size, by in out.items() if not _kept(poly, size, path)}


def _kept(poly: Poly, size: eq.Expr, path: tuple[eq.Expr, ...]) -> bool:
    """Whether a guard keeps the subscript to its row, however long that is: ``32 * r + lane < n``."""
    high, low = divided(poly, to_poly(size))
    return bool(high.indices()) and provable(path, low) and provable(path, to_poly(size) - 1 - low)


def _in_steps(poly: Poly, path: Sequence[eq.Expr]) -> dict[eq.Expr, int]:
    """The rows along which an index of the subscript goes in steps, and the step: the last one's may leave them."""
    out: dict[eq.Expr, int] = {}
    for c in path:
        match c:
            case eq.Op(
                name="eq",
                args=(eq.Op(name="mod", args=(eq.Index() as r, eq.Const(value=int() as by))), eq.Const(value=0)),
            ) if by > 1 and poly.coefficient(r).value == 1:
                for fact in filter(None, map(classify, path)):
                    size = fact.poly + to_poly(r) + 1
                    (atom,) = size.atoms() if len(size.atoms()) == 1 else (None,)
                    if not isinstance(atom, eq.Param) or fact.kind != "ge" or size != to_poly(atom):
                        continue
                    if any(atom in m and len(m) > 1 for m in poly.terms):
                        out[atom] = by
    return out


def stepped(poly: Poly, path: tuple[eq.Expr, ...]) -> dict[eq.Expr, int]:
    """The parameter that a number must divide for the last of several steps to keep to its row: ``h * n + 2 * t + 1``
    with 2 * t < n, which for an odd n is in the next row."""
    for row in sorted((a for a in poly.atoms() if isinstance(a, eq.Param)), key=lambda p: p.name):
        high, low = divided(poly, to_poly(row))
        steps = [c for m, c in low.terms.items() if Poly({m: 1}).indices()]
        by = gcd(*steps)
        if not high.indices() or by < 2 or row in low.atoms() or row.name.startswith(_PREFIX):
            continue
        if provable(path, low) and not provable(path, to_poly(row) - 1 - low):
            even = eq.Op("eq", (eq.Op("mod", (row, eq.Const(by, INT)), INT), eq.Const(0, INT)), BOOL)
            if provable((*path, even), to_poly(row) - 1 - low):
                return {row: by}
    return {}


def whole(sizes: Iterable[tuple[eq.Expr, int]]) -> dict[eq.Expr, int]:
    """The parameters among sizes that are whole tiles."""
    return {
        size: by for size, by in sizes if by > 1 and isinstance(size, eq.Param) and not size.name.startswith(_PREFIX)
    }


def enter(cx: Context, st: State) -> None:
    """Gives the parameters their value as so many tiles, and demands it."""
    for size, by in cx.multiples.items():
        if isinstance(size, eq.Param):
            st.env[size.name] = to_expr(_in_tiles(size, by))
        rest, name = eq.Op("mod", (size, eq.Const(by, INT)), INT), render_expr(size)
        cx.checks.append((eq.Op("eq", (rest, eq.Const(0, INT)), BOOL), f"{name} must be a multiple of {by}"))
        cx.assumptions.append(f"{name} is a multiple of {by}")


def extent(cx: Context, size: eq.Shape) -> eq.Expr:
    """The extent of an array, as so many tiles where it is one."""
    return to_expr(_in_tiles(size, cx.multiples[size])) if size in cx.multiples else size


def in_tiles(cx: Context, e: eq.Expr) -> eq.Expr:
    """``e`` with the parameters as so many tiles."""
    for size, by in cx.multiples.items():
        e = substitute(e, {size: to_expr(_in_tiles(size, by))})
    return to_expr(to_poly(e))


def in_whole_rows(cx: Context, poly: Poly, path: tuple[eq.Expr, ...]) -> Digits | None:
    """``poly`` as row and column of rows that whole tiles make up."""
    for size, by in cx.multiples.items():
        row = _in_tiles(size, by)
        found = in_rows(poly, (row,), path) if row.atoms() & poly.atoms() else None
        if found is not None and found.subscripts[0].terms:
            return found
    return None


def in_widths(cx: Context, poly: Poly, path: tuple[eq.Expr, ...]) -> Digits | None:
    """``poly`` as row and column of rows that the launch fills."""
    for row in dict.fromkeys(cx.widths.values()):
        size = to_poly(in_tiles(cx, row))
        found = in_rows(poly, (size,), path) if size.value is None and size.atoms() & poly.atoms() else None
        if found is not None and found.subscripts[0].terms:
            return found
    return None


def tilewise(cx: Context, e: eq.Expr, path: tuple[eq.Expr, ...]) -> tuple[eq.Expr, tuple[eq.Expr, ...]]:
    """``e`` with the threads' indices as ``32 * block + thread``, and what is known of the parts."""
    more = list(path)
    for axis, size in cx.tile.items():
        t, b = cx.threads.get(("thread", axis)), cx.threads.get(("block", axis))
        names = [] if t is None else [n for n in free_indices(t) if n in cx.axes]
        if b is None or len(names) != 1 or isinstance(t, eq.Index):
            continue
        own, by = eq.Index(f"$t{axis}", INT), eq.Const(size, INT)
        e = substitute(e, {eq.Index(names[0], INT): to_expr(to_poly(b) * size + to_poly(own))})
        more += [eq.Op("ge", (own, eq.Const(0, INT)), BOOL), eq.Op("lt", (own, by), BOOL)]
    return to_expr(to_poly(e)), tuple(more)


def _in_tiles(size: eq.Expr, by: int) -> Poly:
    return to_poly(_tile_of(size)) * by


def _tile_of(size: eq.Expr) -> eq.Param:
    return eq.Param(_PREFIX + render_expr(size).replace(".", " "), INT)  # a dot is for what the launch says


def parameter(cx: Context, v: eq.Expr) -> eq.Expr:
    """The parameter that a value is written as tiles of, else the value."""
    sizes = (s for s, by in cx.multiples.items() if to_poly(v) == _in_tiles(s, by))
    return next(sizes, v) if cx.multiples and v.type.is_integer else v


def resolved(cx: Context, e: eq.Expr) -> eq.Expr:
    """``e`` with the parameters themselves in place of their tiles."""
    sizes = {_tile_of(s): (s, by) for s, by in cx.multiples.items()}

    def term(m: tuple[eq.Expr, ...], c: int) -> Poly:
        out = Poly({(): 1})
        for a in m:
            if not isinstance(a, eq.Param) or a not in sizes:
                out = out * to_poly(a)
                continue
            size, by = sizes[a]
            if c % by == 0:
                c, a = c // by, size
            else:
                a = _tiles(size, by)
            out = out * Poly({(a,): 1})
        return out * c

    def one(node: eq.Expr) -> eq.Expr:
        if isinstance(node, eq.Param) and node in sizes:
            return _tiles(*sizes[node])
        if isinstance(node, eq.Op) and node.name in ("add", "sub", "mul") and node.type.is_integer:
            poly = to_poly(node)
            back = {_tiles(s, by): t for t, (s, by) in sizes.items()}
            if poly.atoms() & (sizes.keys() | back.keys()):
                out = Poly()
                for m, c in poly.terms.items():
                    out = out + term(tuple(back.get(a, a) for a in m), c)
                return to_expr(out, node.type)
        return node

    return transform(e, one)


def _tiles(size: eq.Expr, by: int) -> eq.Expr:
    return eq.Op("floordiv", (size, eq.Const(by, INT)), INT)


__all__ = [
    "Multiples",
    "enter",
    "extent",
    "in_tiles",
    "in_whole_rows",
    "resolved",
    "stepped",
    "tilewise",
    "whole",
    "wished",
]
