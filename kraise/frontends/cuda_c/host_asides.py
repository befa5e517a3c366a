"""What an expression does on its way, whose value has no part in the values: tests for errors and what is printed.

``if (fill(h, n) != 0) return 1;``, ``assert(step(d) == 0)`` and ``printf("%f\\n", advance(d, n))`` go, but what their
calls do to memory and to numbers stays, in the order of evaluation.

Side condition, checked: it is done whenever the expression is looked at; a call in an arm of ``?:`` or behind ``&&`` is
none such. Behind ``||`` it is done where nothing has failed yet, which is where the program goes on (``fails``).
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c import host_effects, host_times
from kraise.frontends.cuda_c.host_names import callee, dropped
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.trees import Node, kind, strip, tokens, trees
from kraise.frontends.cuda_c.values import VarPlace
from kraise.ir import host as h


class Asides:
    """The part of the reader that leaves calls out."""

    program: Program
    low: Any
    ignored: set[str]
    printed: dict[str, None]
    drop: Any

    def left_out(self, name: str, args: list[Tree], node: Tree) -> list[h.Stmt]:
        """A call without a part in the values; what its arguments do on their way stays."""
        before = [s for a in args for s in asides(self, a)]
        for a in args:  # cudaEventElapsedTime(&ms, …)
            self.ignored.update(_referenced(a))
        if self.is_dropped(name) == "printing":
            self.says(node)
        before += host_times.taken_by(self, self.is_dropped(name), args, node)
        return before + self.drop(node, self.is_dropped(name))  # type: ignore[no-any-return]

    def says(self, node: Tree) -> None:
        """Notes the numbers that a statement prints."""
        names = [str(t) for t in tokens(node) if t.type == "NAME"]
        self.printed.update(dict.fromkeys(n for n in names if isinstance(self.low.lookup(n), VarPlace)))

    def is_dropped(self, name: str) -> str:
        """What a call of ``name`` is dropped as, "" if it is not, or if the file itself defines it."""
        found = [d for d in self.program.functions.get(name, []) if d.item is not None]
        toks = self.program.unit.tokens
        own = any(toks[d.item.first].file == self.program.file for d in found if d.item is not None)
        if found and host_effects.takes_time(self.program, name):
            return "timing"
        return "" if own else dropped(name)


def asides(reader: Any, node: Any, fails: bool = False) -> list[h.Stmt]:
    """The statements for what an expression does on its way. Raises Refused (KR211)."""
    inner = strip(node)
    if not isinstance(inner, Tree) or not _works(reader, inner):
        return []
    match inner.data:
        case "call_expression":
            if (read := reader.read_in(callee(inner.children[0]), trees(inner)[1:], inner)) is not None:
                return list(read)
            if _calls_the_file(reader, inner):
                return list(reader.read_or_left(Tree("expression_statement", [inner], inner.meta)))
        case "assignment_expression" if _followed(reader, callee(inner.children[0])):
            return list(reader.effect(inner))
        case "unary_expression" | "postfix_expression" if {"++", "--"} & {str(c) for c in inner.children}:
            return list(reader.effect(inner))
        case "conditional_expression" | "logical_and_expression" | "logical_or_expression":
            first, *rest = trees(inner)
            always = fails and inner.data == "logical_or_expression"
            late = next((c for c in rest if _works(reader, c)), None)
            if late is not None and not always:
                reason = f"`{reader.low.text(late)}` does something, in a part of an expression that may not run"
                raise reader.low.refuse("KR211", reason, late, "give it a line of its own")
            return [s for c in (first, *rest) for s in asides(reader, c, fails)]
    return [s for c in trees(inner) for s in asides(reader, c, fails)]


def _works(reader: Any, node: Tree) -> bool:
    """Does an expression change memory of others or a number that is followed, or does a function of the file that it
    calls work on the device?"""
    found = host_effects.of_tree(reader.program, node, frozenset(reader.arrays))
    if any(_followed(reader, n) for n in found.variables):
        return True
    return found.changes and any(
        _calls_the_file(reader, c) or _reads(reader, c) for c in node.find_data("call_expression")
    )


def _reads(reader: Any, call: Tree) -> bool:
    from kraise.frontends.cuda_c.host_main import READERS

    return reader.name == "main" and callee(call.children[0]) in READERS


def _calls_the_file(reader: Any, call: Tree) -> bool:
    """Is it a call of a function or a method of the file that changes something?"""
    if reader.method_of(call) is not None:
        return True
    name = callee(call.children[0])
    if kind(call.children[0]) != "id_expression" or not reader.program.functions.get(name) or reader.is_dropped(name):
        return False
    found = host_effects.of_function(reader.program, name)
    return found.changes or bool(found.variables & reader.of_file)


def _followed(reader: Any, name: str) -> bool:
    return name in reader.arrays or (name not in reader.ignored and isinstance(reader.low.lookup(name), VarPlace))


def _referenced(node: Node) -> set[str]:
    node = strip(node)
    if isinstance(node, Tree) and node.data == "unary_expression" and str(node.children[0]) == "&":
        return {callee(node.children[1])} - {""}
    return set()
