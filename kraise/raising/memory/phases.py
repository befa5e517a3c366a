"""Barriers: what they order, and where they may stand (raising.md, step 3).

All threads run a statement before the next one starts, so a barrier changes nothing in the symbolic run: it only tells
the race check which accesses of different threads are ordered. Every access carries, for the rounds and branches with
barriers that are under way, how many barriers were passed in each, and how many of these were the whole grid's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from kraise.analysis.conditions import classify, is_static
from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly
from kraise.diagnostics import Refused, refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, substitute
from kraise.raising.memory.whole_blocks import uniform
from kraise.raising.run.arithmetic import operation, tidy
from kraise.raising.run.context import Context
from kraise.raising.run.state import State
from kraise.raising.writes.accumulate import mentions

BARRIER = "$barrier"  # the array that a barrier is an access of: its path takes part in every rewriting
BLOCK, GRID, WARP = 1, 2, 3  # whose barriers are counted: the place of their number in Access.passed


def barrier(cx: Context, st: State, s: k.Barrier) -> None:
    """Passes a barrier. One of a warp orders its lanes, if all of them are seen to come to it; else it orders nothing
    here, and what it would order counts as a race."""
    *outer, (level, count, whole, steps) = st.passed
    if s.scope == "warp":
        if _in_step(cx, st):
            st.passed = (*outer, (level, count, whole, steps + 1))
            cx.stepping = True
        return
    st.passed = (*outer, (level, count + 1, whole + (s.scope == "grid"), steps + 1))
    cx.meetings |= s.scope == "grid"
    st.order += 1
    st.accesses.append(Access(BARRIER, (), st.path, False, s.scope, order=st.order, folds=st.folds, span=s.span))


def _in_step(cx: Context, st: State) -> bool:
    """Whether the lanes of a warp are indices of their own here, and come here all or none."""
    lanes = cx.lanes()
    return bool(lanes) and not any(
        (free_indices(c) & lanes or mentions(c, (eq.CarryIn, eq.FoldResult))) and c not in cx.launch_path
        for c in st.path
    )


def has_barrier(cx: Context, stmts: object, steps: bool = False) -> bool:
    """Whether a barrier of the block (``steps``: or of a warp) occurs in ``stmts`` or in what they call."""
    functions = {f.name: f for f in cx.module.functions}
    stack: list[object] = [stmts]
    while stack:
        x = stack.pop()
        match x:
            case k.Barrier(scope=scope):
                if steps or scope != "warp":
                    return True
            case tuple() | list():
                stack.extend(x)
            case k.If(body=a, orelse=b):
                stack += [a, b]
            case k.For(body=a) | k.While(body=a):
                stack.append(a)
            case k.CallStmt(function=name):
                if name in functions:
                    stack.append(functions[name].body)
    return False


def cooperative(cx: Context) -> bool:
    """Whether the threads of a block do something together: the kernel, or what it calls, has shared arrays (their
    names go to ``cx.shared``), warp primitives, or barriers of the block."""
    stack: list[object] = [*cx.bodies()]
    found = False
    while stack:
        x = stack.pop()
        if isinstance(x, k.LocalArray) and x.space == "shared":
            cx.shared.add(x.name)
        found = found or isinstance(x, k.Warp) or (isinstance(x, k.Barrier) and x.scope == "block")
        if isinstance(x, tuple | list):
            stack.extend(x)
        elif hasattr(x, "__dataclass_fields__"):
            stack.extend(getattr(x, f) for f in x.__dataclass_fields__ if f not in ("span", "type"))
    return found or bool(cx.shared)


@contextmanager
def level(cx: Context, st: State, body: object, index: str = "", step: int = 0) -> Iterator[None]:
    """The rounds of a loop (or, without an index, a branch): barriers in it are counted on their own. ``step``: from
    one round's index to the next one's, 0 where that is not known."""
    if not has_barrier(cx, body, steps=bool(cx.lanes())):
        yield
        return
    name = f"{index}#{len(cx.barriers)}"
    cx.barriers[name] = (0, 0, 0)
    if index:
        cx.rounds[name] = index
        cx.steps[name] = step
    outer = st.passed
    st.passed = (*outer, (name, 0, 0, 0))
    yield
    cx.barriers[name] = st.passed[-1][1:]
    st.passed = outer


def uniform_barriers(cx: Context, accesses: list[Access]) -> None:
    """Refuses a barrier that some threads of a block (a barrier of the grid: some threads) may pass and others not.

    Raises:
        Refused: KR206.
    """
    inside = {t for t in cx.thread_names if t not in cx.blocks}
    found: dict[object, Refused] = {}
    for a in accesses:
        if a.array != BARRIER:
            continue
        moving = inside if a.accumulate != "grid" else {*inside, *cx.blocks}
        whole = a.accumulate != "grid"
        if any(
            free_indices(c) & moving
            and c not in cx.launch_path
            and not (uniform(cx, c, inside) if whole else free_indices(c) & inside and _ends_launch(c, moving))
            for c in a.path
        ):
            found.setdefault(
                a.span,
                refuse(
                    "KR206",
                    "not all threads of a block reach this barrier: it stands under a condition that differs",
                    a.span,
                    "put the barrier outside the condition and guard the accesses instead",
                ),
            )
    if found:
        raise Refused(*(d for r in found.values() for d in r.diagnostics))


def _ends_launch(condition: eq.Expr, moving: set[str]) -> bool:
    """Whether a condition says no more than how many threads there are, ``i < n``: a launch with others, of which some
    never come to the grid's barrier, is not defined."""
    fact = classify(condition)
    if fact is None or fact.kind != "ge":
        return False
    indices = fact.poly.indices()
    own = [fact.poly.coefficient(eq.Index(n, INT)).value for n in indices]
    rest = Poly({m: c for m, c in fact.poly.terms.items() if not Poly({m: c}).indices()})
    return indices <= moving and is_static(rest) and all(c is not None and c < 0 for c in own)


# --- what is ordered -------------------------------------------------------------------------


@dataclass(frozen=True)
class Unordered:
    """A case in which no barrier lies between two accesses: the loop indices that have one value in both, and the one
    whose value is ``step`` further in the ``later`` of the two ("" for none)."""

    same: frozenset[str]
    index: str = ""
    step: int = 0
    later: Access | None = None

    def of(self, a: Access) -> Access:
        """``a``, its index moved on if it is the later one."""
        if a is not self.later or not self.index:
            return a
        index = eq.Index(self.index, INT)
        on = {index: operation("add", (index, eq.Const(self.step, INT)), INT)}
        return replace(
            a,
            subscripts=tuple(tidy(substitute(s, on)) for s in a.subscripts),
            path=tuple(tidy(substitute(c, on)) for c in a.path),
            whole=tuple(tidy(substitute(s, on)) for s in a.whole),
        )


def unordered(cx: Context, a: Access, b: Access, scope: int = BLOCK) -> list[Unordered]:
    """For two accesses by different threads of one ``scope``: the cases in which no barrier of it lies between. (One of
    the block is one of its warps, too.)

    Where every round passes a barrier, only two rounds that follow each other may be without one between.
    """
    if not a.passed or not b.passed or (len(a.passed) == 1 and a.passed == b.passed):
        return [Unordered(frozenset())]
    if b.order < a.order:
        a, b = b, a
    common = 0
    while common < min(len(a.passed), len(b.passed)) and a.passed[common][0] == b.passed[common][0]:
        common += 1
    last = common - 1
    indices = [cx.rounds[level[0]] for level in a.passed[:common] if level[0] in cx.rounds]
    out: list[Unordered] = []
    same = a.passed[last][scope] == b.passed[last][scope]
    if same and not _after(cx, a, common, scope) and not _before(b, common, scope):
        out.append(Unordered(frozenset(indices)))
    for at in range(1, common):
        uid = a.passed[at][0]
        if uid not in cx.rounds:
            continue
        outer = frozenset(cx.rounds[level[0]] for level in a.passed[:at] if level[0] in cx.rounds)
        # the index of a loop in strides of the threads is thread and round in one
        each = cx.steps[uid] and cx.barriers[uid][scope - 1] > 0 and a is not b and cx.rounds[uid] not in cx.strides
        for first, second in ((a, b), (b, a)):
            if not _after(cx, first, at, scope) and not _before(second, at, scope):
                index = cx.rounds[uid]
                out.append(Unordered(outer | {index}, index, cx.steps[uid], second) if each else Unordered(outer))
                if not each:
                    break
    return out


def _after(cx: Context, a: Access, start: int, scope: int) -> bool:
    """Whether a barrier follows ``a`` in the rounds that are under way from level ``start`` on."""
    return any(cx.barriers[level[0]][scope - 1] > level[scope] for level in a.passed[start:])  # type: ignore[operator]


def _before(a: Access, start: int, scope: int) -> bool:
    """Whether a barrier precedes ``a`` in its rounds from level ``start`` on."""
    return any(level[scope] > 0 for level in a.passed[start:])  # type: ignore[operator]


__all__ = [
    "BARRIER",
    "BLOCK",
    "GRID",
    "WARP",
    "Unordered",
    "barrier",
    "has_barrier",
    "level",
    "uniform_barriers",
    "unordered",
]
