"""Constraints as rows of numbers, in the notation of PolyLib: isl reads these thirty times as fast as its own.

A constraint is some alternatives, each a few linear equations and inequalities. A quotient or remainder by a number is
an unknown of its own (``x // 4`` is the q with ``4 * q <= x < 4 * q + 4``): there is a point where there was one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import prod

_SUM = re.compile(r"(?:\(-?\d+\*(?:[vp]\d+|1)\)(?: \+ )?)+ (?:>=|=) 0")
_TERM = re.compile(r"\((-?\d+)\*([vp]\d+|1)\)")
_SPELLED = re.compile(
    r"[vp]\d+|\bat\b|\d+|<=|>=|!=|=|<|>|[-+*(),]|\bmod\b|\bfloor\b|\bmax\b|\bmin\b|\band\b|\bor\b|/|\s+"
)
_SAME = re.compile(r"(?<![<>=!])=(?!=)")
_MOST = 64  # choices of alternatives

EQUAL, NOT_NEGATIVE = 0, 1  # PolyLib's numbers


@dataclass
class _Sum:
    """Coefficients by name (unknowns are counted), and a number."""

    terms: dict[str | int, int]
    number: int = 0

    def plus(self, other: _Sum, times: int = 1) -> _Sum:
        terms = dict(self.terms)
        for name, by in other.terms.items():
            terms[name] = terms.get(name, 0) + by * times
        return _Sum({name: by for name, by in terms.items() if by}, self.number + other.number * times)


Row = tuple[int, _Sum]
Rows = tuple[Row, ...]


class _Other(Exception):
    """What is no linear constraint."""


@dataclass
class _Reader:
    unknowns: int = 0
    defined: list[Row] = field(default_factory=list)  # what says which number an unknown is

    def sum(self, e: ast.expr) -> _Sum:
        match e:
            case ast.Constant(value=int() as number):
                return _Sum({}, number)
            case ast.Name(id=name):
                return _Sum({name: 1})
            case ast.UnaryOp(op=ast.USub(), operand=a):
                return _Sum({}).plus(self.sum(a), -1)
            case ast.BinOp(left=a, op=ast.Add(), right=b):
                return self.sum(a).plus(self.sum(b))
            case ast.BinOp(left=a, op=ast.Sub(), right=b):
                return self.sum(a).plus(self.sum(b), -1)
            case ast.BinOp(left=a, op=ast.Mult(), right=b):
                left, right = self.sum(a), self.sum(b)
                if left.terms and right.terms:
                    raise _Other
                by, of = (right, left) if left.terms else (left, right)
                return _Sum({}).plus(of, by.number)
            case ast.BinOp(left=a, op=ast.Mod(), right=b):
                of, by = self.sum(a), self.sum(b)
                return of.plus(self.quotient(of, by), -by.number)
            case ast.Call(func=ast.Name(id="floor"), args=[ast.BinOp(left=a, op=ast.Div(), right=b)]):
                return self.quotient(self.sum(a), self.sum(b))
        raise _Other

    def quotient(self, of: _Sum, by: _Sum) -> _Sum:
        if by.terms or by.number < 1:
            raise _Other
        found = _Sum({self.unknowns: 1})
        self.unknowns += 1
        rest = of.plus(found, -by.number)
        self.defined += [(NOT_NEGATIVE, rest), (NOT_NEGATIVE, _Sum({}, by.number - 1).plus(rest, -1))]
        return found

    def alternatives(self, e: ast.expr) -> list[Rows]:
        match e:
            case ast.BoolOp(op=ast.Or(), values=parts):
                return [rows for part in parts for rows in self.alternatives(part)]
            case ast.BoolOp(op=ast.And(), values=parts):
                return _together([self.alternatives(part) for part in parts])
            case ast.Compare(
                left=x, ops=[ast.Eq()], comparators=[ast.Call(func=ast.Name(id="max" | "min" as which), args=[a, b])]
            ):
                first, second = (a, b) if which == "max" else (b, a)
                one = [self.compared(x, ast.Eq(), a), self.compared(first, ast.GtE(), second)]
                other = [self.compared(x, ast.Eq(), b), self.compared(second, ast.Gt(), first)]
                return [*_together(one), *_together(other)]
            case ast.Compare(left=a, ops=ops, comparators=others):
                sides = [a, *others]
                return _together([self.compared(*c) for c in zip(sides, ops, others, strict=False)])
        raise _Other

    def compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> list[Rows]:
        self.defined = []
        more = self.sum(left).plus(self.sum(right), -1)
        less = _Sum({}).plus(more, -1)
        above, below = (NOT_NEGATIVE, more.plus(_Sum({}, -1))), (NOT_NEGATIVE, less.plus(_Sum({}, -1)))
        found: list[Row]
        match op:
            case ast.GtE():
                found = [(NOT_NEGATIVE, more)]
            case ast.LtE():
                found = [(NOT_NEGATIVE, less)]
            case ast.Gt():
                found = [above]
            case ast.Lt():
                found = [below]
            case ast.Eq():
                found = [(EQUAL, more)]
            case ast.NotEq():
                found = [above, below]
            case _:
                raise _Other
        return [rows for row in found if (rows := _possible((row, *self.defined))) is not None]


def _possible(rows: Rows) -> Rows | None:
    """The rows with unknowns in them; None if one without any does not hold."""
    fixed = [(kind, row.number) for kind, row in rows if not row.terms]
    if any(number != 0 if kind == EQUAL else number < 0 for kind, number in fixed):
        return None
    return tuple(row for row in rows if row[1].terms)


def _together(parts: Sequence[Sequence[Rows]]) -> list[Rows]:
    if prod(map(len, parts)) > _MOST:
        raise _Other
    return [sum(chosen, ()) for chosen in product(*parts)]


@lru_cache(maxsize=20_000)
def one_sum(constraint: str) -> tuple[tuple[tuple[str, int], ...], int, int] | None:
    """The coefficients by name, the number and the kind of ``(2*v0) + (1*1) >= 0``; None for what is spelled in another
    way."""
    if not _SUM.fullmatch(constraint):
        return None
    terms: dict[str, int] = {}
    for by, name in _TERM.findall(constraint):
        terms[name] = terms.get(name, 0) + int(by)
    number = terms.pop("1", 0)
    found = tuple((name, by) for name, by in terms.items() if by)
    return found, number, NOT_NEGATIVE if ">=" in constraint else EQUAL


@lru_cache(maxsize=20_000)
def _alternatives(constraint: str) -> tuple[Rows, ...] | None:
    """The alternatives of a constraint in isl's syntax; None if it is not linear."""
    if (found := one_sum(constraint)) is not None:
        terms, number, kind = found
        rows = _possible(((kind, _Sum(dict(terms), number)),))
        return () if rows is None else (rows,)
    if _SPELLED.sub("", constraint):
        return None
    python = _SAME.sub("==", constraint).replace("mod", "%")
    try:
        return tuple(_Reader().alternatives(ast.parse(python, mode="eval").body))
    except (SyntaxError, _Other):
        return None


def texts(constraints: Sequence[str], variables: Sequence[str], params: Sequence[str] = ()) -> Iterator[str] | None:
    """What all ``constraints`` say over integers, an alternative after the other in PolyLib's notation; None if that
    cannot be said."""
    parts = [_alternatives(constraint) for constraint in constraints]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or prod(map(len, known)) > _MOST:
        return None
    return (_text(chosen, variables, params) for chosen in product(*known))


def union(texts: Iterable[str], variables: Sequence[str], params: Sequence[str] = ()) -> str:
    """All that one of ``texts`` lets through."""
    found = list(texts) or [_text((((NOT_NEGATIVE, _Sum({}, -1)),),), variables, params)]
    return "\n".join((str(len(found)), *found))


def _text(parts: Sequence[Rows], variables: Sequence[str], params: Sequence[str]) -> str:
    unknowns = 0
    found: list[tuple[int, int, _Sum]] = []  # with how many unknowns there were before
    for rows in parts:
        found += [(unknowns, kind, row) for kind, row in rows]
        unknowns += 1 + max((name for _, row in rows for name in row.terms if isinstance(name, int)), default=-1)
    count, width = len(variables), len(variables) + unknowns + len(params)
    places = {name: at for at, name in enumerate(variables)}
    places |= {name: count + unknowns + at for at, name in enumerate(params)}
    lines = [f"{len(found)} {width + 2} {count} 0 {unknowns} {len(params)}"]
    for before, kind, row in found:
        cells = ["0"] * width
        for name, by in row.terms.items():
            cells[count + before + name if isinstance(name, int) else places[name]] = str(by)
        lines.append(f"{kind} {' '.join(cells)} {row.number}" if cells else f"{kind} {row.number}")
    return "\n".join(lines) + "\n"


__all__ = ["EQUAL", "one_sum", "texts", "union"]
