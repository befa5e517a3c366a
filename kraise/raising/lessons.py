"""What a run that was refused teaches the next one: what to assume, how to bind the threads, what to report."""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import static_expr
from kraise.analysis.dependence import Access
from kraise.diagnostics import Refused, Span
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices, topological
from kraise.raising.collective.opened import by_warps
from kraise.raising.function import Raiser
from kraise.raising.learned import Attempt, Learned
from kraise.raising.loops import coarsened
from kraise.raising.memory.blank import Blank
from kraise.raising.memory.race_refusals import BARRIER_HINT
from kraise.raising.optimistic import apart, neighbours, of_windows
from kraise.raising.ragged.same_rows import guarded_rows, others_rows
from kraise.raising.run.calls import written
from kraise.raising.run.context import Context
from kraise.raising.threads import groups, multiples
from kraise.raising.threads import indices as threads
from kraise.raising.threads.block_shapes import places
from kraise.raising.threads.hardware import hardware
from kraise.raising.threads.limits import limits
from kraise.raising.threads.lone import in_line, lone_axes
from kraise.raising.threads.radices import divisors
from kraise.raising.threads.reach import reached
from kraise.raising.threads.row_views import asks_for
from kraise.raising.threads.sizes import beyond, named_sizes, suggested
from kraise.raising.threads.told import contradicts, hinted, launched
from kraise.raising.threads.unguarded import blocks_alone, in_fields, rows_of_blocks, spans, unguarded, widths

PROOFS = ("KR201", "KR202", "KR203", "KR306")


def further(first: Refused | None, later: Refused, of_launch: bool = False) -> Refused:
    """The refusal to report: the first, unless that run broke off on its way and the later one came to the proofs, or
    the later one is the first for blocks of the size that the launches have (``of_launch``) and names the threads."""
    if first is None:
        return later
    if of_launch and all(d.code in PROOFS for d in later.diagnostics) and witnessed(later) and not witnessed(first):
        return later
    codes = [{d.code for d in r.diagnostics} for r in (first, later)]
    if codes in ([{"KR201"}, {"KR204"}], [{"KR204"}, {"KR201"}]):
        # blocks of the size that the source suggests have no race, but leave an array
        return first if codes[0] == {"KR204"} else later
    if _lacks_barriers(later) and not _lacks_barriers(first) and _places(later) <= _places(first):
        # in blocks of this size each place is stored to once; threads of a guessed block that meet end no search
        return later if witnessed(first) else Refused(*(replace(d, witness="") for d in later.diagnostics))
    if isinstance(later, Blank) and (of_launch or codes[0] == {"KR201"}) and not witnessed(first):
        return later
    broke_off = not any(d.code in PROOFS for d in first.diagnostics)
    return later if broke_off and all(d.code in PROOFS for d in later.diagnostics) else first


def _lacks_barriers(refused: Refused) -> bool:
    """Whether all that is found are threads that no barrier keeps apart."""
    return all(d.code == "KR201" and d.hint == BARRIER_HINT for d in refused.diagnostics)


def _places(refused: Refused) -> set[Span | None]:
    return {d.span for d in refused.diagnostics}


def first_size(tried: list[Attempt]) -> threads.Ways:
    """The first size of a block that was tried."""
    sized = ({a: -abs(n) for a, n in t.known.ways.items() if a in range(3) and abs(n) > 1} for t in tried)
    return next((ways for ways in sized if ways), {})


def witnessed(refused: Refused) -> bool:
    """Whether it is said which threads meet where: ``(i = 1 and i = 0 at a[1], …)``."""
    return any(d.witness for d in refused.diagnostics)


def after(attempt: Raiser, known: Learned, refused: Refused) -> Learned | None:
    """What to try after a run was refused; None if nothing is left."""
    cx, accesses = attempt.cx, attempt.st.accesses
    natural = tuple(c for c in cx.unsigned if c not in known.assumed)
    if natural and any(d.code in (*PROOFS, "KR207") for d in refused.diagnostics):
        # a guard by an unsigned difference bounds nothing where it wraps round
        return replace(known, assumed=(*known.assumed, *natural))
    if not known.in_line and any(d.code in ("KR201", "KR299") for d in refused.diagnostics) and (line := in_line(cx)):
        return replace(known, in_line=line)
    if any(d.code in PROOFS for d in refused.diagnostics):
        masks = not cx.masking <= known.powers
        if masks or ((attempt.splits or attempt.whole) and not known.part_rows):
            return replace(known, part_rows=True, powers=known.powers | cx.masking)
        open_ended = unguarded(cx, accesses)
        if not known.launched.issuperset(open_ended):
            return replace(known, launched=known.launched | {*open_ended})
        fields_of = in_fields(cx, accesses)
        if not known.in_fields >= fields_of:
            return replace(known, launched=known.launched | fields_of, in_fields=known.in_fields | fields_of)
        rows = others_rows(accesses, cx.made) | guarded_rows(accesses, cx.made)
        if rows.keys() - known.rows.keys():
            return replace(known, rows=known.rows | rows)
        whole = tiled(cx, known)
        if whole is not None:
            return whole
        stored = written(cx.module, cx.function)
        steps = {row: by for (array, row), by in cx.stepped.items() if array in stored}
        if steps.keys() - known.multiples.keys():
            return replace(known, multiples=steps | dict(known.multiples))
        wanted = _wanted(cx, known.assumed)
        tile = {a: abs(way) for a, way in known.ways.items() if abs(way) > 1}
        rows_filled = widths(wanted, tile, blocks_alone(cx))
        if rows_filled.keys() - known.widths.keys():
            parts = spans(wanted, {a: -way for a, way in known.ways.items() if way < threads.APART})
            return replace(known, widths=rows_filled | known.widths, spans=parts | known.spans)
        if wanted != known.assumed:
            # what the sizes must be for the proof; the emitted function checks it
            return replace(known, assumed=wanted)
        more = tuple(c for c in apart(accesses) if c not in known.assumed)
        fields = {axis: row for axis, row in widths(more, {}).items() if axis not in known.widths}
        if fields:
            return replace(known, widths=fields | known.widths)
        if more:
            return replace(known, assumed=(*known.assumed, *more))
    if cx.loop_ends and any(d.code == "KR205" for d in refused.diagnostics):
        counted = {n for n in cx.loop_ends if n in cx.axes}  # the launch says how many there are
        if not known.launched.issuperset(counted):
            return replace(known, launched=known.launched | counted)
        others = cx.loop_ends - counted
        ends = [a for (kind, a), e in cx.threads.items() if kind == "block" and free_indices(e) & others]
        if ends and not known.ways.keys() & {*ends}:  # k < threadIdx.x: a thread is below the block's size
            return replace(known, ways=known.ways | dict.fromkeys(ends, threads.APART))
    if any(d.code == "KR206" for d in refused.diagnostics):
        whole = tiled(cx, known)  # a guard that whole blocks pass together
        if whole is not None:
            return whole
    shared = coarsened.elements(cx, known.ways, accesses)
    if shared and not known.coarse and coarsened.all_inside(cx, cx.function.body):
        # what was assumed was to keep the rows of a tile apart: they are now rows of the threads
        return replace(known, coarse=shared, assumed=(), part_rows=False)
    threads.rows_of_tiles(cx, accesses)
    more_ways = finer(cx, known, attempt.seen(), accesses)
    if more_ways is None and cx.cooperative and not known.tied and len(cx.tying.keys() & _own(cx)) == 1:
        return replace(known, tied=dict(cx.tying))  # a block for each row, and a thread for each of its elements
    if more_ways is None and not known.radices and threads.LANES not in known.ways:
        found = divisors(cx, attempt.seen())
        if found:
            return replace(known, radices=found)
    # lanes wait for each other: a race may be none. In a block of a size that the source suggests all threads may do
    sized = (
        bool(known.named)
        or any(abs(w) > 1 for w in known.ways.values())
        or not (suggested(attempt.inlined, {}) or named_sizes(attempt.inlined, cx.function))
    )
    stepping = sized and not cx.lanes() and by_warps(attempt.inlined)
    if more_ways is None and stepping and ("thread", 0) in cx.threads and threads.LANES not in known.ways:
        return replace(known, ways=known.ways | {threads.LANES: 32})
    only_races = all(d.code == "KR201" for d in refused.diagnostics)
    strided = {a for kind, a in hardware(cx.function.body) if kind == "gridDim"} - known.ways.keys()
    if more_ways is None and only_races and strided and not cx.cooperative:
        # rounds that speak of the thread itself: block and thread are the digits of its number, which steps apart
        return replace(known, ways=known.ways | dict.fromkeys(sorted(strided), threads.APART))
    if more_ways is None and not known.lone and only_races:
        lone = lone_axes(cx, accesses)
        return replace(known, lone=lone) if lone else None
    return more_ways


def shared_out(cx: Context, refused: Refused) -> dict[eq.Param, eq.Param]:
    """The sizes to take for multiples of others, where the proof, or a barrier under a guard, wants that."""
    codes = {d.code for d in refused.diagnostics}
    return groups.wished(cx) if codes & {*PROOFS} else cx.shared_out if "KR206" in codes else {}


def in_rows(attempt: Raiser, known: Learned, refused: Refused) -> Learned | None:
    """The blocks as wide as the rows of an array that is stored to, which no guard bounds; None if that is not what the
    proof wants."""
    if known.named or not any(d.code in PROOFS for d in refused.diagnostics):
        return None
    stored = written(attempt.cx.module, attempt.cx.function)
    filled = rows_of_blocks(c for c, arrays in attempt.cx.blockwise.items() if arrays & stored)
    if filled:
        return replace(known, named=filled)
    own = _own(attempt.cx)
    pairs = {n: times for n, times in attempt.cx.tying.items() if n in own and times > 1}  # two elements a thread
    return replace(known, tied=pairs) if len(pairs) == 1 and not known.tied else None


def _own(cx: Context) -> set[str]:
    """The parameters, but for the shares of sizes."""
    return {p.name for p in cx.function.params} - {*cx.function.static}


def written_out(attempt: Raiser, known: Learned, left: list[eq.Expr]) -> Learned | None:
    """The rounds of loops with barriers written out, where they are few and the partners that threads exchange with
    (``t ^ j``) change from round to round: each round is then an exchange of its own."""
    partners = (n for n in topological(left) if isinstance(n, eq.Op) and n.name == "xor")
    turning = any(not any(map(static_expr, n.args)) for n in partners)
    return replace(known, unroll=True) if turning and not known.unroll and attempt.unrolls() else None


def finer(cx: Context, known: Learned, values: list[eq.Expr], accesses: list[Access]) -> Learned | None:
    """The threads with their indices further apart, where values speak of block and thread; None if they do not."""
    ways = threads.finer(cx, known.ways, values, places(cx, accesses))
    if ways is not None:
        sized = {axis: n for axis, n in ways.items() if axis in range(3) and abs(n) > 1 and axis not in known.ways}
        ways = ways | dict.fromkeys(of_larger(cx, sized), threads.APART)
    # rows that were no segments for one index of block and thread may be some for two, and a guard that did not bound
    # tiles of an unknown block may bound those of a known one: whole tiles are wished for again where they are needed
    return None if ways is None else replace(known, ways=ways, longest=frozenset(), multiples={})


def of_larger(cx: Context, sized: threads.Ways) -> list[int]:
    """The axes along which a block has more threads than so many: ``if (threadIdx.x < 8) y[blockIdx.x * 8 +
    threadIdx.x] = ...`` of a source that asks for ``blockDim.x``, and no launch says that there are eight."""
    asked = [axis for axis in sized if ("blockDim", axis) in hardware(cx.function.body)]
    told = {*launched(cx.module, cx.function), *hinted(cx.module, cx.function)} if asked else set()
    return [a for a in asked if a not in told and beyond(cx.function.body, {a: -abs(sized[a])})]


def tiled(cx: Context, known: Learned) -> Learned | None:
    """The sizes that whole tiles make up, where the last tile would leave a row or the launch."""
    if not cx.cooperative and not known.coarse:
        return None
    tiles = {axis: known.spans.get(axis, abs(known.ways.get(axis, 0))) for axis in known.widths}
    rows = [(row, tiles[axis]) for axis, row in known.widths.items()]
    found = cx.wished | multiples.whole(rows)
    if not found.keys() - known.multiples.keys():
        return None
    return replace(known, multiples=found | dict(known.multiples))


def launched_rows(cx: Context, known: Learned) -> Learned | None:
    """Arrays that are only loaded seen in rows whose columns the blocks count (``x[(n * C + blockIdx.x) * S + p]``), or
    in which windows lie (``x[(y + a) * W + x + b]``): that there are no more blocks than columns, or that the windows
    do not reach into the next row, is checked, as it is of arrays that are stored to."""
    plain = [c for c in cx.wanted if c not in known.assumed and (_blocks_below_a_size(c) or of_windows(c))]
    columns = known.columns | {*plain}
    return replace(known, assumed=(*known.assumed, *plain), columns=columns) if plain else None


def _blocks_below_a_size(condition: eq.Expr) -> bool:
    match condition:
        case eq.Op(name="le", args=(blocks, eq.Param() | eq.Shape() as size)):
            return asks_for((blocks,), ("grid.",)) and not asks_for((size,), ("grid.", "block.", "threads.", "warps."))
    return False


def _wanted(cx: Context, assumed: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
    """The conditions to assume next: first those of the arrays that the kernel stores to, then all. An array that is
    only loaded may have rows that overlap."""
    if assumed:
        return (*assumed, *(c for c in cx.wanted if c not in assumed))
    stored = written(cx.module, cx.function)
    own = tuple(c for c, arrays in cx.wanted.items() if arrays & stored)
    # the same of the neighbours that are loaded: ``x[y * W + x + 1]`` is in the row, too
    return (*own, *(c for c in cx.wanted if c not in own and any(neighbours(c, o) for o in own))) or tuple(cx.wanted)


def widest(attempt: Raiser, told: threads.Ways) -> threads.Ways:
    """Blocks that fill the shared arrays with a cell for each thread: a race of fewer threads is one of theirs, too."""
    ways = {axis: -n for axis, n in attempt.cx.most.items() if n > 1}
    return {} if contradicts(ways, told) else ways


def taken_in(attempt: Raiser, told: threads.Ways) -> list[threads.Ways]:
    """Blocks with a thread for each cell that a tree or a serial sum takes in: some of an array may only keep its rows
    in different banks. Of the other axes nothing, or a thread for each cell."""
    summed = {axis: -n for axis, n in reached(attempt.inlined).items()}
    ways = [summed, widest(attempt, {}) | summed] if summed else []
    return [w for w in ways if not contradicts(w, told)]


def guarded_cells(attempt: Raiser) -> threads.Ways:
    """Blocks with a thread for each cell that is filled under a guard."""
    return {axis: -n for axis, n in limits(attempt.inlined, guarded=True).items() if n > 1}


def unsized(ways: threads.Ways) -> bool:
    """Whether nothing is said yet of how many threads a block has."""
    return all(way == threads.APART for way in ways.values())


def of_launch(cx: Context) -> frozenset[str]:
    """The indices of which the launch says how many there are."""
    return frozenset(n for n, of in cx.extents.items() if "gridDim" not in of or cx.axes[n] not in cx.persistent)


def tying(attempt: Raiser) -> frozenset[str]:
    """The arrays of the function's own that tied the rounds of a loop and that it does not return."""
    returned = {r.array for r in attempt.returns if r is not None}
    return frozenset(attempt.cx.hindering - returned)


__all__ = [
    "PROOFS",
    "after",
    "finer",
    "further",
    "guarded_cells",
    "in_rows",
    "launched_rows",
    "of_launch",
    "shared_out",
    "taken_in",
    "tiled",
    "tying",
    "unsized",
    "widest",
    "witnessed",
    "written_out",
]
