"""Tiles of two axes with a rim: filled by the threads at the edges, by all of them over rows and columns or flat cells,
by blocks that overlap, and anew for each plane; outside lies a number, the nearest element, or nothing that is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.statements import indented

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 9)
PLANES = (0, 1, 2, 3, 4)


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("tiles", seed, language, write)


@dataclass(frozen=True)
class Tile:
    """Its threads along y and x, the rim before and behind on both axes, and what is outside: a number, ``clamped``,
    ``wrapped`` or ``nothing``."""

    high: int
    wide: int
    before: tuple[int, int]
    behind: tuple[int, int]
    outside: str
    flat: bool
    planes: bool
    made: str  # an element into what a cell holds

    @property
    def rows(self) -> int:
        return self.high + self.before[0] + self.behind[0]

    @property
    def columns(self) -> int:
        return self.wide + self.before[1] + self.behind[1]

    def cell(self, r: str, c: str) -> str:
        return f"tile[({r}) * {self.columns} + {c}]" if self.flat else f"tile[{r}, {c}]"


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    tile = _tile(w)
    planes = ("k",) if tile.planes else ()
    w.dims = [*planes, "n", "m"]
    w.spelled = {d: d for d in w.dims}
    w.float_scalars, w.int_scalars = (["alpha"] if w.chance(0.3) else []), []
    dims = (*planes, "n", "m")
    w.arrays = [writing.Array("x", dims, flat=w.c or w.chance(0.2))]
    writing.output(w, "out", dims, (*(("z",) if tile.planes else ()), "row", "col"))
    overlap = w.chance(0.2) and tile.before != (0, 0) != tile.behind
    step = (tile.high, tile.wide)
    threads = (tile.rows, tile.columns) if overlap else step
    size = f"{tile.rows * tile.columns}" if tile.flat else f"({tile.rows}, {tile.columns})"
    at = w.pick("cuda.blockDim.{c}", "{size}", "{size}") if not overlap else "{size}"
    lines = [f"tile = cuda.shared.array({size}, {real})", "tx = cuda.threadIdx.x", "ty = cuda.threadIdx.y"]
    rim = [f" - {b}" if overlap and b else "" for b in tile.before]
    lines += [f"col = cuda.blockIdx.x * {at.format(c='x', size=tile.wide)} + tx{rim[1]}"]
    lines += [f"row = cuda.blockIdx.y * {at.format(c='y', size=tile.high)} + ty{rim[0]}"]
    if overlap:
        fill = [*_loaded(w, tile, "ty", "tx", "row", "col")]
        own, lanes = ("ty", "tx"), [f"{b} <= {t} and {t} < {size - e}" for t, b, e, size in _lanes(tile)]
    else:
        fill = w.pick(_edges, _edges, _lanes_twice, _cells, _steps)(w, tile)
        own, lanes = tuple(f"{t} + {b}" if b else t for t, b, _, _ in _lanes(tile)), []
    use = _use(w, tile, own, lanes)
    body = [*fill, *w.barrier(), *use]
    if tile.planes:
        start, stop = w.pick(("0", "k"), ("0", "k"), ("1", "k - 1"))
        body = [f"for z in range({start}, {stop}):", *indented([*body, *w.barrier()])]
    sizes = (("n", EXTENTS), ("m", EXTENTS), ("k", PLANES))
    text, kernel = writing.finished(w, [*lines, *body], ("m", "n"), (threads[1], threads[0]), sizes)
    blocks = -(-max(EXTENTS) // step[1]), -(-max(EXTENTS) // step[0])
    return text, replace(kernel, grid=blocks if overlap else ())


def _tile(w: Writer) -> Tile:
    high, wide = w.pick((4, 4), (4, 4), (2, 4), (4, 2), (3, 4), (2, 2), (4, 8))
    before, behind = w.pick(((1, 1), (1, 1)), ((1, 1), (1, 1)), ((1, 1), (1, 1)), ((2, 2), (2, 2)), ((0, 1), (0, 1)),
                            ((1, 0), (1, 0)), ((1, 1), (0, 0)), ((0, 0), (1, 1)), ((1, 2), (2, 1)))  # fmt: skip
    outside = w.pick("0.0", "0.0", "1.0", "clamped", "clamped", "nothing", "nothing", "wrapped")
    made = w.pick("{0}", "{0}", "{0}", "0.5 * {0}", "{0} * {0}")
    return Tile(high, wide, before, behind, outside, w.chance(0.25), w.chance(0.25), made)


def _lanes(tile: Tile) -> tuple[tuple[str, int, int, int], ...]:
    """Of both axes: the thread's name, the rim before and behind, the tile's cells."""
    return (("ty", tile.before[0], tile.behind[0], tile.rows), ("tx", tile.before[1], tile.behind[1], tile.columns))


def _element(w: Writer, tile: Tile, r: str, c: str, z: str = "z") -> str:
    """What a cell is filled with: an element of ``x``, perhaps changed, seldom as no other cell is."""
    made = "-{0}" if w.chance(0.02) else tile.made
    return made.format(_global(w, tile, "x", r, c, z))


def _global(w: Writer, tile: Tile, name: str, r: str, c: str, z: str = "z") -> str:
    flat = next(a.flat for a in w.arrays if a.name == name)
    atom = lambda e: e if e.isidentifier() else f"({e})"  # noqa: E731
    if flat:
        rows = f"({z} * n + {atom(r)})" if tile.planes else atom(r)
        return f"{name}[{rows} * m + {c}]"
    return f"{name}[{z}, {r}, {c}]" if tile.planes else f"{name}[{r}, {c}]"


def _inside(w: Writer, r: str, c: str, known: Sequence[str] = ()) -> str:
    """Whether an element is one of the array, but for what is known."""
    tests = [f"{r} >= 0", f"{r} < n", f"{c} >= 0", f"{c} < m"]
    left = [t for t, n in zip(tests, ("top", "bottom", "left", "right"), strict=True) if n not in known]
    if w.chance(0.3):
        w.rng.shuffle(left)
    return " and ".join(left)


def _loaded(w: Writer, tile: Tile, tr: str, tc: str, r: str, c: str, known: Sequence[str] = ()) -> list[str]:
    """One cell of the tile filled with one element."""
    cell = tile.cell(tr, tc)
    match tile.outside:
        case "clamped":
            r, c = (f"min(max({e}, 0), {d} - 1)" for e, d in ((r, "n"), (c, "m")))
            return [f"{cell} = {_element(w, tile, r, c)}"]
        case "wrapped":
            r, c = (f"({e} + {4 if w.c else 2} * {d}) % {d}" for e, d in ((r, "n"), (c, "m")))
            return [f"{cell} = {_element(w, tile, r, c)}"]
    test, value = _inside(w, r, c, known), _element(w, tile, r, c)
    if not test:
        return [f"{cell} = {value}"]
    if tile.outside == "nothing":
        return [f"if {test}:", f"    {cell} = {value}"]
    if w.chance(0.5):
        return [f"{cell} = {w.wrapped(value)} if {test} else {tile.outside}"]
    if w.chance(0.3):
        return [f"{cell} = {tile.outside}", f"if {test}:", f"    {cell} = {value}"]
    return [f"if {test}:", f"    {cell} = {value}", "else:", f"    {cell} = {tile.outside}"]


def _edges(w: Writer, tile: Tile) -> list[str]:
    """Each thread its own, those at the edges the rim, those at the corners perhaps the corners."""
    (top, left), (bottom, right) = tile.before, tile.behind
    nested = tile.outside == "nothing" and w.chance(0.6)
    inner = ("bottom", "right") if nested else ()
    row, col = (f"ty + {top}" if top else "ty"), (f"tx + {left}" if left else "tx")
    never = ("top", "left")
    lines = _loaded(w, tile, row, col, "row", "col", known=(*never, *inner))
    sides = [("y", -1, top), ("y", 1, bottom), ("x", -1, left), ("x", 1, right)]
    corners = w.chance(0.6)
    blocks = [((s, 0) if a == "y" else (0, s)) for a, s, depth in sides if depth]
    if corners:
        blocks += [(sy, sx) for sy, depth_y in ((-1, top), (1, bottom)) for sx, depth_x in ((-1, left), (1, right))
                   if depth_y and depth_x]  # fmt: skip
    if w.chance(0.2):
        w.rng.shuffle(blocks)
    for sy, sx in blocks:
        who, tr, r, drop = _side("ty", "row", sy, top, bottom, tile.high, ("top", "bottom"))
        other, tc, c, more = _side("tx", "col", sx, left, right, tile.wide, ("left", "right"))
        tests = [t for t in (other, who) if t]
        known = [n for n in (*drop, *more) if n in (*never, *inner)]
        load = _loaded(w, tile, tr, tc, r, c, known=known)
        lines += [f"if {' and '.join(tests)}:", *indented(load)]
    return ["if row < n and col < m:", *indented(lines)] if nested else lines


def _side(
    thread: str, place: str, sign: int, before: int, behind: int, size: int, names: tuple[str, str]
) -> tuple[str, str, str, tuple[str, ...]]:
    """On one axis: which threads load, the cell, the element, and the bounds that need not be asked for."""
    depth = before if sign < 0 else behind
    if sign == 0:
        return "", f"{thread} + {before}" if before else thread, place, names
    if sign < 0:
        return f"{thread} < {depth}" if depth > 1 else f"{thread} == 0", thread, f"{place} - {depth}", (names[1],)
    who = f"{thread} >= {size - depth}" if depth > 1 else f"{thread} == {size - 1}"
    return who, f"{thread} + {before + depth}", f"{place} + {depth}", (names[0],)


def _lanes_twice(w: Writer, tile: Tile) -> list[str]:
    """The first threads of an axis load both ends of the rim."""
    (top, left), (bottom, right) = tile.before, tile.behind
    row, col = (f"ty + {top}" if top else "ty"), (f"tx + {left}" if left else "tx")
    lines = _loaded(w, tile, row, col, "row", "col", known=("top", "left"))
    high = _ends("ty", "row", tile.high, top, bottom)
    wide = _ends("tx", "col", tile.wide, left, right)
    for test, tr, r in high:
        lines += [f"if {test}:", *indented(_loaded(w, tile, tr, col, r, "col", known=("left",)))]
    for test, tc, c in wide:
        lines += [f"if {test}:", *indented(_loaded(w, tile, row, tc, "row", c, known=("top",)))]
    if w.chance(0.6):
        for one, tr, r in high:
            for two, tc, c in wide:
                lines += [f"if {one} and {two}:", *indented(_loaded(w, tile, tr, tc, r, c))]
    return lines


def _ends(thread: str, place: str, size: int, before: int, behind: int) -> list[tuple[str, str, str]]:
    """Of the rim before and behind, if there is any: which threads load, the cell, the element."""
    first = (f"{thread} < {before}", thread, f"{place} - {before}")
    last = (f"{thread} < {behind}", f"{thread} + {size + before}", f"{place} + {size}")
    return [end for end, depth in ((first, before), (last, behind)) if depth]


def _cells(w: Writer, tile: Tile) -> list[str]:
    """All threads over the cells by one number."""
    count = tile.high * tile.wide
    lines = [f"p = q // {tile.columns}", f"l = q % {tile.columns}"]
    lines += [_from("r", "y", "p", tile.high, tile.before[0]), _from("c", "x", "l", tile.wide, tile.before[1])]
    if tile.flat and w.chance(0.5):
        load = _loaded(w, replace(tile, flat=False), "p", "l", "r", "c")
        load = [line.replace("tile[p, l]", "tile[q]") for line in load]
    else:
        load = _loaded(w, tile, "p", "l", "r", "c")
    return [f"for q in range(ty * {tile.wide} + tx, {tile.rows * tile.columns}, {count}):", *indented([*lines, *load])]


def _from(name: str, axis: str, cell: str, size: int, before: int) -> str:
    return f"{name} = cuda.blockIdx.{axis} * {size} + {cell}{f' - {before}' if before else ''}"


def _steps(w: Writer, tile: Tile) -> list[str]:
    """All threads over rows and columns."""
    lines = [_from("r", "y", "p", tile.high, tile.before[0]), _from("c", "x", "q", tile.wide, tile.before[1])]
    lines += _loaded(w, tile, "p", "q", "r", "c")
    inner = [f"for q in range(tx, {tile.columns}, {tile.wide}):", *indented(lines)]
    return [f"for p in range(ty, {tile.rows}, {tile.high}):", *indented(inner)]


def _use(w: Writer, tile: Tile, own: tuple[str, str], lanes: list[str]) -> list[str]:
    """What a thread makes of the cells around its own."""
    (top, left), (bottom, right) = tile.before, tile.behind
    spots = [(dy, dx) for dy in range(-top, bottom + 1) for dx in range(-left, right + 1)]
    if w.chance(0.5):
        spots = [s for s in spots if 0 in s]
    w.rng.shuffle(spots)
    near = [tile.cell(_moved(own[0], dy), _moved(own[1], dx)) for dy, dx in spots[: w.rng.randint(1, 6)]]
    lines: list[str] = []
    way = w.rng.random()
    if way < 0.3 and not lanes:  # all around
        rows, columns = top + bottom + 1, left + right + 1
        step = w.pick("s += {0}", "s = max(s, {0})", "s += {0} * {0}", "s += 0.5 * {0}")
        cell = tile.cell("ty + j", "tx + jj")
        lines += ["s = 0.0", f"for j in range({rows}):", f"    for jj in range({columns}):"]
        lines += ["        " + step.format(cell)]
        value = w.pick("s", f"{near[0]} - 0.125 * s")
    elif way < 0.45:  # written back, and read again
        change = w.pick(f"0.5 * ({' + '.join(near)})", f"max({near[0]}, {near[-1]})")
        store = [f"{tile.cell(*own)} = s"]
        if lanes:
            lines += ["s = 0.0", f"if {' and '.join(lanes)}:", f"    s = {change}", *w.barrier()]
            lines += [f"if {' and '.join(lanes)}:", *indented(store), *w.barrier()]
        else:
            lines += [f"s = {change}", *w.barrier(), *store, *w.barrier()]
        value = w.pick(near[0], " + ".join(near[:3]))
    else:
        value = w.pick(" + ".join(near), " + ".join(near), f"0.25 * ({' + '.join(near)}) - {near[0]}",
                       f"max({near[0]}, {near[-1]})", " * ".join(near[:2]))  # fmt: skip
    below = "{0} + {2} < {1}" if w.c else "{0} < {1} - {2}"  # an unsigned n - 1 may wrap around
    margin = [f"row >= {top}", below.format("row", "n", bottom), f"col >= {left}", below.format("col", "m", right)]
    whole = ["row < n", "col < m"]
    if lanes:
        whole += [t for t, b in (("row >= 0", top), ("col >= 0", left)) if b and w.chance(0.4)]
    guard = margin if tile.outside == "nothing" and w.chance(0.95) or w.chance(0.15) else whole
    target = _global(w, tile, "out", "row", "col")
    store = [f"{target} {w.pick('=', '=', '=', '+=')} {value}"]
    if tile.outside == "nothing" and w.chance(0.4) and not any("sync" in x for x in lines):
        lines, store = [], [*lines, *store]
    guards = " and ".join([*lanes, *guard])
    return [*lines, f"if {guards}:", *indented(store)]


def _moved(own: str, by: int) -> str:
    name, _, offset = own.partition(" + ")
    total = int(offset or 0) + by
    return f"{name} + {total}" if total > 0 else f"{name} - {-total}" if total else name
