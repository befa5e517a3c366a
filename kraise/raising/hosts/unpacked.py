"""Small local arrays of a host function whose elements are named by constants (``int size[3]`` of a hierarchy of grids)
are as many numbers: these can be static, where the elements of an array depend on data.

Side conditions, each checked: the array is the function's own and of constant length, and it is never used but by
elements with constant subscripts within it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import flat
from kraise.ir.host_names import fresh, sets
from kraise.ir.rename import renamed, within
from kraise.ir.rewrite import rewritten
from kraise.ir.types import ScalarType

MOST_ELEMENTS = 16
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}


def unpacked(body: tuple[h.Stmt, ...], parameters: set[str], taken: set[str]) -> tuple[h.Stmt, ...]:
    """The body with numbers for such arrays; ``taken`` are the names in use, to which theirs are added."""
    body = _with_constants(body, parameters)
    allocated: dict[str, list[h.Alloc]] = {}
    for one in within(body, h.Alloc):
        allocated.setdefault(one.name, []).append(one)
    for name, places in allocated.items():
        length = _number(places[0].shape[0]) if places[0].shape is not None and len(places[0].shape) == 1 else None
        numbers = isinstance(places[0].element, ScalarType) and not places[0].element.is_inexact
        if len(places) == 1 and name not in parameters and numbers and length and 0 < length <= MOST_ELEMENTS:
            body = _without(body, places[0], length, taken)
    return body


def _with_constants(body: tuple[h.Stmt, ...], parameters: set[str]) -> tuple[h.Stmt, ...]:
    """The body in which places in arrays that are named by a number with one value (``int l = LEVELS - 1; … n[l]``) are
    named by that value."""
    every = list(flat(body))
    times = Counter(n for s in every for n in sets(s))
    once = [s for s in every if isinstance(s, h.Assign) and times[s.name] == 1 and s.name not in parameters]
    values: dict[str, k.Const] = {}

    def named(node: Any) -> Any:
        return values.get(node.name) if isinstance(node, k.Var) else None

    for s in once:  # in the order of the text: what one is made of stands before it
        value = _number(rewritten(s.value, named)) if s.type.is_integer else None
        if value is not None:
            values[s.name] = k.Const(value, s.type)
    if not values:
        return body

    def visit(node: Any) -> Any:
        match node:
            case k.Load(subscripts=subscripts):
                return replace(node, subscripts=tuple(rewritten(s, named) for s in subscripts))
            case h.Store(subscripts=subscripts, value=value):
                places = tuple(rewritten(s, named) for s in subscripts)
                return replace(node, subscripts=places, value=rewritten(value, visit))
            case h.Chosen(index=index):
                return replace(node, index=rewritten(index, named))
            case h.Alloc(shape=(k.Var(name=name),)) if name in values:
                return replace(node, shape=(values[name],))
        return None

    return rewritten(body, visit)  # type: ignore[no-any-return]


def _without(body: tuple[h.Stmt, ...], array: h.Alloc, length: int, taken: set[str]) -> tuple[h.Stmt, ...]:
    """The body without one array; the body itself where it is used in another way."""
    own = set(taken)
    names = [fresh(own, f"{array.name}_{i}") for i in range(length)]
    kind = array.element

    def element(subscripts: tuple[Any, ...]) -> str | None:
        at = _number(subscripts[0]) if len(subscripts) == 1 else None
        return names[at] if at is not None and 0 <= at < length else None

    def visit(node: Any) -> Any:
        match node:
            case h.Alloc() if node is array:
                first = k.Const(0, kind) if node.fill is None else _as(kind, node.fill)
                return tuple(h.Assign(n, first, kind, span=node.span) for n in names)
            case k.Load(array=name, subscripts=subscripts) if name == array.name:
                to = element(subscripts)
                return k.Var(to, node.type, span=node.span) if to else None
            case h.Store(array=name, subscripts=subscripts, value=value) if name == array.name:
                to = element(subscripts)
                return h.Assign(to, _as(kind, rewritten(value, visit)), kind, span=node.span) if to else None
        return None

    found = rewritten(body, visit)
    if renamed(found, {array.name: f"{array.name}."}) != found:
        return body
    taken |= set(names)
    return found


def _as(kind: ScalarType, value: Any) -> Any:
    return value if getattr(value, "type", kind) == kind else k.Cast(kind, value)


def _number(e: Any) -> int | None:
    match e:
        case k.Const(value=value) if isinstance(value, int):
            return value
        case k.Cast(type=kind, arg=arg) if kind.is_integer:
            return _number(arg)
        case k.Op(name=name, args=(a, b)) if name in _ARITHMETIC:
            x, y = _number(a), _number(b)
            return _ARITHMETIC[name](x, y) if x is not None and y is not None else None
    return None
