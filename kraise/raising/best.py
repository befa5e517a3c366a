"""The equations of a function: the best of what a few readings of its source give.

Arrays of a function's own, small ones as scalars, flat tiles as rows and what inner loops add up are read in another
way where that leaves fewer loops; each reading is a search of its own (:mod:`kraise.raising.search`).
"""

from __future__ import annotations

from dataclasses import replace

from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.options import Options
from kraise.raising.learned import Learned
from kraise.raising.left import carried, loops, made, remade
from kraise.raising.lessons import witnessed
from kraise.raising.loops.partial_sums import partial_sums
from kraise.raising.loops.registers import small
from kraise.raising.loops.repeated import as_loops
from kraise.raising.loops.tidied import tidied
from kraise.raising.memory.numbered import numbered
from kraise.raising.memory.pitched import NoRows
from kraise.raising.memory.staged_types import with_staged_types
from kraise.raising.memory.unset import check_set
from kraise.raising.run.calls import called
from kraise.raising.search import search
from kraise.raising.threads.corners import with_whole_guards
from kraise.raising.threads.counted import counted, without_idle
from kraise.raising.threads.one_row import in_one_line, in_one_row
from kraise.raising.threads.persistent import one_row_each
from kraise.raising.threads.tickets import by_last_block
from kraise.raising.threads.twins import without_twins


def raise_function(
    module: k.Module, function: k.Function, options: Options, rounds: tuple[eq.Axis, ...] = ()
) -> eq.Kernel:
    """The equations of ``function``; its parameters among ``rounds`` count those of loops around its launches.

    Arrays of the function's own that tie the rounds of a loop are taken to be made anew where they are filled, if that
    leaves fewer loops.

    Raises:
        Refused: with every diagnostic that says why it cannot be raised.
    """
    if function.kind == "kernel" and (looped := as_loops(function.body)) is not function.body:
        try:
            return _raised(module, replace(function, body=looped), options, rounds)
        except Refused:
            pass  # as it stands
    return _raised(module, function, options, rounds)


def _raised(module: k.Module, function: k.Function, options: Options, rounds: tuple[eq.Axis, ...]) -> eq.Kernel:
    best: eq.Kernel | None = None
    refused: Refused | None = None
    helpers = called(module, function)
    functions = tuple(replace(f, body=tidied(f.body)) if f.name in helpers else f for f in module.functions)
    body = with_whole_guards(tidied(function.body))
    module, function = replace(module, functions=functions), replace(function, body=body)
    function = in_one_row(module, without_idle(module, function))
    try:
        best = _best(module, function, options, rounds)
    except Refused as why:
        refused = why
    line = in_one_line(module, function) if best is None or best.launch == "required" else None
    if line is not None:
        try:
            by_number = _best(module, line, options, rounds)
        except Refused:
            by_number = None
        if by_number is not None and not (by_number.launch or by_number.tile or by_number.of_launch):
            check_set(module, function, helpers)
            return replace(by_number, alone=without_twins(module, line, helpers))
    if best is None:
        assert refused is not None
        raise refused
    check_set(module, function, helpers)
    adds = tuple(x for x in ("grid", "block") if counted(module, function, helpers, shared=x == "block"))
    return replace(best, alone=without_twins(module, function, helpers), adds=adds)


def _best(module: k.Module, function: k.Function, options: Options, rounds: tuple[eq.Axis, ...]) -> eq.Kernel:
    """The equations of ``function`` as it is written: raises Refused, as above."""
    function = by_last_block(module, function)
    function, converts = with_staged_types(replace(function, body=numbered(function.body)))
    function, persistent = one_row_each(module, function)
    begun = Learned(persistent=persistent, rounds=rounds)
    best: eq.Kernel | None = None
    plain: eq.Kernel | None = None  # as it stands
    first: Refused | None = None
    scratch: frozenset[str] = frozenset()
    while True:
        hindering: set[str] = set()
        try:
            kernel = search(module, function, options, replace(begun, scratch=scratch), hindering)
            plain = plain if scratch else kernel
            if best is None or loops(kernel.body) < loops(best.body):
                best = kernel
        except Refused as refused:
            first = first or refused
        if not hindering - scratch or begun.effort.spent:
            break
        scratch |= hindering
    arrays = [x for x in walked(function.body) if isinstance(x, k.LocalArray) and x.space == "local"]
    if best is None and first is not None and witnessed(first):
        raise first  # two threads meet, however the arrays are read
    if best is None and first is not None and begun.effort.spent:
        raise first
    own = {x.name for x in arrays}
    large = {x.name for x in arrays if not small(x)}  # a loop that carries one of these would carry it still
    if own and (best is None or (carried(best.body, own) and not carried(best.body, large))):
        best = _in_registers(module, function, options, own, best, begun)
    flat = {x.name for x in walked(function.body) if isinstance(x, k.LocalArray) and x.space == "shared"}
    if flat and (best is None or made(best.body) & flat):
        best = _in_tile_rows(module, function, options, flat, best, begun, plain)
    if best is None:
        assert first is not None
        raise first
    best = (loops(best.body) > 1 and _in_parts(module, function, options, best, begun)) or best
    return replace(best, converts=converts) if converts else best


def _tried(module: k.Module, function: k.Function, options: Options, known: Learned) -> eq.Kernel | None:
    try:
        return search(module, function, options, known, set())
    except Refused:
        return None


def _in_registers(
    module: k.Module, function: k.Function, options: Options, own: set[str], best: eq.Kernel | None, begun: Learned
) -> eq.Kernel | None:
    """The equations with the small arrays among a thread's ``own`` as scalars, if no loop carries them and there are
    no more loops than in ``best``: fewer, where each round of a loop makes them as a whole, for they are an axis."""
    kernel = _tried(module, function, options, replace(begun, registers=True))
    if kernel is None or carried(kernel.body, own):
        return best
    most = loops(best.body) if best else loops(kernel.body)
    return best if loops(kernel.body) > most - (best is not None and remade(best.body, own)) else kernel


def _in_tile_rows(
    module: k.Module,
    function: k.Function,
    options: Options,
    shared: set[str],
    best: eq.Kernel | None,
    begun: Learned,
    plain: eq.Kernel | None,
) -> eq.Kernel | None:
    """The equations with the flat tiles among the ``shared`` arrays in rows, if fewer arrays are left so; where no tile
    has rows, they are the ``plain`` ones."""
    try:
        kernel = _tried(module, function, options, replace(begun, tile_rows=True))
    except NoRows:
        kernel = plain
    if kernel is None or (best and len(made(kernel.body) & shared) >= len(made(best.body) & shared)):
        return best
    return kernel


def _in_parts(
    module: k.Module, function: k.Function, options: Options, best: eq.Kernel, begun: Learned
) -> eq.Kernel | None:
    """The equations with sums of their own in loops within loops, if fewer loops are left so."""
    body = partial_sums(function.body)
    kernel = None if body == function.body else _tried(module, replace(function, body=body), options, begun)
    return kernel if kernel is not None and loops(kernel.body) < loops(best.body) else None


__all__ = ["raise_function"]
