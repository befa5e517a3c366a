"""What a sum of products is added to: bytes that a float, or an integer of 32 bits, counts are added up as those.

``c[i, j] += a[i, k] * b[k, j]`` and ``s = bias[j]; s += x[k] * w[k, j]`` are sums of the type of ``c`` and of ``bias``;
JAX's ``a @ b`` is one of the type of what it multiplies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraise.emit import tree
from kraise.ir import equations as eq
from kraise.ir.open_types import is_open
from kraise.ir.types import NUMBER


def summed_into(body: tuple[eq.Stmt, ...], values: Iterable[eq.Expr]) -> dict[eq.Expr, eq.Version]:
    """Sums of open products, with the array whose element of open type each is added to."""
    found: dict[eq.Expr, eq.Version] = {}
    statements = tuple(tree.statements(body))
    for s in statements:
        if isinstance(s, eq.Write) and s.accumulate == "add":
            found.update((total, s.before) for total in _sums(s.value))
    for node in tree.walk(*(r for s in statements for r in tree.statement_roots(s)), *values):
        match node:
            case eq.Op(name="add" | "sub", args=(a, b)):
                for cell, other in ((a, b), (b, a)):
                    if isinstance(cell, eq.Read) and cell.type == NUMBER:
                        found.update((total, cell.version) for total in _sums(other))
    return found


def _sums(e: eq.Expr) -> Iterator[eq.Reduce]:
    """The open sums that are terms of a value."""
    match e:
        case eq.Reduce(op="add") if is_open(e):
            yield e
        case eq.Op(name="add" | "sub" | "neg", args=args):
            for a in args:
                yield from _sums(a)
