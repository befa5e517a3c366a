"""Which Kernel IR is legal: a list of what is wrong with a module, for tests after every front end."""

from __future__ import annotations

from kraise.diagnostics import Span
from kraise.ir.kernel import (
    ArrayRef,
    Assign,
    Atomic,
    Barrier,
    Break,
    Call,
    CallStmt,
    Cast,
    Const,
    Continue,
    Expr,
    For,
    Function,
    Hw,
    If,
    Load,
    LocalArray,
    Module,
    Op,
    Return,
    Shape,
    Stmt,
    Store,
    Var,
    Warp,
    While,
)
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import ArrayType, ScalarType, StructType, Type

_ATOMICS = {"cas": 2} | dict.fromkeys(
    ("add", "sub", "mul", "min", "max", "min_bits", "max_bits", "and", "or", "xor", "inc", "dec", "exch"), 1
)
_KINDS = ("kernel", "device", "plain")


def problems(module: Module) -> list[str]:
    """What is wrong with the functions of the module; an empty list if they are legal."""
    found: list[str] = []
    for function in module.functions:
        check = _Check(module, function)
        check.run()
        found += check.found
    names = [f.name for f in module.functions]
    found += [f"{name}: defined twice" for name in sorted({n for n in names if names.count(n) > 1})]
    return found


class _Check:
    """One function. ``ranks``: the number of axes of each array, ``scalars``: the locals set somewhere."""

    def __init__(self, module: Module, function: Function) -> None:
        self.found: list[str] = []
        self.module = module
        self.function = function
        self.ranks: dict[str, int] = {}
        self.scalars: dict[str, ScalarType | None] = {}
        for c in module.constants:
            if c.shape:
                self.ranks[c.name] = len(c.shape)
        for p in function.params:
            self.parameter(p.name, p.type, 0)

    def parameter(self, name: str, type: Type, extra: int) -> None:
        match type:
            case ScalarType() if extra:
                self.ranks[name] = extra
            case ScalarType():
                self.scalars[name] = type
            case ArrayType(ndim=ndim):
                self.ranks[name] = ndim + extra
            case StructType(members=members, is_array=is_array):
                for member, inner in members:
                    self.parameter(f"{name}.{member}", inner, extra + is_array)

    def report(self, text: str, span: Span | None = None) -> None:
        at = "" if span is None else f"{span.line}: "
        message = f"{self.function.name}: {at}{text}"
        if message not in self.found:
            self.found.append(message)

    def run(self) -> None:
        f = self.function
        if f.kind not in _KINDS:
            self.report(f"unknown kind {f.kind!r}")
        if len({p.name for p in f.params}) != len(f.params):
            self.report("two parameters of one name")
        self.block(f.body, frozenset(), False)

    # --- statements --------------------------------------------------------------------------

    def block(self, body: tuple[Stmt, ...], loop_vars: frozenset[str], in_loop: bool) -> None:
        for stmt in body:
            self.statement(stmt, loop_vars, in_loop)

    def statement(self, stmt: Stmt, loop_vars: frozenset[str], in_loop: bool) -> None:
        span = stmt.span
        match stmt:
            case Assign(name=name, value=value):
                self.expression(value, span)
                if name in loop_vars:
                    self.report(f"loop variable {name} is assigned in its loop", span)
                self.assign(name, stmt.type, span)
            case Store(array=array, subscripts=subscripts, value=value):
                self.access(array, subscripts, span)
                self.expression(value, span)
            case Atomic(name=name, array=array, subscripts=subscripts, values=values, result=result):
                if _ATOMICS.get(name) != len(values):
                    self.report(f"atomic {name} with {len(values)} values", span)
                self.access(array, subscripts, span)
                for value in values:
                    self.expression(value, span)
                if result:
                    self.assign(result, stmt.type, span)
            case If(condition=condition, body=then, orelse=orelse):
                self.expression(condition, span)
                self.block(then, loop_vars, in_loop)
                self.block(orelse, loop_vars, in_loop)
            case For(var=var, start=start, stop=stop, step=step, body=inner, orelse=orelse):
                for e in (start, stop, step):
                    self.expression(e, span)
                if isinstance(step, Const) and step.value == 0:
                    self.report("a loop with step 0", span)
                if var in loop_vars:
                    self.report(f"loop variable {var} is used by an inner loop", span)
                self.assign(var, stmt.type, span)
                self.block(inner, loop_vars | {var}, True)
                self.block(orelse, loop_vars, in_loop)
            case While(condition=condition, body=inner, orelse=orelse):
                if stmt.test_last:
                    self.block(inner, loop_vars, True)
                    self.expression(condition, span)
                else:
                    self.expression(condition, span)
                    self.block(inner, loop_vars, True)
                self.block(orelse, loop_vars, in_loop)
            case Break() | Continue():
                if not in_loop:
                    self.report(f"{type(stmt).__name__.lower()} outside a loop", span)
            case Return(values=values):
                if values and self.function.kind == "kernel":
                    self.report("a kernel returns a value", span)
                for returned in values:
                    self.argument(returned, span)
            case Barrier(scope=scope):
                if scope not in ("block", "warp", "grid"):
                    self.report(f"unknown barrier scope {scope!r}", span)
            case LocalArray():
                self.local_array(stmt)
            case CallStmt(function=name, args=args, results=results, types=types):
                self.call(name, args, span)
                if len(results) != len(types):
                    self.report(f"call of {name} with {len(results)} results of {len(types)} types", span)
                for result, kind in zip(results, types, strict=False):
                    self.assign(result, kind, span)
            case _:
                self.report(f"{type(stmt).__name__} is no statement")

    def assign(self, name: str, type: ScalarType, span: Span | None) -> None:
        if name in self.ranks:
            self.report(f"{name} is an array and a scalar", span)
        self.scalars.setdefault(name, type)

    def local_array(self, a: LocalArray) -> None:
        if a.space not in ("shared", "local", "heap"):
            self.report(f"unknown space {a.space!r}", a.span)
        for e in (*a.shape, *a.values, *(() if a.fill is None else (a.fill,))):
            self.expression(e, a.span)
        if a.element.kind == "number" and a.like not in self.ranks:
            self.report(f"the element type of {a.name} is not known", a.span)
        rank = 1 if a.dynamic and not a.shape else len(a.shape)
        if self.ranks.setdefault(a.name, rank) != rank:
            self.report(f"{a.name} is made with {self.ranks[a.name]} axes and with {rank}", a.span)

    # --- expressions -------------------------------------------------------------------------

    def access(self, array: str, subscripts: tuple[Expr, ...], span: Span | None) -> None:
        for e in subscripts:
            self.expression(e, span)
            if e.type.is_inexact:
                self.report(f"a subscript of {array} is {e.type}", span)
        self.array(array, len(subscripts), span)

    def array(self, array: str, rank: int | None, span: Span | None) -> None:
        own = self.ranks.get(array)
        if own is None:
            self.report(f"array {array} is unknown", span)
        elif rank is not None and own != rank:
            self.report(f"{array} has {own} axes and {rank} subscripts", span)

    def argument(self, value: Expr | ArrayRef, span: Span | None) -> None:
        if isinstance(value, ArrayRef):
            self.array(value.array, None, value.span or span)
            if value.offset is not None:
                self.expression(value.offset, span)
        else:
            self.expression(value, span)

    def call(self, name: str, args: tuple[Expr | ArrayRef, ...], span: Span | None) -> None:
        for a in args:
            self.argument(a, span)
        try:
            callee = self.module.function(name)
        except KeyError:
            self.report(f"function {name} is unknown", span)
            return
        required = sum(p.default is None for p in callee.params)
        if not required <= len(args) <= len(callee.params):
            self.report(f"{name} has {len(callee.params)} parameters and {len(args)} arguments", span)

    def expression(self, root: Expr, at: Span | None) -> None:
        stack = [root]
        while stack:
            e = stack.pop()
            span = e.span or at
            match e:
                case Const(value=value, type=type):
                    if type.is_integer and (isinstance(value, bool) or not isinstance(value, int)):
                        self.report(f"{value!r} is not {type}", span)
                case Var(name=name):
                    if name not in self.scalars:
                        self.report(f"{name} has no value", span)
                case Hw(kind=kind, axis=axis):
                    if kind not in ("thread", "block", "blockDim", "gridDim") or axis not in (0, 1, 2):
                        self.report(f"unknown hardware index {kind} {axis}", span)
                    if self.function.kind == "plain":
                        self.report("a plain function has no threads", span)
                case Op(name=name, args=args):
                    self.operation(e, span)
                    stack += reversed(args)
                case Cast(arg=arg):
                    stack.append(arg)
                case Load(array=array, subscripts=subscripts):
                    self.access(array, subscripts, span)
                case Shape(array=array, axis=axis):
                    self.array(array, None, span)
                    if not 0 <= axis < self.ranks.get(array, axis + 1):
                        self.report(f"{array} has no axis {axis}", span)
                case Call(function=name, args=args):
                    self.call(name, args, span)
                case Warp(args=args, width=width):
                    if width not in (1, 2, 4, 8, 16, 32):
                        self.report(f"a warp segment of {width} lanes", span)
                    stack += reversed(args)
                case _:
                    self.report(f"{e.__class__.__name__} is no expression", span)

    def operation(self, e: Op, span: Span | None) -> None:
        row = OPERATIONS.get(e.name)
        if row is None:
            self.report(f"unknown operation {e.name!r}", span)
        elif row.arity != len(e.args):
            self.report(f"{e.name} has {len(e.args)} operands, not {row.arity}", span)
        elif row.result == "bool" and e.type.kind != "bool":
            self.report(f"{e.name} is {e.type}, not bool", span)
        elif row.result == "inexact" and not (e.type.is_inexact or e.type.kind == "number"):
            self.report(f"{e.name} is {e.type}, not a float", span)
