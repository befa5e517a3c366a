"""Which equations are legal: a list of what is wrong with a kernel, for tests after every stage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kraise.ir.equations import (
    ArgReduce,
    Axis,
    CarryIn,
    Cast,
    Const,
    Expr,
    Fold,
    FoldResult,
    HelperCall,
    Index,
    Kernel,
    New,
    Op,
    Param,
    Read,
    Reduce,
    Scan,
    Shape,
    Stmt,
    Version,
    Write,
)
from kraise.ir.operations import ASSOCIATIVE, BITWISE, OPERATIONS
from kraise.ir.walk import axes_of, children, free_indices, topological

_REDUCTIONS = frozenset(ASSOCIATIVE).difference(BITWISE)
_ACCUMULATIONS = _REDUCTIONS | {"", "xor"}
_BOUND_NODES = (Const, Param, Shape, Op, Cast)


def problems(kernel: Kernel) -> list[str]:
    """What is wrong with the kernel; an empty list if it is legal."""
    check = _Check(kernel)
    for helper in kernel.helpers:
        check.helper(helper.name, helper.body, tuple(p.name for p in helper.params))
    check.axes(kernel.rounds, _Scope(), "rounds")
    check.statements(kernel.body, _Scope().with_axes(kernel.rounds))
    last = _Scope().with_axes(kernel.rounds)
    for value in kernel.returns:
        if isinstance(value, Version):
            check.seen(value, last, "returns")
        else:
            check.expression(value, last, "returns")
    for condition, message in kernel.checks:
        check.bound(condition, f"check {message!r}")
    return check.found


@dataclass(frozen=True)
class _Scope:
    """The indices that have a value, and the folds whose body this is."""

    indices: frozenset[str] = frozenset()
    folds: frozenset[str] = frozenset()
    axes: dict[str, Axis] = field(default_factory=dict)

    def with_axes(self, axes: tuple[Axis, ...]) -> _Scope:
        return _Scope(self.indices | {a.name for a in axes}, self.folds, self.axes | {a.name: a for a in axes})


class _Check:
    def __init__(self, kernel: Kernel) -> None:
        self.found: list[str] = []
        self.kernel = kernel
        self.defined: set[Version] = set()
        self.results: dict[tuple[str, str], tuple[Axis, ...]] = {}
        self.carried: dict[tuple[str, str], tuple[Axis, ...]] = {}
        self.folds: set[str] = set()
        self.ranks: dict[str, int] = {}
        self.helpers = {h.name: len(h.params) for h in kernel.helpers}

    def report(self, where: str, text: str) -> None:
        message = f"{where}: {text}"
        if message not in self.found:
            self.found.append(message)

    # --- statements --------------------------------------------------------------------------

    def statements(self, body: tuple[Stmt, ...], scope: _Scope) -> None:
        for stmt in body:
            match stmt:
                case Write():
                    self.write(stmt, scope)
                case New(version=version):
                    where = _show(version)
                    for e in stmt.shape:
                        self.bound(e, where, "shape")
                    if stmt.fill is not None:
                        self.expression(stmt.fill, scope, where)
                    self.rank(version.array, len(stmt.shape), where)
                    self.define(version, where)
                case Fold():
                    self.fold(stmt, scope)

    def write(self, w: Write, scope: _Scope) -> None:
        where = _show(w.after)
        self.axes(w.axes, scope, where)
        inner = scope.with_axes(w.axes)
        if w.before.array != w.after.array:
            self.report(where, f"is made from another array, {_show(w.before)}")
        self.seen(w.before, scope, where)
        if w.accumulate not in _ACCUMULATIONS:
            self.report(where, f"unknown accumulation {w.accumulate!r}")
        for e in (*w.subscripts, w.value):
            self.expression(e, inner, where)
        if w.where is not None:
            self.expression(w.where, inner, where)
            self.boolean(w.where, where)
        self.subscripts(w.after, w.subscripts, w.view, where)
        self.define(w.after, where)

    def fold(self, f: Fold, scope: _Scope) -> None:
        where = f"fold {f.name}"
        if f.name in self.folds:
            self.report(where, "the name is taken")
        self.folds.add(f.name)
        if f.axis is None and f.condition is None:
            self.report(where, "has neither a range nor a condition")
        inner = _Scope(scope.indices, scope.folds | {f.name}, scope.axes)
        if f.axis is not None:
            self.axes((f.axis,), scope, where)
            inner = inner.with_axes((f.axis,))
        if len({s.name for s in f.scalars}) != len(f.scalars):
            self.report(where, "carries two scalars of one name")
        for a in f.arrays:
            if len({v.array for v in (a.outside, a.entry, a.exit, a.result)}) != 1:
                self.report(where, f"carries {_show(a.outside)} into another array")
            self.seen(a.outside, scope, where)
            self.define(a.entry, where)
        for s in f.scalars:
            self.axes(s.axes, scope, f"{where}, {s.name}")
            self.expression(s.init, scope.with_axes(s.axes), f"{where}, {s.name} on entry")
            self.carried[f.name, s.name] = s.axes
        if f.condition is not None:
            self.expression(f.condition, inner, f"{where}, condition")
            self.boolean(f.condition, where)
        before = set(self.defined)
        self.statements(f.body, inner)
        for s in f.scalars:
            self.expression(s.update, inner.with_axes(s.axes), f"{where}, update of {s.name}")
            for other, when in ((s.init.type, "on entry"), (s.update.type, "after a round")):
                # a type not known before the call, or of Python, takes the other's width
                if "number" not in (s.type.kind, other.kind) and s.type.kind != other.kind:
                    self.report(where, f"{s.name} is {s.type} but {other} {when}")
        names = [s.name for s in f.scalars] + [o.name for o in f.outputs]
        if f.outputs and len(set(names)) != len(names):
            self.report(where, "puts out two values of one name")
        if f.outputs and f.axis is None:
            self.report(where, "puts out values and has no range")
        for o in f.outputs:
            self.axes(o.axes, inner, f"{where}, output {o.name}")
            self.expression(o.value, inner.with_axes(o.axes), f"{where}, output {o.name}")
        exits = {a.exit for a in f.arrays}
        for a in f.arrays:
            self.seen(a.exit, inner, where)
        # what a round makes of an array that outlives it must be carried
        for version in self.defined - before - exits:
            if not any(a.exit.array == version.array for a in f.arrays) and not _is_new(version, f.body):
                self.report(where, f"{_show(version)} is written in a round and not carried")
        self.defined = before - {a.entry for a in f.arrays} | {a.result for a in f.arrays}
        for s in f.scalars:
            del self.carried[f.name, s.name]
            self.results[f.name, s.name] = s.axes
        for o in f.outputs:
            if f.axis is not None:
                self.results[f.name, o.name] = (*o.axes, f.axis)

    def helper(self, name: str, body: tuple[Expr, ...], params: tuple[str, ...]) -> None:
        for e in body:
            self.expression(e, _Scope(), f"helper {name}")
            for node in topological((e,)):
                if isinstance(node, Param) and node.name not in params:
                    self.report(f"helper {name}", f"{node.name} is not one of its parameters")
                if isinstance(node, Read):
                    self.report(f"helper {name}", f"reads {_show(node.version)}")

    # --- parts -------------------------------------------------------------------------------

    def define(self, version: Version, where: str) -> None:
        if version in self.defined:
            self.report(where, f"{_show(version)} is defined twice")
        self.defined.add(version)

    def seen(self, version: Version, scope: _Scope, where: str) -> None:
        if version.number and version not in self.defined:
            self.report(where, f"{_show(version)} is not defined here")

    def axes(self, axes: Iterable[Axis], scope: _Scope, where: str) -> None:
        names: set[str] = set()
        for a in axes:
            if a.name in names or a.name in scope.indices:
                self.report(where, f"index {a.name} is bound twice")
            names.add(a.name)
            if a.step <= 0:
                self.report(where, f"index {a.name} has step {a.step}")
            self.bound(a.lo, where, f"lower bound of {a.name}")
            self.bound(a.hi, where, f"upper bound of {a.name}")

    def bound(self, e: Expr, where: str, what: str = "") -> None:
        """Bounds, shapes and checks hold constants, parameters and shapes only."""
        for node in topological((e,)):
            if not isinstance(node, _BOUND_NODES):
                self.report(where, f"{what or 'it'} holds a {type(node).__name__}")
                return

    def boolean(self, e: Expr, where: str) -> None:
        if e.type.kind not in ("bool", "number"):
            self.report(where, f"a condition is {e.type}")

    def rank(self, array: str, count: int, where: str) -> None:
        if self.ranks.setdefault(array, count) != count:
            self.report(where, f"{array} has {self.ranks[array]} axes and {count} subscripts")

    def subscripts(self, version: Version, subscripts: tuple[Expr, ...], view: tuple[Expr, ...], where: str) -> None:
        if view:
            if len(view) != len(subscripts):
                self.report(
                    where, f"{version.array} is viewed with {len(view)} axes and has {len(subscripts)} subscripts"
                )
            for e in view:
                self.bound(e, where, f"view of {version.array}")
        else:
            self.rank(version.array, len(subscripts), where)
        for e in subscripts:
            if e.type.is_inexact or e.type.kind == "bool":
                self.report(where, f"a subscript of {version.array} is {e.type}")

    # --- expressions -------------------------------------------------------------------------

    def expression(self, e: Expr, scope: _Scope, where: str) -> None:
        missing = free_indices(e) - scope.indices
        if missing:
            self.report(where, f"index {', '.join(sorted(missing))} is bound by nothing")
        for node in topological((e,)):
            self.node(node, scope, where)

    def node(self, node: Expr, scope: _Scope, where: str) -> None:
        match node:
            case Op(name=name, args=args):
                self.operation(node, name, args, where)
            case Read(version=version, subscripts=subscripts, view=view):
                self.seen(version, scope, where)
                self.subscripts(version, subscripts, view, where)
            case Reduce(op=op) | ArgReduce(op=op) | Scan(op=op):
                legal: frozenset[str] = _REDUCTIONS
                if isinstance(node, Reduce | Scan) and not node.type.is_inexact:
                    legal = frozenset(ASSOCIATIVE)
                if isinstance(node, ArgReduce):
                    legal = frozenset(("min", "max", "bisect"))
                if isinstance(node, Scan):
                    legal |= {"linear", "sort"}
                    if node.op == "linear" and node.other is None:
                        self.report(where, "a linear scan has two bodies")
                    if node.op != "linear" and node.other is not None:
                        self.boolean(node.other, where)
                    known = scope.axes.get(node.axis.name)
                    if known is not None and (known.lo, known.hi, known.step) != (
                        node.axis.lo, node.axis.hi, node.axis.step,
                    ):  # fmt: skip
                        self.report(where, f"a scan along {node.axis.name} has another range than the index")
                if op not in legal:
                    self.report(where, f"unknown {type(node).__name__} {op!r}")
                if isinstance(node, Reduce | ArgReduce) and node.where is not None:
                    self.boolean(node.where, where)
                self.axes(axes_of(node), _Scope(), where)
                if isinstance(node, Reduce) and not node.axes:
                    self.report(where, "a reduction over nothing")
                for axis in axes_of(node):
                    if axis.name in free_indices(axis.lo) | free_indices(axis.hi):
                        self.report(where, f"bounds of {axis.name} hold an index")
            case CarryIn(fold=fold, name=name, axes=axes):
                if fold not in scope.folds or (fold, name) not in self.carried:
                    self.report(where, f"{name} of fold {fold} is not carried here")
                else:
                    self.same_axes(axes, self.carried[fold, name], where, name)
            case FoldResult(fold=fold, name=name, axes=axes):
                if (fold, name) not in self.results:
                    self.report(where, f"fold {fold} leaves no {name} here")
                else:
                    self.same_axes(axes, self.results[fold, name], where, name)
            case HelperCall(function=function, args=args):
                if function not in self.helpers:
                    self.report(where, f"helper {function} is unknown")
                elif self.helpers[function] != len(args):
                    self.report(where, f"helper {function} has {len(args)} arguments, not {self.helpers[function]}")
            case Cast() | Const() | Param() | Shape() | Index():
                pass
            case _:
                self.report(where, f"{type(node).__name__} is no expression")

    def same_axes(self, used: tuple[Axis, ...], own: tuple[Axis, ...], where: str, name: str) -> None:
        if [(a.lo, a.hi, a.step) for a in used] != [(a.lo, a.hi, a.step) for a in own]:
            self.report(where, f"{name} is used over other axes than it is carried over")

    def operation(self, node: Op, name: str, args: tuple[Expr, ...], where: str) -> None:
        row = OPERATIONS.get(name)
        if row is None:
            self.report(where, f"unknown operation {name!r}")
            return
        if row.arity != len(args):
            self.report(where, f"{name} has {len(args)} operands, not {row.arity}")
            return
        if row.result == "bool" and node.type.kind != "bool":
            self.report(where, f"{name} is {node.type}, not bool")
        if row.result == "inexact" and not (node.type.is_inexact or node.type.kind == "number"):
            self.report(where, f"{name} is {node.type}, not a float")
        if name == "select":
            self.boolean(args[0], where)
        if name in ("and", "or", "not") and any(a.type.kind not in ("bool", "number") for a in children(node)):
            self.report(where, f"an operand of {name} is not a condition")


def _is_new(version: Version, body: tuple[Stmt, ...]) -> bool:
    """Whether the version's array is made in the body (and then ends with the round)."""
    return any(isinstance(s, New) and s.version.array == version.array for s in body)


def _show(version: Version) -> str:
    return f"{version.array}.{version.number}"
