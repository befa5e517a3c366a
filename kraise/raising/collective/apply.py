"""A run of statements that a simulation explains, put into the symbolic run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.analysis.poly import to_expr, to_poly
from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, topological
from kraise.raising.carried.freely import own_only
from kraise.raising.collective.cases import LADDERS, POWERS, POWERS_OF_WARPS, TWO, TWO_WARPS, WARPS, Case, demand
from kraise.raising.collective.choices import choice
from kraise.raising.collective.describe import Cell, Chosen, Copy, Found, Heads, Running, Total
from kraise.raising.collective.frame import Frame, frame
from kraise.raising.collective.marks import Beyond
from kraise.raising.collective.memory import Touch
from kraise.raising.collective.opened import by_warps, shuffles, starts, touches
from kraise.raising.collective.plan import Plan, Trials, plan_of
from kraise.raising.collective.relative import pairs, scaled
from kraise.raising.collective.requests import Apart, Joint, Lanes, Sized
from kraise.raising.collective.segments import running_of_segment
from kraise.raising.collective.simulate import Simulation
from kraise.raising.collective.sizes import fits, of_warps, sizes
from kraise.raising.collective.tied import ask
from kraise.raising.memory.phases import barrier
from kraise.raising.memory.private import held
from kraise.raising.memory.tree_reductions import tree
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned
from kraise.raising.run.state import LocalArray, RawWrite, State
from kraise.raising.run.values import Cell as Place
from kraise.raising.run.values import access, resolve
from kraise.raising.threads.spelled import bare, number
from kraise.raising.writes.accumulate import neutral_of

ZERO, ONE = eq.Const(0, INT), eq.Const(1, INT)


def collective(cx: Context, st: State, stmts: tuple[k.Stmt, ...], after: list[frozenset[str]]) -> int:
    """Runs the first few of ``stmts`` in ``st`` if the threads compute sums or running sums in them together; returns
    how many, 0 if they do not. ``after`` are the locals that are read after each.

    Raises:
        Lanes, Apart, Sized, Tied: the indices must be bound in another way for it.
    """
    if not stmts or not cx.cooperative or not starts(cx, st, stmts[0]):
        return 0
    if cx.unroll and not shuffles(stmts[0]):
        return 0  # it was tried before the loops were written out
    found = frame(cx)
    if found is None or (found.rows and not shuffles(stmts[0])):
        return 0
    if (relative := pairs(stmts[0], after[0])) is not None:
        trial = st.copy()
        if _longest(cx, trial, (relative.tree,), after[:1], found) and scaled(cx, st, trial, relative):
            st.become(trial)
            return 1
    asked = [run for run in cx.each if run.start == stmts[0].span]
    if asked:
        most = min(run.count for run in asked) - 1
        done = _longest(cx, st, stmts[:most], after[:most], found) if most else 0
        if done or not any(run.whole for run in asked):
            return done
    return _longest(cx, st, stmts, after, found)


def _longest(cx: Context, st: State, stmts: tuple[k.Stmt, ...], after: list[frozenset[str]], found: Frame) -> int:
    known = to_poly(found.extent).value
    cases = [Case((known,))] if known is not None else [WARPS, POWERS, POWERS_OF_WARPS, TWO_WARPS]
    if known is None and not any(shuffles(s) or by_warps(s) for s in stmts):
        if isinstance(stmts[0], k.While) and tree(cx, st, stmts[0], after[0]):
            return 1  # that rule proves it for more sizes
        cases = [] if isinstance(stmts[0], k.Store) else [POWERS, TWO, TWO_WARPS]
    fitting = {case: case.sizes for case in cases}
    if known is None:  # no launch is wider than a shared array that each thread writes
        fitting = {case: tuple(s for s in case.sizes if fits(cx, st, found, s)) for case in cases}
    whole = [c for c in cases if fitting[c] == c.sizes]
    parts = [c for c in cases if fitting[c] and c not in whole]
    trials = Trials(cx, st, stmts, after, found)
    for outlets in (False, True):
        if outlets and not trials.stored:
            break
        for case in whole:
            plan = plan_of(trials, case.sizes, outlets)
            if plan is not None:
                plan = _with_outlets(trials, plan, case.sizes)
                for size, upto in of_warps(cx, st, stmts, plan.count) if known is None else ():
                    if trials.needs(size, upto, WARPS.sizes):
                        raise Sized(size)
                for size in _named(cx) if known is None else ():
                    alone = plan_of(trials, (size,), bool(plan.sim.outlets) or trials.stored)
                    if alone is not None and alone.count > plan.count:
                        raise Sized(size)  # what the source takes for a block's size explains more of it
                return _carry_out(cx, st, plan, found, case)
        for size in sizes(cx, st, stmts[0], found) if known is None else ():
            plan = plan_of(trials, (size,), outlets)
            if plan is not None and not plan.sim.by_extent:
                raise Sized(size)  # the source counts on it: it never asks how many threads there are
        for case in (*parts, *(LADDERS if known is None and whole else ())):
            plan = plan_of(trials, fitting.get(case, case.sizes), outlets)
            if plan is not None:
                return _carry_out(cx, st, plan, found, case)
    if known is None:
        ask(cx, st, stmts, after, found, (POWERS.sizes, TWO.sizes))
    return 0


def _named(cx: Context) -> list[int]:
    """The numbers of whole warps that the source takes for a block's size: ``blockIdx.x * 256 + threadIdx.x``."""
    products = [n.args for n in walked(cx.function.body) if isinstance(n, k.Op) and n.name == "mul"]
    first = [(bare(a), number(b)) for args in products for a, b in (args, args[::-1])]
    of_block = {n for a, n in first if isinstance(a, k.Hw) and (a.kind, a.axis) == ("block", 0) and n}
    return sorted(n for n in of_block if n % cx.warp == 0 and n <= max(WARPS.sizes))


def _with_outlets(trials: Trials, plan: Plan, sizes: tuple[int, ...]) -> Plan:
    """A longer run that takes in a store: what is stored (``y[i] = v + before``) may have a form where the locals that
    it is made of have none. Only where the threads go on together before it."""
    longer = plan_of(trials, sizes, outlets=True) if trials.stored and not plan.sim.outlets else None
    more = () if longer is None else walked(longer.stmts[plan.count :])
    return longer if longer and any(isinstance(n, k.For | k.While | k.Barrier | k.Warp) for n in more) else plan


# --- carried out -----------------------------------------------------------------------------


def _carry_out(cx: Context, st: State, plan: Plan, found: Frame, case: Case) -> int:
    span = next((s.span for s in plan.stmts if touches(cx, st, s)), plan.stmts[0].span)
    everything = [f for f in (*plan.locals.values(), *plan.arrays.values()) if f is not None]
    groups = {_group(f) for f in everything} - {None}
    # warps that meet no other may come here under conditions of their own
    by_warp = all(f is None or isinstance(f, Heads) for f in plan.arrays.values())
    by_block = bool(plan.sim.barriers or (plan.sim.arrays and not by_warp) or 0 in groups)
    if not by_block and found.lane is None:
        raise Lanes
    moving = found.moving if by_block else frozenset((found.lane.name,))  # type: ignore[union-attr]
    if any(free_indices(c) & moving and c not in cx.launch_path for c in st.path):
        return 0
    if any(g and found.lane is None for g in groups):  # type: ignore[truthy-bool]
        raise Lanes
    if any(g is not None and g > cx.warp for g in groups):
        return 0
    source = _Source(cx, st, plan.sim, found)
    try:
        env = {n: source.local(f) for n, f in plan.locals.items()}
        writes = [w for a, f in plan.arrays.items() for w in source.array(a, f, span)]
    except (ValueError, Beyond):
        return 0
    from kraise.raising.run.statements import statement

    for s in plan.kept:
        statement(cx, st, s, frozenset())
    cx.runs += 1
    if plan.sim.barriers:
        _touched(cx, st, plan.sim.first, f"run {cx.runs}, before", span)
        barrier(cx, st, k.Barrier(span=span))
        _touched(cx, st, plan.sim.touched(), f"run {cx.runs}, after", span)
    else:  # rounds of a loop around it are not kept apart by a barrier
        looped = st.folds or any(n not in cx.thread_names for n in st.open)
        _touched(cx, st, plan.sim.touched(), "" if looped else f"run {cx.runs}", span)
    for raw, partial in writes:
        st.out.append(raw)
        st.versions[raw.after.array] = raw.after
        if partial:
            cx.trees.add(raw.after)
            cx.clobbered.add(raw.after)
    for n in assigned(plan.stmts):
        st.env.pop(n, None) if n not in {s.name for s in plan.kept} else None
        st.partial.pop(n, None)
    for n, (e, where) in env.items():
        st.env[n] = e
        if where is not None:
            st.partial[n] = where
            run = Joint(plan.stmts[0].span, plan.count, _group(plan.locals[n]) in (0, cx.warp))
            runs = {run} if run.count > 1 or not run.whole else set()
            cx.halves[where] = cx.halves.get(where, frozenset()) | runs
        if not n.startswith("$"):
            st.names.setdefault(e, eq.Name(e, n, span))
    for out in plan.outlets():
        statement(cx, st, out, frozenset())
    for o in plan.sim.outlets or ():
        for n in o.names:
            st.env.pop(n, None)
    if by_block and found.extent is not None:
        demand(cx, case)
    what = sorted({type(f).__name__ for f in everything})
    line = span.line if span else "?"
    form = "running values" if "Running" in what else "a reduction"
    over = "the block's axis" if groups <= {0} else "the lanes of a warp"
    cx.note(f"joint computation (line {line}): {form} over {over}")
    return plan.count


def _group(f: Found) -> int | None:
    match f:
        case Total(group=g) | Running(group=g) | Chosen(group=g):
            return g
        case Cell():
            return 0
        case Heads(value=total):
            return total.group
    return None


def _touched(cx: Context, st: State, touches: dict[str, Touch], label: str, span: Span | None) -> None:
    """The accesses between two barriers, as far as other statements may meet them: those of one ``label`` do not meet
    each other."""
    own = cx.threads["thread", 0]
    for array, t in touches.items():
        name = resolve(cx, st, array)
        prefix = tuple(eq.Index(n, INT) for n in st.locals[name].prefix)
        for happened, keeps, write in ((t.reads, t.own_reads, False), (t.writes, t.own_writes, True)):
            if happened:
                st.order += 1
                cell = own if keeps else eq.Index(f"$any{st.order}", INT)
                rows = [eq.Index(f"$row{st.order}_{n}", INT) for n in range(len(st.locals[name].shape) - 1)]
                # the simulation keeps to the cells that there are
                inside = eq.Op("lt", (cell, st.locals[name].shape[-1]), BOOL)
                path = (*st.path, eq.Op("ge", (cell, ZERO), BOOL), inside)
                place = Place(name, (*prefix, *rows, cell))
                st.accesses.append(access(st, place, path, write, together=label, span=span))


@dataclass
class _Source:
    """Values before the run, and what is made of them."""

    cx: Context
    st: State
    sim: Simulation
    found: Frame

    def local(self, f: Found) -> tuple[eq.Expr, eq.Expr | None]:
        """The value of a local, and where it has it (None: everywhere)."""
        found = self.found
        thread = self.cx.threads["thread", 0]
        match f:
            case Total(group=0):
                where = eq.Op("eq", (thread, ZERO), BOOL) if f.first else None
                return self.total(f), where
            case Total(group=g):
                lane = found.lane
                assert lane is not None
                start = self._segment(lane, g)
                x = self._fresh("lane")
                at: eq.Expr = x if start is None else operation("add", (start, x), INT)
                body = found.at_lane(self._datum(f.family), at)
                total: eq.Expr = eq.Reduce(f.op, (eq.Axis(x.name, ZERO, eq.Const(g, INT)),), body, None, body.type)
                within = lane if start is None else operation("mod", (lane, eq.Const(g, INT)), INT)
                where = eq.Op("eq", (within, ZERO), BOOL) if f.first else None
                return self._with_literal(f, total, body), where
            case Running(group=g) if g in (0, self.cx.warp):
                index = thread if g == 0 else found.lane
                if not isinstance(index, eq.Index):
                    if g == 0 and self.cx.lane is None:
                        raise Apart
                    raise Beyond("the thread is no index of its own")
                extent = found.extent if g == 0 else eq.Const(g, INT)
                body = self._own(f.family, index)
                return self._scan(f, index, extent, body), None
            case Chosen(group=0):
                return choice(self, f, self.st.path), eq.Op("eq", (thread, ZERO), BOOL) if f.first else None
            case Chosen(group=g):
                assert found.lane is not None
                within = operation("mod", (found.lane, eq.Const(g, INT)), INT)
                return choice(self, f, self.st.path), eq.Op("eq", (within, ZERO), BOOL) if f.first else None
            case Running():
                return running_of_segment(self, f), None
            case Copy(family=family) if isinstance(thread, eq.Index) or not family.startswith("["):
                return self._own(family, thread), None
        raise Beyond("no form")

    def array(self, array: str, f: Found | None, span: Span | None) -> list[tuple[RawWrite, bool]]:
        """The writes to ``array``, each with whether other cells are unknown after it."""
        cx, st = self.cx, self.st
        name = resolve(cx, st, array)
        local = st.locals[name]
        before, after = st.versions[name], cx.version(name)
        prefix = self._row(local)
        x = self._fresh("t")
        path = tuple(c for c in st.path if not free_indices(c) & self.found.moving)
        loops = tuple(n for n in (*st.open, *cx.blocks) if n not in self.found.moving and n not in st.folds)
        loops = tuple(dict.fromkeys(loops))
        match f:
            case Running(cells=cells, family=family) | Copy(cells=cells, family=family):
                extent = self._count(family, cells, array)
                inside = (eq.Op("ge", (x, ZERO), BOOL), eq.Op("lt", (x, extent), BOOL))
                body = self._cell(family, x, (*path, *inside))
                value = body if isinstance(f, Copy) else self._scan(f, x, extent, body)
                full = (*loops, x.name)
                return [(RawWrite(before, after, full, (*path, *inside), (*prefix, x), value, "", (), span), False)]
            case Cell(at=at, value=total):
                subs = (*prefix, eq.Const(at, INT))
                value = choice(self, total, path) if isinstance(total, Chosen) else self.total(total, path)
                return [(RawWrite(before, after, loops, path, subs, value, "", (), span), True)]
            case Heads(value=total):
                value, where = self.local(replace(total, first=True))
                full = tuple(dict.fromkeys((*loops, *(n for n in st.open if n in self.found.moving))))
                subs = (*prefix, cx.threads["thread", 0])
                more = () if where is None else (where,)
                return [(RawWrite(before, after, full, (*st.path, *more), subs, value, "", (), span), True)]
        # nothing is known of its cells: a store of nothing known to none of them
        never = (*path, eq.Op("lt", (ONE, ZERO), BOOL))
        blank = eq.Const(0, INT)
        return [(RawWrite(before, after, loops, never, (*prefix, ZERO), blank, "", (), span), True)]

    def total(self, f: Total, path: tuple[eq.Expr, ...] | None = None) -> eq.Expr:
        """The sum over the block."""
        x = self._fresh("t")
        extent = self._count(f.family, f.cells, f.family[1:-1])
        inside = (eq.Op("ge", (x, ZERO), BOOL), eq.Op("lt", (x, extent), BOOL))
        body = self._cell(f.family, x, (*(self.st.path if path is None else path), *inside))
        return self._with_literal(f, eq.Reduce(f.op, (eq.Axis(x.name, ZERO, extent),), body, None, body.type), body)

    def _with_literal(self, f: Total, total: eq.Expr, body: eq.Expr) -> eq.Expr:
        if f.literal is None:
            return total
        if isinstance(body, eq.Op) and body.name == f.op and any(_number_is(a, f.literal) for a in body.args):
            return total  # each datum is beyond it already
        more = eq.Op(f.op, (total, eq.Const(f.literal, body.type)), body.type)
        if not f.full or (threads := self.found.extent) is None:
            return more
        return simplify.select(eq.Op("lt", (threads, eq.Const(f.full, INT)), BOOL), more, total, body.type)

    def _count(self, family: str, cells: str, array: str) -> eq.Expr:
        if cells == "all":
            return self.st.locals[resolve(self.cx, self.st, array)].shape[-1]
        return to_expr(to_poly(self.found.extent) * (2 if cells == "twice" else 1))

    def _cell(self, family: str, x: eq.Index, path: tuple[eq.Expr, ...]) -> eq.Expr:
        """Datum ``x`` of the family."""
        if not family.startswith("["):
            return self.found.at(self._datum(family), x)
        return self._held(family, x, path)

    def _held(self, family: str, cell: eq.Expr, path: tuple[eq.Expr, ...]) -> eq.Expr:
        """What a cell of a shared array held."""
        cx, st = self.cx, self.st
        name = resolve(cx, st, family[1:-1])
        subs = (*self._row(st.locals[name]), cell)
        body = held(cx, replace(st, path=path), name, subs)
        if body is None:
            if st.versions[name] in cx.clobbered:
                raise Beyond("cells that are not known")
            body = eq.Read(st.versions[name], subs, st.locals[name].type)
        return body

    def _row(self, local: LocalArray) -> tuple[eq.Expr, ...]:
        """The subscripts of the first row of a shared array of this block."""
        return (*(eq.Index(n, INT) for n in local.prefix), *(ZERO for _ in local.shape[1:]))

    def _own(self, family: str, index: eq.Expr) -> eq.Expr:
        """The thread's own datum: a local, or the cell of its number."""
        if family.startswith("[") and isinstance(index, eq.Index):
            return self._cell(family, index, self.st.path)
        return self._datum(family)

    def _datum(self, family: str) -> eq.Expr:
        if family.startswith("["):
            return self._held(family, self.cx.threads["thread", 0], self.st.path)
        own_only(self.cx, self.st, self.st.env[family], self.found.moving | free_indices(self.cx.threads["thread", 0]))
        return self.st.env[family]

    def _scan(self, f: Running, index: eq.Index, extent: eq.Expr, body: eq.Expr) -> eq.Expr:
        init = neutral_of(f.op, body)
        if init is None:
            if not f.inclusive:
                raise Beyond("no first value")
            init = eq.Const(float("inf") if f.op == "min" else float("-inf"), body.type)
        return eq.Scan(f.op, eq.Axis(index.name, ZERO, extent), body, init, f.inclusive, f.reverse, body.type)

    def _segment(self, lane: eq.Index, group: int) -> eq.Expr | None:
        within = operation("mod", (lane, eq.Const(group, INT)), INT)
        return None if group == self.cx.warp else operation("sub", (lane, within), INT)

    def _fresh(self, name: str) -> eq.Index:
        used = [r.value for r in self.st.out if isinstance(r, RawWrite)]
        nodes = topological((*used, *self.st.env.values()))
        names = {n.name for n in nodes if isinstance(n, eq.Index)}
        bound = {a.name for n in nodes if isinstance(n, eq.Reduce) for a in n.axes}
        return self.cx.index(name, (*self.st.open, *self.cx.blocks, *names, *bound))


def _number_is(e: eq.Expr, value: float) -> bool:
    return isinstance(e, eq.Const) and isinstance(e.value, int | float) and float(e.value) == value
