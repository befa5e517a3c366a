"""Variables of the device in host functions: ``cudaMemcpyToSymbol``, ``cudaMemcpyFromSymbol``, and what kernels take.

One that the host fills before anything else happens to it is its own; any other is a parameter of the host.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import Diagnostic, Refused
from kraise.frontends.cuda_c.c_types import Array, CType, leaf
from kraise.frontends.cuda_c.host_names import callee, normal
from kraise.frontends.cuda_c.trees import Node, strip, trees
from kraise.frontends.cuda_c.values import Cell, GlobalVariable, VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32, ArrayType, ScalarType


class Symbols:
    """The part of the reader that knows variables of the device."""

    low: Any
    program: Any
    arrays: dict[str, CType]
    symbols: dict[str, bool]  # the variables that are used, and whether the host itself fills them first
    depth: int
    array: Any
    scalar: Any
    count: Any
    number_at: Any
    pointer: Any

    def symbol(self, name: str, filled: bool) -> ScalarType | None:
        """Makes a variable of the device known; its type where it is one number that kernels do not change."""
        found = self.low.lookup(name)
        if not isinstance(found, GlobalVariable):
            return found.type if isinstance(found, VarPlace) else None
        t = found.type
        if leaf(t.of if isinstance(t, Array) else t)[0] is None:
            reason = f"{name} is a variable of the device of a type that is not followed in a host"
            raise Refused(Diagnostic("KR211", reason, found.span))
        self.symbols.setdefault(name, filled and not self.depth)
        if isinstance(t, ScalarType) and not isinstance(found.place, Cell):
            self.scalar(name, t)
            return t
        self.array(name, t.of if isinstance(t, Array) else t)
        self.low.extents[name] = t
        return None

    def symbol_name(self, node: Node) -> str:
        """``x``, ``&x`` and ``"x"`` as names of a variable of the device."""
        node = strip(node)
        if isinstance(node, Tree) and node.data in ("unary_expression", "cast_expression"):
            return self.symbol_name(trees(node)[-1])
        return callee(node)

    def to_symbol(self, args: list[Tree], node: Tree) -> list[h.Stmt]:
        """``cudaMemcpyToSymbol(x, from, bytes, offset)``."""
        span = self.low.span(node)
        name = self.symbol_name(args[0])
        entity = self.low.lookup(name)
        known = name in self.arrays or isinstance(entity, GlobalVariable | VarPlace)
        if not known:
            raise self.low.refuse("KR213", f"`{self.low.text(args[0])}` is no variable of the device here", node)
        whole = len(args) < 4 or self.low.text(args[3]) == "0"
        t = self.symbol(name, whole)
        place = k.Const(0, INT32) if whole else self.place_in(name, args[3], node)
        source = self.number_at(args[1])
        if t is not None:
            if source is not None:
                return [h.Assign(name, self.low.convert(k.Var(source.name, source.type), t, node), t, span=span)]
            at = self.pointer(args[1])
            value = k.Load(at.array, (at.offset or k.Const(0, INT32),), t, span=span)
            return [h.Assign(name, value, t, span=span)]
        if source is not None:
            return [h.Store(name, (place,), k.Var(source.name, source.type), span=span)]
        origin = self.pointer(args[1])
        count = self.count(args[2], self.arrays[name], node)
        to = None if whole else place
        return [h.Update(name, h.Whole(origin.array, origin.offset, count, span=span), to, count, span=span)]

    def place_in(self, name: str, offset: Tree, node: Tree) -> k.Expr:
        """The element of a variable of the device that an offset in bytes is. Raises Refused (KR213)."""
        if name not in self.arrays or leaf(self.arrays[name])[1]:
            raise self.low.refuse("KR213", "a copy into the middle of a variable of the device", node)
        return self.count(offset, self.arrays[name], node)  # type: ignore[no-any-return]

    def from_symbol(self, args: list[Tree], node: Tree) -> list[h.Stmt]:
        """``cudaMemcpyFromSymbol(to, x, bytes)``."""
        span = self.low.span(node)
        name = self.symbol_name(args[1])
        t = self.symbol(name, False)
        whole = len(args) < 4 or self.low.text(args[3]) == "0"
        place = None if whole else self.place_in(name, args[3], node)
        target = self.number_at(args[0])
        if t is not None and target is not None:
            return [h.Assign(target.name, k.Var(name, t), target.type, span=span)]
        if name not in self.arrays:
            raise self.low.refuse("KR213", f"`{self.low.text(args[1])}` is no variable of the device here", node)
        element = leaf(self.arrays[name])[0]
        if target is not None:
            value = k.Load(name, (place or k.Const(0, INT32),), element or target.type, span=span)
            return [h.Assign(target.name, value, target.type, span=span)]
        to = self.pointer(args[0])
        count = self.count(args[2], self.arrays[to.array], node)
        return [h.Update(to.array, h.Whole(name, place, count, span=span), to.offset, count, span=span)]

    def symbols_of(self, function: k.Function | None, given: int) -> list[h.Expr | k.ArrayRef]:
        """The variables of the device that a kernel takes after the ``given`` arguments of its launch."""
        out: list[h.Expr | k.ArrayRef] = []
        for param in function.params[given:] if function is not None else ():
            if param.name not in self.symbols and not isinstance(self.low.lookup(param.name), GlobalVariable):
                break
            t = self.symbol(param.name, False)
            out.append(k.Var(param.name, t) if t is not None else k.ArrayRef(param.name))
        return out

    def with_symbols(self, params: list[k.Param], body: tuple[h.Stmt, ...]) -> tuple[h.Stmt, ...]:
        """The body with memory for the variables that the host fills; the others become parameters."""
        made: list[h.Stmt] = []
        for name, filled in self.symbols.items():
            entity: Any = self.program.entities[name]
            t = entity.type
            if isinstance(t, ScalarType) and not isinstance(entity.place, Cell):
                if not filled:
                    params.append(k.Param(name, t))
                continue
            element, axes = leaf(t.of if isinstance(t, Array) else t)
            assert element is not None
            extent = normal(t.extent) if isinstance(t, Array) and t.extent is not None else k.Const(1, INT32)
            if filled and not axes:
                made.append(h.Alloc(name, element, (extent,), k.Const(0, INT32)))
            else:
                params.append(k.Param(name, ArrayType(element, axes + 1)))
        return (*made, *body)
