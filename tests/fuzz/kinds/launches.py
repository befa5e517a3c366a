"""Launches that a result depends on: blocks and threads that count themselves, indices that nothing reads, loops in
strides of the grid, launches that cover less than the guards or more (C only)."""

from __future__ import annotations

import random

from tests.fuzz.generate import Arg, Kernel, Program, Writer
from tests.fuzz.kinds.writing import real_of

SMALL = ("n", (3, 5, 8)), ("m", (3, 4, 6))


def draw(seed: int, language: str) -> Program:
    """The program of a seed: always in C."""
    w = Writer(random.Random(f"launches {seed}"), "f0", [], True)
    pick, real = w.pick, {"float32": "float", "float64": "double"}[real_of(seed)]
    two = w.chance(0.4)
    lines = ["int i = blockIdx.x * blockDim.x + threadIdx.x;"] if w.chance(0.85) else []
    own = ["i"] if lines else []
    for name, value in (("t", "threadIdx.x"), ("b", "blockIdx.x"), ("threads", "gridDim.x * blockDim.x")):
        if w.chance(0.35):
            lines.append(f"int {name} = {value};")
            own.append(name)
    if two:
        lines.append(
            pick("int j = blockIdx.y * blockDim.y + threadIdx.y;", "int j = blockIdx.y;", "int j = threadIdx.y;")
        )
        own += ["j"] if w.chance(0.6) else []
    number = [*own, "1", "1", "n", "gridDim.x", "blockDim.x", *(["gridDim.y"] if two else [])]
    value = [*number, "x[0]", *(["x[min(i, n - 1)]"] if "i" in own else [])]
    for at in range(pick(1, 1, 2)):
        lines += _statement(w, own, number, value, real, at)
    args = [Arg("x", ("n",), "f"), Arg("out", ("m",), "f"), Arg("n", None, "i"), Arg("m", None, "i")]
    kinds = {"x": f"const {real} *x", "out": f"{real} *out", "n": "int n", "m": "int m"}
    text = [f"__global__ void f0({', '.join(kinds[a.name] for a in args)}) {{", *("    " + x for x in lines), "}"]
    block, grid = [pick(1, 2, 4, 5), *([pick(1, 2, 3)] if two else [])], []
    text_of = "\n".join(lines)
    for axis, names in enumerate(("tb", "jj") if two else ("tb",)):  # a launch is taken to cover what is guarded
        if f"{names[0]} <" in text_of:
            block[axis] = 8
        covers = -(-8 // block[axis])
        grid.append(8 if f"{names[1]} <" in text_of else covers if "<" in text_of else pick(1, 2, 3))
    kernel = Kernel("f0", tuple(args), ("n", "m")[: 2 if two else 1], tuple(block), SMALL, tuple(grid))
    return Program("\n".join(text) + "\n", (kernel,), seed, "fuzz.cu")


def _statement(w: Writer, own: list[str], number: list[str], value: list[str], real: str, at: int) -> list[str]:
    pick = w.pick
    tests = ["n > 3", "x[0] > 0", *(f"{name} {op}" for name in own for op in ("< n", "== 0", "< 2", "% 2 == 0", "> 0"))]
    test = pick(*tests) if w.chance(0.6) else ""
    cell = pick("0", "1", "m - 1", *(f"{name} % m" for name in own), *(f"min({name}, m - 1)" for name in own))
    if "i" in own and w.chance(0.35):  # strides of the grid
        inner = pick(f"s += {pick(*value)};", "s += x[k];", "if (x[k] > 0) s += 1;", "s += k;")
        loop = f"for (int k = i; k < n; k += blockDim.x * gridDim.x) {{ {inner} }}"
        body = [f"{real} s{at} = 0;", loop.replace("s +=", f"s{at} +=")]
        store = f"atomicAdd(&out[{cell}], s{at});"
        return [*body, f"if ({test}) {store}" if test else store]
    amount = f"({real})({pick(*value)}{pick('', '', ' * 2', f' + {pick(*number)}')})"
    store = f"atomicAdd(&out[{cell}], {amount});"
    if w.chance(0.2) and own:
        store = f"for (int q = 0; q < {pick('2', 'n', own[0])}; q++) {{ {store} }}"
    return [f"if ({test}) {{ {store} }}" if test else store]
