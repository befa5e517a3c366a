"""Hardware indices as indices with ranges (raising.md, step 2).

Where a kernel uses both the block's and the thread's index of an axis, the thread's is written as ``g - block *
blockDim`` with the global index g: in every spelling of ``block * blockDim + thread`` the block drops out by
arithmetic. What is left with a block in it depends on the launch's shape.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly, is_integer, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, topological, transform
from kraise.raising.run.arithmetic import operation
from kraise.raising.run.context import Context
from kraise.raising.threads import groups
from kraise.raising.threads.block_shapes import block_shape, share_of
from kraise.raising.threads.counted import counted, launched_axes
from kraise.raising.threads.hardware import hardware, own_names
from kraise.raising.threads.lone import one_block, one_thread
from kraise.raising.threads.multiples import in_tiles
from kraise.raising.threads.planes import whole_planes
from kraise.raising.threads.unguarded import AXES, as_many_blocks, as_wide, blocks_of

WARPS = eq.Param("warps.x", INT)  # the number of warps of a block, where the lane is an index
LANES = 3  # the key that asks for the lane of a warp as an index of its own
APART = -1  # the way of an axis whose block and thread are two indices
Ways = dict[int, int]  # by axis: APART, or the number of threads of a block that the source counts on
# (negative: with two indices); else one index


def bind(
    cx: Context, names: dict[int, str], bounded: frozenset[str], ways: Ways | None = None
) -> tuple[tuple[str, ...], tuple[eq.Expr, ...]]:
    """Gives the hardware indices of the kernel their values; returns the thread indices and the conjuncts that bound
    them.

    ``names`` are the source's names for the global index of an axis; an index in ``bounded`` is also bounded by the
    launch.
    """
    ways = ways or {}
    found = hardware(cx.bodies())
    adds = counted(cx.module, cx.function, cx.calls)
    if cx.function.kind == "kernel" and counted(cx.module, cx.function, cx.calls, shared=True):
        looked_at = {axis for kind, axis in found if kind in ("thread", "block")}
        found = found | {hw for hw in launched_axes(cx.module, cx.function) if hw[1] not in looked_at}
        if adds:  # who knows a size or a later axis knows of the threads before it
            last = max((axis for _, axis in found), default=0)
            found = found | {(kind, axis) for axis in {*range(last + 1)} - looked_at for kind in ("thread", "block")}
    indices: list[str] = []
    path: list[eq.Expr] = []
    facts: list[eq.Expr] = []
    zero = eq.Const(0, INT)
    own = own_names(cx.function)
    cx.one_line = _rows_of_blocks(cx, found, ways) and not adds and (names.get(0) or "i") not in bounded
    for axis in range(3):
        kinds = {kind for kind, a in found if a == axis}
        if not kinds:
            continue
        letter = AXES[axis]
        if axis in cx.lone:
            kinds = kinds - {"block"}
            ways = {**ways, axis: -abs(ways[axis])} if axis in ways else ways
            one_block(cx, axis, letter)
        alone = kinds & {"thread", "block"}
        if axis in cx.in_line:
            one_thread(cx, letter)
        elif len(alone) == 1 and adds:
            # every thread of every block adds, also those whose index the source does not look at
            kinds |= {"thread", "block"}
            ways = {**ways, axis: min(APART, ways.get(axis, APART))}  # a size stays
            _one_unless_given(cx, ("grid" if alone == {"thread"} else "block"), letter)
        block_dim, grid_dim = eq.Param(f"block.{letter}", INT), eq.Param(f"grid.{letter}", INT)
        if axis in cx.named:
            _count_on(cx, cx.named[axis], letter)
            block_dim = cx.named[axis]
        if axis in cx.named or cx.pitched:
            facts.append(eq.Op("ge", (block_dim, eq.Const(1, INT)), BOOL))
        cx.threads["blockDim", axis] = block_dim
        cx.threads.setdefault(("gridDim", axis), grid_dim)
        way = ways.get(axis)
        if axis == 1 and cx.one_line:
            cx.threads["block", 1] = BLOCK_Y
            facts.append(eq.Op("ge", (BLOCK_Y, zero), BOOL))
            continue
        lanes = axis == 0 and LANES in ways and "thread" in kinds
        if lanes and (way is None or way == APART):
            block_dim = operation("mul", (eq.Const(cx.warp, INT), WARPS), INT)  # type: ignore[assignment]
            cx.threads["blockDim", axis] = block_dim
            cx.whole_warps()
        if {"thread", "block"} <= kinds and way is not None and way < 0:
            if way != APART:
                block_dim = eq.Const(-way, INT)  # type: ignore[assignment]
                cx.threads["blockDim", axis] = block_dim
                _count_on(cx, -way, letter)
            blocks: eq.Expr = grid_dim
            if axis in cx.widths and way != APART:
                filling = blocks_of(cx, axis, -way)
                blocks = grid_dim if filling is None else to_expr(filling)
            block_own = own.get(("block", axis))
            used = [*indices, block_own] if block_own else indices
            t = _free(own.get(("thread", axis)), f"thread_{letter}", axis, names, own, used)
            b = _free(block_own, f"block_{letter}", axis, names, own, [*indices, t])
            for kind, name, size in (("block", b, blocks), ("thread", t, block_dim)):
                index = eq.Index(name, INT)
                cx.threads[kind, axis] = index
                indices.append(name)
                cx.axes[name] = axis
                cx.extents[name] = ("gridDim",) if kind == "block" else ("blockDim",)
                path.append(eq.Op("ge", (index, zero), BOOL))
                inside = eq.Op("lt", (index, size), BOOL)
                # a guard on the number of both would bound the thread by more threads than a block of this size has
                fixed = kind == "thread" and isinstance(size, eq.Const)
                # and count threads that are not launched, where blocks of another size may overlap and atomics add
                apart = fixed or (adds and _numbered_by_itself(cx.function.body, axis))
                (path if name in bounded or apart else facts).append(inside)
            cx.blocks = (*cx.blocks, b)
            continue
        if {"thread", "block"} <= kinds:
            name = _free(names.get(axis), "ijk"[axis], axis, names, own, indices)
            g, own_block = eq.Index(name, INT), eq.Index(_block_of(axis, names, own, [*indices, name]), INT)
            cx.blocks = (*cx.blocks, own_block.name)
            facts.append(eq.Op("ge", (own_block, zero), BOOL))
            if way is not None:
                block_dim = eq.Const(way, INT)  # type: ignore[assignment]
                cx.threads["blockDim", axis] = block_dim
                _count_on(cx, way, letter)
            cx.threads["block", axis] = own_block
            cx.threads["thread", axis] = operation("sub", (g, operation("mul", (own_block, block_dim), INT)), INT)
            if axis == 0 and cx.one_line:
                cx.threads["rows", 0] = eq.Param("grid.y", INT)
                before = operation("mul", (BLOCK_Y, operation("mul", (grid_dim, block_dim), INT)), INT)
                cx.threads["thread", 0] = operation("sub", (cx.threads["thread", 0], before), INT)
            extent: eq.Expr = eq.Param(f"threads.{letter}", INT)
        elif "thread" in kinds or "block" in kinds:
            kind = "thread" if "thread" in kinds else "block"
            name = _free(names.get(axis), f"{kind}_{letter}", axis, names, own, indices)
            g = eq.Index(name, INT)
            cx.threads[kind, axis] = g
            if kind == "block":
                cx.blocks = (*cx.blocks, name)
            if kind == "thread" and way is not None and way < APART:
                block_dim = eq.Const(-way, INT)  # type: ignore[assignment]
                cx.threads["blockDim", axis] = block_dim
                _count_on(cx, -way, letter)
                path.append(eq.Op("lt", (g, block_dim), BOOL))
            extent = block_dim if kind == "thread" else whole_planes(cx, name, grid_dim)
            if kind == "thread" and name not in bounded:
                facts.append(eq.Op("lt", (g, block_dim), BOOL))
        else:
            continue
        indices.append(name)
        cx.axes[name] = axis
        both = {"thread", "block"} <= kinds
        cx.extents[name] = ("blockDim", "gridDim") if both else ("blockDim",) if "thread" in kinds else ("gridDim",)
        if axis == 0 and cx.one_line:
            cx.extents[name] = ("blockDim", "gridDim", "rows")
        path.append(eq.Op("ge", (g, zero), BOOL))
        if (way is not None or axis in cx.named or cx.pitched) and both:
            within = cx.threads["thread", axis]
            facts.append(eq.Op("lt", (cx.threads["block", axis], grid_dim), BOOL))
            facts += [eq.Op("ge", (within, zero), BOOL), eq.Op("lt", (within, block_dim), BOOL)]
        elif lanes and both:
            facts.append(eq.Op("ge", (cx.threads["thread", axis], zero), BOOL))
        if axis in cx.coarse and way is not None and both:
            extent = operation("mul", (grid_dim, block_dim), INT)
        if axis in cx.widths and both:
            as_wide(cx, operation("mul", (grid_dim, block_dim), INT), cx.widths[axis])
            extent = in_tiles(cx, cx.widths[axis])
        elif axis in cx.widths and kinds == {"block"}:
            extent = in_tiles(cx, as_many_blocks(cx, axis))
        if name in bounded:
            whole = isinstance(extent, eq.Param) and extent.name == f"threads.{letter}"
            rows = {"blockDim", "gridDim"} <= kinds and any(a != axis and k in ("thread", "block") for k, a in found)
            if whole and ((lanes and axis == 0) or rows or name in cx.in_fields):  # y * blockDim.x * gridDim.x + x
                extent = operation("mul", (block_dim, grid_dim), INT)
            path.append(eq.Op("lt", (g, extent), BOOL))
    cx.launch_path, cx.facts = tuple(path), tuple(facts)
    return tuple(indices), tuple(path)


def _free(
    wanted: str | None, default: str, axis: int, names: dict[int, str], own: dict[tuple[str, int], str], used: list[str]
) -> str:
    """The source's name of an index of this axis, or another one where it has none or another axis has that."""
    before = {*used, *(n for a, n in names.items() if a < axis)}
    if wanted and wanted not in before:
        return wanted
    taken = before | {*names.values()} | {n for (_, a), n in own.items() if a != axis}
    return next(n for n in (default, *(f"{default}_{x}" for x in (AXES[axis], 2, 3, 4, 5, 6, 7))) if n not in taken)


def _block_of(axis: int, names: dict[int, str], own: dict[tuple[str, int], str], used: list[str]) -> str:
    return _free(None, f"block_{AXES[axis]}", axis, names, own, used)


BLOCK_Y = eq.Index("block_y", INT)


def _rows_of_blocks(cx: Context, found: set[tuple[str, int]], ways: Ways) -> bool:
    """Whether the blocks may lie in rows that only make one long line: ``(blockIdx.x + blockIdx.y * gridDim.x) *
    blockDim.x + threadIdx.x``. The thread's index is then that line's index; ``finer`` takes it back where a row's
    number is left in a value."""
    indices = {h for h in found if h[0] in ("thread", "block")}
    staged = any(isinstance(n, k.LocalArray) and n.space == "shared" for n in walked(cx.function.body))
    alike = indices == {("thread", 0), ("block", 0), ("block", 1)} and ("gridDim", 0) in found
    return alike and not staged and not ways


def _numbered_by_itself(body: tuple[k.Stmt, ...], axis: int) -> bool:
    """Whether the source multiplies a block's index by something else than the number of its threads."""
    for n in walked(body):
        if isinstance(n, k.Op) and n.name in ("mul", "shl"):
            kinds = [{kind for kind, a in hardware(x) if a == axis} for x in n.args]
            if any("block" in found for found in kinds) and not any("blockDim" in found for found in kinds):
                return True
    return False


def _one_unless_given(cx: Context, head: str, letter: str) -> None:
    cx.single[f"{head}.{letter}"] = eq.Const(1, INT)
    what = "the launch has one block" if head == "grid" else "a block has one thread"
    cx.assumptions.append(f"{what} along {letter}, unless {head} is given")


def lanes(cx: Context, indices: tuple[str, ...], ways: Ways) -> list[tuple[str, eq.Expr]]:
    """The split of the thread's index into warp and lane, where the ways ask for it."""
    if LANES not in ways or ("thread", 0) not in cx.threads:
        return []
    inside = [n for n in indices if n in free_indices(cx.threads["thread", 0]) and n not in cx.blocks]
    if len(inside) != 1:
        return []
    return [(inside[0], eq.Const(cx.warp, INT))]


def without_warps(block: eq.Param, lanes: int, apart: bool, e: eq.Expr) -> eq.Expr:
    """``e`` with the number of warps in terms of the launch: times their ``lanes`` they are a block's threads
    (``block``), and times the blocks those of the launch, in one number if the two are not ``apart``."""
    grid, threads = (eq.Param(f"{n}.x", INT) for n in ("grid", "threads"))
    few, all_ = (eq.Op("floordiv", (n, eq.Const(lanes, INT)), INT) for n in (block, threads))

    def term(m: tuple[eq.Expr, ...], c: int) -> Poly:
        rest = list(m)
        for found, whole in ((WARPS, block), (few, block), (all_, threads)):
            if found in rest:
                rest.remove(found)
                by = 1
                if found is not all_ and grid in rest and not apart:
                    rest.remove(grid)
                    whole = threads
                part: eq.Expr = whole
                if c % lanes:
                    part = few if whole is block else all_
                else:
                    by = lanes
                return Poly({tuple(rest): c // by}) * to_poly(part)
        return Poly({m: c})

    def one(node: eq.Expr) -> eq.Expr:
        if node is WARPS:
            return few
        if isinstance(node, eq.Op) and node.name in ("add", "sub", "mul") and node.type.is_integer:
            poly = to_poly(node)
            if poly.atoms() & {WARPS, few, all_}:
                out = Poly()
                for m, c in poly.terms.items():
                    out = out + term(m, c)
                return to_expr(out, node.type)
        return node

    return transform(e, one)


def _count_on(cx: Context, size: int | eq.Param, letter: str) -> None:
    """The source's tile is the launch's block: said in the docstring, and checked where a launch is given."""
    wanted: eq.Expr
    if isinstance(size, eq.Param) and size.name.startswith("block."):
        wanted, shown = size, "as many"
    elif isinstance(size, eq.Param):
        wanted, shown = size, " // ".join(groups.sizes_of(cx, size))
    else:
        cx.tile[AXES.index(letter)] = size
        size = cx.coarse.get(AXES.index(letter), size)
        wanted, shown = eq.Const(size, INT), str(size)
    text = f"a block has {shown} threads" + ("" if cx.function.one_row else f" along {letter}")
    text += f" as along {wanted.name[-1]}" if shown == "as many" else ""  # type: ignore[union-attr]
    cx.assumptions.append(text)
    given = eq.Op("eq", (eq.Param(f"block.{letter}", INT), wanted), BOOL)
    cx.checks.append((given, text))


def finer(cx: Context, ways: Ways, values: Iterable[eq.Expr], stored: Iterable[eq.Expr] = ()) -> Ways | None:
    """Ways to try next where a block's index is left in ``values``: the source's own block size where it computes with
    one (``block * 16 + thread``), else the block and the thread as two indices. None if there is nothing finer."""
    new, nodes = dict(ways), topological(values)
    if cx.one_line:
        return {1: APART} if BLOCK_Y in nodes or cx.threads["block", 0] in nodes else None
    for axis in range(3):
        b = cx.threads.get(("block", axis))
        if b is None or ("thread", axis) not in cx.threads or ways.get(axis, 1) < 0:
            continue
        if b not in nodes:
            continue
        if axis in ways:
            new[axis] = -ways[axis]
            continue
        shape = block_shape(cx, nodes, axis)
        if shape is not None and not shape.keys() & ways.keys():
            new |= shape or {axis: APART}
            continue
        sizes = _sizes(nodes, b, cx.threads["blockDim", axis])
        if axis in cx.hints:
            sizes = {cx.hints[axis]}
        if axis in cx.most and any(n > cx.most[axis] for n in sizes):
            new[axis] = -cx.most[axis]  # several elements for each thread
            continue
        size = sizes.pop() if len(sizes) == 1 else APART
        new[axis] = -share_of(cx, nodes, topological(stored), axis, size) or size
    return None if new == ways else new


def rows_of_tiles(cx: Context, accesses: Iterable[Access]) -> None:
    """Notes the block size that a flat tile counts on: ``s[ty * 16 + tx]`` has rows of 16 threads."""
    indices = {axis: e for (kind, axis), e in cx.threads.items() if kind == "thread"}
    for a in accesses:
        if a.array not in cx.made or not cx.made[a.array].shared or not a.write:
            continue
        for s in a.subscripts:
            poly = to_poly(s)
            for axis, e in indices.items():
                for other, f in indices.items():
                    if other == axis:
                        continue
                    rest = poly - to_poly(e)
                    hit = next(
                        (x for x in to_poly(f).atoms() if isinstance(x, eq.Index) and x.name in cx.thread_names), None
                    )
                    c = None if hit is None else rest.coefficient(hit).value
                    if c is not None and c > 1 and (rest - to_poly(f) * c).value == 0:
                        cx.hints.setdefault(axis, c)


def _sizes(nodes: list[eq.Expr], block: eq.Expr, block_dim: eq.Expr) -> set[int]:
    """The numbers C for which ``C * block + thread`` occurs: with the thread written as g - block * blockDim."""
    out = set()
    for n in nodes:
        if isinstance(n, eq.Op) and n.type.is_integer:
            poly = to_poly(n)
            if block not in poly.atoms():
                continue
            if any(block_dim in m and len(m) > 1 for m in poly.without(block).terms):
                continue  # ``for (k = t; k < 128; k += blockDim)``: the block's elements are dealt out in rounds
            c = poly.coefficient(block) + to_poly(block_dim)
            if c.value is not None and c.value > 1 and poly.coefficient(block).value is None:
                out.add(c.value)
            for g in poly.atoms():  # both times a row's length: (C * block + thread) * n
                row = poly.coefficient(g) if isinstance(g, eq.Index) and g is not block else Poly()
                tile = poly.coefficient(block) + row * to_poly(block_dim)
                times = {tile.terms.get(m, 0) // c for m, c in row.terms.items()} if row.value is None else set()
                out |= {n for n in times if n > 1 and tile == row * n}
    return out


__all__ = ["bind", "is_integer"]
