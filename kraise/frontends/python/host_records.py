"""Records of Python host functions as names of their own, one for each field."""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_inlined import arguments
from kraise.frontends.python.host_rounds import tuple_of
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import Record
from kraise.frontends.python.source import all_of, dotted
from kraise.ir.host_names import fresh


class Records:
    """The part that knows records; :class:`kraise.frontends.python.host_written.Written` has the rest."""

    scope: HostScope
    node: cst.FunctionDef
    instances: dict[str, Record]  # name -> its class
    leaves: dict[str, dict[str, str]]  # name of an instance -> field -> name
    taken: set[str]
    expression: Any
    statements: Any
    line: Any
    placed: Any

    def declare(self, name: str, kind: Record) -> None:
        """A name that holds a record."""
        if self.instances.get(name, kind) is not kind:
            raise self.scope.refuse(self.node, f"{name} is a {self.instances[name].name} and a {kind.name}")
        self.instances[name] = kind
        self.leaves.setdefault(name, {})

    def leaf(self, name: str, attribute: str) -> str:
        """The name of a field of a record."""
        own = self.leaves[name]
        if attribute not in own:
            own[attribute] = fresh(self.taken, f"{name}_{attribute.strip('_')}")
        return own[attribute]

    def record(self, node: Any) -> tuple[Record, list[tuple[str, Any]]] | None:
        """A record that an expression gives: its class, and its fields with their values; None for anything else."""
        if isinstance(node, cst.Name) and node.value in self.instances:
            kind = self.instances[node.value]
            if not kind.fields:
                return None
            return kind, [(f, cst.Name(self.leaf(node.value, f))) for f, _ in kind.fields]
        if not isinstance(node, cst.Call):
            return None
        match node.func:
            case cst.Attribute(value=owner, attr=cst.Name(value="_replace")):
                return self.replaced(self.record(owner), node.args)
        made = self.scope.records.get(dotted(node.func))
        if self.scope.imports.qualified(dotted(node.func)) == "dataclasses.replace" and node.args:
            return self.replaced(self.record(node.args[0].value), node.args[1:])
        if made is None or not made.fields:
            return None
        given = arguments(made.fields, node.args)
        if given is None:
            return None
        return made, [(f, self.expression(v)) for f, v in given.items()]

    def replaced(self, old: Any, args: Any) -> tuple[Record, list[tuple[str, Any]]] | None:
        """A record with some fields given anew."""
        words = {a.keyword.value: a.value for a in args if a.keyword is not None}
        if old is None or len(words) != len(args):
            return None
        return old[0], [(f, self.expression(words[f]) if f in words else v) for f, v in old[1]]

    def flattened(self, target: cst.Tuple, value: cst.Tuple) -> tuple[cst.Tuple, cst.Tuple] | None:
        """``s, t = t, s`` of records as one of their fields."""
        to: list[Any] = []
        given: list[Any] = []
        for t, v in zip(target.elements, value.elements, strict=True):
            record = self.record(v.value)
            if record is None:
                to.append(self.expression(t.value))
                given.append(self.expression(v.value))
                continue
            if not isinstance(t.value, cst.Name):
                return None
            self.declare(t.value.value, record[0])
            to += [cst.Name(self.leaf(t.value.value, f)) for f, _ in record[1]]
            given += [v for _, v in record[1]]
        return (tuple_of(to), tuple_of(given)) if len(to) > len(target.elements) else None

    def bound(self, name: str, record: tuple[Record, list[tuple[str, Any]]], node: cst.CSTNode) -> list[Any]:
        """``name = `` a record: its fields at once, those that change."""
        new = name not in self.instances
        self.declare(name, record[0])
        pairs = [(cst.Name(self.leaf(name, f)), v) for f, v in record[1]]
        pairs = [(t, v) for t, v in pairs if dotted(v) != t.value]
        targets = {t.value for t, _ in pairs}
        apart = new or not any(n.value in targets for _, v in pairs for n in all_of(cst.Name, v))
        if apart or len(pairs) < 2:
            made = [cst.Assign([cst.AssignTarget(t)], v) for t, v in pairs]
        else:
            made = [cst.Assign([cst.AssignTarget(tuple_of([t for t, _ in pairs]))], tuple_of([v for _, v in pairs]))]
        return [self.line(self.placed(m, node), node) for m in made]

    def constructed(self, name: str, kind: Record, call: cst.Call) -> list[Any] | None:
        """``name = Class(…)``: the statements of ``__init__``."""
        self.declare(name, kind)
        init = kind.methods["__init__"]
        return self.statements(init, call, None, False, cst.Name(name))  # type: ignore[no-any-return]

    def all_leaves(self) -> set[str]:
        """The names of all fields."""
        return {n for own in self.leaves.values() for n in own.values()}
