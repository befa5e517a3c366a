"""How many rounds of a loop are written out together: several where each would be kernels of its own, on a CPU one.

A round of an innermost loop on a GPU is a few kernels, whose launches (and the loop's own bookkeeping) take longer than
the few elements that a thread of the source computes. Rounds written out together are one kernel where XLA fuses them.
Measured on an H200 over hand-written twins that run them one by one, 16 together: 0.07 to 0.6 of the time, gradients
too. On a CPU the same takes up to 6 times as long (what a round leaves is in a cache), so the backend decides when the
function is traced.

Only rounds that store nothing into a part of a carried array: of several stencils in place after each other XLA
(jaxlib 0.11.2, on an H200) made a fusion of two results that overwrote what its other threads still had to read.
"""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.blocks import Assign, Def, Do, Raw, Stmt
from kraise.emit.context import Context
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear
from kraise.emit.text.python import Py, flat
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices

NAME = "rounds_at_once"
SEVERAL = 8
MANY = 32  # of rounds that are a few operations on one value for each lane
FEW_ROUNDS = 12
FEW_LINES, LONG_ROUND = 12, 60  # lines of a light round; of one that is left alone: it would be compiled so many times


def of_fold(ctx: Context, fold: eq.Fold, lines: list[Stmt], results: list[Py]) -> dict[str, Py]:
    """The argument ``unroll`` of a kernel's loop, by the lines of a round and what it gives back; none for a loop that
    has another within, that stores into parts of arrays, whose rounds are long or look elsewhere in each round at what
    the last one made (many together would compute that over and over; :func:`_few_slices` are no such), or that nobody
    can count when the function is traced."""
    assert fold.axis is not None
    values = [*_values(lines), *results]
    inner = any(isinstance(s, eq.Fold) for s in tree.statements(fold.body))
    counted = all(ctx.is_static(linear(bound), number=True) for bound in (fold.axis.lo, fold.axis.hi))
    texts = [*map(flat, values)]
    if inner or not counted or len(values) > LONG_ROUND or any(".at[" in x for x in texts):
        return {}
    slices = _few_slices(fold, texts)
    if _moves(fold) and not slices:
        return {}
    updates = [s.update for s in fold.scalars] + [o.value for o in fold.outputs]
    light = not fold.arrays and not fold.body and len(values) <= FEW_LINES
    light = light and not any(isinstance(n, eq.Reduce | eq.ArgReduce | eq.Scan) for n in tree.walk(*updates))
    ctx.needs.add(NAME)
    return {"unroll": py.call(NAME, py.number(MANY if light or slices else SEVERAL))}


def _moves(fold: eq.Fold) -> bool:
    """Whether a round loads what the loop carries from places that the round's number says."""
    assert fold.axis is not None
    carried = {c.outside.array for c in fold.arrays}
    roots = [r for s in tree.statements((fold,)) for r in tree.statement_roots(s)] if carried else []
    loads = (n for n in tree.walk(*roots) if isinstance(n, eq.Read) and n.version.array in carried)
    return any(fold.axis.name in free_indices(x) for n in loads for x in n.subscripts)


def _few_slices(fold: eq.Fold, texts: list[str]) -> bool:
    """Whether the rounds are few, of a number that the source says, and load slices that move (steps that double their
    reach): written out they are slices where they are known to be. Hand-written so, two samples took 0.4 to 0.7 of the
    time on an H200, gradients 0.4 and 0.5."""
    assert fold.axis is not None
    rounds = linear(fold.axis.hi) - linear(fold.axis.lo)
    return not rounds.terms and rounds.constant <= FEW_ROUNDS and any("dynamic_slice_in_dim" in x for x in texts)


def helper(name: str, jax: str) -> list[str]:
    """The text of the helper."""
    return _TEXT.format(name=name, jax=jax).strip("\n").split("\n")


def _values(lines: list[Stmt]) -> list[Py]:
    """The values that lines compute, those of local functions, too."""
    found: list[Py] = []
    for line in lines:
        match line:
            case Def(body=body) | Raw(body=body):
                found += _values(body)
            case Assign(value=value) | Do(value=value):
                found.append(value)
    return found


_TEXT = '''
def {name}(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if {jax}.default_backend() == "cpu" else many
'''
