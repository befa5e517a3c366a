"""Which ``for`` of C counts: a variable by a constant step to a bound that the body leaves alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.host_names import callee, normal
from kraise.frontends.cuda_c.trees import Node, strip, tokens
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32

ONE = k.Const(1, INT32)


def counted(before: list, condition: Any, after: list, body: tuple) -> tuple[str, k.Expr, k.Expr, k.Expr] | None:
    """(variable, start, stop, step) of a loop that counts by a constant step; None for any other."""
    if not before or len(after) != 1 or not isinstance(before[-1], h.Assign) or not isinstance(after[0], h.Assign):
        return None
    var = before[-1].name
    if not before[-1].type.is_integer:
        return None  # for (float t = 0; t < end; t += dt)
    step: int | None = None
    match after[0]:
        case h.Assign(name=name, value=k.Op(name="add", args=(k.Var(name=a), k.Const(value=by)))) if name == a == var:
            step = int(by.real)
        case h.Assign(name=name, value=k.Op(name="sub", args=(k.Var(name=a), k.Const(value=by)))) if name == a == var:
            step = -int(by.real)
        case h.Assign(name=name, value=k.Op(name="add", args=(k.Var(name=a), by))) if name == a == var:
            return _by_variable(before[-1], condition, normal(by), body)
        case _:
            return None
    match condition:
        case k.Op(name="lt" | "le" | "gt" | "ge" as test, args=(k.Var(name=name), bound)) if name == var:
            pass
        case k.Op(name="lt" | "le" | "gt" | "ge" as test, args=(k.Cast(arg=k.Var(name=name)), bound)) if name == var:
            pass
        case _:
            return None
    stop = normal(_whole(bound, "ceil" if test in ("lt", "ge") else "floor"))
    changed = _assigned(body)
    mentioned = {n.name for n in _walk(stop) if isinstance(n, k.Var)}
    if var in mentioned or changed & (mentioned | {var}) or any(isinstance(n, k.Load) for n in _walk(stop)):
        return None
    given: Any = before[-1].value
    first: Any = normal(given)
    if step < 0 and test in ("lt", "le"):  # k < n; k--: from zero an unsigned counter goes beyond every size
        if before[-1].type.kind != "uint" or not _within(first, stop, test == "lt"):
            return None
        last: k.Expr = k.Const(-1, INT32)
    elif (
        step > 0
        and before[-1].type.kind == "uint"
        and any(isinstance(e, k.Op) and e.name == "sub" for e in _walk(first))
    ):
        return None  # n - 2 may be beyond the end
    elif step > 0 and test in ("lt", "le"):
        last = stop if test == "lt" else k.Op("add", (stop, ONE), INT32)
    elif step < 0 and test in ("gt", "ge"):
        last = stop if test == "gt" else k.Op("sub", (stop, ONE), INT32)
    else:
        return None
    return var, first, last, k.Const(step, INT32)


def _whole(bound: Any, rounding: str) -> Any:
    """A bound of an integer as an integer: ``i < n / 2.0`` is ``i < ceil(n / 2.0)``."""
    if bound.type.is_integer:
        return bound
    if isinstance(bound, k.Const):
        return k.Const(int(getattr(math, rounding)(bound.value.real)), INT32)
    return k.Cast(INT32, k.Op(rounding, (bound,), bound.type))


def _within(first: Any, stop: Any, strictly: bool) -> bool:
    """Whether a counter starts before its end, or below zero and so beyond it: ``n - 1`` before n, 5 before 9."""
    match first, stop:
        case k.Const(value=a), k.Const(value=b):
            return 0 <= a.real < b.real + (not strictly)
        case k.Op(name="sub", args=(size, k.Const(value=c))), _:
            return size == stop and bool(c.real >= int(strictly))
    return first == stop and not strictly


def _by_variable(first: h.Assign, condition: Any, by: Any, body: tuple) -> tuple[str, k.Expr, k.Expr, k.Expr] | None:
    """A loop up to a bound by a step that is a variable: where it ends, the step is positive or no round runs."""
    match condition:
        case k.Op(name="lt" | "le" as test, args=(k.Var(name=name) | k.Cast(arg=k.Var(name=name)), bound)):
            bound = _whole(bound, "ceil" if test == "lt" else "floor")
            stop = normal(bound) if test == "lt" else k.Op("add", (normal(bound), ONE), INT32)
        case _:
            return None
    fixed = {n.name for e in (stop, by) for n in _walk(e) if isinstance(n, k.Var)}
    if (
        name != first.name
        or name in fixed
        or _assigned(body) & (fixed | {name})
        or any(isinstance(n, k.Load) for e in (stop, by) for n in _walk(e))
    ):
        return None
    start: Any = first.value
    low = normal(start)
    return name, low, k.Op("max", (stop, low), INT32), by


def _walk(e: Any):  # type: ignore[no-untyped-def]
    yield e
    for a in getattr(e, "args", ()) or ((e.arg,) if isinstance(e, k.Cast) else ()):
        yield from _walk(a)


def _assigned(body: tuple) -> set[str]:
    found: set[str] = set()
    for s in body:
        if isinstance(s, h.Assign):
            found.add(s.name)
        found |= set(getattr(s, "results", ()))
        for b in h.children(s):
            found |= _assigned(b)
    return found


@dataclass(frozen=True)
class Stepping:
    """A condition that steps a counter on its way: ``n-- > 0``, ``err > tol && ++it < 50``.

    ``plain`` is the condition without the step, ``step`` the step, ``first`` whether it comes before the test, ``gate``
    what must hold for the step to be reached at all; the gate does not look at the counter."""

    plain: Tree
    step: Tree
    first: bool
    name: str
    gate: Tree | None = None


def stepping(test: Node) -> Stepping | None:
    """The parts of a condition that steps a counter, None for any other."""
    inner = strip(test)
    if not isinstance(inner, Tree):
        return None
    found = [t for t in inner.iter_subtrees() if {"++", "--"} & {str(c) for c in t.children}]
    if len(found) != 1:
        return None
    step = found[0]
    name = next(c for c in step.children if isinstance(c, Tree))
    others = [t for t in tokens(inner) if str(t) == callee(name)]
    if not callee(name) or len(others) != 1:
        return None
    chained = ("logical_and_expression", "logical_or_expression")
    gate: Tree | None = None
    if inner.data == "logical_and_expression":
        *before, last = [c for c in inner.children if isinstance(c, Tree)]
        if len(before) != 1:
            return None
        always = any(t is step for t in before[0].iter_subtrees())
        gate, rest = (None, before[0]) if always else (before[0], last)
    else:
        rest = inner
    if any(t.data in (*chained, "conditional_expression") for t in rest.iter_subtrees()):
        return None

    def without(node: Any) -> Any:
        if node is step:
            return name
        return Tree(node.data, [without(c) for c in node.children], node.meta) if isinstance(node, Tree) else node

    return Stepping(without(inner), step, str(step.children[0]) in ("++", "--"), callee(name), gate)


_OTHER = {"add": "sub", "sub": "add"}


def back_step(step: Any) -> h.Assign:
    """``n = n - 1`` of ``n = n + 1``."""
    assert isinstance(step, h.Assign) and isinstance(step.value, k.Op)
    return replace(step, value=replace(step.value, name=_OTHER[step.value.name]))


def before_step(condition: Any, name: str, step: Any) -> Any:
    """A condition that looks at a counter after its step, for the number before it: ``n < most + 1`` of ``n < most``.
    None where it does not compare the counter."""
    match condition:
        case k.Op(name="and", args=(one, other)):
            found = before_step(one, name, step)
            if found is not None:
                return replace(condition, args=(found, other))
            found = before_step(other, name, step)
            return None if found is None else replace(condition, args=(one, found))
        case k.Op(name="lt" | "le" | "gt" | "ge" | "ne", args=(k.Var(name=own) as counter, bound)) if own == name:
            moved = k.Op(step.value.name, (bound, k.Const(1, INT32)), bound.type)
            return replace(condition, args=(counter, moved))
    return None
