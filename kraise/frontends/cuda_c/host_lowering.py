"""Expressions of host functions: as in kernels, but that helpers are lowered in place and arrays have a size."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import Span
from kraise.frontends.cuda_c.c_types import Array, CType, Pointer
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.functions import Lowering
from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.trees import Node, strip
from kraise.frontends.cuda_c.values import PointerValue
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, UINT64


class HostLowering(Lowering):
    """``extents`` are the types of the arrays that are declared with an extent."""

    extents: dict[str, CType]
    by_name = True

    def __init__(self, program: Any, wide: bool):
        super().__init__(program, wide)
        self.extents = {}

    def _compared(
        self, symbol: str, a: PointerValue, b: PointerValue, span: Span | None, node: Node | None
    ) -> k.Expr | None:
        """Two names may point into one piece of memory: ``src != x`` is decided where they point."""
        if symbol in ("==", "!=") and a.array and b.array and a.array != b.array and a.arms is None and b.arms is None:
            places = tuple(h.Whole(p.array, p.offset, span=span) for p in (a, b))
            same: Any = h.Library(h.SAME, places, BOOL, span=span)
            return same if symbol == "==" else k.Op("not", (same,), BOOL, span=span)
        return super()._compared(symbol, a, b, span, node)

    def _operand_type(self, operand: Node) -> CType:
        """``sizeof(a)`` of an array that was declared with its extent is that of the whole array."""
        inner = strip(operand)
        if isinstance(inner, Tree) and inner.data == "subscript_expression":
            whole = self.extents.get(callee(inner.children[0]))
            if isinstance(whole, Array) and isinstance(whole.of, Pointer):
                return whole.of
        if isinstance(inner, Tree) and callee(inner) in self.extents:
            t = self.extents[callee(inner)]
            if isinstance(t, Array) and isinstance(t.extent, k.Const | k.Op):
                return Array(t.of, fold(t.extent))
            return t
        return super()._operand_type(operand)

    def size_held(self, operand: Node, of_type: int | None) -> k.Expr | None:
        """``sizeof(a)`` of an array whose extent is a variable (``int a[n + 1]``): what the array holds."""
        inner = strip(operand)
        t = self.extents.get(callee(inner)) if of_type is None and isinstance(inner, Tree) else None
        of = self.size_of(t.of) if isinstance(t, Array) and t.extent is not None else None
        if of is None:
            return super().size_held(operand, of_type)
        return k.Op("mul", (k.Cast(UINT64, k.Shape(callee(inner), 0)), k.Const(of, UINT64)), UINT64)

    def _out_of_line(self, d: Any, scope: Any, parameters: Any, bound: Any, modes: Any, returns: Any, discard: Any,
                     node: Tree) -> Any:  # fmt: skip
        """A helper such as ``ceil_div(n, 256)`` becomes its value: sizes are Python's numbers in a host."""
        return self._inline(d, self.program.load(d), scope, parameters, bound, returns, node)
