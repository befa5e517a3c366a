"""Loops that data leave early: what the round that leaves does, what flags say afterwards, several exits, nested."""

from __future__ import annotations

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.statements import indented


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("exits", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.dims, w.spelled = ["n", "k"], {"n": "n", "k": "k"}
    w.float_scalars, w.int_scalars = [], []
    w.arrays = [writing.Array("x", ("k",)), writing.Array("y", ("k",)), writing.Array("z", ("n",))]
    w.arrays.append(writing.Array("mark", ("k",), "i"))
    w.arrays.append(writing.Array("cols", ("k",), "i", role="index", into="n"))
    spans = ["range(k)", "range(k)", "range(1, k)", "range(k - 1, -1, -1)", "range(0, k, 2)"]
    spans += ["range(min(i, k))", "range(i, k)"]
    if w.chance(0.3):
        w.arrays.append(writing.Array("ptr", ("n",), "i", role="ptr", within="k", extra=1))
        spans = ["range(ptr[i], ptr[i + 1])"]
    lines: list[str] = []
    for n in range(w.pick(1, 1, 1, 2)):
        lines += _loop(w, f"j{n}", w.pick(*spans), str(n))
    for name in ("found", "count"):
        writing.output(w, f"{name}s", ("n",), ("i",), "i")
        lines.append(f"{name}s[i] = {name}0")
    writing.output(w, "totals", ("n",), ("i",))
    lines.append("totals[i] = total0")
    return writing.finished(w, ["i = cuda.grid(1)", "if i < n:", *indented(lines)], ("n",), w.pick(2, 4))


def _test(w: Writer, j: str) -> str:
    simple = [
        f"x[{j}] > z[i]",
        f"x[{j}] < 0.0",
        f"y[{j}] > 0.25",
        f"mark[{j}] == 2",
        f"mark[{j}] > {w.pick('0', '1', '2')}",
        f"cols[{j}] == i",
        f"{j} > i",
        "z[i] > 0.0",
        f"x[{j}] * y[{j}] > 0.5",
    ]
    a, b = w.pick(*simple), w.pick(*simple)
    return w.pick(a, a, a, f"{a} and {b}", f"{a} or {b}", f"not ({a})")


def _loop(w: Writer, j: str, span: str, n: str) -> list[str]:
    found, count, total = f"found{n}", f"count{n}", f"total{n}"
    before = [f"{found} = {w.pick('0', '-1', '5')}", f"{count} = {w.pick('0', '3')}"]
    before.append(f"{total} = {w.pick('0.0', '0.0', '1.0', '-1.0')}")
    effects = [
        f"{found} = 1",
        f"{found} = {j}",
        f"{found} = mark[{j}]",
        f"{total} = x[{j}]",
        f"{total} += y[{j}]",
        f"{total} = max({total}, x[{j}])",
        f"{count} += 1",
        f"{count} += mark[{j}]",
    ]
    body: list[str] = []
    for _ in range(w.pick(1, 2, 2, 3)):
        match w.rng.randrange(8):
            case 0 | 1:
                inner = [w.pick(*effects) for _ in range(w.pick(0, 1, 1, 2))]
                body += [f"if {_test(w, j)}:", *indented([*inner, "break"])]
            case 2 | 3:  # only some of the rounds that leave do something
                body += [f"if {_test(w, j)}:", f"    if {_test(w, j)}:", f"        {w.pick(*effects)}", "    break"]
            case 4:
                body += [f"if {_test(w, j)}:", f"    {w.pick(*effects)}", "    continue"]
            case 5:
                body += [f"if {_test(w, j)}:", f"    {w.pick(*effects)}"]
                if w.chance(0.5):
                    body += ["else:", f"    {w.pick(*effects)}", *(["    break"] if w.chance(0.5) else [])]
            case _:
                body.append(w.pick(*effects))
    if not any("break" in line for line in body):
        body += [f"if {_test(w, j)}:", "    break"]
    head = f"for {j} in {span}:"
    if w.chance(0.15):  # a loop around that leaves when the one within has found something
        outer = "r" + j[1:]
        around = [head, *indented(body), f"if {found} > {outer}:", "    break"]
        return [*before, f"for {outer} in range(3):", *indented(around)]
    return [*before, head, *indented(body)]
