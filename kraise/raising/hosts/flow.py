"""The statements of a host function in order: what each does to pointers and values, loops and branches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraise.diagnostics import refuse
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, live_before, read_within, reads, set_within
from kraise.ir.types import INT, NUMBER, ScalarType
from kraise.raising.hosts.apart import element_stays, keep_places, stays
from kraise.raising.hosts.calls import call_host
from kraise.raising.hosts.dead import variables
from kraise.raising.hosts.same import decided, unconditional
from kraise.raising.hosts.state import Memory, State, View
from kraise.raising.hosts.stayed import thaw

if TYPE_CHECKING:
    from kraise.raising.hosts.function import Raising


class _Moved(Exception):
    """The branches of an ``if`` leave a pointer at different places that is used after it."""


class Flow:
    """Runs statements on a state and puts out what they compute."""

    def __init__(self, raising: Raising):
        self.r = raising
        self.r.scalar_names |= _scalars(raising.body)

    def block(self, body: tuple[h.Stmt, ...], state: State, out: list[o.Stmt], after: frozenset[str]) -> None:
        """``body`` in order; ``after`` are the names that matter after it."""
        for at, stmt in enumerate(body):
            rest = body[at + 1 :]
            later = live_before(rest, after)
            taken = decided(self.r, unconditional(stmt), state)
            if len(taken) != 1:
                self.block(taken, state, out, later)
                continue
            (stmt,) = taken
            if isinstance(stmt, h.If):
                trial, trial_out = state.copy(), len(out)
                try:
                    self.branch(stmt, state, out, later)
                except _Moved:  # each branch goes on with the rest by itself
                    del out[trial_out:]
                    vars(state).update(vars(trial))
                    whole = replace(stmt, body=(*stmt.body, *rest), orelse=(*stmt.orelse, *rest))
                    try:
                        self.branch(whole, state, out, after)
                    except _Moved as moved:
                        raise refuse("KR211", f"where {moved} points to depends on data", stmt.span) from None
                    return
            else:
                self.statement(stmt, state, out, later)

    def statement(self, stmt: h.Stmt, state: State, out: list[o.Stmt], later: frozenset[str]) -> None:
        """One statement."""
        r = self.r
        thaw(r, stmt, state, later)
        match stmt:
            case h.Assign(name=name, value=value):
                keep_places(r, {name}, state, out, stmt.span)
                out.append(o.Let((name,), r.expr(value, state), stmt.span))
                r.forget({name})
                state.scalars.add(name)
                state.known.pop(name, None)
                if isinstance(value, k.Const):
                    state.known[name] = value
            case h.Alloc():
                self.alloc(stmt, state, out)
            case h.Bind(name=name, value=value, element=element):
                found = r.expr(value, state)
                slot = r.slot(name, state)
                if isinstance(found, h.Whole) and found.offset is None and found.count is None and element is None:
                    state.values[slot] = found.array  # shared until one of the two changes
                    assert isinstance(value, h.Whole)
                    source = state.points[value.array].slot
                    if source in r.sizes:
                        r.sizes[slot] = r.sizes[source]
                    if source in r.elements:
                        r.elements[slot] = r.elements[source]
                else:
                    if isinstance(found, h.Whole) and found.count is not None and not found.clamps:
                        r.sizes[slot] = (found.count,)
                    if (
                        isinstance(value, h.Whole)
                        and element is None
                        and (kind := r.elements.get(r.view(value.array, state, stmt.span).slot))
                    ):
                        r.elements[slot] = kind
                    target = r.written(slot, state, out, stmt.span)
                    out.append(o.Let((target,), o.Cast(found, element) if element is not None else found, stmt.span))
                state.points[name] = View(slot)
            case h.Update():
                self.update(stmt, state, out)
            case h.Store(array=array, subscripts=subscripts, value=value):
                view = r.view(array, state, stmt.span)
                where = tuple(r.scalar(s, state) for s in subscripts)
                element_stays(r, view, where)
                if view.offset is not None:
                    where = (k.Op("add", (view.offset, where[0]), where[0].type), *where[1:])
                put = o.Put(r.array(k.ArrayRef(array), state).array, r.expr(value, state), where)
                out.append(o.Let((r.written(view.slot, state, out, stmt.span),), put, stmt.span))
            case h.Point(names=names, sources=sources):
                views = []
                for ref in sources:
                    assert isinstance(ref, k.ArrayRef)  # raising.hosts.banks left no choice
                    view = r.view(ref.array, state, ref.span or stmt.span)
                    if ref.offset is not None:
                        offset = r.scalar(ref.offset, state)
                        view = View(view.slot, offset if view.offset is None else _sum(view.offset, offset))
                    views.append(view)
                state.points.update(zip(names, views, strict=True))
            case h.Launch():
                r.launch(stmt, state, out)
            case h.CallHost():
                call_host(r, stmt, state, out)
            case h.For() | h.While():
                self.loop(stmt, state, out, later)
            case h.Return() | h.Break():
                raise AssertionError("a return or a break is left, which raising.hosts.returns and .exits remove")

    def alloc(self, stmt: h.Alloc, state: State, out: list[o.Stmt]) -> None:
        """New memory; undefined contents are zeros."""
        r = self.r
        like = r.array(k.ArrayRef(stmt.like, span=stmt.span), state).array if stmt.like else ""
        shape = tuple(r.scalar(s, state) for s in stmt.shape) if stmt.shape is not None else None
        fill = r.scalar(stmt.fill, state) if stmt.fill is not None else None
        slot = r.slot(stmt.name, state)
        if shape is not None:
            self.r.sizes[slot] = shape
        elif stmt.like and state.points[stmt.like].slot in self.r.sizes:
            self.r.sizes[slot] = self.r.sizes[state.points[stmt.like].slot]
        r.elements[slot] = stmt.element
        r.apart |= {slot} if stmt.name in r.pieces else set()
        target = r.written(slot, state, out, stmt.span)
        out.append(o.Let((target,), o.New(stmt.element, shape, fill, like), stmt.span))
        state.points[stmt.name] = View(slot)

    def update(self, stmt: h.Update, state: State, out: list[o.Stmt]) -> None:
        """Memory changes in place: as a whole its variable is another one, in part it is ``.at[…].set``."""
        r = self.r
        view = r.view(stmt.array, state, stmt.span)
        value = r.expr(stmt.value, state)
        offset = r.scalar(stmt.offset, state) if stmt.offset is not None else None
        if view.offset is not None:
            offset = view.offset if offset is None else _sum(view.offset, offset)
        count = r.scalar(stmt.count, state) if stmt.count is not None else None
        stays(r, View(view.slot, offset), count)
        everything = offset is None and (count is None or self.r.fills(view.slot, count))
        if isinstance(value, h.Whole) and isinstance(stmt.value, h.Whole) and value.offset is None:
            source = state.points[stmt.value.array].slot
            if value.count is not None and self.r.fills(source, value.count):
                value = h.Whole(value.array, span=value.span)
        if everything and isinstance(value, h.Whole):
            if value.offset is None and value.count is None:
                variable = value.array
                target = r.written(view.slot, state, out, stmt.span)
                if variable != target:
                    state.values[view.slot] = variable
                return
            out.append(o.Let((r.written(view.slot, state, out, stmt.span),), value, stmt.span))
            return
        same = isinstance(value, h.Library) and (value.name == h.PUT or r.elements.get(view.slot) == value.type)
        if everything and isinstance(value, h.Library) and value.array and same:
            out.append(o.Let((r.written(view.slot, state, out, stmt.span),), value, stmt.span))
            return
        base = r.array(k.ArrayRef(stmt.array), state).array
        target = r.written(view.slot, state, out, stmt.span)
        if everything and not _is_array(value):
            made = _made(base, out)
            new = o.New(NUMBER, None, value, base) if made is None else replace(made, fill=value)  # type: ignore[arg-type]
            out.append(o.Let((target,), new, stmt.span))
        else:
            out.append(o.Let((target,), o.Put(base, value, None, offset, count, stmt.clamps), stmt.span))

    def same_sizes(self, moves: dict[int, set[int]]) -> None:
        """Forgets the size of a slot that takes the contents of memory of another size."""
        for slot, sources in moves.items():
            if any(self.r.sizes.get(s) != self.r.sizes.get(slot) for s in sources):
                self.r.sizes.pop(slot, None)

    # --- branches

    def branch(self, stmt: h.If, state: State, out: list[o.Stmt], after: frozenset[str]) -> None:
        """Both branches, and what they leave behind."""
        r = self.r
        keep_places(r, set_within((stmt,)), state, out, stmt.span)
        condition = r.expr(stmt.condition, state)
        sides: list[tuple[State, list[o.Stmt]]] = []
        known = len(r.slots)
        for body in (stmt.body, stmt.orelse):
            side, lines = state.copy(), []  # type: ignore[var-annotated]
            self.block(body, side, lines, after)
            sides.append((side, lines))
        (one, first), (two, second) = sides
        moves: dict[int, tuple[int, int]] = {}
        for name in sorted(after & (set(one.points) | set(two.points))):
            a, b = one.points.get(name), two.points.get(name)
            if a == b and a is not None:
                if moves.setdefault(a.slot, (a.slot, a.slot)) != (a.slot, a.slot):  # others leave there
                    raise _Moved(name)
                state.points[name] = a
                continue
            before = state.points.get(name)
            if before is None and a is not None and b is not None and _fresh(name, ((a, one), (b, two)), known):
                slot = r.slot(name, state)  # memory of its own in both branches
                state.points[name] = View(slot)
                moves[slot] = a.slot, b.slot
                continue
            plain = a is not None and b is not None and before is not None
            if not plain or a.offset or b.offset or before.offset:  # type: ignore[union-attr]
                raise _Moved(name)
            if moves.get(before.slot, (a.slot, b.slot)) != (a.slot, b.slot):  # type: ignore[union-attr]
                raise _Moved(name)
            moves[before.slot] = a.slot, b.slot  # type: ignore[union-attr]
        for at in (0, 1):
            if len({m[at] for m in moves.values()}) < len(moves):
                raise _Moved("an array")
        kept = {s for m in state.memory.values() if m is not None for s in m.slots} if r.implicit else set()
        for s in sorted(kept - set(moves)):
            moves[s] = s, s
        for name, memory in list(state.memory.items()):
            mine, other = one.memory.get(name), two.memory.get(name)
            moved = memory is not None and any(moves.get(s, (s, s)) != (s, s) for s in memory.slots)
            state.memory[name] = None if mine != other or moved else mine
        state.written |= one.written | two.written
        self.same_sizes({s: {a, b} for s, (a, b) in moves.items()})
        changed = set_within(stmt.body) | set_within(stmt.orelse)
        state.known = {n: c for n, c in state.known.items() if n not in changed}
        names: list[str] = []
        values: list[h.Expr] = []
        others: list[h.Expr] = []
        arrays: list[bool] = []
        for slot, (mine_slot, other_slot) in sorted(moves.items()):
            left, right = one.values.get(mine_slot), two.values.get(other_slot)
            if left is None or right is None:
                continue
            same = left == right and slot in state.values and state.values[slot] == left
            if same and not _bound(first, left) and not _bound(second, left):
                continue
            names.append(r.slots[slot])
            values.append(h.Whole(left))
            others.append(h.Whole(right))
            arrays.append(True)
            state.values[slot] = r.slots[slot]
        for name in sorted((set_within(stmt.body) | set_within(stmt.orelse)) & after & r.scalar_names):
            if name in one.scalars and name in two.scalars:
                names.append(name)
                values.append(k.Var(name, NUMBER))  # type: ignore[arg-type]
                others.append(k.Var(name, NUMBER))  # type: ignore[arg-type]
                arrays.append(False)
                state.scalars.add(name)
            else:
                state.scalars.discard(name)
        bound = {n for n, a in zip(names, arrays, strict=True) if a}
        for slot, value in sorted(state.values.items()):  # a copy that shares a variable that is bound here
            if value in bound and r.slots[slot] != value:
                out.append(o.Let((r.slots[slot],), h.Whole(str(value)), stmt.span))
                state.values[slot] = r.slots[slot]
        then, otherwise = _plain(first, values), _plain(second, others)
        if then is not None and otherwise is not None:  # numbers alone: a choice, no branch
            first, second, values, others = [], [], then, otherwise
        out.append(
            o.Branch(condition, tuple(names), tuple(first), tuple(values), tuple(second), tuple(others), tuple(arrays),
                     stmt.span)
        )  # fmt: skip

    # --- loops

    def loop(self, stmt: h.For | h.While, state: State, out: list[o.Stmt], after: frozenset[str]) -> None:
        """A loop over the memory and the scalars that a round changes."""
        from kraise.raising.hosts.loops import loop

        loop(self, stmt, state, out, after)


def _sum(a: k.Expr, b: k.Expr) -> k.Expr:
    return k.Op("add", (a, b), a.type)


def _made(name: str, out: list[o.Stmt]) -> o.New | None:
    """The allocation that a variable still is, where its extents mean the same at the end of ``out``."""
    set_since: set[str] = set()
    for stmt in reversed(out):
        if not isinstance(stmt, o.Let):
            return None
        if name in stmt.targets:
            new = stmt.value
            if not isinstance(new, o.New) or (new.shape is None and new.like in set_since):
                return None
            return new if not variables(new) & set_since else None
        set_since |= set(stmt.targets)
    return None


def _is_array(value: h.Expr) -> bool:
    match value:
        case h.Whole():
            return True
        case h.Library(array=array):
            return array
        case k.Op(args=args):
            return any(_is_array(a) for a in args)
        case k.Cast(arg=arg):
            return _is_array(arg)
    return False


def _fresh(name: str, sides: tuple[tuple[View, State], ...], known: int) -> bool:
    """Does each side's view reach memory that the branch made (a slot after the ``known`` first), and no other name?"""
    for view, state in sides:
        others = [n for n, v in state.points.items() if n != name and v.slot == view.slot]
        if view.slot < known or view.offset is not None or others:
            return False
    return True


def _bound(lines: list[o.Stmt], name: str) -> bool:
    """Is a variable bound by the statements?"""
    for line in lines:
        match line:
            case o.Let(targets=targets):
                if name in targets:
                    return True
            case o.Loop(names=names, body=body):
                if name in names or _bound(list(body), name):
                    return True
            case o.Branch(names=names):
                if name in names:
                    return True
    return False


def _scalars(body: tuple[h.Stmt, ...]) -> set[str]:
    found: set[str] = set()
    for stmt in body:
        match stmt:
            case h.Assign(name=name) | h.For(var=name):
                found.add(name)
            case h.Launch(results=names):
                found |= set(names)
            case h.CallHost(results=names, arrays=arrays):
                found |= {n for n, a in zip(names, arrays, strict=True) if not a}
        for block in h.children(stmt):
            found |= _scalars(block)
    return found


def scalar_type(body: tuple[h.Stmt, ...], name: str) -> ScalarType:
    """The type that the statements give to a scalar."""
    for stmt in body:
        if isinstance(stmt, h.Assign) and stmt.name == name:
            return stmt.type
        if isinstance(stmt, h.Launch) and name in stmt.results and stmt.types:
            return stmt.types[stmt.results.index(name)]
        for block in h.children(stmt):
            found = scalar_type(block, name)
            if found != NUMBER:
                return found
    return NUMBER


__all__ = ["INT", "Flow", "Memory", "expression_names", "read_within", "reads", "scalar_type"]


def _plain(arm: list[o.Stmt], values: list[h.Expr]) -> list[h.Expr] | None:
    """What an arm gives, where it only binds numbers to numbers that have a name (``best = err``); None otherwise."""
    known: dict[str, h.Expr] = {}
    for stmt in arm:
        match stmt:
            case o.Let(targets=(name,), value=k.Var() | k.Const() as value):
                known[name] = known.get(value.name, value) if isinstance(value, k.Var) else value
            case _:
                return None
    return [known.get(v.name, v) if isinstance(v, k.Var) else v for v in values]
