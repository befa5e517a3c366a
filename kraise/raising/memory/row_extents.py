"""How many rows the views of flat arrays have, once all accesses are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kraise.ir import equations as eq
from kraise.ir.walk import transform
from kraise.raising.run.state import ROWS

Extent = Callable[[str, tuple[eq.Expr, ...]], eq.Expr]  # of an array, by the extents of a row


def in_rows_of(extent: Extent) -> Callable[[eq.Expr], eq.Expr]:
    """What puts the number of rows into the views of loads."""
    memo: dict[eq.Expr, eq.Expr] = {}

    def one(node: eq.Expr) -> eq.Expr:
        if isinstance(node, eq.Read) and node.view and node.view[0] is ROWS:
            view = (extent(node.version.array, node.view[1:]), *node.view[1:])
            return eq.Read(node.version, node.subscripts, node.type, view, node.safe)
        return node

    return lambda e: transform(e, one, memo)


def writes_in_rows(s: eq.Stmt, extent: Extent) -> eq.Stmt:
    """A store with the number of rows in its view, within folds too."""
    match s:
        case eq.Write() if s.view and s.view[0] is ROWS:
            return replace(s, view=(extent(s.after.array, s.view[1:]), *s.view[1:]))
        case eq.Fold():
            return replace(s, body=tuple(writes_in_rows(b, extent) for b in s.body))
    return s


__all__ = ["in_rows_of", "writes_in_rows"]
