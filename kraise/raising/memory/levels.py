"""Cells that go from one number to another within a phase, where others only ask what both numbers answer alike.

Breadth-first search by levels, in place: ``if (dist[v] == level) for (u next to v) if (dist[u] == -1) { dist[u] =
level + 1; *changed = 1; }``. A thread may see either number in a cell that another one stores to. Where it asks whether
the cell is the old number, it does what the other one has done already: each store under that condition depends on the
cell alone, not on who comes there. What else is asked (``dist[v] == level``) has one answer for both numbers; what that
takes of the parameters (level must not be -1) is said, and checked by the checked module. So every load may find what
was there before the phase.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kraise.analysis.conditions import negate
from kraise.analysis.poly import to_poly
from kraise.analysis.ranks import ANSWERS
from kraise.ir import equations as eq
from kraise.ir.operations import TURNED
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL
from kraise.ir.walk import children, free_indices, substitute, topological
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawFold, RawNew, RawWrite, expressions, flat


@dataclass(frozen=True)
class _Step:
    """The stores of an array: each under ``guards`` (by the version stored), from the ``old`` to the ``new`` number."""

    guards: dict[eq.Version, eq.Expr]
    old: eq.Expr
    new: eq.Expr


def set_once(cx: Context, raws: Sequence[Raw], values: Iterable[eq.Expr], array: str) -> bool:
    """Whether the stores to ``array`` among ``raws`` leave all that is asked of it elsewhere as it was; ``values`` are
    more expressions in which its loads may occur."""
    every = flat(raws)
    step = _step(every, array)
    if step is None:
        return False
    relied: dict[eq.Expr, None] = {}
    for r in every:
        if not isinstance(r, RawWrite):
            if not isinstance(r, RawNew) and not all(
                _asks(e, array, step, relied) for e in expressions(RawFold(r.fold, ()))
            ):
                return False
            continue
        guards = [g for g in step.guards.values() if g in r.path]
        if len(guards) > 1 or (guards and not _of_the_cell(r, guards[0], every, step)):
            return False
        rest = [c for c in r.path if c not in guards]
        if not all(_asks(e, array, step, relied) for e in (*rest, *r.subscripts, r.value, *r.view)):
            return False
    if not all(_asks(e, array, step, relied) for e in values):
        return False
    for condition in relied:
        text = _said(condition)
        if text not in cx.assumptions:
            cx.assumptions.append(text)
            cx.relied.append(eq.Check(text, condition))
    return True


def _step(raws: Iterable[Raw], array: str) -> _Step | None:
    guards: dict[eq.Version, eq.Expr] = {}
    numbers: set[tuple[eq.Expr, eq.Expr]] = set()
    for r in raws:
        if not isinstance(r, RawWrite) or r.after.array != array:
            continue
        found = next(((c, old) for c in r.path if (old := _old(c, r)) is not None), None)
        if found is None or r.accumulate or not _uniform(r.value) or not _uniform(found[1]):
            return None
        guards[r.after] = found[0]
        numbers.add((found[1], r.value))
    return _Step(guards, *numbers.pop()) if len(numbers) == 1 else None


def _old(c: eq.Expr, r: RawWrite) -> eq.Expr | None:
    """The number that a condition says to be in the very cell that is stored to."""

    def own(e: eq.Expr) -> bool:
        return isinstance(e, eq.Read) and (e.version.array, e.subscripts, e.view) == (
            r.after.array,
            r.subscripts,
            r.view,
        )

    match c:
        case eq.Op(name="eq", args=(a, b)):
            return b if own(a) else a if own(b) else None
        case eq.Op(name="not", args=(a,)) if own(a) and a.type.kind == "bool":
            return eq.Const(False, BOOL)
    return None


def _uniform(e: eq.Expr) -> bool:
    return not free_indices(e) and not any(
        isinstance(n, eq.Read | eq.CarryIn | eq.FoldResult | eq.HelperCall) for n in topological((e,))
    )


def _of_the_cell(r: RawWrite, guard: eq.Expr, raws: Iterable[Raw], step: _Step) -> bool:
    """Whether a store under a guard is made wherever the array's is, and is the same whoever makes it."""
    setter = next(s for s in raws if isinstance(s, RawWrite) and step.guards.get(s.after) is guard)
    if r.accumulate or set(r.path) != set(setter.path):
        return False
    places: dict[eq.Expr, eq.Expr] = {
        s: eq.Param(f"$place{at}", s.type) for at, s in enumerate(setter.subscripts) if free_indices(s)
    }
    return all(not free_indices(substitute(e, places)) for e in (*r.subscripts, r.value))


def _asks(e: eq.Expr, array: str, step: _Step, relied: dict[eq.Expr, None]) -> bool:
    """Whether all that ``e`` asks of the array has one answer for both numbers; ``relied`` gets what that takes."""
    seen: set[eq.Expr] = set()
    todo = [e]
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        match node:
            case eq.Read(version=version) if version.array == array:
                return False
            case eq.Op(name=name, args=(a, b)) if name in ANSWERS:
                for read, other, how in ((a, b, name), (b, a, TURNED.get(name, name))):
                    if isinstance(read, eq.Read) and read.version.array == array and _uniform(other):
                        if not _alike(how, step, other, relied):
                            return False
                        todo += read.subscripts
                        break
                else:
                    todo += children(node)
                continue
        todo += children(node)
    return True


def _alike(name: str, step: _Step, other: eq.Expr, relied: dict[eq.Expr, None]) -> bool:
    if not (step.old.type.is_integer and step.new.type.is_integer and other.type.is_integer):
        return False
    gaps = [(to_poly(number) - to_poly(other)).value for number in (step.old, step.new)]
    answers = [None if gap is None else ANSWERS[name](gap) for gap in gaps]
    if None not in answers:
        return answers[0] == answers[1]
    if answers == [None, None]:
        return False
    known = answers[1] if answers[0] is None else answers[0]
    asked = step.old if answers[0] is None else step.new
    turned = eq.Op(TURNED.get(name, name), (other, asked), BOOL)
    needed = turned if known else negate(turned)
    if not (isinstance(needed, eq.Op) and needed.name == "ne"):
        return False  # what few parameters meet is no precondition that the source implies
    relied[needed] = None
    return True


def _said(condition: eq.Expr) -> str:
    match condition:
        case eq.Op(name="ne", args=(a, b)):
            return f"{render_expr(a)} must not be {render_expr(b)}"
    return f"{render_expr(condition)} must hold"


__all__ = ["set_once"]
