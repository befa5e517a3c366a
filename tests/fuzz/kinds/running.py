"""What a thread carries along its own row: totals, extrema and their places, the last that a condition let through,
counts that start again, recurrences, clamps, swaps; stored at each step or at the end, from either end of the row.
In Python, at some seeds, from one place before it on and from its end, as subscripts below zero count.
"""

# ruff: noqa: E501 (pieces of sources read better on one line)
from __future__ import annotations

from dataclasses import replace

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Array
from tests.fuzz.statements import indented

STATES = ("0", "1", "2")


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    made = writing.draw("running", seed, language, write)
    if language == "python" and seed % 4 == 3:
        return replace(made, source=made.source.replace("x[i, k]", "x[i, k - 1]").replace("y[k]", "y[-k - 1]"))
    return made


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    kind = w.pick("f", "i", "i")
    w.dims, w.spelled = ["n", "m"], {"n": "n", "m": "m"}
    w.float_scalars, w.int_scalars = [], []
    w.arrays = [Array("x", ("n", "m"), kind, flat=w.c), Array("y", ("m",), kind), Array("q", ("n",), "i")]
    letter = "s" if kind == "f" else "c"  # what begins with c, i, k, p is an integer of C's
    states = [f"{letter}{name}" for name in STATES[: w.pick(1, 1, 2, 2, 3)]]
    lines = [
        f"{state} = {w.pick(_number(w, kind), _number(w, kind), 'q[i]' if kind == 'i' else '0.5')}" for state in states
    ]
    places: list[str] = []
    body: list[str] = []
    value = w.pick(_cell(w), _cell(w), f"{_cell(w)} * y[k]", "y[k]", f"{_cell(w)} + {_number(w, kind)}")
    body.append(f"{'v' if kind == 'f' else 'iv'} = {value}")
    v = "v" if kind == "f" else "iv"
    at = w.rng.randrange(len(states) + 1)
    for number, state in enumerate(states):
        if number == at:
            body += _stored(w, kind, states, v)
        body += _step(w, kind, state, w.pick(v, v, *states), places, number)
    if at == len(states):
        body += _stored(w, kind, states, v)
    if any("each[" in line for line in body):
        writing.output(w, "each", ("n", "m"), ("i", "k"), kind)
    if w.chance(0.12):
        body[1:1] = [f"if {_test(w, kind, states[0], v)}:", f"    {w.pick('break', 'continue')}"]
    lines += [f"{place} = {w.pick('-1', '0', 'm')}" for place in places]
    head = w.pick("range(m)", "range(m)", "range(m)", "range(1, m)", "range(m - 1, -1, -1)", "range(0, m, 2)")
    if head == "range(m)" and w.chance(0.15) and not any("continue" in line for line in body):
        lines += ["k = 0", "while k < m:", *indented([*body, "k += 1"])]
    else:
        lines += [f"for k in {head}:", *indented(body)]
    writing.output(w, "out", ("n",), ("i",), kind)
    lines.append(f"out[i] {w.pick('=', '=', '+=')} {' + '.join([*states, *places])}")
    text, kernel = writing.finished(w, ["i = cuda.grid(1)", "if i < n:", *indented(lines)], ("n",), 4)
    small = (replace(a, low=-4, high=5) if a.kind == "i" and a.dims else a for a in kernel.args)
    return text, replace(kernel, args=tuple(small))


def _cell(w: Writer) -> str:
    at = w.pick("k", "k", "k", "m - 1 - k")
    return f"x[i * m + {at}]" if w.c else f"x[i, {at}]"


def _stored(w: Writer, kind: str, states: list[str], v: str) -> list[str]:
    if w.chance(0.3):
        return []
    each = "each[i * m + k]" if w.c else "each[i, k]"
    line = f"{each} {w.pick('=', '=', '=', '+=')} {w.pick(states[-1], ' - '.join(states), f'{states[0]} + {v}')}"
    return [f"if {_test(w, kind, states[0], v)}:", "    " + line] if w.chance(0.15) else [line]


def _test(w: Writer, kind: str, state: str, v: str) -> str:
    return w.pick(f"{v} > {_number(w, kind)}", f"{v} < 0", f"{v} > {state}", "k % 2 == 0", "k > q[i]", "q[i] > 0",
                  f"{state} > {_number(w, kind)}", f"{v} == {_number(w, kind)}", "k == 0", "k < 2")  # fmt: skip


def _step(w: Writer, kind: str, state: str, v: str, places: list[str], number: int) -> list[str]:
    a, b = _number(w, kind), _number(w, kind)
    factor = w.pick("2", "-1", "3") if kind == "i" else w.pick("0.5", "-0.75", "1.25", "y[k]")
    test = _test(w, kind, state, v)
    simple = w.pick(f"{state} += {v}", f"{state} -= {v}", f"{state} = max({state}, {v})", f"{state} = min({state}, {v})",
                    f"{state} = {v}", f"{state} = {factor} * {state} + {v}", f"{state} = {v} - {state}", f"{state} += {a}",
                    f"{state} = min(max({state} + {v}, {a}), {b})", f"{state} = {state} + {v} * {factor}")  # fmt: skip
    whole = [
        f"{state} ^= {v}",
        f"{state} |= {v}",
        f"{state} &= {v}",
        f"{state} = ({state} * 5 + {v}) & 63",
        f"{state} += {v} & 1",
    ]
    if kind == "i" and w.chance(0.25):
        simple = w.pick(*whole)
    match w.rng.randrange(8):
        case 0:  # starts again
            return [f"if {test}:", f"    {state} = {w.pick(a, v)}", "else:", f"    {simple}"]
        case 1:
            return [f"if {test}:", f"    {state} = {w.pick(a, v)}", simple]
        case 2 if not places:
            place = f"p{number}"
            places.append(place)
            better = w.pick(">", "<", ">=", "<=", "!=")
            more = w.pick("", "", f" and {test}")
            return [
                f"if {v} {better} {state}{more}:",
                f"    {state} = {v}",
                f"    {place} = {w.pick('k', 'k + 1', 'm - k')}",
            ]
        case 3 | 4:
            return [f"if {test}:", f"    {simple}"]
        case 5 if not places:  # a streak
            place = f"p{number}"
            places.append(place)
            again = w.pick(["else:", f"    {place} = 0"], [])
            return [f"if {test}:", f"    {place} += 1", *again, f"{state} = max({state}, {place})"]
        case _:
            return [simple]


def _number(w: Writer, kind: str) -> str:
    return w.pick("0", "1", "2", "-3", "5", "-7") if kind == "i" else w.pick("0.0", "1.0", "2.5", "-1.5", "0.25")
