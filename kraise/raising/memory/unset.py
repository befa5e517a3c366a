"""Cells of a thread's own arrays that it loads and that no statement has stored to (Kernel IR).

``float p[8]`` of which ``p[2]`` and further are stored, and ``p[1]`` is loaded: the source computes with what is there
by chance. The statements are run with the numbers that they say (those of loops between numbers, round by round): a
store whose place is not known may fill any cell, and one that may be left out fills its cell, so that a load of a cell
that is filled by none is a load of nothing, whatever sizes and data are. A load that data decide about is not judged,
nor one in a loop that may have no round. The same numbers say where a subscript leaves such an array, or a table of the
file, in ways that are no sum (``w[a ^ 1]``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from kraise.diagnostics import Diagnostic, Refused
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.raising.loops.unrolled import maybe
from kraise.raising.run.exits import structure
from kraise.raising.run.liveness import assigned

_STEPS = 20000  # statements that are run
Cell = tuple[int, ...]


def check_set(module: k.Module, function: k.Function, called: tuple[str, ...]) -> None:
    """Refuses loads of such cells.

    Raises:
        Refused: KR207, or KR204 for a cell that is none.
    """
    tables = {c.name: c.shape for c in module.constants if c.shape}
    functions = {f.name: f for f in module.functions if f.name in called}
    bodies = (function.body, *(f.body for f in functions.values()))
    if not tables and not any(isinstance(n, k.LocalArray) for n in walked(bodies)):
        return
    run = _Run(tables, functions, module.language == "python")
    run.block(structure(function).body, True)
    if run.found:
        raise Refused(*run.found.values())


@dataclass
class _Array:
    """A thread's own array: its extents, and the cells that may be filled (None: any)."""

    shape: tuple[int, ...]
    filled: set[Cell] | None


@dataclass
class _Run:
    tables: dict[str, tuple[int, ...]]
    functions: dict[str, k.Function]  # that are called
    python: bool
    arrays: dict[str, _Array] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    data: set[str] = field(default_factory=set)  # locals that data decide
    steps: int = 0
    judging: bool = True
    found: dict[object, Diagnostic] = field(default_factory=dict)

    def block(self, stmts: tuple[k.Stmt, ...], sure: bool) -> None:
        """Runs statements; ``sure``: some thread does, whatever the data are."""
        for s in stmts:
            self.steps += 1
            self.statement(s, sure)

    def statement(self, s: k.Stmt, sure: bool) -> None:
        match s:
            case k.Assign(name=name, value=value):
                self.load(value, sure)
                self.assign(name, value, sure)
            case k.LocalArray(name=name, space="local" | "heap"):
                self.new(s)
            case k.Store(array=array, subscripts=subs, value=value):
                self.load((*subs, value), sure)
                self.store(array, subs, any(n == k.Load(array, subs, n.type) for n in walked(value)
                                            if isinstance(n, k.Load)))  # fmt: skip
                self.within(array, subs, s, sure)
            case k.Atomic(array=array, subscripts=subs, values=values, result=result):
                self.load((*subs, *values), sure)
                self.store(array, subs, s.name != "exch")
                self.forget({result})
            case k.If(condition=condition, body=body, orelse=orelse):
                self.load(condition, sure)
                self.branch(condition, body, orelse, sure)
            case k.For():
                self.load((s.start, s.stop, s.step), sure)
                self.rounds(s, sure)
            case k.While():
                self.turns(s, sure)
            case k.CallStmt(results=results):
                self.call(s, sure)
                self.forget({*results})

    def call(self, s: k.Call | k.CallStmt, sure: bool) -> None:
        """A function's own arrays are judged as it is called; one that it is handed it may fill."""
        self.load(tuple(a for a in s.args if not isinstance(a, k.ArrayRef)), sure)
        for a in s.args:
            if isinstance(a, k.ArrayRef) and a.array in self.arrays:
                self.arrays[a.array].filled = None
        function = self.functions.get(s.function)
        if function is None or not (sure and self.judging) or self.steps >= _STEPS:
            return
        others = {n: f for n, f in self.functions.items() if n != s.function}  # none calls itself
        inner = _Run(self.tables, others, self.python, steps=self.steps, found=self.found)
        for p, a in zip(function.params, s.args, strict=False):
            if not isinstance(a, k.ArrayRef):
                number = maybe(a, self.known)
                if number is not None:
                    inner.known[p.name] = number
                elif self.of_data(a):
                    inner.data.add(p.name)
        inner.block(structure(function).body, True)
        self.steps = inner.steps

    def new(self, s: k.LocalArray) -> None:
        shape = tuple(maybe(n, {}) or 0 for n in s.shape)
        if not shape or 0 in shape:
            self.arrays.pop(s.name, None)
            return
        blank = s.fill is None and not s.values
        self.arrays[s.name] = _Array(shape, set() if blank else None)

    def assign(self, name: str, value: k.Expr, sure: bool) -> None:
        number = maybe(value, self.known)
        self.known.pop(name, None)
        self.data.discard(name)
        if number is not None:
            self.known[name] = number
        elif not sure or self.of_data(value):
            self.data.add(name)

    def forget(self, names: set[str]) -> None:
        for name in names:
            self.known.pop(name, None)
            self.data.add(name)

    def of_data(self, e: object) -> bool:
        return any(
            isinstance(n, k.Load | k.Call | k.Warp) or (isinstance(n, k.Var) and n.name in self.data) for n in walked(e)
        )

    # --- accesses

    def place(self, array: str, subs: tuple[k.Expr, ...]) -> Cell | None:
        found = [maybe(e, self.known) for e in subs]
        return None if None in found else tuple(found)  # type: ignore[arg-type]

    def store(self, array: str, subs: tuple[k.Expr, ...], combines: bool) -> None:
        """``combines``: with what the cell holds, which means something if it did before."""
        own = self.arrays.get(array)
        if own is None or own.filled is None or combines:
            return
        at = self.place(array, subs)
        if at is None:
            own.filled = None
        else:
            own.filled.add(at)

    def load(self, e: object, sure: bool) -> None:
        """The loads in expressions, those that are reached first."""
        match e:
            case tuple():
                for x in e:
                    self.load(x, sure)
            case k.Op(name="and" | "or" | "select" as name, args=(first, *rest)):
                self.load(first, sure)
                value = maybe(first, self.known)
                if value is None:
                    for x in rest:
                        self.load(x, sure and not self.of_data(first) and name != "select")
                elif name == "select":
                    self.load(rest[0 if value else 1], sure)
                elif bool(value) is (name == "and"):
                    self.load(rest[0], sure)
            case k.Load(array=array, subscripts=subs):
                self.load(subs, sure)
                self.within(array, subs, e, sure)
                self.look(array, subs, e, sure)
            case k.Op(args=args) | k.Warp(args=args):
                self.load(args, sure)
            case k.Call():
                self.call(e, sure)
            case k.Cast(arg=arg):
                self.load(arg, sure)

    def look(self, array: str, subs: tuple[k.Expr, ...], e: k.Load, sure: bool) -> None:
        own, at = self.arrays.get(array), self.place(array, subs)
        if not self.judging or not sure or own is None or own.filled is None or at is None or at in own.filled:
            return
        if len(at) == len(own.shape) and all(0 <= x < n for x, n in zip(at, own.shape, strict=True)):
            cell = "".join(f"[{x}]" for x in at)
            reason = f"this reads `{array}{cell}`, which nothing has been stored to"
            self.find(e, Diagnostic("KR207", reason, e.span, "store to it before, or begin the array with zeros"))

    def within(self, array: str, subs: tuple[k.Expr, ...], e: k.Load | k.Store, sure: bool) -> None:
        """Whether the subscripts, where they are numbers, are those of a cell (C: of the whole array)."""
        shape = self.arrays[array].shape if array in self.arrays else self.tables.get(array)
        at = self.place(array, subs)
        if not self.judging or not sure or shape is None or at is None or len(at) != len(shape):
            return
        if self.python:
            inside = all(-n <= x < n for x, n in zip(at, shape, strict=True))
        else:
            inside = 0 <= sum(x * prod(shape[axis + 1 :]) for axis, x in enumerate(at)) < prod(shape)
        if not inside:
            cell = "".join(f"[{x}]" for x in at)
            verb = "stores to" if isinstance(e, k.Store) else "reads"
            extents = "".join(f"[{n}]" for n in shape)
            reason = f"this {verb} `{array}{cell}`, which is outside of `{array}{extents}`"
            self.find(e, Diagnostic("KR204", reason, e.span, "guard the access"))

    def find(self, e: k.Load | k.Store, finding: Diagnostic) -> None:
        self.found.setdefault((e.span, e.array), finding)

    # --- control

    def branch(self, condition: k.Expr, body: tuple[k.Stmt, ...], orelse: tuple[k.Stmt, ...], sure: bool) -> None:
        value = maybe(condition, self.known)
        if value is not None:
            self.block(body if value else orelse, sure)
            return
        inner = sure and not self.of_data(condition) and any(isinstance(n, k.Hw | k.Var) for n in walked(condition))
        known, data, by_data = dict(self.known), set(self.data), self.of_data(condition)
        self.block(body, inner)
        self.known, after, self.data = known, self.data, set(data)
        self.block(orelse, inner)
        self.data |= data | after
        self.lose((*body, *orelse), by_data)

    def lose(self, stmts: tuple[k.Stmt, ...], by_data: bool) -> None:
        """What is assigned in statements that may have been run, or not, is not known."""
        for name in assigned(stmts):
            self.known.pop(name, None)
            if by_data:
                self.data.add(name)

    def rounds(self, s: k.For, sure: bool) -> None:
        ends = [maybe(e, self.known) for e in (s.start, s.stop, s.step)]
        if None not in ends and ends[2] and self.steps < _STEPS:
            for v in range(*ends):  # type: ignore[arg-type]
                if self.steps >= _STEPS:
                    break
                self.known[s.var] = v
                self.block(s.body, sure)
            else:
                self.block(s.orelse, sure)
                return
        by_data = self.of_data((s.start, s.stop, s.step))
        self.some_rounds(s, (s.var,), sure and not by_data and self.steps < _STEPS, by_data)

    def turns(self, s: k.While, sure: bool) -> None:
        first = s.test_last
        while self.steps < _STEPS:
            value = 1 if first else maybe(s.condition, self.known)
            first = False
            if value is None:
                break
            self.load(s.condition, sure)
            if not value:
                self.block(s.orelse, sure)
                return
            self.block(s.body, sure)
            self.steps += 1
        by_data = self.of_data(s.condition)
        self.some_rounds(s, (), sure and not by_data and self.steps < _STEPS, by_data)

    def some_rounds(self, s: k.For | k.While, var: tuple[str, ...], sure: bool, by_data: bool) -> None:
        """Rounds of which the number is not known: what one fills is filled in any other."""
        was, before, self.judging = self.judging, set(self.data), False
        for last in (False, False, True):
            self.judging = was and last
            self.lose(s.body, by_data)
            for name in var:
                self.known.pop(name, None)
                (self.data.add if by_data else self.data.discard)(name)
            by_data = by_data or (isinstance(s, k.While) and self.of_data(s.condition))
            if isinstance(s, k.While):
                self.load(s.condition, sure and not by_data)
            self.block(s.body, sure and not by_data)
            self.data |= before
        self.judging = was
        self.lose(s.body, by_data)
        self.block(s.orelse, False)
        self.lose(s.orelse, True)


__all__ = ["check_set"]
