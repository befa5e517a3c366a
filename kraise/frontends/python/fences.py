"""Which atomics come after a fence: what their thread stored before is seen by whoever sees them.

A fence is a statement of its own while a function is read. It is passed where nothing is stored to memory of the grid
after it, on any way there: a branch that may leave it out does not count, a loop's rounds begin with what came before
the loop only where they store nothing, and a call may store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kraise.ir.kernel import Atomic, Barrier, CallStmt, For, If, LocalArray, Stmt, Store, While
from kraise.ir.rewrite import walked

FENCE = "fence"


def marked(body: Sequence[Stmt]) -> list[Stmt]:
    """The statements with their atomics marked, and without the fences."""
    if not any(isinstance(x, Barrier) and x.scope == FENCE for x in walked(tuple(body))):
        return list(body)
    own = frozenset(x.name for x in walked(tuple(body)) if isinstance(x, LocalArray))
    return list(_marked(tuple(body), False, own)[0])


def _marked(body: tuple[Stmt, ...], fenced: bool, own: frozenset[str]) -> tuple[tuple[Stmt, ...], bool]:
    """The statements, begun after a fence or not, and whether they end after one."""
    out: list[Any] = []
    for s in body:
        match s:
            case Barrier(scope="fence"):
                fenced = True
                continue
            case If():
                then, a = _marked(s.body, fenced, own)
                other, b = _marked(s.orelse, fenced, own)
                s, fenced = replace(s, body=then, orelse=other), a and b
            case For() | While():
                around = fenced and not _stores(s.body, own)
                inner, _ = _marked(s.body, around, own)
                other, fenced = _marked(s.orelse, around, own)
                s = replace(s, body=inner, orelse=other)
            case Atomic():
                s = replace(s, fenced=fenced and bool(s.result))
                fenced = fenced and s.array in own
            case _:
                fenced = fenced and not _stores((s,), own)
        out.append(s)
    return tuple(out), fenced


def _stores(body: tuple[Stmt, ...], own: frozenset[str]) -> bool:
    """Whether something may be stored to memory of the grid."""
    return any(isinstance(x, CallStmt) or (isinstance(x, Store | Atomic) and x.array not in own) for x in walked(body))


__all__ = ["FENCE", "marked"]
