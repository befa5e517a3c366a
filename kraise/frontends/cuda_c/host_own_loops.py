"""Loops of a CUDA C host function over elements of host arrays: each is a plain function, an input, or only prints."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import host_effects
from kraise.frontends.cuda_c.c_types import CType
from kraise.frontends.cuda_c.host_main import filled_arrays, outside
from kraise.frontends.cuda_c.host_names import callee, concept, dropped
from kraise.frontends.cuda_c.host_nest import outline
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.trees import child, kind, strip, tokens, trees
from kraise.ir import host as h


class OwnLoops:
    """The part of the reader that knows the host's own loops."""

    program: Program
    low: Any
    name: str
    arrays: dict[str, CType]
    banks: dict[str, tuple[str, ...]]
    grids: dict[str, str]
    in_rows: Any
    hosts: dict[str, tuple[bool, ...]]
    ignored: set[str]
    drop: Any
    filled: Any
    counted_in: Any
    method_of: Any
    getter: Any

    def counters(self, node: Tree) -> set[str]:
        """The counters of the loops of a nest that are declared outside of it."""
        found: set[str] = set()
        for t in node.iter_subtrees():
            init = child(t, "for_init") if t.data == "for_statement" else None
            for c in trees(init, "assignment_expression") if init is not None else []:
                found.add(callee(c.children[0]))
        return found

    def nest(self, node: Tree) -> list[h.Stmt] | None:
        """A loop over elements of host arrays as a plain function of its own; None for a loop that does other things.

        A loop that only prints is dropped.
        """
        node = self.in_rows(node) if self.grids else node
        inner = list(node.iter_subtrees())
        names = [callee(t.children[0]) for t in inner if t.data == "call_expression"]
        if any(t.data in ("launch_expression", "return_statement", "goto_statement") for t in inner):
            return None
        if any(n in self.hosts or concept(n) for n in names):
            return None
        calls = [t for t in inner if t.data == "call_expression"]
        if any(self.method_of(t) is not None and self.getter(t) is None for t in calls):
            return None  # a method may launch
        printed = any(dropped(n) for n in names) or any(str(t) in ("cout", "cerr") for t in tokens(node))
        if printed:
            found = host_effects.of_tree(self.program, node, frozenset(self.arrays))
            followed = {n for n in found.variables if self.low.lookup(n) is not None} - self.ignored
            if not found.changes and not followed - self.counters(node):
                return self.drop(node, "printing or a check")
        if self.name == "main" and outside(self, node):
            filled = filled_arrays(self, node)
            if filled:
                return [s for n in sorted(filled) for s in self.filled(n, node)] + self.counted_in(node)
        touches = any(t.data == "subscript_expression" and _of_rows(t, self.grids) for t in inner)
        touches = touches or any(
            t.data in ("subscript_expression", "unary_expression") and _root(t) in self.arrays for t in inner
        )
        if touches and not printed:
            return outline(self, node)
        of_bank = any(t.data == "subscript_expression" and _pointer_root(t) in self.banks for t in inner)
        if of_bank and not printed:
            try:
                return outline(self, node)
            except Refused:  # which pointer is not known: a loop over elements, as it stands
                return None
        return None


def _root(node: Any) -> str:
    first = strip(node.children[-1] if node.data == "unary_expression" else node.children[0])
    return callee(first)


def _of_rows(node: Any, grids: dict[str, str]) -> bool:
    """Is it an element of rows of memory, ``(a + i * m)[j]``?"""
    first = strip(node.children[0])
    return kind(first) == "additive_expression" and callee(strip(first.children[0])) in grids  # type: ignore[union-attr]


def _pointer_root(node: Any) -> str:
    """``h`` of ``h[0][i]``."""
    first = strip(node.children[0])
    return _root(first) if kind(first) == "subscript_expression" else ""
