"""Calls of other host functions of the module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kraise.diagnostics import Refused, refuse
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir.host_names import fresh
from kraise.raising.hosts.apart import keep_places, stays
from kraise.raising.hosts.state import State, View

if TYPE_CHECKING:
    from kraise.raising.hosts.function import Raising


def call_host(r: Raising, stmt: h.CallHost, state: State, out: list[o.Stmt]) -> None:
    """A call of another host function: what it returns of its parameters' memory is memory of this one."""
    callee = r.hosts.get(stmt.function)
    if callee is None:
        raise Refused(*r.not_raised(stmt.function, stmt.span))
    r.calls[stmt.function] = None
    args, views = r.arguments(stmt.function, callee.params, stmt.args, state, stmt.span)
    r.distinct(stmt.function, callee.written, views, stmt.span)
    for view in views.values():
        stays(r, view, None)
    _lost(r, [p for p in callee.written if p not in callee.memory], views, stmt, state)
    if len(stmt.results) > len(callee.returns):
        raise refuse("KR211", f"{stmt.function} returns {len(callee.returns)} values", stmt.span)
    keep_places(r, set(stmt.results), state, out, stmt.span)
    named = [*stmt.results, *[""] * (len(callee.returns) - len(stmt.results))]
    targets: list[str] = []
    points: list[tuple[str, View]] = []
    puts: list[tuple[View, str]] = []
    for name, memory in zip(named, callee.memory, strict=True):
        if memory:
            view = views[memory]
            if view.offset is None and not view.in_rows:
                targets.append(r.written(view.slot, state, out, stmt.span))
            else:
                targets.append(fresh(r.taken, f"{r.slots[view.slot]}_part"))
                puts.append((view, targets[-1]))
            points += [(name, view)] if name else []
        elif name and stmt.arrays[stmt.results.index(name)]:
            slot = r.slot(name, state)
            targets.append(r.written(slot, state, out, stmt.span))
            points.append((name, View(slot)))
        else:
            targets.append(name or "_")
            state.set_scalars([name] if name else [])
            r.forget({name})
    out.append(o.Let(tuple(targets), o.Call(stmt.function, args), stmt.span))
    for view, part in puts:
        r.put(view, part, state, out, stmt.span)
    for name, view in points:
        state.points[name] = View(view.slot, view.offset)


def _lost(r: Raising, params: list[str], views: Mapping[str, View], stmt: h.CallHost, state: State) -> None:
    """Refuses a call whose changes to the memory of ``params`` another name than its results would see."""
    kept = {s for m in state.memory.values() if m is not None for s in m.slots} if r.implicit else set()
    for param in params:
        slot = views[param].slot
        others = [n for n, v in state.points.items() if v.slot == slot and n not in stmt.results]
        if others or slot in kept:
            reason = f"{stmt.function} changes {param} and returns another array: the change would be lost"
            raise refuse("KR211", reason, stmt.span)
        state.written.update(n for n, m in state.memory.items() if m is not None and slot in m.slots)
