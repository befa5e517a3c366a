"""One function of the source to one raised kernel: the middle of the machine, step by step."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kraise.analysis.boxes import Unbounded, box
from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly, to_poly
from kraise.diagnostics import Refused, refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.print_equations import equation_lines
from kraise.ir.walk import free_indices, map_statement, statements, topological
from kraise.options import Options
from kraise.raising import narrow
from kraise.raising.assumptions import declared
from kraise.raising.checked import with_checks
from kraise.raising.checked_extents import extents
from kraise.raising.checked_once import with_counts
from kraise.raising.collective.inline import inlined
from kraise.raising.gradients.demand import make_safe
from kraise.raising.loops import roots
from kraise.raising.loops.moving_rows import by_rows
from kraise.raising.loops.periodic import in_turns
from kraise.raising.loops.registers import registers
from kraise.raising.loops.rungs import loop
from kraise.raising.loops.settled_flags import without_settled
from kraise.raising.loops.sorting import as_sorts
from kraise.raising.loops.stages import in_stages
from kraise.raising.loops.unrolled import unrolled
from kraise.raising.loops.whiles import while_loop
from kraise.raising.loops.whole_bounds import with_whole_bounds
from kraise.raising.memory import blank, from_end, outside, partly, parts, pitched
from kraise.raising.memory.bounds import mark
from kraise.raising.memory.entry_rows import entries
from kraise.raising.memory.padded import without_gaps
from kraise.raising.memory.phases import cooperative, uniform_barriers
from kraise.raising.memory.privatised import without_private_copies
from kraise.raising.memory.races import check
from kraise.raising.memory.unread import private_extents, store_sites, without_unread
from kraise.raising.optimistic import message, open_checks, strongest
from kraise.raising.ragged.segments import flattened
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.calls import call, called, written
from kraise.raising.run.context import Context
from kraise.raising.run.exits import structure
from kraise.raising.run.parameters import array_names, collect_types, enter_parameter
from kraise.raising.run.state import Raw, RawFold, RawWrite, State, expressions
from kraise.raising.run.statements import block
from kraise.raising.threads import groups, multiples, radices, rounds, tiles
from kraise.raising.threads import indices as threads
from kraise.raising.threads import launch as launches
from kraise.raising.threads.elements import elements_bounded
from kraise.raising.threads.hardware import names_of
from kraise.raising.threads.limits import limits
from kraise.raising.threads.splits import Splitting, own_splits, split_threads
from kraise.raising.threads.unguarded import asks_where_given
from kraise.raising.writes.by_element import by_element
from kraise.raising.writes.dead import without_dead
from kraise.raising.writes.exchanged import exchanged
from kraise.raising.writes.finish import finish, finished
from kraise.raising.writes.fuse import fuse, started, summed
from kraise.raising.writes.index_sets import at_places, split
from kraise.raising.writes.interleaved import as_before, interleaved, versions_read
from kraise.raising.writes.operands import within_operands
from kraise.raising.writes.reread import reread
from kraise.raising.writes.rewritten import from_before
from kraise.raising.writes.shifted import shifted
from kraise.raising.writes.single_lanes import without_single_lanes
from kraise.raising.writes.squeezed import as_values, squeezed
from kraise.raising.writes.trailing import copied_after
from kraise.raising.writes.two_digits import taken_apart

Returned = tuple[eq.Version | eq.Expr, ...]
Marked = tuple[tuple[eq.Stmt, ...], Returned, list[tuple[eq.Expr, eq.Expr]]]


class Raiser:
    """The steps for one function, with the launch bounding the thread indices in ``bounded``."""

    def __init__(self, module: k.Module, function: k.Function, options: Options, bounded: frozenset[str]):
        self.cx = Context(module, function)
        self.options = options
        self.bounded = bounded
        self.splits: list[tuple[str, eq.Expr]] = []
        self.strided: set[str] = set()
        self.digits: dict[str, str] = {}
        self.whole: set[str] = set()
        self.ways: threads.Ways = {}
        self.st = State()
        self.inlined: tuple[k.Stmt, ...] = ()
        self.returns: tuple[k.ArrayRef | None, ...] = ()
        self.cx.calls = called(module, function)
        self.cx.injective = frozenset(declared(options.assume, "injective"))
        self.cx.once = frozenset(declared(options.assume, "once"))
        self.cx.loop = partial(loop, self.cx)
        self.cx.while_loop = partial(while_loop, self.cx)
        self.cx.call = partial(call, self.cx)

    def run(self) -> eq.Kernel:
        cx, function = self.cx, self.cx.function
        cx.cooperative = cooperative(cx)
        body = structure(function)
        body.body = without_gaps(with_whole_bounds(inlined(cx.module, function, body.body, cx.registers)))
        body.body = from_end.counted(body.body, cx.from_end)
        if cx.apart:
            before, body.body = body.body, parts.split(body.body)
            cx.parts = parts.made(body.body) if body.body is not before else frozenset()
        if cx.tile_rows:
            body.body = pitched.enter(cx, body.body)
        live = frozenset(f"$ret{i}" for i in range(len(body.returns)))
        body.body = in_turns(cx, body.body, live)
        self.inlined = body.body
        if cx.unroll:
            body.body = unrolled(cx, body.body, self.ways)
        if cx.registers:
            body.body = registers(body.body)
        self.returns = body.returns
        collect_types(cx, body.body)
        st = self.st
        cx.most = limits(body.body) if cx.shared else {}
        cx.sites = store_sites(cx)
        for p in function.params:
            enter_parameter(st, p.name, p.type)
        multiples.enter(cx, st)
        cx.warp = self.ways.get(threads.LANES, cx.warp)
        indices, path = threads.bind(cx, names_of(function), self.bounded, self.ways)
        groups.enter(cx, st)
        cx.divisible = set(indices) - self.whole
        forced = threads.lanes(cx, indices, self.ways)
        splits = [*forced, *(() if forced else radices.as_splits(cx, indices, cx.radices)), *self.splits]
        for name, _ in forced:
            taken = {p.name for p in function.params}
            low, high = ("lane" if "lane" not in taken else "lane_x"), ("warp" if "warp" not in taken else "warp_x")
            self.digits = {f"{name}_low": low, f"{name}_high": high} | self.digits
            cx.lane = self.digits[f"{name}_low"]
            cx.whole_of = {self.digits[f"{name}_high"]: name, cx.lane: name}
            if 0 in cx.named:  # the template's integer is whole warps, too
                st.env[cx.named[0].name] = cx.threads["blockDim", 0]
        cx.splitting = Splitting(splits, self.digits, self.whole, self.strided)
        cx.thread_names, path = split_threads(cx, indices, path, own_splits(cx))
        cx.launch_path = (*cx.launch_path, *(c for c in path if c not in cx.launch_path))
        st.facts = cx.facts
        if cx.tied:
            from kraise.raising.collective import tied  # loads numpy

            tied.enter(cx, st)
        for array in array_names(function):
            st.versions[array] = cx.version(array)
        for c in cx.module.constants:
            if c.shape:
                st.versions.setdefault(c.name, cx.version(c.name))
        st.open, st.path = cx.thread_names, path
        st.path = (*st.path, *cx.assumed, *rounds.counted(cx))
        try:
            block(cx, st, body.body, live)
            uniform_barriers(cx, st.accesses)
            shared = frozenset(n for n, a in cx.made.items() if a.shared)
            check(cx, st.accesses, cx.thread_names, shared, self.held, st.out)
            outside.check(cx, st)
            partly.settle(cx, st)
            blank.check_defined(cx)
            parts.check(cx, st)
            pitched.check(cx, st)
            without_private_copies(cx, st)
            without_unread(cx, st, body.returns)
            private_extents(cx, st)
            for a in sorted(cx.injective & set(st.versions)):
                cx.assumptions.append(f"{a} is injective (declared)")
                cx.relied.append(eq.Check(f"{a} is not injective", distinct=eq.Version(a, 0)))
            cx.assumptions += [f"no two threads store to one element of {a} (declared)" for a in sorted(cx.said_once)]
            _bounded_by_guards(cx, st.out)
            rounds.as_indices(cx, st)
            st.out = shifted(st.out, st.names, st.accesses, tuple(a.name for a in cx.rounds_around))
            st.out = exchanged(st.out, shapes_of(st), st.names)
            facts = (*cx.facts, *cx.assumed, *(c for c, _ in cx.checks))
            grid = tiles.Launch(facts, named(st), frozenset((*cx.thread_names, *cx.blocks)))
            own = as_before(st.out)
            joined = interleaved(cx, own, self._seen_versions(body.returns, own), grid)
            plain = len(joined) == len(own)  # then each store loads what is there when it is made
            st.out = interleaved(cx, st.out, self._seen_versions(body.returns, st.out), grid) if plain else joined
            stmts = copied_after(finish(st.out, shapes_of(st), cx.rounds_around, grid, st.names))
            stmts = tuple(by_element(s, grid.names) for s in stmts)
            stmts = split(stmts, (*cx.assumed, *(c for c, _ in cx.checks)), self._leaving)
        except Unbounded as unbounded:
            if unbounded.name not in cx.thread_names:
                reason = f"the range of {unbounded.name} is not known when the function is traced"
                raise refuse("KR205", reason, function.span, "bound it by a parameter or a shape") from None
            raise
        returns = self._returns(st, body.returns)
        stmts, returns, parted = taken_apart(cx, stmts, returns, grid.facts)
        stmts, returns, changed = self._marked(stmts, returns)
        values = tuple(r for r in returns if not isinstance(r, eq.Version))
        stmts, single = without_single_lanes(stmts, (*values, *self._checked()))
        stmts = at_places(stmts)
        known = tuple(st.names.values())
        for n, e in zip(known, finished(n.expr for n in known), strict=True):
            st.names.setdefault(e, replace(n, expr=e))
        for old, new in (*parted.items(), *changed):
            if old in st.names:
                st.names.setdefault(new, replace(st.names[old], expr=new))
        st.names = {(e := single(n.expr)): replace(n, expr=e) for n in st.names.values()}
        versions = frozenset(r for r in returns if isinstance(r, eq.Version)) | {
            n.version for n in topological(values) if isinstance(n, eq.Read)
        }
        shapes, seen = shapes_of(st), [*values, *self._checked()]
        stmts = within_operands(cx, summed(stmts, (*cx.assumed, *(c for c, _ in cx.checks))))
        named_arrays = frozenset(v.array for v in versions) | _read(seen)
        stmts, shapes = squeezed(stmts, shapes, named_arrays)
        stmts, scalars = as_values(fuse(started(stmts, shapes), versions, shapes), shapes, named_arrays)
        st.names = {n.expr: n for n in scalars} | st.names
        stmts = reread(from_before(without_dead(stmts, versions, seen), versions, shapes), st.names)
        stmts = as_sorts(stmts, (*versions, *(n.version for n in topological(seen) if isinstance(n, eq.Read))))
        for simpler in (partial(without_settled, others=seen), roots.outside, partial(by_rows, cx=cx), in_stages):
            stmts, renamed = simpler(stmts)
            st.names = {(e := renamed(n.expr)): replace(n, expr=e) for n in st.names.values()}
        if cx.lane is not None:
            apart = self.ways.get(0, 1) < 0
            counted = partial(threads.without_warps, cx.block_size(), cx.warp, apart)
            stmts = tuple(map_statement(s, counted) for s in stmts)
            returns = tuple(r if isinstance(r, eq.Version) else counted(r) for r in returns)
            st.names = {counted(e): n for e, n in st.names.items()}
            st.names = {e: replace(n, expr=e) for e, n in st.names.items()}
            cx.checks = [(counted(c), text) for c, text in cx.checks]
            cx.assumed = tuple(map(counted, cx.assumed))
        for sizes, resolved in ((cx.multiples, multiples.resolved), (cx.groups, groups.resolved)):
            if not sizes:
                continue
            back = partial(resolved, cx)
            stmts = tuple(map_statement(s, back) for s in stmts)
            returns = tuple(r if isinstance(r, eq.Version) else back(r) for r in returns)
            st.names = {(e := back(n.expr)): replace(n, expr=e) for n in st.names.values()}
            cx.checks = [(back(c), text) for c, text in cx.checks]
            cx.assumed = tuple(map(back, cx.assumed))
        ends = finished(n.expr for n in st.names.values())
        every = [v for n, e in zip(st.names.values(), ends, strict=True) for v in (n, replace(n, expr=e))]
        lines = equation_lines(eq.Kernel(function.name, function.params, stmts, returns, tuple(every)))
        named_values = {n.expr: n for n in reversed(every)}
        stmts, returns = flattened(cx, stmts, returns, named_values)
        names = (*every, *(n for n in named_values.values() if n not in every))
        launch, ndrange = launches.launch_of(cx, stmts)
        if not launches.covers_asked(cx.assumed, launch, ndrange):
            launch, ndrange = "required", ()
        asked = any(asks_where_given(c, cx.cooperative) for c, _ in cx.checks)
        if not launch and (asked or launches.guessed(cx, self.ways, self.inlined)):
            launch = "optional"  # nothing in the text looks at it, but it must be as wide as the rows
        launches.whole_warps(cx, stmts)
        covers, least, of_launch = launches.counted_on(cx, stmts, st.accesses, launch)
        fitting, fits = narrow.checks(stmts, returns, function.params, cx.module.language == "python")
        kernel = eq.Kernel(
            function.name,
            function.params,
            stmts,
            returns,
            names,
            helpers=tuple(cx.helpers.values()),
            launch=launch,
            ndrange=ndrange,
            doc=function.doc,
            equations=lines,
            assumptions=tuple(dict.fromkeys((*cx.assumptions, *fits))),
            checks=(
                *filter(None, (launches.where_given(launch, c) for c in open_checks(tuple(cx.checks), function.span))),
                *open_checks(tuple((c, message(c)) for c in strongest(cx.assumed)), function.span),
                *open_checks(tuple(fitting), function.span),
            ),
            choices=(*(f"line {line}, {name}: {text}" for (line, name), text in sorted(st.rungs.items())), *cx.notes),
            covers=covers,
            least=least,
            tile=tuple((axis, cx.coarse.get(axis, size)) for axis, size in sorted(cx.tile.items())),
            relied=tuple(dict.fromkeys(r.message for r in cx.relied)),
            of_launch=of_launch,
            rounds=cx.rounds_around,
            one_row=function.one_row,
            one_line=function.one_line,
            widens=function.widens,
            must_be=function.must_be,
            span=function.span,
        )
        kernel = make_safe(kernel)
        if self.options.checked:
            tables = {c.name: c.shape for c in cx.module.constants if c.shape}
            static, traced = extents(kernel.body, {*array_names(function)})
            kernel = replace(kernel, checks=(*kernel.checks, *static), body=(*traced, *kernel.body))
            checked = with_checks(kernel, tuple(dict.fromkeys(cx.relied)), cx.ragged_arrays, tables)
            return with_counts(checked, cx.said_once)
        return kernel

    def _seen_versions(self, arrays: tuple[k.ArrayRef | None, ...], out: list[Raw]) -> frozenset[eq.Version]:
        """The versions that are read, returned or checked."""
        st, kept = self.st, {r.array for r in arrays if r is not None}
        looked = {n.version for n in topological((*st.env.values(), *self._checked())) if isinstance(n, eq.Read)}
        return versions_read(out) | looked | {v for a, v in st.versions.items() if a in kept}

    def _marked(self, stmts: tuple[eq.Stmt, ...], returns: Returned) -> Marked:
        cx = self.cx
        accesses, tables = _unchecked(cx, self.st.accesses), entries(cx.of_tables)
        return mark(stmts, returns, accesses, cx.tail, frozenset(cx.named.values()), cx.rounds_around, tables)  # type: ignore[return-value]

    def _leaving(self, stmts: tuple[eq.Stmt, ...]) -> frozenset[eq.Version]:
        """The stores in which a load may leave its array."""
        marked = [s for s in statements(self._marked(stmts, ())[0]) if isinstance(s, eq.Write)]
        return frozenset(
            s.after for s in marked if any(isinstance(n, eq.Read) and n.safe for n in topological((s.value,)))
        )

    def unrolls(self, sized: bool = True) -> bool:
        """Whether there are loops with barriers that could be written out; not ``sized``: whatever a block's size."""
        return self.cx.cooperative and unrolled(self.cx, self.inlined, self.ways if sized else {}) != self.inlined

    def seen(self) -> list[eq.Expr]:
        """What the run has computed so far."""
        st = self.st
        out = [*st.env.values(), *st.path]
        for a in st.accesses:
            out += [*a.subscripts, *a.path]
        return out

    def held(self) -> list[eq.Expr]:
        """All expressions in which what was loaded may occur."""
        return [*self.seen(), *(e for r in self.st.out for e in expressions(r))]

    def _checked(self) -> list[eq.Expr]:
        """What is read besides the statements' own values and what is returned: what is checked."""
        cx = self.cx
        return [*(c for c, _ in cx.checks), *cx.assumed, *(r.condition for r in cx.relied if r.condition is not None)]

    def _returns(self, st: State, arrays: tuple[k.ArrayRef | None, ...]) -> tuple[eq.Version | eq.Expr, ...]:
        """What the function gives back: what it returned, then the arrays that it wrote and did not return."""
        out: list[eq.Version | eq.Expr] = []
        named: set[str] = set()
        for i, ref in enumerate(arrays):
            if ref is None:
                v = st.env.get(f"$ret{i}")
                if v is None:
                    raise refuse("KR207", "this function does not return a value on every path", self.cx.function.span)
                out.append(v)
            else:
                named.add(ref.array)
                out.append(st.versions[ref.array])
        own = [a for a in array_names(self.cx.function) if a not in named]
        stored = written(self.cx.module, self.cx.function)
        out += [st.versions[a] for a in own if a in stored]
        if not out:
            raise refuse("KR299", f"`{self.cx.function.name}` writes and returns nothing", self.cx.function.span)
        return tuple(out)


def named(st: State) -> tuple[tuple[Poly, str], ...]:
    """The source's names for sums of indices."""
    out: dict[Poly, str] = {}
    for name, v in st.env.items():
        if not name.startswith("$") and isinstance(v, eq.Op) and index_like(v):
            out.setdefault(to_poly(v), name)
    return tuple(out.items())


def _read(exprs: list[eq.Expr]) -> frozenset[str]:
    """The arrays that are read."""
    return frozenset(n.version.array for n in topological(exprs) if isinstance(n, eq.Read))


def _bounded_by_guards(cx: Context, raws: list[Raw]) -> None:
    """A thread's index must be bounded by a guard of its own (which the launch covers): that a loop in it happens to be
    empty beyond some value says nothing of how many threads there are. One that is thread and rounds together takes all
    elements of its loop, however many threads there are.

    Raises:
        Unbounded: only the launch bounds a thread's index.
    """
    threads_only = set(cx.thread_names)
    for raw in raws:
        if isinstance(raw, RawFold):
            _bounded_by_guards(cx, list(raw.body))
        elif isinstance(raw, RawWrite) and not set(raw.loops) & set(cx.blocks):
            own = tuple(n for n in raw.loops if n in threads_only and n not in cx.whole_rows)
            inner = tiles.spread(raw) if cx.lane is not None else raw
            around = tuple(n for n in inner.loops if n not in raw.loops)  # lanes that a sum runs over
            guards = tuple(c for c in inner.path if free_indices(c) <= threads_only | set(around))
            try:
                box(own, guards, around)
            except Unbounded:
                if not elements_bounded(inner, own):
                    raise


def _unchecked(cx: Context, accesses: list[Access]) -> list[Access]:
    """The accesses without the conditions on sizes that the emitted function checks: they hold."""
    checked = {*cx.assumed, *(c for c, _ in cx.checks)}
    return [replace(a, path=tuple(c for c in a.path if c not in checked)) for a in accesses] if checked else accesses


def shapes_of(st: State) -> dict[str, tuple[eq.Expr, ...]]:
    """The shapes of the arrays that the kernel made."""
    return {name: (*local.extents, *local.shape) for name, local in st.locals.items()}


__all__ = ["Raiser", "Refused"]
