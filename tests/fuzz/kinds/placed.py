"""Forms that a kernel spells cell by cell: fluxes through both sides of a cell, filters of channels, windows side by side,
columns of flat rows, small arrays that each thread fills as a whole; places that a counter hands out, counts of what
comes before a place, means that atomics add up.
"""

# ruff: noqa: E501 (pieces of sources read better on one line)
from __future__ import annotations

from dataclasses import replace

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Array
from tests.fuzz.statements import indented

SIZES = (1, 2, 3, 5, 8)
FLUXES = (
    "0.5 * ({a} + {b})",
    "{a} * {b} - 0.25 * {b}",
    "max({a}, 0.0) * {b} + min({b}, 0.0)",
    "({b} - {a}) * abs({b} + {a})",
    "({a} if {a} + {b} > 0.0 else {b})",
    "({k} + {l}) * ({a} - {b})",
)


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("placed", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.dims, w.spelled = ["n", "m"], {"n": "n", "m": "m"}
    w.float_scalars, w.int_scalars = [], []
    forms = (_fluxes, _filter, _windows, _columns, _small, _packing, _before, _mean)
    return forms[w.rng.randrange(len(forms))](w, real)


def _fluxes(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.arrays = [Array("x", ("n",)), Array("z", ("n",))]
    flux = w.pick(*FLUXES)

    def face(a: str, b: str) -> str:
        a, b = (b, a) if w.chance(0.15) else (a, b)
        return flux.format(a=f"x[{a}]", b=f"x[{b}]", k=f"z[{a}]", l=f"z[{b}]")

    right, left = face("i", "i + 1"), face("i - 1", "i")
    whole = w.pick("{r} - {l}", "{l} - {r}", "0.5 * {r} + {l}", "x[i] - 0.1 * ({r} - {l})")
    writing.output(w, "out", ("n",), ("i",))
    if w.chance(0.6):
        lines = [f"sr = {right}", f"sl = {left}"]
        body = ["if i > 0 and i < n - 1:", *indented([*lines, f"out[i] = {whole.format(r='sr', l='sl')}"])]
    else:
        body = [
            "s = 0.0",
            "if i < n - 1:",
            f"    s += {right}",
            "if i > 0:",
            f"    s {w.pick('-=', '+=')} {left}",
            "out[i] = s",
        ]
    return _finished(w, body, "n")


def _filter(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.arrays = [Array("x", ("n", "m"), flat=w.c), Array("q", ("n", "m"), flat=w.c)]
    x, q, out = ("x[i * m + p]", "q[i * m + k]", "out[i * m + j]") if w.c else ("x[i, p]", "q[i, k]", "out[i, j]")
    q = q.replace("k", "2 - k") if w.chance(0.3) else q
    place = w.pick("j + k - 1", "j - k", "j - k + 2", "j + k", "j + 2 * k - 2", "m - 1 - j + k")
    begin, guard = w.pick("0.0", "1.0", "q[i]" if not w.c else "0.5"), w.pick("p >= 0 and p < m", "p < m and p >= 0")
    begin = "0.5" if begin == "q[i]" else begin
    step = [f"p = {place}", f"if {guard}:", f"    s += {x} * {q}"]
    inner = [f"s = {begin}", "for k in range(3):", *indented(step), f"{out} {w.pick('=', '+=')} s"]
    writing.output(w, "out", ("n", "m"), ("i", "j"))
    return _finished(w, ["for j in range(m):", *indented(inner)], "n", (("n", SIZES), ("m", (3, 4, 7))))


def _windows(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.arrays = [Array("x", ("n", "m"), flat=True), Array("q", ("m",))]
    other = w.pick("q[k]", "q[m - 1 - k]", "x[i * m + m - 1 - k]", "1.5")
    step = w.pick(f"s += x[i * m + k] * {other}", f"s = max(s, x[i * m + k] * {other})", f"s -= x[m * i + k] + {other}")
    writing.output(w, "out", ("n",), ("i",))
    body = [
        f"s = {w.pick('0.0', '-2.0', 'x[i * m]')}",
        f"for k in range({w.pick('m', '1, m', 'm - 1')}):",
        f"    {step}",
    ]
    return _finished(w, [*body, "out[i] = s"], "n", (("n", SIZES), ("m", (1, 2, 3, 5))))


def _columns(w: Writer, real: str) -> tuple[list[str], Kernel]:
    size = w.pick(3, 4, 9)
    w.arrays = [Array("x", ("n", "m"), flat=True)]

    def cell() -> str:
        return f"x[{size} * i + {w.rng.randrange(size)}]"

    value = cell()
    for _ in range(w.pick(2, 3, 4)):
        value = f"({value} {w.pick('+', '-', '*')} {w.pick(cell(), f'{cell()} * {cell()}')})"
    writing.output(w, "out", ("n",), ("i",))
    return _finished(w, [f"out[i] {w.pick('=', '+=')} {value}"], "n", (("n", SIZES), ("m", (size,))))


def _small(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.arrays = [Array("x", ("n", "m"), flat=True), Array("q", ("m",))]
    size = w.pick(2, 3, 4)
    at = w.pick("b", f"{size - 1} - b", "a")
    term = w.pick(f"q[a] * x[{size} * i + {at}]", f"x[{size} * i + a] - q[{at}]", f"q[{at}] * q[a]")
    lines = [f"mine = cuda.local.array({size}, {real})", f"for a in range({size}):"]
    lines += [
        f"    mine[a] = {w.pick('0.0', 'q[a]', '1.0')}",
        f"    for b in range({size}):",
        f"        mine[a] {w.pick('+=', '-=')} {term}",
    ]
    if w.chance(0.4):
        lines += ["t = mine[0]", f"mine[0] = mine[{size - 1}]", f"mine[{size - 1}] = t"]
    lines += [
        "s = 0.0",
        f"for a in range({size}):",
        f"    s += mine[a] * {w.pick('mine[a]', f'mine[{size - 1} - a]', 'q[a]')}",
    ]
    writing.output(w, "out", ("n",), ("i",))
    return _finished(w, [*lines, "out[i] = s"], "n", (("n", SIZES), ("m", (size,))))


def _packing(w: Writer, real: str) -> tuple[list[str], Kernel]:
    kind = w.pick("f", "i")
    w.arrays = [Array("x", ("n",), kind)]
    out = writing.output(w, "out", ("n",), (), kind)
    w.arrays[w.arrays.index(out)] = replace(out, extra=2)
    start = w.pick("0", "0", "1")
    test = w.pick("x[k] > 0", "x[k] != 1", "k % 2 == 0", f"x[k] > 0 and {'c < 3'}", "x[k] < x[n - 1 - k]")
    value = w.pick("x[k]", "x[k]", "x[n - 1 - k] + x[k]", "k")
    store = w.pick([f"out[c] = {value}", "c += 1"], ["c += 1", f"out[c] = {value}"], [f"out[c] += {value}", "c += 1"])
    other = w.pick([], [], ["else:", "    out[n + 1] = x[k]"], ["elif k == 2:", "    c = 0"])
    lines = [f"c = {start}", "for k in range(n):", *indented([f"if {test}:", *indented(store), *other])]
    if w.chance(0.4):
        writing.output(w, "count", ("m",), (), "i")
        lines.append("count[0] = c")
    return _finished(w, lines, "n", (("n", SIZES), ("m", (1, 2))), alone=True)


def _before(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.arrays = [Array("x", ("n",), "i"), Array("q", ("n",), "i")]
    rounds = w.pick("range(i)", "range(i + 1)", "range(i + 1, n)", "range(n)")
    test = w.pick(
        "x[k] > 0",
        "x[k] < x[i]",
        "x[k] == x[i] and k < i",
        "x[k] == 1 and q[i] > 0",
        "x[k] <= q[k]",
        "k % 2 == 0 and x[k] != 0",
    )
    writing.output(w, "out", ("n",), ("i",), "i")
    lines = [
        f"c = {w.pick('0', '3', 'q[i]')}",
        f"for k in {rounds}:",
        f"    if {test}:",
        f"        c {w.pick('+= 1', '-= 1', '+= 2')}",
    ]
    text, kernel = _finished(w, [*lines, f"out[i] {w.pick('=', '+=')} c"], "n")
    return text, replace(
        kernel, args=tuple(replace(a, low=-1, high=3) if a.kind == "i" and a.dims else a for a in kernel.args)
    )


def _mean(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.arrays = [Array("x", ("n",)), Array("z", ("n",))]
    loss = w.pick("s * s", "abs(s)", "(0.5 * s * s if abs(s) < 1.0 else abs(s) - 0.5)", "max(s, 0.0)", "s * z[i]")
    writing.output(w, "out", ("m",), ())
    add = f"cuda.atomic.add(out, {w.pick('0', '0', 'i % m')}, {w.pick(f'{loss} / n', f'-0.5 * {loss}', f'{loss} / (n * m)')})"
    if w.chance(0.3):
        add = f"if s {w.pick('>', '<')} 0.25:\n    {add}"
    return _finished(w, ["s = x[i] - z[i]", *add.split("\n")], "n", (("n", SIZES), ("m", (1, 2))))


def _finished(
    w: Writer,
    body: list[str],
    threads: str,
    sizes: tuple[tuple[str, tuple[int, ...]], ...] = (("n", SIZES), ("m", (4,))),
    alone: bool = False,
) -> tuple[list[str], Kernel]:
    guard = "i == 0" if alone else "i < n"
    return writing.finished(w, ["i = cuda.grid(1)", f"if {guard}:", *indented(body)], (threads,), w.pick(3, 4), sizes)
