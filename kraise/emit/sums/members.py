"""A sum of what the members of each row make alike, as one sum over rows and members.

``sum(d[:, 0] ** 2 + d[:, 1] ** 2 + d[:, 2] ** 2)`` is ``sum(d ** 2)``: members apart are strided, all are one run of
cells. (Measured on a million rows of four: a tenth of the time, of the gradient a twentieth.) The side conditions: the
terms differ by the members of what they load alone, and these are next to one another.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit import tree
from kraise.emit.loads.mapped import mapped, named
from kraise.emit.stores import alike
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import transform

_PART = eq.Index("part", INT)
_FEWEST, _MOST = 2, 16


def together(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such sums as one."""
    memo: dict[eq.Expr, eq.Expr] = {}
    done = mapped(kernel, lambda e, axes: transform(e, _one, memo))
    return named(done, memo.items())


def _one(node: eq.Expr) -> eq.Expr:
    if not isinstance(node, eq.Reduce) or node.op != "add" or not node.type.is_inexact:
        return node
    terms = _terms(node.body)
    if not _FEWEST <= len(terms) <= _MOST:
        return node
    order = alike.by_member(terms)
    value = None if order is None else alike.one_of(node.axes, order, _PART)
    if value is None or any(a.name == _PART.name for n in tree.walk(value) for a in tree.axes_of(n)):
        return node
    wide = eq.Axis(_PART.name, eq.Const(0, INT), eq.Const(len(terms), INT))
    return replace(node, axes=(*node.axes, wide), body=value)


def _terms(e: eq.Expr) -> tuple[eq.Expr, ...]:
    if isinstance(e, eq.Op) and e.name == "add" and e.type.is_inexact:
        return tuple(t for a in e.args for t in _terms(a))
    return (e,)


__all__ = ["together"]
