"""Loops in strides of the threads that store and accumulate at once: over all elements, or by a block over its row;
what they sum is added up by atomics, or by the block, whose threads go over their row once more."""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Array, Index, Scope
from tests.fuzz.statements import indented


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("strides", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    rows = w.chance(0.6)
    w.dims = ["n", "m"] if rows else ["n"]
    w.spelled = {d: d for d in w.dims}
    w.int_scalars = []
    w.inputs()
    cell = ("r", "c") if rows else ("c",)
    dims = ("n", "m") if rows else ("n",)
    for name in ("out", "res")[: w.pick(1, 1, 2)]:
        writing.output(w, name, dims, cell)
    if rows:
        lines = ["r = cuda.blockIdx.x", "lane = cuda.threadIdx.x"]
        head = "for c in range(lane, m, cuda.blockDim.x):"
    else:
        lines = ["start = cuda.grid(1)"]
        head = "for c in range(start, n, cuda.gridsize(1)):"
    scope = Scope([Index("r", "n"), Index("c", "m")] if rows else [Index("c", "n")])
    block = w.pick(2, 4)
    totals: list[str] = []
    for number in range(w.pick(1, 1, 2)):
        more, name = _pass(w, scope, head, number, totals)
        lines += more
        if rows:
            lines += _tree(w, name, f"f{number}0", block, real)
            totals.append(f"f{number}0")
        else:
            lines += _added(w, name, number)
    if rows and w.chance(0.5):
        inner = scope.inner()
        inner.floats += totals
        lines += [head, *indented(_stores(w, inner, 1, totals))]
    if rows and w.chance(0.5):
        writing.output(w, "sums", ("n",), ("r",))
        lines += ["if lane == 0:", f"    sums[r] = {w.pick(*totals)}"]
    text, kernel = writing.finished(w, lines, ("n",), block)
    if rows:  # a block for each row
        count = w.pick(1, 2, 3)
        kernel = replace(kernel, grid=(count,), sizes=(("n", (count,)),))
    return text, kernel


def _pass(w: Writer, scope: Scope, head: str, number: int, known: list[str]) -> tuple[list[str], str]:
    """A loop that stores and accumulates; the name of what it accumulates."""
    name = f"acc{number}"
    inner = scope.inner()
    inner.frozen.add(name)
    inner.floats += known
    body = _stores(w, inner, w.pick(1, 1, 2), [])
    value = w.pick(*inner.floats) if inner.floats and w.chance(0.5) else w.float(inner, 1)
    if w.chance(0.4):  # what has been stored
        array = w.pick(*(a for a in w.arrays if a.role == "out"))
        value = w.pick("{0}", "{0} * {0}", "0.5 * {0} + 1.0").format(w.cell(array, inner))
    step = w.pick(f"{name} += {value}", f"{name} += {value}", f"{name} = max({name}, {value})")
    more = [step]
    if w.chance(0.25):
        more = [f"if {w.condition(inner, 1)}:", *indented(more)]
    body = [*more, *body] if w.chance(0.2) else [*body, *more]
    if w.chance(0.15):
        body = [f"if {w.condition(scope.inner(), 1)}:", *indented(body)]
    return [f"{name} = 0.0", head, *indented(body)], name


def _stores(w: Writer, scope: Scope, count: int, known: list[str]) -> list[str]:
    lines: list[str] = []
    for _ in range(w.pick(0, 1, 1)):
        lines += w.define(scope)
    for _ in range(count):
        array = w.pick(*(a for a in w.arrays if a.role == "out"))
        value = w.pick(*known) if known else w.float(scope, 2)
        value = w.pick(value, f"{w.float(scope, 1)} * {value}")
        store = [f"{_own(w, array)} {w.pick('=', '=', '=', '+=')} {value}"]
        if w.chance(0.2):
            store = [f"if {w.condition(scope, 1)}:", *indented(store)]
        lines += store
    return lines


def _own(w: Writer, array: Array) -> str:
    if len(array.dims) == 1:
        return f"{array.name}[{array.own[0]}]"
    return f"{array.name}[r * m + c]" if array.flat else f"{array.name}[r, c]"


def _added(w: Writer, name: str, number: int) -> list[str]:
    total = f"total{number}"
    w.arrays.append(Array(total, ("n",), role="hist", writable=False))
    return [f"cuda.atomic.{w.pick('add', 'add', 'max')}({total}, 0, {name})"]


def _tree(w: Writer, name: str, total: str, block: int, real: str) -> list[str]:
    """The block's sum of ``name``."""
    tile, reach = f"s_{name}", f"half_{name}"
    join = f"{tile}[lane] += {tile}[lane + {reach}]"
    inner = [f"if lane < {reach}:", f"    {join}", *w.barrier(), f"{reach} //= 2"]
    lines = [f"{tile} = cuda.shared.array({block}, {real})", f"{tile}[lane] = {name}", *w.barrier()]
    lines += [f"{reach} = {block // 2}", f"while {reach} > 0:", *indented(inner)]
    return [*lines, f"{total} = {tile}[0]", *w.barrier()]


__all__ = ["draw", "write"]
