"""Members of rows of a flat array: ``p[3 * f[t]]``, ``p[3 * f[t] + 1]``, ``p[3 * f[t] + 2]``, or those of row t.

All members of a row are there where each of them is loaded, or each is added to: the array is then seen in rows of so
many, and a row at a place that data say is gathered, or scattered, in about the time of one cell (see
:mod:`kraise.emit.loads.row_members` and :mod:`kraise.emit.stores.added`). Rows of three members and more are columns
of a matrix where they are taken one after the other, too (``p2[:, 1]``, not ``p[1 : 3 * n + 1 : 3]``: on a CPU,
the gradient of nine strided slices takes four times as long). The side conditions: nothing keeps the loads from places
outside, the stores are under one mask, and what is loaded by columns is not stored to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.emit import tree
from kraise.emit.loads.mapped import Axes, named
from kraise.emit.loads.picked import NAME
from kraise.emit.loads.row_members import loads_of
from kraise.emit.text.linear import from_zero, linear
from kraise.ir import equations as eq
from kraise.ir.types import INT, ArrayType
from kraise.ir.walk import map_statement, transform

_MOST = 16


@dataclass(frozen=True)
class _Place:
    """Member ``at`` of row ``row`` of rows of ``size``; ``index``: the axis that the row is the number of."""

    row: eq.Expr
    at: int
    size: int
    index: str = ""


_Rows = tuple[eq.Version, eq.Expr, int]


def in_rows(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such loads and stores in rows."""
    flat = {p.name for p in kernel.params if isinstance(p.type, ArrayType) and p.type.ndim == 1 and not p.type.tail}  # type: ignore[attr-defined]
    free = tree.Free()
    loads: dict[_Rows, dict[Axes, set[int]]] = {}
    stores: dict[tuple[object, ...], set[int]] = {}
    places: dict[eq.Read, _Place] = {}

    def member(n: eq.Read) -> bool:
        plain = n.version.array in flat and not (n.view or n.safe or n.outside or n.limit is not None)
        found = _place(n.subscripts) if plain else None
        return found is not None and not (found.index and n.version.array in stored_to)

    elsewhere: set[eq.Expr] = set()
    stored_to = {s.after.array for s in tree.statements(kernel.body) if isinstance(s, eq.Write)}
    ends: dict[tuple[str, int], set[eq.Expr]] = {}
    for s in tree.statements(kernel.body):
        if not isinstance(s, eq.Write):
            elsewhere |= {*tree.walk(*tree.statement_roots(s))}
            continue
        for root in tree.statement_roots(s):
            for n, axes in loads_of(root, s.axes, member):
                p = places.setdefault(n, _place(n.subscripts))  # type: ignore[arg-type]
                own = tuple(a for a in axes if a.name in free(n))
                last = own[0].hi if p.index and len(own) == 1 and from_zero(own[0]) else p.row
                ends.setdefault((n.version.array, p.size), set()).add(last)
                loads.setdefault((n.version, p.row, p.size), {}).setdefault(own, set()).add(p.at)
        if (key := _added(s, flat)) is not None:
            stores.setdefault(key[:-1], set()).add(key[-1])  # type: ignore[arg-type]
    into: dict[eq.Read, eq.Read] = {}
    for n, p in places.items():
        if n not in elsewhere and all(len(found) == p.size for found in loads[n.version, p.row, p.size].values()):
            view = _view(n.version.array, p)
            tops = ends[n.version.array, p.size]
            if p.index and len(tops) == 1 and p.row not in tops:
                view = (next(iter(tops)), *view[1:])
            into[n] = replace(n, subscripts=_pair(p), view=view)
    whole = {key for key, found in stores.items() if len(found) == key[-1]}
    if not into and not whole:
        return kernel

    def rows(e: eq.Expr) -> eq.Expr:
        return transform(e, lambda x: x, memo)

    # what axes say before what data say: the places of the data may themselves be members of rows
    memo: dict[eq.Expr, eq.Expr] = {n: new for n, new in into.items() if places[n].index}
    for n, new in into.items():
        if not places[n].index:
            memo[n] = replace(new, subscripts=(rows(new.subscripts[0]), *new.subscripts[1:]))

    def stored(s: eq.Stmt) -> eq.Stmt:
        match s:
            case eq.Fold():
                return replace(s, body=tuple(map(stored, s.body)))
            case eq.Write() if (key := _added(s, flat)) is not None and key[:-1] in whole:
                p = _place(s.subscripts)
                assert p is not None
                return replace(s, subscripts=_pair(p), view=_view(s.before.array, p))
        return s

    done = replace(kernel, body=tuple(map_statement(stored(s), rows) for s in kernel.body))
    return named(done, ((n.expr, rows(n.expr)) for n in kernel.names))


def _added(s: eq.Write, flat: set[str]) -> tuple[object, ...] | None:
    """What additions to the members of one row have in common, the size of the rows last, and the member."""
    if s.accumulate != "add" or s.before.array not in flat or s.view or s.segments:
        return None
    p = _place(s.subscripts)
    return None if p is None else (s.before.array, s.axes, s.where, s.safe, p.row, p.size, p.at)


def _pair(p: _Place) -> tuple[eq.Expr, ...]:
    return p.row, eq.Const(p.at, INT)


def _view(array: str, p: _Place) -> tuple[eq.Expr, ...]:
    size = eq.Const(p.size, INT)
    return eq.Op("floordiv", (eq.Shape(array, 0, INT), size), INT), size


def _place(subscripts: tuple[eq.Expr, ...]) -> _Place | None:
    """The row that data or an axis say and the member, of a place ``size * row + member``."""
    if len(subscripts) != 1:
        return None
    form = linear(subscripts[0])
    if len(form.terms) != 1:
        return None
    atom, size = form.terms[0]
    if not 1 < size <= _MOST:
        return None
    if isinstance(atom, eq.Index) and size > 2:
        return _Place(atom, form.constant, size, atom.name) if 0 <= form.constant < size else None
    if not (isinstance(atom, eq.Read) or isinstance(atom, eq.Op) and atom.name == NAME):
        return None
    back, at = divmod(form.constant, size)
    row = atom if not back else eq.Op("add", (atom, eq.Const(back, INT)), INT)
    return _Place(row, at, size)


__all__ = ["in_rows"]
