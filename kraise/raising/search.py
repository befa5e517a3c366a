"""What the run of a function may count on, found by trying: how the threads are bound, sizes, rows, scratch arrays.

A run that fails tells what it lacked; what can be learned from it goes into :class:`Learned`, and the next run starts
with that. What the emitted function cannot check is never learned.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.diagnostics import Refused, refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.walk import statement_expressions
from kraise.options import Options
from kraise.raising.collective.requests import Apart, Joint, Lanes, Sized, Tied
from kraise.raising.function import Raiser
from kraise.raising.learned import Attempt, Learned, with_attempts
from kraise.raising.left import by_shares, fewer, halved, loops, made
from kraise.raising.lessons import (
    after,
    finer,
    first_size,
    further,
    guarded_cells,
    in_rows,
    launched_rows,
    of_launch,
    shared_out,
    taken_in,
    tiled,
    tying,
    unsized,
    widest,
    written_out,
)
from kraise.raising.memory import from_end
from kraise.raising.memory.blank import Blank
from kraise.raising.memory.parts import split
from kraise.raising.memory.private import Transient
from kraise.raising.one_run import once, raised
from kraise.raising.optimistic import of_large_sizes
from kraise.raising.ragged.loops import LongRows
from kraise.raising.ragged.same_rows import others_rows
from kraise.raising.threads import groups
from kraise.raising.threads import indices as threads
from kraise.raising.threads.literal_strides import strides
from kraise.raising.threads.numbered_blocks import capped
from kraise.raising.threads.part_warps import parts, stepping, width
from kraise.raising.threads.plausible import idle
from kraise.raising.threads.radices import divisors
from kraise.raising.threads.rimmed import without_launch
from kraise.raising.threads.sizes import named_sizes, suggested
from kraise.raising.threads.told import agrees, as_launched, contradicts, hinted, launched

_ASKED = ("", "optional", "required")  # how much a function asks of its launch


class _Unfilled(Exception):
    """Blocks of this size make no sense of the source."""


def search(module: k.Module, function: k.Function, options: Options, known: Learned, hindering: set[str]) -> eq.Kernel:
    """The equations, the threads' indices as far apart as they must be: block and thread are one index where that will
    do, and else two (raising.md, step 2). ``hindering`` gets the arrays that tie the rounds of a loop."""
    below: from_end.FromEnd = {}
    try:
        return _search(module, function, options, known, hindering, below)
    except Refused as refused:
        checked: from_end.FromEnd = {at: "checked" for at, how in below.items() if how == "maybe"}
        if not checked:
            raise
        try:
            return _search(module, function, options, replace(known, from_end=below | checked), hindering, below)
        except Refused:
            raise refused from None


def _search(
    module: k.Module,
    function: k.Function,
    options: Options,
    known: Learned,
    hindering: set[str],
    below: from_end.FromEnd,
) -> eq.Kernel:
    """``below`` gets the subscripts that Python counts from the end."""
    start = known.begun()
    first: Refused | None = None
    tried: list[Attempt] = []
    sizes: list[threads.Ways] | None = [] if known.ways else None  # to try; none besides one that is given
    told = launched(module, function)
    asked: set[Joint] = set()
    narrow: dict[frozenset[tuple[int, int]], list[int]] = {}  # lanes that may work on their own, for each block
    while True:
        attempts: list[Raiser] = []
        try:
            kernel = raised(module, function, options, known, attempts)
            hindering |= tying(attempts[-1])
            loose = of_launch(attempts[-1].cx) - known.launched
            if kernel.launch == "required" and loose:
                # the launch is given: where it covers less than the guards, the result is less
                known = replace(known, launched=known.launched | loose)
                continue
            unset = [t for t in tried if known.ways and t.known.ways == known.ways and isinstance(t.refused, Blank)]
            if unset:  # in another form the same cells are read
                raise with_attempts(unset[0].refused, tried)
            left = [e for s in kernel.body for e in statement_expressions(s)]
            last = attempts[-1]
            if (rows := launched_rows(last.cx, known)) is not None:
                found = once(module, function, options, rows)
                if found is not None and _ASKED.index(found.launch) <= _ASKED.index(kernel.launch):
                    known = rows
                    continue
            more = (
                tiled(last.cx, known) or finer(last.cx, known, left, last.st.accesses) or written_out(last, known, left)
            )
            more = more or _in_shares(module, function, options, known, last.cx.in_shares)
            if more is None:
                vain = idle(last.cx, last.st, last.inlined, last.ways, {*told, *hinted(module, function)})
                if (vain or last.cx.unfilled) and start.ways:
                    raise _Unfilled
                if vain or last.cx.unfilled:
                    full = _filled(module, function, options, known, last, told)
                    if full is not None:
                        return full
                if vain and first is not None:  # the size is a guess, and it makes a store one that never happens
                    raise with_attempts(first, tried)
                return _in_best_form(module, function, options, known, start.ways, last, kernel, told)
        except Transient as transient:
            more = replace(known, solid=known.solid | transient.arrays)
        except LongRows as long:
            more = replace(known, longest=known.longest | long.loops)
        except Sized as sized:
            if known.ways.get(0) == -sized.size:
                raise first or refuse("KR299", "this use of a block's threads is not raised", function.span) from None
            more = replace(known, ways=known.ways | {0: -sized.size})
        except Tied as tied:
            more = replace(known, tied=known.tied | {tied.name: tied.times})
        except Apart:
            if known.ways.get(0, 1) < 0:
                raise first or refuse("KR299", "this use of a block's threads is not raised", function.span) from None
            more = replace(known, ways=known.ways | {0: -known.ways[0] if 0 in known.ways else threads.APART})
        except Lanes:
            if threads.LANES in known.ways:
                raise first or refuse("KR299", "this use of a warp's lanes is not raised", function.span) from None
            more = replace(known, ways=known.ways | {threads.LANES: width(attempts[-1].inlined) if attempts else 32})
        except Refused as refused:
            if attempts and (counted := {**known.from_end, **attempts[-1].cx.below}) != known.from_end:
                first = first or refused
                below |= counted
                start, known = replace(start, from_end=counted), replace(known, from_end=counted)
                continue
            real = agrees(known.ways, told) and not any(agrees(t.known.ways, told) for t in tried)
            first = further(first, refused, of_launch=real)
            tried.append(Attempt(known, refused))
            known.effort.add((a.cx.statements for a in attempts), refused)
            if known.effort.spent:
                raise with_attempts(first, tried) from None
            if attempts:
                hindering |= tying(attempts[-1])
                asked |= attempts[-1].cx.asked
            more = after(attempts[-1], known, refused) if attempts else None
            if more is None and attempts and threads.LANES in known.ways:
                blocks = frozenset(known.ways.items() - {(threads.LANES, known.ways[threads.LANES])})
                whole = [] if threads.LANES in start.ways or known.ways[threads.LANES] == 32 else [32]
                lanes = narrow.setdefault(blocks, [*whole, *parts(attempts[-1].inlined)])
                if lanes and any(d.code in ("KR201", "KR206", "KR299") for d in refused.diagnostics):
                    more = replace(start, ways=known.ways | {threads.LANES: lanes.pop(0)})
            if more is not None and contradicts(more.ways, told):
                more = None
            if more is None and attempts:
                last = attempts[-1]
                names = {} if sizes is not None or start.named else named_sizes(last.inlined, function)
                if sizes is None and not names:
                    given = {} if last.cx.cooperative or unsized(known.ways) else known.ways
                    among = suggested(last.inlined, given)
                    among += [w for w in (guarded_cells(last),) if w and last.cx.cooperative and w not in among]
                    sizes = as_launched(among, told, hinted(module, function))
                if names:
                    start = replace(start, named=names)  # once: with it or without it
                    more = start
                elif sizes:
                    more = replace(start, ways=sizes.pop(0), named={})
                elif last.unrolls() and not known.unroll:
                    # without a suggested size, unless it tells the rounds: a race may hide behind both
                    more = replace(start, unroll=True, ways=start.ways if last.unrolls(sized=False) else last.ways)
                elif (
                    known.unroll
                    and not start.ways
                    and (filled := widest(last, told) or ({} if last.cx.shared else first_size(tried)))
                    and not any(t.known.unroll and t.known.ways == filled for t in tried)
                ):
                    more = replace(start, unroll=True, ways=filled)
                elif not start.groups and (shares := shared_out(last.cx, refused)):
                    sizes, start = None, replace(start, ways={}, named={}, groups=shares)
                    more = start
                elif not start.parts and split(last.inlined) is not last.inlined:
                    sizes, start = None, replace(start, named={}, parts=True)
                    more = start
                elif not asked <= start.each:
                    sizes = sizes if start.ways or start.named else None
                    start = more = replace(start, each=start.each | asked)
                else:
                    more = in_rows(last, known, refused)
            if more is None:
                raise with_attempts(first, tried) from None
        # with the size of the blocks known, a guard may bound the threads, and a round may fill what it reads
        known = more if more.ways == known.ways else replace(more, launched=frozenset(), solid=frozenset())


def _in_best_form(
    module: k.Module,
    function: k.Function,
    options: Options,
    known: Learned,
    given: threads.Ways,
    run: Raiser,
    kernel: eq.Kernel,
    told: threads.Ways,
) -> eq.Kernel:
    """The equations of a run that lacked nothing, or those that another look at the threads (where their number is not
    ``given``), the rows or the sizes makes better."""
    left = [e for s in kernel.body for e in statement_expressions(s)]
    apart = strides(run.inlined, left) or run.cx.part_lanes
    summed: list[threads.Ways] = []
    if run.cx.unfilled and kernel.launch == "required":
        # blocks with fewer threads leave cells that are read
        summed, apart = taken_in(run, told), widest(run, told)
    for ways in [*summed, *([apart] if apart and not contradicts(apart, told) else [])]:
        sized = None if given else _sized(module, function, options, known, ways)
        if sized is not None:
            return sized
    digits = divisors(run.cx, left) if kernel.launch == "required" and threads.LANES not in known.ways else {}
    if digits and not known.radices:  # guards bound the digits of a thread's index, and the launch is not asked
        apart_too = _sized(module, function, options, replace(known, radices=digits), known.ways)
        if apart_too is not None and apart_too.launch != "required":
            return apart_too
    kernel = _in_common_rows(module, function, options, known, run, kernel) or kernel
    kernel = _unconditional(module, function, options, known) or kernel
    kernel = _of_heads(module, function, options, known, run, kernel) or kernel
    for ways in suggested(run.inlined, {}) if capped(kernel) and not given and unsized(known.ways) else ():
        sized = None if contradicts(ways, told) else _sized(module, function, options, known, ways)
        if sized is not None and not capped(sized):
            return sized
    if halved(kernel.body) and not known.unroll and run.unrolls():
        written = once(module, function, options, replace(known, unroll=True))
        if written is not None and loops(written.body) < loops(kernel.body):
            return written
    together = stepping(run.inlined) if loops(kernel.body) and not given else []
    for ways in ({threads.LANES: lanes} for lanes in together):
        sized = _sized(module, function, options, known, ways)
        if sized is not None and loops(sized.body) < loops(kernel.body):
            return sized
    lean = without_launch(given, run.inlined, known.ways.get(threads.LANES) == 32, told)
    lean += as_launched([], {} if given or not made(kernel.body) else told, {})
    for ways in lean if kernel.launch == "required" else ():
        sized = _sized(module, function, options, known, ways)
        if sized is not None and (sized.launch != "required" or fewer(sized.body, kernel.body)):
            return sized
    return _guarded(module, function, options, known, run) or kernel if kernel.launch else kernel


def _of_heads(
    module: k.Module, function: k.Function, options: Options, known: Learned, run: Raiser, kernel: eq.Kernel
) -> eq.Kernel | None:
    """The equations with sizes as so many shares of others (``C / NH`` columns), where more loads are of rows."""
    wished = {} if known.groups else groups.wished(run.cx)
    shares = {size: by for size, by in wished.items() if by_shares(kernel.body, {size: by})}
    found = once(module, function, options, replace(known, groups=shares)) if shares else None
    return found if found and by_shares(found.body, shares) < by_shares(kernel.body, shares) else None


def _in_shares(
    module: k.Module, function: k.Function, options: Options, known: Learned, shares: dict[eq.Param, eq.Param]
) -> Learned | None:
    """With sizes as so many tiles of a named size, where flat subscripts keep to their rows then."""
    attempts: list[Raiser] = []
    more = replace(known, groups=shares)
    found = shares and not known.groups and once(module, function, options, more, attempts)
    return more if found and not attempts[-1].cx.in_shares else None


def _filled(
    module: k.Module, function: k.Function, options: Options, known: Learned, attempt: Raiser, told: threads.Ways
) -> eq.Kernel | None:
    """The equations for blocks of another size, where this one makes no sense of the source; None if no size
    does better, or the launches say which it is."""
    if all(abs(n) == 1 for n in known.ways.values()) or any(told.get(axis) == abs(n) for axis, n in known.ways.items()):
        return None
    sizes = [*taken_in(attempt, told), widest(attempt, told), guarded_cells(attempt), *suggested(attempt.inlined, {})]
    for ways in as_launched([w for w in sizes if w], told, hinted(module, function)):
        other = ways and {a: abs(n) for a, n in ways.items()} != {a: abs(n) for a, n in known.ways.items()}
        if other and (found := _sized(module, function, options, known, ways)) is not None:
            return found
    return None


def _sized(
    module: k.Module, function: k.Function, options: Options, known: Learned, ways: threads.Ways
) -> eq.Kernel | None:
    """The equations for blocks of a size, None where there are none."""
    try:
        return search(module, function, options, replace(known.begun(), ways=ways), set())
    except (Refused, _Unfilled):
        return None


def _unconditional(module: k.Module, function: k.Function, options: Options, known: Learned) -> eq.Kernel | None:
    """The equations without what was assumed of the sizes, where the proof can do without it since more is known (the
    block and its threads are apart); None if nothing was assumed, or if it was needed."""
    kept = tuple(c for c in known.assumed if c in known.columns)
    if kept == known.assumed or known.rounds:
        return None
    return once(module, function, options, replace(known, assumed=kept))


def _in_common_rows(
    module: k.Module, function: k.Function, options: Options, known: Learned, attempt: Raiser, kernel: eq.Kernel
) -> eq.Kernel | None:
    """The equations with all of a flat array's cells in rows where some are (``a[k * n + k]`` beside ``a[i * n + j]``),
    where loops are left and there are no more of them. What a loop around the launch counts had better be a row, too
    (``a[k * n + j]``): that its columns stay within it is assumed, and elsewhere what only the smallest sizes fail."""
    best: eq.Kernel | None = None
    while True:
        rows = others_rows(attempt.st.accesses, attempt.cx.made) if known.rounds or loops(kernel.body) else {}
        more = [(c,) if known.rounds else of_large_sizes(c) for c in attempt.cx.wanted if c not in known.assumed]
        wanted = [c for cs in more for c in cs if c not in known.assumed]
        if not (rows.keys() - known.rows.keys() or wanted):
            break
        known = replace(known, rows=known.rows | rows, assumed=(*known.assumed, *wanted))
        attempts: list[Raiser] = []
        found = once(module, function, options, known, attempts)
        attempt = attempts[-1]  # one that was refused may show further rows
        if found is not None and (known.rounds or loops(found.body) <= loops(kernel.body)):
            best = kernel = found
    return best


def _guarded(
    module: k.Module, function: k.Function, options: Options, known: Learned, attempt: Raiser
) -> eq.Kernel | None:
    """The equations where unsigned differences (``i < n - 1``) do not wrap round, so that they bound the threads; None
    if the launch has a say even then."""
    natural = tuple(c for c in attempt.cx.unsigned if c not in known.assumed)
    if not natural:
        return None
    kernel = once(module, function, options, replace(known, assumed=(*known.assumed, *natural)))
    return None if kernel is None or kernel.launch else kernel
