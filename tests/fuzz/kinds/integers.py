"""Integers of C: every width, conversions, wrap-around, shifts, bit functions, compound assignments."""

# ruff: noqa: E501 (pieces of sources read better on one line)
from __future__ import annotations

import random

from tests.fuzz.generate import Arg, Kernel, Program

TYPES = {
    "int": "int32", "unsigned int": "uint32", "long long": "int64", "unsigned long long": "uint64", "short": "int16",
    "unsigned short": "uint16", "signed char": "int8", "unsigned char": "uint8",
}  # fmt: skip
UNSIGNED = ("unsigned int", "unsigned long long")
LITERALS = (
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "-5",
    "12u",
    "255",
    "256",
    "0x7f",
    "65535",
    "1000003",
    "2654435761u",
    "5ll",
    "-7ll",
)


def draw(seed: int, language: str) -> Program:
    """The program of a seed: always in C."""
    return _Writer(random.Random(f"integers {seed}")).program(seed)


class _Writer:
    def __init__(self, rng: random.Random):
        self.rng = rng
        self.names: dict[str, str] = {"i": "int", "n": "int"}  # the type of each variable
        self.cells: dict[str, str] = {}
        self.frozen = {"i", "n"}

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def program(self, seed: int) -> Program:
        args = [Arg("n", None, "i")]
        for name in ("a", "b", "c")[: self.rng.randint(1, 3)]:
            kind = self.pick(*TYPES)
            self.cells[f"{name}[i]"] = kind
            wide = self.chance(0.4)
            args.append(Arg(name, ("n",), "i", dtype=TYPES[kind], **self.limits(kind, wide)))
        if self.chance(0.5):
            kind = self.pick("int", "unsigned int", "long long")
            self.names["s"] = kind
            args.append(Arg("s", None, "i", dtype=TYPES[kind], low=0, high=9))
        outs = {name: self.pick(*TYPES) for name in ("out", "res")[: self.pick(1, 1, 2)]}
        args += [Arg(name, ("n",), "i", dtype=TYPES[kind]) for name, kind in outs.items()]
        body = [line for _ in range(self.rng.randint(1, 4)) for line in self.statement(2)]
        for name, kind in outs.items():
            op = self.pick("=", "=", "=", "+=", "^=")
            body.append(f"{name}[i] {op} {self.expr(2)};")
            self.cells[f"{name}[i]"] = kind
        if self.chance(0.15):  # a counter that goes round at its limit, from where it is
            cell, way = (
                self.pick("0", "(unsigned int)(" + self.expr(1) + ") % (unsigned int)n"),
                self.pick("Inc", "Dec"),
            )
            args.append(Arg("ring", ("n",), "i", dtype="uint32", low=0, high=20))
            count = f"atomic{way}(&ring[{cell}], {self.pick('0', '5', '7', '17')});"
            body.append(self.pick(count, f"if ({self.condition(1)}) {count}"))
            outs["ring"] = "unsigned int"
        order = [a for a in args if a.name != "n"]
        params = ["int n"]
        for a in order:
            kind = next(k for k, d in TYPES.items() if d == a.dtype)
            const = "" if a.name in outs else "const "
            params.append(f"{kind} {a.name}" if a.dims is None else f"{const}{kind} *{a.name}")
        lines = [f"__global__ void f0({', '.join(params)}) {{", "    int i = blockIdx.x * blockDim.x + threadIdx.x;"]
        lines += ["    if (i < n) {", *("        " + line for line in body), "    }", "}"]
        kernel = Kernel("f0", (args[0], *order), ("n",))
        return Program("\n".join(lines) + "\n", (kernel,), seed, "fuzz.cu")

    def limits(self, kind: str, wide: bool) -> dict[str, int]:
        bits = int("".join(c for c in TYPES[kind] if c.isdigit()))
        top = min(1 << (bits - 1), 100_000) if wide else 9
        return {"low": 0 if "unsigned" in kind else -top, "high": top}

    def type_of(self, text: str) -> str:
        return self.names.get(text) or self.cells.get(text, "int")

    def expr(self, depth: int) -> str:
        """An integer expression that does not overflow as a signed one: products are unsigned or masked."""
        if depth <= 0 or self.chance(0.2):
            way = self.rng.random()
            if way < 0.4:
                return self.pick(*self.cells)
            if way < 0.75:
                return self.pick(*self.names)
            return self.pick(*LITERALS)
        a, b = self.atom(depth - 1), self.atom(depth - 1)
        small = lambda text: f"({text} & {self.pick('7', '15', '31')})"  # noqa: E731
        u = self.pick("(unsigned int)", "(unsigned int)", "(unsigned long long)")
        match self.rng.randrange(18):
            case 0 | 1:
                return (
                    f"{small(a)} {self.pick('+', '-')} {b}" if self.chance(0.5) else f"{u}{a} {self.pick('+', '-')} {b}"
                )
            case 2 | 3:
                return f"{u}{a} * {b}"
            case 4:
                return f"{small(a)} * {small(b)}"
            case 5 | 6:
                return f"{a} {self.pick('/', '%')} {self.pick('3', '7u', '-4', '10ll', f'({small(b)} + 1)', '255')}"
            case 7:
                return f"{u}{a} << {small(b)}"
            case 8:
                return f"{a} >> {self.pick('1', '3', small(b))}"
            case 9 | 10:
                return f"{a} {self.pick('&', '|', '^')} {b}"
            case 11:
                return f"({self.condition(depth - 1)} ? {a} : {b})"
            case 12 | 13:
                return f"({self.pick(*TYPES)}){a}"
            case 14:
                return f"~{a}"
            case 15:
                return self.pick(f"min({small(a)}, {small(b)})", f"max((int){a}, (int){b})", f"abs({small(a)} - 9)",
                                 f"min((unsigned int){a}, (unsigned int){b})", f"max((long long){a}, (long long){b})")  # fmt: skip
            case 16:
                return self.pick(f"__popc({a})", f"__clz((int){a})", f"__brev((unsigned int){a})",
                                 f"__umulhi((unsigned int){a}, (unsigned int){b})", f"__ffs((int){a})")  # fmt: skip
            case _:
                return f"({self.condition(depth - 1)})"

    def atom(self, depth: int) -> str:
        text = self.expr(depth)
        return text if text.isidentifier() or text in self.cells else f"({text})"

    def condition(self, depth: int) -> str:
        a, b = self.atom(depth), self.atom(depth)
        test = f"{a} {self.pick('<', '<=', '>', '>=', '==', '!=')} {b}"
        if depth > 0 and self.chance(0.2):
            return f"{test} {self.pick('&&', '||')} {self.condition(depth - 1)}"
        return self.pick(test, test, test, f"!({test})", a)

    def statement(self, depth: int) -> list[str]:
        free = [n for n in self.names if n not in self.frozen]
        way = self.rng.random()
        if not free or way < 0.35:
            name = self.pick("p", "q", "r", "t", "u", "v") + str(len(self.names))
            kind = self.pick(*TYPES, "int", "unsigned int", "unsigned int")
            line = f"{kind} {name} = {self.expr(2)};"
            self.names[name] = kind
            return [line]
        x = self.pick(*free)
        if way < 0.6:
            # a signed x does not overflow: bits, shifts and remainders only
            if self.names[x] in ("int", "long long"):
                return [self.pick(f"{x} = {self.expr(2)};", f"{x} ^= {self.expr(1)};", f"{x} >>= 1;", f"{x} %= 13;",
                                  f"{x} &= {self.expr(1)};", f"{x} /= 3;")]  # fmt: skip
            return [self.pick(f"{x} = {self.expr(2)};", f"{x} += {self.expr(1)};", f"{x} *= {self.expr(1)};",
                              f"{x} -= {self.expr(1)};", f"{x} ^= {x} {self.pick('<<', '>>')} {self.pick(1, 5, 13)};", f"{x}++;",
                              f"{x} |= {self.expr(1)};", f"{x} >>= 2;", f"{x} <<= 1;", f"--{x};")]  # fmt: skip
        kept = dict(self.names)
        if way < 0.8 or depth <= 0:
            lines = [f"if ({self.condition(1)}) {{", *self.inner(depth)]
            self.names = dict(kept)
            if self.chance(0.5):
                lines += ["} else {", *self.inner(depth)]
                self.names = dict(kept)
            return [*lines, "}"]
        at = f"k{len(self.names)}"
        kind = self.pick("int", "int", "unsigned int", "short", "unsigned char", "long long")
        self.names[at] = kind
        self.frozen.add(at)
        bound = self.pick("3", "4", "n", "(n & 3)", "5u")
        head = self.pick(
            f"for ({kind} {at} = 0; {at} < {bound}; {at}++) {{", f"for ({kind} {at} = 5; {at} > 1; {at}--) {{"
        )
        lines = [head, *self.inner(depth), "}"]
        self.names = kept
        return lines

    def inner(self, depth: int) -> list[str]:
        lines = [line for _ in range(self.pick(1, 1, 2)) for line in self.statement(depth - 1)]
        return ["    " + line for line in lines]
