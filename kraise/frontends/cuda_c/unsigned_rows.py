"""``for (unsigned k = ptr[i]; k < ptr[i + 1]; ++k)`` over pointers that are ``int``: rows as a signed counter has them.

The two differ where a pointer is negative: the unsigned counter goes on to numbers of 2**31 and more then. Where each
round reads or stores element k of an array, that is an access outside, so the program means something only where none
is negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kraise.ir.kernel import Assign, Atomic, Break, Cast, Const, Continue, Expr, For, Load, Op, Return, Store, Var
from kraise.ir.rewrite import rewritten
from kraise.ir.types import INT32, UINT32


def signed_rows(loop: For) -> For:
    """The loop with a counter of the pointers' type, where it goes from one entry of an array to another; else as it
    is."""
    start, stop = _pointer(loop.start), _pointer(loop.stop)
    if loop.type != UINT32 or loop.step != Const(1, UINT32) or start is None or stop is None:
        return loop
    if start.array != stop.array or _leaves(loop.body) or not any(_is_counter(s, loop.var) for s in _places(loop.body)):
        return loop

    def visit(n: Any) -> Any | None:
        if _is_counter(n, loop.var):
            return Var(loop.var, INT32, span=n.span)
        return Cast(UINT32, Var(loop.var, INT32)) if isinstance(n, Var) and n.name == loop.var else None

    body = rewritten(loop.body, visit)
    return replace(loop, start=start, stop=stop, step=Const(1, INT32), body=body, type=INT32)


def _pointer(e: Expr) -> Load | None:
    match e:
        case Cast(arg=Load() as load) if e.type == UINT32 and load.type == INT32:
            return load
    return None


def _is_counter(e: Any, name: str) -> bool:
    return isinstance(e, Cast) and e.type == INT32 and isinstance(e.arg, Var) and e.arg.name == name


def _leaves(body: tuple[Any, ...]) -> bool:
    """Whether a round may be the last one before its time."""
    inner = (getattr(s, part, ()) for s in body for part in ("body", "orelse"))
    return any(isinstance(s, Break | Continue | Return) for s in body) or any(map(_leaves, inner))


def _places(body: tuple[Any, ...]) -> Iterator[Expr]:
    """The subscripts that every round computes."""
    for s in body:
        match s:
            case Assign(value=v):
                yield from _loaded(v)
            case Store(subscripts=at, value=v):
                yield from at
                yield from _loaded(v)
            case Atomic(subscripts=at, values=values):
                yield from at
                for v in values:
                    yield from _loaded(v)
            case _:
                return  # what a branch or a loop does not reach


def _loaded(e: Any) -> Iterator[Expr]:
    match e:
        case Load(subscripts=at):
            yield from at
            for s in at:
                yield from _loaded(s)
        case Cast(arg=a):
            yield from _loaded(a)
        case Op(name=name, args=args) if name not in ("select", "and", "or"):
            for a in args:
                yield from _loaded(a)


__all__ = ["signed_rows"]
