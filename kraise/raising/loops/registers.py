"""Small arrays of a thread as scalars, one a cell (Kernel IR to Kernel IR).

A compiler keeps ``float acc[4]`` in registers where every subscript is a number once the short loops over it are
written out. So does this: each cell is a local of its own, and what the rounds of a loop carry is these locals. An
array with any other subscript, or that is handed to a function, stays an array.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kraise.diagnostics import Span
from kraise.ir import kernel as k
from kraise.ir.types import ScalarType
from kraise.raising.loops.unrolled import Numbers, maybe
from kraise.raising.memory.new_arrays import initial
from kraise.raising.run.liveness import assigned, reads

CELLS, ROUNDS, STATEMENTS = 32, 32, 400


class _Declined(Exception):
    """This array stays one."""

    def __init__(self, array: str):
        super().__init__(array)
        self.array = array


class _TooLong(Exception):
    """Written out, the loops would be too long."""


def registers(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``body`` with such arrays as scalars; the same if there are none."""
    arrays = {s.name: s for s in _nodes(body) if isinstance(s, k.LocalArray) and small(s)}
    while arrays:
        try:
            return _Cells(arrays, {*assigned(body)}).block(body, {})
        except _Declined as declined:
            arrays.pop(declined.array)
        except _TooLong:
            break
    return body


def small(s: k.LocalArray) -> bool:
    sizes = [maybe(n, {}) for n in s.shape]
    return (
        s.space == "local"
        and not s.dynamic
        and s.element.kind != "number"
        and bool(sizes)
        and all(n is not None and n > 0 for n in sizes)
        and math.prod(n or 0 for n in sizes) <= CELLS
    )


def _nodes(root: object) -> Iterator[Any]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, tuple):
            stack.extend(reversed(node))
        elif is_dataclass(node) and not isinstance(node, Span | ScalarType):
            stack.extend(getattr(node, f.name) for f in fields(node))


class _Cells:
    def __init__(self, arrays: dict[str, k.LocalArray], taken: set[str]):
        self.arrays, self.taken, self.count = arrays, taken, 0
        self.names: dict[tuple[str, tuple[int, ...]], str] = {}

    def name(self, array: str, at: tuple[int, ...]) -> str:
        if (array, at) not in self.names:
            name = "_".join(map(str, (array, *at)))
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            self.names[array, at] = name
        return self.names[array, at]

    def cell(self, array: str, subscripts: tuple[k.Expr, ...], known: Numbers) -> k.Var:
        at = tuple(maybe(s, known) for s in subscripts)
        sizes = [maybe(n, {}) for n in self.arrays[array].shape]
        if len(at) != len(sizes) or any(a is None or not 0 <= a < (n or 0) for a, n in zip(at, sizes, strict=True)):
            raise _Declined(array)
        return k.Var(self.name(array, tuple(a or 0 for a in at)), self.arrays[array].element)

    def block(self, stmts: tuple[k.Stmt, ...], known: Numbers) -> tuple[k.Stmt, ...]:
        out: list[k.Stmt] = []
        for s in stmts:
            self.count += 1
            if self.count > STATEMENTS:
                raise _TooLong
            out += self.statement(s, known)
        return tuple(out)

    def statement(self, s: k.Stmt, known: Numbers) -> list[k.Stmt]:
        match s:
            case k.LocalArray(name=array) if array in self.arrays:
                return self.made(s, known)
            case k.Store(array=array, subscripts=subs, value=v) if array in self.arrays:
                cell, kind = self.cell(array, subs, known), self.arrays[array].element
                new = self.expression(v, known)
                return [k.Assign(cell.name, new if new.type == kind else k.Cast(kind, new), kind, span=s.span)]
            case k.Atomic(array=array) if array in self.arrays:
                raise _Declined(array)
            case k.Assign(name=name, value=v, type=t):
                new, number = self.expression(v, known), maybe(v, known) if t.is_integer else None
                known.pop(name, None)
                if number is not None:
                    known[name] = number
                return [replace(s, value=new)]
            case k.If(condition=c, body=a, orelse=b):
                known_test = maybe(c, known)
                if known_test is not None:
                    return list(self.block(a if known_test else b, known))
                test = self.expression(c, known)
                out = replace(s, condition=test, body=self.block(a, dict(known)), orelse=self.block(b, dict(known)))
                self.forget(s, known)
                return [out]
            case k.For(orelse=()):
                return self.loop(s, known)
            case k.While(orelse=()):
                if (rounds := self.rounds(s, known)) is not None:
                    return rounds
                self.forget(s, known)
                test = self.expression(s.condition, known)
                out_ = replace(s, condition=test, body=self.block(s.body, dict(known)))
                self.forget(s, known)
                return [out_]
        self.forget(s, known)
        return [self.expression(s, known)]

    def forget(self, s: k.Stmt, known: Numbers) -> None:
        for name in assigned((s,)):
            known.pop(name, None)

    def made(self, s: k.LocalArray, known: Numbers) -> list[k.Stmt]:
        """A cell's first value; one whose contents are undefined gets it where it is stored."""
        sizes = [maybe(n, {}) or 0 for n in s.shape]
        values: list[k.Expr] = []
        if s.values:
            values = list(initial(s, sizes))
        elif s.fill is not None:
            values = [s.fill] * math.prod(sizes)
        out: list[k.Stmt] = []
        for at, v in zip(itertools.product(*map(range, sizes)), values, strict=False):
            new = self.expression(v, known)
            new = new if new.type == s.element else k.Cast(s.element, new)
            out.append(k.Assign(self.name(s.name, at), new, s.element, span=s.span))
        return out

    def loop(self, s: k.For, known: Numbers) -> list[k.Stmt]:
        ends = [maybe(e, known) for e in (s.start, s.stop, s.step)]
        if self.steers(s) and None not in ends and ends[2] and len(range(*ends)) <= ROUNDS:  # type: ignore[arg-type]
            out: list[k.Stmt] = []
            for v in range(*ends):  # type: ignore[arg-type]
                known[s.var] = v
                out.append(k.Assign(s.var, k.Const(v, s.type), s.type, span=s.span))
                out += self.block(s.body, known)
            return out
        start, stop, step = (self.expression(e, known) for e in (s.start, s.stop, s.step))
        self.forget(s, known)
        return [replace(s, start=start, stop=stop, step=step, body=self.block(s.body, dict(known)))]

    def rounds(self, s: k.While, known: Numbers) -> list[k.Stmt] | None:
        """The rounds of a loop over numbers that are known (``size <<= 1``), None where one of its tests is not."""
        if maybe(s.condition, known) is None and not s.test_last:
            return None
        moved = {n for n in reads(s.condition) if n in assigned(s.body)}
        if not moved or not self.steers(s, *moved):
            return None
        trial, out, before = dict(known), list[k.Stmt](), self.count
        for at in range(ROUNDS + 1):
            going = True if s.test_last and not at else maybe(s.condition, trial)
            if going is None or at == ROUNDS:
                break
            if not going:
                known.clear()
                known |= trial
                return out
            out += self.block(s.body, trial)
        self.count = before
        return None

    def steers(self, s: k.For | k.While, *moved: str) -> bool:
        """Whether the rounds of a loop differ in the cells that they use; ``moved`` are the variables of a while
        loop."""
        used = [x.subscripts for x in _nodes(s.body) if isinstance(x, k.Load | k.Store) and x.array in self.arrays]
        names = {n for subs in used for sub in subs for n in reads(sub)}
        assigns = [x for x in _nodes(s.body) if isinstance(x, k.Assign)]
        while more := {n for x in assigns if x.name in names for n in reads(x.value)} - names:
            names |= more
        own = moved if isinstance(s, k.While) else (s.var,)
        return bool(names & {*own, *(x.name for x in assigns if x.name in reads(x.value))})

    def expression(self, e: Any, known: Numbers) -> Any:
        """``e`` (an expression, or a statement without blocks) with the cells in place of the loads."""
        match e:
            case k.Load(array=array, subscripts=subs) if array in self.arrays:
                return self.cell(array, subs, known)
            case k.ArrayRef(array=array) | k.Shape(array=array) if array in self.arrays:
                raise _Declined(array)
            case tuple():
                return tuple(self.expression(x, known) for x in e)
        if not is_dataclass(e) or isinstance(e, Span | ScalarType):
            return e
        new = {f.name: self.expression(getattr(e, f.name), known) for f in fields(e)}
        return replace(e, **new)  # type: ignore[type-var]


__all__ = ["registers"]
