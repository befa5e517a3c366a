"""Statements of Kernel IR as Python text, line by line beside their spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kraise.diagnostics import Span
from kraise.ir import kernel as k
from kraise.ir.spared import spared
from kraise.ir.types import NUMBER
from kraise.verify.atomics import update_of
from kraise.verify.errors import InterpreterError
from kraise.verify.expressions import ExpressionText
from kraise.verify.facts import flat_params, slots
from kraise.verify.scalars import dtype_of, is_sized

if TYPE_CHECKING:
    pass


class FunctionText(ExpressionText):
    """A function's statements as Python text, appended to the program's lines."""

    def write(self) -> None:
        """Compile the whole function."""
        program, function = self.program, self.kernel
        params = [self.array(s.path) if s.ndim is not None else self.scalar(s.path) for s in flat_params(function)]
        self.references = [s.path for s in flat_params(function) if s.by_reference]
        outer, program.lines = program.lines, []
        outer_spans, program.spans = program.spans, []
        body, spans = program.lines, program.spans
        for name in self.passed_by_reference():
            self.line(1, f"{self.scalar(name)} = None", function.span)
        self.block(function.body, 1)
        self.line(1, f"return {self.returned(())}", function.span)
        program.lines, program.spans = outer, outer_spans
        kinds = ("thread", "block", "blockDim", "gridDim")
        self.line(0, f"def {program.entries[function.name]}({', '.join(['B', 'H', *params])}):", function.span)
        for (kind, axis, t), name in self.hardware.items():
            text = f"H[{3 * kinds.index(kind) + int(axis)}]"
            self.line(1, f"{name} = {self.cast(text, t) if is_sized(t) else text}", function.span)
        program.lines += body
        program.spans += spans

    def passed_by_reference(self) -> list[str]:
        """Local scalars that a call may be the first to set: they exist before, without a value."""
        names: dict[str, None] = {}
        own = {s.path for s in flat_params(self.kernel)}
        for call in self.program.facts.calls(self.kernel):
            for param, argument in zip(self.program.facts.functions[call.function].params, call.args, strict=False):
                base = getattr(argument, "name", "") if not isinstance(argument, k.ArrayRef) else argument.array
                for slot in slots(param):
                    if slot.by_reference and (name := base + slot.path[len(param.name) :]) not in own:
                        names[name] = None
        return list(names)

    def line(self, depth: int, text: str, span: Span | None) -> None:
        """One line of the generated source, with the span that it stands for."""
        self.program.lines.append("    " * depth + text)
        self.program.spans.append(span)

    def returned(self, values: tuple[Any, ...]) -> str:
        """The tuple that the function returns: the values, then its by-reference scalars."""
        texts = [self.array(v.array) if isinstance(v, k.ArrayRef) else self.expr(v) for v in values]
        texts += [self.scalar(name) for name in self.references]
        return f"({''.join(t + ', ' for t in texts)})"

    def block(self, body: tuple[k.Stmt, ...], depth: int) -> None:
        """Statements, one after the other."""
        for statement in body:
            try:
                self.statement(statement, depth)
            except InterpreterError as error:
                error.span = error.span or statement.span
                raise
        if not body:
            self.line(depth, "pass", None)

    def statement(self, s: k.Stmt, depth: int) -> None:
        """One statement."""
        match s:
            case k.Assign():
                self.line(depth, f"{self.scalar(s.name)} = {self.convert(s.value, self.program.type(s.type))}", s.span)
            case k.Store():
                places = ", ".join([self.expr(s.value), *map(self.expr, s.subscripts)])
                self.line(depth, f"{self.array(s.array)}.store({places})", s.span)
            case k.Atomic():
                self.atomic(s, depth)
            case k.If():
                found = spared(s)
                self.glanced = found[0] if found is not None else None
                test = self.expr(s.condition)
                self.glanced = None
                self.line(depth, f"if {test}:", s.span)
                self.block(s.body, depth + 1)
                if s.orelse:
                    self.line(depth, "else:", s.span)
                    self.block(s.orelse, depth + 1)
            case k.For():
                bounds = f"steps({self.expr(s.start)}, {self.expr(s.stop)}, {self.expr(s.step)})"
                if is_sized(s.type):
                    bounds = f"map({self.program.intern('to', s.type, lambda: self.program.cast(s.type))}, {bounds})"
                self.line(depth, f"for {self.scalar(s.var)} in {bounds}:", s.span)
                self.block(s.body, depth + 1)
                self.orelse(s.orelse, depth, s.span)
            case k.While():
                self.loop(s, depth)
            case k.Break():
                self.line(depth, "break", s.span)
            case k.Continue():
                self.line(depth, "continue", s.span)
            case k.Return():
                self.line(depth, f"return {self.returned(s.values)}", s.span)
            case k.Barrier():
                site = self.program.unique("w")
                self.line(depth, f"yield ('barrier', {site}, {s.scope!r})", s.span)
            case k.LocalArray():
                self.local_array(s, depth)
            case k.CallStmt():
                self.call_statement(s, depth)
            case _:
                raise InterpreterError(f"the statement {type(s).__name__} is not known to the interpreter", s.span)

    def orelse(self, body: tuple[k.Stmt, ...], depth: int, span: Span | None) -> None:
        """Python's ``else`` of a loop."""
        if body:
            self.line(depth, "else:", span)
            self.block(body, depth + 1)

    def loop(self, s: k.While, depth: int) -> None:
        """A while loop, with its rounds counted; ``test_last`` skips the first test (``continue`` goes to the test)."""
        rounds = self.program.mangle("n", "rounds")
        self.line(depth, f"{rounds} = 0", s.span)
        first = f"{rounds} == 0 or " if s.test_last else ""
        self.line(depth, f"while {first}{self.expr(s.condition)}:", s.span)
        self.line(depth + 1, f"{rounds} = count_round({rounds})", s.span)
        self.block(s.body, depth + 1)
        self.orelse(s.orelse, depth, s.span)

    def atomic(self, s: k.Atomic, depth: int) -> None:
        """An atomic read-modify-write."""
        program = self.program
        update = program.intern("u", s.name, lambda: update_of(s.name, program.operation))
        t = program.type(s.type)
        values = "".join(f"{self.convert(v, t)}, " for v in s.values)
        places = "".join(f", {self.expr(i)}" for i in s.subscripts)
        target = f"{self.scalar(s.result)} = " if s.result else ""
        self.line(depth, f"{target}{self.array(s.array)}.atomic({s.name!r}, {update}, ({values}){places})", s.span)

    def local_array(self, s: k.LocalArray, depth: int) -> None:
        """A new array of the block, the thread or the function."""
        element = self.program.type(s.element)
        dtype = self.program.intern("d", element, lambda: dtype_of(element))
        fill = self.expr(s.fill) if s.fill is not None else "None"
        shape = "".join(f"{self.expr(n)}, " for n in s.shape)
        values = "".join(f"{self.expr(v)}, " for v in s.values)
        like = self.array(s.like) if s.like else "None"
        shared = self.program.intern("k", (self.kernel.name, s.name), object) if s.space == "shared" else "None"
        name = self.array(s.name)
        text = f"B.make({s.name!r}, ({shape}), {dtype}, {fill}, ({values}), {like}, {shared}, {bool(s.dynamic)})"
        self.line(depth, f"{name} = {text}", s.span)

    def call_statement(self, s: k.CallStmt, depth: int) -> None:
        """A call for its effects: results, then what came back through references."""
        call = self.call(s.function, s.args)
        self.line(depth, f"r = {call}", s.span)
        types = s.types or (NUMBER,) * len(s.results)
        for n, (name, t) in enumerate(zip(s.results, types, strict=True)):
            t = self.program.type(t)
            self.line(depth, f"{self.scalar(name)} = {self.cast(f'r[{n}]', t) if is_sized(t) else f'r[{n}]'}", s.span)
        callee = self.program.facts.functions[s.function]
        back = [
            (param, slot, argument)
            for param, argument in zip(callee.params, s.args, strict=False)
            for slot in slots(param)
            if slot.by_reference
        ]
        for n, (param, slot, argument) in enumerate(back):
            text = f"r[{n - len(back)}]"
            match argument:
                case k.Load():
                    places = "".join(f", {self.expr(i)}" for i in argument.subscripts)
                    self.line(depth, f"{self.array(argument.array)}.store({text}{places})", s.span)
                case k.ArrayRef() if slot.path == param.name:
                    place = self.expr(argument.offset) if argument.offset is not None else "0"
                    self.line(depth, f"{self.array(argument.array)}.store({text}, {place})", s.span)
                case k.Var() | k.ArrayRef():
                    base = argument.array if isinstance(argument, k.ArrayRef) else argument.name
                    self.line(depth, f"{self.scalar(base + slot.path[len(param.name) :])} = {text}", s.span)
                case _:
                    pass
