"""Loops that stay: folds over whole arrays (raising.md, step 5, last two forms).

All threads, and all rounds of the free loops around, take a round of the fold together. Lanes that are done (a while
loop, a range that differs from lane to lane) keep their state under a mask. Carried scalars become arrays over the
indices on which they depend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from kraise.analysis.boxes import Unbounded, box
from kraise.analysis.conditions import conjunction
from kraise.analysis.dependence import may_meet
from kraise.diagnostics import refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute, topological, transform
from kraise.raising.carried.problem import Declined, Problem, moved
from kraise.raising.carried.rules import IN_FOLD
from kraise.raising.collective.opened import shuffles
from kraise.raising.loops.cells import Carried, Moving, enter_cells, enter_moving, leave_cells, next_round
from kraise.raising.loops.changes import changed, stored, written
from kraise.raising.loops.lanes import lanes_of, narrowed, within
from kraise.raising.loops.one_way import behind, since_start
from kraise.raising.loops.placeholders import placeholders
from kraise.raising.loops.ranges import Range
from kraise.raising.loops.stacked import stacked
from kraise.raising.loops.stepped import stepped
from kraise.raising.loops.uniform import depending
from kraise.raising.memory.left_over import loaded
from kraise.raising.memory.phases import level
from kraise.raising.memory.private import check_known
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import same_cell, tidy
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import exposed, reads
from kraise.raising.run.state import Raw, RawFold, RawWrite, State, expressions, map_access, map_raw

FIRST = "$first"  # whether a loop that tests last is in its first round


class Sequential(Exception):
    """A loop was to have free rounds, and has not."""


def fold_loop(cx: Context, st: State, s: k.For, rng: Range, live: frozenset[str], carried: Carried) -> None:
    """Runs a counted loop as a fold.

    Raises:
        Refused: its range is not known when the function is traced.
    """
    bounds = rng.conjuncts()
    try:
        found = box((rng.index.name,), tuple(dict.fromkeys((*bounds, *st.path))), st.open)
    except Unbounded as unbounded:
        if unbounded.name in cx.thread_names:
            raise
        raise refuse(
            "KR205",
            "the number of rounds of this loop is not known when the function is traced "
            f"({unbounded.name} depends on data)",
            s.span,
            "bound the loop by a parameter or a shape",
        ) from None
    alive = conjunction([c for c in found.residue if c in bounds])
    fold = Folding(cx, st, s, rng.index, live, carried, rng)
    fold.enter(bounds)
    fold.run(lambda _: alive)
    fold.close(rng)
    fold.leave(found.axes[0], reverse=rng.step < 0)
    st.facts = (*st.facts, *behind(st, s.body, None, fold.carries, fold.inits, rng))
    if s.var in live:
        last = fold.problem.last()
        runs = fold.problem.runs
        st.env[s.var] = last if s.var not in st.env else simplify.select(runs, last, st.env[s.var], INT)


def _surely(body: tuple[k.Stmt, ...]) -> list[k.Assign]:
    """The assignments that the first round makes whatever the data; flags of exits are down in it."""
    out: list[k.Assign] = []
    for s in body:
        match s:
            case k.Assign():
                out.append(s)
            case k.If(condition=k.Op(name="not", args=(k.Var(name=flag),)), body=inner) if flag.startswith("$"):
                return [*out, *_surely(inner)]
    return out


class Folding:
    """One fold in the making: entered, run once symbolically, its carries closed, then put into the state around."""

    def __init__(
        self,
        cx: Context,
        st: State,
        s: k.For | k.While,
        index: eq.Index,
        live: frozenset[str],
        carried: Carried,
        rng: Range | None,
    ):
        self.cx, self.st, self.s, self.index, self.live = cx, st, s, index, live
        self.carried, self.rng = carried, rng
        self.var = s.var if isinstance(s, k.For) else ""
        self.accesses_from = 0
        self.final: dict[str, eq.Expr] = {}
        self.mapping: list[dict[eq.Expr, eq.Expr]] = []

    def enter(self, bounds: tuple[eq.Expr, ...]) -> None:
        """Placeholders for what is carried: scalars over all lanes, and the arrays that the body writes."""
        cx, st = self.cx, self.st
        self.names = enter_cells(cx, st, self.carried, self.s)
        for x in _surely(self.s.body):  # what it has after no round at all is never read
            if x.name in self.live and x.name not in st.env:
                st.env[x.name] = eq.Const(False if x.type.kind == "bool" else 0, x.type)
        outer = dict(st.slides)
        self.slides: Moving = {}
        if self.rng is not None:
            rng = self.rng
            self.slides = enter_moving(cx, st, self.carried, rng, self.s)
        active = (
            *(local for _, local in st.cells.values()),
            *(local for cells in st.slides.values() for _, local in cells),
        )
        self.lanes = lanes_of(tuple(n for n in st.open if n not in st.folds), st.path, st.open)
        self.inner = inner = st.copy()
        inner.before, inner.out = [*st.before, *st.out], []
        st.slides = outer
        moves = {} if self.rng is None or not isinstance(self.s, k.For) else stepped(cx, inner, self.s, self.rng)
        self.final |= {n: end for n, (_, end) in moves.items()}
        found, self.inits = placeholders(cx, inner, self.s.body, self.index.name, extra=active, var=self.var)
        found = {n: c for n, c in found.items() if n not in moves}
        self.name = next(iter(found.values())).fold if found else cx.fold(self.index.name)
        joint = shuffles(self.s.body)  # the loop must be known to have the same rounds for all lanes
        among = depending(cx, st, self.s, {n: self.inits[n] for n in found}, bounds) if joint else None
        self.carries = {n: eq.CarryIn(self.name, n, self._lanes_of(n, among), c.type) for n, c in found.items()}
        inner.env |= self.carries | {n: now for n, (now, _) in moves.items()}
        if self.var:
            inner.env[self.var] = self.index
            inner.partial.pop(self.var, None)
        inner.open = (*inner.open, self.index.name)
        inner.folds = (*inner.folds, self.index.name)
        inner.path = tuple(dict.fromkeys((*inner.path, *bounds)))
        more = since_start(inner, self.s, self.carries, self.inits, self.rng)
        inner.facts = tuple(dict.fromkeys((*inner.facts, *more)))
        self.bounds = bounds

    def _begin(self, written: list[str]) -> None:
        """A round's start: the arrays that the body writes hold what the rounds before left."""
        cx, before = self.cx, self.inner
        self.inner = inner = before.copy()
        self.written = written
        self.entries = {a: cx.version(a) for a in written}
        self.outside = {a: before.versions[a] for a in written}
        cx.clobbered |= {self.entries[a] for a in written if self.outside[a] in cx.clobbered}
        inner.versions |= self.entries
        self.accesses_from = len(inner.accesses)

    def _lanes_of(self, name: str, among: dict[str, frozenset[str]] | None) -> tuple[eq.Axis, ...]:
        return self.lanes if among is None else tuple(a for a in self.lanes if a.name in among[name])

    def run(self, condition: Callable[[State], eq.Expr | None]) -> eq.Expr | None:
        """The body, once; lanes for which the ``condition`` that comes back does not hold keep their scalars (their
        stores are under the same condition).

        Which arrays it writes is told by what stores there are, where the run bears that out: loops in loops are run a
        second time only where it does not.
        """
        before, plain = self.inner, stored(self.cx, self.inner, self.s)
        alive = self._run(plain if plain is not None else written(self.cx, before, self.s, self.live), condition)
        if plain is not None and (found := changed(before, self.inner, self.entries)) != plain:
            self.inner = before
            alive = self._run(found, condition)
        return alive

    def _run(self, written: list[str], condition: Callable[[State], eq.Expr | None]) -> eq.Expr | None:
        from kraise.raising.run.statements import block

        self._begin(written)
        alive = condition(self.inner)
        after = self.live | exposed(self.s.body, self.live)
        if isinstance(self.s, k.While):
            after |= reads(self.s.condition)
        with level(self.cx, self.inner, self.s.body, self.index.name, self.rng.step if self.rng else 0):
            block(self.cx, self.inner, self.s.body, after)
        next_round(self.inner, self.slides)
        self.carries = {n: c for n, c in self.carries.items() if n in self.inner.env}
        self.bare = {n: self.inner.env[n] for n in self.carries}
        self.updates = dict(self.bare)
        if alive is not None:
            self.updates = {
                n: simplify.select(alive, u, self.carries[n], self.carries[n].type) for n, u in self.bare.items()
            }
        self.raws = self.inner.out
        self.condition_uses = [] if alive is None else [alive]
        return alive

    def close(self, rng: Range | None) -> None:
        """Carried scalars that are functions of the index, or that nothing needs, are not carried."""
        zero = eq.Const(0, INT)
        self.problem = Problem(
            self.index,
            rng.start if rng else zero,
            rng.stop if rng else zero,
            rng.step if rng else 1,
            self.bounds,
            self.st.path,
            self.st.open,
            self.carries,
            self.inits,
            self.updates,
            lambda: [*self.condition_uses, *(e for r in self.raws for e in expressions(r))],
            list(self.carries),
            changing=self._changing,
        )
        p = self.problem
        p.pending = [n for n in self.carries if _needed(p, n, self.live)]
        every = [*p.updates.values(), *p.uses()]
        elsewhere = {n: moved(c, every) for n, c in self.carries.items()}
        while rng is not None:
            solved = _closed(p, [n for n in p.pending if not elsewhere[n]])
            if solved is None:
                break
            values, mapping = solved
            self.final |= values
            p.pending = [n for n in p.pending if n not in values]
            self._map(partial(_tidied, mapping))
        left = {n: self.carries[n] for n in p.pending}
        self.narrow = narrowed(left, self.inits, p.updates, self.lanes)
        others: dict[eq.Expr, eq.Expr] = {m: self._at(n, m) for n in left for m in elsewhere[n]}
        if any(m is not own for m, own in others.items()):
            self._map(lambda e: transform(e, lambda x: others.get(x, x)))
        self._map(self.mapped)

    def _changing(self, node: eq.Expr) -> bool:
        """Whether a node is a load of an array that the rounds store to, or make, or the result of a loop in them."""
        match node:
            case eq.Read(version=version):
                return version not in self.st.versions.values()
            case eq.FoldResult(fold=fold):
                return any(fold in _folds_of(r) for r in self.raws)
        return False

    def _at(self, name: str, other: eq.CarryIn) -> eq.CarryIn:
        """What is carried, at another lane, with the lanes that are left."""
        own = self.carries[name]
        left = self.narrow[own]
        assert isinstance(left, eq.CarryIn)
        axes = tuple(a for a, mine in zip(other.axes, own.axes, strict=True) if mine in left.axes)
        return eq.CarryIn(other.fold, other.name, axes, other.type)

    def from_outside(self, array: str, raw: RawWrite) -> dict[eq.Expr, eq.Expr]:
        """Loads of the cell that a round is about to store, and of cells that no earlier round stores, as loads of what
        the array held before the loop."""
        entry = self.entries[array]
        nodes = topological([*(e for r in self.raws for e in expressions(r)), *self.problem.updates.values()])
        return {
            n: eq.Read(self.outside[array], n.subscripts, n.type, n.view)
            for n in nodes
            if isinstance(n, eq.Read)
            and n.version is entry
            and (same_cell(n.subscripts, raw.subscripts) or self._apart(array, n))
        }

    def _apart(self, array: str, node: eq.Read) -> bool:
        """Whether no earlier round stores what a load on entry to a round loads."""
        own = [a for a in self.inner.accesses[self.accesses_from :] if a.array == array]
        loads = [a for a in own if a.node is node]
        shared, earlier = frozenset(self.st.open), "<" if self.problem.step > 0 else ">"
        return bool(loads) and not any(
            may_meet(w, r, (self.index.name,), shared, earlier, self.cx.injective)
            for w in own
            if w.write
            for r in loads
        )

    def assume(self, condition: eq.Expr, as_: eq.Expr = simplify.TRUE) -> None:
        """``condition`` holds in every round, or where ``as_`` does: it need not be tested."""
        self._map(partial(_tidied, {self.mapped(condition): self.mapped(as_)}))

    def number(self, axis: eq.Axis) -> None:
        """Whether a round is the first is said by its number."""
        if FIRST in self.problem.pending:
            self.problem.pending.remove(FIRST)
            is_first = eq.Op("eq", (self.index, axis.lo), BOOL)
            self._map(partial(_tidied, {self.narrow[self.carries[FIRST]]: is_first}))

    def mapped(self, e: eq.Expr) -> eq.Expr:
        return substitute(e, self.narrow)

    def _map(self, fn: Callable[[eq.Expr], eq.Expr]) -> None:
        inner, at = self.inner, self.accesses_from
        self.raws = [map_raw(r, fn) for r in self.raws]
        self.problem.updates = {n: fn(u) for n, u in self.problem.updates.items()}
        inner.accesses[at:] = [map_access(a, fn) for a in inner.accesses[at:]]
        inner.names = {fn(e): eq.Name(fn(e), n.name, n.span) for e, n in inner.names.items()}

    def leave(self, axis: eq.Axis | None, *, reverse: bool = False, condition: eq.Expr | None = None) -> None:
        """Puts the fold into the state around it; carried scalars are its results there."""
        cx, st, inner, p = self.cx, self.st, self.inner, self.problem
        scalars: list[eq.ScalarCarry] = []
        results: dict[str, eq.Expr] = {}
        for n in p.pending:
            node = self.narrow[self.carries[n]]
            assert isinstance(node, eq.CarryIn)
            scalars.append(eq.ScalarCarry(n, node.axes, self.inits[n], p.updates[n], node.type))
            results[n] = eq.FoldResult(self.name, n, node.axes, node.type)
        lifted = {} if axis is None else stacked(self, p.pending)
        along = () if axis is None else (axis,)
        outputs: list[eq.Output] = []
        after: list[RawWrite] = []
        gone = {raw.after for raw, *_ in lifted.values()}
        instead: dict[eq.Expr, eq.Expr] = {}
        for a, (raw, *_) in lifted.items():
            instead |= self.from_outside(a, raw)
        for a, (raw, value, row) in lifted.items():
            value = substitute(value, instead)
            lanes = within(tuple(x for x in self.lanes if x.name in raw.loops and x.name in free_indices(value)))
            lanes = (*lanes, *(x for x in row if x.name in free_indices(value)))
            name = f"${a}.out"
            outputs.append(eq.Output(name, lanes, value, value.type))
            result = cx.version(a)
            stack = eq.FoldResult(self.name, name, (*lanes, *along), value.type)
            loops = (*raw.loops, self.index.name)
            after.append(replace(raw, before=self.outside[a], after=result, loops=loops, value=stack))
            st.versions[a] = result
        if lifted:
            kept = [r for r in self.raws if not (isinstance(r, RawWrite) and r.after in gone)]
            self.raws = [map_raw(r, lambda e: substitute(e, instead)) for r in kept]
            scalars = [replace(c, update=substitute(c.update, instead)) for c in scalars]
        arrays = []
        for a in self.written:
            if a in lifted:
                continue
            result = cx.version(a)
            if inner.versions[a] in cx.clobbered:
                cx.clobbered.add(result)
                if a in st.locals and loaded(cx, self.raws, self.entries[a]):
                    check_known(cx, a, result, self.s.span)
            arrays.append(eq.ArrayCarry(self.outside[a], self.entries[a], inner.versions[a], result))
            st.versions[a] = result
        st.accesses, st.order, st.locals, st.names = inner.accesses, inner.order, inner.locals, inner.names
        st.rungs = inner.rungs
        fold = eq.Fold(self.name, axis, tuple(scalars), tuple(arrays), (), reverse, condition, span=self.s.span)
        st.out.append(RawFold(replace(fold, outputs=tuple(outputs)), tuple(self.raws)))
        st.out.extend(after)
        for n in dict.fromkeys((*self.carries, *self.final)):
            st.env.pop(n, None)
            if n in results:
                st.env[n] = results[n]
                if not n.startswith("$"):
                    st.names.setdefault(results[n], eq.Name(results[n], n, self.s.span))
            elif n in self.final:
                st.env[n] = self.final[n]
        for local in (local for cells in self.slides.values() for local in cells):
            st.env.pop(local, None)
        leave_cells(cx, st, self.carried, self.names, self.s)


def _folds_of(raw: Raw) -> Iterator[str]:
    if isinstance(raw, RawFold):
        yield raw.fold.name
        for inner in raw.body:
            yield from _folds_of(inner)


def _tidied(mapping: dict[eq.Expr, eq.Expr], e: eq.Expr) -> eq.Expr:
    return tidy(substitute(e, mapping))


def _needed(p: Problem, name: str, live: frozenset[str]) -> bool:
    return name in live or name.startswith("$") or p.used_in(name)


def _closed(p: Problem, names: list[str]) -> tuple[dict[str, eq.Expr], dict[eq.Expr, eq.Expr]] | None:
    for rule in IN_FOLD:
        for name in names:
            answer = rule(p, name)
            if not isinstance(answer, Declined):
                return answer.final, answer.replace
    return None
