"""Loops of raised host functions: traced ones over a state, and Python's own, unrolled when the function is traced."""

from __future__ import annotations

from typing import Protocol

from kraise.emit.blocks import Assign, Def, Raw, Stmt
from kraise.emit.hosts import carries, shared_work, structs
from kraise.emit.hosts.expressions import HostText
from kraise.emit.hosts.invariants import bound_by, hoisted
from kraise.emit.hosts.shaped import Shape, Shaped
from kraise.emit.hosts.shared_work import Parts
from kraise.emit.hosts.statics import Statics, scalars
from kraise.emit.hosts.sums import stepped
from kraise.emit.loops import remat, until
from kraise.emit.loops.folds import mentioned
from kraise.emit.text import python as py
from kraise.emit.text.names import Names
from kraise.emit.text.python import Atom, Py, flat
from kraise.ir import hosted as o
from kraise.ir import kernel as k


class Writer(Protocol):
    """What a loop needs of the function that it stands in."""

    host: o.Host
    text: HostText
    names: Names
    needs: set[str]
    shaped: Shaped
    statics: Statics
    throws: bool
    parts: Parts

    def block(self, body: tuple[o.Stmt, ...]) -> list[Stmt]:
        """The statements of a block."""
        ...

    def fresh(self, *wishes: str) -> str:
        """The first wish that is free, or the first numbered."""
        ...


class _State:
    """What a traced loop carries: how it starts, how a round takes it apart, what a round makes of it."""

    def __init__(self, writer: Writer, stmt: o.Loop):
        self.writer, self.stmt = writer, stmt
        self.text = writer.text
        self.shapes = writer.shaped.of(stmt)
        self.names = [writer.text.names[n] for n in stmt.names]
        self.one = len(self.names) == 1
        self.name = self.names[0] if self.one else writer.names.fresh("state")
        self.before: list[tuple[str, Py]] = []  # what has the loop's shape before the loop
        self.parts: dict[str, str] = {}  # the names outside of the loop for the first elements of arrays
        nexts = tuple(map(self._next, stmt.names, stmt.nexts))
        self.result: Py = nexts[0] if self.one else py.Tup(nexts)

    def start(self) -> Py:
        """What the loop starts from."""
        stmt = self.stmt
        out: list[Py] = []
        for name, value, is_array in zip(stmt.names, stmt.initial, stmt.arrays, strict=True):
            text = self.text.expr(value) if is_array else self.text.number(value, name)
            alike = stmt.condition is not None or carries.passes_through(stmt.body, name)
            if alike and not is_array and isinstance(value, k.Const | k.Var):
                dtype = carries.dtype(self.text, self.writer.host, stmt, name, value.type)
                text = text if dtype is None else py.call("jnp.asarray", text, dtype)
            shape = self.shapes.get(name)
            out.append(text if shape is None else self._from(name, text, shape))
        return out[0] if self.one else py.Tup(tuple(out))

    def outside(self) -> dict[str, Py]:
        """Arrays of the shapes with which a round begins, by its own names for them."""
        triples = zip(self.stmt.names, self.stmt.initial, self.stmt.arrays, strict=True)
        alike = {n: v for n, v, is_array in triples if is_array and n not in self.shapes}
        return {self.text.names[n]: self.text.expr(v) for n, v in alike.items()}

    def _from(self, name: str, text: Py, shape: Shape) -> Py:
        """An array in the shape in which the loop carries it: a line before the loop, where it has that name."""
        if shape.count is not None:
            own = self.writer.names.fresh(f"{self.text.names[name]}2")
            cells = py.Sub(text, (py.Slice(None, self.text.expr(shape.count)),))
            self.before.append((own, self._shaped(cells, shape)))
            self.parts[name] = own
            return Atom(own)
        if text != Atom(self.text.names[name]):
            return self._shaped(text, shape)
        self.before.append((flat(text), self._shaped(text, shape)))
        return text

    def _next(self, name: str, after: str) -> Py:
        text = Atom(self.text.names[after])
        return self._shaped(text, self.shapes[name]) if name in self.shapes else text

    def _shaped(self, text: Py, shape: Shape) -> Py:
        return py.method(text, "reshape", *map(self.text.expr, shape.extents))

    def unpacked(self, lines: list[Stmt], result: Py | None = None) -> list[Stmt]:
        """The lines after the state is taken apart; what they do not use is ``_``."""
        used = mentioned(lines if result is None else [*lines, Assign(None, result)])
        shaped = [n for n in map(self.text.names.__getitem__, self.shapes) if n in used]
        lines = [*together([(n, py.method(Atom(n), "ravel")) for n in shaped]), *lines]
        pattern = ", ".join(n if n in used else "_" for n in self.names)
        return lines if self.one else [Assign(pattern, Atom(self.name)), *lines]

    def round(self, lines: list[Stmt]) -> list[Stmt]:
        """A round: the lines, and the state after them."""
        return returned(self.unpacked(lines, self.result), self.result)

    def after(self, loop: Py) -> list[Stmt]:
        """The loop, and its arrays as they were: flat, and with the elements that it left alone."""
        targets = [self.parts.get(n, self.text.names[n]) for n in self.stmt.names]
        targets = ["_" if n in self.stmt.unused else t for n, t in zip(self.stmt.names, targets, strict=True)]
        flat_again: list[tuple[str, Py]] = []
        for name, value, target in zip(self.stmt.names, self.stmt.initial, targets, strict=True):
            if name in self.shapes and name not in self.stmt.unused:
                cells: Py = py.method(Atom(target), "ravel")
                count = self.shapes[name].count
                if count is not None:
                    first = py.Sub(py.Attr(self.text.expr(value), "at"), (py.Slice(None, self.text.expr(count)),))
                    cells = py.method(first, "set", cells)
                flat_again.append((self.text.names[name], cells))
        for word in self.parts.values():
            self.writer.names.release(word)
        return [*_apiece(self.before), Assign(", ".join(targets), loop, self.stmt.span), *_apiece(flat_again)]


def _apiece(pairs: list[tuple[str, Py]]) -> list[Stmt]:
    """Assignments a line each, where there are many and none reads what another binds."""
    bound = {n for n, _ in pairs}
    alone = all(mentioned([Assign(None, v)]) & bound <= {n} for n, v in pairs)
    return [Assign(n, v) for n, v in pairs] if alone and len(pairs) > 2 else together(pairs)


def traced(writer: Writer, stmt: o.Loop) -> list[Stmt]:
    """A loop over a state as ``fori_loop`` (counted) or equinox's while loop."""
    state = _State(writer, stmt)
    step = writer.fresh("step", "advance", "round_")
    body = writer.block(stmt.body)
    bound = {state.name, *state.names, *([writer.text.names[stmt.var]] if stmt.var else [])}
    once, body = shared_work.moved(body, bound, state.outside(), writer.parts, writer.names.fresh)
    if stmt.var:
        out = _counted(writer, stmt, state, step, body, once)
    else:
        assert stmt.condition is not None
        live = writer.names.fresh("live")
        test = state.unpacked([Assign(None, writer.text.expr(stmt.condition))])
        writer.needs.add("eqxi")
        kind, checkpoints = Atom('"checkpointed"'), py.number(32)
        loop = py.call("eqxi.while_loop", Atom(live), Atom(step), state.start(), kind=kind, checkpoints=checkpoints)
        out = [Def(live, (state.name,), test), Def(step, (state.name,), state.round(body)), *state.after(loop)]
        writer.names.release(live)
    writer.names.release(step)
    if not state.one:
        writer.names.release(state.name)
    return [*once, *out]


def _counted(
    writer: Writer, stmt: o.Loop, state: _State, step: str, body: list[Stmt], before: list[Stmt]
) -> list[Stmt]:
    assert stmt.start is not None and stmt.stop is not None and stmt.step is not None
    text = writer.text
    var = text.names[stmt.var]
    used = stmt.var in scalars(*stmt.body)
    lo, hi = text.expr(stmt.start), text.expr(stmt.stop)
    counter = var if used else "_"
    head: list[Stmt] = []
    if stmt.step != k.Const(1, stmt.step.type):
        size = text.expr(stmt.step)
        counter = writer.names.fresh("r") if used else "_"
        rounds, place = stepped(text.expr, stmt.start, stmt.stop, size, lo, hi, counter)
        if used:
            head = [Assign(var, place)]
        lo, hi = py.number(0), rounds
    segmented = remat.host_segmented(writer.host, stmt)
    if stmt.condition is not None and segmented and not writer.throws:
        return _until(writer, stmt, state, step, counter, (lo, hi), [*head, *body])
    if stmt.condition is None:
        lines = state.round([*head, *body])
    else:
        inner = writer.fresh("advance", "go_on")
        test = text.expr(stmt.condition)
        advance = Def(inner, (state.name,), state.round([*head, *body]))
        same = Atom(f"lambda {state.name}: {state.name}")
        chosen = py.call("jax.lax.cond", test, Atom(inner), same, Atom(state.name))
        lines = [*state.unpacked([Assign(None, test)])[:-1], advance, Assign(None, chosen)]
        writer.names.release(inner)
    function = "jax.lax.fori_loop"
    run: Py = Atom(step)
    first, lines = hoisted(lines, {counter, state.name}, writer.names.fresh)
    more: tuple[Py, ...] = ()
    given: tuple[str, ...] = ()
    if segmented:
        writer.needs.add(remat.LOOP)
        function = remat.LOOP
        period = remat.period(stmt)
        if period > 1 and stmt.condition is None and not any(isinstance(x, Def) for x in lines) and not writer.throws:
            writer.needs.add(remat.SWAP)
            given = _known(writer, [*before, *first], lines, [*state.names, var, counter])
            function, more = remat.SWAP, (py.Tup(tuple(map(Atom, given))), py.number(period))
    elif writer.host.remat == "full":
        run = remat.again(step)
    loop = py.call(function, lo, hi, run, state.start(), *more)
    return [*first, Def(step, (counter, state.name, *given), lines), *state.after(loop)]


def _until(
    writer: Writer,
    stmt: o.Loop,
    state: _State,
    step: str,
    counter: str,
    bounds: tuple[Py, Py],
    body: list[Stmt],
) -> list[Stmt]:
    """A loop over time that may end before its bound: the condition and a round, both as functions of the state."""
    assert stmt.condition is not None
    live = writer.fresh("live", "going", "go_on")
    test = state.unpacked([Assign(None, writer.text.expr(stmt.condition))])
    first, lines = hoisted(state.round(body), {counter, state.name}, writer.names.fresh)
    writer.needs |= {until.NAME, remat.LOOP}
    loop = py.call(until.NAME, *bounds, Atom(live), Atom(step), state.start())
    writer.names.release(live)
    return [*first, Def(live, (state.name,), test), Def(step, (counter, state.name), lines), *state.after(loop)]


def _known(writer: Writer, first: list[Stmt], lines: list[Stmt], bound: list[str]) -> tuple[str, ...]:
    """The values that a round reads, of the function and of the lines before the loop, and that are known only when it
    runs (a derivative of JAX's own that is replaced may not find them by itself)."""
    own = bound_by(lines) | {*bound}
    names = writer.text.names
    traced = [names[n] for n in names if n != "_" and n not in writer.statics.names]
    traced += [x.target for x in first if isinstance(x, Assign) and x.target is not None]
    return tuple(n for n in dict.fromkeys(traced) if n in mentioned(lines) - own)


def unrolled(writer: Writer, stmt: o.Loop) -> list[Stmt]:
    """A loop that is unrolled when the function is traced: its counters are Python's numbers."""
    names = writer.text.names
    out: list[Stmt] = []
    pairs = [(names[n], writer.text.expr(v)) for n, v in zip(stmt.names, stmt.initial, strict=True)]
    out += together([(n, v) for n, v in pairs if v != Atom(n)])
    body = writer.block(stmt.body)
    body += together([(names[a], Atom(names[b])) for a, b in zip(stmt.names, stmt.nexts, strict=True) if a != b])
    if stmt.condition is not None:
        test = flat(writer.text.expr(stmt.condition))
        if not stmt.var:
            return [*out, Raw(f"while {test}:", body)]
        body = [Raw(f"if not ({test}):", [Raw("break")]), *body]
    bounds = [writer.text.expr(e) for e in (stmt.start, stmt.stop, stmt.step) if e is not None]
    if bounds[-1] == py.number(1):
        bounds = bounds[:-1]
        bounds = bounds[1:] if bounds[0] == py.number(0) else bounds
    used = stmt.var in scalars(*stmt.body)
    head = f"for {names[stmt.var] if used else '_'} in {flat(py.Call(Atom('range'), tuple(bounds)))}:"
    return [*out, Raw(head, body)]


def returned(lines: list[Stmt], result: Py) -> list[Stmt]:
    """The lines with ``return result``; the last assignment is returned itself where it is the result."""
    last = lines[-1] if lines else None
    spelled = flat(result)[1:-1] if isinstance(result, py.Tup) else flat(result)
    if isinstance(last, Assign) and last.target is not None and last.target == spelled:
        return [*lines[:-1], Assign(None, structs.result(last.value), last.mark)]
    return [*lines, Assign(None, result)]


def together(pairs: list[tuple[str, Py]]) -> list[Stmt]:
    """Several assignments at once."""
    if not pairs:
        return []
    if len(pairs) == 1:
        return [Assign(*pairs[0])]
    return [Assign(", ".join(n for n, _ in pairs), py.Tup(tuple(v for _, v in pairs)))]
