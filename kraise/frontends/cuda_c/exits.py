"""Leaving a block in its middle: exits of an inlined function or of a switch become structured control flow.

While a body is lowered an exit is the marker :class:`Exit`; :func:`remove_exits` turns what follows an exit into the
other branch, and takes a flag only where an exit lies inside a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kraise.ir.kernel import Assign, Break, Const, For, If, Op, Return, Stmt, Var, While
from kraise.ir.types import BOOL


@dataclass(frozen=True)
class Exit:
    """Leaves the block called ``label``."""

    label: str


def has_exit(stmts: Sequence[Any], label: str) -> bool:
    """Is there an exit of ``label`` in these statements?"""
    return any(
        (isinstance(s, Exit) and s.label == label) or any(has_exit(inner, label) for inner in _inner(s)) for s in stmts
    )


def _inner(s: Any) -> tuple[Sequence[Any], ...]:
    if isinstance(s, If):
        return (s.body, s.orelse)
    if isinstance(s, For | While):
        return (s.body,)
    return ()


def leaves(stmts: Sequence[Any], label: str) -> bool:
    """Does control never reach the end of these statements?"""
    for s in stmts:
        if isinstance(s, Exit | Break | Return) or type(s).__name__ == "Continue":
            return True
        if isinstance(s, If) and s.orelse and leaves(s.body, label) and leaves(s.orelse, label):
            return True
    return False


def remove_exits(stmts: Sequence[Any], label: str, fresh: Callable[[str], str]) -> list[Stmt]:
    """The same statements without exits of ``label``."""
    out: list[Any] = []
    for k, s in enumerate(stmts):
        if isinstance(s, Exit) and s.label == label:
            return out
        if not any(has_exit(inner, label) for inner in _inner(s)):
            out.append(s)
            if isinstance(s, Exit | Break | Return):
                return out
            continue
        rest = list(stmts[k + 1 :])
        if isinstance(s, If):
            if leaves(s.body, label):
                body, orelse = list(s.body), [*s.orelse, *rest]
            elif s.orelse and leaves(s.orelse, label):
                body, orelse = [*s.body, *rest], list(s.orelse)
            elif not rest:
                body, orelse = list(s.body), list(s.orelse)
            else:
                return [*out, *_flagged(s, rest, label, fresh)]
            first = tuple(remove_exits(body, label, fresh))
            second = tuple(remove_exits(orelse, label, fresh))
            if first or second:
                if first:
                    out.append(replace(s, body=first, orelse=second))
                else:
                    out.append(replace(s, condition=_not(s.condition), body=second, orelse=()))
            return out
        return [*out, *_flagged(s, rest, label, fresh)]
    return out


def _not(condition: Any) -> Any:
    return Op("not", (condition,), BOOL, span=condition.span)


def _flagged(s: Any, rest: list[Any], label: str, fresh: Callable[[str], str]) -> list[Stmt]:
    """The general case: a flag says that the exit was taken."""
    flag = fresh("done")
    done = Var(flag, BOOL)
    marked = _mark(s, label, flag)
    out: list[Stmt] = [Assign(flag, Const(False, BOOL), BOOL, span=s.span), marked]
    tail = remove_exits(rest, label, fresh)
    if tail:
        out.append(If(_not(done), tuple(tail), span=s.span))
    return out


def _mark(s: Any, label: str, flag: str) -> Any:
    """Exits in ``s`` set the flag; loops on the way out are left."""
    if isinstance(s, If):
        return replace(s, body=_mark_block(s.body, label, flag), orelse=_mark_block(s.orelse, label, flag))
    body = _mark_block(s.body, label, flag, in_loop=True)
    return replace(s, body=body)


def _mark_block(stmts: Sequence[Any], label: str, flag: str, in_loop: bool = False) -> tuple[Any, ...]:
    out: list[Any] = []
    done = Var(flag, BOOL)
    for k, s in enumerate(stmts):
        if isinstance(s, Exit) and s.label == label:
            out.append(Assign(flag, Const(True, BOOL), BOOL))
            if in_loop:
                out.append(Break())
            return tuple(out)
        if not any(has_exit(inner, label) for inner in _inner(s)):
            out.append(s)
            continue
        if isinstance(s, If):
            out.append(
                replace(
                    s,
                    body=_mark_block(s.body, label, flag, in_loop),
                    orelse=_mark_block(s.orelse, label, flag, in_loop),
                )
            )
            rest = stmts[k + 1 :]
            if rest and not in_loop:
                out.append(If(_not(done), _mark_block(rest, label, flag), span=s.span))
                return tuple(out)
            continue
        out.append(replace(s, body=_mark_block(s.body, label, flag, True)))
        if in_loop:
            out.append(If(done, (Break(),), span=s.span))
        else:
            rest = stmts[k + 1 :]
            if rest:
                out.append(If(_not(done), _mark_block(rest, label, flag), span=s.span))
            return tuple(out)
    return tuple(out)
