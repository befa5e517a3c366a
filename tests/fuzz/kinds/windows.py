"""What a thread makes of a few elements around its own, with steps between them: sums, products, extrema and their
places, of floats and of integers, from any start, of those that a condition lets through, with numbers beyond the ends.
"""

# ruff: noqa: E501 (pieces of sources read better on one line)
from __future__ import annotations

from dataclasses import replace

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Array
from tests.fuzz.statements import indented


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("windows", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.dims = ["n"]
    w.spelled = {"n": "n"}
    kind = w.pick("f", "i", "i")
    w.arrays = [Array("x", ("n",), kind), Array("q", ("n",), "i")]
    lines, found = [], []
    for number in range(w.pick(1, 1, 2)):
        more, names = _window(w, kind, number)
        lines += more
        found += names
    writing.output(w, "out", ("n",), ("i",), kind)
    lines.append(f"out[i] {w.pick('=', '=', '+=')} {' + '.join(found)}")
    text, kernel = writing.finished(w, ["i = cuda.grid(1)", "if i < n:", *indented(lines)], ("n",), 4)
    return text, replace(
        kernel, args=tuple(replace(a, low=-4, high=5) if a.name in "xq" and a.kind == "i" else a for a in kernel.args)
    )


def _window(w: Writer, kind: str, number: int) -> tuple[list[str], list[str]]:
    s, k, j, at = (f"{name}{number}" for name in ("s" if kind == "f" else "c", "k", "j", "p"))
    place = w.pick("i + {a} * {k} - {c}", "i + {a} * {k} - {c}", "i - {a} * {k} + {c}", "{a} * i + {k} - {c}", "n - 1 - i + {a} * {k} - {c}",
                   "i + ({k} if {k} % 2 else -{k})", "(i + {a} * {k}) % n")  # fmt: skip
    place = place.format(a=w.pick(1, 2, 2, 3), c=w.pick(0, 1, 2, 3), k=k)
    inside = w.pick(f"{j} >= 0 and {j} < n", f"0 <= {j} < n") if not w.c else f"{j} >= 0 and {j} < n"
    fill = _number(w, kind)
    op = w.pick("max", "max", "min", "min", "*", "+", "arg")
    begin = {"*": _number(w, kind), "+": _number(w, kind)}.get(op) or w.pick(
        _number(w, kind), "q[i]" if kind == "i" else "0.5", "x[i]"
    )
    value = f"x[{j}]"
    if w.chance(0.6):
        value, guard = f"(x[{j}] if {inside} else {fill})", ""
    else:
        guard = inside
    if w.chance(0.4):
        more = w.pick(
            f"{k} != 1",
            "q[i] > 0",
            f"{k} <= i",
            f"x[{j}] != {_number(w, kind)}" if guard else "q[i] != 1",
            f"{k} < 3 - i % 2",
        )
        guard = f"{guard} and {more}" if guard else more
    value = w.pick(value, value, f"{value} + {k}", f"{value} * {_number(w, kind)}")
    match op:
        case "max" | "min":
            step = [f"{s} = {op}({s}, {value})"]
        case "arg":
            step = [f"if {value} {w.pick('>', '<', '>=')} {s}:", f"    {s} = {value}", f"    {at} = {k}"]
        case _:
            step = [f"{s} {op}= {value}"]
    body = [f"{j} = {place}", *([f"if {guard}:", *indented(step)] if guard else step)]
    head = f"for {k} in range({w.pick(2, 3, 4)}):"
    return [f"{s} = {begin}", *([f"{at} = -1"] if op == "arg" else []), head, *indented(body)], [
        s,
        *([at] if op == "arg" else []),
    ]


def _number(w: Writer, kind: str) -> str:
    return w.pick("0", "1", "2", "-3", "5", "-7") if kind == "i" else w.pick("0.0", "1.0", "2.5", "-1.5", "0.25")
