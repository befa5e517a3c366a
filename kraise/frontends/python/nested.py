"""Functions that a plain function or a kernel defines for itself: functions of the module.

``def f(x): a = …; def g(v): return v + a`` is ``def g(v, a)`` before ``f``, called as ``g(v, a)``: Python, too, looks
``a`` up when ``g`` is called. A number that ``f`` sets once is set in ``g``.

Side conditions, checked: ``f`` defines ``g`` once, as a statement of its own, and does nothing but call it; ``g`` sets
nothing of ``f``, and has no name of its own for what another one that it calls sees; no comprehension or lambda has.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import libcst as cst

from kraise.frontends.python.captured import constant, names_in
from kraise.frontends.python.host_units import times_set
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, placed, rebuilt, walk
from kraise.frontends.python.survey import decorated_as, is_host
from kraise.ir.host_names import fresh


def in_module(parsed: Source, imports: Imports, kernel_decorators: tuple[str, ...]) -> Source:
    """The source with such functions moved before the ones that define them."""
    statements: list[Any] = []
    taken = {n.value for n in all_of(cst.Name, parsed.tree)}
    for node in parsed.tree.body:
        if isinstance(node, cst.FunctionDef) and (own := _own(node)):
            around = _Around(parsed, node, own, taken)
            bare = around.bare()
            known = all(decorated_as(d, imports, kernel_decorators) != "kernel" for d in own.values())
            if known and not is_host(bare, imports) and not any(is_host(d, imports) for d in own.values()):
                statements += around.moved()
                continue
        statements.append(node)
    before, after = (
        {f.name.value for f in body if isinstance(f, cst.FunctionDef)} for body in (parsed.tree.body, statements)
    )
    if len(statements) == len(parsed.tree.body):
        return parsed
    return replace(
        parsed,
        tree=placed(parsed, parsed.tree.with_changes(body=statements), parsed.tree),
        moved=frozenset(after - before),
    )


def _own(node: cst.FunctionDef) -> dict[str, cst.FunctionDef]:
    body = node.body.body if isinstance(node.body, cst.IndentedBlock) else ()
    return {n.name.value: n for n in body if isinstance(n, cst.FunctionDef)}


def _bound(d: cst.FunctionDef) -> set[str]:
    return set(times_set(d) - Counter((d.name.value,)))


class _Around:
    """A function with those that it defines: ``seen`` are, of each that can be moved, the names that it sees."""

    def __init__(self, parsed: Source, node: cst.FunctionDef, own: dict[str, cst.FunctionDef], taken: set[str]):
        self.parsed, self.node, self.own = parsed, node, own
        self.times = times_set(node)
        for d in own.values():
            self.times = self.times - times_set(d)
        self.lines = {n: line for line in node.body.body for n in constant(line) if self.times[n] == 1}
        self.calls: dict[str, set[str]] = {}
        self.seen: dict[str, set[str]] = {}
        for name, d in own.items():
            bound = _bound(d)
            free = {n.value for n in names_in(d.body)} - bound
            self.calls[name] = free & set(own) - {name}
            self.seen[name] = free & (set(self.times) - set(own))
        for _ in own:
            for name in own:
                self.seen[name] |= {s for c in self.calls[name] for s in self.seen[c]}
        self.names = {n: fresh(taken, f"{node.name.value}_{n}") if self._shared(n) else n for n in own}

    def _shared(self, name: str) -> bool:
        """Whether something else of the module has that name."""
        inside = sum(isinstance(n, cst.Name) and n.value == name for n in walk(self.node))
        return sum(isinstance(n, cst.Name) and n.value == name for n in walk(self.parsed.tree)) > inside

    def bare(self) -> cst.FunctionDef:
        """The function without those that it defines."""
        body = [s for s in self.node.body.body if not isinstance(s, cst.FunctionDef)]
        return self.node.with_changes(body=self.node.body.with_changes(body=body))

    def fits(self) -> bool:
        """Whether all of them can be moved."""
        if any(times_set(self.node)[n] != 1 for n in self.own):
            return False
        called = {id(n.func) for n in all_of(cst.Call, self.node) if isinstance(n.func, cst.Name)}
        defined = {id(d.name) for d in self.own.values()}
        for n in names_in(self.node):
            if n.value in self.own and id(n) not in called | defined:
                return False
        for name, d in self.own.items():
            inner = _bound(d)
            if any(self.seen[c] & inner for c in self.calls[name]) or any(n in inner for n in self.own):
                return False
            if all_of(cst.Nonlocal | cst.Global | cst.FunctionDef, d.body):
                return False
            every = (*d.params.posonly_params, *d.params.params, *d.params.kwonly_params)
            if len(every) != len(d.params.params) or isinstance(d.params.star_arg, cst.Param) or d.params.star_kwarg:
                return False
            if any(p.default is not None and names_in(p.default) for p in every):
                return False
        hiding = {
            p.value
            for n in all_of(cst.Lambda | cst.CompFor, self.node)
            for p in walk(n.params if isinstance(n, cst.Lambda) else n.target)
            if isinstance(p, cst.Name)
        }
        return not any(hiding & seen for seen in self.seen.values())

    def moved(self) -> list[cst.BaseStatement]:
        """The functions, then the one around them; that one alone where they cannot be moved."""
        if not self.fits():
            return [self.node]
        new = [self._function(name, d) for name, d in self.own.items()]
        return [*new, rebuilt(self.parsed, placed(self.parsed, self.bare(), self.node), self._call)]

    def _given(self, name: str) -> list[str]:
        return sorted(self.seen[name] - set(self.lines))

    def _function(self, name: str, d: cst.FunctionDef) -> cst.FunctionDef:
        more = [cst.Param(cst.Name(n)) for n in self._given(name)]
        usual = [p for p in d.params.params if p.default is None]
        rest = [p for p in d.params.params if p.default is not None]
        given = [p.with_changes(comma=cst.MaybeSentinel.DEFAULT) for p in (*usual, *more, *rest)]
        for p, old in zip(given, (*usual, *more, *rest), strict=True):
            placed(self.parsed, p, old if old in self.parsed.positions else d.name)
            placed(self.parsed, p.name, d.name)
        first = [self.lines[n] for n in sorted(self.seen[name] & set(self.lines))]
        body = list(rebuilt(self.parsed, d.body, self._call).body)
        at = 1 if d.get_docstring() is not None else 0
        block = d.body.with_changes(body=[*body[:at], *first, *body[at:]])
        own = placed(self.parsed, cst.Name(self.names[name]), d.name)
        return placed(self.parsed, d.with_changes(name=own, params=d.params.with_changes(params=given), body=block), d)

    def _call(self, node: cst.CSTNode) -> cst.CSTNode | None:
        match node:
            case cst.Call(func=cst.Name(value=name) as func, args=args) if name in self.own:
                more = [cst.Arg(cst.Name(n), keyword=cst.Name(n)) for n in self._given(name)]
                inner = [
                    rebuilt(self.parsed, a, self._call).with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in args
                ]
                for a in more:
                    for part in walk(a):
                        self.parsed.positions.setdefault(part, self.parsed.positions[node])
                for a, old in zip(inner, args, strict=True):
                    placed(self.parsed, a, old)
                return node.with_changes(
                    func=placed(self.parsed, cst.Name(self.names[name]), func), args=[*inner, *more]
                )
        return None


__all__ = ["in_module"]
