"""What goes wrong while the interpreter runs a program: an error with its place and, where known, its thread."""

from __future__ import annotations

from dataclasses import dataclass

from kraise.diagnostics import Span


class InterpreterError(Exception):
    """The program has no meaning on these arguments (or the interpreter does not know it); ``span`` is the place."""

    def __init__(self, message: str, span: Span | None = None, thread: str = ""):
        super().__init__(message)
        self.message = message
        self.span = span
        self.thread = thread

    def __str__(self) -> str:
        place = f"{self.span.file}:{self.span.line}: " if self.span is not None else ""
        return f"{place}{self.message}{f' ({self.thread})' if self.thread else ''}"


class OutOfRange(InterpreterError):
    """A subscript outside its array; ``axis`` and ``needed`` say what extent the access would take (0: none helps)."""

    def __init__(self, array: str, subscripts: tuple[int, ...], shape: tuple[int, ...], axis: int, needed: int):
        where = ", ".join(map(str, subscripts))
        super().__init__(f"{array}[{where}] is outside the array of shape {shape}")
        self.array, self.subscripts, self.shape, self.axis, self.needed = array, subscripts, shape, axis, needed


class UndefinedRead(InterpreterError):
    """A value was read that nothing has written."""


class BarrierError(InterpreterError):
    """Not all live threads of a block wait at the same barrier."""


class StepLimit(InterpreterError):
    """A loop ran longer than the limit allows."""


@dataclass(frozen=True)
class Race:
    """Two threads touched one element with no barrier between, at least one of them writing."""

    array: str
    element: tuple[int, ...]
    first: str
    second: str
    kind: str  # "write after write", "read after write" or "write after read"
    span: Span | None = None

    def __str__(self) -> str:
        place = f"{self.span.file}:{self.span.line}: " if self.span is not None else ""
        cell = f"{self.array}[{', '.join(map(str, self.element))}]"
        return f"{place}{cell}: {self.kind} ({self.first}, then {self.second})"
