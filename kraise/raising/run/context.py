"""What stays the same while one kernel is raised: the source, the indices of its threads, supplies of fresh names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kraise.analysis.poly import Poly, to_poly
from kraise.diagnostics import Span, refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT, ArrayType, ScalarType, StructType
from kraise.ir.walk import free_indices
from kraise.raising.collective.requests import Joint
from kraise.raising.threads.splits import Splitting

MOST = 20_000  # statements of one attempt


@dataclass(frozen=True)
class Strided:
    """Threads that take every ``size``-th element: ``number`` is a thread's, made of ``digits``, each an index with how
    many values it has; the first one starts at ``origin``."""

    digits: tuple[tuple[str, eq.Expr], ...]
    number: eq.Expr
    size: eq.Expr
    origin: eq.Expr = eq.Const(0, INT)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.digits)


@dataclass
class Context:
    """One kernel being raised. ``threads`` are the names of the thread and block indices, by (kind, axis)."""

    module: k.Module
    function: k.Function
    threads: dict[tuple[str, int], eq.Expr] = field(default_factory=dict)
    thread_names: tuple[str, ...] = ()
    types: dict[str, ScalarType] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    relied: list[eq.Check] = field(default_factory=list)  # what the raiser takes for granted of data
    helpers: dict[str, eq.Helper] = field(default_factory=dict)
    kept: dict[str, eq.Helper | None] = field(default_factory=dict)  # which called functions stay functions
    # the scalars that decide sizes and branches of a function, once they are asked for
    steers: tuple[k.Function, frozenset[str]] | None = None
    injective: frozenset[str] = frozenset()
    once: frozenset[str] = frozenset()  # arrays whose elements no two threads store to (declared)
    sorted: frozenset[str] = frozenset()  # arrays that are taken to be sorted in the question under way
    said_once: frozenset[str] = frozenset()  # those of them of which it could not be proved
    calls: tuple[str, ...] = ()
    axes: dict[str, int] = field(default_factory=dict)
    extents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    multiples: Mapping[eq.Expr, int] = field(default_factory=dict)  # parameters that are whole tiles
    groups: Mapping[eq.Param, eq.Param] = field(default_factory=dict)  # parameters that are multiples of others
    radices: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # what threads' indices are divided by
    in_fields: frozenset[str] = frozenset()  # indices of threads in fields as long as the launch
    planes: Mapping[str, eq.Expr] = field(default_factory=dict)  # what a block's index has whole rows of, by its name
    quotients: dict[eq.Param, eq.Param] = field(default_factory=dict)  # those that the source divides by others
    coarse: Mapping[int, int] = field(default_factory=dict)  # threads that share the elements of a tile, by axis
    tile: dict[int, int] = field(default_factory=dict)  # those elements
    # by axis whose loop over them is under way, the index of one of them
    sharing: dict[int, eq.Expr] = field(default_factory=dict)
    tied: Mapping[str, int] = field(default_factory=dict)  # parameters that are so many times a block's threads
    blockwise: dict[eq.Expr, set[str]] = field(default_factory=dict)  # wanted of a block's size, by array
    tying: dict[str, int] = field(default_factory=dict)  # those that had better be: their rows are the blocks
    named: Mapping[int, eq.Param] = field(default_factory=dict)  # parameters that are a block's threads, by axis
    lone: frozenset[int] = frozenset()  # axes along which the launch has one block
    in_line: frozenset[int] = frozenset()  # axes along which a block has one thread
    unroll: bool = False  # loops with barriers are written out
    registers: bool = False  # small arrays of a thread are scalars
    touched: dict[Any, Any] = field(default_factory=dict)  # the cells that the threads of a block touch, by access
    wished: dict[eq.Expr, int] = field(default_factory=dict)  # those that had better be
    shared_out: dict[eq.Param, eq.Param] = field(default_factory=dict)  # those that had better be multiples of others
    in_shares: dict[eq.Param, eq.Param] = field(default_factory=dict)  # those whose rows keep to themselves then
    stepped: dict[tuple[str, eq.Expr], int] = field(default_factory=dict)  # rows of an array, by the steps in them
    spans: Mapping[int, int] = field(default_factory=dict)  # the elements of such a row that a block fills
    widths: Mapping[int, eq.Expr] = field(default_factory=dict)  # the rows that the launch fills, by axis
    assumed: tuple[eq.Expr, ...] = ()  # conditions on sizes that the emitted function checks
    # such conditions that might help a proof, and the arrays whose rows they keep apart
    wanted: dict[eq.Expr, set[str]] = field(default_factory=dict)
    unsigned: dict[eq.Expr, None] = field(default_factory=dict)  # those that keep unsigned differences from wrapping
    one_line: bool = False  # the grid's rows of blocks make one line of threads
    part_rows: bool = False
    powers: frozenset[eq.Expr] = frozenset()  # sizes that are taken to be powers of two
    masking: set[eq.Expr] = field(default_factory=set)  # sizes n of ``i & (n - 1)``
    splitting: Splitting = field(default_factory=Splitting)
    divisible: set[str] = field(default_factory=set)  # indices that may be taken apart by a division
    digits_by_number: set[tuple[str, int, bool]] = field(default_factory=set)  # of which index, and which digit
    digits: dict[str, str] = field(default_factory=dict)  # the neutral name of a digit, by the name it has in this run
    digit_names: dict[str, str] = field(default_factory=dict)  # what the source calls a digit, by its neutral name
    launch_path: tuple[eq.Expr, ...] = ()
    whole_rows: set[str] = field(default_factory=set)  # indices of all threads and rounds of a loop over a row
    strides: dict[str, Strided] = field(default_factory=dict)  # by an index of thread and rounds
    shared_ends: dict[tuple[tuple[str, ...], eq.Expr], None] = field(default_factory=dict)  # elements, by who take them
    dealt: dict[str, eq.Expr] = field(default_factory=dict)  # an index over all elements: how many each thread has
    facts: tuple[eq.Expr, ...] = ()  # more that the launch implies, for proofs
    of_tables: tuple[eq.Expr, ...] = ()  # bounds of what is loaded from the module's tables
    blocks: tuple[str, ...] = ()  # the indices of the block, whether or not they are axes of their own
    persistent: frozenset[int] = frozenset()  # axes along which there is a block for each row, however many there are
    # in a round of each loop with some: all but warps', the grid's, all
    barriers: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    rounds_around: tuple[eq.Axis, ...] = ()  # the parameters that count the rounds of loops around the launches
    meetings: bool = False  # the whole grid meets somewhere
    loop_ends: set[str] = field(default_factory=set)  # indices of blocks and threads that say where a loop ends
    stepping: bool = False  # the lanes of a warp meet somewhere
    steps: dict[str, int] = field(default_factory=dict)  # from a round's index to the next one's, by level
    rounds: dict[str, str] = field(default_factory=dict)  # the index of each such loop
    sites: dict[str, int] = field(default_factory=dict)  # how many stores to an array that the kernel makes
    overwritten: dict[eq.Version, frozenset[str]] = field(default_factory=dict)  # by later rounds of these loops
    readings: dict[Any, Any] = field(default_factory=dict)  # of stores, over numbers in place of their digits
    scratch: frozenset[str] = frozenset()  # arrays of the function's own that are taken to be made anew where filled
    hindering: set[str] = field(default_factory=set)  # arrays of the function's own that tie the rounds of a loop
    solid: frozenset[str] = frozenset()  # arrays whose rounds must not overwrite each other
    trees: set[eq.Version] = field(default_factory=set)  # of which only the cell that a tree reduction stored is known
    unfilled: set[str] = field(default_factory=set)  # shared arrays of which a cell is read that nobody has stored to
    undefined: dict[str, Span | None] = field(default_factory=dict)  # those of which one is read whatever the sizes are
    clobbered: set[eq.Version] = field(default_factory=set)  # those, and what was made of them
    rows: dict[str, tuple[Poly, ...]] = field(default_factory=dict)  # of flat arrays: the radices of other accesses
    made: dict[str, Any] = field(default_factory=dict)  # every array that the kernel makes
    most: dict[int, int] = field(default_factory=dict)  # the most threads that a block can have, by axis
    hints: dict[int, int] = field(default_factory=dict)  # the block size, by axis, that a tree reduction counts on
    single: dict[str, eq.Expr] = field(default_factory=dict)  # extents of the launch that are 1 unless it is given
    checks: list[tuple[eq.Expr, str]] = field(default_factory=list)
    ragged: dict[str, set[Any]] = field(default_factory=dict)  # loops over segments of a flat range, by their index
    ragged_arrays: set[str] = field(default_factory=set)  # made for their rows and totals
    longest: frozenset[Any] = frozenset()  # loops that run to their longest row
    cooperative: bool = False  # there are shared arrays or warp primitives
    shared: set[str] = field(default_factory=set)  # their names
    apart: bool = False  # dynamic ones are taken apart
    parts: frozenset[str] = frozenset()  # what came of it: accesses must be proved to keep to them
    from_end: dict[tuple[Any, int], Any] = field(default_factory=dict)  # see memory/from_end
    below: dict[tuple[Any, int], Any] = field(default_factory=dict)  # accesses found to be below zero
    tile_rows: bool = False  # flat tiles in shared memory are seen in rows
    pitched: frozenset[str] = frozenset()  # what came of it: columns must be proved to stay within their row
    lane: str | None = None  # the index of the lane, where a warp's lanes are an index of their own
    part_lanes: dict[int, int] = field(default_factory=dict)  # a way in which running values of a part have an axis
    warp: int = 32  # how many lanes that are: of a whole warp, or of the parts of it that work on their own
    whole_of: dict[str, str] = field(default_factory=dict)  # the thread's index, by its warp's and its lane's
    registers_kept: set[str] = field(default_factory=set)  # arrays that hold what the lanes exchange
    trials: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)  # what loops that are, or were, tried
    # with free rounds carry, and the indices on which that may depend
    runs: int = 0  # joint computations found so far
    statements: int = 0  # run so far
    # where one thread alone holds what several have summed, and in which runs of statements they have
    halves: dict[eq.Expr, frozenset[Joint]] = field(default_factory=dict)
    each: frozenset[Joint] = frozenset()  # such runs after which other threads have asked for what they hold
    asked: set[Joint] = field(default_factory=set)  # those after which they do in this run
    ballots: dict[eq.Expr, eq.Expr] = field(default_factory=dict)  # by the bits of a ballot, what each lane voted
    loop: Callable[..., None] = field(default=lambda *_: None)  # how the statements run what they hold
    while_loop: Callable[..., None] = field(default=lambda *_: None)
    call: Callable[..., eq.Expr | None] = field(default=lambda *_: None)
    _versions: Counter[str] = field(default_factory=Counter)
    _folds: int = 0
    _ways: dict[str, object] = field(default_factory=dict)  # what each index was called into being for

    def bodies(self) -> tuple[tuple[k.Stmt, ...], ...]:
        """The statements of the kernel, and those of each function that it calls."""
        functions = {f.name: f for f in self.module.functions}
        return (self.function.body, *(functions[c].body for c in self.calls if c in functions))

    def tiles_are_exact(self) -> bool:
        """Whether conditions tie each block's index to its threads (or the block is an axis of its own)."""
        return all(b in self.thread_names or any(free_indices(c) > {b} for c in self.facts) for b in self.blocks)

    def version(self, array: str) -> eq.Version:
        """A new version of ``array``; the first is what came in."""
        number = self._versions[array]
        self._versions[array] += 1
        return eq.Version(array, number)

    def note(self, text: str) -> None:
        """Remembers a choice for ``explain``, once."""
        if text not in self.notes:
            self.notes.append(text)

    def lanes(self) -> frozenset[str]:
        """The index that tells the lanes of a warp apart, where there is one: the lane, or a thread's index of 32."""
        thread, block = self.threads.get(("thread", 0)), self.threads.get(("blockDim", 0))
        if self.lane is not None:
            return frozenset((self.lane,))
        alone = isinstance(thread, eq.Index) and isinstance(block, eq.Const) and block.value == 32
        return frozenset((thread.name,)) if alone and isinstance(thread, eq.Index) else frozenset()

    def block_size(self) -> eq.Param:
        """What is checked of the number of a block's threads along x: the launch's, or the template's integer."""
        return self.named.get(0, eq.Param("block.x", INT))

    def named_blocks(self) -> list[tuple[eq.Expr | None, eq.Expr]]:
        """The parameters that are a block's threads, each behind the index of the blocks along its axis."""
        return [(self.threads.get(("block", axis)), size) for axis, size in self.named.items()]

    def whole_warps(self) -> None:
        """Demands blocks of whole warps."""
        rest = eq.Op("mod", (self.block_size(), eq.Const(32, INT)), INT)
        found = (eq.Op("eq", (rest, eq.Const(0, INT)), BOOL), "block must be a multiple of 32")
        if found not in self.checks:
            self.checks.append(found)
            self.assumptions.append("block is a multiple of 32 (whole warps)")
            self.facts = (*self.facts, eq.Op("ge", (self.block_size(), eq.Const(32, INT)), BOOL))

    def has_one(self, size: eq.Expr) -> bool:
        """Demands that a size is positive: the source reads a first element whatever it is."""
        if not isinstance(size, eq.Param) or "." in size.name:
            return False
        found = (eq.Op("ge", (size, eq.Const(1, INT)), BOOL), f"{size.name} must be positive")
        if found[0] not in self.assumed and found not in self.checks:
            self.checks.append(found)
            self.assumptions.append(f"{size.name} is positive (the first of so many elements is read)")
        return True

    def stride(self, thread: str) -> Poly:
        """The number of threads along the axis of the global thread index ``thread``."""
        axis = self.axes[thread]
        extents = [self.threads[kind, axis] for kind in self.extents[thread]]
        out = Poly({(): 1})
        for e in extents:
            out = out * to_poly(e)
        return out

    def tail(self, array: str) -> int:
        """The axes of an array that its type fixes: one for ``float4 *``."""
        found = array_type(self.function, array)
        return 0 if found is None else len(found.tail)

    def step(self, span: Span | None) -> None:
        """One statement more; refused where there are too many of them (those of a loop count as often as it is run,
        and a loop within loops is run again for each)."""
        self.statements += 1
        if self.statements > MOST:
            reason = f"raising this takes more than {MOST} steps: its loops stand too deep in each other"
            raise refuse("KR299", reason, span, "make kernels of the inner loops")

    def fold(self, name: str) -> str:
        """A name for a fold that no other fold of the kernel has."""
        self._folds += 1
        return f"{name}#{self._folds}"

    def index(self, name: str, open_names: tuple[str, ...], way: object = None) -> eq.Index:
        """An index called ``name``, or ``name_2`` … if an open one has that name, or one that is thread and round
        in one (``way``) where this is none, or another one, or the other way round."""
        name = name.removesuffix("$round").lstrip("$") or "k"
        fresh, number = name, 1
        while fresh in open_names or (self._ways.get(fresh, way) != way and fresh not in self.axes):
            number += 1
            fresh = f"{name}_{number}"
        self._ways[fresh] = way
        return eq.Index(fresh, INT)


def array_type(function: k.Function, name: str) -> ArrayType | None:
    """The type of the array parameter (or array member of a struct parameter) ``name``."""
    head, *rest = name.split(".")
    for p in function.params:
        if p.name == head:
            t = p.type
            many = 0
            for member in rest:
                if not isinstance(t, StructType):
                    return None
                many += t.is_array
                t = dict(t.members)[member]
            if isinstance(t, ArrayType):
                return ArrayType(t.element, t.ndim + many, t.tail)
            if isinstance(t, ScalarType) and many:
                return ArrayType(t, many)
    return None
