"""Functions on bits and conversions with a rounding of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.arithmetic import cast, is_simple
from kraise.frontends.cuda_c.c_types import scalar
from kraise.frontends.cuda_c.copied import as_bits
from kraise.frontends.cuda_c.statements import Statements
from kraise.frontends.cuda_c.values import StructValue
from kraise.ir.kernel import Const, Expr, Op
from kraise.ir.types import BOOL, INT8, INT32, UINT8, UINT32, UINT64, ScalarType


class BitFunctions(Statements):
    """__ffs, __brev, __umulhi, __float2int_rn and the like, composed of operations."""

    def _mulhi(self, name: str, type_name: str, arguments: list[Tree], node: Tree) -> Any:
        t = scalar(type_name)
        wide = ScalarType(t.kind, 64)
        a, b = [cast(cast(self.scalar(x), t), wide) for x in arguments]
        product = Op("mul", (a, b), wide, span=self.span(node))
        return cast(Op("shr", (product, Const(32, wide)), wide, span=self.span(node)), t)

    def _ffs(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        x = self.scalar(arguments[0])
        t = ScalarType("int", 64 if name.endswith("ll") else 32)
        x = cast(x, t)
        if not is_simple(x):
            x = self.temporary(x, "t", node)
        span = self.span(node)
        low = Op("and_", (x, Op("neg", (x,), t, span=span)), t, span=span)
        below = Op("popcount", (Op("sub", (low, Const(1, t)), t, span=span),), INT32, span=span)
        test = Op("eq", (x, Const(0, t)), BOOL, span=span)
        return Op(
            "select", (test, Const(0, INT32), Op("add", (below, Const(1, INT32)), INT32, span=span)), INT32, span=span
        )

    def _brev(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        x: Expr = cast(self.scalar(arguments[0]), UINT32)
        span = self.span(node)
        for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
            if not is_simple(x):
                x = self.temporary(x, "bits", node)
            m, s = Const(mask, UINT32), Const(shift, UINT32)
            right = Op("and_", (Op("shr", (x, s), UINT32, span=span), m), UINT32, span=span)
            left = Op("shl", (Op("and_", (x, m), UINT32, span=span), s), UINT32, span=span)
            x = Op("or_", (right, left), UINT32, span=span)
        return x

    def _funnel(self, name: str, way: str, arguments: list[Tree], node: Tree) -> Any:
        low, high, shift = [cast(self.scalar(a), UINT32) for a in arguments]
        span = self.span(node)
        both = Op(
            "or_", (Op("shl", (cast(high, UINT64), Const(32, UINT64)), UINT64, span=span), cast(low, UINT64)), UINT64
        )
        amount = Op("and_", (shift, Const(31, UINT32)), UINT32, span=span)
        name_ = "shl" if way == "l" else "shr"
        moved = Op(name_, (both, cast(amount, UINT64)), UINT64, span=span)
        return cast(Op("shr", (moved, Const(32, UINT64)), UINT64, span=span) if way == "l" else moved, UINT32)

    def _sad(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        x, y, z = [self.scalar(a) for a in arguments]
        t = UINT32 if name == "__usad" else INT32
        span = self.span(node)
        x, y = cast(x, t), cast(y, t)
        larger, smaller = Op("max", (x, y), t, span=span), Op("min", (x, y), t, span=span)
        return self.binary("+", Op("sub", (larger, smaller), t, span=span), z, span)

    def _dot_bytes(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        """``__dp4a``: the products of the four bytes of two words, or of two ``char4``, added to a third."""
        span = self.span(node)
        a, b = [self.value(x) for x in arguments[:2]]
        pairs: list[tuple[Expr, Expr]]
        if isinstance(a, StructValue) and isinstance(b, StructValue) and len(a.fields) == len(b.fields) == 4:
            bytes_ = [
                [self.convert(v, t, node) for (_, v), (_, t) in zip(x.fields, x.type.members, strict=True)]
                for x in (a, b)
            ]
            pairs = list(zip(*bytes_, strict=True))
            types = {x.type for pair in pairs for x in pair}
            if not types <= {UINT8, INT8}:
                raise self.refuse("KR104", "these are no vectors of four bytes", node)
            word = UINT32 if types == {UINT8} else INT32
        else:
            a, b = [self.scalar(x) for x in arguments[:2]]
            word, byte = (UINT32, UINT8) if a.type == b.type == UINT32 else (INT32, INT8)
            a, b = [x if is_simple(x) else self.temporary(x, "bytes", node) for x in (a, b)]

            def part(x: Expr, at: int) -> Expr:
                return cast(Op("shr", (x, Const(at, word)), word, span=span) if at else x, byte)

            pairs = [(part(a, at), part(b, at)) for at in range(0, 32, 8)]
        total = cast(self.scalar(arguments[2]), word)
        for x, y in pairs:
            product = Op("mul", (cast(x, word), cast(y, word)), word, span=span)
            total = Op("add", (total, product), word, span=span)
        return total

    def _popcount(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        x = self.scalar(arguments[0])
        t = ScalarType("uint", 64 if name.endswith("ll") else 32)
        operation = "clz" if "clz" in name else "popcount"
        return Op(operation, (cast(x, t),), INT32, span=self.span(node))

    def _convert(self, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
        rounding, _, type_name = rest.partition(".")
        x = self.scalar(arguments[0])
        if rounding and rounding != "trunc":
            x = Op(rounding, (x,), x.type, span=self.span(node))
        return cast(x, scalar(type_name))

    def _bits(self, name: str, type_name: str, arguments: list[Tree], node: Tree) -> Any:
        x = self.scalar(arguments[0])
        t = scalar(type_name)
        if x.type.bits != t.bits:
            x = cast(x, ScalarType("float" if t.is_integer else "int", t.bits))
        made = as_bits(x, t)
        return replace(made, span=self.span(node)) if isinstance(made, Op) else made
