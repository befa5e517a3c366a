"""More places than cells: faces between cells, ghosts around them; what is read is clamped at the ends of arrays just
as long as what is read."""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Array
from tests.fuzz.statements import indented

SIZES = (1, 2, 3, 5, 8)


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("faces", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.dims, w.spelled = ["n", "m"], {"n": "n", "m": "m"}
    w.float_scalars, w.int_scalars = [], []
    more = w.pick(1, 1, 2, 3)
    w.arrays = [Array("x", ("n",)), Array("z", ("n",))]
    loads = [f"{w.pick('x', 'z')}[{_place(w, more)}]" for _ in range(w.pick(1, 2, 2, 3))]
    value = loads[0]
    for load in loads[1:]:
        value = f"{value} {w.pick('+', '-', '*', '+ 0.5 *')} {load}"
    if w.chance(0.25):
        value = f"{w.pick('max', 'min')}({value}, {loads[-1]})"
    out = writing.output(w, "out", ("n",), ("i",))
    w.arrays[w.arrays.index(out)] = replace(out, extra=more)
    store = f"out[i] {w.pick('=', '=', '+=')} {value}"
    body = ["i = cuda.grid(1)", f"if i < n + {more}:", *indented([store])]
    return writing.finished(w, body, ("n*m",), w.pick(3, 4), (("n", SIZES), ("m", (4,))))


def _place(w: Writer, more: int) -> str:
    """A subscript of one of n cells, for places from 0 to n + ``more`` - 1."""
    back = more + w.pick(0, 0, 1)
    low = w.pick(f"max(i - {back}, 0)", f"i - {back} if i > {back - 1} else 0", f"0 if i < {back} else i - {back}")
    on = w.pick(0, 0, 1, 2)
    high = f"min(i{f' + {on}' if on else ''}, n - 1)"
    shift = w.pick(1, 2, more)
    both = w.pick(f"min(max(i - {shift}, 0), n - 1)", f"max(min(i - {shift}, n - 1), 0)")
    return w.pick(low, low, high, both)
