"""Loops whose gradient keeps no intermediates of rounds, and not every state: segments of about sqrt(n) rounds, run
again in reverse.

Which loops, by ``--remat``:

    none   no loop: JAX keeps what each round needs
    auto   a loop over time: whole float arrays are carried, and the number of rounds is a constant of at least LONG or
           a parameter that is no array's extent. Each round is checkpointed: the gradient keeps what a round starts
           from and makes its intermediates again, which costs less than to store and to fetch them (on a CPU the
           gradients of stencils are 3 to 5 times as fast). The emitted helper keeps the plain loop while all states
           together are at most KEPT elements: more do not fit a cache, and what an allocator gets from the system for
           each call (the C library's, from 32 MB on) costs more than to run the rounds again (measured on a CPU:
           1,000 steps of 16,384 cells take 5.3 times the primal as a plain loop and 2.8 times in segments). The memory
           of a GPU is as quick for all: there it is the plain loop up to ON_DEVICE elements (in segments the rounds
           run once more, 1.2 to 1.6 of the time)
    full   every loop that carries floats, with a checkpoint around each round, too; a function with large broadcast
           intermediates is checkpointed as a whole

The rounds are those of a loop, across which XLA merges nothing: the barriers by which ``checkpoint`` keeps it from
that are left out (``prevent_cse=False``, jax.checkpoint's documentation); they cost half of the gradient's time.

A host's loop of which buffers change places (``u, v = v, u``) has a second helper: its values are made two (three)
rounds at a time, after which each buffer is where it was and XLA copies none (measured on a CPU: 0.3 of the time). A
gradient of several rounds at a time would take up to twice as long: XLA fuses the cotangents of one round better. So
the derivative, forward or reverse, is that of the loop as it stands (``jax.custom_jvp``); on a GPU, which copies the
buffers of each round, of several rounds at a time, too (measured on an H200: 0.8 of the time).

A loop over an array's own extent (an elimination, a sweep) is not cut into segments by ``auto``: its rounds are as many
as the data's rows. Nor is one of few rounds. Where their rounds make all that is carried anew and the gradient would
keep MANY values of each, a round is run again (measured on CPUs: 0.15 to 0.9 of the gradient's time, 1.0 where it keeps
one or two; rounds that change a part of what is carried, as eliminations, take twice as long if they are run again).
"""

from __future__ import annotations

import re
from functools import reduce
from math import lcm

from kraise.emit import tree
from kraise.emit.context import Context
from kraise.emit.hosts.statics import nodes, scalars
from kraise.emit.loops.kept import made_anew, values_kept
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.types import ArrayType

LONG = 64
KEPT = 2**22  # 16 MB in single precision
ON_DEVICE = 2**28  # 1 GB, in the memory of a GPU
LOOP, SCAN, SWAP = "checkpointed_loop", "checkpointed_scan", "swapping_loop"
HELPERS = (LOOP, SCAN, SWAP)
MANY = 3  # values of the size of the state that a round's gradient would keep
LONGEST = 3  # rounds after which buffers are in their places again


def again(step: str) -> Py:
    """The round of a loop that the gradient runs again."""
    return py.call("jax.checkpoint", Atom(step), prevent_cse=Atom("False"))


def segmented(ctx: Context, fold: eq.Fold) -> bool:
    """Whether a fold with a static range is emitted in segments."""
    remat = ctx.kernel.memory.remat
    if remat == "none" or fold.axis is None or not _carries_floats(ctx, fold):
        return False
    return remat == "full" or (_over_time(ctx, fold) and _nested(ctx))


def per_round(ctx: Context, fold: eq.Fold) -> bool:
    """Whether each round of a loop is checkpointed that the helpers do not run (they do it themselves)."""
    if not _carries_floats(ctx, fold):
        return False
    time = segmented(ctx, fold)
    auto = ctx.kernel.memory.remat == "auto" and not time
    if auto and _nested(ctx) and made_anew(fold) and values_kept(fold) >= MANY:
        return True
    return time if fold.reverse else ctx.kernel.memory.remat == "full" and not time


def _nested(ctx: Context) -> bool:
    return len(ctx.blocks) == 1  # an inner loop belongs to the round around it, which is run again as a whole


def _carries_floats(ctx: Context, fold: eq.Fold) -> bool:
    """Whether a whole array of floats is carried and something uses what the loop makes of it, in the end or in each
    round."""
    each = any(o.type.is_inexact or o.type.kind == "number" for o in fold.outputs if (fold.name, o.name) in ctx.wanted)
    used = [c.outside for c in fold.arrays if each or c.result in ctx.last_use or c.result in ctx.written]
    arrays = [ctx.element(v.array) for v in used]
    scalars = [s.type for s in fold.scalars if s.axes and (each or (fold.name, s.name) in ctx.wanted)]
    return any(kind.is_inexact or kind.kind == "number" for kind in (*arrays, *scalars))


def _over_time(ctx: Context, fold: eq.Fold) -> bool:
    """Whether the number of rounds says nothing of the arrays."""
    assert fold.axis is not None
    rounds = linear(fold.axis.hi) - linear(fold.axis.lo)
    if not rounds.terms:
        return rounds.constant // fold.axis.step >= LONG
    own = {n for bound in (fold.axis.lo, fold.axis.hi) for n in tree.walk(bound)}
    if any(isinstance(n, eq.Shape) or (isinstance(n, eq.Op) and n.name == "bit_length") for n in own):
        return False  # as many rounds as the data has rows, or as a number has bits
    parameters = {n for n in own if isinstance(n, eq.Param)}
    return bool(parameters) and not parameters & _sizes(ctx.kernel, fold)


def _sizes(kernel: eq.Kernel, fold: eq.Fold) -> set[eq.Expr]:
    """The parameters that bound an index of an array, or of another loop."""
    found: set[eq.Expr] = set()
    for s in tree.statements(kernel.body):
        axes: list[eq.Axis] = []
        bounds: list[eq.Expr] = []
        match s:
            case eq.Write(axes=own, view=view, subscripts=subscripts):
                axes, bounds = list(own), [*view, *subscripts]
            case eq.New(shape=shape):
                bounds = list(shape)
            case eq.Fold(axis=axis, scalars=scalars, outputs=outputs):
                axes = [a for c in scalars for a in c.axes] + [a for o in outputs for a in o.axes]
                axes += [axis] if axis is not None and s is not fold else []
        for node in tree.walk(*tree.statement_roots(s)):
            axes += tree.axes_of(node)
            if isinstance(node, eq.Read):
                bounds += [*node.view, *node.subscripts]
        for a in axes:
            if a is not fold.axis:
                bounds += [a.lo, a.hi]
        found |= set(tree.walk(*bounds))
    return found


def host_segmented(host: o.Host, loop: o.Loop) -> bool:
    """Whether a counted loop of a host function is emitted in segments; by the same rules as a kernel's."""
    arrays = [p.type.element for p in host.params if isinstance(p.type, ArrayType)]
    floats = any(kind.is_inexact or kind.kind == "number" for kind in arrays)
    if host.remat == "none" or not floats or not any(loop.arrays):
        return False
    if host.remat == "full":
        return True
    if loop not in host.body:
        return False
    bounds = tuple(nodes(loop.start, loop.stop))
    match loop.start, loop.stop:
        case k.Const(value=int(first)), k.Const(value=int(last)):
            return last - first >= LONG
    rounds = scalars(loop.start, loop.stop)
    calls = [n for n in nodes(host.body) if isinstance(n, o.Call)]  # what a kernel gets may be a size
    return bool(rounds) and not rounds & scalars(*calls) and not any(isinstance(n, k.Shape) for n in bounds)


def period(loop: o.Loop) -> int:
    """After how many rounds the arrays that a loop exchanges are in their places again; 1 if it exchanges none."""
    moved = dict(zip(loop.names, loop.nexts, strict=True))
    arrays = {n for n, array in zip(loop.names, loop.arrays, strict=True) if array}
    rounds = 1
    for name in arrays:
        length, at = 1, moved[name]
        while at in arrays and at != name and length <= LONGEST:
            length, at = length + 1, moved[at]
        rounds = lcm(rounds, length) if at == name else rounds
    return rounds if rounds <= LONGEST else 1


def note(remat: str) -> str:
    """What the docstring of a function with such a loop says."""
    kept = "the gradient keeps the states between rounds, about 2 sqrt(rounds)"
    return kept + (",\nand" if remat == "full" else "\nwhere all would be many, and") + " runs rounds again (--remat)"


_PICKS, _PRODUCT = re.compile(r"\barg(min|max)\("), " @ "
_KEPT = '''{{reason}}."""

    def kept(op, {others}):
        return {tests}

'''
_OF_PICKS = 'op.name in ("argmin", "argmax", "reduce_min", "reduce_max")'
_OF_VECTORS = 'op.name == "dot_general" and min(v.ndim for v in values) == 1'


def worth_keeping(lines: list[str]) -> tuple[str, ...]:
    """What a round that is run again for the gradient finds kept, as tests in the helper's text.

    Places of extrema, and the extrema that they are compared by: these have no derivative, and what they were found in
    is not made again (the distances of an assignment: half of the gradient's time). Products of matrices with vectors:
    they are no longer than what is carried, and take as long as the rest of the gradient (a power iteration with 500
    rows: a quarter of its time).
    """
    tests = [_OF_PICKS] if any(map(_PICKS.search, lines)) else []
    return (*tests, *([_OF_VECTORS] if any(_PRODUCT in line for line in lines) else []))


def helper(name: str, imports: dict[str, str], always: bool, kept: tuple[str, ...], unrolled: bool) -> list[str]:
    """The text of a helper; ``always`` leaves out the plain loop for few states, ``kept`` says what is kept of a round
    beside the state, ``unrolled`` whether some call says how many rounds are written out together."""
    text = {LOOP: _LOOP, SCAN: _SCAN, SWAP: _SWAP}[name]
    if unrolled:
        text = reduce(lambda t, pair: t.replace(*pair), _UNROLL, text)
    if kept:
        text = text.replace("checkpoint(step, prevent_cse=False)", "checkpoint(step, prevent_cse=False, policy=kept)")
        others = "*values, **_" if _OF_VECTORS in kept else "*_, **__"
        tests = kept[0] if len(kept) == 1 else "(\n            {}\n            or {}\n        )".format(*kept)
        text = text.replace('{reason}."""\n', _KEPT.format(others=others, tests=tests), 1)
    names = {"jax": imports["jax"], "jnp": imports["jnp"], "name": imports[name], "loop": imports[LOOP]}
    few, device = (n.bit_length() - 1 for n in (KEPT, ON_DEVICE))
    reason = "" if always else ", where all states are many"
    lines = text.format(**names, log=few, device=device, reason=reason).strip("\n").split("\n")
    return [line for line in lines if not line.endswith(_PLAIN)] if always else [_unmarked(line) for line in lines]


def _unmarked(line: str) -> str:
    return line.removesuffix(_PLAIN).rstrip()


_PLAIN = "# plain"
_UNROLL = (
    ("def {name}(start, stop, step, state):", "def {name}(start, stop, step, state, unroll=1):"),
    ("fori_loop(start, stop, step, state)", "fori_loop(start, stop, step, state, unroll=unroll)"),
    (
        "fori_loop(0, size, lambda r, s: step(first + r, s), state)",
        "fori_loop(\n            0, size, lambda r, s: step(first + r, s), state, unroll=unroll\n        )",
    ),
    (
        "    return {jax}.lax.fori_loop(start + rounds // size * size, stop, step, state)",
        "    rest = start + rounds // size * size\n"
        "    return {jax}.lax.fori_loop(rest, stop, step, state, unroll=unroll)",
    ),
    ("def {name}(step, state, inputs, length=None):", "def {name}(step, state, inputs, length=None, unroll=1):"),
    ("scan(step, state, inputs, length)", "scan(step, state, inputs, length, unroll=unroll)"),
    ("scan(step, state, inputs, size)", "scan(step, state, inputs, size, unroll=unroll)"),
    ("scan(step, state, rest, rounds - cut)", "scan(step, state, rest, rounds - cut, unroll=unroll)"),
)
_LOOP = '''
def {name}(start, stop, step, state):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds{reason}."""
    step = {jax}.checkpoint(step, prevent_cse=False)
    rounds = max(stop - start, 0)
    few = 2**{log} if {jax}.default_backend() == "cpu" else 2**{device}  # plain
    if rounds * sum(map({jnp}.size, {jax}.tree.leaves(state))) <= few:  # plain
        return {jax}.lax.fori_loop(start, stop, step, state)  # plain
    size = max(int(rounds**0.5), 1)

    def segment(k, state):
        first = start + k * size
        return {jax}.lax.fori_loop(0, size, lambda r, s: step(first + r, s), state)

    segment = {jax}.checkpoint(segment, prevent_cse=False)
    state = {jax}.lax.fori_loop(0, rounds // size, segment, state)
    return {jax}.lax.fori_loop(start + rounds // size * size, stop, step, state)
'''
_SWAP = '''
def {name}(start, stop, step, state, known, period):
    """``{loop}`` whose values take ``period`` rounds at a time: then each buffer is in its place again."""

    @{jax}.custom_jvp
    def values(state, *known):
        def advance(r, state):
            return step(r, state, *known)

        last = stop - max(stop - start, 0) % period
        state = {jax}.lax.fori_loop(start, last, advance, state, unroll=period)
        for r in range(last, stop):
            state = advance(r, state)
        return state

    @values.defjvp
    def derivative(primals, tangents):
        def plain(state, *known):
            several = 1 if {jax}.default_backend() == "cpu" else period
            return {loop}(
                start, stop, lambda r, s: step(r, s, *known), state, several
            )

        return {jax}.jvp(plain, primals, tangents)

    return values(state, *known)
'''
_SCAN = '''
def {name}(step, state, inputs, length=None):
    """``scan`` whose rounds the gradient runs again; in segments of sqrt(n) rounds{reason}."""
    step = {jax}.checkpoint(step, prevent_cse=False)
    rounds = len({jax}.tree.leaves(inputs)[0]) if length is None else length
    few = 2**{log} if {jax}.default_backend() == "cpu" else 2**{device}  # plain
    if rounds * sum(map({jnp}.size, {jax}.tree.leaves(state))) <= few:  # plain
        return {jax}.lax.scan(step, state, inputs, length)  # plain
    size = max(int(rounds**0.5), 1)
    cut = rounds // size * size

    def segment(state, inputs):
        return {jax}.lax.scan(step, state, inputs, size)

    segment = {jax}.checkpoint(segment, prevent_cse=False)
    count = rounds // size
    first = {jax}.tree.map(lambda x: x[:cut].reshape(count, size, *x.shape[1:]), inputs)
    state, made = {jax}.lax.scan(segment, state, first, count)
    rest = {jax}.tree.map(lambda x: x[cut:], inputs)
    state, more = {jax}.lax.scan(step, state, rest, rounds - cut)
    made = {jax}.tree.map(lambda x: x.reshape(cut, *x.shape[2:]), made)
    return state, {jax}.tree.map(lambda a, b: {jnp}.concatenate([a, b]), made, more)
'''
