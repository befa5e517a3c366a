"""How many threads a block has, as the source suggests it where nothing says so (raising.md, step 2).

``for c in range(threadIdx.x, n, 32)`` takes each c once, by 32 threads; ``s[threadIdx.y][threadIdx.x]`` of an array of
8 by 32 is filled by a block of 32 by 8. A run that was refused is tried again for blocks of such a size: that a launch
has blocks of it is said in the docstring and checked. Nothing is concluded from a suggestion but what to try.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import product

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import INT, ScalarType
from kraise.raising.loops.unrolled import maybe
from kraise.raising.threads.indices import Ways
from kraise.raising.threads.numbered_blocks import numbered
from kraise.raising.threads.spelled import (
    a_block_on,
    addends,
    axis_of_product,
    bare,
    block_axis,
    number,
    once,
    stride,
    thread_axis,
    thread_part,
)
from kraise.raising.threads.strewn import strewn

MOST = 4  # ways that are tried
_LARGEST = 1024


def suggested(body: tuple[k.Stmt, ...], known: Ways) -> list[Ways]:
    """The sizes to try, the likeliest first, as ways to bind the indices of an axis; axes that are bound already stay
    as they are."""
    names = thread_locals(body)
    votes: dict[int, dict[int, None]] = {}

    def vote(e: k.Expr, size: object) -> None:
        axis = thread_axis(e, names)
        if axis is not None and axis not in known and isinstance(size, int) and 1 < size <= _LARGEST:
            votes.setdefault(axis, {})[size] = None

    nodes = list(walked(body))
    values = once(nodes)
    offsets: dict[int, None] = {}  # as in s[threadIdx.x + 256], the cell that many threads further
    shapes = {s.name: s.shape for s in nodes if isinstance(s, k.LocalArray) and s.space == "shared"}
    for axis, size in _rims(body, nodes, shapes, names):
        vote(k.Hw("thread", axis, INT), size)
    for axis, size in _halves(nodes, shapes, names):
        vote(k.Hw("thread", axis, INT), size)
    for s in nodes:
        match s:
            case k.Op(name="eq", args=(a, b)) if (last := number(b)) is not None and last > 2:
                vote(a, last + 1)  # if (threadIdx.x == 15): the last one of a row
            case k.For(start=start, step=further_on):
                vote(start, number(further_on))
    odd = {size for shape in shapes.values() for size in map(number, shape) if size is not None and size % 2}
    for s in nodes:
        match s:
            case k.Op(name="tmod" | "mod", args=(a, b)) if number(b) in odd:  # s[(threadIdx.x + k) % 37] goes round
                for addend in addends(a):
                    vote(addend, number(b))
    for axis, size in strewn(nodes, shapes, names):
        vote(k.Hw("thread", axis, INT), size)
    for axis, size in _rows_in_rounds(nodes, names):
        vote(k.Hw("thread", axis, INT), size)
    for axis, most in sorted(inside(nodes, shapes, names).items()):
        vote(k.Hw("thread", axis, INT), most)
    for s in nodes:
        if isinstance(s, k.Load | k.Store | k.Atomic) and len(shapes.get(s.array, ())) == len(s.subscripts):
            for at, extent in zip(s.subscripts, shapes[s.array], strict=True):
                if isinstance(extent, k.Const) and type(extent.value) is int:
                    vote(at, extent.value if extent.value % 2 == 0 else extent.value - 1)
                parts = addends(at)
                for n in parts:
                    for a in parts:
                        vote(a, stride(n))
                    if (at_ := maybe(n, {})) is not None:
                        n = k.Const(at_, INT)
                    if isinstance(n, k.Const) and type(n.value) is int and n.value >= 16 and 0 not in votes:
                        offsets[n.value] = None
    for size in sorted(offsets, reverse=True):
        vote(k.Hw("thread", 0, INT), size)
    if 0 not in votes and _rows_of_warps(nodes):
        vote(k.Hw("thread", 0, INT), 32)
    for s in nodes:
        if isinstance(s, k.Load | k.Store) and len(shapes.get(s.array, ())) == len(s.subscripts) > 1:
            for at, extent in zip(s.subscripts, shapes[s.array], strict=True):
                part, rows = thread_part(at, names, values), number(extent)
                if part is not None and rows is not None:  # s[threadIdx.x / 32][lane] of four rows
                    vote(k.Hw("thread", part[0], INT), rows * part[1])
    further = {c for s in nodes if isinstance(s, k.Op) for a in addends(s) if (c := number(a)) is not None}
    paired = any(isinstance(s, k.Op) and stride(s) == 2 and axis_of_product(s, names) is not None for s in nodes)
    elsewhere = _rows_of_blocks(nodes, names)
    for axis, of_axis in elsewhere.values():
        vote(k.Hw("thread", axis, INT), of_axis)
    products = [s for s in nodes if isinstance(s, k.Op) and s.name == "mul"]
    parts_of = {bare(a) for s in products for a in s.args}  # blockIdx.x * 2 * blockDim.x
    for s in products:  # blockIdx.x * 256: where a block begins, with one element for each of its threads, or two
        if s not in elsewhere and s not in parts_of:
            for a, b in (s.args, s.args[::-1]):
                block, count = bare(a), number(b)
                if isinstance(block, k.Hw) and block.kind == "block" and count is not None:
                    vote(k.Hw("thread", block.axis, INT), count)
                    if paired or count // 2 in further:  # x[i] and x[i + 128], or x[2 * i] and x[2 * i + 1]
                        vote(k.Hw("thread", block.axis, INT), count // 2)
    for s in nodes if not votes else ():
        match s:
            case k.For(step=k.Const(value=by)):
                for further_on in _beside(s):  # for (base = 0; base < n; base += 32): base + threadIdx.x
                    vote(further_on, by)
    for axis, count in numbered(nodes, names).items() if not votes else ():
        vote(k.Hw("thread", axis, INT), count)
    axes = sorted(votes)  # the likeliest of each axis, the second of each, ...
    ranked = product(*(list(enumerate(votes[a])) for a in axes))
    likeliest = sorted(ranked, key=lambda sizes: (len({rank for rank, _ in sizes}), sum(rank for rank, _ in sizes)))
    found = [dict(zip(axes, (-n for _, n in sizes), strict=True)) for sizes in likeliest]
    return [{**known, **f} for f in found if f][:MOST]


def _rows_of_warps(nodes: Iterable[object]) -> bool:
    """Whether lanes exchange or wait for each other that are counted by a thread's index along x as it stands, beside
    rows of threads along y: a row is a warp."""
    nodes = list(nodes)
    exchanged = any(isinstance(n, k.Warp) or (isinstance(n, k.Barrier) and n.scope == "warp") for n in nodes)
    if not exchanged or ("thread", 1) not in [(n.kind, n.axis) for n in nodes if isinstance(n, k.Hw)]:
        return False
    divided = ("floordiv", "tdiv", "mod", "tmod", "shr", "and_")
    digits = [n.args[0] for n in nodes if isinstance(n, k.Op) and n.name in divided and n.type.is_integer]
    return not any(isinstance(x, k.Hw) and (x.kind, x.axis) == ("thread", 0) for x in walked(tuple(digits)))


def _rows_of_blocks(nodes: Iterable[object], names: dict[str, int]) -> dict[k.Expr, tuple[int, int]]:
    """By product: an axis of the threads, and how many it has, as in ``blockIdx.x * 4 + threadIdx.y``; the block's
    index may be a digit of it."""
    found: dict[k.Expr, tuple[int, int]] = {}
    nodes = list(nodes)
    values = {n.var: n.start for n in nodes if isinstance(n, k.For)} | once(nodes)  # for (tile = blockIdx.x; …)
    for args in [addends(s) for s in nodes if isinstance(s, k.Op) and s.name == "add"]:
        for by, thread in (args, args[::-1]) if len(args) == 2 else ():
            axis, by, part = thread_axis(thread, names), bare(by), thread_part(thread, names, values)
            for a, b in (by.args, by.args[::-1]) if isinstance(by, k.Op) and by.name == "mul" else ():
                block, count = bare(a), number(b)
                of_block = block_axis(block, values)
                if not count or of_block is None:
                    continue
                if axis is not None:
                    digit = not isinstance(block, k.Hw)  # (blockIdx.x % n) * 16 + threadIdx.x
                    found |= {by: (axis, count)} if digit or of_block != axis else {}
                elif part is not None:  # blockIdx.x * 4 + threadIdx.x / 32
                    found[by] = part[0], count * part[1]
    return found


def _rows_in_rounds(nodes: Iterable[object], names: dict[str, int]) -> list[tuple[int, int]]:
    """Axes and sizes of blocks whose rows of threads take a further row in each round: ``for (j = 0; j < 32; j += 8)``
    and ``threadIdx.x / 32 + j`` is of 8 rows of 32."""
    nodes = list(nodes)
    values = once(nodes)
    found: dict[tuple[int, int], None] = {}
    for s in (n for n in nodes if isinstance(n, k.For)):
        rows = number(s.step) or 0
        for e in walked(s.body) if rows > 1 else ():
            parts = addends(e) if isinstance(e, k.Op) and e.name == "add" else []
            parts = [
                x for a in map(bare, parts) for x in (addends(values.get(a.name, a)) if isinstance(a, k.Var) else [a])
            ]
            if any(isinstance(a, k.Var) and a.name == s.var for a in map(bare, parts)):
                found |= {(p[0], rows * p[1]): None for a in parts if (p := thread_part(a, names, values))}
    return list(found)


def _beside(s: k.For) -> Iterator[k.Expr]:
    """What the loop's variable is added to."""
    for e in walked(s.body):
        if isinstance(e, k.Op) and e.name == "add":
            for a, b in (e.args, e.args[::-1]):
                if isinstance(bare(a), k.Var) and bare(a).name == s.var:  # type: ignore[union-attr]
                    yield b


def _rims(
    body: tuple[k.Stmt, ...], nodes: list[object], shapes: dict[str, tuple[k.Expr, ...]], names: dict[str, int]
) -> list[tuple[int, int]]:
    """Axes and sizes of blocks whose threads fill a cell each, and some a further one so many cells on:
    ``s[t + 1] = ...; if (t < 3) s[t + 9] = ...``."""
    values = once(nodes)

    def places(stmts: Iterable[object]) -> dict[tuple[str, int, int], dict[int, None]]:
        """By array, dimension of it and axis of the threads: how far from the thread's index the cells are."""
        found: dict[tuple[str, int, int], dict[int, None]] = {}
        for s in stmts:
            if isinstance(s, k.Store) and s.array in shapes:
                for dimension, at in enumerate(s.subscripts):
                    place = from_thread(at, names, values)
                    if place is not None:
                        found.setdefault((s.array, dimension, place[0]), {})[place[1]] = None
        return found

    by_some = places(nodes)
    by_all = places(s for s in _sure(body) if isinstance(s, k.Store))
    by_all |= {key: at for key, at in by_some.items() if key not in by_all}  # if (i < n) s[t] = ...; else s[t] = 0
    gaps = {(key, b - a): None for key in by_all for a in by_all[key] for b in by_some[key] if b - a > 1}
    return [(key[2], gap) for key, gap in gaps]


def _sure(body: tuple[k.Stmt, ...]) -> Iterator[k.Stmt]:
    """The statements that stand under no condition."""
    for s in body:
        yield s
        if isinstance(s, k.For | k.While):
            yield from _sure(s.body)


def from_thread(e: k.Expr, names: dict[str, int], values: dict[str, k.Expr], depth: int = 4) -> tuple[int, int] | None:
    """The axis and the number, if ``e`` is a thread's index and a number."""
    axis, by = thread_axis(e, names), number(e)
    if axis is not None:
        return axis, 0
    if by is not None or not depth:
        return None
    match bare(e):
        case k.Var(name=name) if name in values:
            return from_thread(values[name], names, values, depth - 1)
        case k.Op(name="add" | "sub" as name, args=(a, b)):
            for own, other, sign in ((a, b, 1 if name == "add" else -1), (b, a, 1 if name == "add" else 0)):
                place, n = from_thread(own, names, values, depth - 1), number(other)
                if place is not None and n is not None and sign:
                    return place[0], place[1] + sign * n
    return None


def inside(nodes: list[object], shapes: dict[str, tuple[k.Expr, ...]], names: dict[str, int]) -> dict[int, int]:
    """By axis: how many threads a block has at most for ``s[t + 2]`` to stay within ``s``, where some cell is further
    on than the thread."""
    values, found, shifted = once(nodes), dict[int, int](), set[int]()
    for s in nodes:
        if isinstance(s, k.Load | k.Store) and len(shapes.get(s.array, ())) == len(s.subscripts):
            for at, extent in zip(s.subscripts, shapes[s.array], strict=True):
                place, cells = from_thread(at, names, values), number(extent)
                if place is not None and cells is not None and place[1] < cells:
                    found[place[0]] = min(cells - place[1], found.get(place[0], cells))
                    shifted |= {place[0]} if place[1] else set()
    return {axis: n for axis, n in found.items() if axis in shifted}


def _halves(
    nodes: Iterable[object], shapes: dict[str, tuple[k.Expr, ...]], names: dict[str, int]
) -> list[tuple[int, int]]:
    """Axes and sizes of blocks whose threads store to two cells each, half of the array apart: ``s[t] = ...;
    s[t + 8] = ...`` of 16 cells, or ``s[t + blockDim.x]``."""
    nodes = list(nodes)
    values = once(nodes)
    found: dict[tuple[int, int], None] = {}
    for s in nodes:
        if isinstance(s, k.Store) and len(shapes.get(s.array, ())) == 1:
            place, cells = from_thread(s.subscripts[0], names, values), number(shapes[s.array][0])
            if place is not None and cells is not None and cells == 2 * place[1]:
                found[place] = None
            axis = a_block_on(s.subscripts[0], names)
            if axis is not None and cells is not None and cells % 2 == 0:
                found[axis, cells // 2] = None
    return list(found)


def named_sizes(body: tuple[k.Stmt, ...], function: k.Function) -> dict[int, eq.Param]:
    """The template integers that are the number of a block's threads along an axis, as far as the source tells:
    ``blockIdx.x * T + threadIdx.x``, or ``s[threadIdx.y][threadIdx.x]`` of an array of T by T. Where there are none, a
    parameter that is the step from a thread's element to its next one."""
    own = {p.name: p.type for p in function.params if p.name in function.static}
    params = {p.name for p in function.params}
    found: dict[int, eq.Param] = {}
    names = thread_locals(body)
    nodes = list(walked(body))
    for s in nodes:
        match s:
            case k.For(start=start, step=k.Var(name=name, type=t)) if not own and name in params and t.is_integer:
                axis = thread_axis(start, names)
                if axis is not None:  # ``for (i = threadIdx.x; i < n; i += block_size)``
                    found.setdefault(axis, eq.Param(name, t))
    for axis, other in _squares(nodes):
        found.setdefault(axis, eq.Param(f"block.{'xyz'[other]}", INT))
    if not own:
        return found
    shapes = {s.name: s.shape for s in nodes if isinstance(s, k.LocalArray) and s.space == "shared"}

    def vote(axis: int | None, size: k.Expr) -> None:
        match bare(size):
            case k.Var(name=name) if axis is not None and name in own:
                t = own[name]
                if isinstance(t, ScalarType):
                    found.setdefault(axis, eq.Param(name, t))

    for s in nodes:
        if isinstance(s, k.Load | k.Store) and len(shapes.get(s.array, ())) == len(s.subscripts):
            for at, extent in zip(s.subscripts, shapes[s.array], strict=True):
                vote(thread_axis(at, names), extent)
    for s in nodes:
        if isinstance(s, k.Op) and s.name == "mul":
            for a, b in (s.args, s.args[::-1]):
                block = bare(a)
                if isinstance(block, k.Hw) and block.kind == "block":
                    vote(block.axis, b)
    sizes = [(n, t) for n, t in own.items() if isinstance(t, ScalarType) and t.is_integer]
    if shapes and not found and len(sizes) == 1:  # ``if (tid + T < n)``: nothing else says what it is
        found[0] = eq.Param(*sizes[0])
    return found


def beyond(body: tuple[k.Stmt, ...], ways: Ways, told: Collection[int] = ()) -> bool:
    """Whether a condition tells threads apart that blocks of this size do not have: ``threadIdx.x < 15`` of 14, or of
    15 where all would pass and no launch says so (axes ``told``): there is one block, or the source asks how many
    threads a block has (``blockDim``), so that the number is that of the cells and a block has more."""
    names, values = thread_locals(body), once(walked(body))
    found = {(e.kind, e.axis) for e in walked(body) if isinstance(e, k.Hw)}
    blocks = {axis for kind, axis in found if kind == "block" and ("blockDim", axis) not in found}
    for e in walked(body):
        if isinstance(e, k.Op) and e.name in ("lt", "le", "gt", "ge"):
            for (a, b), with_it in ((e.args, e.name in ("le", "gt")), (e.args[::-1], e.name in ("lt", "ge"))):
                place, bound = from_thread(a, names, values), number(b)
                if place is None or bound is None:
                    continue
                size = -ways.get(place[0], 0)
                open_ = place[0] not in told and place[0] not in blocks
                if 1 < size < bound - place[1] + with_it + open_:
                    return True
    return False


def _squares(nodes: Iterable[object]) -> Iterator[tuple[int, int]]:
    """Axes along which a block is taken to have as many threads as along another one: ``blockIdx.y * blockDim.x``."""
    nodes = list(nodes)
    values = once(nodes)
    for s in nodes:
        if isinstance(s, k.Op) and s.name == "mul" and s.type.is_integer:
            for a, b in (s.args, s.args[::-1]):
                block, count = (bare(values.get(x.name, x)) if isinstance(x, k.Var) else x for x in map(bare, (a, b)))
                kinds = [x.kind for x in (block, count) if isinstance(x, k.Hw)]
                if kinds == ["block", "blockDim"] and block.axis != count.axis:  # type: ignore[union-attr]
                    yield block.axis, count.axis  # type: ignore[union-attr]


def thread_locals(body: tuple[k.Stmt, ...]) -> dict[str, int]:
    """The locals that are a thread's index along an axis, and nothing else ever."""
    found: dict[str, set[int | None]] = {}
    for s in walked(body):
        match s:
            case k.Assign(name=name, value=v):
                found.setdefault(name, set()).add(thread_axis(v, {}))
            case k.For(var=name):
                found.setdefault(name, set()).add(None)
    out = {}
    for name, axes in found.items():
        axis = axes.pop() if len(axes) == 1 else None
        if axis is not None:
            out[name] = axis
    return out


__all__ = [
    "beyond",
    "from_thread",
    "inside",
    "named_sizes",
    "once",
    "suggested",
    "thread_axis",
    "thread_locals",
]
