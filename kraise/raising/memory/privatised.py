"""Counts that each block first makes for itself: one accumulation (raising.md, step 6).

``s[b] += v`` by all threads of a block into cells that were filled with the neutral element, then ``h[t] += s[t]`` for
every cell once, is ``h[b] += v``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kraise.analysis.conditions import Fact, classify
from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, INT32
from kraise.ir.walk import free_indices, topological, transform
from kraise.raising.memory.filled import Solved, solve
from kraise.raising.memory.ranged import box
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawNew, RawWrite, State
from kraise.raising.threads.row_views import asks_for
from kraise.raising.threads.tiles import Launch, merged_write
from kraise.raising.writes.accumulate import neutral_of

_OPS = ("add", "mul", "or_", "xor")


def without_private_copies(cx: Context, st: State) -> None:
    """Rewrites the accumulations that only pass on what each block has accumulated."""
    for at, raw in enumerate(st.out):
        if not isinstance(raw, RawWrite) or raw.accumulate not in _OPS:
            continue
        one = _each(raw)
        if not isinstance(one.value, eq.Read):
            continue
        array = one.value.version.array
        local = cx.made.get(array)
        if local is None or not local.shared or _read_elsewhere(st, raw, array):
            continue
        parts = _parts(st.out[:at], array, one)
        natural = parts is not None and raw.accumulate == "add" and all(map(_not_below_zero, parts))
        raw = replace(one, path=tuple(c for c in one.path if not _adds_something(c, raw, natural)))
        passed = None if parts is None else [_passed(cx, st, raw, p, local.shape) for p in parts]
        kept = [p for p in passed or () if p is not None]
        if not passed or len(kept) != len(passed):
            continue
        new: list[Raw] = []
        before = raw.before
        for position, part in enumerate(kept):
            after = raw.after if position == len(kept) - 1 else cx.version(raw.after.array)
            new.append(replace(part, before=before, after=after))
            before = after
        st.out[at : at + 1] = new
        cx.note(f"the counts of each block in `{array}` are one count")
        without_private_copies(cx, st)
        return


def _each(raw: RawWrite) -> RawWrite:
    """What is passed on of a sum over several cells, as what is passed on of each."""
    match raw.value:
        case eq.Reduce(op=op, axes=axes, body=eq.Read() as cell, where=None) if op == raw.accumulate:
            names = tuple(a.name for a in axes)
            if not {*names} & {*raw.loops}:
                return replace(raw, loops=(*raw.loops, *names), path=(*raw.path, *box(axes)), value=cell)
    return raw


def _not_below_zero(part: RawWrite) -> bool:
    """Whether what is accumulated is a number of integers, which is never negative."""
    value = part.value
    while isinstance(value, eq.Cast) and (value.type.is_integer or value.type.kind == "bool"):
        value = value.arg
    if not part.value.type.is_integer:
        return False
    return value.type.kind in ("uint", "bool") or (isinstance(value, eq.Const) and value.value >= 0)  # type: ignore[operator]


def _read_elsewhere(st: State, raw: RawWrite, array: str) -> bool:
    from kraise.raising.run.state import expressions

    nodes = topological([e for r in st.out if r is not raw for e in expressions(r)])
    return any(isinstance(n, eq.Read) and n.version.array == array for n in nodes)


def _parts(raws: list[Raw], array: str, raw: RawWrite) -> list[RawWrite] | None:
    """The accumulations into ``array``, if all else that is stored there is the neutral element, before them."""
    out: list[RawWrite] = []
    assert isinstance(raw.value, eq.Read)
    version = raw.value.version
    for r in reversed(raws):
        if isinstance(r, RawNew) and r.stmt.version is version:
            fill = r.stmt.fill
            return out[::-1] if fill is None or _neutral(raw.accumulate, fill) else None
        if isinstance(r, RawWrite) and r.after is version:
            if r.accumulate == raw.accumulate and not r.view:
                out.append(r)
            elif (
                r.accumulate or not _neutral(raw.accumulate, r.value) or any(o.before is not version for o in out[-1:])
            ):
                return None
            version = r.before
    return None


def _neutral(op: str, e: eq.Expr) -> bool:
    neutral = neutral_of(op, e)
    return isinstance(e, eq.Const) and isinstance(neutral, eq.Const) and e.value == neutral.value


def _passed(cx: Context, st: State, raw: RawWrite, part: RawWrite, shape: tuple[eq.Expr, ...]) -> RawWrite | None:
    """``part`` as an accumulation into the array to which ``raw`` passes its cells."""
    assert isinstance(raw.value, eq.Read)
    array = raw.value.version.array
    if any(n in cx.strides and asks_for((cx.strides[n].size,), ("grid.",)) for n in raw.loops):
        return None  # each cell is passed on by one of the blocks
    path = raw.path
    cell, loops = replace(raw, subscripts=raw.value.subscripts), raw.loops
    solved: Solved | None = solve(cx, st, cell, part.subscripts, -1)
    if solved is not None and solved.chosen:  # of a thread's digits: the threads by their number
        raw = merged_write(replace(raw, path=path), Launch(tuple(cx.facts)))
        assert isinstance(raw.value, eq.Read)
        cell = replace(raw, subscripts=raw.value.subscripts)
        solved = solve(cx, st, cell, part.subscripts, -1)
    if solved is None or solved.never or not solved.determines(cell.loops):
        return None
    # that a cell is within the array, and that there is a thread for it, goes without saying
    from kraise.raising.run.arithmetic import tidy

    own = tuple(tidy(s) for s in part.subscripts[len(part.subscripts) - len(shape) :])
    known = {Fact("ge", to_poly(s)) for s in own}
    known |= {Fact("ge", to_poly(n) - to_poly(s) - 1) for s, n in zip(own, shape, strict=True)}
    # of an array of no known type the comparisons are no facts
    spelled = {eq.Op("ge", (s, eq.Const(0, INT)), BOOL) for s in own}
    spelled |= {eq.Op("lt", (s, n), BOOL) for s, n in zip(own, shape, strict=True)}
    threads = _too_few(cx, cell.subscripts, shape)
    if cell.loops != loops:  # a number takes the place of digits
        threads = [(t, n) for t, n in threads if eq.Op("lt", (t, n), BOOL) in cell.path]
    alone = {n for t, _ in threads for n in free_indices(t)} | {*cx.blocks}
    if threads and any(free_indices(s) - alone for s in cell.subscripts):
        return None  # rounds of its threads
    few = [eq.Op("lt", (solved.apply(t), n), BOOL) for t, n in threads]
    own_cells = {n for s in cell.subscripts for n in free_indices(s)}
    for axis, t in ((axis, t) for (kind, axis), t in cx.threads.items() if kind == "thread"):
        if cell.loops != loops:  # a number takes the place of digits, from zero on
            few += [_not_negative(solved.apply(eq.Index(n, INT))) for n in free_indices(t) & own_cells - {*cx.blocks}]
        elif _counts_blocks(moved := solved.apply(t), cx.blocks):
            # the cell of a thread's number in the grid is passed on by the block that has the thread
            few += [_not_negative(moved), eq.Op("lt", (moved, cx.threads["blockDim", axis]), BOOL)]
    said = [c for c in (transform(c, _as_position) for c in (*solved.conditions, *few)) if not _says_nothing(c)]
    # some cells are not passed on
    more = tuple({classify(c) or c: c for c in said if c not in spelled and not _weaker(c, known)}.values())
    if any(isinstance(n, eq.Read) and n.version.array == array for n in topological(more)):
        return None
    if solved.chosen and more:
        return None  # another thread may be the one
    cells = [to_poly(transform(solved.apply(s), _as_position)) for s in raw.subscripts]
    if raw.view:  # row and column, which what is counted need not keep to
        if len(raw.view) != len(cells) or isinstance(raw.view[0], eq.Const):
            return None
        flat = cells[0]
        for column, width in zip(cells[1:], raw.view[1:], strict=True):
            flat = flat * to_poly(width) + column
        cells = [flat]
    sums = [s for s in own if isinstance(s, eq.Op)]
    subs = tuple(next((s for s in sums if to_poly(s) == cell), to_expr(cell)) for cell in cells)
    return replace(part, subscripts=subs, path=(*part.path, *more), span=part.span)


def _too_few(cx: Context, cells: tuple[eq.Expr, ...], shape: tuple[eq.Expr, ...]) -> list[tuple[eq.Expr, eq.Const]]:
    """The threads that pass cells on, and how many there are, where the source counts on fewer than there are cells."""
    most = max((n for extent in shape if (n := to_poly(extent).value) is not None), default=0)
    few = [(cx.threads["thread", axis], eq.Const(size, INT)) for axis, size in cx.tile.items() if size < most]
    indices = {n for s in cells for n in free_indices(s)}
    return [(t, size) for t, size in few if free_indices(t) & indices - {*cx.blocks}]


def _adds_something(condition: eq.Expr, raw: RawWrite, natural: bool) -> bool:
    """Whether a condition keeps out what would change nothing: ``if (s[t] != 0) h[t] += s[t]``, and ``s[t] > 0`` of
    numbers that are ``natural``."""
    match condition:
        case eq.Op(name="ne", args=(a, b)):
            pass
        case eq.Op(name="gt", args=(a, b)) | eq.Op(name="lt", args=(b, a)) if natural or a.type.kind == "uint":
            pass
        case (
            eq.Op(name="ge", args=(a, eq.Const(value=1) as one)) | eq.Op(name="le", args=(eq.Const(value=1) as one, a))
        ):
            return natural and one.type.is_integer and a is raw.value
        case _:
            return False
    return a is raw.value and _neutral(raw.accumulate, b)


def _counts_blocks(e: eq.Expr, blocks: Iterable[str]) -> bool:
    match e:
        case eq.Index(name=name):
            return name in blocks
        case eq.Op(args=args):
            return any(_counts_blocks(a, blocks) for a in args)
        case eq.Cast(arg=arg):
            return _counts_blocks(arg, blocks)
    return False


def _not_negative(e: eq.Expr) -> eq.Op:
    return eq.Op("ge", (e, eq.Const(0, INT)), BOOL)


def _weaker(condition: eq.Expr, known: set[Fact]) -> bool:
    """Whether a condition is known, or less than one that is (``b < 64`` where b < 32)."""
    fact = classify(condition)
    if fact is None or fact.kind != "ge":
        return fact in known
    return any(((fact.poly - k.poly).value or 0) >= 0 for k in known if (fact.poly - k.poly).value is not None)


def _says_nothing(condition: eq.Expr) -> bool:
    """Whether a condition says that a position is itself."""
    match condition:
        case eq.Op(name="eq", args=(a, b)):
            return not (to_poly(a) - to_poly(b)).terms
    return False


def _as_position(e: eq.Expr) -> eq.Expr:
    """``(int)(16 * k)`` as ``16 * k``: what leaves the range of its type is no position of C's."""
    match e:
        case eq.Cast(type=kind, arg=eq.Op(name="add" | "sub" | "mul", type=of) as arg) if kind == INT32 and of == INT:
            return arg
    return e


__all__ = ["without_private_copies"]
