"""Arrays of a thread's own: computed subscripts, shift registers, small sorts, rings."""

# ruff: noqa: E501 (pieces of sources read better on one line)
from __future__ import annotations

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Index, Scope
from tests.fuzz.statements import indented


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("local", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.dims = list(("n", "m")[: w.pick(1, 2)])
    w.spelled = {d: d for d in w.dims}
    w.inputs()
    size = w.pick(2, 3, 4, 4, 5)
    own = Scope([Index("i", "n")])
    lines = ["i = cuda.grid(1)"]
    body = [f"mine = cuda.local.array({size}, {real})"]
    at = "a"
    start = w.pick("0.0", w.float(own, 1), f"0.5 * {at}", f"{w.wrapped(w.float(own, 1))} + {at}")
    body += [f"for {at} in range({size}):", f"    mine[{at}] = {start}"]
    for n in range(w.pick(1, 2, 2, 3)):
        body += _phase(w, own, size, f"l{n}")
    writing.output(w, "out", ("n",), ("i",))
    if w.chance(0.5):
        own.floats.append("total")
        body += ["total = 0.0", f"for {at} in range({size}):"]
        body += [f"    total {w.pick('+=', '+=', '-=')} {w.pick('', '', '0.5 * ', f'{at} * ')}mine[{at}]"]
        body += w.body(own, w.pick(0, 0, 1))
    else:
        body += [f"out[i] {w.pick('=', '+=')} mine[{_at(w, own, size)}]"]
    lines += ["if i < n:", *indented(body)]
    return writing.finished(w, lines, ("n",), w.pick(2, 4))


def _at(w: Writer, scope: Scope, size: int, index: str = "i") -> str:
    return w.pick(
        "0", str(size - 1), str(w.rng.randrange(size)), f"{index} % {size}", f"({index} + 1) % {size}",
        f"min({index}, {size - 1})", f"abs({w.int(scope, 1)}) % {size}",
        f"min(int(abs({w.float(scope, 1)})), {size - 1})",
    )  # fmt: skip


def _phase(w: Writer, scope: Scope, size: int, at: str) -> list[str]:
    inner = scope.inner(Index(at, w.pick(*w.dims)))
    rounds = w.pick(*w.dims)
    match w.rng.randrange(9):
        case 0:
            return [f"mine[{_at(w, scope, size)}] {w.pick('=', '+=')} {w.float(scope, 1)}"]
        case 1:  # a ring that a loop fills
            place = w.pick(f"{at} % {size}", f"({at} + i) % {size}", _at(w, inner, size, at))
            return [
                f"for {at} in range({rounds}):",
                f"    mine[{place}] {w.pick('=', '+=', '+=')} {_value(w, scope, at, rounds)}",
            ]
        case 2:  # a shift register
            up = w.chance(0.5)
            move = [f"for b in range({size - 1}):", "    mine[b] = mine[b + 1]"]
            if up:
                move = [f"for b in range({size - 1}, 0, -1):", "    mine[b] = mine[b - 1]"]
            new = f"mine[{0 if up else size - 1}] = {_value(w, scope, at, rounds)}"
            return [f"for {at} in range({rounds}):", *indented([*move, new])]
        case 3:  # a small sort
            swap = ["t = mine[b]", "mine[b] = mine[b + 1]", "mine[b + 1] = t"]
            test = f"if mine[b] {w.pick('>', '<')} mine[b + 1]:"
            loop = [f"for b in range({size - 1}):", *indented([test, *indented(swap)])]
            return [f"for {at} in range({w.pick(1, size)}):", *indented(loop)]
        case 4:  # running values within the array
            step = w.pick("mine[{0}] += mine[{0} - 1]", "mine[{0}] = max(mine[{0}], mine[{0} - 1])",
                          "mine[{0}] = 0.5 * mine[{0} - 1] + mine[{0}]")  # fmt: skip
            return [f"for {at} in range(1, {size}):", f"    {step.format(at)}"]
        case 5:  # a polynomial of the entries
            body = [f"mine[{_at(w, scope, size)}] = mine[{at}] {w.pick('+', '*', '-')} {w.float(scope, 1)}"]
            return [f"for {at} in range({size}):", *indented(body)]
        case 6:  # under a condition
            return [f"if {w.condition(scope, 1)}:", f"    mine[{_at(w, scope, size)}] = {w.float(scope, 1)}"]
        case 7:  # the largest few
            value = _value(w, scope, at, rounds)
            body = [f"t = {value}", "if t > mine[0]:", "    mine[0] = t"]
            body += [f"for b in range({size - 1}):", "    if mine[b] > mine[b + 1]:"]
            body += ["        u = mine[b]", "        mine[b] = mine[b + 1]", "        mine[b + 1] = u"]
            return [f"for {at} in range({rounds}):", *indented(body)]
        case _:  # every entry by a reversed one
            return [f"for {at} in range({size // 2}):", f"    t = mine[{at}]", f"    mine[{at}] = mine[{size - 1} - {at}]",
                    f"    mine[{size - 1} - {at}] = t"]  # fmt: skip


def _value(w: Writer, scope: Scope, at: str, rounds: str) -> str:
    return w.float(Scope([*scope.indices, Index(at, rounds)], floats=list(scope.floats)), 1)
