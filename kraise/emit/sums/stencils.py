"""Weighted sums over a window of a matrix: rows are added first, then columns of these sums are.

``w[0, 0] * x[:-2, :-2] + w[1, 0] * x[1:-1, :-2] + …`` by its columns is ``(w[0, 0] * x[:-2] + …)[:, :-2] + …``: the
gradient fills up one array a column, and one a row, in place of one for each cell of the window, and XLA makes what it
fills up with anew each time. That pays for a sum that is used several times (``s * s``): where it is not, the gradient
is no more than the weights times what comes in. Where all columns have the same weights, their rows are added once.
"""

from __future__ import annotations

from functools import partial

from kraise.emit import tree
from kraise.emit.blocks import Assign, Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.python import ALL, Atom, Py, flat
from kraise.ir import equations as eq

_MOST = 64  # terms
Term = tuple[Py | None, py.Sub]


def shared(low: Lowering, node: eq.Op, frame: Frame) -> Val | None:
    """Such a sum that is used several times; None for other values."""
    return by_columns(low, node, frame) if low.ctx.uses[node] > 1 else None


def by_columns(low: Lowering, node: eq.Op, frame: Frame) -> Val | None:
    """A sum of at least two rows in at least two columns, each time a number; None for other sums."""
    leaves = _leaves(low, node) if node.name == "add" else []
    if not 4 <= len(leaves) <= _MOST or len(frame) != 2:
        return None
    groups: dict[str, list[Term]] = {}
    bases: set[Py] = set()
    for leaf in leaves:
        term = _term(low, leaf, frame)
        if term is None:
            return None
        bases.add(term[1].value)
        groups.setdefault(flat(term[1].items[1]), []).append(term)
    rows = [[t[1].items[0] for t in terms] for terms in groups.values()]
    if len(bases) != 1 or len(groups) < 2 or any(len(set(map(flat, r))) < max(2, len(r)) for r in rows):
        return None
    sums = [_summed(terms) for terms in groups.values()]
    if all(s == sums[0] for s in sums):
        depth = low.ctx.depth(node)
        name = low.ctx.names.fresh("rows")
        low.ctx.emit(Assign(name, sums[0], None, True), depth)
        sums = [Atom(name)] * len(sums)
    text: Py | None = None
    for part, terms in zip(sums, groups.values(), strict=True):
        columns = py.Sub(part, (ALL, terms[0][1].items[1]))
        text = columns if text is None else py.Bin("+", text, columns)
    assert text is not None
    return Val(text, frame, 2)


def _leaves(low: Lowering, node: eq.Expr) -> list[eq.Expr]:
    """What a sum adds, as far as its parts have no names of their own."""
    out: list[eq.Expr] = []
    stack = [node]
    while stack and len(out) <= _MOST:
        top = stack.pop()
        inner = top is node or (low.ctx.uses[top] < 2 and top not in low.ctx.wishes)
        if isinstance(top, eq.Op) and top.name == "add" and inner:
            stack += reversed(top.args)
        else:
            out.append(top)
    return out


def _term(low: Lowering, leaf: eq.Expr, frame: Frame) -> Term | None:
    """A part of a matrix, and the number that it is multiplied with."""
    factor: eq.Expr | None = None
    match leaf:
        case eq.Op(name="mul", args=(eq.Read() as load, other)) | eq.Op(name="mul", args=(other, eq.Read() as load)):
            if not low.ctx.free(load) & {a.name for a in frame}:
                load, other = other, load  # type: ignore[assignment]
            factor, leaf = other, load
    if not isinstance(leaf, eq.Read) or low.ctx.uses[leaf] > 1 and leaf in low.ctx.wishes:
        return None
    if len(leaf.subscripts) != 2 or low.ctx.free(leaf) != {a.name for a in frame}:
        return None
    if factor is not None and not all(map(partial(_known, low), tree.walk(factor))):
        return None  # its own gradient would meet the cells beyond the columns asked for, which may be infinite
    part = low.lower(leaf, frame)
    if part.axes != frame or not isinstance(part.py, py.Sub) or not isinstance(part.py.value, Atom):
        return None
    if len(part.py.items) != 2 or not all(_near_the_rim(i) for i in part.py.items):
        return None
    return (None if factor is None else low.lower(factor, ()).py), part.py


def _known(low: Lowering, node: eq.Expr) -> bool:
    """A number of the source, an entry of a table of its, or an operation on these."""
    match node:
        case eq.Const() | eq.Op() | eq.Cast():
            return True
        case eq.Read(version=version, subscripts=at):
            return version.array in low.ctx.tables and all(isinstance(s, eq.Const) for s in at)
    return False


def _near_the_rim(item: Py) -> bool:
    """``:``, ``1:``, ``:-2``, ``1:-1``: nearly all of an axis."""
    if not isinstance(item, py.Slice) or item.step is not None:
        return False
    low, high = ("" if b is None else flat(b) for b in (item.lo, item.hi))
    return (not low or low.isdigit()) and (not high or (high[0] == "-" and high[1:].isdigit()))


def _summed(terms: list[Term]) -> Py:
    out: Py | None = None
    for factor, part in terms:
        row: Py = part.value if part.items[0] == ALL else py.Sub(part.value, (part.items[0],))
        row = row if factor is None else py.Bin("*", factor, row)
        out = row if out is None else py.Bin("+", out, row)
    assert out is not None
    return out


__all__ = ["by_columns", "shared"]
