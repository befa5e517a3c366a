"""What is known while one function is lowered: names, views, arrays, statements that an expression needs first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import libcst as cst

from kraise.diagnostics import Diagnostic, Refused, Span, refuse
from kraise.frontends.python.exchanged import Exchanges
from kraise.frontends.python.names import Imports
from kraise.frontends.python.roving import Rover
from kraise.frontends.python.source import Source, all_of, dotted, walk
from kraise.frontends.python.survey import Definition
from kraise.frontends.python.views import Piece, View
from kraise.ir.kernel import Assign, Const, Constant, Expr, Function, Hw, LocalArray, Op, Shape, Stmt, Var
from kraise.ir.types import BOOL, INT, NUMBER, ScalarType


@dataclass
class Summary:
    """What a caller needs to know of a function that is lowered already."""

    function: Function
    effects: bool
    written: frozenset[int]  # parameters that it stores into
    ranks: dict[str, int]
    origin: str = ""  # the definition that it comes from (a copy for part of an array has a name of its own)


@dataclass
class Scope:
    """The state of lowering one function."""

    source: Source
    imports: Imports
    constants: dict[str, Constant]
    definition: Definition
    ranks: dict[str, int]
    summaries: dict[str, Summary]
    functions: dict[str, Definition]
    copies: dict = field(default_factory=dict)  # of helpers, for parts of arrays; shared by the functions of a module
    params: list[str] = field(default_factory=list)
    views: dict[str, View] = field(default_factory=dict)
    tuples: dict[str, tuple[Expr, ...]] = field(default_factory=dict)
    tables: dict[str, LocalArray] = field(default_factory=dict)  # tuples of numbers that are looked up, by name
    lambdas: dict[str, cst.Lambda] = field(default_factory=dict)
    substitutions: dict[str, Expr] = field(default_factory=dict)
    ambiguous: set[str] = field(default_factory=set)
    kinds: dict[str, tuple[ScalarType, str]] = field(default_factory=dict)  # of arrays made here: see kind
    shapes: dict[str, tuple[Expr, ...]] = field(default_factory=dict)  # of local arrays, where the extents are fixed
    hardware: dict[str, str] = field(default_factory=dict)  # t = cuda.threadIdx: local -> qualified name
    known: dict[str, Const] = field(default_factory=dict)  # locals that are assigned once, a constant
    sizes: dict[str, Expr] = field(default_factory=dict)  # those that are assigned once, a size or a sum of sizes
    remade: set[str] = field(default_factory=set)  # names of arrays that are made again, each time in the same memory
    floats: set[str] = field(default_factory=set)  # parameters that must be of numpy's floats
    alike: set[tuple[str, str]] = field(default_factory=set)  # pairs of parameters that must be of one type
    congruent: set[tuple[str, str]] = field(default_factory=set)  # and of one shape
    # names that expressions over arrays take for numbers, each with the indices of the element
    numbers: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    bound: Counter = field(default_factory=Counter)  # how often each local is bound
    used: set[str] = field(default_factory=set)
    loop_vars: list[str] = field(default_factory=list)
    pre: list[Stmt] = field(default_factory=list)
    may_hoist: bool = True
    once: bool = False  # inside an array expression: is it evaluated, so that a number in it may be computed before?
    element: tuple[Expr, ...] | None = None  # inside an array expression: the indices of the element that is computed
    beside: list[tuple[int, Expr]] = field(
        default_factory=list
    )  # axes of its operands, from the last on: their extents
    required: list[str] = field(default_factory=list)  # what the source raises an exception without
    rovers: dict[str, Rover] = field(default_factory=dict)  # names of arrays that change places
    exchanges: Exchanges = field(default_factory=Exchanges)  # of the names of arrays that are made here
    within: dict[int, View] = field(default_factory=dict)  # arrays that are made within an expression, by their call
    grids: set[str] = field(default_factory=set)  # g = cuda.cg.this_grid()
    failed: set[str] = field(default_factory=set)  # names whose binding was refused: nothing more is said of them
    problems: list[Diagnostic] = field(default_factory=list)

    @property
    def guards(self) -> bool:
        """Is this the top of a plain function, where a check of the arguments is a precondition of what follows?"""
        return self.definition.kind == "plain" and not self.loop_vars

    @cached_property
    def several_axes(self) -> bool:
        """May the block have more axes than x? A kernel that only ever asks for x is launched with x only."""
        if self.definition.kind != "kernel":
            return True
        for node in walk(self.definition.node.body):
            if isinstance(node, cst.Attribute) and node.attr.value in ("y", "z"):
                return True
            if isinstance(node, cst.Call) and dotted(node.func).rpartition(".")[2] in ("grid", "gridsize"):
                argument = node.args[0].value if node.args else None
                if not (isinstance(argument, cst.Integer) and argument.value == "1"):
                    return True
        return False

    def callee(self, name: str) -> Summary | None:
        """What a name of the source is called for: a function lowered already, None if there is none."""
        known = self.functions.get(name)
        return None if known is None else self.summaries.get(known.name)

    def span(self, node: cst.CSTNode) -> Span | None:
        return self.source.span(node)

    def refuse(self, node: cst.CSTNode, reason: str, hint: str = "", code: str = "KR101") -> Refused:
        return refuse(code, reason, self.span(node), hint)

    def table(self, name: str, elements: tuple[Expr, ...]) -> LocalArray | None:
        """A tuple of numbers of one type as an array, for subscripts that are no numbers; None for another tuple."""
        numbers = [e for e in elements if isinstance(e, Const)]
        kinds = {e.type for e in numbers}
        if len(numbers) < len(elements) or len(kinds) != 1 or BOOL in kinds:
            return None
        (kind,) = kinds
        shape = (Const(len(numbers), INT),)
        return self.tables.setdefault(name, LocalArray(name, kind, shape, "local", values=tuple(numbers)))

    def fresh(self, *wishes: str) -> str:
        """The first wish that is no name of the function yet, or the last one numbered; taken from now on."""
        for name in wishes:
            if name not in self.used:
                break
        else:
            number = 2
            while (name := f"{wishes[-1]}_{number}") in self.used:
                number += 1
        self.used.add(name)
        return name

    def fresh_index(self) -> str:
        return self.fresh("i", "j", "k", "m", "p", "index")

    @contextmanager
    def no_hoisting(self) -> Iterator[None]:
        """Inside, an expression that needs statements before it is refused: it may not be evaluated, or repeatedly."""
        before, self.may_hoist, self.once = (self.may_hoist, self.once), False, False
        try:
            yield
        finally:
            self.may_hoist, self.once = before

    def hoist(self, node: cst.CSTNode, *statements: Stmt) -> None:
        """Statements to run before the one that is being lowered."""
        if not self.may_hoist:
            raise self.refuse(
                node,
                "this call cannot stand where it may be skipped or repeated",
                "put it on a line of its own and use the result",
                "KR210",
            )
        self.pre.extend(statements)

    def times_made(self, name: str) -> int:
        """How often an array's name is bound; an augmented assignment changes the array that it has."""
        body = self.definition.node.body
        changes = (n.target for n in all_of(cst.AugAssign, body))
        return self.bound[name] - sum(isinstance(t, cst.Name) and t.value == name for t in changes)

    def taken(self) -> tuple[Stmt, ...]:
        """The statements hoisted so far; the list is empty afterwards."""
        statements, self.pre = tuple(self.pre), []
        return statements

    def stable(self, expr: Expr) -> bool:
        """Does the expression keep its value wherever it is used later (no load, no variable that changes)?"""
        match expr:
            case Const() | Hw() | Shape():
                return True
            case Var(name=name):
                return self.bound[name] <= (0 if name in self.params else 1)
            case Op(args=args):
                return all(self.stable(a) for a in args)
        return False

    def frozen(self, expr: Expr, wish: str, node: cst.CSTNode) -> Expr:
        """The expression, or a new local that holds its value from here on."""
        match expr:
            case Op(name="neg", args=(Const(value=int() | float() as number, type=kind),)) if kind != BOOL:
                return Const(-number, kind, span=expr.span)
        return expr if self.stable(expr) else self._local(expr, wish, node)

    def held(self, expr: Expr, wish: str, node: cst.CSTNode) -> Expr:
        """The same, and computed once: only what is a name or a constant stays as it is."""
        match expr:
            case Op(name="neg", args=(Const(value=int() | float() as number, type=kind),)) if kind != BOOL:
                return Const(-number, kind, span=expr.span)
        return expr if self.stable(expr) and not isinstance(expr, Op) else self._local(expr, wish, node)

    def _local(self, expr: Expr, wish: str, node: cst.CSTNode) -> Expr:
        name = self.fresh(wish)
        self.bound[name] = 1
        self.hoist(node, Assign(name, expr, NUMBER, span=self.span(node)))
        return Var(name, NUMBER, span=self.span(node))

    def kind(self, array: str) -> tuple[ScalarType, str]:
        """The type of an array's elements: by itself, or as of a parameter."""
        return self.kinds.get(array, (NUMBER, array))

    def resolved(self, expr: Expr) -> Expr:
        """An extent with what its names stand for, to compare it with another one."""
        match expr:
            case Var(name=name) if name in self.known or name in self.sizes:
                return self.resolved(self.known.get(name) or self.sizes[name])
            case Op(args=args):
                return replace(expr, args=tuple(map(self.resolved, args)))
        return expr

    def is_table(self, name: str) -> bool:
        """Is it a table of the module (and no parameter or local of that name)?"""
        return name in self.constants and not self.bound[name] and name not in self.params

    def extent(self, array: str, axis: int, node: cst.CSTNode) -> Expr:
        """``array.shape[axis]``."""
        if array in self.shapes:
            return self.shapes[array][axis]
        if self.is_table(array):
            return Const(self.constants[array].shape[axis], INT, span=self.span(node))
        return Shape(array, axis, INT, span=self.span(node))

    def extents(self, view: View, node: cst.CSTNode) -> tuple[Expr, ...]:
        """The extents of the axes of a view that are free."""
        found: list[Expr] = []
        for axis in view.axes():
            part = view.subscripts[axis]
            found.append(part.extent if isinstance(part, Piece) else self.extent(view.array, axis, node))
        return tuple(found)


def bindings(body: cst.CSTNode) -> Counter:
    """How often each name is bound below a node: assignments, loops, augmented assignments."""
    counts: Counter = Counter()

    def target(node: cst.CSTNode) -> None:
        if isinstance(node, cst.Name):
            counts[node.value] += 1
        elif isinstance(node, cst.Tuple | cst.List):
            for element in node.elements:
                target(element.value)

    own: Iterable[Any] = all_of(_BINDING, body)
    if all_of(cst.Lambda | cst.FunctionDef | cst.GeneratorExp, body):
        own = walk(body, lambda n: type(n) not in (cst.Lambda, cst.FunctionDef, cst.GeneratorExp))
    for node in own:
        if isinstance(node, _BINDING) and not (isinstance(node, cst.AnnAssign) and node.value is None):
            target(node.target)
    return counts


_BINDING = cst.AssignTarget | cst.For | cst.AugAssign | cst.NamedExpr | cst.AnnAssign
