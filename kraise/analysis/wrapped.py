"""Subscripts that wrap around: ``(i + c) % n`` takes each value once for 0 <= i < n, whatever c is.

That c is one number for all instances is known where it depends on indices only that other subscripts of the cell hold
(``g[q, (i + dx[q]) % n]``: two instances that meet have one q, and so one dx[q]).
"""

from __future__ import annotations

from collections.abc import Callable

from kraise.analysis.conditions import is_static
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices, topological, transform


def unwound(subscripts: tuple[eq.Expr, ...], holds: Callable[[Poly], bool]) -> tuple[eq.Expr, ...]:
    """``subscripts`` with ``i`` in place of ``(i + c) % n``, i any sum of indices, and of ``i // n`` beside ``i %
    n``: equal for the same instances. ``holds(p)`` says whether ``p >= 0`` wherever the cell is touched."""
    subscripts = tuple(_whole(s, subscripts) for s in subscripts)
    pinned = {s.name for s in map(_uncast, subscripts) if isinstance(s, eq.Index)}
    return tuple(_number(s, pinned, holds) for s in subscripts)


def _whole(s: eq.Expr, subscripts: tuple[eq.Expr, ...]) -> eq.Expr:
    """What a quotient is of, where the remainder is a subscript, too."""
    match s:
        case eq.Op(name="floordiv" | "tdiv" as name, args=args, type=t):
            rest = "mod" if name == "floordiv" else "tmod"
            if any(isinstance(r, eq.Op) and r.name == rest and r.args == args and r.type == t for r in subscripts):
                return args[0]
    return s


def _number(s: eq.Expr, pinned: set[str], holds: Callable[[Poly], bool]) -> eq.Expr:
    match s:
        case eq.Op(name="mod" | "tmod", args=(x, m)) if is_static(to_poly(m)):
            poly, size = to_poly(transform(x, _uncast)), to_poly(m)
            own = Poly({m: c for m, c in poly.terms.items() if any(free_indices(a) - pinned for a in m)})
            rest = to_expr(poly - own)
            moving = any(isinstance(n, eq.CarryIn | eq.FoldResult) for n in topological((rest,)))
            plain = own.terms and all(isinstance(a, eq.Index) or is_static(to_poly(a)) for a in own.atoms())
            for number in (own, -own) if plain and not moving else ():
                if holds(number) and holds(size - number - 1):
                    return to_expr(number)
    return s


def _uncast(e: eq.Expr) -> eq.Expr:
    """An index is a number that its type holds."""
    match e:
        case eq.Cast(type=t, arg=eq.Index() as i) if t.kind == "int" and (t.bits or 32) >= 32:
            return i
    return e
