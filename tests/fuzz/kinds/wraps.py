"""Unsigned and narrow integers near the ends of their types, in CUDA C: counters that go below zero or round, guards
by wrap-around, comparisons of mixed types, quotients, shifts, casts, subscripts of narrow indices."""

# ruff: noqa: E501 (pieces of sources read better on one line)
from __future__ import annotations

import random

from tests.fuzz.generate import Arg, Kernel, Program
from tests.fuzz.kinds.integers import TYPES
from tests.fuzz.statements import indented

BITS = {name: int("".join(c for c in dtype if c.isdigit())) for name, dtype in TYPES.items()}
COUNTERS = (
    "unsigned int",
    "unsigned int",
    "unsigned int",
    "unsigned char",
    "unsigned short",
    "unsigned long long",
    "short",
    "signed char",
    "int",
)
INDICES = ("unsigned int", "unsigned int", "int", "unsigned long long", "unsigned short")
ENDS = (
    "2",
    "3",
    "5",
    "250u",
    "255",
    "127",
    "128",
    "65530u",
    "32767",
    "4294967290u",
    "0xffffffffu",
    "2147483647u",
    "2147483648u",
    "-1",
    "-3",
    "-2u",
)


def draw(seed: int, language: str) -> Program:
    """The program of a seed: always in C."""
    return _Writer(random.Random(f"wraps {seed}")).program(seed)


class _Writer:
    def __init__(self, rng: random.Random):
        self.rng = rng
        self.index = self.pick(*INDICES)
        self.size = self.index if self.chance(0.6) else self.pick("int", "unsigned int", "unsigned long long")
        self.locals: dict[str, str] = {}
        self.loops = 0
        self.inputs = {name: self.pick(*TYPES) for name in ("a", "b")[: self.pick(1, 2)]}
        self.scalars = {"m": self.pick(*INDICES, "long long")} if self.chance(0.4) else {}
        self.number = 0

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def program(self, seed: int) -> Program:
        args = [Arg("n", None, "i"), *(Arg(name, None, "i") for name in self.scalars)]
        for name, kind in self.inputs.items():
            low, high = self.range(kind)
            args.append(Arg(name, ("n",), "i", dtype=TYPES[kind], low=low, high=high))
        args.append(Arg("x", ("n",), "i"))
        outs = {
            name: self.pick("int", "unsigned int", "float", *TYPES) for name in ("out", "res")[: self.pick(1, 1, 2)]
        }
        for name, kind in outs.items():
            args.append(Arg(name, ("n",), "i", dtype="float32" if kind == "float" else TYPES[kind]))
        lines = [line for _ in range(self.pick(1, 2, 2, 3)) for line in self.statement(1)]
        for name, kind in outs.items():
            lines += self.store(name, kind)
        params = [f"{self.size} n", *(f"{kind} {name}" for name, kind in self.scalars.items())]
        params += [*(f"const {kind} *{name}" for name, kind in self.inputs.items()), "const int *x"]
        params += [f"{kind} *{name}" for name, kind in outs.items()]
        head = f"{self.index} i = blockIdx.x * blockDim.x + threadIdx.x;"
        guard, end = self.pick(("if (i < n) {", "}"), ("if (i < n) {", "}"), ("if (i >= n) return;", ""))
        body = [guard, *(indented(lines) if end else lines), *([end] if end else [])]
        text = [f"__global__ void f0({', '.join(params)}) {{", *indented([head, *body]), "}"]
        return Program("\n".join(text) + "\n", (Kernel("f0", tuple(args), ("n",)),), seed, "fuzz.cu")

    def range(self, kind: str) -> tuple[int, int]:
        """What an array holds: small numbers, those at one end of the type, or all."""
        signed = not kind.startswith("unsigned")
        top = 2 ** (min(BITS[kind], 62) - signed)
        if signed and BITS[kind] >= 32:
            top = 1000  # what overflows means nothing
        low = -top if signed else 0
        return self.pick((0, 9), (top - 6, top), (low, low + 6), (low, top))

    def new(self) -> str:
        self.number += 1
        return f"{self.pick(*'pqrst')}{self.number}"

    # --- values ---

    def start(self) -> str:
        """A value of a few terms, near an end of some type for some threads."""
        a = self.load()
        return self.pick(
            "i", f"i - {self.small()}", f"i + {self.pick(*ENDS)}", f"2 * i - {self.small()}", f"n - i - {self.small()}", "-i", f"n - {self.small()}",
            f"{self.small()} - i", a, f"{a} + {self.pick(*ENDS)}", f"{a} - i", f"(unsigned){a} * {self.small()}", f"i - (unsigned){a}", f"{a} - {self.small()}",
        )  # fmt: skip

    def small(self) -> str:
        return self.pick("1", "2", "3", "4", "5", "1u", "2u", "3u")

    def load(self) -> str:
        return f"{self.pick(*self.inputs)}[i]"

    def atom(self) -> str:
        way = self.rng.random()
        if self.locals and way < 0.6:
            return self.pick(*self.locals)
        if way < 0.75:
            return self.load()
        return self.pick("i", "n", f"({self.start()})", f"({self.start()})", self.uniform())

    def uniform(self) -> str:
        """A number that all threads have, computed from the scalars in their own types."""
        name = self.pick("n", *self.scalars, *self.scalars)
        s = self.small()
        made = self.pick(
            name,
            f"({name} % {self.pick('7', '9', '1009', 'n')})",
            f"({name} / {s})",
            f"({name} + {s})",
            f"({name} * {s} % 11)",
        )
        return self.pick("", "", "(int)", "(long long)", "(unsigned)") + made

    def condition(self) -> str:
        a, b = (
            self.atom(),
            self.pick(self.atom(), self.atom(), f"({self.atom()} + {self.small()})", self.pick(*ENDS), "n"),
        )
        test = f"{a} {self.pick('<', '<', '<=', '>', '>=', '==', '!=')} {b}"
        return self.pick(
            test,
            test,
            test,
            f"{test} && {self.atom()} != {self.small()}",
            f"({self.atom()} - {self.small()} < n)",
            f"!({test})",
        )

    def value(self) -> str:
        """An integer that does not overflow as a signed one: unsigned, narrow, or masked."""
        a, b, s = self.atom(), self.atom(), self.small()
        u = self.pick(
            "(unsigned)",
            "(unsigned)",
            "(unsigned long long)",
            "(unsigned char)",
            "(unsigned short)",
            "(short)",
            "(signed char)",
        )
        return self.pick(
            f"{a}", f"(unsigned){a} + {b}", f"(unsigned){a} - {b}", f"(unsigned){a} * {s}", f"{u}{a}", f"{u}({a} - {s})", f"{a} / {self.divisor()}",
            f"{a} % {self.divisor()}", f"{a} >> {self.pick('1', '3', '(i & 7)')}", f"(unsigned){a} << {self.pick('1', '4', '(i & 7)')}",
            f"min((unsigned){a}, (unsigned){b})", f"max((unsigned){a}, (unsigned){b})", f"max((int){a}, {s})", f"min((long long){a}, (long long){b})",
            f"({self.condition()} ? {a} : {b})", f"({self.condition()})", f"({self.condition()}) + ({self.condition()}) * 2", f"({a} ^ {b})", f"(~{a} & {b})",
            f"({a} < n ? x[{a}] : {s})", f"x[(unsigned){a} % n]", f"(({u}{a}) < n ? x[{u}{a}] : 7)",
        )  # fmt: skip

    def divisor(self) -> str:
        return self.pick("3", "7u", "10", "(i + 1)", "(i + 2u)", "n", "(n + 1)", "255", "1000u", "65536u")

    # --- statements ---

    def statement(self, depth: int) -> list[str]:
        way = self.rng.random()
        if way < 0.35 or not self.locals:
            name, kind = self.new(), self.pick(*COUNTERS)
            line = f"{kind} {name} = {self.pick(self.start(), self.start(), self.value())};"
            self.locals[name] = kind
            return [line]
        if way < 0.75 and self.loops < 2:
            return self.loop(depth)
        names = [name for name, kind in self.locals.items() if kind.startswith("unsigned") or BITS[kind] < 32]
        if not names:
            return []
        name = self.pick(*names)
        change = self.pick(f"{name} += {self.atom()};", f"{name} -= {self.small()};", f"{name}--;", f"{name} = {self.value()};", f"{name} *= 3;", f"{name} >>= 1;")  # fmt: skip
        return [change] if self.chance(0.4) else [f"if ({self.condition()}) {change}"]

    def loop(self, depth: int) -> list[str]:
        """A loop whose counter passes an end of its type, or might."""
        self.loops += 1
        k, kind, total = f"k{self.loops}", self.pick(*COUNTERS), self.new()
        wide = self.pick("unsigned int", "unsigned int", "int", "unsigned char", "unsigned long long")
        first, s = self.start(), self.small()
        top = {8: "240", 16: "65000", 32: "4294967000u", 64: "4294967000u"}[BITS[kind]]
        if not kind.startswith("unsigned"):
            top = {8: "120", 16: "32000"}.get(BITS[kind], "2000000000")
        short = f"({kind})({first})"
        head = self.pick(
            f"for ({kind} {k} = n - {s}; {k} != ({kind})-1; {k}--) {{", f"for ({kind} {k} = {first}; {k} != ({kind})({first} + 6); {k}++) {{",
            f"for ({kind} {k} = {first}; {k} < n; {k}++) {{", f"for ({kind} {k} = {first}; {k} <= i + {s}; {k}++) {{",
            f"for ({kind} {k} = i + {s}; {k} > {s}; {k}--) {{", f"for ({kind} {k} = n; {k}-- > 0;) {{", f"for ({kind} {k} = n; {k} > 0; --{k}) {{",
            f"for ({kind} {k} = 1; {k} < 60; {k} *= 2) {{", f"for ({kind} {k} = {short} % 8; {k} < n + {s}; {k} += 2) {{",
            f"for ({kind} {k} = {first}; {k} < n + {s}; {k} += {s}) {{", f"for ({kind} {k} = i; {k} < n && {k} - {s} < n; {k}++) {{",
            f"for ({kind} {k} = {top}; {k} != ({kind})({top} + 5); {k}++) {{", f"for ({kind} {k} = 0; {k} < n - {s} && {k} < 9; {k}++) {{",
            f"for ({kind} {k} = {first}; {k} >= 2 && {k} < 20; {k} -= {s}) {{",
        )  # fmt: skip
        self.locals[total] = wide
        outer = dict(self.locals)
        self.locals[k] = kind
        body = [
            f"{total} {self.pick('+=', '+=', '^=')} {self.pick(k, '1', f'{k} < n', f'{k} * 3u', f'{k} < n ? x[{k}] : {s}', f'({self.condition()})', f'x[{k} % n]')};"
        ]
        if wide in ("int",):
            body = [
                f"{total} += {self.pick('1', f'{k} < n', f'{k} < n ? x[{k}] : {s}', f'({self.condition()})', f'{k} % 7')};"
            ]
        elif self.chance(0.3):
            body = [f"{total} = {total} * 3 + {k};"]
        if self.chance(0.35):
            body = [f"if ({self.condition()}) {body[0]}"]
        if self.chance(0.1):
            body += [f"if ({self.condition()}) break;"]
        self.locals = outer
        return [f"{wide} {total} = {self.pick('0', '0', '7', '250')};", head, *indented(body), "}"]

    def store(self, name: str, kind: str) -> list[str]:
        value, more = self.value(), self.value()
        op = self.pick("=", "=", "+=", "^=")
        if kind == "float":
            op, value = self.pick("=", "+="), f"({value}) % 4096 * 0.5f"
        elif not kind.startswith("unsigned") and BITS[kind] >= 32:
            value, more = f"({value}) % 1009", f"({more}) % 1009"
        cell = f"{name}[i]"
        lines = [f"{cell} {op} {value};"]
        if kind != "float" and self.chance(0.3):
            lines.append(f"if ({self.condition()}) {cell} = {more};")
        if self.chance(0.2):  # a cell beside its own, where there is one
            s = self.small()
            lines = [f"if (i - {s} < n) {name}[i - {s}] = {value};"]
        return lines
