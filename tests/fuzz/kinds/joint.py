"""What a block or a warp works out together: the place of an extremum, padded scans, several arrays in one, halos that
edge threads load, pivots."""

from __future__ import annotations

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Index, Scope
from tests.fuzz.statements import indented

ALL = "0xffffffff"
EXTENTS = (3, 8, 16, 31, 32, 33, 40, 64, 70)


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("joint", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.dims, w.spelled = ["n"], {"n": "n"}
    w.float_scalars, w.int_scalars = [], []
    w.arrays = [writing.Array("x", ("n",)), writing.Array("y", ("n",), w.pick("f", "i"))]
    part = w.pick(_places, _places, _pairs, _pairs, _scan, _parts, _halo, _pivot)
    size = 32 if part is _places else w.pick(8, 16, 32)
    lines = [w.pick("i = cuda.grid(1)", f"i = cuda.blockIdx.x * {size} + cuda.threadIdx.x")]
    lines += ["lane = cuda.threadIdx.x"]
    own = w.float(Scope([Index("i", "n")]), 1)
    lines += [f"v = {w.pick(own, f'math.floor(2.0 * {own})')} if i < n else {w.pick('0.0', '-8.0', '9.0')}"]
    kind, phase, result = part(w, size, real)
    writing.output(w, "out", ("n",), ("i",), kind)
    lines += [*phase, "if i < n:", f"    out[i] = {result}"]
    block = w.pick(size, size, (size // 4, 4))
    if block != size:
        lines = [_numbered_through(line) for line in lines]
    return writing.finished(w, lines, ("n",), block, (("n", EXTENTS),))


def _numbered_through(line: str) -> str:
    """``line`` for a block of two axes whose threads are numbered through."""
    number = "(cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x)"
    threads = "(cuda.blockDim.x * cuda.blockDim.y)"
    line = line.replace("cuda.grid(1)", "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x")
    return line.replace("cuda.threadIdx.x", number).replace("* cuda.blockDim.x + (", f"* {threads} + (")


def _choice(w: Writer, best: str, other: str, place: str, there: str) -> list[str]:
    """``place`` and ``best`` replaced by another's, if it is better; sometimes only one of the two."""
    sign = w.pick(">", ">", "<", ">=", "<=")
    turned = {">": "<", "<": ">", ">=": "<=", "<=": ">="}[sign]
    test = w.pick(f"{other} {sign} {best}", f"{best} {turned} {other}")
    if sign in "<>" and w.chance(0.5):
        test += (
            f" or ({other} == {best} and {w.pick(f'{there} < {place}', f'{there} > {place}', f'{place} > {there}')})"
        )
    change = [f"{best} = {other}", f"{place} = {there}"]
    if w.chance(0.1):
        change = change[w.pick(0, 1) :][:1]
    return [f"if {test}:", *indented(change)]


def _places(w: Writer, size: int, real: str) -> tuple[str, list[str], str]:
    """A warp's extremum and its place, by exchanges."""
    way = w.pick("down", "down", "xor", "xor", "up")
    start = w.pick("lane", "lane", "i", "31 - lane", "2 * lane", "(lane + 3) % 32")
    far = w.pick("reach", "reach", "reach", "reach // 2 + 1") if w.chance(0.1) else "reach"
    body = [f"w = cuda.shfl_{way}_sync({ALL}, v, reach)", f"other = cuda.shfl_{way}_sync({ALL}, place, {far})"]
    body += _choice(w, "v", "w", "place", "other")
    rounds = w.pick(("16", "reach >= 1", "reach //= 2"), ("1", "reach < 32", "reach *= 2"))
    lines = [f"place = {start}", f"reach = {rounds[0]}", f"while {rounds[1]}:", *indented([*body, rounds[2]])]
    if way != "xor" or w.chance(0.5):
        who = w.pick("0", "0", "0", "31")
        lines += [f"place = cuda.shfl_sync({ALL}, place, {who})", f"v = cuda.shfl_sync({ALL}, v, {who})"]
    return w.pick(("i", lines, "place"), ("f", lines, "v + 0.25 * place"))


def _pairs(w: Writer, size: int, real: str) -> tuple[str, list[str], str]:
    """A block's extremum and its place, by a tree."""
    lines = [f"value = cuda.shared.array({size}, {real})", f"index = cuda.shared.array({size}, int32)"]
    lines += ["value[lane] = v", f"index[lane] = {w.pick('lane', 'i', '3 * lane')}", *w.barrier()]
    body = _choice(w, "value[lane]", "value[lane + reach]", "index[lane]", "index[lane + reach]")
    if w.chance(0.5):
        tree = ["if lane < reach:", *indented(body), *w.barrier(), "reach //= 2"]
        lines += [f"reach = {size // 2}", "while reach > 0:", *indented(tree)]
    else:
        tree = ["if lane % (2 * reach) == 0:", *indented(body), *w.barrier(), "reach *= 2"]
        lines += ["reach = 1", f"while reach < {size}:", *indented(tree)]
    return w.pick(("i", lines, "index[0]"), ("f", lines, "value[0] - 0.5 * index[0]"))


def _scan(w: Writer, size: int, real: str) -> tuple[str, list[str], str]:
    """Running sums of a block in an array with a gap now and then, up the tree and down."""
    shift = w.pick(2, 3, 4)

    def cell(at: str) -> str:
        return f"s[{at} + ({at} >> {shift})]"

    a, b = "((lane + 1) * 2 * reach - 1)", "((lane + 1) * 2 * reach - 1 - reach)"
    first, last = cell(b), cell(a)
    lines = [f"s = cuda.shared.array({size + (size >> shift)}, {real})", f"{cell('lane')} = v", *w.barrier()]
    up = [f"if (lane + 1) * 2 * reach <= {size}:", f"    {last} += {first}", *w.barrier(), "reach *= 2"]
    lines += ["reach = 1", f"while reach < {size}:", *indented(up)]
    lines += ["if lane == 0:", f"    {cell(str(size - 1))} = {w.pick('0.0', '0.0', '1.0')}", *w.barrier()]
    down = [f"if (lane + 1) * 2 * reach <= {size}:", f"    t = {first}", f"    {first} = {last}", f"    {last} += t"]
    lines += [f"reach = {size // 2}", "while reach > 0:", *indented([*down, *w.barrier(), "reach //= 2"])]
    return "f", lines, w.pick(cell("lane"), f"{cell('lane')} + v", cell("lane").replace("lane", f"({size - 1} - lane)"))


def _parts(w: Writer, size: int, real: str) -> tuple[str, list[str], str]:
    """Two arrays in one, each with a tree or none."""
    lines = [f"s = cuda.shared.array({2 * size}, {real})", "s[lane] = v", f"s[{size} + lane] = {w.pick('v * v', '-v')}"]
    lines += w.barrier()
    one, two = w.pick("s[lane] += s[lane + reach]", "s[lane] = max(s[lane], s[lane + reach])"), f"{size} + lane"
    body = [one, w.pick(f"s[{two}] += s[{two} + reach]", f"s[{two}] = min(s[{two}], s[{two} + reach])")]
    tree = ["if lane < reach:", *indented(body), *w.barrier(), "reach //= 2"]
    lines += [f"reach = {size // 2}", "while reach > 0:", *indented(tree)]
    return "f", lines, w.pick(f"s[0] - s[{size}]", f"s[0] * 0.5 + s[{size}]", f"s[{size}]")


def _halo(w: Writer, size: int, real: str) -> tuple[str, list[str], str]:
    """A tile with a rim, which the threads at its edges load."""
    rim = w.pick(1, 1, 2, 3)
    edge = w.pick("0.0", "1.0")
    lines = [f"s = cuda.shared.array({size + 2 * rim}, {real})", f"s[lane + {rim}] = v", f"if lane < {rim}:"]
    lines += [f"    s[lane] = x[i - {rim}] if i >= {rim} and i - {rim} < n else {edge}"]
    lines += [f"    s[lane + {size + rim}] = x[i + {size}] if i + {size} < n else {edge}", *w.barrier()]
    places = [f"s[lane + {k}]" for k in range(2 * rim + 1)]
    w.rng.shuffle(places)
    return "f", lines, w.pick(" + ".join(places), f"{places[0]} - 0.5 * {places[1]}", f"max({places[0]}, {places[1]})")


def _pivot(w: Writer, size: int, real: str) -> tuple[str, list[str], str]:
    """One thread's value for all of them, round for round."""
    pivot = w.pick("s[0]", "s[k]", f"s[{size - 1} - k]", "s[k] + s[0]")
    lines = [f"s = cuda.shared.array({size}, {real})", "s[lane] = v", *w.barrier()]
    change = w.pick("s[lane] -= 0.5 * p", "s[lane] = max(s[lane], p)", "s[lane] = 0.5 * (s[lane] + p)")
    who = w.pick("lane > k", "lane != k", "lane >= 0")
    rounds = [f"p = {pivot}", *w.barrier(), f"if {who}:", f"    {change}", *w.barrier()]
    return "f", [*lines, f"for k in range({w.pick(1, 2, 3, size)}):", *indented(rounds)], "s[lane]"
