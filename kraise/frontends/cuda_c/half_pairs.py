"""Functions of cuda_fp16.h and cuda_bf16.h on pairs, ``half2`` and ``__nv_bfloat162``: those of one number, twice."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c import vocabulary
from kraise.frontends.cuda_c.c_types import AXES, Struct, scalar
from kraise.frontends.cuda_c.values import StructValue
from kraise.ir.kernel import Const
from kraise.ir.types import ScalarType

_PAIRS = {scalar("float16"): "half2", scalar("bfloat16"): "nv_bfloat162", scalar("float32"): "float2"}


def each(low: Any, name: str, of: str, arguments: list[Tree], node: Tree) -> Any:
    """``__hadd2(a, b)``: ``of`` of the first members, and of the second ones; a lone number counts for both."""
    values = [_simple(low, low.value(a), node) for a in arguments]
    if not any(isinstance(v, StructValue) for v in values):
        raise low.refuse("KR103", f"`{name}` is called without a pair", node)
    return _pair(low, [_one(low, of, [_member(v, at) for v in values], node) for at in (0, 1)], node)


def pair(low: Any, name: str, of: str, arguments: list[Tree], node: Tree) -> Any:
    """``__float2half2_rn(a)``, ``__halves2half2(a, b)``: a pair of ``of`` of one number, or of two."""
    values = [_simple(low, low.value(a), node) for a in arguments]
    return _pair(low, [_one(low, of, [v], node) for v in (values * 2)[:2]], node)


def member(low: Any, name: str, of: str, arguments: list[Tree], node: Tree) -> Any:
    """``__low2float(a)``: ``of`` of a member."""
    axis, _, of = of.partition(".")
    v = low.value(arguments[0])
    if not isinstance(v, StructValue):
        raise low.refuse("KR103", f"`{name}` is called without a pair", node)
    return _one(low, of, [_member(v, AXES.index(axis))], node)


def _simple(low: Any, v: Any, node: Tree) -> Any:
    return v if isinstance(v, StructValue) else low.rvalue(v, node)


def _member(v: Any, at: int) -> Any:
    return v.fields[at][1] if isinstance(v, StructValue) else v


def _one(low: Any, of: str, values: list[Any], node: Tree) -> Any:
    """The function ``of`` of numbers; "" is the number itself."""
    if not of:
        return values[0]
    head, _, rest = vocabulary.concept(of).partition(".")
    if head == "binary" and rest not in ("max", "min"):
        return low.binary(rest, *values, low.span(node), node)
    if head == "unary":
        return low.unary(rest, values[0], low.span(node), node)
    if head == "convert":
        return low.cast_to(values[0], scalar(rest.rpartition(".")[2]), node)
    if head == "reciprocal":
        return low.binary("/", Const(1.0, values[0].type), values[0], low.span(node), node)
    operation = rest if head == "binary" else vocabulary.operation(of)
    return low.math(operation, operation, values, node)


def _pair(low: Any, values: list[Any], node: Tree) -> StructValue:
    name = _PAIRS.get(values[0].type) if isinstance(values[0].type, ScalarType) else None
    t = vocabulary.type_called(name or "")
    if not isinstance(t, Struct):
        raise low.refuse("KR104", "a pair is made of numbers of 16 bits or of floats", node)
    return StructValue(t, tuple((n, v) for (n, _), v in zip(t.members, values, strict=True)))


CONCEPTS = {"each": each, "pair": pair, "member": member}
