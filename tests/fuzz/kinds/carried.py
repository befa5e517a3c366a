"""A register that a loop carries while the threads of a block exchange: through shared memory, by shuffles, as sums.

What another thread holds is what *it* made of the rounds so far: its own start, its own branches, its own counter.
"""

# ruff: noqa: E501 (pieces of sources read better on one line)
from __future__ import annotations

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Index, Scope
from tests.fuzz.statements import indented

ALL = "0xffffffff"
EXTENTS = (1, 5, 7, 8, 12, 16, 31, 33)


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("carried", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    """Some registers, a loop with exchanges, and a store."""
    warp = w.chance(0.4)
    size = 32 if warp else w.pick(4, 8, 8)
    w.dims, w.spelled = ["n"], {"n": "n"}
    w.float_scalars, w.int_scalars = [], []
    rows = w.chance(0.3)
    w.arrays = [writing.Array("x", ("n", "m") if rows else ("n",), flat=w.c and rows), writing.Array("y", ("n",))]
    if rows:
        w.dims, w.spelled = ["n", "m"], {"n": "n", "m": "m"}
    writing.output(w, "out", ("n",), ("i",))
    rounds = "m" if rows else w.pick("2", "3", "4", "n")
    cell = ("x[i * m + k]" if w.c else "x[i, k]") if rows else "x[i]"
    lines = ["lane = cuda.threadIdx.x", f"i = cuda.blockIdx.x * {size} + lane"]
    lines += [] if warp and w.chance(0.8) else [f"cells = cuda.shared.array({size}, {real})"]
    shared = "cells" in lines[-1]
    held = ["u", "v"][: w.pick(1, 2, 2)]
    for name in held:
        start = w.pick("0.0", "1.0", "y[i] if i < n else 0.0", "0.5 * lane")
        lines.append(f"{name} = {start}")
    body: list[str] = []
    if rows or w.chance(0.3):
        body.append(f"val = {cell} if i < n else {w.pick('0.0', '0.0', '1.0')}")
    known = [*held, *(["val"] if body else [])]
    for _ in range(w.pick(1, 1, 2)):
        body += _exchange(w, known, size, shared, warp)
        body += _step(w, held, known)
    if w.chance(0.2):
        body += _step(w, held, known)
    loop = [f"for k in range({rounds}):", *indented(body)]
    if w.chance(0.2):
        loop = ["k = 0", f"while k < {rounds}:", *indented([*body, "k += 1"])]
    if w.chance(0.15):
        reach = size // 2
        loop = [f"k = {reach}", "while k > 0:", *indented([*body, "k //= 2"])]
        if rows:
            w.arrays[0] = writing.Array("x", ("n",))
            w.dims, w.spelled = ["n"], {"n": "n"}
            loop = [x.replace(cell, "x[i]") for x in loop]
    lines += loop
    own = Scope([Index("i", "n")], floats=held)
    last = [f"out[i] = {w.pick(held[-1], ' + '.join(held), w.float(own, 1))}"]
    lines += ["if i < n:", *indented(last)]
    return writing.finished(w, lines, ("n",), size, (("n", EXTENTS), ("m", (0, 1, 2, 3))))


def _exchange(w: Writer, known: list[str], size: int, shared: bool, warp: bool) -> list[str]:
    """What another thread holds, as a new local."""
    v = w.pick(*known)
    name = f"w{len(known)}"
    known.append(name)
    if warp and (not shared or w.chance(0.6)):
        if w.chance(0.3):  # all of a warp
            op = w.pick("{n} += {s}", "{n} = max({n}, {s})")
            taken = f"cuda.shfl_xor_sync({ALL}, {name}, reach)"
            inner = [op.format(n=name, s=taken), "reach //= 2"]
            return [f"{name} = {v}", "reach = 16", "while reach > 0:", *indented(inner)]
        how = w.pick(
            f"down_sync({ALL}, {v}, {w.pick('1', '2', '16', 'k + 1')})",
            f"up_sync({ALL}, {v}, {w.pick('1', '3', 'k + 1')})",
            f"xor_sync({ALL}, {v}, {w.pick('1', '7', '31', 'k')})",
            f"sync({ALL}, {v}, {w.pick('0', '31', '31 - lane', '(lane + k) % 32', '(lane + 1) & 31')})",
        )
        return [f"{name} = cuda.shfl_{how}"]
    at = w.pick(
        f"{size - 1} - lane", f"(lane + 1) % {size}", f"(lane + k) % {size}", "0", "lane ^ 1", f"{size - 1}", "k % 4"
    )
    stored = w.pick(
        f"cells[lane] = {v}", f"cells[lane] = {v}", f"cells[{size - 1} - lane] = {v}", f"cells[lane] = 0.5 * {v} + lane"
    )
    lines = [stored, *w.barrier()]
    if w.chance(0.25):
        total = [f"{name} {w.pick('+=', '-=')} cells[q]"]
        if w.chance(0.3):
            total = [f"if {w.pick('q != lane', 'q <= lane', 'q < k')}:", *indented(total)]
        lines += [f"{name} = 0.0", f"for q in range({size}):", *indented(total)]
    elif w.chance(0.2):
        join = w.pick("cells[lane] += cells[lane + reach]", "cells[lane] = max(cells[lane], cells[lane + reach])")
        tree = ["if lane < reach:", f"    {join}", *w.barrier(), "reach //= 2"]
        lines += [f"reach = {size // 2}", "while reach > 0:", *indented(tree), f"{name} = cells[0]"]
    else:
        lines.append(f"{name} = cells[{at}]")
    return [*lines, *w.barrier()]


def _step(w: Writer, held: list[str], known: list[str]) -> list[str]:
    """What a round makes of a register."""
    a, o = w.pick(*held), known[-1]
    b = w.pick(*known)
    lines = [w.pick(f"{a} += 0.5 * {o}", f"{a} = 0.5 * {a} + 0.25 * {o}", f"{a} = max({a}, {o} - {b})", f"{a} = {o}",
                    f"{a} += {o} * 0.125 - k", f"{a} = {b} - 0.5 * {o}")]  # fmt: skip
    if w.chance(0.4):
        test = w.pick(
            "lane % 2 == 0", "lane > k", "lane < 3", f"{o} > {a}", "i < n", f"{b} > 0.5", "k % 2 == 0", "lane == k"
        )
        lines = [f"if {test}:", *indented(lines)]
        if w.chance(0.3):
            lines += ["else:", f"    {a} {w.pick('-=', '*=')} 0.5"]
    return lines
