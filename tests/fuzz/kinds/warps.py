"""Warps: shuffles, votes, sums and running sums made of them, warps joined through shared memory."""

from __future__ import annotations

from tests.fuzz.generate import Kernel, Program, Writer
from tests.fuzz.kinds import writing
from tests.fuzz.scope import Index, Scope
from tests.fuzz.statements import indented

ALL = "0xffffffff"
EXTENTS = (3, 5, 31, 32, 33, 40, 64, 70)


def draw(seed: int, language: str) -> Program:
    """The program of a seed."""
    return writing.draw("warps", seed, language, write)


def write(w: Writer, real: str) -> tuple[list[str], Kernel]:
    w.dims, w.spelled = ["n"], {"n": "n"}
    w.float_scalars, w.int_scalars = [], []
    w.arrays = [writing.Array("x", ("n",)), writing.Array("y", ("n",), w.pick("f", "i"))]
    size = w.pick(32, 32, 64)
    own = Scope([Index("i", "n")])
    lines = [w.pick("i = cuda.grid(1)", f"i = cuda.blockIdx.x * {size} + cuda.threadIdx.x")]
    lines += [f"lane = cuda.threadIdx.x {w.pick('% 32', '& 31')}"]
    start = w.pick("0.0", "0.0", "1.0")
    if w.chance(0.6):
        lines += [f"v = {w.wrapped(w.float(own, 1))} if i < n else {start}"]
    else:
        lines += [f"v = {start}", "if i < n:", f"    v = {w.float(own, 1)}"]
    scope = Scope(floats=["v"])
    counts: list[str] = []
    for _ in range(w.pick(1, 1, 2, 2, 3)):
        lines += _phase(w, scope, counts, size, real)
    inner = Scope([Index("i", "n")], floats=scope.floats, ints=counts)
    way = w.rng.random()
    if way < 0.25:
        writing.output(w, "out", ("n",), ("i",))
        who = w.pick("lane == 0", "lane == 31", "cuda.threadIdx.x == 0")
        lines += [f"if i < n and {who}:", f"    out[i] = {w.pick(*scope.floats)}"]
    elif way < 0.4:
        w.arrays.append(writing.Array("hist", ("n",), "f", role="hist"))
        lines += ["if lane == 0:", f"    cuda.atomic.add(hist, 0, {w.pick(*scope.floats)})"]
    else:
        writing.output(w, "out", ("n",), ("i",), w.pick("f", "f", "i"))
        lines += ["if i < n:", *indented(w.body(inner, w.pick(0, 0, 1)))]
    return writing.finished(w, lines, ("n",), size, (("n", EXTENTS),))


def _phase(w: Writer, scope: Scope, counts: list[str], size: int, real: str) -> list[str]:
    v = w.pick(*scope.floats)
    name, at = w.fresh("f", scope), w.fresh("x", scope)
    far = w.pick(1, 1, 2, 4, 8, 16, 3, 31)
    other = {
        "down": f"cuda.shfl_down_sync({ALL}, {v}, {{0}})",
        "up": f"cuda.shfl_up_sync({ALL}, {v}, {{0}})",
        "xor": f"cuda.shfl_xor_sync({ALL}, {v}, {{0}})",
        "at": f"cuda.shfl_sync({ALL}, {v}, {{0}})",
    }
    match w.rng.randrange(8):
        case 0:  # one exchange
            which = w.pick("down", "up", "xor", "at")
            by = w.pick("0", "31", "(lane + 1) % 32", "31 - lane", "lane ^ 1") if which == "at" else str(far)
            scope.floats.append(name)
            return [f"{name} = {other[which].format(by)}"]
        case 1 | 2:  # a sum or a maximum over the warp
            which, low = w.pick("down", "down", "xor"), w.pick(1, 1, 1, 2, 4)
            step = w.pick(
                "{0} += {1}", "{0} += {1}", "{0} = max({0}, {1})", "{0} = min({0}, {1})", "{0} = {0} + 0.5 * {1}"
            )
            body = [step.format(v, other[which].format("reach"))]
            if w.chance(0.2):
                body = [f"{name} = {other[which].format('reach')}", f"if lane {w.pick('<', '>=')} reach:"]
                body += [f"    {v} += {name}"]
            if low > 1 or w.chance(0.7):
                return ["reach = 16", f"while reach >= {low}:", *indented([*body, "reach //= 2"])]
            return ["reach = 1", "while reach < 32:", *indented([*body, "reach *= 2"])]
        case 3:  # a running sum
            join = w.pick(f"{v} += {name}", f"{v} = max({v}, {name})", f"{v} *= {name}")
            body = [f"{name} = {other['up'].format('reach')}", "if lane >= reach:", f"    {join}", "reach *= 2"]
            return ["reach = 1", "while reach < 32:", *indented(body)]
        case 4:  # a vote
            test = w.pick(f"{v} > 0.0", f"{v} < 0.5", "i < n", "lane < 5", f"i < n and {v} > 0.25")
            if w.chance(0.4):
                count = w.fresh("i", Scope(ints=counts))
                counts.append(count)
                mask = w.pick("", "", " & ((1 << lane) - 1)")
                return [f"{count} = cuda.popc(cuda.ballot_sync({ALL}, {test}){mask})"]
            vote = w.pick("any", "all")
            a = f"cuda.{vote}_sync({ALL}, {test})"
            scope.floats.append(name)
            return [f"{name} = {v}", f"if {a}:", f"    {name} = {w.pick('0.5', f'{v} + 1.0', '-' + v)}"]
        case 5 if size == 64:  # two warps meet
            scope.floats.append(name)
            shared = f"part{at}"
            lines = [f"{shared} = cuda.shared.array(2, {real})"]
            lines += [f"if lane == {w.pick(0, 0, 31)}:", f"    {shared}[cuda.threadIdx.x // 32] = {v}", *w.barrier()]
            lines += [
                f"{name} = {w.pick(f'{shared}[0] + {shared}[1]', f'max({shared}[0], {shared}[1])', f'{shared}[1]')}"
            ]
            return [*lines, *w.barrier()]
        case 6:  # the first lane's value, scaled
            scope.floats.append(name)
            return [f"{name} = {v} - {other['at'].format('0')}"]
        case _:
            scope.floats.append(name)
            return [f"{name} = {w.pick(f'0.5 * {v}', f'{v} * {v}', f'{v} + 0.125 * lane', f'max({v}, 0.0)')}"]
