"""Values of infinite slope that an extremum passes over, a flag or a sign switches off, or a clip cuts away: at zeros
that the program makes itself (a point and itself, every third lane, one side of a threshold)."""

from __future__ import annotations

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Index, Scope
from tests.fuzz.statements import indented


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("picked", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.dims = ["n"]
    w.spelled = {"n": "n"}
    w.inputs()
    own = Scope([Index("i", "n")])
    lines: list[str] = []
    for k in range(w.pick(1, 2, 2)):
        lines += _looped(w, own, k) if w.chance(0.6) else _alone(w, own, k)
        own.floats.append(f"v{k}")
    writing.output(w, "out", ("n",), ("i",))
    lines.append(f"out[i] {w.pick('=', '+=')} {w.pick('v0', 'v0 * 0.5', f'v0 * {w.float(own, 1)}', own.floats[-1])}")
    return writing.finished(w, ["i = cuda.grid(1)", "if i < n:", *indented(lines)], ("n",), w.pick(2, 4))


def _alone(w: Writer, own: Scope, number: int) -> list[str]:
    """One value of a lane."""
    zero = f"w{number}"
    return [f"{zero} = {_vanishing(w, w.float(own, 1), w.float(own, 1), 'i')}", f"v{number} = {_picked(w, zero, 'i')}"]


def _looped(w: Writer, own: Scope, number: int) -> list[str]:
    """An extremum or a sum over pairs, of which one is the lane's own."""
    name, zero, root, at = (f"{letter}{number}" for letter in "vwuj")
    there = Scope([Index(at, "n")])
    value = w.float(own, 1)
    other = value.replace("[i", f"[{at}") if w.chance(0.6) else w.float(there, 1)
    body = [f"{zero} = {_vanishing(w, value, other, at)}"]
    match w.rng.randrange(4):
        case 0:
            first, step = "0.0", [f"{name} = max({name}, {_root(w, zero)})"]
        case 1:
            first, step = "50.0", [f"{name} = min({name}, {w.pick(_pole, _root)(w, zero)})"]
        case 2:
            first = "0.0"
            step = [f"{root} = {_root(w, zero)}", f"if {root} > {name}:", f"    {name} = {root}"]
        case _:
            first, step = "0.0", [f"{name} += {_picked(w, zero, at)}"]
    return [f"{name} = {first}", f"for {at} in range(n):", *indented([*body, *step])]


def _vanishing(w: Writer, value: str, other: str, at: str) -> str:
    """A value that is not negative, and zero somewhere."""
    return w.pick(
        f"abs({value} - {w.wrapped(other)})", f"({value} - {w.wrapped(other)}) ** 2", f"max({value}, 0.0)",
        f"{w.wrapped(value)} * {w.wrapped(value)} * ({at} % 3)", f"abs({value}) * ({at} % 2)",
        f"max(abs({value}) - 0.75, 0.0)",
    )  # fmt: skip


def _root(w: Writer, z: str) -> str:
    """Of finite value and infinite slope at zero."""
    return w.pick(f"math.sqrt({z})", f"math.sqrt({z})", f"{z} ** 0.5", f"math.sqrt({z}) * 1.5 + 0.25",
                  f"math.acos(1.0 - min({z}, 1.0))")  # fmt: skip


def _pole(w: Writer, z: str) -> str:
    """Not finite at zero."""
    return w.pick(f"1.0 / {z}", f"2.0 / math.sqrt({z})", f"-math.log({z})", f"{z} ** -0.5")


def _picked(w: Writer, z: str, at: str) -> str:
    """A value in which the slope at zero does not count."""
    root, pole = _root(w, z), _pole(w, z)
    flag = w.pick(
        f"(1.0 if {z} > 0.0 else 0.0)",
        f"(1.0 if {z} > 0.01 else 0.0)",
        f"(({z} > 0.0) - ({z} < 0.0))",
        f"({at} % 2) * (1.0 if {z} > 0.0 else 0.0)",
        f"int({z} + 0.75)",
    )
    return w.pick(
        f"max({root}, 0.3)", f"min({pole}, 20.0)", f"min(max({pole}, -3.0), 9.0)", f"1.0 / max({root}, 0.3)",
        f"{flag} * ({root})", f"({root}) * {flag}", f"({root} if {z} > 0.0 else 0.5)",
        f"({pole} if {z} > 0.01 else {w.pick('0.0', '-1.0', at)})",
    )  # fmt: skip
