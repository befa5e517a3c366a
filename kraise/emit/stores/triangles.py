"""Triangles that are stored row by row: ``p[i * (i + 1) // 2 + j] = A[i, j]`` is ``p[:m] = A[jnp.tril_indices(n)]``.

``jnp.tril_indices`` and ``jnp.triu_indices`` go through a triangle by rows. The side conditions: the mask is a triangle
of the box of both axes, of which no row begins before the box or ends behind it, and the place is the number of
elements in the rows before and in its own row so far, and a number.
"""

from __future__ import annotations

from kraise.emit.context import Assign, Frame
from kraise.emit.lower import Lowering
from kraise.emit.stores import versions
from kraise.emit.stores.typed import cast
from kraise.emit.sums.conditions import offset
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import Atom, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.types import INT

Terms = dict[tuple[eq.Expr, ...], int]  # a polynomial: its monomials and their factors


def packed(low: Lowering, stmt: eq.Write, frame: Frame) -> bool:
    """Emits a store of a triangle's rows, one after the other, if it is one."""
    if stmt.where is None or stmt.accumulate or stmt.view or len(stmt.subscripts) != 1 or len(frame) != 2:
        return False
    for rows in (frame, frame[::-1]):
        found = offset(stmt.where, rows)
        start = None if found is None else _start(stmt.subscripts[0], *found)
        if found is not None and start is not None:
            _emit(low, stmt, rows, found, start)
            return True
    return False


def _emit(low: Lowering, stmt: eq.Write, rows: Frame, found: tuple[str, eq.Axis, eq.Axis, int], start: int) -> None:
    ctx, (op, a, b, k) = low.ctx, found
    value = low.lower(stmt.value, rows)
    text = value.py if value.axes == rows else py.call("jnp.broadcast_to", value.py, ctx.shape_of(rows))
    height, width = ctx.extent(a), ctx.extent(b)
    first = k if op == "le" else k + 1
    sizes: dict[str, Py] = {"k": py.number(first)} if first else {}
    sizes |= {} if height == width else {"m": width}
    places = py.call("jnp.tril_indices" if op == "le" else "jnp.triu_indices", height, **sizes)
    name = ctx.names.fresh("packed")
    ctx.emit(Assign(name, py.Sub(text, (places,)), stmt.span))
    size: Py = py.Attr(Atom(name), "size")
    cells = Slice(None, size) if not start else Slice(py.number(start), py.Bin("+", py.number(start), size))
    new = cast(ctx, stmt, Atom(name))
    versions.assign(low, stmt, lambda base: py.method(py.Sub(py.Attr(base, "at"), (cells,)), "set", new))


def _start(place: eq.Expr, op: str, a: eq.Axis, b: eq.Axis, k: int) -> int | None:
    """Where the first row begins, if ``place`` goes through the triangle of rows a and columns b row by row."""
    height, width = linear(a.hi) - linear(a.lo), linear(b.hi) - linear(b.lo)
    room = width - height
    if op not in ("le", "gt") or k < -1 or room.terms or room.constant < k:
        return None
    row, column = (linear(eq.Index(x.name, INT)) - linear(x.lo) for x in (a, b))
    pairs = _plus(_times(_sum(row), _sum(row)), _sum(row), -1)  # twice those of the rows before
    if op == "le":
        twice = _plus(pairs, _sum(row.times(k + 1) + column), 2)
    else:
        rows = _times(_sum(row), _sum(width + (-k - 1)))
        twice = _plus(_plus(_sum((column - row + (-k - 1)).times(2)), rows, 2), pairs, -1)
    own = _twice(place)
    rest = None if own is None else _plus(own, twice, -1)
    if rest is None or any(rest) or rest.get((), 0) % 2 or rest.get((), 0) < 0:
        return None
    return rest.get((), 0) // 2


def _twice(place: eq.Expr) -> Terms | None:
    """``2 * place`` as a polynomial; of two halves it is not known that each is a whole number."""
    total, halves = Terms(), 0
    for atom, c in linear(place).terms:
        match atom:
            case eq.Op(name="floordiv" | "tdiv", args=(x, eq.Const(value=2))):
                halves += 1
                total = _plus(total, _polynomial(x), c)
                if abs(c) != 1:
                    return None
            case _:
                total = _plus(total, _polynomial(atom), 2 * c)
    return _plus(total, {(): 1}, 2 * linear(place).constant) if halves < 2 else None


def _polynomial(e: eq.Expr) -> Terms:
    found = linear(e)
    total = _plus({}, {(): 1}, found.constant)
    for atom, c in found.terms:
        match atom:
            case eq.Op(name="mul", args=(x, y)):
                total = _plus(total, _times(_polynomial(x), _polynomial(y)), c)
            case _:
                total = _plus(total, {(atom,): 1}, c)
    return total


def _sum(found: Linear) -> Terms:
    return {**{(a,): c for a, c in found.terms if c}, **({(): found.constant} if found.constant else {})}


def _plus(p: Terms, q: Terms, times: int = 1) -> Terms:
    sums = dict(p)
    for m, c in q.items():
        sums[m] = sums.get(m, 0) + times * c
    return {m: c for m, c in sums.items() if c}


def _times(p: Terms, q: Terms) -> Terms:
    total = Terms()
    for m, c in p.items():
        for n, d in q.items():
            total = _plus(total, {tuple(sorted((*m, *n), key=repr)): c * d})
    return total


__all__ = ["packed"]
