"""What the run of a function may count on, found by trying: how the threads are bound, sizes, rows, scratch arrays.

A run that fails tells what it lacked; what can be learned from it goes into :class:`Learned`, and the next run starts
with that. What the emitted function cannot check is never learned.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.boxes import Unbounded
from kraise.diagnostics import Refused, refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.walk import statement_expressions
from kraise.options import Options
from kraise.raising.collective.opened import walked
from kraise.raising.collective.requests import Apart, Lanes, Sized, Tied
from kraise.raising.function import Raiser
from kraise.raising.learned import Attempt, Learned, with_attempts
from kraise.raising.loops import coarsened
from kraise.raising.memory.needless import without_needless
from kraise.raising.memory.numbered import numbered
from kraise.raising.memory.parts import split
from kraise.raising.memory.private import Transient
from kraise.raising.optimistic import apart
from kraise.raising.ragged.loops import LongRows
from kraise.raising.ragged.same_rows import others_rows
from kraise.raising.run.calls import written
from kraise.raising.run.context import Context
from kraise.raising.threads import indices as threads
from kraise.raising.threads import multiples
from kraise.raising.threads.counted import without_idle
from kraise.raising.threads.lone import lone_axes
from kraise.raising.threads.plausible import idle
from kraise.raising.threads.sizes import as_launched, contradicts, launched, limits, named_sizes, suggested
from kraise.raising.threads.splits import Split
from kraise.raising.threads.unguarded import shares, unguarded, widths


class _Unfilled(Exception):
    """Blocks of this size make no sense of the source."""


_PROOFS = ("KR201", "KR202", "KR203", "KR306")


def raise_function(module: k.Module, function: k.Function, options: Options) -> eq.Kernel:
    """The equations of ``function``.

    Arrays of the function's own that tie the rounds of a loop are taken to be made anew where they are filled, if that
    leaves fewer loops.

    Raises:
        Refused: with every diagnostic that says why it cannot be raised.
    """
    functions = tuple(replace(f, body=without_needless(f.body)) for f in module.functions)
    module, function = replace(module, functions=functions), replace(function, body=without_needless(function.body))
    function = without_idle(module, function)
    function = replace(function, body=numbered(function.body))
    best: eq.Kernel | None = None
    first: Refused | None = None
    scratch: frozenset[str] = frozenset()
    while True:
        hindering: set[str] = set()
        try:
            kernel = _search(module, function, options, Learned(scratch=scratch), hindering)
            if best is None or _loops(kernel.body) < _loops(best.body):
                best = kernel
        except Refused as refused:
            first = first or refused
        if not hindering - scratch:
            break
        scratch |= hindering
    own = {x.name for x in walked(function.body) if isinstance(x, k.LocalArray) and x.space == "local"}
    if own and (best is None or _carry(best.body, own)):
        best = _in_registers(module, function, options, own, best)
    flat = {x.name for x in walked(function.body) if isinstance(x, k.LocalArray) and x.space == "shared"}
    if flat and (best is None or _made(best.body) & flat):
        best = _in_tile_rows(module, function, options, flat, best)
    if best is None:
        assert first is not None
        raise first
    return best


def _in_registers(
    module: k.Module, function: k.Function, options: Options, own: set[str], best: eq.Kernel | None
) -> eq.Kernel | None:
    """The equations with the small arrays among a thread's ``own`` as scalars, if no loop carries them and there are
    no more loops than in ``best``."""
    try:
        kernel = _search(module, function, options, Learned(registers=True), set())
    except Refused:
        return best
    if _carry(kernel.body, own) or (best is not None and _loops(kernel.body) > _loops(best.body)):
        return best
    return kernel


def _in_tile_rows(
    module: k.Module, function: k.Function, options: Options, shared: set[str], best: eq.Kernel | None
) -> eq.Kernel | None:
    """The equations with the flat tiles among the ``shared`` arrays in rows, if fewer arrays are left so."""
    known = Learned(tile_rows=True)
    try:
        kernel = _search(module, function, options, known, set())
    except Refused:
        return best
    return kernel if best is None or len(_made(kernel.body) & shared) < len(_made(best.body) & shared) else best


def _made(body: tuple[eq.Stmt, ...]) -> set[str]:
    """The arrays that the equations make."""
    return {s.version.array for s in body if isinstance(s, eq.New)}


def _carry(body: tuple[eq.Stmt, ...], own: set[str]) -> bool:
    """Whether a loop carries an array of a thread's own."""
    return any(
        isinstance(s, eq.Fold) and (any(a.outside.array in own for a in s.arrays) or _carry(s.body, own)) for s in body
    )


def _loops(body: tuple[eq.Stmt, ...]) -> int:
    return sum(1 + _loops(s.body) for s in body if isinstance(s, eq.Fold))


def _search(module: k.Module, function: k.Function, options: Options, known: Learned, hindering: set[str]) -> eq.Kernel:
    """The equations, the threads' indices as far apart as they must be: block and thread are one index where that will
    do, and else two (raising.md, step 2). ``hindering`` gets the arrays that tie the rounds of a loop."""
    start = known.begun()
    first: Refused | None = None
    tried: list[Attempt] = []
    sizes: list[threads.Ways] | None = [] if known.ways else None  # to try; none besides one that is given
    told = launched(module, function)
    while True:
        attempts: list[Raiser] = []
        try:
            kernel = _raise(module, function, options, known, attempts)
            hindering |= _scratch(attempts[-1])
            loose = frozenset(attempts[-1].cx.extents) - known.launched
            if kernel.launch == "required" and loose:
                # the launch is given: where it covers less than the guards, the result is less
                known = replace(known, launched=known.launched | loose)
                continue
            left = [e for s in kernel.body for e in statement_expressions(s)]
            more = _tiled(attempts[-1].cx, known) or _finer(attempts[-1].cx, known, left)
            if more is None:
                last = attempts[-1]
                vain = idle(last.cx, last.st, last.inlined, last.ways)
                if (vain or last.cx.unfilled) and start.ways:
                    raise _Unfilled
                if vain or last.cx.unfilled:
                    full = _filled(module, function, options, known, last, told)
                    if full is not None:
                        return full
                if vain and first is not None:  # the size is a guess, and it makes a store one that never happens
                    raise with_attempts(first, tried)
                kernel = _unconditional(module, function, options, known) or kernel
                return _guarded(module, function, options, known, attempts[-1]) or kernel if kernel.launch else kernel
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
            more = replace(known, ways=known.ways | {threads.LANES: 1})
        except Refused as refused:
            first = _further(first, refused)
            tried.append(Attempt(known, refused))
            if attempts:
                hindering |= _scratch(attempts[-1])
            more = _after(attempts[-1], known, refused) if attempts else None
            if more is not None and contradicts(more.ways, told):
                more = None
            if more is None and attempts:
                last = attempts[-1]
                names = {} if sizes is not None or start.named else named_sizes(last.inlined, function)
                if sizes is None and not names:
                    among = suggested(last.inlined, {}) if last.cx.cooperative or known.ways == {} else []
                    among += [w for w in (_guarded_cells(last),) if last.cx.cooperative and w not in among]
                    sizes = as_launched(among, told)
                if names:
                    start = replace(start, named=names)  # once: with it or without it
                    more = start
                elif sizes:
                    more = replace(start, ways=sizes.pop(0), named={})
                elif last.unrolls() and not known.unroll:
                    more = replace(start, unroll=True)  # without a suggested size: a race may hide behind both
                elif known.unroll and not start.ways and (filled := _widest(last, told)) and known.ways != filled:
                    more = replace(start, unroll=True, ways=filled)
                elif not start.parts and split(last.inlined) is not last.inlined:
                    sizes, start = None, replace(start, named={}, parts=True)
                    more = start
            if more is None:
                raise with_attempts(first, tried) from None
        known = more


def _filled(
    module: k.Module, function: k.Function, options: Options, known: Learned, attempt: Raiser, told: threads.Ways
) -> eq.Kernel | None:
    """The equations for blocks of another size, where this one makes no sense of the source; None if no size
    does better, or the launches say which it is."""
    if all(abs(n) == 1 for n in known.ways.values()) or any(told.get(axis) == abs(n) for axis, n in known.ways.items()):
        return None
    for ways in as_launched([_widest(attempt, told), _guarded_cells(attempt), *suggested(attempt.inlined, {})], told):
        if ways and {a: abs(n) for a, n in ways.items()} != {a: abs(n) for a, n in known.ways.items()}:
            begun = replace(known.begun(), ways=ways)
            try:
                return _search(module, function, options, begun, set())
            except (Refused, _Unfilled):
                continue
    return None


def _unconditional(module: k.Module, function: k.Function, options: Options, known: Learned) -> eq.Kernel | None:
    """The equations without what was assumed of the sizes, where the proof can do without it since more is known (the
    block and its threads are apart); None if nothing was assumed, or if it was needed."""
    if not known.assumed:
        return None
    return _once(module, function, options, replace(known, assumed=()))


def _guarded(
    module: k.Module, function: k.Function, options: Options, known: Learned, attempt: Raiser
) -> eq.Kernel | None:
    """The equations where unsigned differences (``i < n - 1``) do not wrap round, so that they bound the threads; None
    if the launch has a say even then."""
    natural = tuple(c for c in attempt.cx.unsigned if c not in known.assumed)
    if not natural:
        return None
    kernel = _once(module, function, options, replace(known, assumed=(*known.assumed, *natural)))
    return None if kernel is None or kernel.launch else kernel


def _once(module: k.Module, function: k.Function, options: Options, known: Learned) -> eq.Kernel | None:
    """The equations with what is ``known`` and no more; None if they ask for more."""
    attempts: list[Raiser] = []
    try:
        kernel = _raise(module, function, options, known, attempts)
        left = [e for s in kernel.body for e in statement_expressions(s)]
        return kernel if _finer(attempts[-1].cx, known, left) is None else None
    except (Refused, Transient, LongRows, Sized, Tied, Apart, Lanes):
        return None


def _widest(attempt: Raiser, told: threads.Ways) -> threads.Ways:
    """Blocks that fill the shared arrays with a cell for each thread: a race of fewer threads is one of theirs, too."""
    ways = {axis: -n for axis, n in attempt.cx.most.items() if n > 1}
    return {} if contradicts(ways, told) else ways


def _guarded_cells(attempt: Raiser) -> threads.Ways:
    """Blocks with a thread for each cell that is filled under a guard."""
    return {axis: -n for axis, n in limits(attempt.inlined, guarded=True).items() if n > 1}


def _further(first: Refused | None, later: Refused) -> Refused:
    """The refusal to report: the first, unless that run broke off on its way and the later one came to the proofs."""
    if first is None:
        return later
    if all(d.code == "KR201" for d in first.diagnostics) and all(d.code == "KR204" for d in later.diagnostics):
        return later  # blocks of the size that the source suggests have no race, but leave an array
    broke_off = not any(d.code in _PROOFS for d in first.diagnostics)
    return later if broke_off and all(d.code in _PROOFS for d in later.diagnostics) else first


def _after(attempt: Raiser, known: Learned, refused: Refused) -> Learned | None:
    """What to try after a run was refused; None if nothing is left."""
    cx, accesses = attempt.cx, attempt.st.accesses
    natural = tuple(c for c in cx.unsigned if c not in known.assumed)
    if natural and any(d.code in (*_PROOFS, "KR207") for d in refused.diagnostics):
        # a guard by an unsigned difference bounds nothing where it wraps round
        return replace(known, assumed=(*known.assumed, *natural))
    if any(d.code in _PROOFS for d in refused.diagnostics):
        masks = not cx.masking <= known.powers
        if masks or ((attempt.splits or attempt.whole) and not known.part_rows):
            return replace(known, part_rows=True, powers=known.powers | cx.masking)
        open_ended = unguarded(cx, accesses)
        if not known.launched.issuperset(open_ended):
            return replace(known, launched=known.launched | {*open_ended})
        rows = others_rows(accesses, cx.made)
        if rows.keys() - known.rows.keys():
            return replace(known, rows=known.rows | rows)
        tiled = _tiled(cx, known)
        if tiled is not None:
            return tiled
        wanted = _wanted(cx, known.assumed)
        rows_filled = widths(wanted)
        if rows_filled.keys() - known.widths.keys():
            parts = shares(wanted, {a: -way for a, way in known.ways.items() if way < threads.APART})
            return replace(known, widths=rows_filled | known.widths, shares=parts | known.shares)
        if wanted != known.assumed:
            # what the sizes must be for the proof; the emitted function checks it
            return replace(known, assumed=wanted)
        further = tuple(c for c in apart(accesses) if c not in known.assumed)
        if further:
            return replace(known, assumed=(*known.assumed, *further))
    shared = coarsened.elements(cx, known.ways, accesses)
    if shared and not known.coarse and coarsened.all_inside(cx, cx.function.body):
        # what was assumed was to keep the rows of a tile apart: they are now rows of the threads
        return replace(known, coarse=shared, assumed=())
    threads.rows_of_tiles(cx, accesses)
    finer = _finer(cx, known, attempt.seen())
    if finer is None and not known.lone and all(d.code == "KR201" for d in refused.diagnostics):
        lone = lone_axes(cx, accesses)
        return replace(known, lone=lone) if lone else None
    return finer


def _finer(cx: Context, known: Learned, values: list[eq.Expr]) -> Learned | None:
    ways = threads.finer(cx, known.ways, values)
    return None if ways is None else replace(known, ways=ways)


def _tiled(cx: Context, known: Learned) -> Learned | None:
    """The sizes that whole tiles make up, where the last tile would leave a row or the launch."""
    if not cx.cooperative and not known.coarse:
        return None
    tiles = {axis: abs(known.ways.get(axis, 0)) * known.shares.get(axis, 1) for axis in known.widths}
    rows = [(row, tiles[axis]) for axis, row in known.widths.items()]
    found = cx.wished | multiples.whole(rows)
    if not found.keys() - known.multiples.keys():
        return None
    return replace(known, multiples=found | dict(known.multiples))


def _wanted(cx: Context, assumed: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
    """The conditions to assume next: first those of the arrays that the kernel stores to, then all. An array that is
    only loaded may have rows that overlap."""
    if assumed:
        return (*assumed, *(c for c in cx.wanted if c not in assumed))
    stored = written(cx.module, cx.function)
    return tuple(c for c, arrays in cx.wanted.items() if arrays & stored) or tuple(cx.wanted)


def _raise(
    module: k.Module, function: k.Function, options: Options, known: Learned, attempts: list[Raiser]
) -> eq.Kernel:
    """The equations with what is ``known``; ``attempts`` gets every run that was started."""
    bounded = known.launched
    splits: list[tuple[str, eq.Expr]] = []
    digits: dict[str, str] = {}
    whole: set[str] = set()
    strided: set[str] = set()
    unbound = ""
    for _ in range(24):
        attempt = Raiser(module, function, options, bounded)
        attempt.splits, attempt.digits, attempt.ways = splits, digits, known.ways
        attempt.whole, attempt.strided = whole, strided
        known.enter(attempt.cx)
        attempts.append(attempt)
        try:
            kernel = attempt.run()
            found = {n: d for n, d in attempt.cx.digit_names.items() if n not in digits}
            if not found:
                return kernel
            digits |= found  # once more, under the names that the source has for the digits
        except Split as split:
            splits.append((split.name, split.size))
            if split.strided:
                strided.add(split.name)
        except Unbounded as unbounded:
            # an unguarded kernel: the launch is what bounds this index
            name = attempt.cx.whole_of.get(unbounded.name, unbounded.name)
            if name in bounded:
                break
            if splits and unbounded.name in attempt.cx.digits:
                # nothing bounds the digits: the index stays whole, its quotient and remainder are gathers
                whole.add(splits.pop()[0])
                continue
            bounded |= {name}
            unbound = name
    reason = f"nothing bounds index {unbound}" if unbound else "its indices are divided in too many ways"
    raise refuse("KR205", reason, function.span)


def _scratch(attempt: Raiser) -> frozenset[str]:
    """The arrays of the function's own that tied the rounds of a loop and that it does not return."""
    returned = {r.array for r in attempt.returns if r is not None}
    return frozenset(attempt.cx.hindering - returned)


__all__ = ["Refused", "raise_function"]
