"""Arrays changed in place by loops that also read the cells beside: recurrences, sweeps, sorts, running extrema.

The loops run up and down and by steps; a row (or a column) for each thread, or all of them in one function.
"""

# ruff: noqa: E501 (pieces of sources read better on one line)
from __future__ import annotations

from dataclasses import replace

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.statements import indented

EXTENTS = (0, 1, 4, 5, 7, 8)


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("neighbours", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    return _Sweeps(w).kernel()


class _Sweeps:
    """Writes one kernel: ``y`` and ``z`` are changed, ``x`` is read."""

    def __init__(self, w: Writer):
        self.w = w
        w.float_scalars, w.int_scalars = [], []
        self.style = (
            w.pick("rows", "columns", "one", "both") if w.c else w.pick("rows", "columns", "plain", "plain", "both")
        )
        self.floats: list[str] = []

    def kernel(self) -> tuple[list[str], Kernel]:
        w = self.w
        flat = self.style in ("plain", "one")
        dims = {"rows": ("n", "m"), "columns": ("m", "n"), "both": ("n", "m")}.get(self.style, ("m",))
        w.dims = [*dict.fromkeys(dims)] if flat else ["n", "m"]
        w.spelled = {d: d for d in w.dims}
        w.arrays = [writing.Array("x", dims, flat=w.c and not flat)]
        for name in ("y", "z"):
            writing.output(w, name, dims, ())
        lines: list[str] = []
        if w.chance(0.5):
            lines.append(f"s = {w.pick('0.0', '1.0', '0.5')}")
            self.floats.append("s")
        for _ in range(w.pick(1, 1, 2)):
            lines += self.sweep()
        if self.floats and w.chance(0.5):
            lines += ["if m > 0:", f"    {self.cell('y', '0')} = s"]
        sizes = (("m", EXTENTS), ("n", (1, 2, 3)))
        if self.style == "plain":
            text, kernel = w.finish(w.params(), "", lines, ())
            return text, replace(kernel, sizes=sizes)
        if self.style == "one":
            lines = ["i = cuda.grid(1)", "if i == 0:", *indented(lines)]
            return writing.finished(w, lines, ("m",), 4, sizes)
        if self.style == "both":  # a round for each row: the row before is read
            lines = ["j = cuda.grid(1)", "if 0 < j and j < m - 1:", *indented(lines)]
            return writing.finished(w, lines, ("m",), 4, sizes)
        return writing.finished(w, ["i = cuda.grid(1)", "if i < n:", *indented(lines)], ("n",), 4, sizes)

    def cell(self, a: str, at: str) -> str:
        match self.style:
            case "rows":
                return f"{a}[i * m + {at}]" if self.w.c else f"{a}[i, {at}]"
            case "columns":
                return f"{a}[({at}) * n + i]" if self.w.c else f"{a}[{at}, i]"
            case "both":
                beside = self.w.pick("j", "j", "j", "j", "j + 1", "j - 1") if a == "x" else "j"
                return f"{a}[({at}) * m + {beside}]" if self.w.c else f"{a}[{at}, {beside}]"
        return f"{a}[{at}]"

    def near(self, a: str) -> str:
        d = self.w.pick(-2, -1, -1, -1, 0, 0, 1, 1, 1, 2)
        return self.cell(a, "k" if not d else f"k {'+' if d > 0 else '-'} {abs(d)}")

    def value(self, depth: int) -> str:
        w = self.w
        way = w.rng.random()
        if depth <= 0 or way < 0.3:
            return w.pick(*(self.near(a) for a in "yyyxz"), *self.floats, "0.5", "0.1 * k")
        a, b = self.value(depth - 1), self.value(depth - 1)
        if way < 0.6:
            return f"{a} {w.pick('+', '-')} {w.wrapped(b)}"
        if way < 0.75:
            return f"{w.pick('0.5', '-0.25', '0.75')} * {w.wrapped(a)}"
        if way < 0.9:
            return f"{w.pick('min', 'max')}({a}, {b})"
        return f"({a} if {self.test()} else {b})"

    def test(self) -> str:
        w = self.w
        if w.chance(0.2):
            return f"k % {w.pick('2', '3')} {w.pick('==', '!=')} {w.pick('0', '1')}"
        test = f"{self.value(0)} {w.pick('<', '<=', '>', '>=')} {self.value(0)}"
        return (
            f"{test} {w.pick('and', 'or')} {self.value(0)} {w.pick('<', '>')} {self.value(0)}"
            if w.chance(0.15)
            else test
        )

    def statement(self, depth: int) -> list[str]:
        w = self.w
        way = w.rng.random()
        if way < 0.25:
            a = w.pick("y", "y", "z")
            here, there = self.near(a), self.near(a)
            if w.chance(0.5):
                return [f"if {here} {w.pick('<', '>')} {there}:", f"    {there} = {here}"]
            return [f"if {here} > {there}:", f"    {here}, {there} = {there}, {here}"]
        if way < 0.4 and self.floats:
            return [f"s {w.pick('=', '+=', '=')} {self.value(1)}"]
        if way < 0.55 and depth < 1:
            return [f"if {self.test()}:", *indented(self.statement(depth + 1))]
        if way < 0.6:
            return [f"if {self.test()}:", f"    {w.pick('continue', 'break')}"]
        here = self.cell(w.pick("y", "y", "y", "z"), w.pick("k", "k", "k", "k + 1", "k - 1"))
        return [f"{here} {w.pick('=', '=', '+=', '-=')} {self.value(2)}"]

    def sweep(self) -> list[str]:
        w = self.w
        size = "n" if self.style == "both" else "m"
        head = w.pick(f"range(2, {size} - 2)", f"range(2, {size} - 2)", f"range({size} - 3, 1, -1)", f"range(2, {size} - 2, 2)",
                      f"range(3, {size} - 2, 3)")  # fmt: skip
        lines = [f"for k in {head}:", *indented([x for _ in range(w.pick(1, 1, 2)) for x in self.statement(0)])]
        return [f"for _ in range({w.pick('2', '3')}):", *indented(lines)] if w.chance(0.1) else lines
