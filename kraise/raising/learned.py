"""What a run of the middle starts with, and what the runs that were refused had learned.

Each run that fails teaches the next one something (:mod:`kraise.raising.search`). Where all fail, the user sees what
each was refused for, beside the refusal that is reported: the remedy often belongs to one of the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import lcm

from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import INT
from kraise.raising.collective.requests import Joint
from kraise.raising.effort import Effort
from kraise.raising.memory.from_end import FromEnd
from kraise.raising.ragged.loops import Loop
from kraise.raising.ragged.same_rows import Rows
from kraise.raising.run.context import Context
from kraise.raising.threads import indices as threads
from kraise.raising.threads import multiples
from kraise.raising.threads.radices import Radices
from kraise.raising.threads.unguarded import AXES


@dataclass(frozen=True)
class Learned:
    """What a run starts with. ``solid``: arrays whose rounds must not overwrite each other; ``scratch``: those taken to
    be made anew where filled; ``rows``: of flat arrays, the rows in which they are seen; ``assumed``: conditions on
    sizes that the emitted function checks; ``columns``: those among them that see loads in rows; ``longest``: loops
    that run to their longest row; ``launched``: thread indices that the launch bounds; ``in_fields``: those in fields
    as long as the launch; ``coarse``: threads that share the elements of a tile; ``widths``: the rows that the launch
    fills, each block with ``spans`` of their elements; ``multiples``: sizes of whole tiles; ``tied``: sizes that are a
    block's threads; ``named``: template integers that are, by axis; ``lone``: axes along which the launch has one
    block, ``in_line`` those along which a block has one thread; ``unroll``: loops with barriers are written out;
    ``registers``: small arrays of a thread are scalars; ``parts``: dynamic shared arrays are taken apart;
    ``tile_rows``: flat tiles in shared memory are seen in rows;
    ``powers``: sizes that are powers of two; ``part_rows``: the rows into which an index is taken apart may be begun
    and not whole; ``persistent``: axes along which the number of blocks does not matter; ``groups``: sizes that are
    multiples of others; ``radices``: what threads' indices are divided by; ``rounds``: parameters that count the rounds
    of loops around the launches; ``from_end``: subscripts that Python counts from the end; ``each``: runs of exchanges
    after which each lane's value is asked for."""

    ways: threads.Ways = field(default_factory=dict)
    solid: frozenset[str] = frozenset()
    scratch: frozenset[str] = frozenset()
    rows: Rows = field(default_factory=dict)
    assumed: tuple[eq.Expr, ...] = ()
    columns: frozenset[eq.Expr] = frozenset()
    longest: frozenset[Loop] = frozenset()
    launched: frozenset[str] = frozenset()
    in_fields: frozenset[str] = frozenset()
    coarse: dict[int, int] = field(default_factory=dict)
    unroll: bool = False
    tied: dict[str, int] = field(default_factory=dict)
    named: dict[int, eq.Param] = field(default_factory=dict)
    registers: bool = False
    parts: bool = False
    tile_rows: bool = False
    widths: dict[int, eq.Expr] = field(default_factory=dict)
    spans: dict[int, int] = field(default_factory=dict)
    multiples: multiples.Multiples = field(default_factory=dict)
    lone: frozenset[int] = frozenset()
    in_line: frozenset[int] = frozenset()
    part_rows: bool = False
    powers: frozenset[eq.Expr] = frozenset()
    persistent: frozenset[int] = frozenset()
    groups: dict[eq.Param, eq.Param] = field(default_factory=dict)
    radices: Radices = field(default_factory=dict)
    rounds: tuple[eq.Axis, ...] = ()
    from_end: FromEnd = field(default_factory=dict)
    each: frozenset[Joint] = frozenset()
    effort: Effort = field(default_factory=Effort, compare=False)  # of all searches for the function

    def begun(self) -> Learned:
        """What was known before the first run."""
        return Learned(
            scratch=self.scratch,
            registers=self.registers,
            ways=self.ways,
            tile_rows=self.tile_rows,
            persistent=self.persistent,
            groups=self.groups,
            radices=self.radices,
            rounds=self.rounds,
            from_end=self.from_end,
            each=self.each,
            in_line=self.in_line,
            effort=self.effort,
        )

    def enter(self, cx: Context) -> None:
        cx.solid, cx.scratch, cx.rows, cx.assumed = self.solid, self.scratch, self.rows, self.assumed
        cx.unroll, cx.registers, cx.spans, cx.tied = self.unroll, self.registers, self.spans, self.tied
        cx.named, cx.lone, cx.apart, cx.part_rows = self.named, self.lone, self.parts, self.part_rows
        cx.groups, cx.radices, cx.in_fields = self.groups, self.radices, self.in_fields
        cx.powers, cx.tile_rows, cx.persistent = self.powers, self.tile_rows, self.persistent
        cx.rounds_around, cx.from_end, cx.each = self.rounds, dict(self.from_end), self.each
        cx.longest, cx.widths, cx.coarse, cx.in_line = self.longest, self.widths, self.coarse, self.in_line
        cx.multiples = dict(self.multiples)
        for name, by in cx.function.multiples:
            size = eq.Param(name, INT)
            cx.multiples[size] = lcm(by, cx.multiples.get(size, 1))


@dataclass(frozen=True)
class Attempt:
    """A run that was refused: what it started with, and why."""

    known: Learned
    refused: Refused


def with_attempts(reported: Refused, attempts: Iterable[Attempt]) -> Refused:
    """``reported`` with the other attempts as causes, in the order in which they were made: for each way of reading
    the threads the last word; ways with one finding are one cause."""
    last = {how: a.refused.diagnostics for a in attempts if (how := _way(a.known))}
    ways: dict[tuple[str, str, Span | None], tuple[Diagnostic, list[str]]] = {}
    for how, diagnostics in last.items():
        for d in diagnostics:
            ways.setdefault(_finding(d), (d, []))[1].append(how)
    said = {_finding(d) for d in reported.diagnostics}
    causes = [
        replace(
            d, reason=f"tried {'; '.join(how)}: {'the same' if found in said else d.reason}", hint="", severity="note"
        )
        for found, (d, how) in ways.items()
    ]
    first, *rest = reported.diagnostics
    return Refused(replace(first, causes=(*first.causes, *causes)), *rest) if causes else reported


def _finding(d: Diagnostic) -> tuple[str, str, Span | None]:
    """What is found where, without the instance that shows it (it comes last, in brackets)."""
    return d.code, d.reason.split(" (")[0], d.span


def _way(known: Learned) -> str:
    """How the run took the threads, sizes and arrays, in words; "" for the plain reading."""
    out: list[str] = []
    for axis, way in sorted(known.ways.items()):
        if axis == threads.LANES:
            part = "of a warp" if way == 32 else f"among {way} of a warp"
            out.append(f"with the lane {part} as an index")
        elif way == threads.APART:
            out.append(f"with block and thread as two indices along {AXES[axis]}")
        else:
            out.append(f"with blocks of {abs(way)} threads along {AXES[axis]}")
    out += [f"with {render_expr(size)} as the block's size along {AXES[a]}" for a, size in sorted(known.named.items())]
    out += [f"with one block along {AXES[axis]}" for axis in sorted(known.lone)]
    if known.coarse:
        out.append("with the elements of a tile shared among the threads")
    if known.unroll:
        out.append("with the loops around barriers written out")
    if known.parts:
        out.append("with the dynamic shared array as several")
    if known.tile_rows:
        out.append("with the flat tiles in shared memory as rows")
    if known.registers:
        out.append("with small arrays as scalars")
    return ", ".join(out)


__all__ = ["Attempt", "Learned", "with_attempts"]
