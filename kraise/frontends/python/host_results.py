"""What a Python host function that returns nothing shows: the results of ``main`` and of functions that only print.

These are, in the order of the text, the arrays that it copies back from the device (of ``main`` also those of the host
that its launches change), then what it prints that is made of such arrays and has a name. Where there are none, what it
prints of them; of ``main`` else the arrays on the device that its launches change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

import libcst as cst

from kraise.diagnostics import Diagnostic
from kraise.diagnostics.collect import guard
from kraise.frontends.python.host import read_host
from kraise.frontends.python.host_before import with_parameters
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, placed, walk
from kraise.ir import host as h
from kraise.ir.host_live import Memory, flat, stored_by

_SHOWS = ("builtins.print", "pprint.pprint")
Stores = Mapping[str, tuple[bool, ...]]


def read(
    scope_of: Callable[[cst.FunctionDef], HostScope],
    node: cst.FunctionDef,
    name: str,
    stores: Stores,
    inputs: Collection[str],
) -> tuple[h.Host | None, list[Diagnostic], HostScope]:
    """The host function, what is wrong with it, and the scope that it was read in."""
    scope = scope_of(node)
    span = scope.source.span(node.name)
    host, wrong = guard(name, span, read_host, scope, node, name)
    works = {*scope.hosts, *scope.host_units, *scope.records}
    if host is None and name == "main":
        changed = _Shown(scope.imports, node, stores, works).made
        less = with_parameters(scope.source, scope.imports, node, wrong, changed)
        if less is not None:  # what it makes before is given to it
            scope = scope_of(less)
            host, still = guard(name, span, read_host, scope, less, name)
            node, wrong = (node, wrong) if host is None else (less, still)
    if (
        returns(node)
        or node.name.value == "__init__"
        or (host is not None and name != "main" and _changes(host, stores, inputs))
    ):
        return host, wrong, scope
    if host is None and name != "main":
        return host, wrong, scope
    for other in variants(scope.source, scope.imports, node, stores, works):
        fuller = scope_of(other)
        found, _ = guard(name, span, read_host, fuller, other, name)
        if found is not None:
            return found, [], fuller
    return host, wrong, scope


def _changes(host: h.Host, stores: Stores, inputs: Collection[str]) -> bool:
    """May a host function change an array of its caller? Those ``inputs`` that it takes from outside are its own."""
    memory = Memory(host.body)
    own = {memory(p.name) for p in host.params if p.name not in inputs}
    return any(own & {memory(n) for n in stored_by(stmt, stores)} for stmt in flat(host.body))


def returns(node: cst.FunctionDef) -> bool:
    """Does a function return something?"""
    return any(isinstance(n, cst.Return) and n.value is not None for n in _own(node.body))


def variants(
    source: Source, imports: Imports, node: cst.FunctionDef, stores: Stores, works: Collection[str]
) -> Iterator[cst.FunctionDef]:
    """The function with its results as a ``return``, the fullest first."""
    shown = _Shown(imports, node, stores, works)
    found: list[list[cst.BaseExpression]] = []
    whole = node.name.value == "main"
    copied = {**shown.copied, **shown.on_host} if whole else shown.copied
    kept: list[cst.BaseExpression] = [cst.Name(n) for n in copied]
    numbers: list[cst.BaseExpression] = [cst.Name(n) for n in shown.printed if n not in copied]
    device: list[cst.BaseExpression] = [cst.Name(n) for n in shown.on_device] if whole else []
    said = [cst.Name(f"shown_{n}") for n in range(1, len(shown.expressions) + 1)]
    more = [
        n for n, (_, value) in zip(said, shown.expressions, strict=True)
        if not isinstance(value, cst.Name) and not shown.of(value) <= {*copied, *shown.printed}
    ]  # fmt: skip
    fullest = [*kept, *numbers, *more]
    for names in (fullest if kept or numbers else [], [*kept, *numbers], kept, said, device):
        if names and names not in found:
            found.append(list(names))
    assert isinstance(node.body, cst.IndentedBlock)
    for values in found:
        value = values[0] if len(values) == 1 else cst.Tuple([cst.Element(v) for v in values])
        line = cst.SimpleStatementLine([cst.Return(value)])
        for new in (line, line.body[0], value, *(v for v in values if isinstance(v, cst.Name))):
            source.positions.setdefault(new, source.positions[node.name])
        lines = [*node.body.body, line]
        if any(v in values for v in said):  # what is printed is what it is there
            for name, (place, value) in zip(said, shown.expressions, strict=True):
                if name not in values:
                    continue
                made = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(name)], value)])
                for new in (made, made.body[0], made.body[0].targets[0]):  # type: ignore[attr-defined]
                    placed(source, new, place)
                lines.insert(next(at for at, x in enumerate(lines) if x is place), made)
        body = node.body.with_changes(body=lines)
        yield placed(source, node.with_changes(body=body), node)


def _own(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    return walk(node, lambda n: not isinstance(n, cst.FunctionDef | cst.ClassDef | cst.Lambda))


class _Shown:
    """``works`` are the functions and classes of the file that launch."""

    def __init__(self, imports: Imports, node: cst.FunctionDef, stores: Stores, works: Collection[str]):
        self.imports = imports
        self.copied: dict[str, None] = {}
        self.printed: dict[str, None] = {}
        self.expressions: list[tuple[cst.CSTNode, cst.BaseExpression]] = []  # with the statement
        self.on_device: dict[str, None] = {}
        self.statements = {  # of the calls that always happen
            part.value: line for line in node.body.body if isinstance(line, cst.SimpleStatementLine)
            for part in line.body if isinstance(part, cst.Expr)
        }  # fmt: skip
        self.on_host: dict[str, None] = {}
        device: set[str] = set()
        nodes = list(_own(node.body))
        written = [n for inner in nodes for n in self._written(inner, stores)]
        for inner in nodes:
            match inner:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call() as call):
                    called = imports.qualified(dotted(call.func))
                    if called.startswith(("numba.cuda.", "cupy.")) and called != "cupy.asnumpy":
                        device.add(name)
        working = [n for n in nodes if isinstance(n, cst.Call) and dotted(n.func).partition(".")[0] in works]
        given = {a.value.value for c in working for a in c.args if isinstance(a.value, cst.Name)}
        tainted = self.made = {
            *written,
            *given,
        }  # names of what launches change, and of what is made of that
        while True:
            before = len(tainted)
            for inner in nodes:
                for name, value in _assignments(inner):
                    fetched = any(self._fetches(n) or n in working for n in walk(value))
                    if fetched or any(n.value in tainted for n in all_of(cst.Name, value)):
                        tainted.add(name)
            if len(tainted) == before:
                break
        for inner in nodes:
            match inner:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value) if (
                    name not in device and any(map(self._fetches, walk(value)))
                ):
                    self.copied[name] = None
                case cst.Call(func=cst.Attribute(attr=cst.Name(value="copy_to_host")), args=[cst.Arg(value=into), *_]):
                    self.copied |= {into.value: None} if isinstance(into, cst.Name) else {}
            for name in self._written(inner, stores):
                (self.on_device if name in device else self.on_host)[name] = None
            if isinstance(inner, cst.Call) and imports.qualified(dotted(inner.func)) in _SHOWS:
                self._print(inner, tainted)

    def of(self, value: cst.BaseExpression) -> set[str]:
        """The names in an expression that depend on launches."""
        return {n.value for n in all_of(cst.Name, value) if n.value in self.made}

    def _print(self, call: cst.Call, tainted: set[str]) -> None:
        for arg in call.args:
            shown = (
                [p.expression for p in arg.value.parts if isinstance(p, cst.FormattedStringExpression)]
                if isinstance(arg.value, cst.FormattedString)
                else [arg.value]
            )
            for value in shown:
                if isinstance(value, cst.Name) and value.value in tainted:
                    self.printed[value.value] = None
                elif isinstance(value, cst.SimpleString | cst.FormattedString | cst.ConcatenatedString):
                    continue
                if any((isinstance(n, cst.Name) and n.value in tainted) or self._fetches(n) for n in walk(value)):
                    self.expressions += [(self.statements[call], value)] if call in self.statements else []

    def _fetches(self, node: cst.CSTNode) -> bool:
        match node:
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="copy_to_host" | "get")), args=[]):
                return True
            case cst.Call(func=func, args=[_, *_]):
                return self.imports.qualified(dotted(func)) == "cupy.asnumpy"
        return False

    def _written(self, node: cst.CSTNode, stores: Stores) -> list[str]:
        """The names that a launch writes to."""
        match node:
            case cst.Call(func=cst.Subscript(value=kernel), args=args):
                changed = stores.get(dotted(kernel))
            case cst.Call(func=cst.Call(func=cst.Attribute(value=kernel, attr=cst.Name(value="forall"))), args=args):
                changed = stores.get(dotted(kernel))
            case _:
                return []
        pairs = zip(args, changed or (), strict=False)
        return [a.value.value for a, may in pairs if may and isinstance(a.value, cst.Name)]


def _assignments(node: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression]]:
    match node:
        case cst.Assign(targets=targets, value=value):
            for t in targets:
                for n in walk(t.target):
                    if isinstance(n, cst.Name):
                        yield n.value, value
        case cst.AugAssign(target=cst.Name(value=name), value=value):
            yield name, value


__all__ = ["read"]
