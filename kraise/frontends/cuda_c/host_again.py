"""What ``main`` reads from outside in each round of a loop, in a branch, or once more after it was used.

Each such place has a parameter of its own: ``for (t = 0; t < frames; t++) { for (i …) img[i] = rand(); … }`` takes
``img_in``, the images of all rounds one behind the other, and round ``t`` begins with its own.

Side conditions, each checked: what is read in rounds is read in counted loops around it whose numbers of rounds do not
change; an array is changed by nothing but what fills it, so that all of it is known when it was filled, and has one
size. A number may be set otherwise, too: what is read is all of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kraise.diagnostics import Refused, refuse
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import Memory, flat
from kraise.ir.host_names import expression_names, fresh, reads, sets
from kraise.ir.types import INT32, ArrayType, ScalarType

ONE = k.Const(1, INT32)


def spelled_out(
    params: list[k.Param], body: tuple[h.Stmt, ...], types: Mapping[str, ScalarType | ArrayType], again: set[int],
    marked: Any, stores: Mapping[str, tuple[bool, ...]],
) -> tuple[h.Stmt, ...]:  # fmt: skip
    """The body in which each mark within a loop or a branch, and those of ``again`` (by ``id``), takes its value from a
    parameter of its own. Raises Refused (KR211)."""
    reading = _Reading(params, body, types, again, marked, stores)
    return reading.block(body, (), top=True)


class _Reading:
    def __init__(
        self, params: list[k.Param], body: tuple[h.Stmt, ...], types: Mapping[str, Any], again: set[int], marked: Any,
        stores: Mapping[str, tuple[bool, ...]],
    ):  # fmt: skip
        self.params, self.body, self.types, self.again = params, body, types, again
        self.marked, self.stores = marked, stores
        self.every = list(flat(body))
        self.times = Counter(n for s in self.every for n in sets(s))
        self.taken = {n for s in self.every for n in reads(s) | sets(s)} | {p.name for p in params}

    def block(self, body: tuple[h.Stmt, ...], loops: tuple[Any, ...], top: bool = False) -> tuple[h.Stmt, ...]:
        return tuple(self.one(s, loops, top) for s in body)

    def one(self, s: h.Stmt, loops: tuple[Any, ...], top: bool) -> h.Stmt:
        match s:
            case h.For(body=inner):
                return replace(s, body=self.block(inner, (*loops, s)))
            case h.While(body=inner):
                return replace(s, body=self.block(inner, (*loops, s)))
            case h.If(body=then, orelse=orelse):
                return replace(s, body=self.block(then, loops), orelse=self.block(orelse, loops))
        name = self.marked(s)
        if not name or (top and id(s) not in self.again):
            return s
        return self.taken_from(s, name, loops)

    def taken_from(self, s: Any, name: str, loops: tuple[Any, ...]) -> h.Stmt:
        """The statement that takes what is read from a parameter."""
        own = fresh(self.taken, f"{name}_in")
        t = self.types[name]
        place = self.round(s, loops, name)
        if isinstance(t, ScalarType):
            if place is None:
                self.params.append(k.Param(own, t, span=s.span))
                return replace(s, value=k.Var(own, t))  # type: ignore[no-any-return]
            self.params.append(k.Param(own, ArrayType(t, 1), span=s.span))
            return replace(s, value=k.Load(own, (place,), t, span=s.span))  # type: ignore[no-any-return]
        self.only_filled(s, name)
        self.params.append(k.Param(own, t, span=s.span))
        if place is None:
            return replace(s, value=h.Whole(own, span=s.span))  # type: ignore[no-any-return]
        size = self.size(s, name)
        start = k.Op("mul", (place, size), INT32)
        return replace(s, value=h.Whole(own, start, size, span=s.span), count=size)  # type: ignore[no-any-return]

    def round(self, s: Any, loops: tuple[Any, ...], name: str) -> k.Expr | None:
        """Which of all rounds this is; None outside of loops."""
        place: k.Expr | None = None
        for loop in loops:
            if not isinstance(loop, h.For) or loop.step != ONE:
                raise self.refused(s, f"{name} is read from outside in each round of a loop that does not count by one")
            bounds = (loop.start, loop.stop)
            for number in {n for e in bounds for n in expression_names(e)}:
                if self.times[number] > 1 or any(number == outer.var for outer in loops):
                    reason = f"{name} is read from outside in rounds whose number changes with {number}"
                    raise self.refused(s, reason)
            at: k.Expr = k.Var(loop.var, INT32)
            if not (isinstance(loop.start, k.Const) and not loop.start.value):
                at = k.Op("sub", (at, loop.start), INT32)
            if place is not None:
                rounds = loop.stop if at == k.Var(loop.var, INT32) else k.Op("sub", (loop.stop, loop.start), INT32)
                at = k.Op("add", (k.Op("mul", (place, rounds), INT32), at), INT32)
            place = at
        return place

    def only_filled(self, s: Any, name: str) -> None:
        """Refuses an array that something else than its fills changes."""
        same = Memory(self.body)
        for other in self.every:
            if self.marked(other) == name or isinstance(other, h.Alloc):
                continue
            changed = {other.array} if isinstance(other, h.Update | h.Store) else sets(other)
            if isinstance(other, h.Launch | h.CallHost):
                written = self.stores.get(other.function)
                given = [a for n, a in enumerate(other.args) if written is None or (n < len(written) and written[n])]
                changed = {array for a in given for array in h.arrays_in(a)}
            if isinstance(other, h.Point) and name in other.names:
                raise self.refused(s, f"{name} is read from outside, and points to something else, too")
            if any(same(n) == same(name) for n in changed):
                raise self.refused(s, f"{name} is read from outside in a branch or a loop, and changed otherwise, too")

    def size(self, s: Any, name: str) -> k.Expr:
        made = [x.shape or () for x in self.every if isinstance(x, h.Alloc) and x.name == name]
        plain = len(made) == 1 and 0 < len(made[0]) <= 2  # numbers, or vectors of them
        if not plain or any(self.times[n] > 1 for n in expression_names(made[0][0])):
            raise self.refused(s, f"{name} is read from outside in each round of a loop, and its size is not known")
        return made[0][0]

    def refused(self, s: Any, reason: str) -> Refused:
        return refuse("KR211", reason, s.span, "read it before, or make it a parameter of a function")
