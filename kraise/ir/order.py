"""The order of equation nodes: that of their texts, without writing the texts.

A node is a DAG whose text may be exponentially long. Interned nodes that are one object have one text, so a comparison
only follows the path on which two nodes differ.
"""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import Any

from kraise.ir.equations import Node

_HEAD = 160  # characters of a text that are compared as a string


class ByText:
    """A sorting key: ``key < other`` as ``repr(value) < repr(other value)``, for nodes, tuples of nodes and atoms."""

    __slots__ = ("head", "value")

    def __init__(self, value: Any):
        self.value = value
        self.head = _head(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByText) and self.head == other.head and _compare(self.value, other.value) == 0

    def __hash__(self) -> int:
        return hash(self.head)

    def __lt__(self, other: ByText) -> bool:
        if self.head != other.head:
            return self.head < other.head
        return _compare(self.value, other.value) < 0


by_text = lru_cache(maxsize=20_000)(ByText)


def _pieces(value: Any) -> list[Any]:
    """The text of ``value`` with the nodes directly below it left as they are."""
    if isinstance(value, Node):
        out: list[Any] = []
        for at, f in enumerate(fields(value)):  # type: ignore[arg-type]
            out += [f"{', ' if at else ''}{f.name}=", *_below(getattr(value, f.name))]
        return [f"{type(value).__qualname__}(", *out, ")"]
    return _below(value)


def _below(value: Any) -> list[Any]:
    if isinstance(value, Node):
        return [value]
    if isinstance(value, tuple):
        inner: list[Any] = []
        for at, item in enumerate(value):
            inner += [", ", *_below(item)] if at else _below(item)
        return ["(", *inner, ",)" if len(value) == 1 else ")"]
    return [repr(value)]


def _head(value: Any) -> str:
    left, out, size = [value], [], 0
    while left and size < _HEAD:
        item = left.pop()
        if isinstance(item, str) and item is not value:
            out.append(item)
            size += len(item)
        else:
            left.extend(reversed(_pieces(item)))
    return "".join(out)[:_HEAD]


def _compare(a: Any, b: Any) -> int:
    """-1, 0 or 1 as the text of ``a`` comes before, with or after that of ``b``."""
    left, right = _pieces(a)[::-1], _pieces(b)[::-1]
    while left and right:
        x, y = left.pop(), right.pop()
        if x is y or (isinstance(x, str) and x == y):
            continue
        if isinstance(x, str) and isinstance(y, str):
            size = min(len(x), len(y))
            if x[:size] != y[:size]:
                return -1 if x < y else 1
            left += [x[size:]] if x[size:] else []
            right += [y[size:]] if y[size:] else []
            continue
        for stack, item in ((left, x), (right, y)):
            stack.extend([item] if isinstance(item, str) else _pieces(item)[::-1])
    return bool(left) - bool(right)
