"""Loops that stay: ``fori_loop`` and ``while_loop`` over tuples of whole arrays."""

from __future__ import annotations

import re
from collections.abc import Callable

from kraise.emit import tree
from kraise.emit.context import Assign, Block, Context, Def, Do, Raw, Stmt
from kraise.emit.loads.subscripts import viewed
from kraise.emit.loops import at_once, carries, chunks, remat, squaring, stacked
from kraise.emit.lower import Lowering
from kraise.emit.stores import versions
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import Atom, Py, Tup, flat
from kraise.ir import equations as eq


def mentioned(lines: list[Stmt]) -> set[str]:
    """The names that statements refer to."""
    found: set[str] = set()
    for line in lines:
        match line:
            case Assign(value=value) | Do(value=value):
                found.update(_NAME.findall(flat(value)))
            case Raw(text=text, body=body):
                found.update(_NAME.findall(text))
                found |= mentioned(body)
            case Def(body=body):
                found |= mentioned(body)
    return found


FEW = 8  # rounds
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def _view(stmt: eq.Fold, carry: eq.ArrayCarry) -> tuple[eq.Expr, ...]:
    """The view under which all of the loop sees a flat array that it carries; () if there is none."""
    views: set[tuple[eq.Expr, ...]] = set()
    for s in tree.statements((stmt,)):
        if isinstance(s, eq.Write) and s.after.array == carry.outside.array:
            views.add(s.view)
        for n in tree.walk(*tree.statement_roots(s)):
            if isinstance(n, eq.Read) and n.version.array == carry.outside.array:
                views.add(n.view)
    return views.pop() if len(views) == 1 else ()


class _State:
    """The names of what a fold carries."""

    def __init__(self, low: Lowering, stmt: eq.Fold):
        ctx = low.ctx
        self.initial: list[Py] = []
        self.names: list[str] = []
        self.results: list[str] = []
        # a round that also reads the version before the loop must see it under a name of its own
        roots = [r for s in tree.statements((stmt,)) for r in tree.statement_roots(s)]
        read = {n.version for n in tree.walk(*roots) if isinstance(n, eq.Read)}
        self.views = [_view(stmt, c) for c in stmt.arrays]
        for c, view in zip(stmt.arrays, self.views, strict=True):
            if view:
                text = viewed(ctx, c.outside, view)
                self.initial.append(text)
                alone = versions.dead_after(ctx, c.outside, stmt) and c.outside not in read and isinstance(text, Atom)
                name = (
                    text.text if alone and isinstance(text, Atom) else ctx.names.fresh(f"{c.outside.array}{len(view)}")
                )
                self.names.append(name)
                self.results.append(name if c.result in ctx.last_use or c.result in ctx.written else "_")
                continue
            self.initial.append(ctx.array(c.outside))
            name = versions.variable_for(ctx, c.outside, c.result, stmt)
            if c.outside in read and Atom(name) == self.initial[-1]:
                name = ctx.names.fresh(name)
            self.names.append(name)
            self.results.append(name if c.result in ctx.last_use or c.result in ctx.written else "_")
        self.dtypes: carries.Dtypes = {}
        for s in stmt.scalars:
            self.initial.append(carries.start(low, s, self.dtypes))
            name = ctx.names.fresh(s.name)
            self.names.append(name)
            self.results.append(name if (stmt.name, s.name) in ctx.wanted else "_")

        self._share(ctx)

    def _share(self, ctx: Context) -> None:
        """What several carries start from is made once."""
        for text in dict.fromkeys(t for t in self.initial if isinstance(t, py.Call)):
            if self.initial.count(text) > 1:
                zero = isinstance(text, py.Call) and text.func == Atom("jnp.zeros")
                name = ctx.names.fresh("zero" if zero else "start")
                ctx.emit(Assign(name, text))
                self.initial = [Atom(name) if t == text else t for t in self.initial]

    def enter(self, ctx: Context, stmt: eq.Fold, block: Block) -> None:
        """The arrays at the start of a round, in ``block``."""
        for c, name, view in zip(stmt.arrays, self.names, self.views, strict=False):
            if view:
                block.variables[("view", c.entry, view)] = (name, ())
                block.bound.add(c.entry)
                ctx.under.setdefault((c.entry, view), c.entry)
            else:
                ctx.versions[c.entry] = Atom(name)
                block.bound.add(c.entry)

    def leave(self, ctx: Context, stmt: eq.Fold) -> None:
        """The arrays after the loop."""
        for c, name, view in zip(stmt.arrays, self.results, self.views, strict=False):
            if view and name != "_":
                versions.set_view(ctx, c.outside, c.result, view, name, stmt)
            else:
                versions.bind(ctx, c.result, Atom(name))

    def pattern(self, used: set[str]) -> str:
        """The names as a target; what a round does not use is ``_``."""
        return ", ".join(n if n in used else "_" for n in self.names)

    def values(self, items: list[Py]) -> Py:
        return items[0] if len(items) == 1 else py.Tup(tuple(items))


def fold(low: Lowering, stmt: eq.Fold, body_of: Callable[[tuple[eq.Stmt, ...]], None]) -> None:
    """Emits a fold: its start, its round as a local function, the loop, and the names of its results."""
    ctx = low.ctx
    stacked.check(stmt)
    if squaring.as_power(low, stmt):
        return
    if not stmt.mapped:
        _name_parts(low, stmt)
    state = _State(low, stmt)
    for o in stmt.outputs:
        used = (stmt.name, o.name) in ctx.wanted
        assert stmt.axis is not None
        ctx.folded[("out", stmt.name, o.name)] = (ctx.names.fresh(o.name) if used else "_", (stmt.axis, *o.axes))
    if stmt.axis is not None and (stmt.unroll or _bitwise(stmt)):
        _unrolled(low, stmt, state, body_of)
    else:
        _looped(low, stmt, state, body_of)
    state.leave(ctx, stmt)
    for s, name in zip(stmt.scalars, state.results[len(stmt.arrays) :], strict=True):
        ctx.folded[("out", stmt.name, s.name)] = (name, s.axes)
    ctx.fold_depth[stmt.name] = len(ctx.blocks) - 1


def _name_parts(low: Lowering, stmt: eq.Fold) -> None:
    """Names for what a round makes of a cell that it hands on: ``c_new``."""
    wishes = low.ctx.wishes
    for o in stmt.outputs:
        array = o.name.strip("$").removesuffix(".out")
        if isinstance(o.value, eq.Op) and o.value not in wishes:
            wishes[o.value] = eq.Name(o.value, f"{array}_new")


def _round(low: Lowering, stmt: eq.Fold, block: Block, state: _State, body_of: Callable) -> list[Py]:
    """The statements of a round, in ``block``; returns the values of the state after it."""
    ctx = low.ctx
    ctx.enter(block)
    state.enter(ctx, stmt, block)
    for s, name in zip(stmt.scalars, state.names[len(stmt.arrays) :], strict=True):
        ctx.folded[("in", stmt.name, s.name)] = (name, s.axes)
    alive: Py | None = None
    if stmt.condition is not None and stmt.axis is not None:
        alive = low.lower(stmt.condition, ()).py
        if not isinstance(alive, Atom):
            name = ctx.names.fresh("live")
            ctx.emit(Assign(name, alive))
            alive = Atom(name)
    # the updates of scalars are functions of the versions at entry and of those made in the round
    body_of(stmt.body)
    out = [viewed(ctx, c.exit, view) for c, view in zip(stmt.arrays, state.views, strict=True)]
    out += [carries.update(low, s, state.dtypes) for s in stmt.scalars]
    out += [_put_out(low, stmt, o) for o in stmt.outputs]
    if alive is not None:
        old = [Atom(n) for n in state.names]
        out = [py.call("jnp.where", alive, new, o) if new != o else new for new, o in zip(out, old, strict=True)]
    ctx.leave()
    return out


def _release(low: Lowering, block: Block, kept: set[str]) -> None:
    """The names of a round are free again after it."""
    names = [n for n, _ in block.inputs or ()]
    for line in block.lines:
        if isinstance(line, Assign) and line.target is not None:
            names += line.target.split(", ")
    for name in names:
        if name.isidentifier() and name not in kept:
            low.ctx.names.release(name)


def _put_out(low: Lowering, stmt: eq.Fold, o: eq.Output) -> Py:
    """What a round puts out, over the axes that it has: it is broadcast where it is used."""
    held = low.lower(o.value, o.axes).axes
    name, axes = low.ctx.folded[("out", stmt.name, o.name)]
    low.ctx.folded[("out", stmt.name, o.name)] = (name, (axes[0], *held))
    return low.lower(o.value, held).py


def _bounds(low: Lowering, axis: eq.Axis, reverse: bool, index: str) -> tuple[Py, Py, str, Assign | None]:
    """``lo``, ``hi``, the counter's name and, where it is not the index itself, the index's assignment."""
    ctx = low.ctx
    lo, hi = linear(axis.lo), linear(axis.hi)
    if axis.step == 1 and not reverse:
        return ctx.static(lo), ctx.static(hi), index, None
    counter = ctx.names.fresh("r")
    if axis.step == 1:
        last = ctx.static(hi + -1)
        return py.number(0), ctx.extent(axis), counter, Assign(index, py.Bin("-", last, Atom(counter)))
    count = ctx.extent(axis)
    steps: Py = Atom(counter)
    if reverse:
        steps = py.Bin("-", py.Bin("-", count, py.number(1)), steps)
    value: Py = py.Bin("*", steps, py.number(axis.step))
    if not lo.same(Linear()):
        value = py.Bin("+", ctx.static(lo), value)
    return py.number(0), count, counter, Assign(index, value)


def _looped(low: Lowering, stmt: eq.Fold, state: _State, body_of: Callable) -> None:
    ctx = low.ctx
    step = ctx.names.fresh("row" if stmt.mapped else "step")
    single = len(state.names) == 1
    parameter = state.names[0] if single else ctx.names.fresh("state") if state.names else "_"
    block = Block(stmt.name)
    if stmt.axis is not None:
        index = ctx.names.fresh(stmt.axis.name)
        block.index, block.index_text, block.axis, block.inputs = stmt.axis.name, index, stmt.axis, []
    out = _round(low, stmt, block, state, body_of)
    carry, outputs = out[: len(state.names)], out[len(state.names) :]
    head: list[Stmt] = []
    if len(state.names) > 1:
        head.append(Assign(state.pattern(mentioned([*block.lines, Assign(None, Tup(tuple(out)))])), Atom(parameter)))
    if stmt.axis is None:
        _while(low, stmt, state, block, head, carry, step, parameter)
    elif stmt.mapped:
        made, arrays = stacked.mapped(low, stmt, block, step, outputs)
        ctx.emit(made)
        rest = ", ".join(ctx.folded[("out", stmt.name, o.name)][0] for o in stmt.outputs)
        size = chunks.batch(ctx, stmt)
        run = remat.again(step)
        ctx.emit(Assign(rest, py.call("jax.lax.map", run, arrays, batch_size=size), stmt.span))
    elif stmt.outputs or block.inputs:
        made, arrays, length = stacked.scanned(low, stmt, block, step, parameter, head, carry, outputs)
        ctx.emit(made)
        start = state.values(state.initial) if state.initial else py.NONE
        extra: dict[str, Py] = {} if length == py.NONE else {"length": length}
        if stmt.reverse:
            extra["reverse"] = Atom("True")
        target = stacked.pattern(state.results)
        rest = stacked.pattern([ctx.folded[("out", stmt.name, o.name)][0] for o in stmt.outputs])
        function = "jax.lax.scan"
        if remat.segmented(ctx, stmt) and not stmt.reverse:
            ctx.needs.add(remat.SCAN)
            function = remat.SCAN
        if function == "jax.lax.scan" and stacked.is_light(low, stmt):
            extra["unroll"] = py.number(stacked.UNROLLED)
        else:
            extra |= at_once.of_fold(ctx, stmt, block.lines, out)
        loop = py.call(function, round_of(ctx, stmt, step), start, arrays, **extra)
        ctx.emit(Assign(f"{target}, {rest}", loop, stmt.span))
    else:
        counter, assign = "_", None
        lo, hi, counter, assign = _bounds(low, stmt.axis, stmt.reverse, block.index_text)
        if not block.index_used:
            ctx.names.release(block.index_text)
            counter, assign = "_", None
        block.lines = [*head, *([assign] if assign is not None else []), *block.lines]
        _return(block, state, carry)
        ctx.emit(Def(step, (counter, parameter), block.lines))
        start = state.values(state.initial)
        function = "jax.lax.fori_loop"
        if remat.segmented(ctx, stmt):
            ctx.needs.add(remat.LOOP)
            function = remat.LOOP
        written_out = {"unroll": Atom("True")} if _short(ctx, stmt) else at_once.of_fold(ctx, stmt, block.lines, out)
        rounds = py.call(function, lo, hi, round_of(ctx, stmt, step), start, **written_out)
        ctx.emit(Assign(", ".join(state.results), rounds, stmt.span))
    if len(state.names) > 1:
        ctx.names.release(parameter)
    ctx.names.release(step)
    outer = {line.target for b in ctx.blocks for line in b.lines if isinstance(line, Assign) and line.target}
    kept = {n for t in outer for n in t.replace("(", "").replace(")", "").split(", ")} | set(state.names)
    _release(low, block, kept | ctx.params)


def _bitwise(stmt: eq.Fold) -> bool:
    """Whether a loop has a round for each bit of a number that is known when the function is traced, and no round loads
    anything: unrolled, they are one pass over the lanes."""
    assert stmt.axis is not None
    updates = [s.update for s in stmt.scalars]
    plain = not stmt.arrays and not stmt.body and not any(isinstance(n, eq.Read) for n in tree.walk(*updates))
    return plain and any(isinstance(n, eq.Op) and n.name == "bit_length" for n in tree.walk(stmt.axis.hi))


def _short(ctx: Context, stmt: eq.Fold) -> bool:
    """Whether a loop within another has so few rounds that XLA makes one of them (two colours of a board: 0.9 of the
    time, their gradient 0.4; on a GPU the eight bits of a byte are one kernel, not eight)."""
    assert stmt.axis is not None
    rounds = linear(stmt.axis.hi) - linear(stmt.axis.lo)
    inner = any(isinstance(s, eq.Fold) for s in tree.statements(stmt.body))
    return len(ctx.blocks) > 1 and not inner and not rounds.terms and 0 < rounds.constant <= FEW * stmt.axis.step


def round_of(ctx: Context, stmt: eq.Fold, step: str) -> Py:
    """The round as a loop calls it."""
    return remat.again(step) if remat.per_round(ctx, stmt) else Atom(step)


def _return(block: Block, state: _State, carry: list[Py]) -> None:
    last = block.lines[-1] if block.lines else None
    if len(carry) == 1 and isinstance(last, Assign) and last.target is not None and carry[0] == Atom(last.target):
        block.lines[-1] = Assign(None, last.value, last.mark)
    else:
        block.lines.append(Assign(None, state.values(carry)))


def _while(
    low: Lowering,
    stmt: eq.Fold,
    state: _State,
    block: Block,
    start_lines: list[Stmt],
    carry: list[Py],
    step: str,
    parameter: str,
) -> None:
    ctx = low.ctx
    block.lines = [*start_lines, *block.lines]
    _return(block, state, carry)
    live = ctx.names.fresh("live")
    head = Block(stmt.name)
    assert stmt.condition is not None
    for n in tree.walk(stmt.condition) if not stmt.arrays else ():
        carried = any(isinstance(x, eq.CarryIn) for x in tree.walk(n))
        if isinstance(n, eq.Reduce) and not carried and not ctx.free(n) and low.variable(n, ()) is None:
            low.define(n, ())  # what no round changes is made once
    ctx.enter(head)
    state.enter(ctx, stmt, head)
    test = low.lower(stmt.condition, ()).py
    ctx.leave()
    head.lines.append(Assign(None, test))
    if len(state.names) > 1:
        head.lines.insert(0, Assign(state.pattern(mentioned(head.lines)), Atom(parameter)))
    ctx.emit(Def(live, (parameter,), head.lines))
    ctx.emit(Def(step, (parameter,), block.lines))
    start = state.values(state.initial)
    if _differentiable(low, stmt):
        ctx.needs.add("eqxi")
        loop = py.call(
            "eqxi.while_loop", Atom(live), Atom(step), start, kind=Atom('"checkpointed"'), checkpoints=py.number(32)
        )
    else:
        loop = py.call("jax.lax.while_loop", Atom(live), Atom(step), start)
    ctx.emit(Assign(", ".join(state.results), loop, stmt.span))


def _differentiable(low: Lowering, stmt: eq.Fold) -> bool:
    kinds = [s.type for s in stmt.scalars] + [low.ctx.element(c.outside.array) for c in stmt.arrays]
    return any(k.is_inexact or k.kind == "number" for k in kinds)


def _unrolled(low: Lowering, stmt: eq.Fold, state: _State, body_of: Callable) -> None:
    """A short static loop as a Python loop over the same names."""
    ctx = low.ctx
    assert stmt.axis is not None
    for name, value in zip(state.names, state.initial, strict=True):
        if value != Atom(name):
            ctx.emit(Assign(name, value))
    index = ctx.names.fresh(stmt.axis.name)
    block = Block(stmt.name, stmt.axis.name, index, stmt.axis, unrolled=True)
    out = _round(low, stmt, block, state, body_of)
    pairs = [(n, v) for n, v in zip(state.names, out, strict=True) if v != Atom(n)]
    if len(pairs) == 1:
        block.lines.append(Assign(*pairs[0]))
    elif pairs:
        block.lines.append(Assign(", ".join(n for n, _ in pairs), py.Tup(tuple(v for _, v in pairs))))
    arguments = py.Call(Atom("range"), ctx.range_arguments(stmt.axis))
    text: Py = py.call("reversed", arguments) if stmt.reverse else arguments
    lines: list[Stmt] = block.lines
    ctx.emit(Raw(f"for {index} in {flat(text)}:", lines))
