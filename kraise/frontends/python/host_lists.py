"""Lists of arrays in Python host functions as names of their own.

``bufs = [a, b]`` is ``bufs_0 = a`` and ``bufs_1 = b``; ``bufs[0]`` is ``bufs_0``, and ``bufs[cur]`` a name of its own
that points to one of them (:class:`kraise.ir.host.Chosen`). ``acts.append(x)`` is the next name; a loop over the arrays
of a list, or over the numbers that index one, is written out. The function's tree is rewritten before it is read.

Side condition, checked: how many arrays a list holds is known at every place.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import libcst as cst

from kraise.frontends.python import host_objects
from kraise.frontends.python.host_rounds import MOST_ROUNDS, Rounds, integer, number, truth, tuple_of
from kraise.frontends.python.host_scope import HostScope, array_names
from kraise.frontends.python.host_tables import only_walked, rows_of, tables
from kraise.frontends.python.source import all_of, dotted, rebuilt, walk
from kraise.ir.host_names import fresh


def without_lists(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with names for the arrays of its lists, and for grid and block of ``k[config]``. Raises Refused."""
    if not any(
        isinstance(n, cst.List | cst.ListComp | cst.GeneratorExp | cst.Tuple | cst.Dict | cst.Call | cst.Subscript)
        for n in walk(node.body)
    ):
        return node
    array_names(scope, node)
    lists = Lists(scope, node)
    body = lists.block(node.body)
    if not lists.touched:
        return node
    new = node.with_changes(body=body)
    for made, old in ((new, node), (new.name, node.name)):
        if old in scope.source.positions:
            scope.source.positions.setdefault(made, scope.source.positions[old])
    return new


class Lists(Rounds):
    """The lists of one function."""

    def __init__(self, scope: HostScope, node: cst.FunctionDef):
        self.scope, self.function = scope, node
        self.taken = {n.value for n in all_of(cst.Name, node)}
        self.lists: dict[str, list[str]] = {}
        self.keys: dict[str, dict[str, str]] = {}  # of dicts
        self.made_at: dict[str, int] = {}  # inside how many loops and branches a dict is made
        self.constants: dict[str, cst.BaseExpression] = {}  # the counters of loops that are written out
        self.before: list[cst.BaseSmallStatement] = []
        self.appended: dict[str, list[cst.BaseExpression]] = {}
        self.configurations: dict[str, list[str]] = {}  # grid, block, … of ``config`` in ``k[config]``
        for n in walk(node.body):
            match n:
                case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="append")), args=[cst.Arg(value=a)]):
                    self.appended.setdefault(dotted(owner), []).append(a)
                case cst.Subscript(
                    value=kernel, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Name(value=c)))]
                ):
                    if dotted(kernel) in {*scope.functions, *scope.refused}:
                        self.configurations[c] = []
        uses = Counter(n.value for n in all_of(cst.Name, node))
        asked = Counter(
            n.slice[0].slice.value.value
            for n in all_of(cst.Subscript, node.body)
            if len(n.slice) == 1
            and isinstance(n.slice[0].slice, cst.Index) and isinstance(n.slice[0].slice.value, cst.Name)
            and dotted(n.value) in {*scope.functions, *scope.refused}
        )  # fmt: skip
        for p in host_objects.parameters(node):  # def run(x, config): kernel[config](x)
            if asked[p.name.value] and uses[p.name.value] == asked[p.name.value] + 1 and p.default is None:
                scope.geometry.add(p.name.value)
                scope.drop(p, "a launch configuration")
        self.tables = tables(scope, node)
        self.fixed = 0  # inside how many loops and branches that stay
        self.touched = False

    # --- statements

    def block(self, block: cst.BaseSuite) -> cst.BaseSuite:
        """A block with its statements rewritten."""
        lines = [line for s in block.body for line in self.line(s)]
        lines = lines or [cst.SimpleStatementLine([cst.Pass()])]
        if isinstance(block, cst.SimpleStatementSuite):
            return cst.IndentedBlock(lines)
        return block.with_changes(body=lines)

    def line(self, node: Any) -> list[Any]:
        """One statement or block statement."""
        match node:
            case cst.SimpleStatementLine(body=parts) | cst.SimpleStatementSuite(body=parts):
                return [self.alone(s, node) for part in parts for s in self.small(part)]
            case cst.For():
                written = self.written_out(node)
                if written is not None:
                    return written
            case cst.If(test=test, body=body, orelse=orelse) if (
                self.constants and (chosen := truth(self.expression(test))) is not None
            ):  # of a round that is written out
                self.touched = True
                if chosen:
                    return [line for s in body.body for line in self.line(s)]
                if orelse is None or isinstance(orelse, cst.If):
                    return self.line(orelse) if orelse is not None else []
                return [line for s in orelse.body.body for line in self.line(s)]
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            return [node]
        kept = {}
        for name in ("test", "iter", "items"):
            part = getattr(node, name, None)
            if isinstance(part, cst.CSTNode):
                kept[name] = self.expression(part)
        first = [self.alone(s, node) for s in self.flushed()]
        self.fixed += 1
        if isinstance(getattr(node, "body", None), cst.BaseSuite):
            kept["body"] = self.block(node.body)
        orelse = getattr(node, "orelse", None)
        if isinstance(orelse, cst.If):
            kept["orelse"] = self.line(orelse)[0]
        elif orelse is not None:
            kept["orelse"] = orelse.with_changes(body=self.block(orelse.body))
        self.fixed -= 1
        return [*first, self.placed(node.with_changes(**kept), node)]

    def small(self, node: cst.BaseSmallStatement) -> list[cst.BaseSmallStatement]:
        """A simple statement: those that it becomes."""
        found = self.of_list(node)
        if found is None:
            found = [self.expression(node)]
        return [*self.flushed(), *found]

    def of_list(self, node: cst.BaseSmallStatement) -> list[cst.BaseSmallStatement] | None:
        """A statement that makes or changes a list; None for any other."""
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) if name in self.tables and (
                only_walked(self.function, name, self.tables[name])
            ):
                self.touched = True
                return []
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))],
                            value=cst.Call(func=cst.Name(value="tuple")) as value) if (
                (numbers := self.elements(value)) and not self.holds_arrays(numbers)
            ):  # fmt: skip
                self.touched = True
                return [self.named(name, tuple_of(numbers), node)]
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                if dotted(value) in self.lists:
                    self.lists[name] = self.lists[dotted(value)]
                    self.touched = True
                    return []
                if name in self.configurations and isinstance(value, cst.Tuple) and 2 <= len(value.elements) <= 4:
                    words = ("grid", "block", "stream", "shared")[: len(value.elements)]
                    self.configurations[name] = own = [fresh(self.taken, f"{name}_{w}") for w in words]
                    self.touched = True
                    pairs = zip(own, value.elements, strict=True)
                    return [self.named(n, self.expression(e.value), node) for n, e in pairs]
                entries = self.dictionary(value)
                if entries is not None and (name not in self.keys or not self.fixed):
                    self.touched = True
                    self.made_at[name] = self.fixed
                    self.keys[name] = {key: fresh(self.taken, f"{name}_{key}") for key, _ in entries}
                    return [self.named(self.keys[name][key], e, node) for key, e in entries]
                if entries is not None:
                    return self.entered_again(name, entries, node)
                parts = self.elements(value)
                if parts is not None and (
                    self.holds_arrays(parts) or name in self.lists or (not parts and name in self.appended)
                ):
                    return self.made(name, parts, node)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript(value=cst.Name(value=name), slice=[
                cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]))], value=value) if (
                str(key.evaluated_value) not in self.keys.get(name, {}) and self.made_at.get(name) == self.fixed
            ):  # fmt: skip
                made = fresh(self.taken, f"{name}_{key.evaluated_value!s}")
                self.keys[name][str(key.evaluated_value)] = made
                self.touched = True
                return [self.named(made, self.expression(value), node)]
            case cst.Return(value=value) if value is not None and not isinstance(value, cst.Tuple | cst.Name):
                entries = self.dictionary(value)
                given = [e for _, e in entries] if entries is not None else self.elements(value)
                if given is not None:
                    self.touched = True
                    return [self.placed(cst.Return(tuple_of(given)), node)]
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() as target)], value=value):
                generated = isinstance(value, cst.GeneratorExp | cst.ListComp) or dotted(value) in self.lists
                parts = self.elements(value) if generated else None
                if parts is not None and len(parts) == len(target.elements):
                    self.touched = True
                    return [self.assigned(t.value, p, node) for t, p in zip(target.elements, parts, strict=True)]
            case cst.Expr(value=cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=verb)), args=args)) if (
                dotted(owner) in self.lists
            ):
                turned = self.turned(dotted(owner), verb, [a.value for a in args])
                if turned is not None:
                    return self.made(dotted(owner), [cst.Name(n) for n in turned], node)
                return self.method(dotted(owner), verb, [self.expression(a.value) for a in args], node)
        return None

    def made(self, name: str, parts: list[cst.BaseExpression], node: cst.CSTNode) -> list[cst.BaseSmallStatement]:
        """``name = [parts]``."""
        self.touched = True
        own = self.lists.get(name)
        if own is not None and len(own) == len(parts) and all(isinstance(p, cst.Name) for p in parts):
            moved = [p.value for p in parts]  # type: ignore[attr-defined]
            if set(moved) <= set(own):  # the same arrays in another order
                to, source = (cst.Tuple([cst.Element(cst.Name(n)) for n in x]) for x in (own, moved))
                return [self.placed(cst.Assign([cst.AssignTarget(to)], source), node)] if own != moved else []
        if own is not None and self.fixed:
            raise self.scope.refuse(node, f"the list {name} is made anew in a loop or a branch", "make it before")
        names = [fresh(self.taken, f"{name}_{n}") for n in range(len(parts))]
        self.lists[name] = names
        out: list[cst.BaseSmallStatement] = []
        for n, p in zip(names, parts, strict=True):
            inner = rows_of(p)
            out += self.made(n, inner, node) if self.holds_arrays(inner) else [self.named(n, p, node)]
        return out

    def method(self, name: str, verb: str, args: list[Any], node: cst.CSTNode) -> list[cst.BaseSmallStatement]:
        """``bufs.append(x)``, ``bufs.reverse()``."""
        own = self.lists[name]
        self.touched = True
        if verb == "append" and len(args) == 1:
            if self.fixed:
                reason = f"the list {name} grows in a loop whose rounds are not written out, or in a branch"
                raise self.scope.refuse(node, reason, "store the rounds in one array with one axis more")
            own.append(fresh(self.taken, f"{name}_{len(own)}"))
            return [self.named(own[-1], args[0], node)]
        if verb == "reverse" and not args:
            return self.made(name, [cst.Name(n) for n in reversed(own)], node)
        if verb == "extend" and len(args) == 1 and not self.fixed:
            more = self.elements(args[0])
            if more is not None:
                return [s for e in more for s in self.method(name, "append", [e], node)]
        raise self.scope.refuse(node, f"{name}.{verb} is not known for a list of arrays", "use indices and append")

    # --- expressions

    def expression(self, node: Any) -> Any:
        """An expression, or a statement, with names for the arrays of lists."""
        return rebuilt(self.scope.source, node, self.changed)

    def changed(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What stands in place of a node; None for one that stays."""
        match node:
            case cst.Name(value=name) if name in self.constants:
                return self.constants[name]
            case cst.Arg(keyword=cst.Name() as word, value=value):
                new = self.expression(value)
                return node.with_changes(keyword=word, value=new) if new is not value else node
            case cst.Attribute(value=value, attr=attr):
                new = self.expression(value)
                return node.with_changes(value=new, attr=attr) if new is not value else node
            case cst.Call(args=args) if any(a.star == "*" and dotted(a.value) in self.lists for a in args):
                return self.spread(node)
            case cst.Call() if (popped := self.popped(node)) is not None:
                return popped
            case cst.Call(func=func, args=[cst.Arg(value=cst.Name(value=name)) as first, *rest]) if (
                name in self.lists and self.scope.imports.qualified(dotted(func)).startswith(("numpy.", "cupy."))
            ):
                whole = cst.List([cst.Element(cst.Name(n)) for n in self.lists[name]])
                return node.with_changes(args=[first.with_changes(value=whole), *map(self.expression, rest)])
            case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=owner)]) if dotted(owner) in self.lists:
                return integer(len(self.lists[dotted(owner)]))
            case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=owner)]) if rows := rows_of(
                self.entry(owner)
            ):
                self.touched = True
                return integer(len(rows))
            case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
                name = dotted(owner)
                if isinstance(owner, cst.Subscript) and dotted(owner.value) in self.lists:  # of a list of lists
                    name = dotted(self.expression(owner))
                if parts := self.configurations.get(dotted(index), []):
                    items = [cst.SubscriptElement(cst.Index(cst.Name(n))) for n in parts]
                    return node.with_changes(slice=items)
                if name in self.keys and isinstance(index, cst.SimpleString):
                    key = str(index.evaluated_value)
                    if key in self.keys[name]:
                        return cst.Name(self.keys[name][key])
                entries = self.dictionary(owner) if isinstance(index, cst.SimpleString) else None
                if entries is not None and isinstance(index, cst.SimpleString):
                    picked = dict(entries).get(str(index.evaluated_value))
                    if picked is not None:
                        self.touched = True
                        return picked
                if name in self.lists:
                    return self.chosen(name, self.lists[name], self.expression(index), node)
                if (found := self.entry(node)) is not None and not isinstance(found, cst.List | cst.Tuple | cst.Name):
                    return found.deep_clone()
                if isinstance(owner, cst.List | cst.Tuple):
                    given = [self.expression(e.value) for e in owner.elements]
                    if self.holds_arrays(given) and all(dotted(p) for p in given):
                        return self.chosen("choice", [dotted(p) for p in given], self.expression(index), node)
            case cst.Return(value=cst.Name() as value) if value.value in self.lists or value.value in self.keys:
                self.touched = True
                own = self.lists.get(value.value) or [*self.keys.get(value.value, {}).values()]
                return node.with_changes(value=tuple_of([*map(cst.Name, own)]))
            case cst.Name(value=name) if name in self.lists:
                raise self.scope.refuse(
                    node, f"the list of arrays {name} is used as a whole", "name its arrays one by one"
                )
        return None

    def chosen(self, name: str, own: list[str], index: cst.BaseExpression, node: cst.CSTNode) -> cst.Name:
        """``bufs[index]`` as a name."""
        self.touched = True
        known = number(index)
        if known is not None:
            if not -len(own) <= known < len(own):
                raise self.scope.refuse(node, f"the list {name} has {len(own)} arrays here", "make it longer first")
            return cst.Name(own[known])
        at = fresh(self.taken, f"{name}_at")
        self.scope.banks[at] = tuple(own)
        choice = cst.Subscript(cst.Name(at), [cst.SubscriptElement(cst.Index(index))])
        self.before.append(self.placed(cst.Assign([cst.AssignTarget(cst.Name(at))], self.placed(choice, node)), node))
        return self.placed(cst.Name(at), node)

    def elements(self, node: cst.BaseExpression) -> list[cst.BaseExpression] | None:
        """The elements of a list where they are known; None for anything else."""
        match node:
            case cst.Name(value=name) if name in self.lists:
                return [cst.Name(n) for n in self.lists[name]]
            case cst.List(elements=parts) | cst.Tuple(elements=parts):
                if any(isinstance(p, cst.StarredElement) for p in parts):
                    return None
                return [self.expression(p.value) for p in parts]
            case cst.ListComp(elt=each, for_in=cst.CompFor(target=target, iter=over, ifs=[], inner_for_in=None)) | (
                cst.GeneratorExp(elt=each, for_in=cst.CompFor(target=target, iter=over, ifs=[], inner_for_in=None))
            ):
                rounds = self.rounds(over)
                if rounds is None or len(rounds) > MOST_ROUNDS:
                    return None
                out = []
                for value in rounds:
                    outer = dict(self.constants)
                    self.constants.update(self.bound(target, value, node))
                    out.append(self.expression(each))
                    self.constants = outer
                return out
            case cst.Call(func=cst.Name(value="list" | "tuple" | "deque"), args=[cst.Arg(value=inner), *_]):
                return self.elements(inner)
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="copy" | "values")), args=[]) if (
                dotted(owner) in self.lists or dotted(owner) in self.keys
            ):
                return [cst.Name(n) for n in self.lists.get(dotted(owner)) or self.keys[dotted(owner)].values()]
            case cst.Subscript(
                value=cst.Name(value=name), slice=[cst.SubscriptElement(slice=cst.Slice() as piece)]
            ) if name in self.lists:
                ends = (piece.lower, piece.upper, piece.step)
                bounds = [None if e is None else number(self.expression(e)) for e in ends]
                given = [e for e in ends if e is not None]
                if len(given) == sum(n is not None for n in bounds):
                    return [*map(cst.Name, self.lists[name][slice(*bounds)])]
            case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
                one, two = self.elements(left), self.elements(right)
                return None if one is None or two is None else one + two
        return None

    def is_array(self, node: cst.BaseExpression) -> bool:
        """Is an element an array?"""
        return dotted(node) in self.made_names() or self.scope.is_array(node)

    def holds_arrays(self, parts: list[cst.BaseExpression]) -> bool:
        """Are the elements arrays, or tuples that hold some?"""
        return any(
            self.is_array(p)
            or (isinstance(p, cst.Tuple | cst.List) and self.holds_arrays([e.value for e in p.elements]))
            for p in parts
        )

    # --- nodes

    def named(self, name: str, value: cst.BaseExpression, node: cst.CSTNode) -> Any:
        """``name = value``."""
        return self.assigned(cst.Name(name), value, node)

    def assigned(self, target: Any, value: cst.BaseExpression, node: cst.CSTNode) -> Any:
        """``target = value``."""
        return self.placed(cst.Assign([cst.AssignTarget(target)], value), node)

    def alone(self, small: Any, node: cst.CSTNode) -> Any:
        """A simple statement on a line of its own."""
        return self.placed(cst.SimpleStatementLine([small]), node)

    def flushed(self) -> list[cst.BaseSmallStatement]:
        """What the expressions read so far need before them."""
        found, self.before = self.before, []
        return found

    def placed(self, new: Any, old: cst.CSTNode) -> Any:
        """A new node at the place of an old one."""
        positions = self.scope.source.positions
        if old in positions:
            positions.setdefault(new, positions[old])
        return new
