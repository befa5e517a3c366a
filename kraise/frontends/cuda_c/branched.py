"""Pointers that the arms of an ``if`` set to different arrays: what they point to after it is what the condition says.

Side condition: the pointer is declared among the statements of the ``if`` itself (no loop lies between), so that what
comes before and after it is known; the condition is kept as it was when it was asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.trees import end, position
from kraise.frontends.cuda_c.values import PointerPlace, PointerValue
from kraise.ir.kernel import Expr, Var
from kraise.ir.types import INT32


class Branched:
    """The pointers that one ``if`` may set, and what each is in the first arm, once that is lowered."""

    def __init__(self, low: Any, node: Tree):
        found = {id(p): p for table in low.scopes for p in table.values() if isinstance(p, PointerPlace)}
        first, last = position(node), end(node)
        self.low = low
        self.places = [
            p
            for p in found.values()
            if p.home is low.out and p.offset_name and not p.which and low.usage.modified_in(p.name, first, last)
        ]
        self.before = [p.value for p in self.places]
        self.arms: list[list[PointerValue | None]] = []

    def enter(self, statements: list[Any]) -> None:
        """An arm begins, whose statements go to this list."""
        for p, value in zip(self.places, self.before, strict=True):
            p.value, p.home = value, statements

    def leave(self) -> None:
        """The arm ends."""
        self.arms.append([p.value for p in self.places])
        for p, value in zip(self.places, self.before, strict=True):
            p.value, p.home = value, self.low.out

    def differ(self) -> bool:
        """Whether some pointer may point into one of two arrays after the ``if``."""
        return any(a != b and a is not None and b is not None for a, b in zip(*self._both(), strict=True))

    def merge(self, condition: Expr) -> None:
        """The pointers as they are after the ``if``; ``condition`` is a variable that says which arm was taken."""
        for p, a, b in zip(self.places, *self._both(), strict=True):
            if a is None or b is None or a == b:
                p.value = a or b
            else:
                p.value = PointerValue("", (), None, p.type.to, arms=(condition, a, b))

    def _both(self) -> tuple[list[PointerValue | None], list[PointerValue | None]]:
        first, second = self.arms if len(self.arms) > 1 else (self.arms[0], self.before)
        return first, second


def moved(value: PointerValue, offset_name: str, span: Any) -> PointerValue:
    """A pointer variable's value with its offset, whichever of several arrays it points into."""
    if value.arms is not None:
        c, a, b = value.arms
        return replace(value, arms=(c, moved(a, offset_name, span), moved(b, offset_name, span)))
    return replace(value, offset=Var(offset_name, INT32, span=span))


def unmoved(value: PointerValue) -> tuple[PointerValue, set[Expr | None]]:
    """A pointer without its offset, and the offsets of the arrays that it may point into."""
    if value.arms is None:
        return replace(value, offset=None), {value.offset}
    c, a, b = value.arms
    (first, at), (second, there) = unmoved(a), unmoved(b)
    return replace(value, arms=(c, first, second)), at | there


__all__ = ["Branched", "moved", "unmoved"]
