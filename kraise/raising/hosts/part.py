"""The part of ``main`` that can be raised: the results that need nothing of what was refused.

A program that compares several kernels copies each one's result back. Where a kernel was not raised, the results of
the others come out nevertheless, and the docstring names those that are left out. A result's statements are found
backwards: one is needed if it changes memory or a number that is looked at after it.

Side condition, checked: memory is taken as set anew only where one name stands for it and all of its elements are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from kraise.diagnostics import Diagnostic
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.host_live import Needed, Stores, flat
from kraise.ir.host_names import expression_names, read_within, reads, sets

MOST = 12  # results that are tried one by one


def of_main(
    host: h.Host, stores: Stores, attempt: Callable[[h.Host], o.Host | None], why: list[Diagnostic]
) -> tuple[h.Host, o.Host] | None:
    """``main`` with the results that can be raised, and what it is raised to; None where there are none."""
    values = host.body[-1].values if host.body and isinstance(host.body[-1], h.Return) else ()
    if host.name != "main" or not 1 < len(values) <= MOST:
        return None
    kept = tuple(v for v in values if _works(one := _with(host, stores, (v,))) and attempt(one) is not None)
    if not kept or len(kept) == len(values):
        return None
    whole = _with(host, stores, kept)
    line = next((f" (line {d.span.line})" for d in why if d.span is not None), "")
    lost = ", ".join(_spelled(v) for v in values if v not in kept)
    said = f"Left out: {lost}, which {'need' if lost.count(',') else 'needs'} what was refused{line}."
    whole = replace(whole, doc="\n\n".join(x for x in (host.doc.strip(), said) if x))
    raised = attempt(whole)
    return None if raised is None else (whole, raised)


def _spelled(value: object) -> str:
    return next(iter(expression_names(value)), "a number")


def _works(host: h.Host) -> bool:
    return any(isinstance(s, h.CallHost) or (isinstance(s, h.Launch) and s.grid is not None) for s in flat(host.body))


def _with(host: h.Host, stores: Stores, values: tuple[h.Expr | k.ArrayRef, ...]) -> h.Host:
    """``main`` with these results only."""
    last = h.Return(values, span=host.body[-1].span)
    needed = Needed((*host.body[:-1], last), stores)
    body = _before(host, last, needed)
    dropped = list(host.dropped)

    def note(stmt: h.Stmt) -> None:
        if isinstance(stmt, h.Launch | h.CallHost):
            dropped.append(h.Dropped(f"{stmt.function}(…)", "work that no result needs", stmt.span))

    for stmt in flat(s for s in host.body[:-1] if s not in body):
        note(stmt)
    body = Needed((*body, last), stores).kept((*body, last), note)
    names = read_within(body)
    return replace(host, body=body, params=tuple(p for p in host.params if p.name in names), dropped=tuple(dropped))


def _before(host: h.Host, last: h.Stmt, needed: Needed) -> tuple[h.Stmt, ...]:
    """The statements that ``last`` needs."""
    body = host.body[:-1]
    times = Counter(n for s in flat(body) for n in sets(s)) + Counter(p.name for p in host.params)
    names = Counter(needed.memory(n) for n in times)
    sizes = {s.name: s.shape for s in flat(body) if isinstance(s, h.Alloc) and times[s.name] == 1}
    live = {needed.memory(n) for n in reads(last)}
    touched: set[str] = set()
    out: list[h.Stmt] = []
    for stmt in reversed(body):
        inside = list(flat((stmt,)))
        ends = any(isinstance(s, h.Break | h.Return) for s in inside) and not isinstance(stmt, h.For | h.While)
        room = isinstance(stmt, h.Alloc) and needed.memory(stmt.name) in touched  # for what is set anew
        if not ends and not room and not any(needed.changes(s) & live for s in inside):
            continue
        out.append(stmt)
        touched |= set().union(*(needed.changes(s) for s in inside))
        made = _set_anew(stmt, sizes, times)
        if made and names[needed.memory(made)] == 1:
            live.discard(needed.memory(made))
        live |= {needed.memory(n) for s in inside for n in reads(s) if not (s is stmt and n == made)}
    return tuple(reversed(out))


def _set_anew(stmt: h.Stmt, sizes: dict[str, tuple[k.Expr, ...] | None], times: Counter[str]) -> str:
    """The name all of whose memory, or whose number, a statement sets; "" where it does not."""
    match stmt:
        case h.Assign(name=name, value=value):
            return "" if name in expression_names(value) else name
        case h.Alloc(name=name) | h.Bind(name=name):
            return name
        case h.Update(array=name, value=value, offset=None, count=count) if name not in expression_names(value):
            same = count is None or sizes.get(name) == (count,)
            return name if same and all(times[n] <= 1 for n in expression_names(count)) else ""
    return ""
