"""Ragged rows: starts and ends of their own, starts and counts, rows of rows, searches, gathers, scatters, scans."""

# ruff: noqa: E501 (pieces of sources read better on one line)
from __future__ import annotations

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Index, Scope
from tests.fuzz.statements import indented


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("ragged", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.dims, w.spelled = ["n", "k"], {"n": "n", "k": "k"}
    w.float_scalars, w.int_scalars = [], []
    w.arrays = [writing.Array("x", ("n",)), writing.Array("vals", ("k",))]
    w.arrays.append(writing.Array("cols", ("k",), "i", role="index", into="n"))
    if w.chance(0.3):
        w.arrays.append(writing.Array("marks", ("k",), "i"))
    lines = ["i = cuda.grid(1)"]
    way = w.rng.random()
    if way < 0.45:
        w.arrays.append(writing.Array("ptr", ("n",), "i", role="ptr", within="k", extra=1))
        low, high = "ptr[i]", "ptr[i + 1]"
    elif way < 0.75:
        w.arrays.append(writing.Array("beg", ("n",), "i", role="index", into="k"))
        w.arrays.append(writing.Array("end", ("n",), "i", role="index", within="k", after="beg"))
        low, high = "beg[i]", "end[i]"
    else:
        w.arrays.append(writing.Array("beg", ("n",), "i", role="index", into="k"))
        w.arrays.append(writing.Array("cnt", ("n",), "i", role="index", within="k", after="beg", count=True))
        low, high = "beg[i]", "beg[i] + cnt[i]"
    if w.chance(0.2):
        body = [f"a, b = {low}, {high}"] if w.chance(0.5) and not w.c else [f"a = {low}", f"b = {high}"]
        low, high = "a", "b"
    else:
        body = []
    scope = Scope([Index("i", "n")])
    for n in range(w.pick(1, 1, 2)):
        body += _row(w, scope, low, high, f"j{n}")
    writing.output(w, "out", ("n",), ("i",), w.pick("f", "f", "f", "i"))
    lines += ["if i < n:", *indented([*body, *w.body(scope, w.pick(0, 0, 1))])]
    return writing.finished(w, lines, ("n",), w.pick(2, 4))


def _row(w: Writer, scope: Scope, low: str, high: str, j: str) -> list[str]:
    inner = Scope([*scope.indices, Index(j, "k")], floats=list(scope.floats), ints=list(scope.ints))
    name = w.fresh("f", scope)
    value = w.pick(f"vals[{j}] * x[cols[{j}]]", f"vals[{j}]", w.float(inner, 1), w.float(inner, 2), f"x[cols[{j}]]")
    span = w.pick(f"range({low}, {high})", f"range({low}, {high})", f"range({low}, {high})", f"range({high} - 1, {low} - 1, -1)",
                  f"range({low} + 1, {high})", f"range({low}, {high}, 2)")  # fmt: skip
    head = f"for {j} in {span}:"
    test = w.pick(w.condition(inner, 1), f"cols[{j}] == i", f"cols[{j}] < i", f"vals[{j}] > 0.0")
    match w.rng.randrange(10):
        case 0 | 1 | 2:
            body = [f"{name} {w.pick('+=', '+=', '-=')} {value}"]
            before = [f"{name} = {w.pick('0.0', w.float(scope, 1))}"]
        case 3:
            before, body = [f"{name} = -1e30"], [f"{name} = max({name}, {value})"]
        case 4:
            before, body = (
                [f"{name} = 1.0"],
                [f"{name} = {w.pick('0.5 * {0} + {1}', '{0} * {1}').format(name, w.wrapped(value))}"],
            )
        case 5:  # the first that matches
            before = [f"{name} = {w.pick('0.0', '-1.0')}"]
            body = [f"if {test}:", f"    {name} = {value}", "    break"]
        case 6:  # until one matches
            before, body = [f"{name} = 0.0"], [f"if {test}:", "    break", f"{name} += {value}"]
        case 7:  # running values in the flat array
            if not any(a.name == "flat" for a in w.arrays):
                w.arrays.append(writing.Array("flat", ("k",), role="hist"))
            before = [f"{name} = 0.0"]
            body = [f"{name} += {value}", f"flat[{j}] = {name}"]
            if w.chance(0.4):
                body.reverse()
        case 8:  # scattered
            if not any(a.name == "hist" for a in w.arrays):
                w.arrays.append(writing.Array("hist", ("n",), role="hist"))
            before, body = [f"{name} = 0.0"], [f"cuda.atomic.add(hist, cols[{j}], {value})", f"{name} += 1.0"]
        case _:  # each against each
            other = "l" + j[1:]
            before = [f"{name} = 0.0"]
            body = [f"for {other} in range({low}, {w.pick(high, j, j + ' + 1')}):"]
            body += [
                f"    {name} += {w.pick(f'vals[{other}] * vals[{j}]', f'x[cols[{other}]] * vals[{j}]', f'abs(vals[{other}] - vals[{j}])')}"
            ]
    if w.chance(0.2):
        body = [f"if {test}:", "    continue", *body]
    scope.floats.append(name)
    if w.chance(0.15):  # the longest
        counter = w.fresh("i", scope)
        scope.ints.append(counter)
        return [*before, f"{counter} = 0", head, *indented([*body, f"{counter} += 1"])]
    return [*before, head, *indented(body)]
