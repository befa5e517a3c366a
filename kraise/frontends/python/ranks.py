"""Which names are arrays, and how many axes each has: a fixpoint over subscripts, shapes, loops and calls.

Only lower bounds are propagated (``a[i, j]`` says at least two); that a use agrees with the result is checked when
it is lowered.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from kraise import dialects
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import all_of, complex_part, dotted
from kraise.frontends.python.survey import Definition

# concepts of calls that work element by element, beside those of the table of operations
ELEMENTWISE = ("type.", "square", "reciprocal", "clip", "where", "logical.", "round.float", "roll")

# numpy function or method -> kind of reduction
REDUCTIONS = {
    **{n: n for n in ("sum", "prod", "min", "max", "any", "all", "mean", "argmin", "argmax")},
    **{"amin": "min", "amax": "max", "product": "prod", "dot": "dot", "vdot": "dot", "inner": "dot"},
}
SPREADS = ("var", "std")

Place = tuple[str, str]  # (function, name)


@dataclass
class Ranks:
    """Lower bounds of ranks, and equations ``rank(left) == rank(right) + more`` (where either is an array)."""

    least: dict[Place, int] = field(default_factory=dict)
    equal: list[tuple[Place, Place, int]] = field(default_factory=list)
    flows: list[tuple[Place, Place, int]] = field(default_factory=list)  # rank(second) >= rank(first) - used
    # operands that may be arrays: (array, axes used, is it a subscripted term of a sum, as p[i] in p[i] - q[j]?)
    rows: dict[Place, list[tuple[Place, int, bool]]] = field(default_factory=dict)

    def at_least(self, place: Place, rank: int) -> None:
        if rank > self.least.get(place, 0):
            self.least[place] = rank

    def solve(self) -> None:
        """Propagate until nothing changes; linear in the equations for the depths of calls that occur."""
        uses: dict[Place, list[tuple[Place, Place, int]]] = {}
        for equation in self.equal:
            uses.setdefault(equation[0], []).append(equation)
            uses.setdefault(equation[1], []).append(equation)
        todo = list(self.equal)
        for _ in range(64):
            before = dict(self.least)
            self._equal(todo, uses)
            for source, target, used in self.flows:
                self.at_least(target, self.least.get(source, 0) - used)
            self._backwards()
            if self.least == before:
                break
            todo = list(self.equal)

    def _backwards(self) -> None:
        """An expression that must be an array, of operands of which none is known to be one: then its row is."""
        for target, rows in self.rows.items():
            rank = self.least.get(target, 0)
            if rank and not any(self.least.get(s, 0) > used for s, t, used in self.flows if t == target):
                terms = [r for r in rows if r[2]] or sorted(rows, key=lambda r: r[1] == 0)[:1]
                for source, used, _ in terms:
                    self.at_least(source, used + rank)

    def _equal(self, todo: list[tuple[Place, Place, int]], uses: dict) -> None:
        while todo:
            left, right, more = todo.pop()
            a, b = self.least.get(left, 0), self.least.get(right, 0)
            for place, new, old in ((left, b + more if b or more else 0, a), (right, a - more, b)):
                if new > old and new <= 16:
                    self.least[place] = new
                    todo.extend(uses.get(place, ()))

    def of(self, function: str) -> dict[str, int]:
        """Name -> rank for the arrays of one function."""
        return {n: rank for (f, n), rank in self.least.items() if f == function and rank > 0 and n[0] != "#"}


def collect(
    ranks: Ranks,
    definition: Definition,
    imports: Imports,
    parameters: dict[str, list[str]],
    tables: dict[str, int],
) -> None:
    """Add the facts of one function; ``parameters`` names the parameters of the module's functions."""
    _Facts(ranks, definition, imports, parameters, tables).run(definition.node.body)


_TELLING = cst.Subscript | cst.Attribute | cst.Assign | cst.For | cst.CompFor | cst.Call


class _Facts:
    def __init__(self, ranks, definition, imports, parameters, tables):
        self.ranks: Ranks = ranks
        self.function: str = definition.name
        self.visible: dict[str, str] = definition.visible
        self.imports: Imports = imports
        self.parameters: dict[str, list[str]] = parameters
        self.tables = tables
        self.tuples: dict[str, int] = {}  # names bound to a tuple, and its length
        self.shapes: dict[str, tuple[str, int]] = {}  # names bound to a.shape
        self.masks: frozenset[str] = frozenset()  # names that are bound to comparisons only
        self.anonymous = 0
        self.vocabulary = dialects.vocabulary("numpy_scalar", "numba_cuda")

    def run(self, body: cst.CSTNode) -> None:
        bound: dict[str, list[bool]] = {}
        for node in all_of(cst.Assign, body):
            for target in (t.target for t in node.targets if isinstance(t.target, cst.Name)):
                bound.setdefault(target.value, []).append(_is_truth(node.value))
        self.masks = frozenset(n for n, truth in bound.items() if all(truth))
        for node in all_of(cst.Assign, body):
            if isinstance(node.targets[0].target, cst.Name):
                name, value = node.targets[0].target.value, node.value
                if isinstance(value, cst.Tuple):
                    self.tuples[name] = len(value.elements)
                elif isinstance(value, cst.Call) and self.concept(value.func).startswith("global_"):
                    self.tuples[name] = _integer(value.args[0].value) if value.args else 1
                elif isinstance(value, cst.Attribute) and value.attr.value == "shape":
                    access = self.access(value.value)
                    if access is not None:
                        self.shapes[name] = access
        for node in all_of(_TELLING, body):
            self.fact(node)

    def concept(self, func: cst.CSTNode) -> str:
        name = dotted(func)
        return self.vocabulary.get(self.imports.qualified(name), "") if name else ""

    def access(self, node: cst.CSTNode) -> tuple[str, int] | None:
        """(name, axes used up) of a name or a chain of subscripts."""
        if isinstance(node, cst.Name):
            return node.value, 0
        if isinstance(node, cst.Subscript):
            inner = self.access(node.value)
            if inner is None:
                return None
            return inner[0], inner[1] + sum(self.width(e) for e in node.slice)
        return None

    def width(self, element: cst.SubscriptElement) -> int:
        if not isinstance(element.slice, cst.Index):
            return 0
        value = element.slice.value
        if isinstance(value, cst.Tuple | cst.Ellipsis):
            return len(value.elements) if isinstance(value, cst.Tuple) else 0
        if isinstance(value, cst.Name):
            return self.tuples.get(value.value, 1)
        return 1

    def place(self, name: str) -> Place:
        return self.function, name

    def needs(self, node: cst.CSTNode, rank: int) -> None:
        access = self.access(node)
        if access is not None:
            name, used = access
            if isinstance(node, cst.Subscript):  # slices keep their axes
                rank = max(rank, _slices(node))
            self.ranks.at_least(self.place(name), used + rank)

    def same(self, node: cst.CSTNode, other: Place) -> None:
        """``other`` is bound to what ``node`` is, an array if ``node`` is one."""
        access = self.access(node)
        if access is None:
            return
        name, used = access
        if name in self.tables and used <= self.tables[name]:
            self.ranks.at_least(other, self.tables[name] - used)
        if name in self.shapes or name in self.tuples:
            return
        self.ranks.equal.append((self.place(name), other, used))

    def fact(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.Subscript) and (mask := truths(node, self.masks)) is not None:
            self.anonymous += 1  # a mask is an array, too
            place = self.place(mask.value if isinstance(mask, cst.Name) else f"#{self.anonymous}")
            self.same(node.with_changes(slice=node.slice[:-1]) if len(node.slice) > 1 else node.value, place)
            if not isinstance(mask, cst.Name):
                self.operands(mask, place)
        match node:
            case cst.Subscript(value=cst.Attribute(value=base, attr=cst.Name(value="shape")), slice=[element]):
                if isinstance(element.slice, cst.Index):
                    self.needs(base, max(1, _integer(element.slice.value) + 1))
                elif isinstance(element.slice, cst.Slice) and element.slice.upper is not None:
                    self.needs(base, max(1, _integer(element.slice.upper)))
            case cst.Subscript(value=cst.Name(value=name), slice=[element]) if name in self.shapes:
                shaped, used = self.shapes[name]
                if isinstance(element.slice, cst.Index):
                    self.ranks.at_least(self.place(shaped), used + max(1, _integer(element.slice.value) + 1))
            case cst.Subscript() if not self.is_tuple(node):
                found = self.access(node)
                if found is not None:
                    self.ranks.at_least(self.place(found[0]), found[1] + _slices(node))
            case cst.Attribute(value=base, attr=cst.Name(value="shape" | "size" | "ndim")):
                self.needs(base, 1)
            case cst.Assign(targets=targets, value=value):
                for target in targets:
                    self.bind(target.target, value)
            case cst.For(target=target, iter=iterated):
                self.iterate(target, iterated)
            case cst.CompFor(target=target, iter=iterated):
                self.iterate(target, iterated)
            case cst.Call():
                self.call(node)

    def is_tuple(self, node: cst.Subscript) -> bool:
        return isinstance(node.value, cst.Name) and (node.value.value in self.tuples or node.value.value in self.shapes)

    def bind(self, target: cst.CSTNode, value: cst.CSTNode) -> None:
        if isinstance(target, cst.Tuple):
            if isinstance(value, cst.Attribute) and value.attr.value == "shape":
                self.needs(value.value, len(target.elements))
            elif isinstance(value, cst.Tuple) and len(value.elements) == len(target.elements):
                for t, v in zip(target.elements, value.elements, strict=True):
                    self.bind(t.value, v.value)
            elif isinstance(value, cst.Subscript) or dotted(value) in self.parameters.get(self.function, ()):
                self.needs(value, 1)  # a row, or a tuple that is given
            return
        if not isinstance(target, cst.Name):
            return
        place = self.place(target.value)
        if isinstance(value, cst.Call):
            self.called(value, place)
        elif isinstance(value, cst.List):
            self.ranks.at_least(place, _depth(value))
        elif isinstance(value, cst.BinaryOperation | cst.UnaryOperation | cst.Comparison):
            self.operands(value, place)
        elif isinstance(value, cst.IfExp):
            self.bind(target, value.body)
            self.bind(target, value.orelse)
        else:
            self.same(value, place)

    def called(self, value: cst.Call, place: Place) -> None:
        """``place`` is bound to what a call gives."""
        concept = self.concept(value.func)
        arguments = [a.value for a in value.args]
        if concept.startswith(("alloc_like", "copy", "array.const")) and arguments:
            self.same(arguments[0], place)
        elif concept.startswith("ramp."):
            self.ranks.at_least(place, 2 if concept == "ramp.eye" else 1)
        elif concept.startswith(("alloc.", "array.")):
            shape = _keyword(value, "shape") or (arguments[0] if arguments else None)
            if isinstance(shape, cst.Attribute) and shape.attr.value == "shape":
                self.same(shape.value, place)
            elif isinstance(shape, cst.Name) and shape.value in self.shapes:
                self.ranks.equal.append((self.place(self.shapes[shape.value][0]), place, self.shapes[shape.value][1]))
            elif isinstance(shape, cst.Name):
                self.ranks.at_least(place, self.tuples.get(shape.value, self.tables.get(shape.value, 0) or 1))
            else:
                self.ranks.at_least(place, len(shape.elements) if isinstance(shape, cst.Tuple | cst.List) else 1)
        elif concept == "table":
            self.ranks.at_least(place, _depth(arguments[0]) if arguments else 1)
        elif isinstance(value.func, cst.Attribute) and value.func.attr.value == "copy":
            self.same(value.func.value, place)
        else:
            self.operands(value, place)

    def reduced(self, node: cst.Call, arguments: list) -> list:
        """The operands of a reduction over a whole array."""
        head, _, last = self.imports.qualified(dotted(node.func)).rpartition(".")
        if head == "numpy" and last in (*REDUCTIONS, *SPREADS):
            return arguments[: 2 if REDUCTIONS.get(last) == "dot" else 1]
        if isinstance(node.func, cst.Attribute) and not head and node.func.attr.value in (*REDUCTIONS, *SPREADS):
            return [node.func.value]
        return []

    def operands(self, node: cst.CSTNode, place: Place, linked: bool = True) -> None:
        """The arrays of an elementwise expression give it its axes."""
        match node:
            case cst.Name() | cst.Subscript():
                access = self.access(node)
                if access is not None and not (isinstance(node, cst.Subscript) and self.is_tuple(node)):
                    self.ranks.flows.append((self.place(access[0]), place, access[1]))
                    row = (self.place(access[0]), access[1], isinstance(node, cst.Subscript) and linked)
                    self.ranks.rows.setdefault(place, []).append(row)
            case cst.BinaryOperation(left=left, operator=operator, right=right):
                linked = linked and isinstance(operator, cst.Add | cst.Subtract)
                self.operands(left, place, linked)
                self.operands(right, place, linked)
            case cst.UnaryOperation(expression=inner):
                self.operands(inner, place)
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
                self.operands(left, place)
                self.operands(right, place)
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="astype"))):
                self.operands(inner, place)
            case cst.Call(func=func) if self.concept(func).startswith(("alloc", "ramp.")):
                self.anonymous += 1
                self.called(node, self.place(f"#{self.anonymous}"))
                self.ranks.flows.append((self.place(f"#{self.anonymous}"), place, 0))
            case cst.Call(func=func, args=arguments):
                qualified = self.imports.qualified(dotted(func))
                if qualified.startswith("numpy.") and (
                    qualified in dialects.operations("python") or self.concept(func).startswith(ELEMENTWISE)
                ):
                    for argument in arguments:
                        self.operands(argument.value, place)

    def iterate(self, target: cst.CSTNode, iterated: cst.CSTNode) -> None:
        if isinstance(iterated, cst.Call):
            concept = self.concept(iterated.func)
            arguments = [a.value for a in iterated.args]
            if concept == "enumerate" and isinstance(target, cst.Tuple) and len(target.elements) == 2 and arguments:
                self.iterate(target.elements[1].value, arguments[0])
            elif concept == "ndindex" and isinstance(target, cst.Tuple) and len(arguments) == 1:
                if isinstance(arguments[0], cst.Attribute) and arguments[0].attr.value == "shape":
                    self.needs(arguments[0].value, len(target.elements))
            elif concept == "ndenumerate" and isinstance(target, cst.Tuple) and arguments:
                index = target.elements[0].value
                self.needs(arguments[0], len(index.elements) if isinstance(index, cst.Tuple) else 1)
            elif concept == "zip" and isinstance(target, cst.Tuple):
                for t, a in zip(target.elements, arguments, strict=False):
                    self.iterate(t.value, a)
            elif concept == "reversed" and arguments:
                self.iterate(target, arguments[0])
            return
        self.needs(iterated, 1)
        if isinstance(target, cst.Name):
            access = self.access(iterated)
            if access is not None:
                self.ranks.equal.append((self.place(access[0]), self.place(target.value), access[1] + 1))
        elif isinstance(target, cst.Tuple):
            self.needs(iterated, 2)

    def call(self, node: cst.Call) -> None:
        name = dotted(node.func)
        name = self.visible.get(name, "")
        parameters = self.parameters.get(name)
        if parameters is not None:
            for k, argument in enumerate(node.args):
                if argument.keyword is not None:
                    self.same(argument.value, (name, argument.keyword.value))
                elif k < len(parameters):
                    self.same(argument.value, (name, parameters[k]))
            return
        concept = self.concept(node.func)
        arguments = [a.value for a in node.args]
        for reduced in self.reduced(node, arguments):
            self.anonymous += 1
            place = self.place(f"#{self.anonymous}")
            self.ranks.at_least(place, 1)
            self.operands(reduced, place)
        if concept == "len" and arguments:
            self.needs(arguments[0], 1)
        elif concept.startswith("atomic.") and len(arguments) >= 2:
            index = arguments[1]
            width = len(index.elements) if isinstance(index, cst.Tuple) else 1
            if isinstance(index, cst.Name):
                width = self.tuples.get(index.value, 1)
            self.needs(complex_part(arguments[0])[0], width if concept != "atomic.cas_first" else 1)


def truths(node: cst.Subscript, masks: frozenset[str]) -> cst.BaseExpression | None:
    """The mask of ``a[b > 0]`` or ``a[i, b > 0]``, by its text, or one of the names ``masks``; None where the subscript
    has none."""
    match node.slice:
        case [*before, cst.SubscriptElement(slice=cst.Index(value=index))]:
            if all(isinstance(e.slice, cst.Index) for e in before):
                named = isinstance(index, cst.Name) and index.value in masks
                return index if named or _is_truth(index) else None
    return None


def _is_truth(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Comparison():
            return True
        case cst.UnaryOperation(operator=cst.BitInvert(), expression=inner):
            return _is_truth(inner)
        case cst.BinaryOperation(left=left, operator=cst.BitAnd() | cst.BitOr() | cst.BitXor(), right=right):
            return _is_truth(left) and _is_truth(right)
    return False


def _depth(node: cst.CSTNode) -> int:
    """How many axes a list, or an array that is made of one, has."""
    rows = node.elements if isinstance(node, cst.List) else ()
    return 1 + any(isinstance(e.value, cst.List) for e in rows)


def _slices(node: cst.Subscript) -> int:
    return sum(isinstance(e.slice, cst.Slice) for e in node.slice)


def _integer(node: cst.CSTNode) -> int:
    return int(node.value, 0) if isinstance(node, cst.Integer) else 0


def _keyword(call: cst.Call, name: str) -> cst.BaseExpression | None:
    return next((a.value for a in call.args if a.keyword is not None and a.keyword.value == name), None)
