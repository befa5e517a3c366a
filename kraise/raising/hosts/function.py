"""Host IR to values: pointers are followed, memory becomes variables, loops get the state that they carry.

Every piece of memory has a variable of the emitted function; a launch that writes the memory binds the variable anew.
Names only point: a swap moves no value, and costs nothing. A copy shares the variable until one of the two changes.

Loops. The state at the head of a round is given by *slots*: a slot is the memory that a pointer points to there. If the
pointers are permuted by a round (a swap, a rotation), the next value of a slot is the variable of the memory that the
pointer points to at the end. After the loop every pointer points to its own slot again; what has moved is only which
slot is the memory of a parameter (:class:`Memory`), by the permutation to the power of the rounds.

Side conditions, each checked: a launch that is given one piece of memory twice, and writes to it, is that of a kernel
in which these parameters are one (:mod:`.joined`); a pointer that a loop or a branch leaves at a place that depends on
data is not used afterwards; memory that the caller can see does not move in a loop whose rounds depend on data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from kraise.diagnostics import Diagnostic, Refused, Span, refuse
from kraise.ir import host as h
from kraise.ir import host_sharing
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, fresh, read_within, set_within
from kraise.ir.types import INT, ArrayType, ScalarType, StructType
from kraise.raising.hosts.apart import element_stays, keep_places, launch_stays, meet, parts, stays
from kraise.raising.hosts.banks import without_choices
from kraise.raising.hosts.choices import as_choices, joined
from kraise.raising.hosts.demands import launched
from kraise.raising.hosts.effects import Function, stores
from kraise.raising.hosts.exits import Exits
from kraise.raising.hosts.joined import in_one_place
from kraise.raising.hosts.libraries import folded
from kraise.raising.hosts.listed import with_lists
from kraise.raising.hosts.pools import NotApart, dealt_out
from kraise.raising.hosts.reach import Numbers
from kraise.raising.hosts.returns import left_behind, own_memory, with_one_return
from kraise.raising.hosts.same import one_place
from kraise.raising.hosts.state import Memory, State, View, given_member
from kraise.raising.hosts.turns import with_turns
from kraise.raising.hosts.unpacked import unpacked
from kraise.raising.hosts.views import elements, flat, seen_as

Join = Callable[[str, tuple[tuple[str, ...], ...]], tuple[str, Function] | None]


def raise_host(host: h.Host, functions: Mapping[str, Function], hosts: Mapping[str, o.Host], join: Join) -> o.Host:
    """The host function over values; ``join`` gives a kernel with several parameters as one, if any. Raises Refused."""
    from kraise.raising.hosts.dead import without_dead

    if host.name in functions:
        reason = f"a kernel is called {host.name}, too, and a module has one function of a name"
        raise refuse("KR211", reason, host.span, "rename one of them")
    host_sharing.check(host, partial(stores, {**hosts, **functions}))

    def raised(turns: bool) -> o.Host:
        try:
            return with_lists(without_dead(Raising(host, functions, hosts, join, True, turns).run()))
        except NotApart:
            return with_lists(without_dead(Raising(host, functions, hosts, join, False, turns).run()))

    try:
        return raised(True)
    except Refused:  # as it is written
        return raised(False)


class Raising:
    """One host function."""

    def __init__(
        self,
        host: h.Host,
        functions: Mapping[str, Function],
        hosts: Mapping[str, o.Host],
        join: Join,
        deal: bool,
        turns: bool,
    ):
        self.host, self.functions, self.hosts, self.join = host, functions, hosts, join
        self.slots: list[str] = []  # the variable that each slot is written under
        self.calls: dict[str, None] = {}
        self.sizes: dict[int, tuple[k.Expr, ...]] = {}  # of the slots that this function made
        self.elements: dict[int, ScalarType] = {}  # the element types of memory
        self.turned: list[tuple[int, frozenset[int]]] = []  # memory of a name, what it may be, too
        self.frozen: set[int] = set()  # slots of one memory in some round: nothing may write to them
        self.scalar_names = {p.name for p in host.params if isinstance(p.type, ScalarType)}
        self.taken = set_within(host.body) | {p.name for p in host.params}
        self.own = own_memory(host)
        self.implicit = h.gives_back(host) or bool(self.own)  # the memory of parameters is what comes back
        body = unpacked(host.body, {p.name for p in host.params}, self.taken)
        body = with_one_return(body, partial(fresh, self.taken))
        turned = with_turns(body, self.taken, {p.name for p in host.params}) if turns else body
        try:
            chosen = joined(as_choices(turned, every=not self.implicit))
            body, self.ordered = without_choices(chosen, set(self.scalar_names))
        except Refused:  # what decides is no number that is known: branches
            body, self.ordered = without_choices(joined(body), set(self.scalar_names))
        self.ordered = (*self.ordered, *host.ordered)
        self.pieces: frozenset[str] = frozenset()
        self.number = Numbers(body, {p.name for p in host.params})
        if deal:
            body, self.pieces = dealt_out(body, {p.name for p in host.params}, self.taken, self.number)
        self.apart: set[int] = set()  # the slots of pieces of a buffer
        self.body = Exits(self.taken).block(body)

    def run(self) -> o.Host:
        """The whole function."""
        from kraise.raising.hosts.flow import Flow

        state = State()
        for p in self.host.params:
            if isinstance(p.type, ArrayType | StructType):
                slot = self.slot(p.name, state, param=True)
                if isinstance(p.type, ArrayType):
                    self.elements[slot] = p.type.element
                state.points[p.name] = View(slot)
                state.values[slot] = p.name
                state.memory[p.name] = Memory((slot,))
            else:
                state.scalars.add(p.name)
        flow = Flow(self)
        rows = dict(self.host.rows)
        out: list[o.Stmt] = [o.Let((name,), flat(h.Whole(name))) for name in rows]
        returned: tuple = ()
        body = self.body
        if body and isinstance(body[-1], h.Return):
            returned, body = body[-1].values, body[:-1]
        flow.block(body, state, out, frozenset(read_within(self.body[-1:] if returned else ())))
        values: list[h.Expr | o.Rotated] = []
        memory: list[str] = []
        for value in returned:
            if isinstance(value, k.ArrayRef) and value.array in self.own and value.array not in state.points:
                values.append(self._in_memory(value.array, state))
                memory.append(value.array)
            elif isinstance(value, k.ArrayRef):
                values.append(self.array(value, state))
                memory.append(self._memory_of(value, state))
            else:
                values.append(self.expr(value, state))
                memory.append("")
        if h.gives_back(self.host):
            for p in self.host.params:
                if p.name in state.written and p.name not in memory:
                    found = self._in_memory(p.name, state)
                    if p.name in rows and isinstance(found, o.Rotated):
                        own = fresh(self.taken, f"{p.name}_last")
                        out.append(o.Let((own,), found))
                        found = h.Whole(own)
                    values.append(seen_as(found, rows[p.name], self.host.span) if p.name in rows else found)  # type: ignore[arg-type]
                    memory.append(p.name)
        if not values:
            reason = f"{self.host.name} changes no array of its caller and returns nothing"
            raise refuse(
                "KR211", reason, self.host.span, "return what it computes, or copy it to an array of the caller"
            )
        host = self.host
        return o.Host(
            host.name, host.params, tuple(out), tuple(values), tuple(memory), tuple(sorted(state.written)),
            left_behind(host, state.written, memory),
            dropped=host.dropped, state=host.state, calls=tuple(self.calls), ordered=self.ordered, span=host.span,
        )  # fmt: skip

    def _memory_of(self, ref: k.ArrayRef, state: State) -> str:
        view = state.points.get(ref.array)
        for name, memory in state.memory.items():
            if view is not None and view.offset is None and ref.offset is None and memory == Memory((view.slot,)):
                return name
        return ""

    def _in_memory(self, name: str, state: State) -> h.Expr | o.Rotated:
        memory = state.memory[name]
        if memory is None:
            reason = f"which array is in the memory of {name} at the end depends on data"
            hint = "return the arrays, or copy the result into the caller's array after the loop"
            raise refuse("KR211", reason, self.host.span, hint)
        variables = tuple(state.values[s] or name for s in memory.slots)
        if memory.rounds is None or len(set(variables)) == 1:
            return h.Whole(variables[0])
        return o.Rotated(variables, memory.rounds)

    # --- slots and values

    def slot(self, wish: str, state: State, param: bool = False) -> int:
        """New memory, its variable called ``wish`` if no other memory in use is."""
        name, number = wish, 2
        pointed = {v.slot for n, v in state.points.items() if n != wish}
        kept = {s for m in state.memory.values() if m is not None for s in m.slots} if self.implicit else set()
        busy = {self.slots[s] for s in pointed | kept} | {state.values.get(s) for s in pointed | kept}
        while not param and (name in busy or name in self.scalar_names or (number > 2 and name in self.taken)):
            name, number = f"{wish}_{number}", number + 1
        self.taken.add(name)
        self.slots.append(name)
        return len(self.slots) - 1

    def view(self, name: str, state: State, span: Span | None) -> View:
        """Where a name points. Refused where that depends on data, or is nowhere."""
        if name not in state.points:
            raise refuse("KR211", f"where {name} points to here is not known", span, "use one name for one array")
        return state.points[name]

    def written(self, slot: int, state: State, out: list[o.Stmt], span: Span | None) -> str:
        """The variable under which new contents of a slot are bound; values that share it are saved first."""
        name = self.slots[slot]
        if slot in self.frozen:
            raise refuse("KR211", f"{name} may be the memory of another array, too, here", span, "copy one of them")
        pointed = {v.slot for v in state.points.values()}
        kept = {s for m in state.memory.values() if m is not None for s in m.slots} if self.implicit else set()
        for other, value in list(state.values.items()):
            if value == name and other != slot and self.slots[other] != name and other in pointed | kept:
                out.append(o.Let((self.slots[other],), h.Whole(name), span))
                state.values[other] = self.slots[other]
        for parameter, memory in state.memory.items():  # one whose memory is not known may be written, too
            if (memory is None and self.implicit) or (memory is not None and slot in memory.slots):
                state.written.add(parameter)
        state.values[slot] = name
        return name

    def fills(self, slot: int, count: k.Expr) -> bool:
        """Are so many elements all of a piece of memory that this function made?"""
        size = self.sizes.get(slot)
        return size is not None and (size[0] == count or self.number(size[0]) == self.number(count))

    def forget(self, names: set[str]) -> None:
        """Sizes that mention scalars with new values say nothing any more."""
        for slot in [s for s, size in self.sizes.items() if names & set(expression_names(size))]:
            del self.sizes[slot]

    # --- expressions

    def array(self, ref: k.ArrayRef | h.Whole, state: State) -> h.Whole:
        """The value that an array reference has now."""
        view = self.view(ref.array, state, ref.span)
        variable = state.values.get(view.slot)
        if variable is None:
            raise refuse("KR211", f"{ref.array} has no defined value here", ref.span)
        offset = self.scalar(ref.offset, state) if ref.offset is not None else None
        if view.offset is not None:
            offset = view.offset if offset is None else k.Op("add", (view.offset, offset), offset.type)
        count = self.scalar(ref.count, state) if isinstance(ref, h.Whole) and ref.count is not None else None
        if isinstance(ref, h.Whole) or offset is not None:
            stays(self, View(view.slot, offset), count)
        count = None if offset is None and count is not None and self.fills(view.slot, count) else count
        clamps = isinstance(ref, h.Whole) and ref.clamps and count is not None
        return h.Whole(variable, offset, count, clamps, span=ref.span)

    def scalar(self, e: k.Expr, state: State) -> k.Expr:
        """A scalar expression, arrays by their variables."""
        return self.expr(e, state)  # type: ignore[return-value]

    def expr(self, e: h.Expr | k.ArrayRef, state: State) -> h.Expr:
        """An expression, arrays by their variables."""
        match e:
            case h.Whole() | k.ArrayRef():
                return self.array(e, state)
            case k.Load(array=array, subscripts=subscripts):
                whole = self.array(k.ArrayRef(array, span=e.span), state)
                moved = tuple(self.scalar(s, state) for s in subscripts)
                element_stays(self, self.view(array, state, e.span), moved)
                if whole.offset is not None:
                    moved = (k.Op("add", (whole.offset, moved[0]), moved[0].type), *moved[1:])
                return replace(e, array=whole.array, subscripts=moved)
            case k.Shape(array=array):
                view = self.view(array, state, e.span)
                if view.slot in self.sizes and e.axis == 0 and view.offset is None:
                    return self.sizes[view.slot][0]
                return replace(e, array=self.array(k.ArrayRef(array, span=e.span), state).array)
            case k.Op(args=args):
                return replace(e, args=tuple(self.expr(a, state) for a in args))  # type: ignore[misc]
            case k.Cast(arg=arg):
                return replace(e, arg=self.expr(arg, state))  # type: ignore[arg-type]
            case h.Record(members=members):
                return replace(e, members=tuple(self.expr(m, state) for m in members))
            case h.Library(args=args):
                return one_place(self, e, state) or folded(replace(e, args=tuple(self.expr(a, state) for a in args)))
            case k.Var(name=name) if name in state.known and state.known[name].value in (-1, 0, 1):
                return state.known[name]
            case k.Var(name=name) if name not in state.scalars:
                hint = "it was never set, or is made of what is not followed: an error code, a time, input"
                raise refuse("KR207", f"{name} has no value here", e.span, hint)
        return e

    # --- calls

    def launch(self, stmt: h.Launch, state: State, out: list[o.Stmt]) -> None:
        """A launch: a call whose results are the written arrays."""
        function = self.functions.get(stmt.function)
        if function is None:
            raise Refused(*self.not_raised(stmt.function, stmt.span))
        name, given = stmt.function, stmt.args
        groups = in_one_place(self, function, given, state)
        if groups and (found := self.join(name, groups)) is not None:
            removed = {n for g in groups for n in g[1:]}
            given = tuple(a for p, a in zip(function.params, given, strict=False) if p.name not in removed)
            name, function = found
        self.calls[name] = None
        results = function.results()
        written = [key for keys in results for key, changed in keys if changed]
        args, slots = self.arguments(name, function.params, given, state, stmt.span)
        if function.scalars != len(stmt.results):
            reason = f"{stmt.function} returns {function.scalars} values, and {len(stmt.results)} are taken"
            raise refuse("KR211", reason, stmt.span)
        grid, block, needs = launched(self, function, stmt, args, state)
        shared = None
        if function.shared and stmt.grid is not None:
            bytes_ = self.scalar(stmt.shared, state) if stmt.shared is not None else k.Const(0, INT)
            shared = elements(bytes_, function.shared)
        sizes = (*(1 for _ in stmt.results), *map(len, results)) if function.members else ()
        if function.whole:
            reason = f"{name} changes other arrays beside those of the struct {function.whole[0]}"
            raise refuse("KR211", reason, stmt.span, "pass the members of the struct one by one")
        launch_stays(self, function, args, slots, grid, block)
        args = parts(self, function, args, slots, state, grid, block)
        self.distinct(name, written, slots, stmt.span)
        call = o.Call(name, args, grid, block, shared, sizes, function.fields, needs)
        views = [slots[key] if changed else None for keys in results for key, changed in keys]
        self._bind(stmt.results, views, call, state, out, stmt.span)

    def not_raised(self, name: str, span: Span | None):
        reason = f"{name}, which is launched here, was not raised"
        return (Diagnostic("KR212", reason, span, f"the diagnostics of {name} say why"),)

    def arguments(self, name, params, given, state: State, span: Span | None):  # type: ignore[no-untyped-def]
        """The arguments as values, and the views of the array parameters."""
        if len(given) > len(params) or any(p.default is None for p in params[len(given) :]):
            raise refuse("KR211", f"{name} takes {len(params)} arguments, {len(given)} are given", span)
        args: list[h.Expr] = []
        views: dict[str, View] = {}
        for param, value in zip(params, given, strict=False):
            is_array = isinstance(param.type, ArrayType) or (isinstance(param.type, StructType) and param.type.is_array)
            if is_array != isinstance(value, k.ArrayRef) and not isinstance(param.type, StructType):
                kind = "an array" if is_array else "a scalar"
                raise refuse("KR211", f"{param.name} of {name} is {kind}, and another thing is passed", span)
            if isinstance(value, k.ArrayRef):
                whole = self.array(value, state)
                view = self.view(value.array, state, value.span)
                views[param.name] = View(view.slot, whole.offset, bool(value.rows))
                args.append(seen_as(whole, value.rows, value.span) if value.rows else whole)
            elif isinstance(value, h.Structs):
                parts: tuple[Any, ...] = tuple(
                    self.array(m, state) if isinstance(m, k.ArrayRef) else self.expr(given_member(m, state), state)
                    for m in value.members
                )
                for (member, _), ref, whole in zip(value.struct.members, value.members, parts, strict=True):
                    if not isinstance(ref, k.ArrayRef):
                        continue
                    slot = self.view(ref.array, state, value.span).slot
                    views[f"{param.name}.{member}"] = View(slot, whole.offset)
                args.append(replace(value, members=parts))
            else:
                args.append(self.expr(value, state))
        return tuple(args), views

    def distinct(self, name: str, written, views: Mapping[str, View], span: Span | None) -> None:  # type: ignore[no-untyped-def]
        """Refuses a call that writes to memory which it is given a second time."""
        for param in written:
            twice = [p for p, v in views.items() if p != param and meet(self, v, views[param])]
            if twice:
                reason = f"{name} writes {param}, and {twice[0]} is the same memory here"
                hint = "pass distinct arrays: copy one of them first (a thread may read what another has written)"
                raise refuse("KR211", reason, span, hint)

    def _bind(self, results, views, call, state: State, out: list[o.Stmt], span: Span | None) -> None:  # type: ignore[no-untyped-def]
        """``results, written arrays = call``."""
        keep_places(self, set(results), state, out, span)
        targets: list[str] = list(results)
        puts: list[tuple[View, str]] = []
        for view in views:
            if view is None:  # a member that keeps its values
                targets.append("_")
            elif view.is_whole:
                targets.append("")
            else:
                part = fresh(self.taken, f"{self.slots[view.slot]}_{'rows' if view.in_rows else 'part'}")
                targets.append(part)
                puts.append((view, part))
        plain = iter([v for v in views if v is not None and v.is_whole])
        names = [t or self.written(next(plain).slot, state, out, span) for t in targets]
        out.append(o.Let(tuple(names), call, span))
        for view, part in puts:
            self.put(view, part, state, out, span)
        state.set_scalars(results)
        self.forget(set(results))

    def put(self, view: View, part: str, state: State, out: list[o.Stmt], span: Span | None) -> None:
        """What a callee left of a part of memory, or of memory that it saw as rows, is put back."""
        value: h.Expr = flat(h.Whole(part)) if view.in_rows else h.Whole(part)
        base = state.values[view.slot] or self.slots[view.slot]
        name = self.written(view.slot, state, out, span)
        out.append(
            o.Let(
                (name,),
                value if view.in_rows and view.offset is None else o.Put(base, value, None, view.offset, view.count),
                span,
            )
        )
