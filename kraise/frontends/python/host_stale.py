"""Names of a host function that may stand for a row of an array which changes: ``r = A[0]`` is no copy in NumPy.

A name that is bound to ``A[0]`` is read as a number where nothing tells that ``A`` has a second axis, and then it is a
value of its own. Of a row it would be a view. Side condition of that reading: the name is surely a number
(:mod:`kraise.frontends.python.host_numbers`), or no memory of ``A`` changes between its binding and where it is read.
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.source import all_of
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import Memory, flat, stored, stored_by
from kraise.ir.host_names import reads, sets

_Rows = dict[str, tuple[str, bool]]  # names that may be rows: of which memory, and whether that has changed since


def check_current(scope: HostScope, body: tuple[h.Stmt, ...]) -> None:
    """Refuses a function that reads such a name where the memory has changed."""
    if any(isinstance(s, h.Assign) for s in flat(body)):
        _Walk(scope, body).block(body, {})


class _Walk:
    """The statements in their order, with the names that may be rows at each."""

    def __init__(self, scope: HostScope, body: tuple[h.Stmt, ...]):
        self.scope, self.memory = scope, Memory(body)
        self.stores = {n: stored(f) for n, f in scope.functions.items()}
        self.left: list[_Rows] = []  # where a loop, or a round of it, is left

    def block(self, body: Iterable[h.Stmt], rows: _Rows) -> _Rows:
        """What is known after the statements."""
        for stmt in body:
            rows = self._statement(stmt, rows)
        return rows

    def _statement(self, stmt: h.Stmt, rows: _Rows) -> _Rows:
        self._check(stmt, rows)
        match stmt:
            case h.If(body=body, orelse=orelse):
                return _both(self.block(body, rows), self.block(orelse, rows))
            case h.For(body=body) | h.While(body=body):
                outer, self.left = self.left, []
                for _ in range(2):  # what one round has changed, the next one may read
                    rows = _both(rows, self.block(body, rows))
                    for at_end in self.left:
                        rows = _both(rows, at_end)
                    self._check(stmt, rows)
                self.left = outer
                return rows
            case h.Break():
                self.left.append(rows)
        changed = {self.memory(n) for n in stored_by(stmt, self.stores)}
        after = {n: (of, stale or of in changed) for n, (of, stale) in rows.items() if n not in sets(stmt)}
        if isinstance(stmt, h.Assign) and stmt.name not in self.scope.numbers | self.scope.copies:
            after.update((stmt.name, row) for row in self._rows(stmt.value, rows))
        return after

    def _rows(self, value: object, rows: _Rows) -> list[tuple[str, bool]]:
        """The row that a value may be."""
        match value:
            case k.Load(array=array, subscripts=at) if self.scope.ranks.get(array) != len(at):
                return [(self.memory(array), False)]
            case k.Var(name=name) if name in rows:
                return [rows[name]]
            case k.Op(name="select", args=(_, a, b)):
                return [*self._rows(a, rows), *self._rows(b, rows)][:1]
        return []

    def _check(self, stmt: h.Stmt, rows: _Rows) -> None:
        for name in sorted(reads(stmt) & rows.keys()):
            of, stale = rows[name]
            if stale:
                said = any(n.value == name for n in all_of(cst.Name, self.scope.source.tree))
                what = name if said else "what changes places here"  # has a name of its own (host_exchange)
                raise self.scope.refuse_at(
                    stmt.span,
                    f"nothing tells that {what} is a number: a row of {of}, which has changed since, would have, too",
                    f"take a copy (`{of}[…].copy()`), or a number (`float({of}[…])`)",
                )


def _both(one: _Rows, other: _Rows) -> _Rows:
    """What may be so after one of two ways."""
    return {n: max((rows[n] for rows in (one, other) if n in rows), key=lambda row: row[1]) for n in {**one, **other}}


__all__ = ["check_current"]
