"""``switch`` of C: arms that fall through, defaults in the middle, what a round of a loop skips or leaves by them."""

# ruff: noqa: E501 (pieces of sources read better on one line)
from __future__ import annotations

import random

from tests.fuzz.generate import Arg, Kernel, Program

TYPES = {"int": "int32", "unsigned int": "uint32", "unsigned char": "uint8", "short": "int16"}


def draw(seed: int, language: str) -> Program:
    """The program of a seed: always in C."""
    return _Writer(random.Random(f"switches {seed}")).program(seed)


class _Writer:
    def __init__(self, rng: random.Random):
        self.rng = rng
        self.at = ["i", "x[i]", "s"]  # what is asked
        self.loops = 0

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def program(self, seed: int) -> Program:
        kind = self.pick(*TYPES)
        body = ["int a = 0, b = 1;", *self.block(2), *self.block(2)]
        body.append(self.pick("out[i] = a;", "out[i] = a * 3 + b;", "out[i] += a - b;"))
        head = f"__global__ void f0(int n, int s, const {kind} *x, const int *y, int *out) {{"
        lines = [head, "    int i = blockIdx.x * blockDim.x + threadIdx.x;"]
        if self.chance(0.5):
            lines += ["    if (i >= n) return;", *("    " + x for x in body)]
        else:
            lines += ["    if (i < n) {", *("        " + x for x in body), "    }"]
        low = 0 if "unsigned" in kind else -3
        args = (Arg("n", None, "i"), Arg("s", None, "i", dtype="int32", low=-1, high=6))
        args += (Arg("x", ("n",), "i", dtype=TYPES[kind], low=low, high=8), Arg("y", ("n",), "i"))
        args += (Arg("out", ("n",), "i", dtype="int32"),)
        return Program("\n".join([*lines, "}"]) + "\n", (Kernel("f0", args, ("n",)),), seed, "fuzz.cu")

    def number(self) -> str:
        return self.pick("1", "2", "5", "i", "s", "y[i]", "a", "b", "(int)x[i]", "-3")

    def simple(self) -> str:
        v = self.pick("a", "b")
        n = self.number()
        return self.pick(
            f"{v} += {n};", f"{v} = {n} + 1;", f"{v} -= {n};", f"{v} ^= {n};", f"{v}++;", f"{v} = b - {n};"
        )

    def asked(self) -> str:
        return self.pick(*self.at, "x[i] & 3", "i % 4", "y[i] + s", "a", "(y[i] & 7) - 2", "x[i] > 2 ? i : s")

    def block(self, depth: int) -> list[str]:
        way = self.rng.random()
        if depth <= 0 or way < 0.25:
            return [self.simple()]
        if way < 0.65:
            return self.switch(depth)
        if way < 0.85:
            k = f"k{self.loops}"
            self.loops += 1
            self.at.append(k)
            inner = self.block(depth - 1)
            if self.chance(0.3):
                leave = self.pick("continue", "break")
                inner += [f"if ({self.asked()} {self.pick('==', '>', '<')} 2) {leave};", self.simple()]
            self.at.remove(k)
            bound = self.pick("3", "4", "(s & 3)", "x[i] & 3")
            return [f"for (int {k} = 0; {k} < ({bound}); {k}++) {{", *("    " + x for x in inner), "}"]
        lines = [f"if ({self.asked()} {self.pick('==', '<', '>')} {self.number()}) {{"]
        lines += ["    " + x for x in self.block(depth - 1)]
        return [*lines, "}"] if self.chance(0.6) else [*lines, "} else {", "    " + self.simple(), "}"]

    def switch(self, depth: int) -> list[str]:
        labels = [str(k) for k in self.rng.sample(range(-1, 6), self.rng.randint(1, 4))]
        if self.chance(0.75):
            labels.insert(self.rng.randint(0, len(labels)), "default")
        in_loop = len(self.at) > 3
        lines = [f"switch ({self.asked()}) {{"]
        while labels:
            for _ in range(min(len(labels), self.rng.choice((1, 1, 1, 2)))):
                label = labels.pop(0)
                lines.append("default:" if label == "default" else f"case {label}:")
            body = self.block(depth - 1) if self.chance(0.5) else [self.simple()]
            if self.chance(0.15):
                body.insert(0, f"if ({self.asked()} > 1) {self.pick('break', 'continue' if in_loop else 'break')};")
            lines += ["    " + x for x in body]
            if self.chance(0.6):
                ways = [
                    "break",
                    "break",
                    "break",
                    *(["continue"] if in_loop else ["return"] if self.chance(0.2) else []),
                ]
                lines.append(f"    {self.pick(*ways)};")
        return [*lines, "}"]
