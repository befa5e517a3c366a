"""Views of memory that library calls take: vectors with a stride, ranges between iterators, matrices with a pitch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kraise.frontends.host_rows import library
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names
from kraise.ir.types import INT32

ZERO, ONE = k.Const(0, INT32), k.Const(1, INT32)


@dataclass(frozen=True)
class Iterator:
    """A place in memory; with ``at_end`` the place after the last element of ``array``."""

    array: str
    offset: k.Expr | None = None
    at_end: bool = False


def note_place(reader: Any, name: str, source: k.ArrayRef) -> None:
    """Remembers where a pointer points (``e = p + n``), where it and the numbers of its place are set once."""
    fixed = reader.settled_numbers
    numbers = set(expression_names(source.offset)) if source.offset is not None else set()
    if name in fixed and source.array in fixed and numbers <= fixed:
        reader.moved[name] = (source.array, source.offset)


def resolved(reader: Any, at: Iterator) -> Iterator:
    """A place by the array that its pointer was made from."""
    while at.array in reader.moved and not at.at_end:
        array, offset = reader.moved[at.array]
        both = at.offset is not None and offset is not None
        total = k.Op("add", (offset, at.offset), INT32) if both else offset if at.offset is None else at.offset  # type: ignore[arg-type]
        at = Iterator(array, total)
    return at


@dataclass(frozen=True)
class Counting:
    """An iterator without memory: its element i is ``start + i``, or always ``start``."""

    start: k.Expr
    constant: bool = False


@dataclass(frozen=True)
class View:
    """``count`` elements (None: all) of ``array`` from ``offset`` on, as ``form`` says: flat, every, rows or batch.

    ``extents`` are the form's: a stride; rows, columns and pitch; matrices, rows and columns.
    """

    array: str
    offset: k.Expr | None
    count: k.Expr | None
    form: str = "flat"
    extents: tuple[k.Expr, ...] = ()
    span: Any = None

    def value(self) -> h.Expr:
        """The elements as an array."""
        if self.form == "every":
            assert self.count is not None
            whole = h.Whole(self.array, self.offset, span=self.span)
            return library("every", (whole, self.count, self.extents[0]), self.span)
        if self.form == "rows":
            rows, columns, pitch = self.extents
            if self.is_tile:
                return library("tile", (self._from(), rows, columns, pitch), self.span)
            block = library("reshape", (self._block(), rows, pitch), self.span)
            return block if columns == pitch else library("columns", (block, columns), self.span)
        if self.form == "batch":
            return library("reshape3", (self._block(), *self.extents), self.span)
        if self.form in ("complex", "real"):
            return self._samples()
        return h.Whole(self.array, self.offset, self.count, span=self.span)

    def update(self, value: h.Expr) -> h.Stmt:
        """The statement that gives the elements new values."""
        whole = h.Whole(self.array, self.offset, span=self.span)
        match self.form:
            case "every":
                assert self.count is not None
                put = library("put_every", (whole, value, self.count, self.extents[0]), self.span)
                return h.Update(self.array, put, self.offset, span=self.span)
            case "rows":
                rows, columns, pitch = self.extents
                if self.is_tile:
                    tile = library("put_tile", (self._from(), value, rows, columns, pitch), self.span)
                    return h.Update(self.array, tile, self.offset, span=self.span)
                if columns != pitch:
                    before = library("reshape", (self._block(), rows, pitch), self.span)
                    value = library("put_columns", (before, value, columns), self.span)
                return self._flat(value)
            case "batch":
                return self._flat(value)
            case "complex":
                pairs = library("as_pairs", (value,), self.span)
                return h.Update(self.array, pairs, self.offset, self.count, span=self.span)
            case "real" if len(self.extents) > 1:
                return self._flat(value)
        return h.Update(self.array, value, self.offset, self.count, span=self.span)

    @property
    def is_tile(self) -> bool:
        """Is this a matrix inside another? The memory behind its last row may end before a whole row does."""
        return self.offset is not None and self.extents[1] != self.extents[2]

    def _from(self) -> h.Whole:
        return h.Whole(self.array, self.offset, span=self.span)

    def _flat(self, value: h.Expr) -> h.Stmt:
        flat = library("ravel", (value,), self.span)
        return h.Update(self.array, flat, self.offset, self.count, span=self.span)

    def _block(self) -> h.Whole:
        return h.Whole(self.array, self.offset, self.count, span=self.span)

    def _samples(self) -> h.Expr:
        """Elements for a transform: complex where they are pairs, with the transform's axes."""
        found: h.Expr = self._block()
        if self.form == "complex":
            found = library("as_complex", (found,), self.span)
        row = {1: "", 2: "reshape", 3: "reshape3"}[len(self.extents)]
        return library(row, (found, *self.extents), self.span) if row else found


def difference(a: k.Expr | None, b: k.Expr | None) -> k.Expr:
    """``a - b`` with equal terms left out."""
    terms = [(1, t) for t in _terms(a)] + [(-1, t) for t in _terms(b)]
    signed: list[tuple[int, k.Expr]] = []
    number = 0
    for sign, (inner, t) in terms:
        s = sign * inner
        if isinstance(t, k.Const) and not t.name:
            number += s * int(t.value.real)
        elif (-s, t) in signed:
            signed.remove((-s, t))
        else:
            signed.append((s, t))
    found: k.Expr | None = None
    for s, t in sorted(signed, key=lambda x: -x[0]):
        if found is None:
            found = t if s > 0 else k.Op("neg", (t,), INT32)
        else:
            found = k.Op("add" if s > 0 else "sub", (found, t), INT32)
    if found is None:
        return k.Const(number, INT32)
    if number:
        found = k.Op("add" if number > 0 else "sub", (found, k.Const(abs(number), INT32)), INT32)
    return found


def _terms(e: k.Expr | None) -> list[tuple[int, k.Expr]]:
    match e:
        case None:
            return []
        case k.Op(name="add", args=(a, b)):
            return _terms(a) + _terms(b)
        case k.Op(name="sub", args=(a, b)):
            return _terms(a) + [(-s, t) for s, t in _terms(b)]
    return [(1, e)]
