"""Pointers into arrays: rows by pointer, walking pointers, swapped pointers, in-place updates (C only)."""

# ruff: noqa: E501 (pieces of sources read better on one line)
from __future__ import annotations

import random

from tests.fuzz.generate import Arg, Kernel, Program, Writer
from tests.fuzz.kinds.writing import real_of


def draw(seed: int, language: str) -> Program:
    """The program of a seed: always in C."""
    rng = random.Random(f"aliases {seed}")
    w = Writer(rng, "f0", [], True)
    pick, real = w.pick, {"float32": "float", "float64": "double"}[real_of(seed)]
    w.deepest = 1
    args = [Arg("x", ("n", "m"), "f", flat=True), Arg("y", ("m",), "f"), Arg("out", ("n", "m"), "f", flat=True)]
    args += [Arg("n", None, "i"), Arg("m", None, "i")]
    row = pick(f"const {real} *p = x + i * m;", f"const {real} *p = &x[i * m];", f"const {real} *p = x; p += i * m;")
    lines = [row, f"{real} *q = {pick('out + i * m', '&out[i * m]', 'out + i * m + m - 1')};"]
    back = "m - 1" in lines[1]
    q = (lambda k: f"q[-({k})]") if back else (lambda k: f"q[{k}]")  # noqa: E731
    lines.append(f"{real} s = {pick('0', '1', 'y[0]')};")
    for at in ("j", "k", "l")[: pick(1, 1, 2, 3)]:
        cell = pick(f"p[{at}]", f"*(p + {at})", f"p[m - 1 - {at}]", f"x[i * m + {at}]")
        value = pick(cell, f"{cell} * y[{at}]", f"{cell} + s", f"{cell} * {cell}", f"{cell} - y[m - 1 - {at}]")
        store = pick(f"{q(at)} = {value};", f"{q(at)} += {value};", f"s += {value}; {q(at)} = s;", f"s += {value};",
                     f"s = fmax(s, {value}); {q(at)} = s;", f"if ({value} > 0) {q(at)} = {cell};")  # fmt: skip
        lines.append(f"for (int {at} = 0; {at} < m; {at}++) {{ {store} }}")
    way = rng.randrange(6)
    if way == 0:  # a pointer that walks
        lines += [f"const {real} *r = p;", "for (int t = 0; t < m; t++) { s += *r++; }"]
    elif way == 1:
        lines += [f"const {real} *r = p + m;", "while (r > p) { s = 0.5f * s + *--r; }"]
    elif way == 2:  # two rows change places
        lines += [f"const {real} *a = p;", f"const {real} *b = y;"]
        body = f"s += a[t] * {pick('0.5f', '2', 't')}; const {real} *h = a; a = b; b = h;"
        lines += [f"for (int t = 0; t < m; t++) {{ {body} }}"]
    elif way == 3:  # in place
        lines += [
            f"for (int t = 1; t < m; t++) {{ {q('t')} {pick('=', '+=')} {q('t - 1')} * {pick('0.5f', 'y[t]', 'p[t]')}; }}"
        ]
    elif way == 4:  # chosen by a number
        lines += [f"const {real} *c = i % 2 == 0 ? p : y;", "for (int t = 0; t < m; t++) { s += c[t]; }"]
    else:
        lines += [f"{real} &last = {q('m - 1')};", f"last {pick('=', '+=')} s;"]
    lines += (
        [f"{q(pick('0', 'm - 1'))} {pick('=', '+=', '-=')} {pick('s', '0.5f * s', 's * y[0]')};"]
        if w.chance(0.7)
        else []
    )
    guard = pick("if (i >= n) return;", "if (i >= n || m < 1) return;")
    order = list(args)
    rng.shuffle(order)
    kinds = {"x": f"const {real} *x", "y": f"const {real} *y", "out": f"{real} *out", "n": "int n", "m": "int m"}
    if rng.random() < 0.2:
        kinds = {n: t.replace(" *", " *__restrict__ ") for n, t in kinds.items()}
    text = [f"__global__ void f0({', '.join(kinds[a.name] for a in order)}) {{"]
    text += ["    int i = blockIdx.x * blockDim.x + threadIdx.x;", f"    {guard}", *("    " + x for x in lines), "}"]
    return Program("\n".join(text) + "\n", (Kernel("f0", tuple(order), ("n",)),), seed, "fuzz.cu")
