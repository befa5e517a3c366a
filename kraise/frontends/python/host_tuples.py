"""Tuples of numbers in Python host functions: extents, grids, blocks.

``shape = u.shape`` stands for ``u.shape`` where it is taken apart; ``tuple(ceil(s / t) for s, t in zip(shape, block))``
is ``(ceil(u.shape[0] / 16), ceil(u.shape[1] / 16))``; ``a = b = e`` is ``b = e`` and ``a = b``; ``ny, nx = dims``,
``len(dims)``, ``(*dims, 3)``, ``dims + (3,)``, ``dims[::-1]`` and ``prod(dims)`` are written out. The function's tree
is rewritten before it is read.

Side conditions, checked: a tuple's name is set once; so is every name that its elements are made of, so that they
mean at their use what they meant where the tuple was made.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python import host_ranks
from kraise.frontends.python.host_extents import bound, bracketed, extent, single_targets, some
from kraise.frontends.python.host_rounds import integer, listed, number, tuple_of
from kraise.frontends.python.host_scope import HostScope, array_names
from kraise.frontends.python.host_settled import is_given
from kraise.frontends.python.host_units import times_set
from kraise.frontends.python.source import all_of, dotted, placed, rebuilt, walk
from kraise.ir.host_names import fresh

_MOST = 16
_PRODUCTS = ("math.prod", "numpy.prod", "cupy.prod", "numpy.product")


def without_tuples(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with its tuples of numbers written out."""
    if not all_of(cst.Tuple | cst.Attribute | cst.GeneratorExp | cst.Assign, node.body):
        return node
    given = node
    node = single_targets(scope, node)
    array_names(scope, node)
    tuples = _Tuples(scope, node)
    node = tuples.without_defaults()
    tuples.find()
    body = rebuilt(scope.source, node.body, tuples.changed)
    if body is not node.body or node is not given:
        new = node.with_changes(body=tuples.with_parts(body))
        placed(scope.source, new, given)
        placed(scope.source, new.name, given.name)
        return new
    return node


class _Tuples:
    """The tuples of one function."""

    def __init__(self, scope: HostScope, node: cst.FunctionDef):
        self.scope, self.node = scope, node
        self.taken = {n.value for n in all_of(cst.Name, node)}
        self.times = times_set(node)
        self.ranks = host_ranks.certain(scope, node)
        self.known: dict[str, list[cst.BaseExpression]] = {}
        self.shapes: dict[str, cst.Attribute] = {}  # other names for ``u.shape``
        self.parts: dict[str, list[tuple[str, cst.BaseExpression]]] = {}  # names that a tuple's elements need
        self.values: dict[str, cst.BaseExpression] = {}  # of a comprehension's names, round by round

    def without_defaults(self) -> cst.FunctionDef:
        """The function without the parameters that are tuples of numbers where they are left out, as callers of the
        file leave them: ``def run(u, block=(16, 16))``."""
        params = self.node.params
        every = [*params.posonly_params, *params.params, *params.kwonly_params]
        gone: list[cst.Param] = []
        for at, p in enumerate(every):
            name = p.name.value
            match p.default:
                case cst.Tuple(elements=parts) if self.times[name] == 1 and all(
                    self.is_constant(e.value) for e in parts
                ):
                    if not is_given(self.scope.source, self.node, name, at):
                        self.known[name] = [bracketed(e.value) for e in parts]
                        self.scope.drop(p, "a parameter that keeps its default")
                        gone.append(p)
        if not gone:
            return self.node
        kept = {
            kind: [p for p in getattr(params, kind) if p not in gone]
            for kind in ("posonly_params", "params", "kwonly_params")
        }
        new = self.node.with_changes(params=params.with_changes(**kept))
        for p in gone:  # where it is used as a whole
            first = cst.Assign([cst.AssignTarget(cst.Name(p.name.value))], tuple_of(self.known[p.name.value]))
            line = cst.SimpleStatementLine([placed(self.scope.source, first, p)])
            new = new.with_changes(
                body=new.body.with_changes(body=[placed(self.scope.source, line, p), *new.body.body])
            )
        self.node = new
        return new

    def find(self) -> None:
        """Fill ``known`` and ``shapes``, in the order of the text."""
        for inner in walk(self.node.body):
            match inner:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value) if (
                    self.times[name] == 1
                ):
                    shape = self.shape(value)
                    if shape is not None:
                        self.shapes[name] = shape
                        continue
                    if isinstance(value, cst.List | cst.ListComp) and not self.is_fixed(name):
                        continue
                    found = self.elements(value)
                    if found and all(map(self.is_number, found)):
                        self.known[name] = self.settled(name, found)

    def is_fixed(self, name: str) -> bool:
        """Is a list one of numbers that nothing changes?"""
        for inner in walk(self.node.body):
            match inner:
                case (
                    cst.AssignTarget(target=cst.Subscript(value=owner))
                    | cst.AugAssign(target=cst.Subscript(value=owner))
                    | cst.Attribute(value=owner)
                ) if dotted(owner) == name:
                    return False
        return name not in self.scope.arrays

    def settled(self, name: str, parts: list[cst.BaseExpression]) -> list[cst.BaseExpression]:
        """The elements of ``name`` as what means the same everywhere; what does not gets a name of its own."""
        out: list[cst.BaseExpression] = []
        for axis, part in zip("xyzabcdefghijklm", parts, strict=False):
            if self.is_stable(part):
                out.append(part)
                continue
            own = fresh(self.taken, f"{name}_{axis}")
            self.parts.setdefault(name, []).append((own, part))
            out.append(cst.Name(own))
        return out

    def is_constant(self, node: cst.BaseExpression) -> bool:
        """Is it made of literals and of constants of the module?"""
        match node:
            case cst.Integer() | cst.Float():
                return True
            case cst.Name(value=name):
                return name in self.scope.constants and not self.times[name]
            case cst.UnaryOperation(expression=inner):
                return self.is_constant(inner)
            case cst.BinaryOperation(left=left, right=right):
                return self.is_constant(left) and self.is_constant(right)
        return False

    def is_stable(self, node: cst.BaseExpression) -> bool:
        """Does an expression mean the same wherever it stands?"""
        match node:
            case cst.Integer() | cst.Float():
                return True
            case cst.Name(value=name):
                return name in self.scope.constants or self.times[name] == 1
            case cst.BinaryOperation() | cst.UnaryOperation() if self.is_constant(node):
                return True
            case cst.Subscript(value=cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value="shape"))):
                return self.times[owner] == 1
        return False

    def is_number(self, node: cst.BaseExpression) -> bool:
        """May an element be a number, and is it none of what lists are followed for (arrays, kernels, text)?"""
        if self.scope.is_array(node) or isinstance(
            node, cst.Tuple | cst.List | cst.Lambda | cst.SimpleString | cst.Dict
        ):
            return False
        name = dotted(node)
        known = {*self.scope.functions, *self.scope.refused, *self.scope.arrays}
        return not (name and (name in known or name in self.known or name in self.shapes))

    def shape(self, node: cst.BaseExpression) -> cst.Attribute | None:
        """``u.shape``, or a name for it, of an array whose name is set once."""
        if isinstance(node, cst.Name) and node.value in self.shapes:
            return self.shapes[node.value]
        match node:
            case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value="shape")) if self.times[owner] == 1:
                return node
        return None

    # --- what stands in place of what

    def changed(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What stands in place of a node; None for one that stays."""
        match node:
            case cst.Arg(keyword=cst.Name() as word, value=value):
                new = rebuilt(self.scope.source, value, self.changed)
                return node.with_changes(keyword=word, value=new) if new is not value else node
            case cst.Attribute(value=value, attr=attr):
                new = rebuilt(self.scope.source, value, self.changed)
                return node.with_changes(value=new, attr=attr) if new is not value else node
            case cst.Name(value=name) if name in self.values:
                return self.values[name]
            case cst.Name(value=name) if name in self.shapes:
                return self.shapes[name]
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) if name in self.shapes:
                return cst.Pass()
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple(elements=targets))], value=value):
                found = self.elements(value) if not isinstance(value, cst.Tuple | cst.List) else None
                if found is not None and len(found) == len(targets) and all(map(self.is_number, found)):
                    return node.with_changes(value=tuple_of(found))
                if isinstance(value, cst.Name) and (shape := self.shape(value)) is not None:
                    return node.with_changes(value=shape)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value) if name in self.known:
                starred = any(isinstance(e, cst.StarredElement) for e in getattr(value, "elements", ()))
                if not isinstance(value, cst.Tuple) or starred or self.parts.get(name):
                    return node.with_changes(value=tuple_of(self.known[name]))
            case cst.Return(value=cst.Call() as value):
                return self.whole(node, value)
            case cst.Subscript(value=owner, slice=items) if dotted(owner) in self.scope.functions and (
                any(isinstance(getattr(i.slice, "value", None), cst.ListComp) for i in items)
            ):  # kernel[[ceil(n / t) for n, t in zip(u.shape, block)], block]
                return node.with_changes(slice=[self.extents_of(i) for i in items])
            case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
                at = number(index)
                parts = self.elements(owner) if isinstance(owner, cst.Name | cst.Subscript) else None
                if parts is not None and at is not None and -len(parts) <= at < len(parts):
                    return parts[at]
            case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=cst.Name() as value)]) if (
                (known := self.elements(value)) is not None
            ):  # fmt: skip
                return integer(len(known))
            case cst.Call(func=func, args=[cst.Arg(value=value, keyword=None)]) if (
                self.scope.imports.qualified(dotted(func)) in _PRODUCTS
            ):
                return self.product(value)
            case cst.Call(args=args) if any(a.star == "*" for a in args):
                given: list[cst.Arg] = []
                for a in args:
                    parts = self.elements(a.value) if a.star == "*" else None
                    given += [a] if parts is None else [cst.Arg(p) for p in parts]
                if len(given) != len(args) or not any(a.star for a in given):
                    rest = [rebuilt(self.scope.source, a, self.changed) for a in given]
                    return node.with_changes(args=rest)
            case cst.Element(value=cst.Call() as value) | cst.Index(value=cst.Call() as value):
                return self.whole(node, value)
            case cst.Arg(value=cst.BinaryOperation() | cst.Call() | cst.Tuple() | cst.Subscript() as value):
                return self.whole(node, value)
        return None

    def whole(self, node: Any, value: cst.BaseExpression) -> cst.CSTNode | None:
        """A node with a tuple that is made in it written out."""
        if isinstance(value, cst.Tuple) and not any(isinstance(p, cst.StarredElement) for p in value.elements):
            return None
        if isinstance(value, cst.Call) and dotted(value.func) not in ("tuple", "reversed"):
            return None
        found = self.elements(value)
        if found is None or not all(map(self.is_number, found)):
            return None
        return node.with_changes(value=tuple_of(found))  # type: ignore[no-any-return]

    def extents_of(self, item: cst.SubscriptElement) -> cst.SubscriptElement:
        """A part of a launch's configuration with its list as a tuple."""
        value = item.slice.value if isinstance(item.slice, cst.Index) else None
        found = self.elements(value) if isinstance(value, cst.ListComp) else None
        if found is None:
            return rebuilt(self.scope.source, item, self.changed)  # type: ignore[no-any-return]
        return item.with_changes(slice=cst.Index(tuple_of(found)))

    def product(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The product of a tuple's elements; of a shape it is the array's size."""
        shape = self.shape(node)
        if shape is not None:
            return cst.Attribute(shape.value, cst.Name("size"))
        found = self.elements(node) if isinstance(node, cst.Name | cst.Tuple | cst.Subscript) else None
        if not found or not all(map(self.is_number, found)):
            return None
        out = found[0]
        for part in found[1:]:
            out = cst.BinaryOperation(bracketed(out), cst.Multiply(), bracketed(part))
        return bracketed(out)

    def with_parts(self, body: Any) -> Any:
        """The statements with the names that elements need set before their tuple."""

        def change(line: cst.CSTNode) -> cst.CSTNode | None:
            if not isinstance(line, cst.SimpleStatementLine):
                return None
            out: list[Any] = []
            for small in line.body:
                match small:
                    case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) if name in self.parts:
                        made = [cst.Assign([cst.AssignTarget(cst.Name(n))], v) for n, v in self.parts.pop(name)]
                        out += [placed(self.scope.source, m, small) for m in made]
                out.append(small)
            return line.with_changes(body=out) if len(out) > len(line.body) else None

        return rebuilt(self.scope.source, body, change)

    # --- elements

    def elements(self, node: cst.BaseExpression) -> list[cst.BaseExpression] | None:
        """The elements of a tuple where they are known; None for anything else."""
        match node:
            case cst.Name(value=name):
                return self.known.get(name) or (None if self.times[name] else listed(self.scope, name))
            case cst.Tuple(elements=parts) | cst.List(elements=parts):
                out: list[cst.BaseExpression] = []
                for p in parts:
                    more = self.starred(p.value) if isinstance(p, cst.StarredElement) else [self.value(p.value)]
                    if more is None:
                        return None
                    out += more
                return out
            case cst.ListComp(elt=each, for_in=cst.CompFor(target=target, iter=over, ifs=[], inner_for_in=None)) | (
                cst.GeneratorExp(elt=each, for_in=cst.CompFor(target=target, iter=over, ifs=[], inner_for_in=None))
            ):
                return self.rounds_of(each, target, over)
            case cst.Call(func=cst.Name(value="tuple" | "list"), args=[cst.Arg(value=inner, star="")]):
                return self.elements(inner)
            case cst.Call(func=cst.Name(value="reversed"), args=[cst.Arg(value=inner, star="")]):
                found = self.elements(inner)
                return None if found is None else found[::-1]
            case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Slice() as piece)]):
                found = self.elements(owner) if isinstance(owner, cst.Name) else None
                if (shape := self.shape(owner)) is not None:
                    return some(shape, piece)
                given = [e for e in (piece.lower, piece.upper, piece.step) if e is not None]
                bounds = [None if e is None else number(e) for e in (piece.lower, piece.upper, piece.step)]
                if found is not None and len(given) == sum(b is not None for b in bounds):
                    return found[slice(*bounds)]
            case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
                one, two = self.elements(left), self.elements(right)
                return None if one is None or two is None else one + two
            case cst.BinaryOperation(left=cst.Tuple() | cst.Name() as left, operator=cst.Multiply(), right=right):
                found, count = self.elements(left), number(right)
                return found * count if found is not None and count is not None and count <= _MOST else None
        return None

    def starred(self, node: cst.BaseExpression) -> list[cst.BaseExpression] | None:
        """The elements of ``*dims``, and of ``*u.shape`` where it is sure how many axes the array has."""
        shape = self.shape(node)
        if shape is None:
            return self.elements(node)
        rank = self.ranks.get(dotted(shape.value))
        return None if rank is None else [extent(shape, n) for n in range(rank)]

    def value(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """An element with what is known of it written out."""
        return rebuilt(self.scope.source, node, self.changed)  # type: ignore[no-any-return]

    def rounds_of(self, each: Any, target: Any, over: cst.BaseExpression) -> list[cst.BaseExpression] | None:
        """``[each for target in over]``."""
        rounds = self.rounds(over)
        if rounds is None or len(rounds) > _MOST:
            return None
        out: list[cst.BaseExpression] = []
        for given in rounds:
            pairs = bound(target, given)
            if pairs is None:
                return None
            outer = dict(self.values)
            self.values |= {n: bracketed(v) for n, v in pairs}
            out.append(self.value(each.deep_clone()))
            self.values = outer
        return out

    def rounds(self, node: cst.BaseExpression) -> list[cst.BaseExpression] | None:
        """What a comprehension runs over."""
        match node:
            case cst.Call(func=cst.Name(value="range"), args=[cst.Arg(value=stop)]):
                count = number(self.value(stop))
                return [integer(n) for n in range(count)] if count is not None and count <= _MOST else None
            case cst.Call(func=cst.Name(value="zip"), args=args):
                lists = [self.rounds(a.value) for a in args]
                counts = [len(x) for x in lists if x is not None]
                for at, a in enumerate(args):  # as many extents of a shape as the others have
                    shape = self.shape(a.value)
                    if shape is not None and counts:
                        lists[at] = [extent(shape, n) for n in range(min(counts))]
                return None if None in lists else [tuple_of(list(x)) for x in zip(*lists, strict=False)]  # type: ignore[arg-type]
            case cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(value=inner)]):
                found = self.rounds(inner)
                return None if found is None else [tuple_of([integer(n), x]) for n, x in enumerate(found)]
        return self.starred(node)
