"""Scratch arrays as the values that they hold: one cell (or one for each block), stored once, is a scalar.

``__shared__ float s; if (t == 0) s = …; __syncthreads();`` leaves an array of one cell, which thread 0 fills for all
(raising.md, step 6). An axis of extent 1 says nothing, and is gone; a cell that is stored without a condition and read
where it was stored, under the same index, is what was stored.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import equations as eq
from kraise.ir.walk import map_statement, statement_expressions, statements, substitute, topological, transform
from kraise.raising.memory.private import stored
from kraise.raising.writes.finish import covers
from kraise.raising.writes.trailing import plain

Shapes = dict[str, tuple[eq.Expr, ...]]
Stmts = tuple[eq.Stmt, ...]


def squeezed(stmts: Stmts, shapes: Shapes, kept: frozenset[str]) -> tuple[Stmts, Shapes]:
    """``stmts`` without the axes of extent 1 of arrays that the kernel makes, of ``shapes``, and the shapes then.

    The arrays ``kept`` are seen elsewhere: they stay as they are.
    """
    drop = {a: d for a, shape in shapes.items() if a not in kept and (d := _single(shape))}
    for s in statements(stmts):
        for node in topological(statement_expressions(s, nested=False)):
            if isinstance(node, eq.Read):
                _check(drop, node, node.safe)
        if isinstance(s, eq.Write):
            _check(drop, s, s.safe or s.segments)
    if not any(drop.values()):
        return stmts, shapes
    left = {a: tuple(n for d, n in enumerate(shape) if d not in drop.get(a, ())) for a, shape in shapes.items()}
    return tuple(_without(s, drop) for s in stmts), left


def as_values(stmts: Stmts, shapes: Shapes, kept: frozenset[str]) -> tuple[Stmts, list[eq.Name]]:
    """``stmts`` with values in place of the cells that are read where they were stored, and these values' names: those
    of the arrays."""
    found: dict[str, eq.Name] = {}
    stmts = _forwarded(stmts, {a: shape for a, shape in shapes.items() if a not in kept}, found)
    return _without_unread(stmts, frozenset(found)), [n for a, n in found.items() if "$" not in a]


def _single(shape: tuple[eq.Expr, ...]) -> frozenset[int]:
    return frozenset(d for d, n in enumerate(shape) if isinstance(n, eq.Const) and n.value == 1)


def _check(drop: dict[str, frozenset[int]], access: eq.Read | eq.Write, odd: bool) -> None:
    """Leaves in ``drop`` the axes along which the access is to the only cell."""
    array = access.version.array if isinstance(access, eq.Read) else access.before.array
    if array in drop:
        subs = access.subscripts
        own = {d for d in drop[array] if isinstance(subs[d], eq.Const) and subs[d].value == 0} if subs else set()  # type: ignore[union-attr]
        drop[array] = frozenset() if odd or access.view else frozenset(own)


def _without(s: eq.Stmt, drop: dict[str, frozenset[int]]) -> eq.Stmt:
    memo: dict[eq.Expr, eq.Expr] = {}

    def less(array: str, items: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
        return tuple(x for d, x in enumerate(items) if d not in drop.get(array, ()))

    def one(e: eq.Expr) -> eq.Expr:
        if isinstance(e, eq.Read) and drop.get(e.version.array):
            return eq.Read(e.version, less(e.version.array, e.subscripts), e.type, (), e.safe)
        return e

    def fn(e: eq.Expr) -> eq.Expr:
        return transform(e, one, memo)

    def shorter(s: eq.Stmt) -> eq.Stmt:
        match s:
            case eq.Write(after=after):
                return replace(s, subscripts=less(after.array, s.subscripts))
            case eq.New(version=version):
                return replace(s, shape=less(version.array, s.shape))
            case eq.Fold(body=body):
                return replace(s, body=tuple(map(shorter, body)))
        return s

    return map_statement(shorter(s), fn)


# --- cells as values -------------------------------------------------------------------------


def _forwarded(stmts: Stmts, shapes: Shapes, found: dict[str, eq.Name]) -> Stmts:
    """``stmts`` with the loads of cells as what the store before gave them, within folds too; ``found`` is filled."""
    out: list[eq.Stmt] = []
    cells: dict[eq.Version, eq.Write] = {}

    def cell(e: eq.Expr) -> eq.Expr | None:
        if not isinstance(e, eq.Read) or e.version not in cells or e.subscripts != cells[e.version].subscripts:
            return None
        value = stored(cells[e.version].value, e.type)
        if value.type != e.type:
            return None
        found.setdefault(e.version.array, eq.Name(value, e.version.array, cells[e.version].span))
        return value

    def fn(e: eq.Expr) -> eq.Expr:
        mapping = {n: v for n in topological((e,)) if (v := cell(n)) is not None}
        return substitute(e, mapping) if mapping else e

    for s in stmts:
        if isinstance(s, eq.Fold):
            out.append(replace(s, body=_forwarded(s.body, shapes, found)))
            continue
        s = map_statement(s, fn) if cells else s
        if isinstance(s, eq.Write) and s.after.array in shapes and plain(s) and not s.view:
            covering = covers(s.axes, s.subscripts, s.after.array, shapes)
            s = replace(s, covers=covering or s.covers)
            if covering:
                cells[s.after] = s
        out.append(s)
    return tuple(out)


def _without_unread(stmts: Stmts, arrays: frozenset[str]) -> Stmts:
    """``stmts`` without those of ``arrays`` that nothing reads and no fold carries."""
    every = [*statements(stmts)]
    nodes = topological([e for s in every for e in statement_expressions(s, nested=False)])
    used = {n.version.array for n in nodes if isinstance(n, eq.Read)}
    used |= {c.result.array for s in every if isinstance(s, eq.Fold) for c in s.arrays}
    gone = arrays - used

    def kept(body: Stmts) -> Stmts:
        out: list[eq.Stmt] = []
        for s in body:
            if isinstance(s, eq.Fold):
                s = replace(s, body=kept(s.body))
            array = s.after.array if isinstance(s, eq.Write) else s.version.array if isinstance(s, eq.New) else ""
            if array not in gone:
                out.append(s)
        return tuple(out)

    return kept(stmts) if gone else stmts


__all__ = ["as_values", "squeezed"]
