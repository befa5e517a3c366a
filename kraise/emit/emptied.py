"""What is left of a kernel where a size is zero: what an early return gives back.

JAX traces a loop's round whether or not there is one, and a place in an array without elements raises. Where a kernel
asks for such places, and little is left of it where the size is zero, it returns that: ``if n == 0: return 0, y``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

from kraise.emit import tree
from kraise.emit.blocks import Doubt
from kraise.emit.context import Assign, Context, Raw, Stmt
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import flat
from kraise.ir import equations as eq
from kraise.ir.operations import COMPARISONS
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.ir.walk import map_statement, substitute, transform

_MOST = 3  # statements of an early return
_TRUE, _FALSE = eq.Const(True, BOOL), eq.Const(False, BOOL)
_NEUTRAL: dict[str, int | bool] = {"add": 0, "mul": 1, "and": True, "or": False, "or_": 0, "xor": 0}
_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "tdiv": operator.floordiv,
    "tmod": operator.mod,
    "min": min,
    "max": max,
}


class _More(Exception):
    """More than a few statements are left, or it is not known what."""


def left(kernel: eq.Kernel, size: eq.Expr) -> eq.Kernel | None:
    """The kernel where ``size`` (a shape or a parameter) is zero; None if loops are left of it."""
    try:
        return _Emptied(kernel, size).kernel()
    except _More:
        return None


class _Emptied:
    def __init__(self, kernel: eq.Kernel, size: eq.Expr):
        self.whole, self.size = kernel, size
        self.versions: dict[eq.Version, eq.Version] = {}  # of arrays to which nothing was stored
        self.started: dict[tuple[str, str], eq.ScalarCarry] = {}  # what folds without a round carried
        self.filled: dict[eq.Version, eq.Const] = {}  # what new arrays hold everywhere

    def kernel(self) -> eq.Kernel:
        body = [s for stmt in self.whole.body for s in self.statement(stmt)]
        memo: dict[eq.Expr, eq.Expr] = {}
        returns = tuple(
            self.current(r) if isinstance(r, eq.Version) else self.expression(r, memo) for r in self.whole.returns
        )
        used = {r for r in returns if isinstance(r, eq.Version)}
        values = (r for r in returns if not isinstance(r, eq.Version))
        used |= {n.version for n in tree.walk(*values) if isinstance(n, eq.Read)}
        kept: list[eq.Stmt] = []
        for stmt in reversed(body):
            if isinstance(stmt, eq.Write | eq.New) and self.made(stmt) not in used:
                continue
            kept.insert(0, stmt)
            roots = tree.statement_roots(stmt)
            used |= {n.version for n in tree.walk(*roots) if isinstance(n, eq.Read)}
            if isinstance(stmt, eq.Write):
                used.add(stmt.before)
        return replace(self.whole, body=tuple(kept), returns=returns, checks=(), names=())

    @staticmethod
    def made(stmt: eq.Write | eq.New) -> eq.Version:
        return stmt.after if isinstance(stmt, eq.Write) else stmt.version

    def current(self, version: eq.Version) -> eq.Version:
        while version in self.versions:
            version = self.versions[version]
        return version

    def expression(self, e: eq.Expr, memo: dict[eq.Expr, eq.Expr]) -> eq.Expr:
        return transform(e, self.one, memo)

    def statement(self, stmt: eq.Stmt) -> list[eq.Stmt]:
        memo: dict[eq.Expr, eq.Expr] = {}
        match stmt:
            case eq.Fold(axis=None, condition=condition) if condition is not None:
                self.nothing(stmt)
                if self.expression(condition, memo) != _FALSE:
                    raise _More
                return []
            case eq.Fold(axis=eq.Axis() as axis):
                if not self.empty(axis, memo):
                    self.same(stmt)
                self.nothing(stmt)
                return []
            case eq.Write(axes=axes, where=where, before=before, after=after):
                none = where is not None and self.expression(where, memo) == _FALSE
                if none or any(self.empty(a, memo) for a in axes):
                    self.versions[after] = before
                    return []
                if stmt.segments or isinstance(stmt.value, eq.Op) and stmt.value.name == tree.STACK:
                    raise _More
                done = map_statement(stmt, lambda e: self.expression(e, memo))
                assert isinstance(done, eq.Write)
                return [replace(done, before=self.current(before), where=None if done.where == _TRUE else done.where)]
            case eq.New():
                made = map_statement(stmt, lambda e: self.expression(e, memo))
                if isinstance(made, eq.New) and isinstance(made.fill, eq.Const):
                    self.filled[made.version] = made.fill
                return [made]
        raise _More

    def same(self, stmt: eq.Fold) -> None:
        """Refuses a fold whose rounds change anything."""
        if stmt.mapped or stmt.outputs or any(self.statement(s) for s in stmt.body):
            raise _More
        if any(self.current(c.exit) != c.entry for c in stmt.arrays):
            raise _More
        for s in stmt.scalars:
            if self.expression(s.update, {}) != eq.CarryIn(stmt.name, s.name, s.axes, s.type):
                raise _More

    def nothing(self, stmt: eq.Fold) -> None:
        """A fold without a round hands on what it starts from."""
        for c in stmt.arrays:
            self.versions[c.result] = self.versions[c.entry] = c.outside
        for s in stmt.scalars:
            self.started[stmt.name, s.name] = s

    def empty(self, axis: eq.Axis, memo: dict[eq.Expr, eq.Expr]) -> bool:
        gap = linear(self.expression(axis.hi, memo)) - linear(self.expression(axis.lo, memo))
        match gap.terms:
            case ((eq.Op(name="floordiv", args=(e, by)), 1),):  # (0 + k - 1) // k rounds
                less = linear(by) - linear(e)
                return gap.constant <= 0 and not less.terms and less.constant > 0
            case ((eq.Op(name="min", args=ends), 1),):  # up to the smaller of two ends
                known = [e.constant for e in map(linear, ends) if not e.terms]
                return bool(known) and min(known) + gap.constant <= 0
        return not gap.terms and gap.constant <= 0

    def one(self, node: eq.Expr) -> eq.Expr:
        """A node over what its operands are where the size is zero."""
        match node:
            case eq.Shape() | eq.Param():
                return eq.Const(0, node.type) if _same(node, self.size) else node
            case eq.Read(version=version, outside=outside, limit=limit):
                if outside or limit is not None:
                    raise _More
                now = self.current(version)
                return self.filled.get(now) or replace(node, version=now)
            case eq.FoldResult(fold=fold, name=name, axes=axes) | eq.CarryIn(fold=fold, name=name, axes=axes):
                carry = self.started.get((fold, name))
                if carry is None and isinstance(node, eq.CarryIn):
                    return node
                if carry is None or len(carry.axes) != len(axes):
                    raise _More
                moved: dict[eq.Expr, eq.Expr] = {}
                for own, axis in zip(carry.axes, axes, strict=True):
                    moved[eq.Index(own.name, INT)] = eq.Index(axis.name, INT)
                return self.expression(substitute(carry.init, moved), {})
            case eq.Reduce(op=op, axes=axes, body=body, where=where, type=kind):
                if any(self.empty(a, {}) for a in axes) or where == _FALSE or op == "or" and body == _FALSE:
                    return _neutral(op, kind)
            case eq.ArgReduce(op=op, axis=axis, type=kind) if self.empty(axis, {}):
                return axis.hi if op == "bisect" else axis.lo
            case eq.Op():
                return _known(node)
        return node


def _same(node: eq.Expr, size: eq.Expr) -> bool:
    match node, size:
        case eq.Shape(array=array, axis=axis), eq.Shape():
            return (array, axis) == (size.array, size.axis)
        case eq.Param(name=name), eq.Param():
            return name == size.name
    return False


def _neutral(op: str, kind: ScalarType) -> eq.Expr:
    value = _NEUTRAL.get(op)
    if value is not None and isinstance(value, bool) == (kind == BOOL):
        return eq.Const(float(value) if kind.is_inexact else value, kind)
    if op in ("min", "max") and kind.is_inexact:
        return eq.Const(float("inf") if op == "min" else -float("inf"), kind)
    if op in ("min", "max") and kind.is_integer and kind.bits:
        signed = kind.kind == "int"
        least, most = (-(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1) if signed else (0, (1 << kind.bits) - 1)
        return eq.Const(most if op == "min" else least, kind)
    raise _More


def _known(node: eq.Op) -> eq.Expr:
    """An operation on sizes that are known, and what follows from one operand that is."""
    match node:
        case eq.Op(name="select", args=(c, a, b)) if c in (_TRUE, _FALSE):
            return a if c == _TRUE else b
        case eq.Op(name="and", args=(a, b)) if _FALSE in (a, b):
            return _FALSE
        case eq.Op(name="and", args=(a, b)) if _TRUE in (a, b):
            return b if a == _TRUE else a
        case eq.Op(name="or", args=(a, b)) if _TRUE in (a, b):
            return _TRUE
        case eq.Op(name="or", args=(a, b)) if _FALSE in (a, b):
            return b if a == _FALSE else a
        case eq.Op(name="not", args=(a,)) if a in (_TRUE, _FALSE):
            return _FALSE if a == _TRUE else _TRUE
        case eq.Op(name=name, args=(a, b)) if a.type.is_integer and b.type.is_integer:
            x, y = linear(a), linear(b)
            gap = x - y
            if name in COMPARISONS and not gap.terms:
                return eq.Const(bool(COMPARISONS[name](gap.constant, 0)), BOOL)
            if name in ("add", "sub") and not (total := linear(node)).terms:
                return eq.Const(total.constant, node.type)
            whole = y.constant > 0 and (x.constant >= 0 or name not in ("tdiv", "tmod"))
            if name in _NUMBERS and not x.terms and not y.terms and (whole or name in ("mul", "min", "max")):
                return eq.Const(_NUMBERS[name](x.constant, y.constant), node.type)
    return node


# --- when it is worth it -----------------------------------------------------------------------


@dataclass(frozen=True)
class Early:
    """The return for calls where ``size`` is zero; ``context`` is that of its text."""

    size: eq.Expr
    lines: list[Stmt]
    context: Context

    def excluded(self) -> tuple[Linear, ...]:
        """What is not negative after it: a parameter may be."""
        return (linear(self.size) + -1,) if isinstance(self.size, eq.Shape) else ()

    def text(self, context: Context) -> Stmt:
        """``if n == 0: return 0, y``."""
        for mine, others in zip(_asked(context), _asked(self.context), strict=True):
            mine |= others
        return Raw(f"if {flat(py.Bin('==', context.static(self.size), py.number(0)))}:", self.lines)


def early_returns(
    context: Context, kernel: eq.Kernel, lowered: Callable[[eq.Kernel], tuple[Context, list[Stmt]]]
) -> list[Early]:
    """One for each size that makes a loop's round, which is always traced, ask for a place in an array without any, or
    the one row that everything is computed from (``D[k, :n]``)."""
    found: list[Early] = []

    def some(form: Linear) -> bool:
        return context.never_negative(form + -1) or any(form.same(linear(e.size)) for e in found)

    for doubt in dict.fromkeys(context.doubts):
        if some(doubt.extent) or doubt.rounds and all(map(some, doubt.rounds)):
            continue
        if not doubt.rounds and not _traced(context, doubt.place):
            continue
        sizes = _sizes(context, doubt, kernel)
        if not doubt.rounds and any(some(linear(s)) for s in sizes):
            continue
        for size in sizes:
            rest = None if some(linear(size)) else left(kernel, size)
            if rest is None:
                continue
            own, lines = lowered(rest)
            if len(lines) <= _MOST and all(isinstance(s, Assign) for s in lines) and not own.doubts:
                found.append(Early(size, lines, own))
                break
    return found


def _traced(context: Context, place: eq.Expr) -> bool:
    """Whether a place is an argument's number."""
    return any(isinstance(n, eq.Param) and n.name not in context.statics for n in tree.walk(place))


def _asked(context: Context) -> tuple[set, ...]:
    """What the text asks of the function's head and of the module."""
    return context.statics, context.fields, context.needs, context.used_constants, context.used_helpers


def _sizes(context: Context, doubt: Doubt, kernel: eq.Kernel) -> list[eq.Expr]:
    """The sizes of which one may be zero where an axis is empty: its extent, the rounds of the loops around, outside of
    loops the parameters up to which something is stored."""
    forms = [doubt.extent, *reversed(doubt.rounds)]
    if not doubt.rounds:
        axes = (a for w in kernel.body if isinstance(w, eq.Write) for a in w.axes)
        stored = (s for a in axes if (s := context.size(a)) is not None)
        forms += [s for s in stored if all(isinstance(atom, eq.Param) for atom, _ in s.terms)]
    found: dict[eq.Expr, None] = {}
    for form in forms:
        atom = form.terms[0][0] if len(form.terms) == 1 and not form.constant and form.terms[0][1] == 1 else None
        if isinstance(atom, eq.Shape) or isinstance(atom, eq.Param) and "." not in atom.name:
            found.setdefault(atom)
    return list(found)
