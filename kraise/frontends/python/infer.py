"""Types of a module's functions: locals by what is assigned, scalar parameters by how they are used.

A local has the join of all its assignments. A scalar parameter without a type is an INT if it bounds a loop,
subscripts an array, makes a shape or is compared with such a thing, and a NUMBER otherwise. Parameters of device
functions take their types from the calls. All of it is one fixpoint: functions whose inputs changed are typed again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kraise.frontends.python import declared
from kraise.frontends.python.calls import INEXACT
from kraise.frontends.python.promotion import fractional, promote, result_type
from kraise.frontends.webs import counted_and_set, split
from kraise.ir.kernel import (
    ArrayRef,
    Assign,
    Atomic,
    Call,
    CallStmt,
    Cast,
    Const,
    Constant,
    Expr,
    For,
    Function,
    Hw,
    If,
    Load,
    LocalArray,
    Op,
    Return,
    Shape,
    Stmt,
    Store,
    Var,
    Warp,
    While,
)
from kraise.ir.operations import SLICE_ENDS
from kraise.ir.types import BOOL, FLOAT, INT, INT64, NUMBER, UINT64, ArrayType, ScalarType

_INTEGER_THROUGH = frozenset(
    {"add", "sub", "mul", "floordiv", "mod", "min", "max", "neg", "abs", "and_", "or_", "xor", "invert", "shl", "shr"}
    | {*SLICE_ENDS, "slice_count", "same_extent"}
)
_BITS = frozenset({"and_", "or_", "xor", "invert", "shl", "shr", "popcount", "clz"})
_ARITHMETIC = frozenset({"add", "sub", "mul", "neg", "floordiv", "mod", "pow", "shl", "shr", "abs"})
_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
_ROUNDS = 12
LIMIT = 2**31


@dataclass
class _State:
    """What is known of one function so far."""

    function: Function
    fixed: frozenset[str]  # parameters whose type the source writes down
    integer: set[str] = field(default_factory=set)  # parameters found to be integers
    scalars: dict[str, ScalarType] = field(default_factory=dict)  # parameters by their calls
    elements: dict[str, ScalarType] = field(default_factory=dict)  # array parameters by their calls
    returns: tuple[ScalarType | None, ...] = ()
    typed: Function | None = None
    calls: list[tuple[str, tuple]] = field(default_factory=list)


def infer(
    functions: dict[str, Function], fixed: dict[str, frozenset[str]], constants: dict[str, Constant]
) -> dict[str, Function]:
    """The functions with every type filled in; callees stand before callers in ``functions``."""
    states = {n: _State(f, fixed.get(n, frozenset())) for n, f in functions.items()}
    callers: dict[str, set[str]] = {}
    todo = list(functions)
    for _ in range(_ROUNDS):
        again: set[str] = set()
        for name in todo:
            state = states[name]
            before = (state.returns, frozenset(state.integer))
            _Typer(state, states, constants).run()
            for callee, _args in state.calls:
                callers.setdefault(callee, set()).add(name)
            if before != (state.returns, frozenset(state.integer)):
                again |= callers.get(name, set())
        again |= _from_calls(states)
        if not again:
            break
        todo = [n for n in functions if n in again]
    return {n: declared.widened(s.typed) for n, s in states.items() if s.typed is not None}


def _from_calls(states: dict[str, _State]) -> set[str]:
    """Parameter types of device functions by the arguments of all calls; the functions whose types changed."""
    seen: dict[tuple[str, str], list[ScalarType]] = {}
    for state in states.values():
        for callee, arguments in state.calls:
            for param, type_ in zip(states[callee].function.params, arguments, strict=True):
                seen.setdefault((callee, param.name), []).append(type_)
    changed: set[str] = set()
    for (callee, name), types in seen.items():
        state = states[callee]
        if state.function.kind != "device" or name in state.fixed:
            continue
        is_array = any(p.name == name and isinstance(p.type, ArrayType) for p in state.function.params)
        known = state.elements if is_array else state.scalars
        if is_array:
            found = types[0] if all(t == types[0] for t in types) else NUMBER
        else:
            found = types[0]
            for other in types[1:]:
                found = promote(found, other)
        if known.get(name) != found:
            known[name] = found
            changed.add(callee)
    return changed


class _Typer:
    """One function, typed until its locals and integer parameters no longer change."""

    def __init__(self, state: _State, states: dict[str, _State], constants: dict[str, Constant]):
        self.state, self.states = state, states
        self.tables = {n: c.type for n, c in constants.items() if c.shape}
        self.env: dict[str, ScalarType] = {}
        self.arrays: dict[str, ScalarType] = {}
        self.demanded: set[str] = set()
        self.returns: list[ScalarType | None] = []
        self.calls: list[tuple[str, tuple]] = []
        self.assigned: dict[str, list[Expr]] = {}
        self.kinds: list[tuple[str, ScalarType]] = []  # what is assigned to locals
        self.compiled = state.function.kind in ("kernel", "device")

    def run(self) -> None:
        self.types()
        apart = split(self.state.function, {*self.mixed(), *counted_and_set(self.state.function)})
        if apart is not self.state.function:
            self.state.function = apart
            self.types()
        function, state = self.state.function, self.state
        state.calls = self.calls
        state.returns = tuple(self.returns)
        state.typed = replace(function, params=self.params, body=self.body, returns=state.returns)

    def mixed(self) -> list[str]:
        """The locals that are an integer here and a number there."""
        kinds: dict[str, set[bool]] = {n: {t.is_integer} for n, t in self.kinds}
        for name, kind in self.kinds:
            kinds[name].add(kind.is_integer)
        return sorted(n for n, found in kinds.items() if len(found) == 2)

    def types(self) -> None:
        function, state = self.state.function, self.state
        for _ in range(_ROUNDS):
            self.params = tuple(self.parameter(p) for p in function.params)
            self.env = {p.name: p.type for p in self.params if isinstance(p.type, ScalarType)}
            self.arrays = {
                **self.tables,
                **{p.name: p.type.element for p in self.params if isinstance(p.type, ArrayType)},
            }
            self.locals_of(function.body)
            new = self.demanded - state.integer
            new = {n for n in new if n in self.env and n not in state.fixed and self.param_is_number(n)}
            if not new:
                break
            state.integer |= new

    def param_is_number(self, name: str) -> bool:
        return any(p.name == name and p.type == NUMBER for p in self.state.function.params)

    def parameter(self, param):
        if isinstance(param.type, ArrayType):
            element = self.state.elements.get(param.name, param.type.element)
            return replace(param, type=ArrayType(element, param.type.ndim))
        if param.type == NUMBER and param.name not in self.state.fixed:
            if param.name in self.state.integer:
                return replace(param, type=INT)
            return replace(param, type=self.state.scalars.get(param.name, NUMBER))
        return param

    def locals_of(self, body: tuple[Stmt, ...]) -> None:
        """Fixpoint over the locals."""
        for _ in range(_ROUNDS):
            before = dict(self.env), dict(self.arrays)
            self.returns, self.calls, self.demanded, self.assigned, self.kinds = [], [], set(), {}, []
            self.body = self.block(body)
            if before == (self.env, self.arrays):
                break
        todo = list(self.demanded)
        while todo:  # what flows into an integer local is an integer
            for value in self.assigned.pop(todo.pop(), ()):
                before_names = set(self.demanded)
                self.demand(value)
                todo.extend(self.demanded - before_names)

    # --- statements ---

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(self.statement(s) for s in body)

    def bind(self, name: str, type_: ScalarType) -> ScalarType:
        self.kinds.append((name, type_))
        held = self.env.get(name)
        self.env[name] = type_ if held is None else promote(held, type_)
        return self.env[name]

    def statement(self, s: Stmt) -> Stmt:
        match s:
            case Assign():
                value = self.expr(s.value)
                self.assigned.setdefault(s.name, []).append(value)
                return replace(s, value=value, type=self.bind(s.name, value.type))
            case Store():
                value = self.expr(s.value)
                self.stored(s.array, value.type)
                return replace(s, subscripts=self.indices(s.subscripts), value=self.held(s.array, value))
            case Atomic():
                type_ = self.arrays.get(s.array, NUMBER)
                if s.result:
                    self.bind(s.result, type_)
                values = tuple(self.held(s.array, self.expr(v)) for v in s.values)
                return replace(s, subscripts=self.indices(s.subscripts), values=values, type=type_)
            case If():
                condition = self.truth(self.expr(s.condition))
                return replace(s, condition=condition, body=self.block(s.body), orelse=self.block(s.orelse))
            case While():
                condition = self.truth(self.expr(s.condition))
                return replace(s, condition=condition, body=self.block(s.body), orelse=self.block(s.orelse))
            case For():
                bounds = tuple(self.expr(e) for e in (s.start, s.stop, s.step))
                for bound in bounds:
                    self.demand(bound)
                self.bind(s.var, INT)
                start, stop, step = bounds
                body, orelse = self.block(s.body), self.block(s.orelse)
                return replace(s, start=start, stop=stop, step=step, body=body, orelse=orelse, type=INT)
            case Return():
                return self.returned(s)
            case LocalArray():
                return self.local_array(s)
            case CallStmt():
                args = self.arguments(s.function, s.args)
                types = tuple(t or NUMBER for t in self.states[s.function].returns[: len(s.results)])
                types += (NUMBER,) * (len(s.results) - len(types))
                types = tuple(self.bind(n, t) for n, t in zip(s.results, types, strict=True))
                return replace(s, args=args, types=types)
        return s

    def stored(self, array: str, type_: ScalarType) -> None:
        """A local array without a type takes the types of what is stored."""
        if array in self.open_arrays():
            held = self.arrays.get(array)
            self.arrays[array] = type_ if held is None else promote(held, type_)

    def held(self, array: str, value: Expr) -> Expr:
        """What an array of integers keeps of a float: in each round of a loop that adds to it."""
        element = self.arrays.get(array, NUMBER)
        whole = element.is_integer and element.bits and fractional(value)
        return Cast(element, value, span=value.span) if whole else value

    def open_arrays(self) -> set[str]:
        if not hasattr(self, "_open"):
            self._open = set()
            stack: list = list(self.state.function.body)
            while stack:
                top = stack.pop()
                if isinstance(top, LocalArray) and top.element == NUMBER and not top.like:
                    self._open.add(top.name)
                stack.extend(getattr(top, "body", ()))
                stack.extend(getattr(top, "orelse", ()))
        return self._open

    def local_array(self, s: LocalArray) -> Stmt:
        like = s.like
        element = self.arrays.get(like, NUMBER) if s.element == NUMBER and like else s.element
        fill = None if s.fill is None else self.expr(s.fill)
        if s.element == NUMBER and not like:
            element = self.arrays.get(s.name, NUMBER)
            if fill is not None:
                self.stored(s.name, fill.type)
        else:
            self.arrays[s.name] = element
        return replace(s, element=element, shape=self.indices(s.shape), fill=fill)

    def returned(self, s: Return) -> Stmt:
        values = tuple(v if isinstance(v, ArrayRef) else self.expr(v) for v in s.values)
        for k, value in enumerate(values):
            type_ = None if isinstance(value, ArrayRef) else value.type
            if k >= len(self.returns):
                self.returns.append(type_)
            else:
                held = self.returns[k]
                if held is not None and type_ is not None:
                    self.returns[k] = promote(held, type_)
        return replace(s, values=values)

    # --- expressions ---

    def indices(self, subscripts: tuple[Expr, ...]) -> tuple[Expr, ...]:
        typed = tuple(self.expr(e) for e in subscripts)
        for e in typed:
            self.demand(e)
        return typed

    def truth(self, e: Expr) -> Expr:
        if e.type == BOOL:
            return e
        return Op("ne", (e, Const(0, INT, span=e.span)), BOOL, span=e.span)

    def expr(self, e: Expr) -> Expr:
        match e:
            case Var():
                return replace(e, type=self.env.get(e.name, e.type))
            case Const(value=int() as value) if e.type == INT and self.compiled and not -LIMIT <= value < LIMIT:
                return replace(e, type=INT64 if value < 2**63 else UINT64)  # numba's own type for it, not a weak one
            case Const() | Hw() | Shape():
                return e
            case Load():
                return replace(e, subscripts=self.indices(e.subscripts), type=self.arrays.get(e.array, NUMBER))
            case Cast():
                arg = self.expr(e.arg)
                if e.type == INEXACT:
                    return Cast(FLOAT, arg, span=e.span) if arg.type.is_integer or arg.type == BOOL else arg
                return replace(e, arg=arg)
            case Op():
                return self.operation(e)
            case Call():
                args = self.arguments(e.function, e.args)
                returns = self.states[e.function].returns
                return replace(e, args=args, type=(returns[0] if returns else None) or NUMBER)
            case Warp():
                args = tuple(self.expr(a) for a in e.args)
                return replace(e, args=args, type=args[0].type if e.name.startswith("shfl") else e.type)
        return e

    def operation(self, e: Op) -> Expr:
        args = tuple(self.expr(a) for a in e.args)
        if e.name in ("and", "or", "not"):
            args = tuple(self.truth(a) for a in args)
        elif e.name == "select":
            args = (self.truth(args[0]), *args[1:])
        elif e.name in _BITS and any(a.type.is_integer for a in args):
            for arg in args:
                self.demand(arg)
        elif e.name in ("shl", "shr"):
            self.demand(args[1])
        elif e.name in _COMPARISONS:
            for one, other in (args, args[::-1]):
                if one.type.is_integer and _moves(one) and _plain_sum(other):
                    self.demand(other)
        type_ = result_type(e.name, args)
        if type_ == INT and e.name in _ARITHMETIC and all(a.type == BOOL for a in args):
            args = tuple(Cast(INT, a, span=a.span) for a in args)  # True + True is 2, which no array of booleans holds
        if e.name == "pow" and type_ == FLOAT and args[0].type.is_integer:
            args = (Cast(FLOAT, args[0], span=args[0].span), args[1])
        return replace(e, args=args, type=type_)

    def arguments(self, callee: str, args: tuple) -> tuple:
        """The typed arguments of a call; an argument for an integer parameter is an integer."""
        state = self.states[callee]
        typed = tuple(a if isinstance(a, ArrayRef) else self.expr(a) for a in args)
        types = tuple(self.arrays.get(a.array, NUMBER) if isinstance(a, ArrayRef) else a.type for a in typed)
        self.calls.append((callee, types))
        for param, arg in zip(state.function.params, typed, strict=True):
            if param.name in state.integer and not isinstance(arg, ArrayRef):
                self.demand(arg)
        return typed

    def demand(self, e: Expr) -> None:
        """The expression is used as an integer: so are the variables that flow into it."""
        match e:
            case Var(name=name):
                self.demanded.add(name)
            case Op(name=name, args=args) if name in _INTEGER_THROUGH:
                for arg in args:
                    self.demand(arg)
            case Op(name="select", args=(_, yes, no)):
                self.demand(yes)
                self.demand(no)


def _moves(e: Expr) -> bool:
    """Is there an index, an extent or a variable in it? A constant alone says nothing about the other side."""
    match e:
        case Var() | Hw() | Shape():
            return True
        case Op(args=args):
            return any(_moves(a) for a in args)
    return False


def _plain_sum(e: Expr) -> bool:
    match e:
        case Const(value=value):
            return isinstance(value, int)
        case Var() | Shape() | Hw():
            return True
        case Op(name="add" | "sub" | "neg" | "floordiv" | "mul", args=args):
            return all(_plain_sum(a) for a in args)
    return False
