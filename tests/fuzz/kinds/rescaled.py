"""Sums that are kept relative to a running extremum, in one pass; and sums that are nearly so, which stay loops."""

from __future__ import annotations

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Array
from tests.fuzz.statements import indented

SIZES = (1, 2, 3, 5, 8)


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("rescaled", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.dims, w.spelled = ["n"], {"n": "n"}
    w.float_scalars, w.int_scalars = [], []
    w.arrays = [Array("x", ("n",)), Array("z", ("n",))]
    writing.output(w, "out", ("n",), ("i",))
    scale = w.pick("", "", "2.0 * ", "0.5 * ")
    weight = w.pick("1.0", "z[j]", "(z[j] + 0.25)", "z[i] * x[j]")
    round_ = w.pick(_larger, _arms, _changed)(w, scale, weight)
    if w.chance(0.3):
        round_ = [f"if {w.pick('z[j] > 0.1', 'j <= i', 'j != i')}:", *indented(round_)]
    body = [
        "i = cuda.grid(1)",
        "if i < n:",
        f"    top = {w.pick('-50.0', '-50.0', 'z[i]', '0.0')}",
        f"    s = {w.pick('0.0', '0.0', '1.0', 'x[i]')}",
        "    for j in range(n):",
        f"        v = {w.pick('x[j]', 'x[j] * z[i]', 'x[j] - z[i]', 'abs(x[j])')}",
        *indented(indented(round_)),
        f"    out[i] = {w.pick('s', 's + top', 's * 0.5 - top', 'top + math.log(abs(s) + 1.0)')}",
    ]
    return writing.finished(w, body, ("n",), w.pick(3, 4), (("n", SIZES),))


def _by(w: Writer, scale: str, a: str, b: str) -> str:
    """The factor from one extremum to another; another one now and then."""
    if w.chance(0.08):
        a, b = w.pick((b, a), (a, a), (a, "v"))
    return f"math.exp({scale}({a} - {b}))"


def _larger(w: Writer, scale: str, weight: str) -> list[str]:
    lines = ["larger = max(top, v)", f"s = s * {_by(w, scale, 'top', 'larger')} {w.pick('+', '+', '-')} "]
    lines[1] += w.pick(f"{weight} * {_by(w, scale, 'v', 'larger')}", f"{_by(w, scale, 'v', 'larger')} * {weight}")
    return [*lines, "top = larger"]


def _arms(w: Writer, scale: str, weight: str) -> list[str]:
    return [
        f"if v {w.pick('>', '>', '>=')} top:",
        f"    s = s * {_by(w, scale, 'top', 'v')} + {weight}",
        "    top = v",
        "else:",
        f"    s = s + {weight} * {_by(w, scale, 'v', 'top')}",
    ]


def _changed(w: Writer, scale: str, weight: str) -> list[str]:
    return [
        "if v > top:",
        f"    s = s * {_by(w, scale, 'top', 'v')}",
        "    top = v",
        f"s = s + {weight} * {_by(w, scale, 'v', 'top')}",
    ]


__all__ = ["draw"]
