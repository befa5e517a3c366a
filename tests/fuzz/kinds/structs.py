"""Structs in C: by value, arrays of them, locals, helpers that take and return them."""

from __future__ import annotations

import random

from tests.fuzz.generate import Arg, Kernel, Program
from tests.fuzz.kinds.writing import real_of


def draw(seed: int, language: str) -> Program:
    """The program of a seed: always in C."""
    rng = random.Random(f"structs {seed}")
    pick = lambda *choices: rng.choice(choices)  # noqa: E731
    chance = lambda p: rng.random() < p  # noqa: E731
    real = {"float32": "float", "float64": "double"}[real_of(seed)]
    floats = ["a", "b", "c"][: pick(2, 3)]
    tag = chance(0.5)
    fields = [f"{real} {', '.join(floats)};"] if chance(0.5) else [f"{real} {f};" for f in floats]
    fields += ["int tag;"] if tag else []
    lines = ["struct Cell {", *("    " + f for f in fields), "};", ""]
    if chance(0.3):
        lines = ["typedef struct {", *("    " + f for f in fields), "} Cell;", ""]
    lines += [f"struct Law {{ {real} k; {real} w; int mode; }};", ""]

    def value(of: str, depth: int = 2) -> str:
        if depth == 0 or chance(0.25):
            return pick(f"{of}.{pick(*floats)}", f"{of}.{pick(*floats)}", "law.k", "law.w", "0.5f", "s",
                        *([f"({real}){of}.tag"] if tag else []))  # fmt: skip
        x, y = value(of, depth - 1), value(of, depth - 1)
        return pick(
            f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} > {y} ? {x} : {y})", f"({x} / (1.5f + {y} * {y}))"
        )

    def change(of: str, count: int) -> list[str]:
        out = []
        for _ in range(count):
            line = f"{of}.{pick(*floats)} {pick('=', '+=', '-=', '*=')} {value(of)};"
            if tag and chance(0.2):
                line = f"{of}.tag {pick('=', '+=', '^=')} {pick(f'{of}.tag + 1', 'i', '3', 'law.mode')};"
            if chance(0.3):
                line = f"if ({pick('law.mode > 1', f'{of}.{floats[0]} > {of}.{floats[1]}', 'i % 2 == 0')}) {line}"
            out.append(line)
        return out

    helper = pick("", "value", "reference", "pointer")
    scaled = [f"{f} = {pick('c.{0} * k', 'c.{0} + k', 'c.{0}').format(f)}" for f in floats]
    if helper == "value":
        lines += [f"__device__ Cell moved(Cell c, {real} k) {{", "    Cell r = c;", *(f"    r.{x};" for x in scaled)]
        lines += ["    return r;", "}", ""]
    elif helper == "reference":
        lines += [f"__device__ void moved(Cell &c, {real} k) {{", *(f"    c.{x};" for x in scaled), "}", ""]
    elif helper == "pointer":
        lines += [
            f"__device__ void moved(Cell *c, {real} k) {{",
            *(f"    c->{x.replace('c.', 'c->')};" for x in scaled),
            "}",
            "",
        ]
    body = [f"{real} s = {pick('0', 'law.k', 'cells[i].a')};"]
    local = chance(0.7)
    if local:
        body.append(pick("Cell t = cells[i];", "Cell t; t = cells[i];"))
    at = "t" if local else "cells[i]"
    body += change(at, pick(1, 1, 2, 3))
    if helper:
        call = {
            "value": f"{at} = moved({at}, law.w);",
            "reference": f"moved({at}, s);",
            "pointer": f"moved(&{at}, law.k);",
        }
        body.append(call[helper])
    if chance(0.4):
        step = pick(f"s += cells[j].{pick(*floats)} * {at}.{pick(*floats)};", f"s = fmax(s, cells[j].{pick(*floats)});",
                    f"if (cells[j].{floats[0]} > {at}.{floats[1]}) s += 1;")  # fmt: skip
        body.append(f"for (int j = 0; j < n; j++) {{ {step} }}")
    if chance(0.3):
        body.append(f"for (int k = 0; k < 3; k++) {{ {' '.join(change(at, 1))} }}")
    target = pick("out", "out", "cells")
    if target == "out":
        body.append(
            pick(f"out[i] = {at};", f"out[i].{floats[0]} = {value(at)};", f"out[i] = {at}; out[i].{floats[1]} += s;")
        )
    elif local:
        body.append(pick("cells[i] = t;", f"cells[i].{floats[0]} = t.{floats[1]} + s;"))
    body.append(f"y[i] {pick('=', '+=')} {value(at)};")
    members = (*(Arg(f, ("n",), "f") for f in floats), *([Arg("tag", ("n",), "i")] if tag else []))
    law = Arg("law", None, "f", members=(Arg("k", None, "f"), Arg("w", None, "f"), Arg("mode", None, "i")))
    args = {
        "cells": Arg("cells", None, "f", members=members),
        "law": law,
        "y": Arg("y", ("n",), "f"),
        "n": Arg("n", None, "i"),
    }
    written = target == "cells" or not local
    kinds = {"cells": f"{'' if written else 'const '}Cell *cells", "law": "Law law", "y": f"{real} *y", "n": "int n"}
    if target == "out":
        args["out"], kinds["out"] = Arg("out", None, "f", members=members), "Cell *out"
    order = list(args)
    rng.shuffle(order)
    lines += [f"__global__ void f0({', '.join(kinds[n] for n in order)}) {{"]
    lines += [
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;",
        "    if (i < n) {",
        *("        " + x for x in body),
        "    }",
        "}",
    ]
    kernel = Kernel("f0", tuple(args[n] for n in order), ("n",))
    return Program("\n".join(lines) + "\n", (kernel,), seed, "fuzz.cu")
