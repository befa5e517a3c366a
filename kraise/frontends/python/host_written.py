"""Calls within Python host functions written out at their place, and records as names of their own.

``blocks = cdiv(n, 64)`` is ``blocks = (n + 64 - 1) // 64``; a helper, a local function or a method with statements is
those statements, with ``return e`` as an assignment. ``s = State(u, v)`` is ``s_u, s_v = u, v``, ``s.u`` is ``s_u``,
and ``sim = Heat(x); sim.step()`` the statements of both with ``sim_u`` for ``self.u``. The function's tree is rewritten
before it is read; a call that cannot be written out stays, and is refused where it is read.

Side conditions, checked: a helper's own names get names of their own; a name that it takes from the module means the
same here; statements come out of an expression only where it is evaluated for sure, once.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python import host_objects
from kraise.frontends.python.host_closures import Closures
from kraise.frontends.python.host_enumerators import Enumerators
from kraise.frontends.python.host_generated import Generated
from kraise.frontends.python.host_inlined import bracketed, bundles_of, uses
from kraise.frontends.python.host_kept import without_nones, without_records
from kraise.frontends.python.host_rounds import tuple_of
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_several import Several
from kraise.frontends.python.host_units import Record, Unit, assigned, generators, of_lambda, unit
from kraise.frontends.python.source import all_of, dotted, rebuilt


def written_out(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with its calls of helpers, local functions and methods written out."""
    return Written(scope, node).function()


class Written(Enumerators, Generated, Several, Closures):
    """One host function."""

    def __init__(self, scope: HostScope, node: cst.FunctionDef):
        self.scope, self.node = scope, node
        self.units: dict[str, Unit] = dict(scope.units)
        self.generators: dict[str, Unit] = dict(scope.generators)
        self.taken = {n.value for n in all_of(cst.Name, node)}
        self.own = assigned(node)
        self.instances: dict[str, Record] = {}
        self.racks: dict[str, list[str]] = {}  # lists of instances
        self.leaves: dict[str, dict[str, str]] = {}  # name of an instance -> field -> name
        self.bundles = bundles_of(node)
        self.parameters: set[str] = set()  # those that are given by their fields
        self.before: list[Any] = []
        self.root: Any = None  # the expression that is being rewritten
        self.unsure = 0  # inside how many expressions that may not be evaluated
        self.depth = 0

    def function(self) -> cst.FunctionDef:
        """The function written out."""
        lines = self.node.body.body if isinstance(self.node.body, cst.IndentedBlock) else [self.node.body]
        objects = host_objects.objects(self.scope, self.node)
        self.parameters = set(objects)
        for name, kind in objects.items():
            self.declare(name, kind)
        body = without_nones(without_records(self.block(lines), self.scope.imports))
        if len(body) == len(lines) and all(a is b for a, b in zip(body, lines, strict=True)):
            return self.node
        new = self.node.with_changes(body=self.suite(body), params=self.fields_for(objects))
        self.placed(new, self.node)
        self.placed(new.name, self.node.name)
        return new

    def fields_for(self, objects: dict[str, Record]) -> cst.Parameters:
        """The parameters, with the fields that are used in place of objects."""
        params = self.node.params
        kept: dict[str, list[cst.Param]] = {}
        for which in ("posonly_params", "params", "kwonly_params"):
            kept[which] = []
            for p in getattr(params, which):
                kind = objects.get(p.name.value)
                if kind is None:
                    kept[which].append(p)
                    continue
                own = self.leaves[p.name.value]
                given = host_objects.defaults(kind, p.default) if p.default is not None else None
                for field in [f for f, _ in kind.fields if f in own]:
                    made = cst.Param(cst.Name(own[field]), default=None if given is None else given[field], star="")
                    kept[which].append(self.placed(made, p))
                    self.placed(made.name, p)
                self.scope.objects[p.name.value] = ", ".join(own[f] for f, _ in kind.fields if f in own)
        return params.with_changes(**kept) if objects else params

    def block(self, lines: Any) -> list[Any]:
        """Statements, written out."""
        return [new for line in lines for new in self.statement(line)]

    def suite(self, lines: list[Any]) -> cst.IndentedBlock:
        """Statements as a block."""
        return cst.IndentedBlock(lines or [cst.SimpleStatementLine([cst.Pass()])])

    def statement(self, node: Any) -> list[Any]:
        """One statement: those that it becomes."""
        match node:
            case cst.SimpleStatementLine(body=parts) | cst.SimpleStatementSuite(body=parts):
                out = [line for p in parts for line in self.small(p, node)]
                same = (
                    len(out) == len(parts) == 1
                    and isinstance(out[0], cst.SimpleStatementLine)
                    and out[0].body[0] is parts[0]
                )
                return [node] if same and isinstance(node, cst.SimpleStatementLine) else out
            case cst.FunctionDef():
                made = unit(node, local=True)
                if (own := generators([node], local=True)) and self.own_times(node.name.value) <= 1:
                    self.generators |= own
                    return []
                if made is None or self.own_times(made.name) > 1:
                    return [node]
                self.units[made.name] = made
                return []
            case cst.With(items=[cst.WithItem(item=cst.Call() as call, asname=asname)], body=body) if (
                dotted(call.func) in self.scope.contexts
            ):
                found = self.around(self.scope.contexts[dotted(call.func)], call, asname, body)
                return [node] if found is None else found
            case cst.With(items=[cst.WithItem(item=cst.Call() as call, asname=asname)], body=body) if (
                "__exit__" in getattr(self.scope.records.get(dotted(call.func)), "methods", {})
            ):
                entered = self.entered(call, asname, body)
                return [node] if entered is None else entered
            case cst.For(iter=cst.Call(func=cst.Name(value=name))) if name in self.generators and node.orelse is None:
                generated = self.generated(self.generators[name], node)
                return [node] if generated is None else generated
            case cst.For() if (written := self.over_objects(node)) is not None:
                return written
            case cst.If(test=test, body=body, orelse=orelse) if (chosen := self.decided(test)) is not None:
                other: Any = [] if orelse is None else [orelse] if isinstance(orelse, cst.If) else orelse.body.body
                return self.block(body.body if chosen else other)
        kept: dict[str, Any] = {}
        first: list[Any] = []
        for name in ("test", "iter"):
            part = getattr(node, name, None)
            if isinstance(part, cst.CSTNode):
                new = self.expression(part)
                kept[name] = new
        again: list[Any] = []
        if self.before and isinstance(node, cst.While):  # before the loop and at the end of each round
            if uses(node.body.body, cst.Continue):
                self.before, kept = [], {}
            again = list(self.before)
        first = self.flushed()
        for name in ("body", "orelse", "finalbody"):
            part = getattr(node, name, None)
            if isinstance(part, cst.If):
                inner = self.statement(part)
                one = len(inner) == 1 and isinstance(inner[0], cst.If)
                kept[name] = inner[0] if one else cst.Else(self.suite(inner))
            elif isinstance(part, cst.Else | cst.Finally):
                kept[name] = part.with_changes(body=self.suite(self.block(part.body.body)))
            elif isinstance(part, cst.BaseSuite):
                lines = self.block(part.body) + again
                same = len(lines) == len(part.body) and all(a is b for a, b in zip(lines, part.body, strict=True))
                kept[name] = part if same else self.suite(lines)
        if not first and all(getattr(node, n) is new for n, new in kept.items()):
            return [node]
        return [*first, self.placed(node.with_changes(**kept), node)]

    def small(self, node: Any, line: Any) -> list[Any]:
        """A simple statement: the lines that it becomes."""
        found: list[Any] | None = None
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Lambda() as value):
                made = of_lambda(name, value, local=True)
                if made is not None and self.own_times(name) == 1:
                    self.units[name] = made
                    return []
            case cst.AnnAssign(target=cst.Name() as target, value=cst.Call() as value):
                if self.made_by(value) is not None:
                    return self.small(cst.Assign([cst.AssignTarget(target)], value), line)
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
                found = self.assign(target, value, node)
            case cst.Expr(value=cst.Call() as call):
                found = self.written(call, None, False)
            case cst.Return(value=value) if value is not None:
                found = self.returned(value, node)
        if found is not None:
            return [*self.flushed(), *found]
        new = self.expression(node)
        return [*self.flushed(), self.line(new, line)]

    def returned(self, value: Any, node: cst.CSTNode) -> list[Any] | None:
        """``return`` of a record, or of what a written out call returns."""
        record = self.record(value)
        if record is not None:
            given = [v for _, v in record[1] if not (isinstance(v, cst.List | cst.Dict) and not v.elements)]
            if len(given) < len(record[1]):
                self.scope.drop(node, "a list without elements")
            parts = tuple_of(given)
            return [self.line(self.placed(cst.Return(parts), node), node)]
        if isinstance(value, cst.Call):
            return self.written(value, None, True)
        return None

    def assign(self, target: Any, value: Any, node: cst.CSTNode) -> list[Any] | None:
        """An assignment of a record, or of what a call gives; None for any other."""
        name = dotted(target)
        match value:  # self.grid_nx = grid.nx of __init__, whose attributes are names here
            case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=field)) if (
                owner in self.parameters and name == f"{owner}_{field}" and self.own_times(name) == 1
                and field not in self.leaves[owner]
            ):  # fmt: skip
                self.leaves[owner][field] = name
                return []
        if isinstance(target, cst.Attribute) and (whose := self.instance(target.value)) and self.several(value):
            held = self.leaf(whose, target.attr.value)
            return self.racked(held, value) if held not in self.racks else None
        if isinstance(target, cst.Attribute) and whose and self.objects(value):
            held = self.leaf(whose, target.attr.value)  # self.op = op, self.op = Operator(a)
            if held not in self.instances and isinstance(value, cst.Call):
                return self.built(held, value)
            if held not in self.instances:
                self.instances[held] = self.instances[self.instance(value)]
                self.leaves[held] = self.leaves[self.instance(value)]
                return []
            raise self.scope.refuse(node, f"{held} may be another object", "make an object of its own")
        if isinstance(target, cst.Name):
            other = self.instance(value)
            given = self.instances.get(other)
            if given is not None and not given.is_tuple:  # another name for one object
                if name in self.instances or self.own_times(name) > 1 or self.own_times(other) > 1:
                    raise self.scope.refuse(node, f"{name} and {dotted(value)} may be one object", "copy its fields")
                self.instances[name], self.leaves[name] = self.instances[other], self.leaves[other]
                return []
            record = self.record(value)
            if record is not None:
                return self.bound(name, record, node)
            racked = self.racked(name, value) if self.several(value) and self.only_walked(name) else None
            if racked is not None:
                return racked
            made = self.built(name, value) if self.own_times(name) <= 1 else None
            if made is None and isinstance(value, cst.Call):
                made = self.closure(name, value)
            if made is not None:
                return made
        if isinstance(target, cst.Tuple):
            record = self.record(value) if not isinstance(value, cst.Tuple) else None
            if record is not None and record[0].is_tuple and len(record[1]) == len(target.elements):
                return self.statement(self.line(cst.Assign([cst.AssignTarget(target)],
                                                           tuple_of([v for _, v in record[1]])), node))  # fmt: skip
            if isinstance(value, cst.Tuple) and len(value.elements) == len(target.elements):
                kept = list(self.before)
                flat = self.flattened(target, value)
                self.before = self.before if flat is not None else kept  # what it wrote out is written out below
                apart = self.constructors(target, value, node)
                if apart is not None:
                    return apart
                if flat is not None:
                    return [self.line(self.placed(cst.Assign([cst.AssignTarget(flat[0])], flat[1]), node), node)]
        if isinstance(value, cst.Call):
            return self.written(value, target, False)
        return None

    # --- expressions

    def expression(self, node: Any) -> Any:
        """An expression, or a simple statement, with calls and fields replaced."""
        outer, self.root = self.root, self.root or node
        found = rebuilt(self.scope.source, node, self.changed)
        self.root = outer
        return found

    def changed(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What stands in place of a node; None for one that stays."""
        match node:
            case cst.Arg(keyword=cst.Name() as word, value=value):
                new = self.expression(value)
                return node.with_changes(keyword=word, value=new) if new is not value else node
            case cst.BinaryOperation(left=left, operator=symbol, right=right) if (whose := self.instance(left)) and (
                verb := _DOUBLE.get(type(symbol), "")
            ) in self.instances[whose].methods:  # M @ x
                call = self.placed(cst.Call(cst.Attribute(cst.Name(whose), cst.Name(verb)), [cst.Arg(right)]), node)
                found = self.made_by(call)
                return None if found is None else self.value(found[0], call, found[1], node)
            case cst.Comparison() if (compared := self.compared(node)) is not None:
                return compared
            case cst.Attribute() if (place := self.enumerator(node)) is not None:
                return place
            case cst.NamedExpr(target=cst.Name() as target, value=value) if not self.unsure:
                made = cst.Assign([cst.AssignTarget(cst.Name(target.value))], self.expression(value))
                self.before.append(self.line(self.placed(made, node), node))
                return cst.Name(target.value)
            case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)) if owner in self.instances:
                kind = self.instances[owner]
                if name in kind.properties:
                    return self.value(kind.methods[name], cst.Call(node), cst.Name(owner), node)
                if name in kind.constants and name not in self.leaves[owner]:
                    return kind.constants[name]
                if name in kind.methods:
                    return node
                return cst.Name(self.leaf(owner, name))
            case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)) if (
                owner not in self.own and name in getattr(self.scope.records.get(owner), "constants", ())
            ):  # fmt: skip
                return self.scope.records[owner].constants[name]
            case cst.Attribute(value=cst.Subscript() as value, attr=attr) if owner := self.instance(value):
                whole = self.placed(cst.Attribute(cst.Name(owner), attr), node)
                return self.changed(whole) or whole
            case cst.Attribute(value=value, attr=attr):
                new = self.expression(value)
                if new is value:
                    return node
                whole = node.with_changes(value=new, attr=attr)
                of_object = isinstance(new, cst.Name) and new.value in self.instances
                return (self.changed(whole) if of_object else None) or whole
            case cst.Subscript(value=cst.Name(value=owner)) if owner in self.instances and (
                field := host_objects.key(node)
            ):
                return cst.Name(self.leaf(owner, field))
            case cst.Subscript(value=cst.Name(value=owner), slice=[cst.SubscriptElement(
                slice=cst.Index(value=cst.Integer() as at))]) if owner in self.instances:  # fmt: skip
                kind = self.instances[owner]
                if kind.is_tuple and at.evaluated_value < len(kind.fields):
                    return cst.Name(self.leaf(owner, kind.fields[at.evaluated_value][0]))
            case cst.Subscript(value=cst.Tuple(elements=parts), slice=[cst.SubscriptElement(
                slice=cst.Index(value=cst.Integer() as at))]) if (
                at.evaluated_value < len(parts) and not uses(parts, cst.Call, cst.StarredElement)
            ):  # fmt: skip
                return bracketed(self.expression(parts[at.evaluated_value].value))  # type: ignore[no-any-return]
            case cst.Subscript(value=cst.Call() as call) if dotted(call.func) in self.scope.hosts and not self.unsure:
                return self.part_of_result(node, call)
            case cst.IfExp() | cst.BooleanOperation() | cst.ListComp() | cst.GeneratorExp() | cst.DictComp():
                first = _FIRST.get(type(node), "")  # runs for sure
                given = {first: self.expression(getattr(node, first))} if first else {}
                if not isinstance(node, cst.IfExp | cst.BooleanOperation):
                    given["for_in"] = self.runs_over(node.for_in)
                self.unsure += 1
                given |= {n: self.expression(getattr(node, n)) for n in _PARTS[type(node)]}
                self.unsure -= 1
                same = all(getattr(node, n) is p for n, p in given.items())
                return node if same else node.with_changes(**given)
            case cst.Call():
                node = self.anchored(node)
                found = self.made_by(node)
                if found is not None:
                    return self.value(found[0], node, found[1], node)
                if dotted(node.func) in self.scope.hosts and node is not self.root and self.reads_before(node):
                    reason = f"the call of {dotted(node.func)} launches after something is read in the same expression"
                    raise self.scope.refuse(node, reason, "give it a line of its own before")
                return self.filled(node)
        return None

    def runs_over(self, node: cst.CompFor) -> cst.CompFor:
        """The loop of a comprehension: what it runs over first is evaluated for sure, once, the rest is not."""
        over = self.expression(node.iter)
        return node if over is node.iter else node.with_changes(iter=over)

    def own_times(self, name: str) -> int:
        """How often the function sets a name."""
        return sum(
            name in assigned(n)
            for n in all_of(cst.BaseSmallStatement | cst.FunctionDef, self.node.body)
            if not isinstance(n, cst.SimpleStatementLine)
        )

    def flushed(self) -> list[Any]:
        """What the expressions read so far need before them."""
        found, self.before = self.before, []
        return found

    def line(self, small: Any, node: cst.CSTNode) -> Any:
        """A simple statement on a line of its own."""
        return self.placed(cst.SimpleStatementLine([small]), node)

    def placed(self, new: Any, old: cst.CSTNode) -> Any:
        """A new node at the place of an old one."""
        positions = self.scope.source.positions
        if old in positions:
            positions.setdefault(new, positions[old])
        return new


_DOUBLE: dict[type, str] = {
    cst.MatrixMultiply: "__matmul__", cst.Add: "__add__", cst.Subtract: "__sub__", cst.Multiply: "__mul__",
}  # fmt: skip
_PARTS: dict[type, tuple[str, ...]] = {
    cst.IfExp: ("body", "orelse"),
    cst.BooleanOperation: ("right",),
    cst.ListComp: ("elt",),
    cst.GeneratorExp: ("elt",),
    cst.DictComp: ("key", "value"),
}
_FIRST: dict[type, str] = {cst.IfExp: "test", cst.BooleanOperation: "left"}
