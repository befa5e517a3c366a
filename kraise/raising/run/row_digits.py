"""Digits of subscripts in which a row is a number that all threads share."""

from __future__ import annotations

from kraise.analysis.delinearize import Digits, digits
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, substitute, topological


def with_rows(s: eq.Expr, path: tuple[eq.Expr, ...]) -> tuple[dict[eq.Expr, eq.Expr], Digits | None]:
    """The digits of a subscript in which a row is a digit like another, be it an element of an array, what a loop
    carries (``i * m + count``) or a parameter (``a * m + i``), and what stands for the rows in them."""
    rows: dict[eq.Expr, eq.Expr] = {n: eq.Index(f"$row {at}", INT) for at, n in enumerate(_still(s))}
    if any(isinstance(n, eq.CarryIn) for n in rows):
        path = tuple(substitute(c, rows) for c in path)  # a guard and a counter's start bound it
    found = digits(to_poly(substitute(s, rows) if rows else s), path, gaps=True)
    if found is not None or rows:
        return rows, found
    terms = [m for m in to_poly(s).terms if len(m) == 2 and all(isinstance(a, eq.Param) for a in m)]
    for given in dict.fromkeys(a for m in terms for a in m):
        rows = {given: eq.Index("$row", INT)}
        if (found := digits(to_poly(substitute(s, rows)), path, gaps=True)) is not None:
            return rows, found
    return {}, None


def _still(e: eq.Expr) -> list[eq.Expr]:
    """Elements of arrays in a subscript that are the same for all threads and rounds, and what a loop carries."""
    nodes = topological((e,))
    return [n for n in nodes if isinstance(n, eq.CarryIn) or (isinstance(n, eq.Read) and not free_indices(n))]
