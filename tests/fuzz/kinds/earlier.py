"""Loops up to an index, or from it on (running sums, masked products), and windows over channels (convolutions)."""

from __future__ import annotations

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Array
from tests.fuzz.statements import indented

SMALL = (1, 2, 3, 5)


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("earlier", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    """One of the three."""
    w.float_scalars, w.int_scalars = [], []
    kind = w.rng.random()
    return _rows(w) if kind < 0.55 else _products(w) if kind < 0.8 else _windows(w)


def _two(w: Writer, name: str, a: str, b: str, pitch: str) -> str:
    return f"{name}[({a}) * {pitch} + {b}]" if w.c else f"{name}[{a}, {b}]"


def _range(w: Writer, own: str, size: str) -> str:
    shift = w.pick("", "", " + 1", " - 1", " + 2", " - 2")
    low = w.pick("0", "0", "0", "1", "2")
    if w.chance(0.35):
        return f"range(max({own}{shift}, 0), {size})" if "-" in shift else f"range({own}{shift}, {size})"
    top = f"min({own}{shift}, {size})" if "+ 2" in shift else f"{own}{shift}"
    return f"range({low}, {top})"


def _rows(w: Writer) -> tuple[list[str], Kernel]:
    rows = w.chance(0.3)
    w.dims, w.spelled = (["n", "m"] if rows else ["n"]), {"n": "n", "m": "m"}
    w.arrays = [Array("x", ("n", "m") if rows else ("n",), flat=w.c and rows), Array("y", ("n",))]
    writing.output(w, "out", ("n",), ("i",))
    x = (lambda at: _two(w, "x", at, "k", "m")) if rows else (lambda at: f"x[{at}]")
    mine = "y[i]" if rows else w.pick("x[i]", "y[i]")
    term = w.pick(
        x("j"), x("j"), f"{x('j')} * y[j]", f"{x('j')} * {mine}", f"0.5 * {x('j')} * y[j] * {mine}",
        f"{x('j')} - {mine}",
        f"abs({x('j')})", f"math.sqrt(abs({x('j')}) + 0.5)", f"{x('j')} / (1.5 + {mine} * {mine})",
        f"{x('j')} / (2.0 + abs(y[j]))", f"{x('j')} * j", "1.0",
    )  # fmt: skip
    step = w.pick(f"acc += {term}", f"acc += {term}", f"acc -= {term}", f"acc = max(acc, {term})",
                  f"acc = min(acc, {term})", f"acc *= 1.0 + 0.1 * {term}")  # fmt: skip
    inner = [step]
    if w.chance(0.3):
        inner = [f"if {w.pick('y[j] > 0.0', 'j % 2 == 0', 'y[j] < y[i]', 'j != i', 'j > 1')}:", *indented(inner)]
    if rows:
        inner = ["for k in range(m):", *indented(inner)]
    body = [
        f"acc = {w.pick('0.0', '0.0', '1.0', 'y[i]', 'y[0]')}",
        f"for j in {_range(w, 'i', 'n')}:",
        *indented(inner),
    ]
    body += [w.pick("out[i] = acc", "out[i] = acc * y[i]", "out[i] += acc", "out[i] = acc + out[i] * 0.5")]
    guard = w.pick("i < n", "i < n", "0 < i and i < n", "i < n - 1")
    return writing.finished(w, ["i = cuda.grid(1)", f"if {guard}:", *indented(body)], ("n",), w.pick(3, 4, 8))


def _products(w: Writer) -> tuple[list[str], Kernel]:
    w.dims, w.spelled = ["n", "m"], {"n": "n", "m": "m"}
    w.arrays = [Array("x", ("n", "n"), flat=w.c), Array("y", ("n", "m"), flat=w.c), Array("z", ("n",))]
    writing.output(w, "out", ("n", "m"), ("i", "j"))
    a = _two(w, "x", *w.pick(("i", "k"), ("k", "i")), "n")
    term = w.pick("{a} * {b}", "{a} * {b}", "{a} * {b} * z[k]", "0.5 * {b} * {a}", "z[i] * {a} * {b}",
                  "math.exp({a}) * {b}", "{a} * {b} / (1.0 + abs(z[i]))")  # fmt: skip
    inner = [f"acc {w.pick('+=', '+=', '-=')} {term.format(a=a, b=_two(w, 'y', 'k', 'j', 'm'))}"]
    if w.chance(0.25):
        inner = [f"if {w.pick('z[k] > 0.0', 'k != i', f'{a} > 0.0')}:", *indented(inner)]
    body = ["acc = 0.0", f"for k in {_range(w, 'i', 'n')}:", *indented(inner)]
    out = _two(w, "out", "i", "j", "m")
    body += [w.pick(f"{out} = acc", f"{out} += acc", f"{out} = acc * z[i] + {out}")]
    lines = ["j, i = cuda.grid(2)", "if i < n and j < m:", *indented(body)]
    return writing.finished(w, lines, ("m", "n"), w.pick((4, 2), (3, 3)))


def _windows(w: Writer) -> tuple[list[str], Kernel]:
    """``out[o, i]`` from channels c of ``x`` and taps k: strides, dilations, padding, flipped taps."""
    w.dims, w.spelled = ["n", "m", "p", "k"], {d: d for d in "nmpk"}
    stride, dilation, pad = w.pick(1, 1, 2), w.pick(1, 1, 2), w.pick(0, 0, 1, 2)
    single = w.chance(0.25)  # each channel by itself
    w.arrays = [Array("x", ("p", "n"), flat=w.c), Array("y", ("m", "k") if single else ("m", "p", "k"), flat=w.c)]
    if single:
        w.arrays[0] = Array("x", ("m", "n"), flat=w.c)
        w.dims = ["n", "m", "k"]
    writing.output(w, "out", ("m", "n"), ("o", "i"))
    at = " + ".join(
        filter(None, [w.pick("i", f"i * {stride}") if stride > 1 else "i", f"{dilation} * t" if dilation > 1 else "t"])
    )
    at = at if not pad else f"{at} - {pad}"
    tap = w.pick("t", "t", "k - 1 - t")
    row = "o" if single else "c"
    tapped = f"y[o, c, {tap}]"
    if w.c or single:
        tapped = _two(w, "y", "o" if single else "o * p + c", tap, "k")
    inner = [f"acc += {w.pick('', '', '2.0 * ')}{_two(w, 'x', row, at, 'n')} * {tapped}"]
    inside = [f"{at} >= 0"] if pad else []
    inner = [f"if {' and '.join([*inside, f'{at} < n'])}:", *indented(inner)]
    loops = ["for t in range(k):", *indented(inner)]
    if not single:
        loops = ["for c in range(p):", *indented(loops)]
    body = ["acc = 0.0", *loops, f"{_two(w, 'out', 'o', 'i', 'n')} {w.pick('=', '=', '+=')} acc"]
    lines = ["i, o = cuda.grid(2)", "if o < m and i < n:", *indented(body)]
    sizes = tuple((d, SMALL) for d in w.dims)
    return writing.finished(w, lines, ("n", "m"), w.pick((4, 2), (3, 3)), sizes)
