"""Loops as ``lax.scan``: what a round reads at its own index comes in row by row, what it puts out is stacked.

The reverse-mode derivative of a loop that indexes a whole array adds to all of it in each round; rows that come in
as inputs of a scan leave as rows.
"""

from __future__ import annotations

from kraise.diagnostics import refuse
from kraise.emit.context import Assign, Block, Def, Frame, Stmt, Val
from kraise.emit.loads import diagonals, subscripts
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear
from kraise.emit.text.python import Atom, Py, Tup, flat
from kraise.emit.tree import walk
from kraise.ir import equations as eq


def input_of(low: Lowering, node: eq.Read, frame: Frame, own: Frame) -> Val | None:
    """A load at the index of the round around it as an input of the round, or None where it is none."""
    ctx = low.ctx
    depth = ctx.depth(node)
    block = ctx.blocks[depth]
    if block.inputs is not None and block.axis is not None and node.safe:
        return _diagonal(low, node, frame, own, block, depth)
    if block.inputs is None or block.axis is None or node.safe or not _moves_with(low, node, block, depth):
        return None
    if block.axis.name in {a.name for a in own}:
        return None
    value = low.raw(node, (block.axis, *own), (block.axis, *own))
    if value.axes != (block.axis, *own) or value.rank != len(value.axes):
        return None
    name = ctx.names.fresh(_wish(low, node, block))
    block.inputs.append((name, value.py))
    block.variables[(node, frozenset(own))] = (name, own)
    return low.extend(Atom(name), own, frame)


def _diagonal(low: Lowering, node: eq.Read, frame: Frame, own: Frame, block: Block, depth: int) -> Val | None:
    """A diagonal of a table as an input of the round, or None where it is none."""
    ctx = low.ctx
    slope = diagonals.slope_of(ctx, node.subscripts, own[0].name, block.index) if len(own) == 1 else None
    if slope is None or block.axis is None or any(node.version in b.bound for b in ctx.blocks[depth:]):
        return None
    base = subscripts.viewed(ctx, node.version, node.view)
    table = diagonals.diagonal_of(low, node, base, own[0], block.axis, slope)
    if table is None:
        return None
    name = ctx.names.fresh(f"{node.version.array.split('.')[0]}_{block.index}")
    block.inputs.append((name, table))  # type: ignore[union-attr]
    block.variables[(node, frozenset(own))] = (name, own)
    return low.extend(Atom(name), own, frame)


def _moves_with(low: Lowering, node: eq.Read, block: Block, depth: int) -> bool:
    """Whether one subscript holds the round's index, as ``2 * i + c`` or ``c - i``, or all of them do alike, as in
    ``A[i, i]``, a diagonal, and nothing else is known only in the round."""
    holding = [s for s in node.subscripts if block.index in low.ctx.free(s)]
    if not holding:
        return False
    form = linear(holding[0])
    if len(holding) > 1 and (len(node.subscripts) > 2 or not form.same(linear(holding[1]))):
        return False
    own = [(a, c) for a, c in form.terms if isinstance(a, eq.Index) and a.name == block.index]
    if len(own) != 1 or len(holding) > 1 and own[0][1] != 1:
        return False
    if not low.ctx.is_static(form.without(own[0][0])):
        return False
    if any(node.version in b.bound for b in low.ctx.blocks[depth:]):
        return False
    rest = [s for s in node.subscripts if s not in holding]
    return all(low.ctx.depth(n) < depth for n in walk(*rest))


def _wish(low: Lowering, node: eq.Read, block: Block) -> str:
    named = low.ctx.wishes.get(node)
    if named is not None:
        return named.name
    array = node.version.array.split(".")[-1]
    at, *more = (s for s in node.subscripts if block.index in low.ctx.free(s))
    if more:
        return f"{array}_{block.index}{block.index}"
    shift = linear(at).constant if len(linear(at).terms) == 1 else 0
    return f"{array}_" + {-1: "before", 1: "after"}.get(shift, block.index)


_LIGHT = ("add", "sub", "mul", "neg", "fma")
UNROLLED = 8  # rounds; measured: a polynomial of degree 12 over 500,000 values takes 0.3 of the time, its gradient 0.4


def is_light(low: Lowering, stmt: eq.Fold) -> bool:
    """Whether a round is no more than a few products and sums of one value for each lane and of numbers: XLA makes
    several rounds in one pass. (Where they load rows, or hold more, unrolled ones took several times as long.)"""
    if stmt.outputs or stmt.arrays or stmt.body or len(stmt.scalars) != 1 or stmt.condition or stmt.axis is None:
        return False
    (value,) = stmt.scalars
    steps = 0
    for n in walk(value.update):
        match n:
            case eq.Op(name=name, type=kind) if name in _LIGHT:
                steps += not kind.is_integer
            case eq.Read() if stmt.axis.name in low.ctx.free(n) and len(low.ctx.free(n)) > 1:
                return False
            case eq.Const() | eq.Param() | eq.Read() | eq.Index() | eq.CarryIn():
                pass
            case _:
                return False
    return bool(value.axes) and steps <= 4


def scanned(
    low: Lowering,
    stmt: eq.Fold,
    block: Block,
    step: str,
    parameter: str,
    lines: list[Stmt],
    carry: list[Py],
    out: list[Py],
) -> tuple[Stmt, Py, Py]:
    """The round as a function of carry and inputs, the arrays that come in, and the number of rounds (or None)."""
    assert block.axis is not None
    second, more, arrays = _inputs(low, block)
    result = Tup((_group(carry), _group(out)))
    if parameter == second:  # neither carries nor reads anything
        parameter = "_carry"
    made = Def(step, (parameter, second), [*lines, *more, *block.lines, Assign(None, result)])
    return made, arrays, py.NONE if arrays != py.NONE else low.ctx.extent(block.axis)


def mapped(low: Lowering, stmt: eq.Fold, block: Block, step: str, out: list[Py]) -> tuple[Stmt, Py]:
    """The round of a map as a function of its inputs, and the arrays that come in."""
    assert block.axis is not None
    if not block.index_used and not block.inputs:
        block.index_used = True  # a map needs something to run over
    parameter, lines, arrays = _inputs(low, block)
    return Def(step, (parameter,), [*lines, *block.lines, Assign(None, _group(out))]), arrays


def _inputs(low: Lowering, block: Block) -> tuple[str, list[Stmt], Py]:
    """A round's parameter for what comes in, the statement that unpacks it, and the arrays that come in."""
    ctx = low.ctx
    assert block.axis is not None and block.inputs is not None
    inputs = list(block.inputs)
    if block.index_used:
        inputs.insert(0, (block.index_text, py.call("jnp.arange", *ctx.range_arguments(block.axis))))
    names = [n for n, _ in inputs]
    if len(names) == 1:
        return names[0], [], inputs[0][1]
    if not names:
        return "_", [], py.NONE
    parameter = ctx.names.fresh("inputs")
    ctx.names.release(parameter)
    return parameter, [Assign(", ".join(names), Atom(parameter))], _group([t for _, t in inputs])


def _group(items: list[Py]) -> Py:
    if not items:
        return py.NONE
    return items[0] if len(items) == 1 else Tup(tuple(items))


def pattern(names: list[str]) -> str:
    """Names as one target: ``_`` where none is used."""
    if all(n == "_" for n in names):
        return "_"
    return flat(_group([Atom(n) for n in names]))


def check(stmt: eq.Fold) -> None:
    """Refuses what has no scan."""
    if stmt.outputs and (stmt.axis is None or stmt.condition is not None or stmt.unroll):
        raise refuse("KR305", "a loop that puts out a value in each round has no fixed number of rounds", stmt.span)
