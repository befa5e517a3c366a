"""Tickets: each block leaves its part, the last to finish goes on with all of them (C only)."""

from __future__ import annotations

import random

from tests.fuzz.generate import Arg, Kernel, Program, Writer
from tests.fuzz.kinds.writing import real_of

EXTENTS = (1, 2, 5, 31, 32, 33, 40, 64, 70)


def draw(seed: int, language: str) -> Program:
    """The program of a seed: always in C."""
    w = Writer(random.Random(f"tickets {seed}"), "f0", [], True)
    real = w.pick({"float32": "float", "float64": "double"}[real_of(seed)], "int")
    size = w.pick(8, 16, 32)
    first, part = _part(w, size)
    flag = w.pick("bool", "int", "unsigned int")
    lines = [f"__shared__ {real} s[{size}];", f"__shared__ {flag} last;", "int t = threadIdx.x;", *first]
    lines += [*_ticket(w, part), "__syncthreads();", *_left(w, size, real)]
    dtype = {"int": "int32"}.get(real, "")
    kind = "i" if dtype else "f"
    counter = w.pick("unsigned int", "unsigned int", "int", "unsigned long long")
    lines = [x.replace("COUNTER", counter) for x in lines]
    if counter != "unsigned int" and any("atomicInc" in x for x in lines):
        counter = "unsigned int"
    held = {"unsigned int": "uint32", "int": "int32", "unsigned long long": "uint64"}[counter]
    args = (
        Arg("n", None, "i"),
        *(Arg(name, (d,), kind, dtype=dtype) for name, d in (("x", "n"), ("part", "n"), ("out", "m"))),
        Arg("count", ("one",), "i", dtype=held, low=0, high=1),
        Arg("m", None, "i"),
    )
    head = f"int n, const {real} *x, {real} *part, {real} *out, {counter} *count, int m"
    text = [f"__global__ void f0({head}) {{", *("    " + x for x in lines), "}"]
    sizes = (("n", EXTENTS), ("m", (40, 64)), ("one", (1,)))
    return Program("\n".join(text) + "\n", (Kernel("f0", args, ("n",), size, sizes),), seed, "fuzz.cu")


def _part(w: Writer, size: int) -> tuple[list[str], str]:
    """What a block does first, and what it leaves as its part."""
    value = w.pick("x[i]", "x[i] * x[i]", "x[i] + 1", "2 * x[i] - i % 3")
    lines = [f"int i = blockIdx.x * {w.pick('blockDim.x', str(size))} + t;"]
    if w.chance(0.25):  # all blocks at once
        cell = w.pick("0", "t % 4", "min(t, m - 1)", "i % m")
        lines += [f"if (i < n) atomic{w.pick('Add', 'Add', 'Max')}(&out[{cell}], {value});"]
        return [
            *lines,
            *w.pick(["__threadfence();", "__syncthreads();"], ["__syncthreads();", "__threadfence();"]),
        ], "i"
    lines += [f"s[t] = i < n ? {value} : {w.pick('0', '0', '1')};", "__syncthreads();"]
    join = w.pick("s[t] += s[t + w];", "s[t] += s[t + w];", "s[t] = max(s[t], s[t + w]);")
    half = w.pick("w >>= 1", "w /= 2")
    lines += [f"for (int w = {w.pick('blockDim.x / 2', str(size // 2))}; w > 0; {half}) {{", f"    if (t < w) {join}",
              "    __syncthreads();", "}"]  # fmt: skip
    return lines, "s[0]"


def _ticket(w: Writer, part: str) -> list[str]:
    take, ways = w.pick(
        ("atomicInc(count, gridDim.x)", 1), ("atomicInc(count, gridDim.x - 1)", 1), ("atomicAdd(count, 1)", 2)
    )
    last = w.pick("{0} == gridDim.x - 1", "gridDim.x - 1 == {0}", "{0} + 1 == gridDim.x")
    lines = [w.pick("if (t == 0) {", "if (threadIdx.x == 0) {", "if (!t) {")]
    lines += [f"    part[blockIdx.x] = {part};"] if w.chance(0.85) else []
    lines += ["    __threadfence();"] if w.chance(0.95) else []
    if w.chance(0.5):
        kind = w.pick("unsigned int", "COUNTER", "int", "unsigned char" if w.chance(0.3) else "long long")
        return [*lines, f"    {kind} ticket = {take};", f"    last = {last.format('ticket')};", "}"]
    if w.chance(0.3):
        return [*lines, f"    last = {last.format(take)} ? 1 : 0;", "}"]
    return [*lines, f"    last = {last.format(take)};", "}"]


def _left(w: Writer, size: int, real: str) -> list[str]:
    reset = w.pick("*count = 0;", "count[0] = 0;", "", "")
    step, begun = w.pick((f"r += part[b]{w.pick('', ' * part[b]')};", "0"), ("r = max(r, part[b]);", "part[0]"),
                         ("r = r * 2 + part[b];", "1"))  # fmt: skip
    out = w.pick("out[0]", "out[m - 1]", "*out")
    ending = w.pick(f"{out} = r;", f"{out} += r;", f"{out} = r / gridDim.x;", f"{out} = r; part[0] = r;")
    each = w.pick("out[b] = part[b] + 1;",
                  "out[b] += part[b];", "part[b] = part[b] * 2;", "out[b] = part[gridDim.x - 1 - b];")  # fmt: skip
    some, new = w.pick("4", "8", "gridDim.x", "1"), w.pick("out[t] * 2", "out[t] + gridDim.x", "part[0]", "out[t] - t")
    match w.rng.randrange(5):
        case 0 | 1:  # one thread
            body = [f"{real} r = {begun};", f"for (int b = 0; b < gridDim.x; b++) {step}", ending, reset]
            alone = w.pick("last && t == 0", "t == 0 && last", "last && !t")
            return [f"if ({alone}) {{", *("    " + x for x in body), "}"]
        case 2:  # all threads, a part each
            body = [f"for (int b = t; b < gridDim.x; b += blockDim.x) {each}"]
            body += [f"if (t == {w.pick('0', '1', 'blockDim.x - 1')}) {{ {reset} }}"] if reset else []
        case 3:  # a sum of the block's own
            body = [f"{real} r = 0;", f"for (int b = t; b < gridDim.x; b += {size}) r += part[b];",
                    "s[t] = r;", "__syncthreads();", f"for (int w = {size // 2}; w > 0; w >>= 1) {{",
                    "    if (t < w) s[t] += s[t + w];", "    __syncthreads();", "}",
                    f"if (t == 0) {{ {out} = s[0]; {reset} }}"]  # fmt: skip
        case _:
            body = [f"if (t < {some}) out[t] = {new};"]
    if w.chance(0.3):
        return ["if (!last) return;", *body]
    return [f"if ({w.pick('last', 'last != 0', 'last')}) {{", *("    " + x for x in body), "}"]
