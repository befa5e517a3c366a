"""The diagonals of a wavefront, and what a round takes from outside: tables over row and column, read along them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.analysis.conditions import is_static
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, NUMBER, ScalarType
from kraise.ir.walk import children, free_indices, rebuild, substitute, topological
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.context import Context
from kraise.raising.run.state import LocalArray, Raw, RawNew, RawWrite, State


class NoFront(Exception):
    """The nest is no wavefront."""


_PLAIN = (eq.Const, eq.Param, eq.Shape, eq.Index, eq.Op, eq.Cast)


@dataclass(frozen=True)
class Front:
    """The diagonals ``w = slope * row + column`` over the cells of the nest and the ``top``, ``left`` and ``right``
    rows and columns beside it that are read: ``row`` from 0 to ``rows``, ``column`` from 0 to ``columns``.

    ``outer`` and ``inner`` are the source's indices as they depend on row and column.
    """

    row: eq.Index
    column: eq.Index
    diagonal: eq.Index
    rows: Poly
    columns: Poly
    slope: int
    top: int
    left: int
    right: int
    outer: eq.Expr
    inner: eq.Expr

    @property
    def diagonals(self) -> Poly:
        return (self.rows - 1) * self.slope + self.columns

    @property
    def place(self) -> Poly:
        """The column of a row's cell on the diagonal."""
        return to_poly(self.diagonal) - to_poly(self.row) * self.slope

    def bounds(self, *which: eq.Index) -> tuple[eq.Expr, ...]:
        """The ranges of these indices."""
        sizes = {self.row: self.rows, self.column: self.columns, self.diagonal: self.diagonals}
        return tuple(c for i in which for c in between(i, sizes[i]))

    def own(self, column: Poly) -> tuple[eq.Expr, ...]:
        """That the cell of a row in that column is one of the nest, not beside it."""
        low = [(to_poly(self.row), self.top)] if self.top else []
        conditions = [eq.Op("ge", (to_expr(x), eq.Const(n, INT)), BOOL) for x, n in (*low, (column, self.left))]
        return (*conditions, eq.Op("lt", (to_expr(column), to_expr(self.columns - self.right)), BOOL))

    def axis(self, index: eq.Index) -> eq.Axis:
        size = self.rows if index is self.row else self.diagonals
        return eq.Axis(index.name, eq.Const(0, INT), to_expr(size))


def between(index: eq.Index, size: Poly) -> tuple[eq.Expr, ...]:
    """``0 <= index < size``."""
    return eq.Op("ge", (index, eq.Const(0, INT)), BOOL), eq.Op("lt", (index, to_expr(size)), BOOL)


def _unsure(e: eq.Expr) -> eq.Expr:
    """The loads of a diagonal may leave their arrays, in lanes that are beside the nest."""
    reads = {n: replace(n, safe=True) for n in topological([e]) if isinstance(n, eq.Read)}
    return substitute(e, reads)  # type: ignore[arg-type]


class Tables:
    """The tables of one nest; ``made`` are the statements that fill them."""

    def __init__(self, cx: Context, st: State, front: Front, indices: tuple[eq.Index, eq.Index], span: Span | None):
        self.cx, self.st, self.front, self.span = cx, st, front, span
        self.i, self.j = indices
        self.made: list[Raw] = []
        self.known: dict[tuple[eq.Expr, bool], eq.Expr] = {}

    def load(self, e: eq.Expr, beside: bool = False) -> eq.Expr:
        """``e``, in which nothing waits for an earlier round, on a diagonal; the cells ``beside`` the nest, too."""
        front = self.front
        on = {self.i: front.outer, self.j: tidy(substitute(front.inner, {front.column: to_expr(front.place)}))}
        if self.j.name not in free_indices(e) or all(isinstance(n, _PLAIN) for n in topological([e])):
            return tidy(substitute(e, on))
        if self._slides(e):
            return _unsure(tidy(substitute(e, on)))
        key = (e, beside)
        if key not in self.known:
            self.known[key] = self._own(e) or self._made_of(e, beside)
        return self.known[key]

    def _slides(self, e: eq.Expr) -> bool:
        """Whether all that ``e`` loads are elements of rows of the row's or of the column's number: a diagonal sees a
        slice of such a row, and needs no table."""
        front = self.front
        for n in topological([self._placed(e)]):
            if isinstance(n, eq.Read):
                if len(n.subscripts) != 1 or n.view:
                    return False
                (at,) = map(to_poly, n.subscripts)
                moved = [i for i in (front.row, front.column) if i in at.atoms()]
                rest = at - Poly({(i,): at.coefficient(i).value or 0 for i in moved})  # type: ignore[dict-item]
                by_one = len(moved) == 1 and at.coefficient(moved[0]).value in (1, -1)
                if not by_one or front.slope != 1 or rest.atoms() & set(moved) or not is_static(rest):
                    return False
            elif not isinstance(n, _PLAIN):
                return False
        return True

    def _made_of(self, e: eq.Expr, beside: bool) -> eq.Expr:
        """A table of ``e`` if its element type is known, else ``e`` made of tables."""
        found = self._element(e)
        if found is not None:
            return self._table(e, beside, *found)
        if not isinstance(e, eq.Op | eq.Cast):
            raise NoFront
        return rebuild(e, tuple(self.load(c, beside) for c in children(e)))

    def _element(self, e: eq.Expr) -> tuple[ScalarType, str] | None:
        """The element type of a table of ``e``, and the array whose type it is, or None if that is not known.

        Floats have the type of the arrays that they are made of, whatever these are given as.
        """
        if not (e.type.is_inexact or e.type.kind == "number"):
            return e.type, ""
        arrays: dict[str, ScalarType] = {}
        stack = [e]
        while stack:
            n = stack.pop()
            match n:
                case eq.Read(version=version, type=t):
                    arrays[version.array] = t
                case eq.Const(type=t) if t.is_integer or (t.is_inexact and e.type.is_inexact):
                    pass
                case eq.Op(name="select", args=(_, *arms)):
                    stack += arms
                case eq.Op(name="add" | "sub" | "mul" | "neg" | "min" | "max"):
                    stack += n.args
                case eq.Op() if e.type.is_inexact:
                    stack += n.args
                case _:
                    return None
        made = {a for a in arrays if a in self.st.locals}
        if len(set(arrays.values())) != 1 or (made and made != arrays.keys()):
            return None
        if len(arrays) > 1 and not e.type.is_inexact:
            return None
        (first, *_) = arrays
        if made:
            return self.st.locals[first].type, self.st.locals[first].like
        return NUMBER, first

    def _placed(self, e: eq.Expr) -> eq.Expr:
        return tidy(substitute(e, {self.i: self.front.outer, self.j: self.front.inner}))

    def _own(self, e: eq.Expr) -> eq.Expr | None:
        """A load at [row, column] itself: the array is the table."""
        if not isinstance(e, eq.Read) or len(e.subscripts) != 2:
            return None
        at = tuple(self._placed(x) for x in e.subscripts)
        if at != (self.front.row, self.front.column):
            return None
        return eq.Read(e.version, (self.front.row, to_expr(self.front.place)), e.type, e.view, True)

    def _table(self, e: eq.Expr, beside: bool, kind: ScalarType, like: str) -> eq.Expr:
        front, cx, st = self.front, self.cx, self.st
        known = st.names.get(e)
        wish = name = f"{known.name}.table" if known else "cost.table"
        number = 1
        while name in st.versions:
            number += 1
            name = f"{wish}{number}"
        shape = (to_expr(front.rows), to_expr(front.columns))
        st.locals[name] = cx.made[name] = LocalArray(name, (), shape, kind, like, private=True)
        first, full = cx.version(name), cx.version(name)
        st.versions[name] = full
        inside = front.bounds(front.row, front.column)
        value = self._placed(e)
        if not beside and not self._reaches(value):
            column = to_poly(front.column)
            inside = (
                *inside,
                eq.Op("ge", (front.row, eq.Const(front.top, INT)), BOOL),
                eq.Op("ge", (front.column, eq.Const(front.left, INT)), BOOL),
                eq.Op("lt", (to_expr(column), to_expr(front.columns - front.right)), BOOL),
            )
        self.made.append(RawNew(eq.New(first, kind, shape, eq.Const(0, INT), like, self.span)))
        loops, at = (front.row.name, front.column.name), (front.row, front.column)
        self.made.append(RawWrite(first, full, loops, (*st.path, *inside), at, value, span=self.span))
        return eq.Read(full, (front.row, to_expr(front.place)), e.type, (), True)

    def _reaches(self, value: eq.Expr) -> bool:
        """Whether the cells beside the nest, too, are loaded from within the arrays."""
        front = self.front
        if not (front.top or front.left or front.right):
            return True
        if front.right:
            return False
        for n in topological([value]):
            if not isinstance(n, eq.Read):
                continue
            for x in n.subscripts:
                poly = to_poly(x)
                least = poly.substitute(front.row, to_poly(eq.Const(0, INT))).substitute(
                    front.column, to_poly(eq.Const(0, INT))
                )
                moved = poly - least
                if least.value is None or least.value < 0 or any(c < 0 for c in moved.terms.values()):
                    return False
        return True
