"""Lists of objects in Python host functions: ``layers = [Dense(w), Relu()]``, ``for layer in layers``.

Each object has a name of its own, and a loop over them is written out; ``layers[0]`` is the first.

Side conditions, checked: the list is made once, of objects that are made there or have a name; nothing but loops and
numbers as subscripts is done with it.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_inlined import renamed, uses
from kraise.frontends.python.host_rounds import integer, number
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import Record
from kraise.frontends.python.source import dotted, walk
from kraise.ir.host_names import fresh


class Racks:
    """The part that knows them; :class:`kraise.frontends.python.host_written.Written` has the rest."""

    scope: HostScope
    node: cst.FunctionDef
    instances: dict[str, Record]
    leaves: dict[str, dict[str, str]]
    racks: dict[str, list[str]]
    taken: set[str]
    own_times: Any
    block: Any
    declare: Any
    constructed: Any
    leaf: Any

    def instance(self, node: cst.BaseExpression) -> str:
        """The object that ``step``, ``step.op`` or ``layers[0]`` is, by its name; "" for anything else."""
        name = ""
        match node:
            case cst.Name(value=name):
                pass
            case cst.Attribute(value=inner, attr=cst.Name(value=field)) if owner := self.instance(inner):
                name = self.leaves[owner].get(field, "")
            case cst.Subscript(value=inner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
                at, own = number(index), self.rack(inner) or []
                name = own[at] if at is not None and -len(own) <= at < len(own) else ""
        return name if name in self.instances else ""

    def rack(self, node: Any) -> list[str] | None:
        """The objects of a list; None for anything else."""
        match node:
            case cst.Name(value=name):
                return self.racks.get(name)
            case cst.Tuple(elements=parts) | cst.List(elements=parts):
                own = [self.instance(p.value) for p in parts]
                return own if own and all(own) else None
            case cst.Attribute(value=inner, attr=cst.Name(value=field)) if owner := self.instance(inner):
                return self.racks.get(self.leaves[owner].get(field, ""))
        return None

    def built(self, name: str, call: Any) -> list[Any] | None:
        """``name = Class(…)`` of a class with methods; None for anything else."""
        kind = self.scope.records.get(dotted(call.func)) if isinstance(call, cst.Call) else None
        if kind is None or kind.fields or not kind.methods:
            return None
        if "__init__" in kind.methods:
            return self.constructed(name, kind, call)  # type: ignore[no-any-return]
        if call.args:
            return None
        self.declare(name, kind)
        return []

    def objects(self, value: Any) -> bool:
        """Is a value an object, or made as one?"""
        kind = self.scope.records.get(dotted(value.func)) if isinstance(value, cst.Call) else None
        return bool(self.instance(value)) or (kind is not None and not kind.fields and bool(kind.methods))

    def several(self, value: Any) -> bool:
        """Is a value a list of objects?"""
        parts = value.elements if isinstance(value, cst.List | cst.Tuple) else ()
        return bool(parts) and all(self.objects(p.value) for p in parts)

    def racked(self, name: str, value: Any) -> list[Any] | None:
        """``layers = [Dense(w), Relu()]``; None for another list."""
        parts = [e.value for e in value.elements]
        lines: list[Any] = []
        own: list[str] = []
        for at, part in enumerate(parts):
            held = self.instance(part)
            if not held:
                held = fresh(self.taken, f"{name}_{at}")
                self.taken.add(held)
                made = self.built(held, part)
                if made is None:
                    return None
                lines += made
            own.append(held)
        self.racks[name] = own
        return lines

    def only_walked(self, name: str) -> bool:
        """Is a list made once, and only walked and asked for its elements?"""
        uses_of = sum(isinstance(n, cst.Name) and n.value == name for n in walk(self.node.body))
        known = 0
        for inner in walk(self.node.body):
            match inner:
                case cst.For(iter=over):
                    while isinstance(over, cst.Call) and dotted(over.func) in _WALKS and len(over.args) == 1:
                        over = over.args[0].value
                    known += dotted(over) == name
                case cst.Subscript(value=cst.Name(value=own), slice=[cst.SubscriptElement(slice=cst.Index(value=at))]):
                    known += own == name and number(at) is not None
        return self.own_times(name) == 1 and uses_of == known + 1

    def over_objects(self, loop: cst.For) -> list[Any] | None:
        """A loop over objects, round by round; None for another loop."""
        over: Any = loop.iter
        counts = backwards = False
        while isinstance(over, cst.Call) and dotted(over.func) in _WALKS and len(over.args) == 1:
            if dotted(over.func) == "enumerate" and not backwards and not counts:
                counts = True
            elif dotted(over.func) == "reversed" and not backwards:
                backwards = True
            elif dotted(over.func) not in ("list", "tuple"):
                return None
            over = over.args[0].value
        own = self.rack(over)
        if own is None or loop.orelse is not None or uses(loop.body.body, cst.Break, cst.Continue):
            return None
        target: Any = loop.target
        count = ""
        if counts:
            if not isinstance(target, cst.Tuple) or len(target.elements) != 2:
                return None
            count, target = dotted(target.elements[0].value), target.elements[1].value
        if not isinstance(target, cst.Name) or self.own_times(target.value) > 1 or target.value in self.instances:
            return None
        lines: list[Any] = []
        for at, name in enumerate(own[::-1] if backwards else own):
            names: dict[str, Any] = {target.value: cst.Name(name)} | ({count: integer(at)} if count else {})
            lines += self.block([renamed(self.scope.source, s, names) for s in loop.body.body])
        return lines


_WALKS = frozenset(("enumerate", "reversed", "list", "tuple"))
