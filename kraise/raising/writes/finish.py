"""From raw writes to equations: domains as boxes, dead writes gone, subscripts that may leave an array marked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kraise.analysis.boxes import Unbounded, box
from kraise.analysis.conditions import classify, conjunction
from kraise.analysis.dependence import implied
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import refuse
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import Unmovable, children, free_indices, substitute, topological
from kraise.raising.carried.problem import at_index
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.state import Raw, RawFold, RawNew, RawWrite
from kraise.raising.threads.row_views import asks_for, taken_apart, viewed
from kraise.raising.threads.tiles import Launch, merged_reductions, merged_write, without_ceilings
from kraise.raising.writes.behind_round import from_first
from kraise.raising.writes.decided import decided
from kraise.raising.writes.extremal import by_value, extremal
from kraise.raising.writes.halos import rejoined
from kraise.raising.writes.masks import axes_bounds, bounds
from kraise.raising.writes.portions import in_one
from kraise.raising.writes.rolled import Lengths, rolled
from kraise.raising.writes.steps import in_steps

Shapes = dict[str, tuple[eq.Expr, ...]]
Names = dict[eq.Expr, eq.Name]
NO_LAUNCH = Launch()


def finish(
    raws: list[Raw],
    shapes: Shapes,
    folds: tuple[eq.Axis, ...] = (),
    launch: Launch = NO_LAUNCH,
    names: Names | None = None,
) -> tuple[eq.Stmt, ...]:
    """The equations of ``raws`` in order; ``shapes`` are those of the arrays that the kernel makes, ``folds`` the
    indices of the folds around; ``names``, those of the source, get what becomes of the values that have one.

    Raises:
        Refused: a domain has no bound that is known when the function is traced.
        Unbounded: that index is a thread's, and the launch may bound it.
    """
    return tuple(_one(r, shapes, folds, launch, names) for r in extremal(raws))


def _one(r: Raw, shapes: Shapes, folds: tuple[eq.Axis, ...], launch: Launch, names: Names | None) -> eq.Stmt:
    match r:
        case RawWrite():
            made = _write(r, shapes, folds, launch)
            if names is not None:
                _follow(names, r.value, made.value)
            return made
        case RawNew(stmt):
            return stmt
        case RawFold(fold, body):
            inner = folds if fold.axis is None else (*folds, fold.axis)
            return replace(fold, body=finish(list(body), shapes, inner, launch, names))


def _follow(names: Names, old: eq.Expr, new: eq.Expr) -> None:
    """Gives the parts of ``new`` the names that those in their places in ``old`` have: over two indices made one, a
    value is another expression."""
    seen: set[tuple[eq.Expr, eq.Expr]] = set()
    stack = [(old, new)]
    while stack:
        pair = old, new = stack.pop()
        if old is new or pair in seen:
            continue
        match pair:
            case (eq.Op(name=one), eq.Op(name=other)) if one == other:
                pass
            case (eq.Cast(), eq.Cast()):
                pass
            case _:
                continue
        seen.add(pair)
        if old in names:
            names.setdefault(new, replace(names[old], expr=new))
        stack += zip(children(old), children(new), strict=False)


def _write(r: RawWrite, shapes: Shapes, folds: tuple[eq.Axis, ...], launch: Launch) -> eq.Write:
    steps = tuple(a.name for a in folds)
    r = _within_launch(rejoined(_by_its_thread(r)), launch)
    apart, r = r, merged_write(in_steps(r), launch)
    r = _begun_by_launch(r, launch)
    try:
        found = box(r.loops, r.path, steps)
    except Unbounded as unbounded:
        own = [{c for c in x.path if unbounded.name in free_indices(c)} for x in (apart, r)]
        if unbounded.name in apart.loops and own[0] == own[1]:
            raise  # an index that is none of two in one
        r = apart  # tells which of the thread's own indices the launch must bound
        found = box(r.loops, r.path, steps)
    # what the loops around say of their own indices is no condition
    around = bounds(folds)
    axes, residue = found.axes, tuple(c for c in found.residue if c not in launch.facts and not _said(c, around, steps))
    # an index with one value is that value
    single: dict[eq.Index, eq.Expr] = {}
    for a in axes:
        count = (to_poly(a.hi) - to_poly(a.lo)).value
        if count is not None and 1 <= count <= a.step and not _kept_along(r, a.name):
            single |= dict.fromkeys(_index_nodes(r, a.name), a.lo)
    subs, value, path = r.subscripts, r.value, r.path
    if single:

        def fn(e: eq.Expr) -> eq.Expr:
            for index, target in single.items():
                e = at_index(e, index, target)
            return tidy(e)

        subs, value, path = tuple(map(fn, subs)), fn(value), tuple(map(fn, path))
        residue = tuple(c for c in map(fn, residue) if not (isinstance(c, eq.Const) and c.value))
        axes = tuple(a for a in axes if a.name not in {i.name for i in single})
        if residue:  # what held two indices may bound the one that is left
            path = without_ceilings(tuple(c for c in path if not (isinstance(c, eq.Const) and c.value)))
            found = box(tuple(a.name for a in axes), path, steps)
            axes, residue = found.axes, tuple(c for c in residue if c in found.residue)
        residue = tuple(c for c in residue if not _said(c, around, steps))
    axes = from_first(axes, subs, (value, *residue), (*around, *residue))
    value = in_one(merged_reductions(decided(rolled(value), path), path), path)
    subs = tuple(decided(sub, path) for sub in subs)  # of cells that are stored to
    by_axes = tuple(c for c in path if c not in residue)
    residue = tuple(decided(c, by_axes) for c in residue)
    where = conjunction(finished(residue))  # a sum that is compared is the one that is stored
    _named(r, axes, (*subs, value, *residue))
    known = (*path, *launch.facts, *axes_bounds(value))
    value = viewed(value, known, where is not None)
    rows = taken_apart(subs[0], known) if len(subs) == 1 and not r.view and where is None else None
    if rows is not None:
        subs, r = rows[0], replace(r, view=rows[1])
    full = where is None and not r.accumulate and covers(axes, subs, r.after.array, shapes)
    return eq.Write(r.before, r.after, axes, subs, value, where, r.accumulate, full, r.view, span=r.span)


def _within_launch(r: RawWrite, launch: Launch) -> RawWrite:
    """A store by each thread of the launch, where no guard says how many there are: a thread that is bound with a block
    or another thread only (``b + t < n``), and, where each adds once more, one that starts at its own number (``for (j
    = t; j < n; j += 32)``), whom j alone bounds."""
    limits = [
        c
        for c in (*r.path, *launch.facts)
        if len(free_indices(c)) == 1 and asks_for((c,), ("block.", "grid.", "threads."))
    ]
    hardware = frozenset().union(*map(free_indices, limits))
    within = [c for c in r.path if free_indices(c) <= hardware]
    begun = {
        n for n in _own(limits) if any(_at_end_of(n, c, r) for c in r.path) and not any(_only(c, n) for c in within)
    }
    if r.accumulate not in ("", "min", "max", "and", "or"):
        told = {n for c in within for n in free_indices(c) if _above(c, n)}
        ends = [c for c in r.path if not free_indices(c) <= hardware and _begins(c, r.path, hardware)]
        begun |= {n for c in ends for n in free_indices(c) & hardware if _above(c, n)} - told
    more = [c for c in launch.facts if c in limits and free_indices(c) & begun and _above(c, *free_indices(c))]
    more = [c for c in more if free_indices(c) <= set(r.loops)]
    return replace(r, path=(*r.path, *more)) if more else r


def _begun_by_launch(r: RawWrite, launch: Launch) -> RawWrite:
    """A store that the blocks make in loops from their own numbers on (``for (r = blockIdx.x; r < n; r += 16)``), whose
    cell does not name the block: the loop's end says nothing of how many blocks there are, but the launch does.

    Raises:
        Unbounded: nothing is known of the launch yet.
    """
    named = frozenset().union(*map(free_indices, r.subscripts))
    for name in (n for n in r.loops if n in launch.hardware and n not in named):
        tops = [c for c in r.path if _above(c, name)]
        if tops and all(any(_side(c, o) > 0 for o in free_indices(c) - launch.hardware) for c in tops):
            limits = [c for c in launch.facts if _only(c, name)]
            if not limits:
                raise Unbounded(name, "upper")
            r = replace(r, path=(*r.path, *limits))
    return r


def _own(limits: list[eq.Expr]) -> set[str]:
    """The indices that a thread has in its block: a launch does not cover a range with them as it does with blocks."""
    return {n for c in limits for n in free_indices(c) if not asks_for((c,), ("grid.", "threads.")) and _above(c, n)}


def _at_end_of(name: str, condition: eq.Expr, r: RawWrite) -> bool:
    """Whether it bounds the sum of an index and others from above, where what is stored is not that of the sum."""
    others = [o for o in free_indices(condition) - {name} if _above(condition, o)]
    if not others or not _above(condition, name):
        return False
    total = {eq.Index(name, INT): to_expr(Poly({(eq.Index(name, INT),): 1}) - Poly({(eq.Index(others[0], INT),): 1}))}
    try:
        stored = [tidy(substitute(e, total)) for e in (*r.subscripts, r.value)]
    except Unmovable:  # a running value of the threads is no value of the sum
        return True
    return any(others[0] in free_indices(e) for e in stored)


def _only(condition: eq.Expr, name: str) -> bool:
    return free_indices(condition) == {name} and _above(condition, name)


def _begins(condition: eq.Expr, path: tuple[eq.Expr, ...], hardware: frozenset[str]) -> bool:
    """Whether a loop's index has this end only: a thread's number is where the loop begins or what it goes up to, where
    a loop with ends of its own makes it a guard (``8 * b + j < n`` with j < 8)."""
    free = [c for c in path if c != condition and not free_indices(c) & hardware]
    return any(
        not any(_side(c, name) == side for c in free)
        for name in free_indices(condition) - hardware
        if (side := _side(condition, name))
    )


def _above(condition: eq.Expr, name: str) -> bool:
    """Whether it bounds an index from above."""
    return _side(condition, name) < 0


def _side(condition: eq.Expr, name: str) -> int:
    """1 where it bounds an index from below, -1 from above, 0 where it does not (or not by a known number of it)."""
    fact = classify(condition)
    if fact is None or fact.kind != "ge":
        return 0
    own = next((a for a in fact.poly.atoms() if isinstance(a, eq.Index) and a.name == name), None)
    times = (fact.poly.coefficient(own).value or 0) if own is not None else 0
    return (times > 0) - (times < 0)


def _by_its_thread(r: RawWrite) -> RawWrite:
    """``if (t == k) xs[k] = acc`` of what a loop carries along t, as ``xs[t] = acc``: the thread names its cell."""
    named = frozenset().union(*map(free_indices, r.subscripts))
    for name in r.loops:
        if r.accumulate or name in named or not _kept_along(r, name):
            continue
        index = eq.Index(name, INT)
        for fact in map(classify, r.path):
            if fact is None or fact.kind != "eq" or (c := fact.poly.coefficient(index).value) not in (1, -1):
                continue
            own = fact.poly.without(index) * -c  # type: ignore[operator]
            for at, s in enumerate(r.subscripts):
                if s.type.is_integer and to_poly(s) == own:
                    return replace(r, subscripts=(*r.subscripts[:at], index, *r.subscripts[at + 1 :]))
    return r


def _named(r: RawWrite, axes: tuple[eq.Axis, ...], used: tuple[eq.Expr, ...]) -> None:
    """An index that may have one value or none is in the subscripts of what is stored.

    Raises:
        Refused: a thread that may be there or not, such as number 63 of a block of any size.
    """
    subs = frozenset().union(*map(free_indices, used[: len(r.subscripts)]))
    held = frozenset().union(*map(free_indices, used[len(r.subscripts) :]))
    if not r.accumulate and any(a.name in held - subs and _at_most_one(a) for a in axes):
        reason = "whether a thread is there that stores this depends on the size of the block"
        raise refuse("KR306", reason, r.span, "say how many threads a block has: __launch_limits_ or a constant")


def _at_most_one(a: eq.Axis) -> bool:
    if not any(isinstance(n, eq.Param) and n.name.startswith("block.") for n in topological((a.hi,))):
        return False
    return (
        isinstance(a.hi, eq.Op)
        and a.hi.name == "min"
        and any((to_poly(n) - to_poly(a.lo)).value == 1 for n in a.hi.args)
    )


def finished(values: Iterable[eq.Expr]) -> list[eq.Expr]:
    """What becomes of values in a write that knows nothing more of them."""
    lengths: Lengths = {}
    memo: dict[eq.Expr, eq.Expr] = {}
    return [in_one(merged_reductions(rolled(by_value(v), lengths), (), memo), ()) for v in values]


def _said(condition: eq.Expr, around: tuple[eq.Expr, ...], steps: tuple[str, ...]) -> bool:
    names = free_indices(condition)
    return bool(names) and names <= set(steps) and implied(around, condition)


def _kept_along(r: RawWrite, name: str) -> bool:
    """Whether a result of a fold is kept along the index: it can then not be replaced by its one value."""
    nodes = topological((*r.subscripts, r.value, *r.path))
    return any(isinstance(n, eq.FoldResult | eq.CarryIn) and any(a.name == name for a in n.axes) for n in nodes)


def _index_nodes(r: RawWrite, name: str) -> set[eq.Index]:
    roots = (*r.subscripts, r.value, *r.path)
    return {n for n in topological(roots) if isinstance(n, eq.Index) and n.name == name}


def covers(axes: tuple[eq.Axis, ...], subs: tuple[eq.Expr, ...], array: str, shapes: Shapes) -> bool:
    """Every cell: each subscript an index of its own that runs over the whole extent."""
    if len(axes) != len(subs) or len({id(s) for s in subs}) != len(subs):
        return False
    by_name = {a.name: a for a in axes}
    for d, s in enumerate(subs):
        if not isinstance(s, eq.Index) or s.name not in by_name:
            return False
        a = by_name[s.name]
        if to_poly(a.lo).value != 0 or a.step != 1:
            return False
        extent = shapes[array][d] if array in shapes else eq.Shape(array, d, INT)
        if to_poly(a.hi) != to_poly(extent):
            return False
    return True


__all__ = ["Unbounded", "covers", "finish", "finished"]
