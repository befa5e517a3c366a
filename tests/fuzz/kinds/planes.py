"""A flat index taken apart by ``/`` and ``%``: planes of rows under a guard or a grid-stride loop, and butterflies."""

from __future__ import annotations

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Index, Scope
from tests.fuzz.statements import indented

SMALL = (1, 2, 3, 4, 5)


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("planes", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    """Both kinds of kernels."""
    return _butterfly(w) if w.chance(0.25) else _planes(w)


def _planes(w: Writer) -> tuple[list[str], Kernel]:
    w.dims = ["n", "m", "k"][: w.pick(2, 2, 3)]
    w.float_scalars, w.int_scalars = (["alpha"] if w.chance(0.3) else []), []
    w.inputs()
    w.spelled = {d: d for d in w.dims}
    names = ("row", "col", "deep")[: len(w.dims)]
    for name in ("out", "res")[: w.pick(1, 1, 2)]:
        writing.output(w, name, tuple(w.dims), names)
    *_, last = w.dims
    digits = [f"{names[-1]} = i % {last}"]
    if len(w.dims) == 2:
        digits += [w.pick("row = i // m", "row = (i - col) // m", "row = i // m % n")]
    else:
        digits += [w.pick("col = i // k % m", "col = (i // k) % m"), w.pick("row = i // (m * k)", "row = i // k // m")]
    if w.chance(0.3):  # the last digit first is how it is mostly written
        digits = digits[::-1] if "col)" not in digits[-1] else digits
    scope = Scope([Index(x, d) for x, d in zip(names, w.dims, strict=True)])
    body = [*digits, *w.body(scope, w.pick(1, 1, 2))]
    end = w.pick(" * ".join(w.dims), " * ".join(w.dims), f"{' * '.join(w.dims)} - 1")
    lines = ["i = cuda.grid(1)"]
    match w.rng.randrange(3):
        case 0:
            lines = [f"for i in range(cuda.grid(1), {end}, cuda.gridsize(1)):", *indented(body)]
        case 1:
            lines += [f"if i >= {end}:", "    return", *body]
        case _:
            lines += [f"if i < {end}:", *indented(body)]
    sizes = tuple((d, SMALL) for d in w.dims)
    return writing.finished(w, lines, ("*".join(w.dims),), w.pick(3, 4, 8), sizes)


def _butterfly(w: Writer) -> tuple[list[str], Kernel]:
    """Pairs at a distance m, n * m of them."""
    w.dims, w.spelled = ["n", "m"], {"n": "n", "m": "m"}
    w.float_scalars, w.int_scalars = [], []
    pairs = writing.Array("v", ("n", "m", "two"), role="io", flat=True, writable=True)
    w.arrays = [pairs, writing.Array("x", ("m",))]
    powers = w.chance(0.5)
    low = "i & (m - 1)" if powers else "i % m"
    first = w.pick("2 * (i - low) + low", "((i - low) << 1) + low", "2 * m * (i // m) + low")
    lines = ["i = cuda.grid(1)", f"if i < {w.pick('n * m', 'n * m', 'n * m - 1')}:", f"    low = {low}"]
    lines += [f"    a = {first}", "    b = a + m", "    u = v[a]", f"    s = {w.pick('v[b]', 'v[b] * x[low]')}"]
    stores = ["    v[a] = u + s", f"    v[b] = {w.pick('u - s', '0.5 * (u - s)', 'u * s')}"]
    w.rng.shuffle(stores)
    sizes = (("n", SMALL), ("m", (1, 2, 4, 8) if powers else SMALL), ("two", (2,)))
    return writing.finished(w, [*lines, *stores], ("n*m",), w.pick(3, 4), sizes)
