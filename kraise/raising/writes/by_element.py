"""Accumulations by block and thread into places that data say, as by the elements: ``h[block, d[block * B + t]] += 1``.

Where a guard lets through the elements ``i = block * B + t`` below n, and the thread is asked for nothing but i, the
domain is that of i, below n and below all that the launch has, and the block is ``i / B``: sums have no order. (By
block and thread a place is masked, and what is loaded brought inside, for each lane that has no element.)
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import classify, conjunction, conjuncts, is_static
from kraise.analysis.dependence import implied
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, substitute, topological, transform
from kraise.raising.memory.ranged import box
from kraise.raising.run.arithmetic import operation, tidy
from kraise.raising.run.state import ROWS

Names = tuple[tuple[Poly, str], ...]


def by_element(s: eq.Stmt, names: Names) -> eq.Stmt:
    """The statement with such an accumulation by its elements; ``names`` are the source's for sums of indices."""
    match s:
        case eq.Fold():
            return replace(s, body=tuple(by_element(b, names) for b in s.body))
        case eq.Write(where=where) if s.accumulate and where is not None and not s.view and not s.segments:
            if any(isinstance(n, eq.Read) for n in topological(s.subscripts)):
                return _merged(s, conjuncts(where), names) or s
    return s


def _merged(s: eq.Write, parts: tuple[eq.Expr, ...], names: Names) -> eq.Write | None:
    for block in s.axes:
        for thread in s.axes:
            b, t = eq.Index(block.name, INT), eq.Index(thread.name, INT)
            plain = block is not thread and block.step == thread.step == 1
            size = to_poly(thread.hi)
            if not plain or to_poly(block.lo).terms or to_poly(thread.lo).terms or not is_static(size):
                continue
            place = to_poly(b) * size + to_poly(t)
            ends = [n for c in parts if (n := _below(c, place)) is not None]
            if len(ends) != 1:
                continue
            end = tuple(c for c in parts if _below(c, place) is not None)
            within = (*end, *box(s.axes))
            own = tuple(c for c in parts if c not in end and not implied(within, c))
            name = next((n for p, n in names if p == place), thread.name)
            taken = {n.name for n in topological((*s.subscripts, s.value, *own)) if isinstance(n, eq.Index)}
            taken |= {a.name for a in s.axes}
            name = name if name == thread.name or name not in taken else thread.name
            found = _of_element(s, own, (b, t), (eq.Index(name, INT), size))
            if found is None:
                continue
            last = eq.Op("min", (to_expr(ends[0]), to_expr(to_poly(block.hi) * size)), INT)
            axes = tuple(eq.Axis(name, thread.lo, last) if a is thread else a for a in s.axes if a is not block)
            return replace(found, axes=axes)
    return None


def _below(condition: eq.Expr, place: Poly) -> Poly | None:
    """n of ``place < n``."""
    fact = classify(condition)
    if fact is None or fact.kind != "ge":
        return None
    end = fact.poly + place + 1
    return end if is_static(end) and not end.indices() else None


def _of_element(
    s: eq.Write, own: tuple[eq.Expr, ...], digits: tuple[eq.Index, eq.Index], element: tuple[eq.Index, Poly]
) -> eq.Write | None:
    """The write by its element, if nothing asks for the thread otherwise, and something for the block."""
    (block, thread), (index, size) = digits, element
    inside = to_expr(to_poly(index) - to_poly(block) * size)
    asked = False

    def moved(e: eq.Expr) -> eq.Expr | None:
        nonlocal asked
        new = tidy(substitute(transform(e, _flat), {thread: inside}))
        if any(isinstance(n, eq.CarryIn | eq.FoldResult | eq.Scan) for n in topological((new,))):
            return None
        for n in topological((new,)):
            sums = isinstance(n, eq.Op) and n.name in ("add", "sub") and n.type.is_integer
            if sums and {block.name, index.name} <= free_indices(n) and {block, index} <= to_poly(n).atoms():
                return None
        asked |= block.name in free_indices(new)
        return substitute(new, {block: operation("floordiv", (index, to_expr(size)), INT)})

    new = [moved(e) for e in (*s.subscripts, s.value, *own)]
    if None in new or not asked:
        return None
    subscripts, value = tuple(new[: len(s.subscripts)]), new[len(s.subscripts)]
    where = conjunction(tuple(c for c in new[len(s.subscripts) + 1 :] if c is not None))
    return replace(s, subscripts=subscripts, value=value, where=where)  # type: ignore[arg-type]


def _flat(e: eq.Expr) -> eq.Expr:
    """A load from rows of a flat array by its one subscript."""
    if not isinstance(e, eq.Read) or not e.view or e.view[0] is not ROWS:
        return e
    place = to_poly(e.subscripts[0])
    for subscript, radix in zip(e.subscripts[1:], e.view[1:], strict=True):
        place = place * to_poly(radix) + to_poly(subscript)
    return eq.Read(e.version, (to_expr(place),), e.type, (), e.safe)


__all__ = ["by_element"]
