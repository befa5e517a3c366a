"""Launches: blocks that fit what the kernel shares, grids that cover what it guards, found by running it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.launches import one_block
from kraise.ir.types import INT
from kraise.ir.walk import topological
from kraise.verify import interpreter
from kraise.verify.errors import InterpreterError
from kraise.verify.facts import Facts, walk
from kraise.verify.probe import Probe

Triple = tuple[int, int, int]
Running = Callable[[Triple, Triple], Probe]
TILE = 8  # what a template's integer is, where an array in shared memory has that size
MOST_ROUNDS = 15_000  # of the loops of all threads, after which a search that has tried three grids ends
MOST_THREADS = {1: 8_000, 2: 6_000, 3: 30_000}  # of a search, by the axes in use


def reached(source: k.Module, function: k.Function) -> list[k.Function]:
    """The function and all that it calls, directly or not."""
    facts = Facts(source)
    found = {function.name: function}
    todo = [function]
    while todo:
        for call in facts.calls(todo.pop()):
            if call.function not in found:
                found[call.function] = facts.functions[call.function]
                todo.append(found[call.function])
    return list(found.values())


def used_axes(source: k.Module, function: k.Function) -> tuple[int, ...]:
    """The axes of the launch that the kernel looks at: none where one thread does it all."""
    nodes = [n for f in reached(source, function) for n in walk(f.body)]
    axes = {n.axis for n in nodes if isinstance(n, k.Hw)}
    return tuple(sorted(axes)) or ((0,) if any(isinstance(n, k.Warp) for n in nodes) else ())


def template_sizes(function: k.Function) -> dict[str, int]:
    """Values for the integers of a template that nothing in the file instantiates: a block's size, a small radius."""
    named = {
        n.name
        for array in walk(function.body)
        if isinstance(array, k.LocalArray) and array.space == "shared"
        for n in walk(array.shape)
        if isinstance(n, k.Var)
    }
    return {name: TILE if name in named else 2 + at for at, name in enumerate(function.static)}


def block_candidates(
    source: k.Module, function: k.Function, demanded: Mapping[int, int] | None = None
) -> Iterator[Triple]:
    """Blocks to try: those that numbers in thread indices, shared arrays and warps suggest, then one that divides
    nothing; one thread along an axis of which only the block is looked at; ``demanded`` numbers along their axes."""
    functions = reached(source, function)
    nodes = [n for f in functions for n in walk(f.body)]
    alone = {n.axis for n in nodes if isinstance(n, k.Hw)} - {
        n.axis for n in nodes if isinstance(n, k.Hw) and n.kind in ("thread", "blockDim")
    }
    if not used_axes(source, function):
        yield 1, 1, 1
        return
    for block in _candidates(source, function, functions, nodes):
        chosen = (1 if axis in alone else n for axis, n in enumerate(block))
        yield _block((0, 1, 2), tuple((demanded or {}).get(axis, n) for axis, n in enumerate(chosen)))


def _candidates(
    source: k.Module, function: k.Function, functions: list[k.Function], nodes: list[Any]
) -> Iterator[Triple]:
    axes = used_axes(source, function)
    written = _written_block(nodes)
    if written:
        yield _block((0, 1, 2), tuple(written.get(axis, 4 if axis in axes else 1) for axis in range(3)))
    if TILE in template_sizes(function).values():
        yield _block(axes, (TILE, TILE))
        yield _block(axes, (TILE, 1, 1))
    if any(isinstance(n, k.Warp) for n in nodes):
        yield _block(axes, (64, 1, 1))
        yield _block(axes, (32, 1, 1))
    shared = [n for n in nodes if isinstance(n, k.LocalArray) and n.space == "shared"]
    for array in shared:
        extents = [int(s.value.real) for s in reversed(array.shape) if isinstance(s, k.Const)]
        if not extents or len(extents) != len(array.shape):
            continue
        if len(axes) == 1:
            extents = [*extents[:1]]
        for margin in (0, 1, 2, 4, 8):  # padding against bank conflicts, halos
            block = tuple(n - margin for n in extents[: len(axes)])
            if all(n > 0 for n in block):
                yield _block(axes, block)
        if len(extents) >= 2 and len(axes) >= 2 and extents[0] == extents[1] + 1:
            yield _block(axes, (extents[1], extents[1]))
    for f in functions:
        constants = {n.value for n in walk(f.body) if isinstance(n, k.Const) and n.name and type(n.value) is int}
        for value in sorted(constants, reverse=True):
            if shared and 1 < value <= 256:
                yield _block(axes, (value,) * len(axes) if len(axes) > 1 else (value,))
    if shared:
        yield _block(axes, (8, 4, 2))
    yield _block(axes, {1: (5,), 2: (4, 3), 3: (3, 2, 2)}[len(axes)])
    yield _block(axes, {1: (8,), 2: (4, 4), 3: (2, 2, 2)}[len(axes)])


def _written_block(nodes: list[Any]) -> dict[int, int]:
    """The block's extents that a kernel writes as numbers: ``blockIdx.x * TILE + threadIdx.x``."""
    found: dict[int, int] = {}
    for node in nodes:
        match node:
            case (
                k.Op(name="add", args=(k.Op(name="mul", args=(a, b)), c))
                | k.Op(name="add", args=(c, k.Op(name="mul", args=(a, b))))
            ):
                match (_bare(a), _bare(b), _bare(c)):
                    case (k.Hw(kind="block", axis=x), k.Const(value=n), k.Hw(kind="thread", axis=y)) | (
                        k.Const(value=n),
                        k.Hw(kind="block", axis=x),
                        k.Hw(kind="thread", axis=y),
                    ) if x == y and isinstance(n, int) and 0 < n <= 1024:
                        found.setdefault(x, n)
    return found


def _bare(e: Any) -> Any:
    while isinstance(e, k.Cast):
        e = e.arg
    return e


def _block(axes: tuple[int, ...], extents: tuple[int, ...]) -> Triple:
    block = [1, 1, 1]
    for axis, n in zip(axes, extents, strict=False):
        block[axis] = n
    return block[0], block[1], block[2]


def prober(source: k.Module, name: str, arguments: Mapping[str, Any], shared: int | None) -> Running:
    """The function that runs the kernel on these arguments under a probe. It raises InterpreterError."""

    def running(grid: Triple, block: Triple) -> Probe:
        probe = Probe()
        interpreter.run(source, name, arguments, grid=grid, block=block, shared=shared, detect_races=False, probe=probe)
        return probe

    return running


def covering(axes: tuple[int, ...], block: Triple, running: Running, elements: int = 0) -> tuple[Triple, Probe] | None:
    """The first grid, growing, beyond which nothing more is stored or touched; None where there is no such grid. One
    thread, where the kernel looks at no index of its threads (``block`` is one thread then).

    ``elements`` of the largest array: the search goes on to three times as many threads.
    """
    if not axes:
        return (1, 1, 1), running((1, 1, 1), block)
    most = max(MOST_THREADS[len(axes)], 3 * elements, 2 * _product(block) * 3 ** len(axes))
    last: tuple[Triple, Probe] | None = None
    blocks, tried = 2, 0
    while True:
        grid = _block(axes, (blocks,) * len(axes))
        if last is not None and (_product(grid) * _product(block) > most or _too_much(last[1], tried)):
            return None
        probe, tried = running(grid, block), tried + 1
        if last is not None and (probe.stores, probe.needed) == (last[1].stores, last[1].needed):
            far = running(_block(axes, (4 * blocks,)), block) if len(axes) == 1 and not probe.rounds else probe
            if (far.stores, far.needed) == (last[1].stores, last[1].needed):
                return last  # not the next row's start, further on (``if (i % w == 0)``)
        last = grid, probe
        blocks += max(1, blocks // 2)


def _too_much(last: Probe, tried: int) -> bool:
    """Whether a kernel that does more in every longer grid has been tried enough: nothing guards it."""
    return tried >= 3 and last.rounds > MOST_ROUNDS


def covering_each(grid: Triple, axes: tuple[int, ...], block: Triple, running: Running) -> Triple:
    """``grid``, longer along each of ``axes`` that is guarded: so long that more blocks along it store nothing more."""
    most = 2 * MOST_THREADS[max(len(axes), 1)]
    for axis in axes:
        last: tuple[Triple, Probe] | None = None
        longer, tried = grid, 0
        while _product(longer) * _product(block) <= most and (last is None or not _too_much(last[1], tried)):
            probe, tried = running(longer, block), tried + 1
            if last is not None and (probe.stores, probe.needed) == (last[1].stores, last[1].needed):
                grid = last[0]
                break
            last = longer, probe
            longer = _block((0, 1, 2), tuple(n + max(1, n // 2) * (a == axis) for a, n in enumerate(longer)))
    return grid


def saturating(grid: Triple, block: Triple, running: Running) -> Triple:
    """The block, or a longer one (along x) beyond which its threads store nothing more (``threadIdx.x < w``)."""
    longer = [(n, block[1], block[2]) for n in (16, 32, 64) if n > block[0] and n * block[1] * block[2] <= 512]
    try:
        stores = [running(grid, b).stores for b in (block, *longer)]
    except InterpreterError:
        return block
    if len(stores) < 2 or stores[-1] != stores[-2]:
        return block
    return (block, *longer)[stores.index(stores[-1])]


def exact(
    axes: tuple[int, ...], extents: list[tuple[int, ...]], block: Triple, running: Running
) -> tuple[Triple, Triple] | None:
    """The launch of as many threads an axis as an array has elements, that stores most and stays inside."""
    best: tuple[int, Triple, Triple] | None = None
    for totals in extents:
        chosen = [_divisor(n, block[axis]) for axis, n in zip(axes, totals, strict=True)]
        b = _block(axes, tuple(chosen))
        g = _block(axes, tuple(n // c for n, c in zip(totals, chosen, strict=True)))
        if _product(b) > 1024:
            continue
        try:
            probe = running(g, b)
        except InterpreterError:
            continue
        if not probe.needed and not probe.negative and (best is None or probe.stores > best[0]):
            best = probe.stores, g, b
    return None if best is None else best[1:]


def _divisor(n: int, wish: int) -> int:
    """The divisor of n nearest to the wish, other than 1 and n where there is one."""
    divisors = [d for d in range(2, n) if n % d == 0] or [n]
    return min(divisors, key=lambda d: (abs(d - wish), d))


def extents_to_try(axes: tuple[int, ...], shapes: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Thread totals an axis to try: the written arrays' own axes in any order, flat sizes for one axis."""
    found: dict[tuple[int, ...], None] = {}
    if len(axes) == 1:
        for shape in shapes:
            found[(_product(shape),)] = None
            for n in shape:
                found[(n,)] = None
    else:
        for shape in shapes:
            for chosen in itertools.permutations(shape, len(axes)):
                found[chosen] = None
    return [totals for totals in found if all(totals)]


def _product(extents: tuple[int, ...]) -> int:
    total = 1
    for n in extents:
        total *= n
    return total


def _demands(functions: Iterable[Any], name: str) -> Iterator[tuple[eq.Expr, eq.Expr]]:
    """What a function demands to be equal, of a launch if it is given."""
    for condition in _conditions(functions, name):
        match condition:
            case eq.Op(name="or", args=(_, eq.Op(name="eq", args=(a, b)))) | eq.Op(name="eq", args=(a, b)):
                yield a, b


def _conditions(functions: Iterable[Any], name: str) -> Iterator[eq.Expr]:
    """What a function checks."""
    for function in functions:
        yield from (c for c, _ in getattr(function, "checks", ()) if function.name == name)


def demanded_threads(functions: Iterable[Any], name: str) -> dict[int, int]:
    """The numbers of threads along an axis that a function demands of a block, or says that the source counts on."""
    functions = tuple(functions)
    found: dict[int, int] = {axis: n for f in functions if f.name == name for axis, n in getattr(f, "tile", ())}
    for a, b in _demands(functions, name):
        match a, b:
            case eq.Param(name="block.x" | "block.y" | "block.z" as size), eq.Const(value=int() as n):
                found["xyz".index(size[-1])] = n
    return found | {1: 1, 2: 1} if found and _one_row(functions, name) else found


def _one_row(functions: Iterable[Any], name: str) -> int:
    """The number of axes of a block whose threads a function numbers through; 0 if it does not."""
    return max((getattr(f, "one_row", 0) for f in functions if f.name == name), default=0)


_USUAL, _LARGEST_BLOCK = 6, 1024  # a size that is drawn, or about so; the threads of a block


def demanded_sizes(functions: Iterable[Any], name: str) -> dict[str, int]:
    """Values for the sizes that a function demands to be multiples of a number: two tiles for the first of them; and
    for those of two ends that must not meet (``d <= n - d``), and those that must be a number at least, or a block."""
    found: dict[str, int] = {}
    for condition in _conditions(functions, name):
        match condition:
            case eq.Op(name="le", args=(eq.Param(name=width) as d, begin)) if d in topological((begin,)):
                found[width] = 2
            case eq.Op(name="ge", args=(eq.Param(name=width), eq.Const(value=int() as least))) if least > _USUAL:
                found[width] = least + _USUAL
            case eq.Op(name="ge", args=(eq.Param(name=width), eq.Op() | eq.Param() as block)) if _of_block(block):
                found[width] = _LARGEST_BLOCK + _USUAL
    for a, b in _demands(functions, name):
        match a, b:
            case eq.Op(name="mod", args=(size, eq.Const(value=int() as n))), eq.Const(value=0):
                names = [x.name for x in topological((size,)) if isinstance(x, eq.Param) and "." not in x.name]
                if names and not found.keys() & {*names}:
                    found[names[0]] = n if found else 2 * n
    return found


def _of_block(bound: eq.Expr) -> bool:
    return any(isinstance(n, eq.Param) and n.name.startswith("block.") for n in topological((bound,)))


def lone_axes(functions: Iterable[Any], name: str) -> frozenset[int]:
    """The axes along which a function demands a launch of one block."""
    sizes = {a.name for a, b in _demands(functions, name) if isinstance(a, eq.Param) and b is eq.Const(1, INT)}
    return frozenset(axis for axis, letter in enumerate("xyz") if f"grid.{letter}" in sizes)


def unseen_axes(source: k.Module, function: k.Function) -> frozenset[int]:
    """The axes along which the kernel looks at its threads, and not at which block they are of, or which the launches
    in the file give one block."""
    nodes = [n for f in reached(source, function) for n in walk(f.body) if isinstance(n, k.Hw)]
    looked_at = {n.axis for n in nodes}
    launched = one_block(source.hosts, function.name) & looked_at
    return launched | (looked_at - {n.axis for n in nodes if n.kind in ("block", "gridDim")})


def _is_zero(value: eq.Expr) -> bool:
    return isinstance(value, eq.Const) and value.value == 0


def wide_rows(functions: Iterable[Any], name: str, grid: tuple[int, ...], block: tuple[int, ...]) -> dict[str, int]:
    """The sizes that a function demands to be the threads of the launch, or of a block, along an axis, or whose
    multiple it demands the blocks to be, by parameter."""
    found: dict[str, int] = {}
    threads_of = interpreter.triple(block)
    if axes_of_row := _one_row(functions, name):
        threads_of = _product(threads_of[:axes_of_row]), 1, 1
    for a, b in _demands(functions, name):
        match a:
            case eq.Op(name="mod", args=(eq.Param(name="grid.x" | "grid.y" | "grid.z" as launched), size)) if _is_zero(
                b
            ):
                rows = [n.name for n in topological((size,)) if isinstance(n, eq.Param)]
                found |= dict.fromkeys(
                    rows[:1], interpreter.triple(grid)["xyz".index(launched[-1])]
                )  # one row of blocks
                continue
        for threads, size in ((a, b), (b, a)):
            names = {n.name for n in topological((threads,)) if isinstance(n, eq.Param)}
            axes = {n[-1] for n in names if n.startswith(("grid.", "block.", "threads."))}
            if len(axes) != 1 or not isinstance(size, eq.Param) or size.name.startswith(("grid.", "block.")):
                continue
            axis = "xyz".index(axes.pop())
            blocks = 1 if threads is eq.Param(f"block.{'xyz'[axis]}", INT) else interpreter.triple(grid)[axis]
            found[size.name] = blocks * threads_of[axis]
    return found
