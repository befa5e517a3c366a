"""Whether two pointers of a host function point to one place: ``if (src != x) cudaMemcpy(x, src, …)`` after swaps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kraise.diagnostics import refuse
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import BOOL

if TYPE_CHECKING:
    from kraise.raising.hosts.function import Raising
    from kraise.raising.hosts.state import State


def unconditional(stmt: h.Stmt) -> h.Stmt:
    """``x = src`` for ``if (src != x) x = src``: memory that is copied to itself stays as it is."""
    match stmt:
        case h.If(
            condition=k.Op(name="not", args=(h.Library(name=h.SAME, args=(h.Whole() as a, h.Whole() as b)),)),
            body=(h.Update(array=to, value=h.Whole(array=of, offset=None), offset=None) as copy,),
            orelse=(),
        ) if {a.array, b.array} == {to, of} and a.offset is None and b.offset is None:
            return copy
    return stmt


def decided(r: Raising, stmt: h.Stmt, state: State) -> tuple[h.Stmt, ...]:
    """The branch that a comparison of two pointers takes, where that alone decides; else the statement without it."""
    if not isinstance(stmt, h.If) or not any(isinstance(n, h.Library) and n.name == h.SAME for n in walked(stmt)):
        return (stmt,)
    found = _folded(rewritten(stmt.condition, lambda n: one_place(r, n, state) if isinstance(n, h.Library) else None))
    if isinstance(found, k.Const):
        return stmt.body if found.value else stmt.orelse
    return (replace(stmt, condition=found),)


def _folded(e: Any) -> Any:
    """A condition without parts that are known."""
    if not isinstance(e, k.Op) or e.name not in ("and", "or", "not"):
        return e
    args = [_folded(a) for a in e.args]
    if e.name == "not":
        return k.Const(not args[0].value, BOOL) if isinstance(args[0], k.Const) else replace(e, args=tuple(args))
    ends = e.name == "or"  # the value that decides
    for a, b in (args, args[::-1]):
        if isinstance(a, k.Const):
            return k.Const(ends, BOOL) if bool(a.value) is ends else b
    return replace(e, args=tuple(args))


def one_place(r: Raising, e: h.Library, state: State) -> k.Const | None:
    """The truth of a comparison of two pointers; None of any other call.

    Raises:
        Refused: it depends on data.
    """
    if e.name != h.SAME:
        return None
    places = []
    for p in e.args:
        assert isinstance(p, h.Whole)
        view = r.view(p.array, state, e.span)
        parts = [x for x in (view.offset, r.scalar(p.offset, state) if p.offset is not None else None) if x is not None]
        places.append((view.slot, tuple(x for x in parts if x != k.Const(0, x.type))))
    (one, first), (two, second) = places
    if one != two and not {one, two} & r.frozen:
        return k.Const(False, BOOL)
    if one == two and first == second:
        return k.Const(True, BOOL)
    if one == two and all(isinstance(x, k.Const) for x in (*first, *second)):
        sums = [sum(int(x.value.real) for x in xs if isinstance(x, k.Const)) for xs in (first, second)]
        return k.Const(sums[0] == sums[1], BOOL)
    raise refuse("KR211", "whether these two pointers point to one place is not known", e.span, "copy at any rate")


__all__ = ["decided", "one_place", "unconditional"]
