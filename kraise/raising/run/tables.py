"""What the tables of a module say of the integers in them: the least and the largest.

A place such as ``q * n + (i + dx[q] + n) % n`` is known by them to lie in row q.
"""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import substitute, topological
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.context import Context


def in_table(cx: Context, load: eq.Read) -> tuple[eq.Expr, ...]:
    """The bounds of an integer that is loaded from one of the module's tables, which later proofs know, too; () of
    other loads."""
    if not load.type.is_integer or load.version.number:
        return ()
    table = next((c for c in cx.module.constants if c.name == load.version.array and c.shape), None)
    if table is None or not table.values or not all(isinstance(v, int) for v in table.values):
        return ()
    ends = (("ge", min(table.values)), ("le", max(table.values)))  # type: ignore[type-var]
    known = tuple(eq.Op(name, (load, eq.Const(v, INT)), BOOL) for name, v in ends)
    cx.of_tables = tuple(dict.fromkeys((*cx.of_tables, *known)))
    return known


def place_like(cx: Context, e: eq.Expr) -> bool:
    """Whether ``e`` is index arithmetic, entries of the module's tables included."""
    if index_like(e) or not cx.of_tables:
        return index_like(e)
    known = {c.args[0] for c in cx.of_tables if isinstance(c, eq.Op)}
    entries = {n: eq.Index("$entry", INT) for n in topological((e,)) if n in known}
    return bool(entries) and index_like(substitute(e, entries))
