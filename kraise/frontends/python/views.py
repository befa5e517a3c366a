"""Parts of arrays: a subscript, a whole axis or a slice for each axis, and what subscripting a part again gives."""

from __future__ import annotations

from dataclasses import dataclass

from kraise.ir.kernel import Const, Expr, Op
from kraise.ir.types import INT, NUMBER


@dataclass(frozen=True)
class Piece:
    """A slice of one axis: ``extent`` elements from ``start`` on, ``step`` apart (a constant that is not 0)."""

    start: Expr
    extent: Expr
    step: int = 1

    def at(self, index: Expr) -> Expr:
        """The subscript of the axis that an index into the slice stands for."""
        if self.step == 1:
            return plus(self.start, index)
        if self.step == -1:
            return minus(self.start, index)
        return plus(self.start, Op("mul", (index, Const(self.step, INT)), NUMBER, span=index.span))


Part = Expr | Piece | None


@dataclass(frozen=True)
class View:
    """Part of an array: one entry an axis, a subscript, or a ``Piece`` or None (all of it) for an axis still free."""

    array: str
    subscripts: tuple[Part, ...]

    @property
    def rank(self) -> int:
        return len(self.axes())

    @property
    def whole(self) -> bool:
        return all(s is None for s in self.subscripts)

    def at(self, subscripts: tuple[Part, ...]) -> View:
        """The view with its first free axes subscripted; a None keeps an axis free."""
        left = list(subscripts)
        return View(self.array, tuple(_within(s, left.pop(0)) if _free(s) and left else s for s in self.subscripts))

    def axes(self) -> list[int]:
        """The array's axes that are free."""
        return [k for k, s in enumerate(self.subscripts) if _free(s)]


def _free(part: Part) -> bool:
    return part is None or isinstance(part, Piece)


def _within(part: Part, given: Part) -> Part:
    if part is None or given is None:
        return given if part is None else part
    assert isinstance(part, Piece)
    if not isinstance(given, Piece):
        return part.at(given)
    return Piece(part.at(given.start), given.extent, part.step * given.step)


def plus(a: Expr, b: Expr) -> Expr:
    """``a + b``, a zero left out and constants folded."""
    first, second = _number(a), _number(b)
    if first is not None and second is not None:
        return Const(first + second, INT, span=a.span)
    if first == 0:
        return b
    if second == 0:
        return a
    if second is not None and second < 0:
        return minus(a, Const(-second, INT, span=b.span))
    base, offset = _apart(a)
    if second is not None and offset:
        return plus(base, Const(offset + second, INT, span=b.span)) if offset + second else base
    return Op("add", (a, b), NUMBER, span=a.span)


def minus(a: Expr, b: Expr) -> Expr:
    """``a - b``: what both have in common cancels, so that ``(i + 2) - (i - 1)`` is 3 and ``(i + m) - i`` is m."""
    (base, offset), (other, less) = _apart(a), _apart(b)
    if base == other:
        return Const(offset - less, INT, span=a.span)
    if _number(b) is not None:
        change = offset - (_number(b) or 0)
        if change == 0:
            return base
        name = "add" if change > 0 else "sub"
        return Op(name, (base, Const(abs(change), INT, span=b.span)), NUMBER, span=a.span)
    match a:
        case Op(name="add", args=(left, right)) if left == b:
            return right
        case Op(name="add", args=(left, right)) if right == b:
            return left
    return Op("sub", (a, b), NUMBER, span=a.span)


def _number(e: Expr) -> int | None:
    return e.value if isinstance(e, Const) and type(e.value) is int else None


_ZERO = Const(0, INT)


def _apart(e: Expr) -> tuple[Expr, int]:
    """(the rest, the constant) of a sum with a constant."""
    match e:
        case Const(value=int() as value):
            return _ZERO, value
        case Op(name="add", args=(rest, Const(value=int() as value))):
            base, offset = _apart(rest)
            return base, offset + value
        case Op(name="add", args=(Const(value=int() as value), rest)):
            base, offset = _apart(rest)
            return base, offset + value
        case Op(name="sub", args=(rest, Const(value=int() as value))):
            base, offset = _apart(rest)
            return base, offset - value
    return e, 0
