"""Methods of a class whose state is ``self.…`` as functions of that state.

``Heat.step`` becomes ``Heat_step(u, v, dt)``: first the attributes that it uses, in the order of their assignment,
then its own parameters. It returns what the method returns, then the attributes that it changes, in that order;
``__init__`` becomes ``Heat_init``, which returns them all. An attribute that only ``__init__`` sets, to a number known
from constants and such attributes (``self.blocks = (self.n + 255) // 256``), is written out where it is used; one that
holds a stream or an event is made anew. ``self.step()`` is a call that rebinds what it changes.

Decorated methods are passed over, and classes of which not all is known (:mod:`.host_bases`). An attribute that a
method gives another name counts as changed by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import libcst as cst

from kraise.frontends.python.host_attributes import grown, parted, without_objects
from kraise.frontends.python.host_bases import whole_classes
from kraise.frontends.python.host_fixed import attribute, is_known, shape_of
from kraise.frontends.python.host_properties import without_properties
from kraise.frontends.python.host_scope import ignored_call
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, rebuilt, walk

_DEPTH = 3
Stores = Mapping[str, tuple[bool, ...]]


@dataclass(frozen=True)
class Method:
    """A method as a function: its class, the attributes by the names that they have there, those that it changes."""

    owner: str
    node: cst.FunctionDef
    spelled: Mapping[str, str]
    changed: frozenset[str]


@dataclass
class State:
    """A class: its methods, its attributes in the order of their assignment, and how each is written in a method."""

    name: str
    methods: dict[str, cst.FunctionDef]
    attributes: list[str] = field(default_factory=list)
    known: dict[str, cst.BaseExpression] = field(default_factory=dict)
    made: dict[str, cst.BaseExpression] = field(default_factory=dict)
    used: dict[str, set[str]] = field(default_factory=dict)
    changed: dict[str, set[str]] = field(default_factory=dict)

    @property
    def state(self) -> list[str]:
        """The attributes that functions pass around."""
        return [a for a in self.attributes if a not in self.known and a not in self.made]


def methods(
    source: Source, imports: Imports, stores: Stores, more: Mapping[str, set[str]] = MappingProxyType({})
) -> dict[str, Method]:
    """The methods of all classes as functions. ``stores`` says of each kernel which of its parameters it writes,
    ``more`` of functions which attributes they change beside those that are seen here."""
    out: dict[str, Method] = {}
    taken = {n for n, _ in imports.bound.items()} | set(stores)
    for node in whole_classes(source, imports):
        node = without_objects(source, grown(source, without_properties(source, node, imports), imports))
        found = _state(node, imports, stores, more)
        for _ in range(_DEPTH):  # tuples of tuples
            apart = parted(source, node, {*found.known, *found.made})
            if apart is node:
                break
            node, found = apart, _state(apart, imports, stores, more)
        for method in found.methods:
            name = function_name(found.name, method)
            writer = _Writer(source, found, method, taken)
            spelled = {writer.names[a]: a for a in found.state}
            out[name] = Method(found.name, writer.function(name), spelled, frozenset(found.changed[method]))
    return out


def function_name(owner: str, method: str) -> str:
    """The name of the function that a method becomes."""
    return f"{owner}_{method.strip('_')}"


def returned(node: cst.FunctionDef) -> tuple[str, ...]:
    """The names that the last statement of a function returns."""
    last = node.body.body[-1] if node.body.body else None
    part = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else None
    value = part.value if isinstance(part, cst.Return) else None
    parts = [e.value for e in value.elements] if isinstance(value, cst.Tuple) else [value] if value is not None else []
    return tuple(p.value for p in parts if isinstance(p, cst.Name))


def _targets(node: cst.CSTNode) -> list[cst.CSTNode]:
    """What a statement assigns to."""
    match node:
        case cst.Assign(targets=targets):
            return [e for t in targets for e in _parts(t.target)]
        case cst.AnnAssign(target=target) | cst.AugAssign(target=target):
            return [target]
    return []


def _parts(node: cst.CSTNode) -> list[cst.CSTNode]:
    return [p for e in node.elements for p in _parts(e.value)] if isinstance(node, cst.Tuple | cst.List) else [node]


def _state(node: cst.ClassDef, imports: Imports, stores: Stores, more: Mapping[str, set[str]]) -> State:
    own: dict[str, cst.FunctionDef] = {}
    found = State(node.name.value, own)
    for part in node.body.body:
        if isinstance(part, cst.FunctionDef) and not part.decorators and part.params.params[:1]:
            if part.params.params[0].name.value == "self":
                own[part.name.value] = part
        elif isinstance(part, cst.SimpleStatementLine):
            for small in part.body:
                match small:
                    case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                        found.known[name] = value
                    case cst.AnnAssign(target=cst.Name(value=name), value=cst.BaseExpression() as value):
                        found.known[name] = value
    order = sorted(own, key=lambda m: m != "__init__")
    times: dict[str, int] = {}
    first: dict[str, cst.BaseExpression] = {}
    fixed: set[str] = set()  # attributes that are set once, in a tuple
    for method in order:
        for inner in walk(own[method].body):
            for target in _targets(inner):
                name = attribute(target)
                if name:
                    found.attributes += [name] if name not in found.attributes else []
                    times[name] = times.get(name, 0) + 1
                    found.known.pop(name, None)
        for line in own[method].body.body if method == "__init__" else ():
            for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                match small:
                    case cst.Assign(targets=[cst.AssignTarget(target=target)], value=given) if attribute(target):
                        first[attribute(target)] = given
                    case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() as several)]):
                        fixed |= {attribute(t) for t in _parts(several)}
    once = {n for n, count in times.items() if count == 1 and n in first}
    fixed = {n for n in fixed if times.get(n) == 1} | once
    for name in found.attributes:
        if name in once:
            initial = first[name]
            if isinstance(initial, cst.Call) and ignored_call(imports.qualified(dotted(initial.func))):
                found.made[name] = initial
            elif (known := shape_of(initial, first, once)) is not None:
                found.known[name] = known
            elif is_known(initial, fixed, found, imports):
                found.known[name] = initial
    _effects(found, stores, more)
    return found


def _effects(found: State, stores: Stores, more: Mapping[str, set[str]]) -> None:
    """What each method uses and changes, with what the methods that it calls do."""
    calls: dict[str, set[str]] = {}
    for method, node in found.methods.items():
        used: dict[str, None] = {}
        changed = set(more.get(function_name(found.name, method), ()))
        calls[method] = set()
        for inner in walk(node.body):
            name = attribute(inner)
            if name in found.methods:
                calls[method].add(name)
            elif name:
                used[name] = None
            changed |= {attribute(t) for t in _targets(inner)} - {""}
            for target in _targets(inner):
                if isinstance(target, cst.Subscript) and attribute(target.value):
                    changed.add(attribute(target.value))
            match inner:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name())], value=value) if _arrays(value):
                    changed |= _arrays(value)
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple())], value=cst.Tuple(elements=several)):
                    changed |= {a for e in several for a in _arrays(e.value)}
                case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="copy_to_device" | "fill"))):
                    changed |= _arrays(owner)
                case cst.Call(func=func, args=args):
                    kernel = dotted(func.value) if isinstance(func, cst.Subscript) else dotted(func)
                    if isinstance(func, cst.Call):
                        kernel = dotted(func.func).removesuffix(".forall")
                    written = stores.get(kernel, ())
                    for argument, is_written in zip(args, written, strict=False):
                        changed |= _arrays(argument.value) if is_written else set()
        found.used[method] = set(used) | changed
        found.changed[method] = changed
    state = set(found.state)
    while True:
        before = [len(s) for s in (*found.used.values(), *found.changed.values())]
        for method, others in calls.items():
            for other in others:
                found.used[method] |= found.used[other]
                found.changed[method] |= found.changed[other]
            for name in list(found.used[method]):  # a value that is written out uses others
                if name in found.known:
                    found.used[method] |= {a for n in walk(found.known[name]) if (a := attribute(n))}
        if before == [len(s) for s in (*found.used.values(), *found.changed.values())]:
            break
    for method in found.methods:
        found.used[method] &= state
        found.changed[method] &= state


def _arrays(value: cst.CSTNode) -> set[str]:
    """The attributes that an expression names: ``self.x``, or one of ``(self.x, self.y)[i]``."""
    match value:
        case cst.Subscript(value=cst.Tuple(elements=parts) | cst.List(elements=parts)):
            return {attribute(p.value) for p in parts} - {""}
    return {attribute(value)} - {""}


class _Writer:
    """One method as a function."""

    def __init__(self, source: Source, found: State, method: str, taken: set[str]):
        self.source, self.found, self.method = source, found, method
        self.node = found.methods[method]
        self.params = [p for p in self.node.params.params if p.name.value != "self"]
        own = {n.value for n in all_of(cst.Name, self.node)}
        attributes = {a for n in walk(self.node) if (a := attribute(n))}
        bound = {p.name.value for p in (*self.params, *self.node.params.kwonly_params)}
        for inner in walk(self.node.body):
            bound |= {t.value for t in _targets(inner) if isinstance(t, cst.Name)}
            if isinstance(inner, cst.For) and isinstance(inner.target, cst.Name):
                bound.add(inner.target.value)
        clashing = bound | taken | (own - attributes)
        self.names = {a: f"self_{a}" if a in clashing else a for a in found.attributes}

    def ordered(self, names: set[str]) -> list[str]:
        """Attributes in the order of their assignment."""
        return [a for a in self.found.state if a in names]

    def set_first(self) -> set[str]:
        """The attributes that the method sets in any case, and that neither it nor a method that it calls reads."""
        lines = self.node.body.body
        plain = [s for line in lines if isinstance(line, cst.SimpleStatementLine) for s in line.body]
        targets = [t for s in plain if isinstance(s, cst.Assign) for t in _targets(s)]
        every = [t for n in all_of(cst.Assign, self.node.body) for t in _targets(n) if attribute(t)]
        named = [a for n in walk(self.node.body) if (a := attribute(n))]
        called = [m for m in named if m in self.found.methods]
        ends = any(isinstance(n, cst.Return) for line in lines[:-1] for n in walk(line))
        return set() if ends else {
            a for a in map(attribute, targets)
            if a and named.count(a) == sum(attribute(t) == a for t in every)
            and not any(a in self.found.used[m] for m in called)
        }  # fmt: skip

    def function(self, name: str) -> cst.FunctionDef:
        """The function."""
        found = self.found
        init = self.method == "__init__"
        given = [] if init else self.ordered(found.used[self.method] - self.set_first())
        params = [cst.Param(cst.Name(self.names[a])) for a in given]
        body = rebuilt(self.source, self.node.body, self.changed_node)
        lines = list(body.body)
        uses = {attribute(n) for n in walk(self.node.body)}
        for other in sorted(uses & set(found.made)) if not init else ():
            made = cst.Assign([cst.AssignTarget(cst.Name(self.names[other]))], found.made[other])
            lines.insert(0, cst.SimpleStatementLine([made]))
        back = found.state if init else self.ordered(found.changed[self.method])
        last = lines[-1] if lines else None
        ends = isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Return)
        if back and not ends:
            lines.append(cst.SimpleStatementLine([cst.Return(_tuple([cst.Name(self.names[a]) for a in back]))]))
        own = [
            p.with_changes(default=found.known.get(dotted(p.default), p.default)) if p.default is not None else p
            for p in self.params
        ]
        parameters = self.node.params.with_changes(params=[*params, *own])
        made_node = self.node.with_changes(
            name=cst.Name(name), params=parameters, body=body.with_changes(body=lines), leading_lines=[]
        )
        for new, old in ((made_node, self.node), (made_node.name, self.node.name)):
            if old in self.source.positions:
                self.source.positions[new] = self.source.positions[old]
        return made_node

    def changed_node(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What stands in place of a node; None for one that stays."""
        found = self.found
        match node:
            case cst.Expr(value=cst.Call() as call) if attribute(call.func) in found.methods:
                return self.called(call, []) or cst.Expr(self.call(call))
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Call() as call) if (
                attribute(call.func) in found.methods
            ):
                results = [rebuilt(self.source, p, self.changed_node) for p in _parts(target)]
                return self.called(call, results) or node.with_changes(
                    targets=[cst.AssignTarget(rebuilt(self.source, target, self.changed_node))], value=self.call(call)
                )
            case cst.Return(value=value) if self.method != "__init__":
                back = [cst.Name(self.names[a]) for a in self.ordered(found.changed[self.method])]
                kept: list[cst.BaseExpression] = []
                if value is not None and dotted(value) not in ("self", "None"):
                    whole = [e.value for e in value.elements] if isinstance(value, cst.Tuple) else [value]
                    kept = [rebuilt(self.source, p, self.changed_node) for p in whole]
                return node.with_changes(value=_tuple([*kept, *back]) if kept or back else None,
                                         whitespace_after_return=cst.SimpleWhitespace(" "))  # fmt: skip
            case cst.Call(func=func) if attribute(func) in found.methods:
                return self.call(node)
            case cst.Attribute() if attribute(node):
                return self.attribute(attribute(node))
            case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)) if owner == found.name:
                return self.attribute(name) if name in found.known else None
        return None

    def attribute(self, name: str) -> cst.BaseExpression | None:
        """``self.x`` in the function."""
        if name in self.found.known and self.method != "__init__":
            value = rebuilt(self.source, self.found.known[name], self.changed_node)
            simple = isinstance(value, cst.Integer | cst.Float | cst.Name | cst.Tuple)
            return value if simple else value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        if name in self.found.known and name not in self.found.attributes:
            return self.found.known[name]
        return cst.Name(self.names[name]) if name in self.names else None

    def call(self, call: cst.Call) -> cst.Call:
        """``self.step(…)`` as the call of the function that the method becomes."""
        other = attribute(call.func)
        given = [cst.Arg(cst.Name(self.names[a])) for a in self.ordered(self.found.used[other])]
        own = [rebuilt(self.source, a, self.changed_node) for a in call.args]
        return self.placed(cst.Call(cst.Name(function_name(self.found.name, other)), [*given, *own]), call)

    def called(self, call: cst.Call, results: list[cst.BaseExpression]) -> cst.Assign | None:
        """The call as a statement that binds what it changes anew; None where it changes nothing."""
        back = [cst.Name(self.names[a]) for a in self.ordered(self.found.changed[attribute(call.func)])]
        if not back:
            return None
        return self.placed(cst.Assign([cst.AssignTarget(_tuple([*results, *back]))], self.call(call)), call)

    def placed(self, new: cst.CSTNode, old: cst.CSTNode):  # type: ignore[no-untyped-def]
        """A new node at the place of an old one."""
        if old in self.source.positions:
            self.source.positions[new] = self.source.positions[old]
        return new


def _tuple(parts: list) -> Any:
    return parts[0] if len(parts) == 1 else cst.Tuple([cst.Element(p) for p in parts])
