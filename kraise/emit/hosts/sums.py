"""Differences of a host's bounds that read well: ``n - 1 - -1`` is ``n``."""

from __future__ import annotations

from collections.abc import Callable

from kraise.emit.text import python as py
from kraise.emit.text.python import Atom, Py
from kraise.ir import host as h
from kraise.ir import kernel as k

Terms = dict[k.Expr, int]


def stepped(
    expr: Callable[[h.Expr], Py], start: k.Expr, stop: k.Expr, step: Py, lo: Py, hi: Py, counter: str
) -> tuple[Py, Py]:
    """How many rounds a loop by steps has, and the number of the round that ``counter`` counts from 0."""
    if step == py.number(-1):
        return expr(difference(start, stop)), py.Bin("-", lo, Atom(counter))
    place = py.Bin("+", lo, py.Bin("*", Atom(counter), step))
    return py.Call(Atom("len"), (py.Call(Atom("range"), (lo, hi, step)),)), place


def difference(a: k.Expr, b: k.Expr) -> k.Expr:
    """``a - b`` of signed integers, with what cancels left out."""
    terms: Terms = {}
    number = _collect(a, 1, terms) + _collect(b, -1, terms)
    left = {e: c for e, c in terms.items() if c}
    if any(c not in (1, -1) for c in left.values()):
        return k.Op("sub", (a, b), a.type)
    out: k.Expr | None = None
    for e in sorted(left, key=lambda e: -left[e]):
        out = e if out is None else k.Op("add" if left[e] > 0 else "sub", (out, e), a.type)
        if left[e] < 0 and out is e:
            out = k.Op("neg", (e,), a.type)
    if out is None:
        return k.Const(number, a.type)
    return k.Op("add" if number > 0 else "sub", (out, k.Const(abs(number), a.type)), a.type) if number else out


def _collect(e: k.Expr, sign: int, terms: Terms) -> int:
    """The constant part of ``sign * e``; the others go into ``terms``."""
    match e:
        case k.Const(value=int() as value):
            return sign * value
        case k.Op(name="add" | "sub" as name, args=(a, b)):
            return _collect(a, sign, terms) + _collect(b, sign if name == "add" else -sign, terms)
        case k.Op(name="neg", args=(a,)):
            return _collect(a, -sign, terms)
    terms[e] = terms.get(e, 0) + sign
    return 0


__all__ = ["difference", "stepped"]
