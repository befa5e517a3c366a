"""Numbers that a kernel sees of the function around it: parameters of the kernel.

``@cuda.jit def k(x): … n …`` in a function that sets ``n`` is ``def k(x, n)``, launched as ``k[grid, block](x, n)``.
numba takes such a number as a constant when it compiles the kernel, at its first launch.

Side conditions, checked: the function sets the name once, or it is its parameter; the kernel uses it as a number; the
function does nothing with the kernel but launch it (with a device function: its kernels only call it).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import libcst as cst

from kraise.frontends.python.host_arguments import is_number
from kraise.frontends.python.host_units import times_set
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, placed, rebuilt, walk
from kraise.frontends.python.survey import decorated_as


def with_parameters(parsed: Source, imports: Imports, kernel_decorators: tuple[str, ...]) -> Source:
    """The source with a parameter for each such number."""
    if not any(_nested(n, imports, kernel_decorators) for n in _functions(parsed.tree)):
        return parsed
    new: dict[cst.CSTNode, cst.CSTNode] = {}
    for node in _functions(parsed.tree):
        nested = _nested(node, imports, kernel_decorators)
        if nested and (made := _Around(parsed, node, nested).changed()) is not node:
            new[node] = made
    if not new:
        return parsed
    tree = rebuilt(parsed, parsed.tree, lambda n: new.get(n))
    return replace(parsed, tree=tree)


def _functions(tree: cst.Module) -> list[cst.FunctionDef]:
    out: list[cst.FunctionDef] = []
    for node in tree.body:
        if isinstance(node, cst.FunctionDef):
            out.append(node)
        elif isinstance(node, cst.ClassDef) and isinstance(node.body, cst.IndentedBlock):
            out += [m for m in node.body.body if isinstance(m, cst.FunctionDef)]
    return out


def _nested(node: cst.FunctionDef, imports: Imports, kernel_decorators: tuple[str, ...]) -> dict[str, cst.FunctionDef]:
    """The kernels and device functions that a function defines."""
    body = node.body.body if isinstance(node.body, cst.IndentedBlock) else ()
    return {
        n.name.value: n for n in body
        if isinstance(n, cst.FunctionDef) and decorated_as(n, imports, kernel_decorators) in ("kernel", "device")
    }  # fmt: skip


class _Around:
    def __init__(self, parsed: Source, node: cst.FunctionDef, nested: dict[str, cst.FunctionDef]):
        self.parsed, self.node, self.nested = parsed, node, nested
        inside = {id(d) for d in nested.values()}
        self.own = list(walk(node.body, lambda n: id(n) not in inside))
        params = [*node.params.posonly_params, *node.params.params, *node.params.kwonly_params]
        self.times = times_set(node)
        for d in nested.values():
            self.times = self.times - times_set(d)
        constants = {n for line in node.body.body for n in constant(line)}  # known from the text
        self.known = ({p.name.value for p in params} | set(self.times)) - constants
        self.free: dict[str, set[str]] = {}
        direct = {n: self._free(d) for n, d in nested.items()}
        for name in nested:
            found, waiting = set[str](), [name]
            seen: set[str] = set()
            while waiting:
                at = waiting.pop()
                if at not in seen:
                    seen.add(at)
                    found |= direct[at][0]
                    waiting += direct[at][1]
            self.free[name] = found
        bad = {n for n in nested if not self._fits(n)}
        while more := {n for n, (_, called) in direct.items() if n not in bad and called & bad}:
            bad |= more
        self.free = {n: f for n, f in self.free.items() if f and n not in bad}

    def _free(self, function: cst.FunctionDef) -> tuple[set[str], set[str]]:
        """The names of the function around that one sees, and which of its neighbours it calls."""
        bound = set(times_set(function))
        names = {n.value for n in names_in(function.body)} - bound
        return names & (self.known - set(self.nested)), names & set(self.nested)

    def _fits(self, name: str) -> bool:
        for seen in self.free[name]:
            if self.times[seen] != 1:
                return False
            for d in self.nested.values():
                for n in walk(d.body):
                    used: Any = n.value if isinstance(n, cst.Subscript | cst.Attribute) else None
                    used = n.func if isinstance(n, cst.Call) else used
                    if isinstance(used, cst.Name) and used.value == seen:
                        return False
        launches = {id(n.func.value) for n in self.own if _launches(n, {name})}  # type: ignore[attr-defined]
        mentions = [n for n in self.own if isinstance(n, cst.Name) and n.value == name]
        mentions = [n for n in mentions if n is not self.nested[name].name]
        return all(id(n) in launches for n in mentions)

    def changed(self) -> cst.FunctionDef:
        """The function with its kernels' new parameters and their arguments."""
        if not self.free:
            return self.node

        def change(node: cst.CSTNode) -> cst.CSTNode | None:
            match node:
                case cst.FunctionDef(name=cst.Name(value=name)) if self.nested.get(name) is node and name in self.free:
                    more = [cst.Param(cst.Name(n)) for n in sorted(self.free[name])]
                    given = [p.with_changes(comma=cst.MaybeSentinel.DEFAULT) for p in (*node.params.params, *more)]
                    for p, old in zip(given, (*node.params.params, *more), strict=True):
                        placed(self.parsed, p, old if old in self.parsed.positions else node.name)
                        placed(self.parsed, p.name, node.name)
                    params = node.params.with_changes(params=given)
                    return node.with_changes(params=params, body=rebuilt(self.parsed, node.body, change))
                case cst.Call(func=cst.Name(value=name)) if name in self.free:
                    return self._with_arguments(node, name)
                case cst.Call(func=cst.Subscript(value=cst.Name(value=name))) if name in self.free:
                    return self._with_arguments(node, name)
            return None

        return rebuilt(self.parsed, self.node, change)  # type: ignore[no-any-return]

    def _with_arguments(self, call: cst.Call, name: str) -> cst.Call:
        more = [cst.Arg(cst.Name(n)) for n in sorted(self.free[name])]
        given = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in (*call.args, *more)]
        for a in given:
            for part in walk(a):
                self.parsed.positions.setdefault(part, self.parsed.positions[call])
        return call.with_changes(args=given)


def constant(line: cst.CSTNode) -> list[str]:
    match line:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
        ) if is_number(value):
            return [name]
    return []


def _launches(node: cst.CSTNode, names: set[str]) -> bool:
    match node:
        case cst.Call(func=cst.Subscript(value=cst.Name(value=name))):
            return name in names
    return False


def names_in(node: cst.CSTNode) -> list[cst.Name]:
    """The names in a node that are no attributes and no keywords."""
    apart = {id(n.attr) for n in all_of(cst.Attribute, node)}
    apart |= {id(n.keyword) for n in all_of(cst.Arg, node)}
    return [n for n in all_of(cst.Name, node) if id(n) not in apart]


__all__ = ["constant", "names_in", "with_parameters"]
