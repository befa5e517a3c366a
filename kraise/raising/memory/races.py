"""Races between threads (raising.md, step 3; contract, section 3).

Between barriers, instances of different threads must not touch one cell unless both read it, both take the same
atomic to it, or both write the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from kraise.analysis.ascents import lookups
from kraise.analysis.delinearize import Digits, digits
from kraise.analysis.dependence import Access, Question, may_meet
from kraise.analysis.halves import cases
from kraise.analysis.meeting import meeting
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.analysis.ranks import ranks_of
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute, topological
from kraise.raising.checked import rely_on_order
from kraise.raising.memory.benign import stays
from kraise.raising.memory.levels import set_once
from kraise.raising.memory.phases import BARRIER, BLOCK, GRID, WARP, Unordered, unordered
from kraise.raising.memory.race_refusals import refusal
from kraise.raising.ragged.own_places import by_places
from kraise.raising.run.arithmetic import index_like, tidy
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw
from kraise.raising.threads.row_views import by_launch
from kraise.raising.writes.accumulate import mentions


def check(
    cx: Context,
    accesses: list[Access],
    threads: tuple[str, ...],
    shared: frozenset[str] = frozenset(),
    used: Callable[[], Sequence[eq.Expr]] = tuple,
    raws: Sequence[Raw] = (),
) -> None:
    """Refuses a kernel in which two threads may meet at one cell; ``shared`` are the arrays that each block has of
    its own, ``used`` the expressions that may hold what is loaded, ``raws`` all that is stored.

    Raises:
        Refused: KR201 (a race) or KR202 (a plain store through an index array).
    """
    if not threads:
        return
    by_array: dict[str, list[Access]] = {}
    for a in accesses:
        if a.array != BARRIER:
            by_array.setdefault(a.array, []).append(replace(a, path=(*a.path, *_facts(cx, a))))
    found: dict[tuple[object, ...], Refused] = {}
    for group in by_array.values():
        begun = dict(found)
        if any(a.write for a in group):
            group = [by_places(cx, a) for a in group]
        by_thread = _by_thread(cx, group)
        if by_thread is not group and _places_of_their_own(group, threads):
            continue
        group = _rows_apart(by_thread)
        unique = list({(_signature(a), a.order if cx.barriers else 0): a for a in group}.values())
        for at, w in enumerate(unique):
            if not w.write:
                continue
            for place, other in enumerate(unique):
                if other.write and place < at:
                    continue
                if w.atomic and other.atomic and w.accumulate == other.accumulate:
                    continue
                if _same_value(cx, w, threads, w.array in shared) if w is other else _one_number(w, other):
                    continue
                running = _running(w, other, threads)
                _ordered(cx, w)
                met = _meet(cx, w, other, running, w.array in shared)
                if met is not None and other.write and _in_order(cx, w, other):
                    met = _meet(cx, w, other, running, w.array in shared)
                    _rely_on_order(cx, w, other, met is None)
                if met is not None and _apart_by_cases(cx, w, other, running, w.array in shared):
                    met = None
                if met is not None and w.array in cx.once and other.write and not (w.atomic or other.atomic):
                    cx.said_once |= {w.array}
                    met = None
                kept = met is None or stays(cx, w, other, used) or stays(cx, other, w, used)
                if met is not None and not kept and (w.array, w.span) not in found:
                    found[w.array, w.span] = refusal(
                        w, other, running, met(), w.array in shared, bool(cx.barriers) and not cx.tile
                    )
        if len(found) > len(begun) and set_once(cx, raws, (), group[0].array):
            found = begun
    if found:
        raise Refused(*(d for r in found.values() for d in r.diagnostics))


def _ordered(cx: Context, w: Access) -> None:
    """A rank by floats takes each value once where they have an order: that no NaN is among them is taken for granted,
    and said."""
    for r in ranks_of(w.subscripts, w.path).values():
        if r.key.type.is_integer:
            continue
        names = sorted({n.version.array for n in topological((r.key,)) if isinstance(n, eq.Read)})
        text = f"{' and '.join(names)} must hold no NaN"
        if text not in cx.assumptions and names:
            cx.assumptions.append(text)
            if free_indices(r.key) == {r.axis.name}:
                same = eq.Op("eq", (r.key, r.key), BOOL)
                cx.relied.append(eq.Check(text, eq.Reduce("and", (r.axis,), same, None, BOOL)))


def _in_order(cx: Context, w: Access, other: Access) -> bool:
    """Whether stores go where searches of one array for the elements of another say: these are taken to be sorted."""
    cx.sorted = frozenset(r.version.array for r in lookups((*w.subscripts, *other.subscripts)).values())
    return bool(cx.sorted)


def _rely_on_order(cx: Context, w: Access, other: Access, proved: bool) -> None:
    """Says that the elements that are looked up are sorted, where that has ``proved`` it."""
    for r in lookups((*w.subscripts, *other.subscripts)).values() if proved else ():
        text = f"{r.version.array} must be sorted{'' if r.type.is_integer else ', with no NaN in it'}"
        if not any(said.startswith(f"{r.version.array} must be sorted") for said in cx.assumptions):
            rely_on_order(cx, r.version, r.type, text)
    cx.sorted = frozenset()


def _meet(cx: Context, w: Access, other: Access, running: tuple[str, ...], shared: bool) -> Callable[[], str] | None:
    """Whether two threads may touch one cell with no barrier between: threads of one block that no barrier orders, or
    threads of different blocks, which only one of the grid does. If so, what says where, in words."""
    blocks = tuple(b for b in cx.blocks if b in running)
    if not shared and not cx.barriers and len(w.passed) == 1 and w.passed == other.passed:
        met = may_meet(w, other, running, frozenset(), injective=cx.injective, sorted_=cx.sorted)
        return partial(meeting, w, other, running, frozenset()) if met else None
    inside = tuple(n for n in running if n not in blocks)
    lanes = tuple(n for n in inside if n in cx.lanes()) if cx.stepping else ()
    warps = tuple(n for n in inside if n not in lanes)
    ways = [(BLOCK, warps, frozenset(cx.blocks))]
    ways += [(WARP, lanes, frozenset((*cx.blocks, *warps)))] if lanes else []
    for scope, apart, alike in () if w.together and w.together == other.together else ways:
        for case in unordered(cx, w, other, scope):
            if cx.unroll and shared and apart_by_numbers(cx, w, other):
                continue
            a, b, shared_by = _then(case, w, other)
            same = alike | shared_by
            met = may_meet(a, b, apart, same, injective=cx.injective, sorted_=cx.sorted)
            if met and not (shared and not cx.unroll and apart_by_numbers(cx, w, other)):
                return partial(meeting, a, b, apart, same)
    if shared or not cx.blocks:
        return None
    apart = cx.blocks if cx.tiles_are_exact() else running
    for case in unordered(cx, w, other, GRID) if cx.meetings else [Unordered(frozenset())]:
        a, b, same = _then(case, w, other)
        if may_meet(a, b, apart, same, injective=cx.injective, sorted_=cx.sorted):
            return partial(meeting, a, b, apart, same)
    return None


def _apart_by_cases(cx: Context, w: Access, other: Access, running: tuple[str, ...], shared: bool) -> bool:
    """Whether no two threads meet whichever of two numbers a subscript is for each."""
    own, others = cases(w), cases(other)
    if len(own) == len(others) == 1:
        return False
    return all(_meet(cx, a, b, running, shared) is None for a in own for b in others)


def _then(case: Unordered, w: Access, other: Access) -> tuple[Access, Access, frozenset[str]]:
    """The two accesses, the later one a round further on, and the indices that they share."""
    try:
        return case.of(w), case.of(other), case.same
    except ValueError:  # it asks what a loop carries, which is not said of another round: any two rounds
        return w, other, case.same - {case.index}


def apart_by_numbers(cx: Context, w: Access, other: Access) -> bool:
    """Whether no two threads of a block, whose size is a number, meet: tried out for every pair (``t ^ 16``).

    Conditions that data decide are left out, which asks for more than there is.
    """
    from kraise.raising.collective.cells import touched  # loads numpy

    if w.view != other.view or len(w.subscripts) != len(other.subscripts):
        return False  # cells of rows, and of the flat array: they have other names
    first, second = touched(cx, w), touched(cx, other)
    if first is None or second is None:
        return False
    mine: dict[tuple[int, ...], set[int]] = {}
    for thread, cell in first:
        mine.setdefault(cell, set()).add(thread)
    return all(mine.get(cell, {thread}) == {thread} for thread, cell in second)


def _facts(cx: Context, a: Access) -> tuple[eq.Expr, ...]:
    """What the launch implies of the indices of ``a``, and of sizes."""
    names = frozenset().union(*(free_indices(c) for c in (*a.path, *a.subscripts)))
    held = {n for n in topological((*a.path, *a.subscripts)) if isinstance(n, eq.Read)}
    tables = tuple(c for c in cx.of_tables if isinstance(c, eq.Op) and c.args[0] in held)
    return (*(c for c in cx.facts if not free_indices(c) or free_indices(c) & names), *tables)


def _by_thread(cx: Context, group: list[Access]) -> list[Access]:
    """Accesses under an index that is thread and rounds in one, beside others under the thread's own index (or another
    such index): the thread and the round apart, so that a thread is seen to meet itself."""
    used = [frozenset().union(*(free_indices(e) for e in (*a.path, *a.subscripts))) for a in group]
    every = frozenset().union(*used)
    merged = sorted(every & set(cx.strides))
    digits_of = [d for m in merged for d in cx.strides[m].digits]
    known = dict(digits_of)
    if not merged or (len(digits_of) == len(known) and not known.keys() & every):
        return group
    group = _from_zero(group, frozenset(merged))
    out = []
    for a, names in zip(group, used, strict=True):
        own = {t: size for t, size in known.items() if t in names}
        out.append(_expanded(cx, a, [m for m in merged if m in names], own))
    return out


def _places_of_their_own(group: list[Access], threads: tuple[str, ...]) -> bool:
    """Whether each cell is one element's, whichever thread has that: no two values of the indices that are thread and
    round in one meet."""
    unique = list({_signature(a): a for a in group}.values())
    for w in (a for a in unique if a.write):
        for other in unique:
            one, all_ = (frozenset(_running(a, b, threads)) for a, b in ((w, w), (w, other)))
            if one == all_ == frozenset(_running(other, other, threads)):
                met = may_meet(w, other, tuple(sorted(one)), frozenset())
            else:
                met = not Question(w, other, (), frozenset()).space.empty()
            if met:
                return False
    return True


def _from_zero(group: list[Access], merged: frozenset[str]) -> list[Access]:
    """Accesses whose places differ by the same from a multiple of an index (``i + 1``, ``n - 1 - i``), without that:
    two of them meet where they met before."""
    rank = len(group[0].subscripts)
    if any(a.view or len(a.subscripts) != rank or not all(map(index_like, a.subscripts)) for a in group):
        return group
    places = [[to_poly(s) for s in a.subscripts] for a in group]
    for axis in range(rank):
        column = [row[axis] for row in places]
        rest = [Poly({m: c for m, c in p.terms.items() if not Poly({m: c}).indices()}) for p in column]
        signs = {p.coefficient(eq.Index(n, INT)).value for p in column for n in p.indices() & merged}
        if len({to_expr(r) for r in rest}) == 1:
            turned = -1 if signs == {-1} else 1
            for row, r in zip(places, rest, strict=True):
                row[axis] = (row[axis] - r) * turned
    return [replace(a, subscripts=tuple(map(to_expr, row))) for a, row in zip(group, places, strict=True)]


def _expanded(cx: Context, a: Access, merged: list[str], threads: dict[str, eq.Expr]) -> Access:
    """``a`` with each merged index as thread and round; ``threads``: those that it names itself, and how many there
    are."""
    mapping: dict[eq.Expr, eq.Expr] = {}
    more: list[eq.Expr] = []
    for name, size in threads.items():
        if name not in merged:
            own = eq.Index(name, INT)
            more += [eq.Op("ge", (own, eq.Const(0, INT)), BOOL), eq.Op("lt", (own, size), BOOL)]
    for m in merged:
        way, u = cx.strides[m], eq.Index(f"{m}'round", INT)
        first = to_poly(way.origin) + to_poly(way.number)
        mapping[eq.Index(m, INT)] = to_expr(first + to_poly(way.size) * to_poly(u))
        threads_ = [eq.Index(name, INT) for name in way.names]
        more += [eq.Op("ge", (i, eq.Const(0, INT)), BOOL) for i in (*threads_, u)]
        more += [eq.Op("lt", (t, size), BOOL) for t, (_, size) in zip(threads_, way.digits, strict=True)]
    # a condition on what a loop carries says nothing of an index; without it more instances are asked for
    kept = [c for c in a.path if not mentions(c, (eq.CarryIn, eq.FoldResult))]
    if any(mentions(s, (eq.CarryIn, eq.FoldResult)) for s in a.subscripts):
        return a
    path = (*(tidy(substitute(c, mapping)) for c in kept), *more)
    parts: list[eq.Expr] = []
    radices: list[eq.Expr] = []
    for s in a.subscripts:
        s = tidy(substitute(s, mapping))
        found = digits(to_poly(s), (*path, *cx.facts)) if index_like(s) else None
        parts += [s] if found is None else [to_expr(p) for p in found.subscripts]
        radices += [eq.Const(0, INT), *(() if found is None else (to_expr(r) for r in found.radices))]
    view = (*a.view, *radices) if len(parts) != len(a.subscripts) else a.view
    return replace(a, path=path, subscripts=tuple(parts), view=view, whole=() if view else a.whole)


def _rows_apart(group: list[Access]) -> list[Access]:
    """Accesses to rows (or to cells of rows) that are counted by block and thread, ``(block * blockDim + thread) * n +
    c`` and ``r * n + block * blockDim + thread``, with these two as digits, if all of the group are."""
    ranks = {(len(a.subscripts), len(a.view)) for a in group}
    if len(ranks) != 1 or not group[0].view:
        return group
    for axis in reversed(range(len(group[0].subscripts))):
        found = [_by_block_and_thread(a, axis) for a in group]
        if None not in found:
            group = [_split(a, axis, f) for a, f in zip(group, found, strict=True) if f is not None]
    return group


def _by_block_and_thread(a: Access, axis: int) -> Digits | None:
    s = a.subscripts[axis]
    row = to_poly(s) if index_like(s) else None
    return None if row is None or not by_launch((to_expr(row),)) else digits(row, a.path)


def _split(a: Access, axis: int, found: Digits) -> Access:
    parts, radices = map(to_expr, found.subscripts), map(to_expr, found.radices)
    subs = (*a.subscripts[:axis], *parts, *a.subscripts[axis + 1 :])
    return replace(a, subscripts=subs, view=(*a.view[: axis + 1], *radices, *a.view[axis + 1 :]))


def _running(a: Access, b: Access, threads: tuple[str, ...]) -> tuple[str, ...]:
    """The thread indices under which the accesses happen (a grid-stride loop has one in place of the thread's own)."""
    names = frozenset().union(*(free_indices(c) for c in (*a.path, *b.path)))
    return tuple(t for t in threads if t in names)


def _signature(a: Access) -> tuple[object, ...]:
    return (a.subscripts, a.path, a.write, a.accumulate, a.atomic, a.passed, a.together, a.folds, a.view, a.value)


def _same_value(cx: Context, w: Access, threads: tuple[str, ...], shared: bool) -> bool:
    """A plain store of one value that all threads share: whoever comes last, the cell is the same.

    A value that changes from round to round is shared only if all threads store to one cell, in the same rounds; one
    that is no thread's own, where the cell tells all that it depends on (``s[x + 16 * r] = a[x + 16 * r]`` by each y).
    """
    if w.accumulate or w.value is None or mentions(w.value, (eq.CarryIn, eq.FoldResult)):
        return False
    names, moving = free_indices(w.value), set(threads)
    if names <= {s.name for s in w.subscripts if isinstance(s, eq.Index)} and not w.view:
        return True  # the cell says what is stored
    if moving - names and _told_by_cell(cx, w, names, shared):
        return True
    if _reads(w.value):
        return False
    if not names:
        return True
    rounds = [c for c in w.path if free_indices(c) & names]
    return not names & moving and not any(free_indices(x) & moving for x in (*w.subscripts, *rounds))


def _told_by_cell(cx: Context, w: Access, names: frozenset[str], shared: bool) -> bool:
    """Whether instances that touch one cell agree on all of ``names``. In an array of a block they are of one block."""
    blocks = frozenset(cx.blocks) if shared else frozenset()
    return not may_meet(w, w, tuple(sorted(names - blocks)), blocks)


def _one_number(w: Access, other: Access) -> bool:
    """Plain stores of one and the same number (the ends of a boundary, and its corners twice), or of what all threads
    compute alike: whichever comes last."""
    one, two = w.value, other.value
    if not (w.write and other.write) or w.accumulate or other.accumulate or w.atomic or other.atomic:
        return False
    if isinstance(one, eq.Const) and isinstance(two, eq.Const):
        return one.type == two.type and repr(one.value) == repr(two.value)  # 0.0 is not -0.0
    if one is None or w.folds or other.folds or free_indices(one) or mentions(one, (eq.CarryIn, eq.FoldResult)):
        return False
    return one == two and repr(one) == repr(two)  # a Const in it may be -0.0


def _reads(e: eq.Expr) -> bool:
    return mentions(e, (eq.Read, eq.CarryIn, eq.FoldResult))
