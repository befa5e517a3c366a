"""Whole rows of a flat array at places that data say: ``x[idx[i] * m + j]`` for all j < m is row ``idx[i]`` of ``x``.

A gather of rows copies runs of cells, one of cells looks up each on its own (a scatter of rows of 64: a quarter of the
time on CPUs). On a well-defined launch the cells of a row
that is read lie in the array, all of them, if no condition asks for the place in the row: then the row is one of those
that the array has whole.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit import tree
from kraise.emit.loads import gathered_blocks
from kraise.emit.loads.mapped import Axes, mapped, named
from kraise.emit.loads.views import of_blocks
from kraise.ir import equations as eq
from kraise.ir.types import INT, ArrayType

ZERO = eq.Const(0, INT)


def in_rows(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such loads as loads from rows."""
    flat = {p.name for p in kernel.params if isinstance(p.type, ArrayType) and p.type.ndim == 1 and not p.type.tail}  # type: ignore[attr-defined]
    roots = [r for s in tree.statements(kernel.body) for r in tree.statement_roots(s)]
    loads = [n for n in tree.walk(*roots) if isinstance(n, eq.Read) and n.version.array in flat]
    stores = [s for s in tree.statements(kernel.body) if isinstance(s, eq.Write) and s.before.array in flat]
    places: list[eq.Read | eq.Write] = [*loads, *stores]
    found = any(_place(n) or gathered_blocks.candidate(n) for n in places)
    return _Rows(kernel, flat).kernel if found else kernel


def _place(node: eq.Read | eq.Write) -> tuple[eq.Op, list[eq.Expr]] | None:
    """``e * m + j`` with data in e: the product and the other terms; None for any other place."""
    if len(node.subscripts) != 1 or node.view or isinstance(node, eq.Read) and (node.outside or node.limit is not None):
        return None
    terms = _terms(node.subscripts[0])
    products = [t for t in terms if isinstance(t, eq.Op) and t.name == "mul" and _holds_data(t)]
    return (products[0], [t for t in terms if t is not products[0]]) if len(products) == 1 and len(terms) == 2 else None


def _terms(e: eq.Expr) -> list[eq.Expr]:
    return [t for a in e.args for t in _terms(a)] if isinstance(e, eq.Op) and e.name == "add" else [e]


def _holds_data(e: eq.Expr) -> bool:
    return any(isinstance(n, eq.Read) for n in tree.walk(e))


def _bare(e: eq.Expr) -> eq.Expr:
    return e.arg if isinstance(e, eq.Cast) and e.type.is_integer and isinstance(e.arg, eq.Index) else e


class _Rows:
    def __init__(self, kernel: eq.Kernel, flat: set[str]):
        self.free = tree.Free()
        self.flat = flat
        self.over: dict[tuple[eq.Expr, Axes], frozenset[str]] = {}  # by value: what the condition over it asks for
        for s in tree.statements(kernel.body):
            match s:
                case eq.Write(where=where) if where is not None:
                    self._asked(s.value, s.axes, where)
                case eq.Fold(condition=condition) if condition is not None:
                    for c in s.scalars:
                        self._asked(c.update, c.axes, condition)
                    for o in s.outputs:
                        self._asked(o.value, o.axes, condition)
        self.memo: dict[tuple[eq.Expr, Axes, frozenset[str], frozenset[str]], eq.Expr] = {}
        self.outer = frozenset[str]()  # the indices of the statement: where one has no value, nothing of it is run
        done = mapped(kernel, self._value)
        done = replace(done, body=tuple(map(self._stored, done.body)))
        self.kernel = named(done, ((old, new) for (old, *_), new in self.memo.items()))

    def _stored(self, s: eq.Stmt) -> eq.Stmt:
        """A statement with its stores to such places as stores to rows."""
        match s:
            case eq.Write() if s.before.array in self.flat and not s.segments:
                asked = frozenset() if s.where is None else self.free(s.where)
                self.outer = frozenset(a.name for a in s.axes)
                found = self._found(s, s.before.array, {a.name: a for a in s.axes}, asked)
                return s if found is None else replace(s, subscripts=found[0], view=found[1])
            case eq.Fold():
                return replace(s, body=tuple(map(self._stored, s.body)))
        return s

    def _asked(self, value: eq.Expr, axes: Axes, condition: eq.Expr) -> None:
        self.over[value, axes] = self.over.get((value, axes), frozenset()) | self.free(condition)

    def _value(self, value: eq.Expr, axes: Axes) -> eq.Expr:
        self.outer = frozenset(a.name for a in axes)
        return self._expression(value, axes, self.over.get((value, axes), frozenset()))

    def _expression(self, node: eq.Expr, axes: Axes, asked: frozenset[str]) -> eq.Expr:
        """The expression over ``axes``; conditions around it ask for the indices ``asked``."""
        found = self.memo.get((node, axes, asked, self.outer))
        if found is None:
            inner, more = axes, asked
            match node:
                case eq.Reduce(where=where) | eq.ArgReduce(where=where):
                    inner = (*axes, *tree.axes_of(node))
                    more = asked if where is None else asked | self.free(where)
                case eq.Scan():
                    inner = (*axes, *tree.axes_of(node))
                case eq.Op(name="select" | "and" | "or"):
                    more = asked.union(*map(self.free, node.args[: 1 if node.name == "select" else None]))
            found = tree.rebuilt(node, {c: self._expression(c, inner, more) for c in tree.children(node)})
            if isinstance(found, eq.Read) and found.version.array in self.flat:
                found = self._load(found, {a.name: a for a in axes}, asked)
            self.memo[node, axes, asked, self.outer] = found
        return found

    def _load(self, node: eq.Read, ranges: dict[str, eq.Axis], asked: frozenset[str]) -> eq.Read:
        found = self._found(node, node.version.array, ranges, asked)
        return node if found is None else eq.Read(node.version, found[0], node.type, found[1], node.safe)

    def _found(
        self, node: eq.Read | eq.Write, array: str, ranges: dict[str, eq.Axis], asked: frozenset[str]
    ) -> tuple[tuple[eq.Expr, ...], tuple[eq.Expr, ...]] | None:
        """The row and the place in it, and the view of the array as its rows; None where it is no whole row."""
        if (blocks := gathered_blocks.found(node, array, ranges, asked, self.free)) is not None:
            return blocks
        place = _place(node)
        if place is None:
            return None
        product, (column,) = place
        index = _bare(column)
        axis = ranges.get(index.name) if isinstance(index, eq.Index) else None
        if axis is None or axis.name in asked | self.free(product) or axis.lo != ZERO or axis.step != 1:
            return None
        for row, size in (product.args, product.args[::-1]):
            if size == axis.hi or (isinstance(size, eq.Const) and size.value == getattr(axis.hi, "value", None)):
                return (row, index), of_blocks(array, (axis.hi,), axis.name not in self.outer)
        return None


__all__ = ["in_rows"]
