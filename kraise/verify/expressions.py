"""Expressions of Kernel IR as Python text: inline where Python's operator means the same, else a call."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from kraise.ir import kernel as k
from kraise.ir.operations import OPERATIONS
from kraise.ir.spared import is_cell
from kraise.ir.types import BOOL, NUMBER, ScalarType
from kraise.verify.errors import InterpreterError
from kraise.verify.facts import Slot, assigned_names, flat_params, slots
from kraise.verify.scalars import caster, dtype_of, is_sized
from kraise.verify.special import bits as bits_as

if TYPE_CHECKING:
    from kraise.verify.compile import Program


_INFIX = {
    "add": "({0} + {1})",
    "sub": "({0} - {1})",
    "mul": "({0} * {1})",
    "neg": "(-{0})",
    "and_": "({0} & {1})",
    "or_": "({0} | {1})",
    "xor": "({0} ^ {1})",
    "shl": "({0} << {1})",
    "shr": "({0} >> {1})",
    "lt": "({0} < {1})",
    "le": "({0} <= {1})",
    "gt": "({0} > {1})",
    "ge": "({0} >= {1})",
    "eq": "({0} == {1})",
    "ne": "({0} != {1})",
    "abs": "abs({0})",
    "fma": "({0} * {1} + {2})",
}
_ARITHMETIC = frozenset(
    ("add", "sub", "mul", "div", "neg", "floordiv", "mod", "pow", "fma", "tdiv", "tmod", "shl", "shr")
)


class ExpressionText:
    """Expressions of one function as Python text."""

    def __init__(self, program: Program, function: k.Function):
        self.program = program
        self.kernel = function
        self.scalars: dict[str, str] = {}
        self.arrays: dict[str, str] = {}
        self.hardware: dict[tuple[str, int, ScalarType], str] = {}
        self.assigned = assigned_names(function) | {s.path for s in flat_params(function) if s.ndim is None}
        self.constants = {c.name: c for c in program.module.constants}
        self.glanced: k.Atomic | None = None  # whose cell is looked at, whoever stores to it meanwhile

    def scalar(self, name: str) -> str:
        """The generated name of a local scalar."""
        if name not in self.scalars:
            self.scalars[name] = self.program.mangle("v", name)
        return self.scalars[name]

    def array(self, name: str) -> str:
        """The generated name of an array, local or a table of the module."""
        if name not in self.arrays:
            if name in self.constants:
                return self.program.tables.setdefault(name, self.program.mangle("t", name))
            self.arrays[name] = self.program.mangle("a", name)
        return self.arrays[name]

    def constant(self, value: Any, t: ScalarType) -> str:
        """A literal of the type."""
        if t.kind == "int" and t.bits is None and abs(value) < 2**31:
            return f"({int(value)})"
        make = caster(t) if is_sized(t) or t.kind != "number" else (lambda v: v)
        return self.program.intern("c", (t, type(value), repr(value)), lambda: make(value))

    def cast(self, text: str, t: ScalarType) -> str:
        """The text of a conversion."""
        if t == NUMBER:
            return text
        return f"{self.program.intern('to', t, lambda: self.program.cast(t))}({text})"

    def convert(self, e: k.Expr, t: ScalarType) -> str:
        """The expression, converted where the target is a sized type that its own is not."""
        own = self.program.type(e.type)
        if own == t or not is_sized(t):
            return self.expr(e)
        if isinstance(e, k.Const):
            return self.constant(caster(t)(caster(own)(e.value)), t)
        return self.cast(self.expr(e), t)

    def expr(self, e: k.Expr) -> str:
        """The expression as text."""
        t = self.program.type(e.type)
        match e:
            case k.Const():
                return self.constant(e.value, t)
            case k.Var(name=name):
                if name not in self.assigned and name in self.constants and not self.constants[name].shape:
                    return self.constant(self.constants[name].values[0], t)
                return self.scalar(name)
            case k.Hw():
                return self.hardware.setdefault((e.kind, e.axis, e.type), f"h{len(self.hardware)}")
            case k.Op():
                return self.operation(e, t)
            case k.Cast():
                return self.cast(self.expr(e.arg), t)
            case k.Load():
                way = "glance" if self.glanced is not None and is_cell(e, self.glanced) else "load"
                return f"{self.array(e.array)}.{way}({', '.join(map(self.expr, e.subscripts))})"
            case k.Shape():
                text = f"{self.array(e.array)}.extent({e.axis})"
                return self.cast(text, t) if is_sized(t) else text
            case k.Call():
                called = f"{self.call(e.function, e.args)}[0]"
                return self.cast(called, t) if is_sized(t) else called
            case k.Warp():
                arguments = "".join(f"{self.expr(a)}, " for a in e.args)
                site = self.program.unique("w")
                waited = f"(yield ('warp', {site}, {e.name!r}, ({arguments}), {int(e.width)}))"
                return self.cast(waited, t) if is_sized(t) else waited
        raise InterpreterError(f"the expression {type(e).__name__} is not known to the interpreter", e.span)

    def operation(self, e: k.Op, t: ScalarType) -> str:
        """An operation: inline where Python's own operator means the same, else a call."""
        program = self.program
        if e.name not in OPERATIONS:
            raise InterpreterError(f"the operation {e.name} is not in the table", e.span)
        row = OPERATIONS[e.name]
        if e.name in ("and", "or"):
            return f"(True if {self.expr(e.args[0])} {e.name} {self.expr(e.args[1])} else False)"
        if e.name == "not":
            return f"(not {self.expr(e.args[0])})"
        if e.name == "select":
            return f"({self.convert(e.args[1], t)} if {self.expr(e.args[0])} else {self.convert(e.args[2], t)})"
        if e.name == "bits":
            dtype = dtype_of(t)
            return f"{program.intern('b', t, lambda: lambda x: bits_as(x, dtype))}({self.expr(e.args[0])})"
        typed = is_sized(t) and row.result in ("same", "inexact")
        texts = []
        for a in e.args:
            text = self.convert(a, t) if typed else self.expr(a)
            own = program.type(a.type)
            texts.append(f"int({text})" if own == BOOL and not typed and e.name in _ARITHMETIC else text)
        types = [program.type(a.type) for a in e.args]
        inline = not program.directions or all(a.is_integer or a == BOOL for a in types)
        if inline and e.name in _INFIX:
            return _INFIX[e.name].format(*texts)
        if inline and e.name == "div" and typed:
            return f"({texts[0]} / {texts[1]})"
        if e.name == "invert" and types[0] == BOOL:
            return f"(not {texts[0]})"
        if e.name in ("min", "max") and all(a.is_integer for a in types):
            return f"{e.name}({', '.join(texts)})"
        text = f"{program.intern('op', e.name, lambda: program.operation(e.name))}({', '.join(texts)})"
        return self.cast(text, t) if typed or (is_sized(t) and row.result == "int") else text

    # --- calls

    def call(self, name: str, args: tuple[Any, ...]) -> str:
        """A call of a function of the module; its value is a tuple: what it returns, then its by-reference scalars."""
        entry = self.program.entry(name)
        callee = self.program.facts.functions[name]
        texts = ["B", "H"]
        for param, argument in itertools.zip_longest(callee.params, args):
            if param is None or (argument is None and param.default is None):
                raise InterpreterError(f"{name} takes {len(callee.params)} arguments, not {len(args)}")
            argument = param.default if argument is None else argument
            for slot in slots(param):
                texts.append(self.argument(param, slot, argument))
        text = f"{entry}({', '.join(texts)})"
        return f"(yield from {text})" if self.program.facts.suspends(name) else text

    def argument(self, param: k.Param, slot: Slot, argument: Any) -> str:
        """What a call passes for one slot of a parameter."""
        suffix = slot.path[len(param.name) :]
        if suffix or slot.ndim is not None:
            base = argument.array if isinstance(argument, k.ArrayRef) else getattr(argument, "name", "")
            if slot.ndim is None:
                return self.scalar(base + suffix)
            offset = argument.offset if isinstance(argument, k.ArrayRef) else None
            text = self.expr(offset) if offset is not None else "None"
            return f"{self.array(base + suffix)}.pointer({slot.path!r}, {slot.ndim}, {text})"
        if isinstance(argument, k.ArrayRef):  # one element by reference
            text = self.expr(argument.offset) if argument.offset is not None else "0"
            return f"{self.array(argument.array)}.load({text})"
        return self.convert(argument, self.program.type(slot.element))
