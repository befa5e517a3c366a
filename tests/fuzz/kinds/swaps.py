"""Loops around ``atomicCAS``: sums, products, extrema and updates of floats, doubles and integers; locks are not."""

# ruff: noqa: E501 (pieces of sources read better on one line)
from __future__ import annotations

import random

from tests.fuzz.generate import Arg, Kernel, Program

BITS = {  # of a float type: the integer that is swapped, and the functions that read one as the other
    "float": ("int", "__int_as_float", "__float_as_int"),
    "double": ("unsigned long long", "__longlong_as_double", "__double_as_longlong"),
}


def draw(seed: int, language: str) -> Program:
    """The program of a seed: always in C."""
    return _Writer(random.Random(f"swaps {seed}"), "double" if seed % 3 == 0 else "float").program(seed)


class _Writer:
    def __init__(self, rng: random.Random, real: str):
        self.rng = rng
        self.kind = rng.choice((real, real, "int", "unsigned int", "int"))
        self.real = self.kind in BITS

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def program(self, seed: int) -> Program:
        at = self.pick("0", "idx[i]", "idx[i]", "i % m", "i")
        small = "0.5" if self.real else "3"
        given = self.pick("v[i]", "v[i]", f"v[i] + {small}", f"{small} * v[i]", "(v[i] > 0 ? v[i] : 0)")
        loop = self.loop(at, given)
        if self.chance(0.3):
            loop = [f"if ({self.pick('v[i] > 0', 'i % 2 == 0', 'v[i] < h[i]')}) {{", *("    " + x for x in loop), "}"]
        if self.chance(0.2):
            loop = [f"for (int k = 0; k < {self.pick('2', 'm')}; k++) {{", *("    " + x for x in loop), "}"]
        lines = [
            f"__global__ void f0(int n, int m, {self.kind} *acc, const {self.kind} *v, const {self.kind} *h, const int *idx) {{"
        ]
        lines += [
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;",
            "    if (i < n) {",
            *("        " + x for x in loop),
        ]
        dtype = {"int": "int32", "unsigned int": "uint32"}.get(self.kind, "")
        sort = "f" if self.real else "i"
        args = (Arg("n", None, "i"), Arg("m", None, "i"), Arg("acc", ("n",), sort, dtype=dtype))
        args += tuple(Arg(x, ("n",), sort, dtype=dtype) for x in "vh")
        args += (Arg("idx", ("n",), "i", into="n"),)
        sizes = (("m", (1, 2, 3)), ("n", (3, 4, 5, 6, 7)))
        return Program(
            "\n".join([*lines, "    }", "}"]) + "\n", (Kernel("f0", args, ("n",), sizes=sizes),), seed, "fuzz.cu"
        )

    def new(self, old: str, v: str) -> str:
        """What is stored where ``old`` was: mostly something that does not depend on the order of the threads."""
        small = "1.0" if self.real else "1"
        return self.pick(f"{old} + {v}", f"{v} + {old}", f"{old} - {v}", f"{old} * ({v})", f"max({old}, {v})", f"min({v}, {old})",
                         f"{old} > {v} ? {old} : {v}", f"{old} < {v} ? {old} : {v}", f"{v} < {old} ? {old} : {v}",
                         f"{old} + {v} * {v}", f"{old} + ({v} > 0 ? {v} : {small})", f"{old} + 2 * {v} - {small}",
                         f"{v} - {old}", f"{old} > {v} ? {v} : {old}", f"{old} >= {v} ? {old} + {small} : {old}")  # fmt: skip

    def loop(self, at: str, given: str) -> list[str]:
        swapped, back, bits = BITS.get(self.kind, (self.kind, "", ""))
        new = self.new(f"{back}(e)", "val")
        if self.kind == "float" and self.chance(0.3):
            swapped = "unsigned int"
            back, bits = "__uint_as_float", "__float_as_uint"
            new = new.replace("__int_as_float", back)
        new = f"{bits}({new})" if bits else new
        lines = [f"{self.kind} val = {given};", f"{swapped} *p = ({swapped} *)&acc[{at}];"]
        match self.rng.randrange(5):
            case 0 | 1:
                lines += [f"{swapped} r = *p, e;", "do {", "    e = r;", f"    r = atomicCAS(p, e, {new});"]
                return [*lines, f"}} while ({self.pick('e != r', 'r != e')});"]
            case 2:
                lines += [f"{swapped} e = *p;", "while (true) {", f"    {swapped} r = atomicCAS(p, e, {new});"]
                return [*lines, "    if (r == e) break;", "    e = r;", "}"]
            case 3:
                side, other = self.pick("<", ">", "<=", ">="), f"{bits}(val)" if bits else "val"
                lines += [f"{swapped} e = *p;", f"while ({back}(e) {side} val) {{"]
                lines += [f"    {swapped} r = atomicCAS(p, e, {other});", "    if (r == e) break;", "    e = r;"]
                return [*lines, "}"]
            case _:
                lines += [f"{swapped} e = *p, r;", "for (;;) {"]
                if self.chance(0.5):
                    lines.append(
                        f"    if ({back}(e) {self.pick('<', '>', '<=', '>=')} val) {self.pick('break', 'break', 'return')};"
                    )
                lines += [f"    r = atomicCAS(p, e, {new});", "    if (r == e) { break; } else { e = r; }"]
                return [*lines, "}"]
