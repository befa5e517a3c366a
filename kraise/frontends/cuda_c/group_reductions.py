"""``cg::reduce`` of a tile, with the operations of cooperative groups or with a function of the program's own.

A function of two values is what the tile's steps of ``shfl_xor`` combine with (CUDA asks that its order cannot matter):
after them all threads have the same value, as ``cg::reduce`` promises.
"""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c.trees import child, last_name, strip, words
from kraise.frontends.cuda_c.values import Bound, Group, StructPlace, StructValue, VarPlace
from kraise.ir.kernel import Assign, Const, Op, Var, Warp, While
from kraise.ir.types import BOOL, INT32, ScalarType

_OPERATIONS = {"plus": "sum", "greater": "max", "less": "min", "bit_and": "and", "bit_or": "or", "bit_xor": "xor"}


def tile_reduce(low: Any, group: Group, arguments: list[Tree], node: Tree) -> Any:
    """The values of a tile's threads together. Raises Refused."""
    if len(arguments) != 2:
        raise low.refuse("KR299", "this reduction of a tile is not raised", node)
    operation = _operation(low, arguments[1])
    if not operation:
        return _combined(low, group, arguments[0], arguments[1], node)
    value = low.scalar(arguments[0])
    return low.temporary(Warp(operation, (value,), value.type, group.size, span=low.span(node)), operation, node)


def _operation(low: Any, operator: Tree) -> str:
    """What ``cg::plus<float>()`` does; "" for what the program defines itself."""
    if any(True for _ in operator.find_data("lambda_expression")):
        return ""
    known = low.program.functions.keys() | low.program.struct_templates.keys()
    theirs = (w for w in words(operator) if w in _OPERATIONS and w not in known and low.lookup(w) is None)
    return next((_OPERATIONS[w] for w in theirs), "")


def _combined(low: Any, group: Group, argument: Tree, operator: Tree, node: Tree) -> Any:
    value, span = low.value(argument), low.span(node)
    if not isinstance(value, StructValue) and not isinstance(getattr(value, "type", None), ScalarType):
        raise low.refuse("KR299", "this reduction of a tile is not raised", node)
    running: Any
    if isinstance(value, StructValue):
        if any(not isinstance(t, ScalarType) for _, t in value.type.members):
            raise low.refuse("KR299", "a reduction of structs is raised where all members are numbers", node)
        running = low.struct_place(low._struct_name("reduced"), value.type)
    else:
        running = VarPlace(low.fresh("reduced"), value.type)
        low.names[running.name] = value.type
    low.write(running, value, node)
    if group.size > 1:
        offset = Var(low.fresh("offset"), INT32, span=span)
        low.names[offset.name] = INT32
        low.emit(Assign(offset.name, Const(group.size // 2, INT32), INT32, span=span))
        with low.captured() as body:
            other = _of_other(low, running, offset, group.size, node)
            low.write(running, _called(low, operator, low.read(running, node), other, node), node)
            low.emit(Assign(offset.name, Op("shr", (offset, Const(1, INT32)), INT32, span=span), INT32, span=span))
        more = Op("gt", (offset, Const(0, INT32)), BOOL, span=span)
        low.emit(While(more, tuple(body), span=span))
    return low.read(running, node)


def _of_other(low: Any, running: Any, offset: Var, size: int, node: Tree) -> Any:
    """What the thread across has."""
    if isinstance(running, StructPlace):
        fields = tuple((n, _of_other(low, place, offset, size, node)) for n, place in running.fields)
        return StructValue(running.type, fields)
    return low.warp("shfl_xor", [low.read(running, node), offset], node, size)


def _called(low: Any, operator: Tree, a: Any, b: Any, node: Tree) -> Any:
    """The operator's value of two."""
    names = {low.fresh("mine"): Bound(a), low.fresh("theirs"): Bound(b)}
    passed = [Tree("id_expression", [Token("NAME", n)], node.meta) for n in names]
    low.scopes.append(names)
    try:
        plain = strip(operator)
        name = str(last_name(plain) or "")
        found = [] if low._local(name) is not None else low.program.functions.get(name, [])
        if not found:
            value = low.value(Tree("call_expression", [operator, *passed], node.meta))
        else:  # in place, where it is seen what the function does with another thread's value
            template = child(plain, "template_arguments") if isinstance(plain, Tree) else None
            explicit = low.template_arguments(template) if template is not None else []
            d, scope, parameters, returns = low._choose(name, found, explicit, passed, node)
            bound = [low._argument(p, v) for p, v in zip(parameters, passed, strict=True)]
            value = low._inline(d, low.program.load(d), scope, parameters, bound, returns, node)
        return low.convert(value, a.type, node)
    finally:
        low.scopes.pop()


__all__ = ["tile_reduce"]
