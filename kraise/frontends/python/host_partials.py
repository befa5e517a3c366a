"""``functools.partial`` in Python host functions: ``step = partial(advance, u, dt=dt)``, then ``step(v)``, is
``advance(u, v, dt=dt)``. The function's tree is rewritten before it is read.

Side conditions, checked: the name is set once and only called; what it holds is bound where it is made, if its own
names may mean something else later.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import libcst as cst

from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.names import Imports, simple_statements
from kraise.frontends.python.source import Source, all_of, dotted, rebuilt, walk
from kraise.ir.host_names import fresh


def without_partials(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with the calls that such names stand for."""
    outer = [s for s in simple_statements(scope.source.tree.body) if _made(scope, s) is not None]
    if not outer and not any(_made(scope, n) is not None for n in walk(node.body)):
        return node
    partials = _Partials(scope, node)
    partials.find(outer)
    body = rebuilt(scope.source, node.body, partials.changed)
    if body is node.body:
        return node
    new = node.with_changes(body=body)
    for a, b in ((new, node), (new.name, node.name)):
        scope.source.positions.setdefault(a, scope.source.positions[b])
    return new


def held(source: Source, imports: Imports) -> dict[str, str]:
    """The functions that partials of a file hold, by the partials' names."""
    made = [m for n in all_of(cst.Assign, source.tree) if (m := _partial(imports, n)) is not None]
    return {name: dotted(call.args[0].value) for name, call in made}


class _Partials:
    def __init__(self, scope: HostScope, node: cst.FunctionDef):
        self.scope, self.node = scope, node
        self.taken = {n.value for n in all_of(cst.Name, node)}
        self.times: Counter[str] = Counter()
        for inner in walk(node):
            if isinstance(inner, cst.BaseSmallStatement | cst.Param | cst.CompFor):
                self.times.update(assigned(inner))
            elif isinstance(inner, cst.For):
                self.times.update({n.value: 1 for n in all_of(cst.Name, inner.target)})
        uses = Counter(n.value for n in all_of(cst.Name, node))
        calls = Counter(dotted(n.func) for n in all_of(cst.Call, node))
        self.params = {n for p in all_of(cst.Param, node.params) for n in assigned(p)}
        self.called = {n for n in uses if uses[n] == calls[n] + self.times[n]}  # and nothing else is done with it
        self.known: dict[str, tuple[cst.BaseExpression, list[cst.Arg]]] = {}

    def find(self, outer: list[Any]) -> None:
        """The partials of the module that the function calls: what they hold are constants."""
        for s in outer:
            name, call = _made(self.scope, s)  # type: ignore[misc]
            if name in self.called and not self.times[name] and all(map(self.is_fixed, call.args)):
                self.known[name] = call.args[0].value, list(call.args[1:])

    def is_fixed(self, arg: cst.Arg) -> bool:
        """Does an argument mean the same wherever it stands?"""
        name = dotted(arg.value)
        kept = bool(name) and self.times[name.partition(".")[0]] == (name in self.params)
        return isinstance(arg.value, cst.Integer | cst.Float) or kept

    def changed(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What stands in place of a node; None for one that stays."""
        match node:
            case cst.SimpleStatementLine(body=parts) if any(_made(self.scope, p) is not None for p in parts):
                lines = [s for p in parts for s in self.held(p)]
                return node.with_changes(body=lines or [cst.Pass()])
            case cst.Call(func=cst.Name(value=name), args=args) if name in self.known:
                callee, held = self.known[name]
                words = {a.keyword.value for a in args if a.keyword is not None}
                given = [rebuilt(self.scope.source, a.value, self.changed) for a in args]
                own = [cst.Arg(v, keyword=a.keyword, star=a.star) for a, v in zip(args, given, strict=True)]
                first = [a for a in held if a.keyword is None]
                last = [a for a in held if a.keyword is not None and a.keyword.value not in words]
                plain = [a for a in own if a.keyword is None]
                return node.with_changes(
                    func=callee, args=[*first, *plain, *(a for a in own if a.keyword is not None), *last]
                )
        return None

    def held(self, small: cst.BaseSmallStatement) -> list[cst.BaseSmallStatement]:
        """A statement that makes a partial as those that bind what it holds; any other as it is."""
        made = _made(self.scope, small)
        if made is None or self.times[made[0]] != 1 or made[0] not in self.called or any(a.star for a in made[1].args):
            return [rebuilt(self.scope.source, small, self.changed)]
        name, call = made
        out: list[cst.BaseSmallStatement] = []
        args: list[cst.Arg] = []
        for n, a in enumerate(call.args):
            value = rebuilt(self.scope.source, a.value, self.changed)
            if not self.is_fixed(a) and not isinstance(value, cst.Lambda):
                word = a.keyword.value if a.keyword is not None else "call" if n == 0 else str(n)
                own = fresh(self.taken, f"{name}_{word}")
                bound = cst.Assign([cst.AssignTarget(cst.Name(own))], value)
                self.scope.source.positions.setdefault(bound, self.scope.source.positions[small])
                out.append(bound)
                value = cst.Name(own)
            args.append(cst.Arg(value, keyword=a.keyword))
        self.known[name] = args[0].value, args[1:]
        return out


def _made(scope: HostScope, node: cst.CSTNode) -> tuple[str, cst.Call] | None:
    return _partial(scope.imports, node)


def _partial(imports: Imports, node: cst.CSTNode) -> tuple[str, cst.Call] | None:
    """The name and the call of ``name = partial(…)``."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call(func=func) as call) if (
            call.args and imports.qualified(dotted(func)) == "functools.partial"
        ):
            return name, call
    return None
