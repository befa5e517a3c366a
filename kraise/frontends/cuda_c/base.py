"""The base of lowering: output, scopes, names, spans, refusals. The layers above add types, places, expressions, …"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lark import Token, Tree

from kraise.diagnostics import Diagnostic, Refused, Span, refuse
from kraise.frontends.cuda_c.trees import Node, end, position
from kraise.ir.kernel import Assign, Atomic, CallStmt, Const, Expr, Load, LocalArray, Stmt, Store, Var
from kraise.ir.rewrite import walked
from kraise.ir.types import ScalarType

if TYPE_CHECKING:
    from kraise.frontends.cuda_c.program import Program

_RESERVED = frozenset(("jax", "jnp", "lax", "np"))


class Base:
    """State of lowering one function (or, without one, the constants of the file)."""

    def __init__(self, program: Program, wide: bool = True):
        self.program = program
        self.wide = wide  # does an unsuffixed literal mean double here?
        self.out: list[Stmt] = []
        self.after: list[Stmt] = []  # side effects of a postfix ++ or --: due at the end of the full expression
        self.scopes: list[dict[str, Any]] = [{}]
        self.names: dict[str, ScalarType | str] = {}  # IR name -> type of the variable, or what else it is
        self.notes: list[Diagnostic] = []
        self.reserved: frozenset[str] = frozenset()  # names of the function around a body that is lowered in place
        self.made: set[str] = set()  # names that the source does not know
        self.declared_again: set[str] = set()  # names of several variables, one after the other
        self.globals_used: dict[str, Any] = {}
        self.sizes_given: frozenset[str] | None = None  # integer parameters that it does not change, in a kernel
        self.multiples: set[tuple[str, int]] = set()  # those that must be multiples of a number
        self.discard = False
        self.natural: set[str] = set()  # variables that hold one of the launch's numbers, all the time
        self.volatile: set[str] = set()  # shared arrays that are accessed as volatile
        self.fenced = False  # what was stored to memory of the grid is seen by whoever sees what comes next
        self.of_block: set[str] = set()  # arrays that the kernel makes
        self.of_data: set[str] = set()  # variables whose value comes from what an array holds
        self.given: set[str] = set()  # numbers that a device function is called with: what they are, its callers know
        self.depth = 0

    # --- places in the source

    def span(self, node: Node) -> Span | None:
        """The place of a node in the user's file."""
        first, last = position(node), end(node) - 1
        tokens = self.program.unit.tokens
        if not 0 <= first < len(tokens):
            return None
        a = tokens[first]
        b = tokens[last] if first <= last < len(tokens) else a
        if b.file != a.file or b.line < a.line:
            b = a
        return Span(a.file, a.line, a.column, b.line, b.column + len(b.text))

    def refuse(self, code: str, reason: str, node: Node | None = None, hint: str = "") -> Refused:
        """The exception for a construct that is not handled."""
        return refuse(code, reason, self.span(node) if node is not None else None, hint)

    def note(self, code: str, reason: str, node: Node | None = None, severity: str = "note") -> None:
        """Something the user should know; said once."""
        d = Diagnostic(code, reason, self.span(node) if node is not None else None, severity=severity)
        if all(x.reason != reason for x in self.notes):
            self.notes.append(d)

    def text(self, node: Node) -> str:
        """The source text of a node, for messages."""
        first, last = position(node), end(node)
        return " ".join(t.text for t in self.program.unit.tokens[max(first, 0) : max(last, 0)][:12])

    # --- output

    def emit(self, stmt: Stmt) -> None:
        self.out.append(stmt)
        if isinstance(stmt, LocalArray):
            self.of_block.add(stmt.name)
        elif isinstance(stmt, CallStmt) or (isinstance(stmt, Store | Atomic) and stmt.array not in self.of_block):
            self.fenced = False
        if isinstance(stmt, Assign) and self.has_data(stmt.value):
            self.of_data.add(stmt.name)
        elif isinstance(stmt, Atomic) and stmt.result:
            self.of_data.add(stmt.result)

    def has_data(self, e: Expr) -> bool:
        """Whether a value comes from what an array holds: no index, and no size."""
        return any(isinstance(n, Load) or (isinstance(n, Var) and n.name in self.of_data) for n in walked(e))

    @contextmanager
    def captured(self) -> Iterator[list[Stmt]]:
        """Statements emitted inside go to the list that this yields; a fence among them is one only there: some threads
        may pass it by."""
        before, self.out = self.out, []
        fenced = self.fenced
        try:
            yield self.out
        finally:
            self.out = before
            self.fenced = self.fenced and fenced

    def flush(self) -> None:
        """End of a full expression (or a sequence point): postponed side effects happen now."""
        if self.after:
            pending, self.after = self.after, []
            for s in pending:
                self.emit(s)

    # --- names

    @contextmanager
    def scope(self) -> Iterator[None]:
        self.scopes.append({})
        try:
            yield
        finally:
            self.scopes.pop()

    def lookup(self, name: str) -> Any:
        """What a name means here: an entity, or None."""
        for table in reversed(self.scopes):
            if name in table:
                return table[name]
        return self.program.entity(name)

    def declare(self, name: str, entity: Any) -> None:
        self.scopes[-1][name] = entity

    def fresh(self, hint: str) -> str:
        """A name of Kernel IR that nothing uses yet."""
        hint = f"{hint}_" if keyword.iskeyword(hint) else hint or "t"
        name, k = hint, 2
        while name in self.names or name in _RESERVED:
            name, k = f"{hint}_{k}", k + 1
        self.names[name] = "taken"
        self.made.add(name)
        return name

    def variable_name(self, name: str, type: ScalarType) -> str:
        """The IR name of a new local scalar: its own, unless a variable of that name is visible or of another type."""
        visible = name in self.reserved or any(name in table for table in self.scopes[:-1])
        known = self.names.get(name)
        if (known is None or known == type) and not visible and name not in _RESERVED:
            if known is not None:
                self.declared_again.add(name)
            self.names[name] = type
            return name
        k = 2
        while self.names.get(f"{name}_{k}", type) != type or (visible and f"{name}_{k}" in self.names):
            k += 1
        self.names[f"{name}_{k}"] = type
        return f"{name}_{k}"

    def named(self, c: Const) -> Const:
        """A constant under its name, unless a variable of this function has that name."""
        if not c.name:
            return c
        if self.names.setdefault(c.name, "constant") == "constant":
            return c
        return replace(c, name="")

    def temporary(self, value: Expr, hint: str, node: Node | None = None) -> Var:
        """Evaluate ``value`` now, into a fresh variable."""
        name = self.fresh(hint)
        span = self.span(node) if node is not None else value.span
        self.emit(Assign(name, value, value.type, span=span))
        return Var(name, value.type, span=span)

    # --- what the layers above define

    def value(self, node: Node) -> Any:
        raise NotImplementedError

    def place(self, node: Node) -> Any:
        raise NotImplementedError

    def scalar(self, node: Node) -> Expr:
        raise NotImplementedError

    def convert(self, value: Any, to: Any, node: Node | None = None) -> Any:
        raise NotImplementedError

    def statement(self, node: Node) -> None:
        raise NotImplementedError

    def call(self, node: Tree) -> Any:
        raise NotImplementedError

    def raw_constant(self, token: Token) -> Any:
        """The macro value that a name token carries, or None."""
        k = position(token)
        return self.program.unit.tokens[k].constant if 0 <= k < len(self.program.unit.tokens) else None
