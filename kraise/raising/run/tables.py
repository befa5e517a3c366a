"""What the tables of a module say of the integers in them: the least and the largest.

A place such as ``q * n + (i + dx[q] + n) % n`` is known by them to lie in row q.
"""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import substitute, topological, transform
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
    """Whether ``e`` is index arithmetic, entries of the module's tables and choices between such places included."""
    if index_like(e):
        return True
    known = {c.args[0] for c in cx.of_tables if isinstance(c, eq.Op)}

    def bounded(n: eq.Expr) -> bool:
        if isinstance(n, eq.Op) and n.name == "select" and n.type.kind == "int":
            return bounded(n.args[1]) and bounded(n.args[2])
        return n in known or index_like(n)

    entries = {n: eq.Index("$entry", INT) for n in topological((e,)) if bounded(n)}
    return bool(entries) and index_like(substitute(e, entries))


def without_casts(place: eq.Expr) -> eq.Expr:
    """The place with its indices as they are: a sum with a choice, or with a table's entry, is one of C's integers,
    which they fit."""
    if index_like(place) or not any(_of_c(n) for n in topological((place,))):
        return place

    def bare(n: eq.Expr) -> eq.Expr:
        fits = isinstance(n, eq.Cast) and n.type.kind == "int" and (n.type.bits or 0) >= 32
        return n.arg if fits and index_like(n.arg) else n  # type: ignore[union-attr]

    return transform(place, bare)


def _of_c(n: eq.Expr) -> bool:
    return isinstance(n, eq.Read) or (isinstance(n, eq.Op) and n.name == "select")
