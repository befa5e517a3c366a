"""The reference interpreter of Host IR: statements one by one on memory, launches by the interpreter of Kernel IR.

Names point into memory, a launch works on that memory, a swap moves names: nothing is raised, nothing is assumed. With
``duals`` every float memory carries tangents along k directions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import NUMBER, ArrayType, ScalarType
from kraise.verify import host_library, interpreter
from kraise.verify.compile import Program
from kraise.verify.duals import Dual, dual
from kraise.verify.errors import InterpreterError
from kraise.verify.facts import Facts
from kraise.verify.host_launch import launch
from kraise.verify.host_library import Value
from kraise.verify.host_writes import may_write, one_place
from kraise.verify.scalars import dtype_of, is_sized, storer

MOST_ROUNDS = 100_000


@dataclass
class Memory:
    """A piece of memory: its elements, and their tangents (k, *shape) where the run carries them."""

    data: np.ndarray
    tangents: np.ndarray | None = None
    param: str = ""


@dataclass
class Pointer:
    """Where a name points: memory, from an element on."""

    memory: Memory
    offset: int = 0


class _Break(Exception):
    """Leaves the innermost loop."""


@dataclass
class Host:
    """One call of a host function."""

    program: Program
    module: k.Module
    facts: Facts
    directions: int
    options: dict[str, Any]
    names: dict[str, Pointer] = field(default_factory=dict)
    scalars: dict[str, Any] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    races: list = field(default_factory=list)
    ties: int = 0

    # --- expressions

    def pointer(self, name: str, span: Any = None) -> Pointer:
        """Where a name points."""
        if name not in self.names:
            raise InterpreterError(f"{name} points nowhere", span)
        return self.names[name]

    def chosen(self, e: h.Chosen) -> Pointer:
        """The array that a number chooses."""
        at = int(self.number(e.index))
        if not 0 <= at < len(e.names):
            raise InterpreterError(f"one of {len(e.names)} arrays is chosen by {at}", e.span)
        return self.pointer(e.names[at], e.span)

    def whole(self, e: h.Whole) -> Value:
        """The array that a reference means."""
        at = self.pointer(e.array, e.span)
        start = at.offset + (int(self.number(e.offset)) if e.offset is not None else 0)
        if start == 0 and e.count is None:
            return Value(at.memory.data, at.memory.tangents)
        # C's memory is flat; of a Python array the slice is along the first axis
        size = at.memory.data.shape[0]
        stop = start + int(self.number(e.count)) if e.count is not None else size
        if not 0 <= start <= stop <= size:
            raise InterpreterError(f"{e.array}[{start}:{stop}] is outside of its {size} elements", e.span)
        tangents = None if at.memory.tangents is None else at.memory.tangents[:, start:stop]
        return Value(at.memory.data[start:stop], tangents)

    def value(self, e: h.Expr | k.ArrayRef) -> Value:
        """The value of an expression; a number's shape is ()."""
        match e:
            case h.Whole():
                return self.whole(e)
            case k.ArrayRef(array=array, offset=offset):
                return self.whole(h.Whole(array, offset, span=e.span))
            case h.Library(name=h.SAME, args=(h.Whole() as a, h.Whole() as b)):
                return Value(one_place(self, a, b))
            case h.Library(args=args):
                return host_library.call(e, [self.value(a) for a in args], self.directions)
            case k.Op(name="and" | "or" as word, args=(a, b)):
                left = self.value(a)
                if left.is_scalar and bool(left.data) == (word == "or"):
                    return left
                right = self.value(b)
                return right if left.is_scalar else self.operation(k.Op(word, (a, b), e.type), [left, right])
            case k.Op(name="not", args=(a,)):
                found = self.value(a)
                return Value(np.logical_not(found.data) if not found.is_scalar else not found.data)
            case k.Op(name="select", args=(c, a, b)) if self.value(c).is_scalar:
                return self.value(a) if bool(self.value(c).data) else self.value(b)
            case k.Op(args=args):
                return self.operation(e, [self.value(a) for a in args])
            case k.Cast(type=kind, arg=arg):
                found = self.value(arg)
                kind = self.program.type(kind)
                return host_library.each(lambda x: self.program.cast(kind)(x), [found], self.directions)
            case k.Load(array=array, subscripts=subscripts):
                at = self.pointer(array, e.span)
                where = tuple(int(self.number(s)) for s in subscripts)
                where = (where[0] + at.offset, *where[1:])
                where = tuple(i + n if i < 0 else i for i, n in zip(where, at.memory.data.shape, strict=True))
                if any(not 0 <= i < n for i, n in zip(where, at.memory.data.shape, strict=True)):
                    raise InterpreterError(f"{array}{list(where)} is outside", e.span)
                t: Any = at.memory.tangents
                return Value(at.memory.data[where], None if t is None else t[(slice(None), *where)].copy())
            case k.Shape(array=array, axis=axis):
                return Value(self.pointer(array, e.span).memory.data.shape[axis])
            case k.Const(value=value, type=kind):
                kind = self.program.type(kind)
                return Value(self.program.cast(kind)(value) if is_sized(kind) else value)
            case k.Var(name=name):
                if name not in self.scalars:
                    raise InterpreterError(f"{name} is read before it has a value", e.span)
                found = self.scalars[name]
                return Value(found.value, found.tangents) if type(found) is Dual else Value(found)
        raise InterpreterError(f"{type(e).__name__} is not known to the interpreter of hosts", getattr(e, "span", None))

    def operation(self, e: k.Op, args: list[Value]) -> Value:
        """An operation, element by element."""
        if e.name in ("and", "or"):
            join = np.logical_and if e.name == "and" else np.logical_or
            return Value(join(args[0].data, args[1].data))
        operate = self.program.operation(e.name)
        kind = self.program.type(e.type)
        if is_sized(kind) and e.name not in ("select",):
            operate = _then(operate, self.program.cast(kind))
        try:
            return host_library.each(operate, args, self.directions)
        except ZeroDivisionError:
            raise InterpreterError("an integer is divided by zero", getattr(e, "span", None)) from None

    def number(self, e: h.Expr) -> Any:
        """A scalar's value without its tangents."""
        found = self.value(e)
        if not found.is_scalar:
            raise InterpreterError("an array where a number is needed", getattr(e, "span", None))
        return found.data[()] if isinstance(found.data, np.ndarray) else found.data

    def scalar(self, e: h.Expr) -> Any:
        """A scalar's value, with its tangents."""
        found = self.value(e)
        number = self.number(e) if not found.is_scalar else found.data
        number = number[()] if isinstance(number, np.ndarray) else number
        return number if found.tangents is None else dual(number, np.asarray(found.tangents).reshape(-1))

    # --- memory

    def memory(self, value: Value, element: ScalarType | None = None) -> Memory:
        """New memory with the elements of a value."""
        data = np.array(value.data)
        if element is not None:
            dtype = dtype_of(self.program.type(element))
            data = data.astype(dtype) if dtype is not None else data
        tangents = np.array(value.tangents) if value.tangents is not None else None
        if tangents is None and self.directions and data.dtype.kind in "fcV":
            tangents = np.zeros((self.directions, *data.shape), complex if data.dtype.kind == "c" else float)
        return Memory(data, tangents if data.dtype.kind in "fcV" else None)

    def put(self, memory: Memory, where: Any, value: Value) -> None:
        """``memory[where] = value``."""
        memory.data[where] = value.data if not value.is_scalar else storer(memory.data.dtype)(_item(value.data))
        if memory.tangents is not None:
            t = 0 if value.tangents is None else value.tangents
            index = where if isinstance(where, tuple) else (where,)
            if value.tangents is not None and value.is_scalar:
                t = np.asarray(t).reshape(-1, *(1,) * (memory.tangents[(slice(None), *index)].ndim - 1))
            memory.tangents[(slice(None), *index)] = t
        if memory.param:
            self.written.add(memory.param)

    def alloc(self, stmt: h.Alloc) -> Memory:
        """New memory."""
        like = self.pointer(stmt.like, stmt.span).memory if stmt.like else None
        if stmt.shape is not None:
            shape = tuple(int(self.number(s)) for s in stmt.shape)
        else:
            assert like is not None
            shape = like.data.shape
        dtype = dtype_of(self.program.type(stmt.element)) if stmt.element != NUMBER else None
        if dtype is None and like is not None:
            dtype = like.data.dtype
        made = self.memory(Value(np.zeros(shape, dtype or np.dtype(float))))
        if stmt.fill is not None:
            self.put(made, ..., self.value(stmt.fill))
        return made

    # --- statements

    def run(self, body: tuple[h.Stmt, ...]) -> tuple[Any, ...] | None:
        """The statements in order; what a return gives, None without one."""
        for stmt in body:
            match stmt:
                case h.Return(values=values):
                    return tuple(self.pointer(v.array) if isinstance(v, k.ArrayRef) else self.value(v) for v in values)
                case h.Break():
                    raise _Break
                case h.If(condition=condition, body=then, orelse=orelse):
                    found = self.run(then if bool(self.number(condition)) else orelse)
                    if found is not None:
                        return found
                case h.For() | h.While():
                    found = self.loop(stmt)
                    if found is not None:
                        return found
                case _:
                    self.simple(stmt)
        return None

    def loop(self, stmt: h.For | h.While) -> tuple[Any, ...] | None:
        """A loop; what a return in it gives."""
        try:
            if isinstance(stmt, h.For):
                bounds = [int(self.number(e)) for e in (stmt.start, stmt.stop, stmt.step)]
                for i in range(*bounds):
                    self.scalars[stmt.var] = i
                    if (found := self.run(stmt.body)) is not None:
                        return found
                return None
            for _ in range(MOST_ROUNDS):
                if not stmt.test_last and not bool(self.number(stmt.condition)):
                    return None
                if (found := self.run(stmt.body)) is not None:
                    return found
                if stmt.test_last and not bool(self.number(stmt.condition)):
                    return None
            raise InterpreterError(f"more than {MOST_ROUNDS} rounds", stmt.span)
        except _Break:
            return None

    def simple(self, stmt: h.Stmt) -> None:
        """A statement without blocks."""
        match stmt:
            case h.Assign(name=name, value=value, type=kind):
                found = self.scalar(value)
                kind = self.program.type(kind)
                self.scalars[name] = self.program.cast(kind)(found) if is_sized(kind) else found
            case h.Alloc(name=name):
                self.names[name] = Pointer(self.alloc(stmt))
            case h.Bind(name=name, value=value, element=element):
                self.names[name] = Pointer(self.memory(self.value(value), element))
            case h.Update(array=array, value=value, offset=offset, count=count):
                at = self.pointer(array, stmt.span)
                start = at.offset + (int(self.number(offset)) if offset is not None else 0)
                found = self.value(value)
                found = Value(np.array(found.data), None if found.tangents is None else np.array(found.tangents))
                stop = start + int(self.number(count)) if count is not None else None
                if stop is None and start and not found.is_scalar and found.data.ndim == 1:
                    stop = start + found.data.shape[0]
                whole = start == 0 and stop is None
                if not whole and not 0 <= start <= (stop or start) <= at.memory.data.shape[0]:
                    raise InterpreterError(f"{array}[{start}:{stop}] is outside", stmt.span)
                self.put(at.memory, ... if whole else slice(start, stop), found)
            case h.Store(array=array, subscripts=subscripts, value=value):
                at = self.pointer(array, stmt.span)
                where = tuple(int(self.number(s)) for s in subscripts)
                where = (where[0] + at.offset, *where[1:])
                if len(where) > at.memory.data.ndim or any(
                    not -n <= i < n for i, n in zip(where, at.memory.data.shape, strict=False)
                ):
                    raise InterpreterError(f"{array}{list(where)} is outside", stmt.span)
                self.put(at.memory, where, self.value(value))
            case h.Point(names=names, sources=sources):
                found_at = []
                for ref in sources:
                    if isinstance(ref, h.Chosen):
                        found_at.append(self.chosen(ref))
                        continue
                    at = self.pointer(ref.array, ref.span)
                    moved = at.offset + (int(self.number(ref.offset)) if ref.offset is not None else 0)
                    found_at.append(Pointer(at.memory, moved))
                self.names.update(zip(names, found_at, strict=True))
            case h.Launch():
                launch(self, stmt)
            case h.CallHost():
                self.call_host(stmt)
            case _:
                raise InterpreterError(f"{type(stmt).__name__} is not known", stmt.span)

    def call_host(self, stmt: h.CallHost) -> None:
        """A call of another host function, on the same memory."""
        callee: Any = self.module.function(stmt.function)
        inner = Host(self.program, self.module, self.facts, self.directions, self.options)
        for param, argument in zip(callee.params, stmt.args, strict=False):
            if isinstance(argument, k.ArrayRef):
                at = self.pointer(argument.array, argument.span)
                moved = at.offset + (int(self.number(argument.offset)) if argument.offset is not None else 0)
                inner.names[param.name] = Pointer(at.memory, moved)
            else:
                inner.scalars[param.name] = self.scalar(argument)
        for param in callee.params[len(stmt.args) :]:
            inner.scalars[param.name] = param.default.value if param.default is not None else None
        returned = inner.run(callee.body) or ()
        self.written |= inner.written
        for name, value in zip(stmt.results, returned, strict=False):
            if isinstance(value, Pointer):
                self.names[name] = value
            else:
                number = _item(value.data)
                self.scalars[name] = number if value.tangents is None else dual(number, value.tangents.reshape(-1))


def _item(x: Any) -> Any:
    return x[()] if isinstance(x, np.ndarray) else x


def run_host(
    module: k.Module,
    name: str,
    arguments: Mapping[str, Any],
    *,
    duals: Mapping[str, Any] | None,
    widen: bool,
    **options: Any,
) -> interpreter.Outcome:
    """Run the host function ``name``; see :func:`kraise.verify.interpreter.run`."""
    host: Any = module.function(name)
    directions = max((np.shape(t)[0] for t in (duals or {}).values()), default=0)
    program = Program(module, directions=directions, widen=widen)
    state = Host(program, module, Facts(module), directions, {**options, "widen": widen})
    memories: dict[str, Memory] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    rows = dict(host.rows)
    for param in host.params:
        if param.name not in arguments and param.default is None:
            raise InterpreterError(f"no value is given for the parameter {param.name} of {name}")
        value = arguments.get(param.name, param.default.value if param.default is not None else None)
        t = (duals or {}).get(param.name)
        if isinstance(param.type, ArrayType):
            dtype = dtype_of(program.type(param.type.element)) if is_sized(param.type.element) else None
            memory = state.memory(Value(np.array(value, dtype), None if t is None else np.array(t)))
            memory.param = param.name
            shapes[param.name] = memory.data.shape
            if param.name in rows:  # an array of arrays: flat in the body
                memory.data = memory.data.reshape(-1)
                memory.tangents = None if memory.tangents is None else memory.tangents.reshape(directions, -1)
            memories[param.name] = memory
            state.names[param.name] = Pointer(memory)
        else:
            kind = program.type(param.type)  # type: ignore[arg-type]
            number = program.cast(kind)(value) if is_sized(kind) else value
            state.scalars[param.name] = number if t is None else dual(number, np.array(t).reshape(-1))
    with np.errstate(all="ignore"):
        returned = state.run(host.body) or ()
    values, tangents, names = [], [], []
    for item in returned:
        if isinstance(item, Pointer):
            values.append(item.memory.data.copy())
            tangents.append(item.memory.tangents)
            names.append(item.memory.param)
        else:
            values.append(_item(item.data))
            tangents.append(item.tangents)
            names.append("")
    for n, m in memories.items():
        m.data = m.data.reshape(shapes[n])
        m.tangents = None if m.tangents is None else m.tangents.reshape(directions, *shapes[n])
    implicit = h.gives_back(host)
    return interpreter.Outcome(
        arrays={n: m.data for n, m in memories.items()},
        written=tuple(n for n in memories if n in state.written) if implicit else (),
        may_write=tuple(n for n in memories if n in may_write(state.facts, host)) if implicit else (),
        returned=tuple(values),
        returned_names=tuple(names),
        tangents={n: m.tangents for n, m in memories.items() if m.tangents is not None},
        returned_tangents=tuple(tangents) if directions else (),
        races=tuple(state.races),
        race_count=len(state.races),
        ties=state.ties + program.ties.count,
    )


def _then(first: Callable[..., Any], second: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *x: second(first(*x))
