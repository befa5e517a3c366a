"""Kernel IR to Python source: each function of the module becomes one Python function, a generator if its threads wait.

Names of the input never reach the generated text but as letters and digits behind a counter. Each generated line knows
the span of its statement: an exception finds its place in the user's source by the line number that Python reports.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from operator import index
from types import FrameType, TracebackType
from typing import Any

from kraise.diagnostics import Span
from kraise.ir import kernel as k
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import ScalarType
from kraise.verify.duals import Ties, dual_caster, dual_operation
from kraise.verify.errors import InterpreterError, StepLimit
from kraise.verify.facts import Facts
from kraise.verify.scalars import caster, value_operation, widened
from kraise.verify.statements import FunctionText

_LIMIT = 20_000_000  # rounds of one while loop
_PROBE_LIMIT = 100_000  # the same where the arguments were drawn to see whether the kernel runs on them
_serial = itertools.count()


class Program:
    """The compiled functions of a module, for runs with ``directions`` tangents (0: values only)."""

    def __init__(self, module: k.Module, *, directions: int = 0, widen: bool = False, probing: bool = False):
        self.module = module
        self.kind = (directions, widen, probing)
        self.facts = Facts(module)
        self.directions = directions
        self.widen = widen
        self.ties = Ties()
        self.rounds = 0  # of all loops, since the program was made
        self.most_rounds = _PROBE_LIMIT if probing else _LIMIT
        self.filename = f"<kraise interpreter {next(_serial)}>"
        self.lines: list[str] = []
        self.spans: list[Span | None] = []
        self.display: dict[str, str] = {}  # a generated name's source name
        self.namespace: dict[str, Any] = {
            "steps": self.steps,
            "count_round": self.count_round,
            "index": index,
        }
        self.entries: dict[str, str] = {}
        self.tables: dict[str, str] = {}  # set by the run: a constant table's global name
        self._interned: dict[Any, str] = {}
        self._pending: list[k.Function] = []

    def steps(self, start: Any, stop: Any, step: Any) -> range:
        """The counter of a ``for`` loop."""
        counter = range(index(start), index(stop), index(step))
        self.rounds += len(counter)
        return counter

    def count_round(self, rounds: int) -> int:
        """One more round of a ``while`` loop. Raises StepLimit after too many."""
        self.rounds += 1
        if rounds >= self.most_rounds:
            raise StepLimit(f"a loop did not end within {self.most_rounds} rounds")
        return rounds + 1

    def function(self, name: str) -> Callable[..., Any]:
        """The Python function for a function of the module: (block, hardware indices, *slots)."""
        entry = self.entry(name)
        if entry not in self.namespace:
            while self._pending:
                FunctionText(self, self._pending.pop()).write()
            exec(compile("\n".join(self.lines), self.filename, "exec"), self.namespace)
        return self.namespace[entry]

    def entry(self, name: str) -> str:
        """The generated name of a function, which is compiled if it is not yet."""
        if name not in self.facts.functions:
            raise InterpreterError(f"the function {name} is not in {self.module.file}")
        if name not in self.entries:
            self.entries[name] = self.mangle("f", name)
            self._pending.append(self.facts.functions[name])
        return self.entries[name]

    def mangle(self, kind: str, name: str) -> str:
        """A fresh Python identifier that still shows the name."""
        text = f"{kind}{len(self.display)}_{re.sub(r'[^A-Za-z0-9]', '_', name)}"
        self.display[text] = name
        return text

    def intern(self, prefix: str, key: Any, make: Callable[[], Any]) -> str:
        """A global of the generated module for a value made once."""
        if (prefix, key) not in self._interned:
            name = f"{prefix}{len(self._interned)}"
            self._interned[prefix, key] = name
            self.namespace[name] = make()
        return self._interned[prefix, key]

    def unique(self, prefix: str) -> str:
        """A global of the generated module that is like no other: the identity of a place where threads wait."""
        return self.intern(prefix, len(self._interned), object)

    def type(self, t: ScalarType) -> ScalarType:
        """The type in which the run computes."""
        return widened(t) if self.widen else t

    def operation(self, name: str) -> Callable[..., Any]:
        """An operation of the table, on duals in a run with tangents."""
        if name not in OPERATIONS:
            raise InterpreterError(f"the operation {name} is not in the table")
        return dual_operation(name, self.ties) if self.directions else value_operation(name)

    def cast(self, t: ScalarType) -> Callable[[Any], Any]:
        """The conversion to a type."""
        return dual_caster(t) if self.directions else caster(t)

    def span_of(self, traceback: TracebackType | None) -> Span | None:
        """The place in the user's source at which an exception rose."""
        found = None
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self.filename:
                found = self.spans[traceback.tb_lineno - 1] or found
            traceback = traceback.tb_next
        return found

    def span_now(self, frame: FrameType | None) -> Span | None:
        """The place in the user's source that runs now, from a frame below it."""
        while frame is not None and frame.f_code.co_filename != self.filename:
            frame = frame.f_back
        return self.spans[frame.f_lineno - 1] if frame is not None else None


_KEPT = 8
_recent: list[Program] = []


def program_of(module: k.Module, *, directions: int, widen: bool, probing: bool) -> Program:
    """The compiled functions of a module, kept for its next run: a kernel is run many times, and few at a time."""
    kind = (directions, widen, probing)
    for program in _recent:
        if program.module is module and program.kind == kind:
            program.ties.count = 0
            return program
    program = Program(module, directions=directions, widen=widen, probing=probing)
    _recent.insert(0, program)
    del _recent[_KEPT:]
    return program
