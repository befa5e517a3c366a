"""What is known while a host function is read: which names are arrays, tuples, streams; what was dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import libcst as cst

from kraise import dialects
from kraise.diagnostics import Refused, Span, refuse
from kraise.frontends.python import host_numpy
from kraise.frontends.python.host_units import Record, Unit
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, choices, dotted, only_operand, walk
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import ArrayType


@dataclass
class HostScope:
    """The state of reading one host function.

    ``functions`` are the functions of the module under the names that the source calls them by, ``refused`` those that
    were not read, ``hosts`` the other host functions; ``kinds`` their result kinds (True an array) once read.
    """

    source: Source
    imports: Imports
    constants: Mapping[str, k.Constant]
    functions: Mapping[str, k.Function]
    refused: frozenset[str]
    hosts: Mapping[str, tuple[bool, ...]]
    units: Mapping[str, Unit] = field(default_factory=dict)  # helpers, whose calls are written out
    host_units: Mapping[str, Unit] = field(default_factory=dict)  # the functions of the module that launch
    records: Mapping[str, Record] = field(default_factory=dict)
    contexts: Mapping[str, Unit] = field(default_factory=dict)  # context managers of the module
    enums: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # enumerations: the place of each name
    reducers: dict[str, str] = field(default_factory=dict)  # numba's reductions: sum, prod, max, min
    makers: Mapping[str, cst.FunctionDef] = field(default_factory=dict)  # functions of the module that make functions
    generators: Mapping[str, Unit] = field(default_factory=dict)  # of the module
    sliding: dict[str, str] = field(default_factory=dict)  # counters of whole slices (host_batches), with their length
    lengths: dict[str, str] = field(default_factory=dict)  # arrays that are as long as a parameter
    extents: dict[str, str] = field(default_factory=dict)  # numbers that are the length of a parameter
    ordered: list[tuple[k.Expr, k.Expr]] = field(default_factory=list)  # numbers that the function compares
    foreign: Mapping[str, k.Function] = field(default_factory=dict)  # the kernels of the file that are CUDA C
    written: set[str] = field(default_factory=set)  # functions that launch whose calls were written out
    arrays: set[str] = field(default_factory=set)
    tuples: dict[str, tuple[h.Expr, ...]] = field(default_factory=dict)
    configured: dict[str, tuple] = field(default_factory=dict)
    ignored: set[str] = field(default_factory=set)
    elementwise: frozenset[str] = frozenset()  # functions of one element that are called with arrays
    walked: set[str] = field(default_factory=set)  # parameters whose elements a loop gives as numbers
    given: set[str] = field(default_factory=set)  # parameters that calls of the file give arrays to
    plain: bool = False  # a plain function, which launches nothing but the nests in it
    left_open: set[str] = field(default_factory=set)  # kernels whose types are taken to be floating
    stacked: set[str] = field(default_factory=set)  # parameters that are lists of arrays
    lost: set[str] = field(default_factory=set)  # names whose values were refused
    copies: set[str] = field(default_factory=set)  # names of elements, or rows, that the source copies
    scalars: set[str] = field(default_factory=set)
    dropped: list[h.Dropped] = field(default_factory=list)
    bindings: dict[str, h.Expr] = field(default_factory=dict)
    outline: Callable[[cst.FunctionDef], k.Function | None] | None = None  # a function that a loop became, lowered
    outlined: list[k.Function] = field(default_factory=list)
    name: str = ""
    pending: list[h.Stmt] = field(default_factory=list)  # what the expressions read so far need before them
    make: Callable[[str, cst.BaseExpression, cst.CSTNode], list[h.Stmt]] | None = None  # of a new array
    call: Callable[[cst.Call], tuple[h.Expr | k.ArrayRef, ...]] | None = None  # the arguments of a call
    banks: dict[str, tuple[str, ...]] = field(default_factory=dict)  # names of choices: the arrays to choose from
    host_params: Mapping[str, tuple[k.Param, ...]] = field(default_factory=dict)  # of the other host functions
    host_numbers: Mapping[str, frozenset[str]] = field(default_factory=dict)  # their parameters that are surely numbers
    apart: list[tuple[str, frozenset[str], cst.CSTNode]] = field(default_factory=list)  # arrays that must be distinct
    ranks: dict[str, int] = field(default_factory=dict)  # how many axes an array has, where that is known
    numbers: frozenset[str] = frozenset()  # the names that are surely numbers
    objects: dict[str, str] = field(default_factory=dict)  # parameters that are given by their fields; their names
    recorded: set[str] = field(default_factory=set)  # arrays that lists of numbers became: the type is the numbers'
    geometry: set[str] = field(default_factory=set)  # parameters that are nothing but a launch's [grid, block]
    counters: dict[str, int] = field(default_factory=dict)  # of the loops around: the least of each
    module_arrays: set[str] = field(default_factory=set)  # arrays of the module that the function makes at its start
    launchers: dict[str, str] = field(default_factory=dict)  # other names for configured kernels
    places: dict[str, str] = field(default_factory=dict)  # where arrays are, where that is known
    moves: set[str] = field(default_factory=set)  # what is moved to the device, from a place that is not known
    host_moves: Mapping[str, set[str]] = field(default_factory=dict)  # of the other host functions
    may_share: Callable[[str], bool] = lambda name: False  # may a number be an array that another name sees?

    def span(self, node: cst.CSTNode) -> Span | None:
        """The place of a node."""
        return self.source.span(node)

    def refuse(self, node: cst.CSTNode, reason: str, hint: str = "", code: str = "KR211") -> Refused:
        """The refusal of a node."""
        return refuse(code, reason, self.span(node), hint)

    def refuse_at(self, span: Span | None, reason: str, hint: str = "") -> Refused:
        """A refusal at a place."""
        return refuse("KR211", reason, span, hint)

    def text(self, node: cst.CSTNode) -> str:
        """The node as the source spells it, on one line."""
        return " ".join(self.source.tree.code_for_node(node).split())

    def qualified(self, node: cst.BaseExpression) -> str:
        """The qualified name of a callee; a method of an array is ``array.NAME``, "" where nothing is known."""
        name = dotted(node)
        if isinstance(node, cst.Attribute) and self.is_array(node.value):
            return f"array.{node.attr.value}"
        if not name or name.partition(".")[0] in self.arrays | self.scalars:
            return ""
        return self.imports.qualified(name)

    def is_array(self, node: cst.BaseExpression) -> bool:
        """Is the expression an array (of one axis or more)?"""
        match node:
            case cst.Name(value=name):
                return name in self.arrays
            case cst.Attribute(attr=cst.Name(value="T")):
                return self.is_array(node.value)
            case cst.Attribute():
                return dotted(node) in self.arrays
            case cst.BinaryOperation(left=left, operator=cst.MatrixMultiply(), right=right) if (
                self.rank(left) == self.rank(right) == 1
            ):
                return False
            case cst.BinaryOperation(left=left, right=right):
                return self.is_array(left) or self.is_array(right)
            case cst.Comparison(left=left, comparisons=parts):
                return self.is_array(left) or any(self.is_array(p.comparator) for p in parts)
            case cst.UnaryOperation(expression=inner):
                return self.is_array(inner)
            case cst.IfExp(test=test, body=body, orelse=orelse):
                return self.is_array(body) or self.is_array(orelse) or self.is_array(test)
            case cst.Subscript(value=cst.Name(value=name)) if name in self.banks:
                return True
            case cst.Subscript(value=cst.Call()) if self.one_of_several(node):
                return True
            case cst.Subscript(value=value, slice=items):
                return self.is_array(value) and any(self.cuts(i) or self.gathers(i) for i in items)
            case cst.Call(func=func, args=args):
                name = self.qualified(func)
                concept = dialects.table("host_library")["python"].get(name, "")
                if concept:
                    return concept not in ("store", "fill")
                row = dialects.host_rows("python").get(name)
                if row is not None:
                    facts = dialects.table("host_library")["rows"][row]
                    if row == "matmul":
                        return not self.is_scalar_product(node)
                    along = "axis" in facts and any(
                        a.keyword is not None and a.keyword.value in ("axis", "keepdims") for a in args
                    )
                    method = name.startswith("array.")
                    by_place = 1 if method else 2
                    axis_last = not facts.get("order") and not name.startswith("builtins.")
                    placed = axis_last and len([a for a in args if a.keyword is None]) == by_place
                    along = along or ("axis" in facts and placed)
                    each = bool(facts.get("elementwise")) and (method or any(self.is_array(a.value) for a in args))
                    return bool(facts.get("array")) or along or each
                if host_numpy.joins(name) or name == "array.reshape":
                    return True
                if host_numpy.contracts(name):
                    return host_numpy.contracts_to_array(name, node)
                if name in dialects.operations("python"):
                    return any(self.is_array(a.value) for a in args)
                called = dotted(func)
                if called in self.hosts:
                    return self.hosts[called] == (True,)
        return False

    def one_of_several(self, node: cst.BaseExpression) -> str:
        """The row of one result of a call (``np.linalg.lstsq(A, b)[0]``); "" for anything else."""
        match node:
            case cst.Subscript(
                value=cst.Call(func=func), slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value=at)))]
            ):
                return dialects.host_rows("python").get(f"{self.qualified(func)}#{at}", "")
        return ""

    def cuts(self, item: cst.SubscriptElement) -> bool:
        """Is one item of a subscript a slice, ``...`` or a new axis?"""
        if not isinstance(item.slice, cst.Index):
            return True
        word = dotted(item.slice.value).rpartition(".")[2]
        return isinstance(item.slice.value, cst.Ellipsis) or word in ("None", "newaxis")

    def gathers(self, item: cst.SubscriptElement) -> bool:
        """Is one item of a subscript an array of places?"""
        return isinstance(item.slice, cst.Index) and self.is_array(item.slice.value)

    def slides(self, node: cst.Subscript, var: str, size: str) -> bool:
        """Is it ``x[var : var + size]``?"""
        match node.slice:
            case [cst.SubscriptElement(slice=cst.Slice(lower=cst.Name(value=low), upper=upper, step=None))] if (
                low == var
            ):
                match upper:
                    case cst.BinaryOperation(left=cst.Name(value=first), operator=cst.Add(), right=more):
                        return first == var and self.text(more) == size
        return False

    def is_scalar_product(self, node: cst.BaseExpression) -> bool:
        """``np.dot(a, b)`` of two vectors is a number; how many axes an array has is known for few of them."""
        if not isinstance(node, cst.Call) or not dotted(node.func).endswith("dot"):
            return False
        return not any(self.rank(n) > 1 for n in (node.func, *(a.value for a in node.args)))

    def rank(self, node: cst.BaseExpression) -> int:
        """How many axes an expression surely has; 0 where that is not known."""
        match node:
            case cst.Attribute(value=inner, attr=cst.Name(value="T" | "copy_to_host" | "copy" | "get" | "dot")):
                return self.rank(inner)
            case cst.Call(func=func, args=[]):
                return self.rank(func)
            case cst.UnaryOperation(expression=inner):
                return self.rank(inner)
        return self.ranks.get(dotted(node), 0)

    def fresh(self, wish: str) -> str:
        """A name that the function does not have."""
        name, number = wish, 2
        while name in self.arrays | self.scalars | self.ignored | set(self.tuples):
            name, number = f"{wish}_{number}", number + 1
        return name

    def drop(self, node: cst.CSTNode, what: str) -> None:
        """Notes a statement that has no part in the values."""
        self.dropped.append(h.Dropped(self.text(node), what, self.span(node)))


def ignored_call(name: str) -> str:
    """What a qualified name is dropped as, "" if it is not."""
    table = dialects.table("host_library")["dropped"]
    if name in table:
        return table[name]
    for pattern, what in table.items():
        if pattern.endswith("*") and (name + ".").startswith(pattern[:-1] + "."):
            return what
    return ""


def array_names(scope: HostScope, function: cst.FunctionDef) -> set[str]:
    """The names (and attributes of self) of a function that are arrays, by what is done with them."""
    found = {n for own in scope.banks.values() for n in own} | scope.walked | scope.given
    scope.arrays = found
    lists: dict[str, tuple[cst.BaseExpression, ...]] = {}
    for node in all_of(cst.Assign, function.body):
        match node:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=name))],
                value=cst.List(elements=parts) | cst.Tuple(elements=parts),
            ):
                lists[name] = tuple(e.value for e in parts)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Subscript(value=kernel)):
                if dotted(kernel) in {*scope.functions, *scope.refused}:
                    scope.launchers[name] = dotted(kernel)
    while True:
        before = len(found)
        for node in all_of(cst.Call | cst.Attribute | cst.Subscript | cst.Assign | cst.For, function.body):
            match node:
                case cst.Call():
                    _by_call(scope, node, found)
                case cst.Attribute(
                    value=inner,
                    attr=cst.Name(
                        value="shape" | "dtype" | "size" | "ndim" | "T" | "strides" | "reshape" | "astype" | "ravel"
                        | "flatten" | "mean" | "std" | "sum" | "var" | "min" | "max" | "argmin" | "argmax" | "cumsum"
                        | "argsort" | "prod" | "any" | "all" | "clip" | "transpose" | "squeeze"
                    ),
                ):  # fmt: skip
                    name = dotted(inner) or dotted(only_operand(inner))
                    found |= {name} if name and _local(scope, name) else set()
                case cst.Subscript(value=inner):
                    name = dotted(inner)
                    if name and _local(scope, name) and name not in scope.functions and name not in scope.refused:
                        found |= {name} if not _is_tuple(function, name) else set()
                case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
                    _by_assignment(scope, target, value, found)
                case cst.For(target=target, iter=over):
                    _by_loop(scope, target, over, lists, found)
        if len(found) == before:
            return found


def _local(scope: HostScope, name: str) -> bool:
    head = name.partition(".")[0]
    return ("." not in name or head == "self") and not scope.imports.bound.get(head) and name not in scope.constants


def _is_tuple(function: cst.FunctionDef, name: str) -> bool:
    for node in walk(function.body):
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value) if dotted(target) == name:
                if isinstance(value, cst.Tuple | cst.List) or dotted(value).endswith(".shape"):
                    return True
    return False


def _by_call(scope: HostScope, node: cst.Call, found: set[str]) -> None:
    table = dialects.table("host_library")["python"]
    name = scope.imports.qualified(dotted(node.func)) if dotted(node.func) else ""
    first = dotted(node.args[0].value) if node.args and node.args[0].keyword is None else ""
    concept = table.get(name, "")
    if name in host_numpy.SCATTERS and first and _local(scope, first):
        found.add(first)
    if (concept in ("clone", "alias") or concept.endswith("_like")) and first and _local(scope, first):
        found.add(first)
    rows = dialects.host_rows("python")
    row = rows.get(name) or rows.get(f"{name}#0")
    if row is not None and not name.startswith("builtins."):
        facts = dialects.table("host_library")["rows"][row]
        numbers = {*facts.get("numbers", ()), *facts.get("shapes", ())}
        given = [a for at, a in enumerate(node.args) if at not in numbers and a.keyword is None]
        found |= {n for a in given if (n := dotted(a.value)) and _local(scope, n)}
    elif host_numpy.joins(name) and node.args and isinstance(node.args[0].value, cst.Tuple | cst.List):
        found |= {n for e in node.args[0].value.elements if (n := dotted(e.value)) and _local(scope, n)}
    elif name.startswith("cupy.") and name in dialects.operations("python"):  # CuPy takes no numbers
        found |= {n for a in node.args[:1] if (n := dotted(a.value)) and _local(scope, n)}
    if isinstance(node.func, cst.Attribute):
        method = f"array.{node.func.attr.value}"
        owner = dotted(node.func.value)
        chosen = node.func.value.value if isinstance(node.func.value, cst.Subscript) else None
        if isinstance(chosen, cst.Tuple | cst.List) and method in ("array.copy_to_host", "array.copy_to_device"):
            found |= {n for e in chosen.elements if (n := dotted(e.value)) and _local(scope, n)}
        if owner and _local(scope, owner) and not name and method in ("array.copy_to_host", "array.copy_to_device"):
            found.add(owner)
            found |= {first} if first and _local(scope, first) else set()
    called = launched(scope, node)
    function = scope.functions.get(called or dotted(node.func))
    params = function.params if function is not None else scope.host_params.get(dotted(node.func))
    if params is not None:
        for param, argument in zip(params, node.args, strict=False):
            names = [dotted(only_operand(e)) for e in choices(argument.value)]
            if isinstance(param.type, ArrayType):
                found |= {n for n in names if n and _local(scope, n)}


def _by_assignment(scope: HostScope, target: cst.BaseExpression, value: cst.BaseExpression, found: set[str]) -> None:
    if isinstance(value, cst.IfExp):
        for arm in choices(value):
            _by_assignment(scope, target, arm, found)
        return
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
        for t, v in zip(target.elements, value.elements, strict=False):
            _by_assignment(scope, t.value, v.value, found)
        return
    if isinstance(target, cst.Tuple):
        kinds = scope.hosts.get(dotted(value.func), ()) if isinstance(value, cst.Call) else ()
        for t, is_array in zip(target.elements, kinds, strict=False):
            found |= {dotted(t.value)} if is_array and dotted(t.value) else set()
        return
    name, other = dotted(target), dotted(value)
    match value:  # a = x.copy()
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="copy" | "astype" | "ravel" | "flatten"))):
            found |= {dotted(owner)} if name in found and dotted(owner) and _local(scope, dotted(owner)) else set()
    if name in found and isinstance(value, cst.Subscript) and isinstance(value.value, cst.Tuple | cst.List):
        found |= {n for e in value.value.elements if (n := dotted(e.value)) and _local(scope, n)}
    if name and scope.is_array(value):
        found.add(name)
    if name in found and other and _local(scope, other):
        found.add(other)


def _by_loop(
    scope: HostScope,
    target: cst.BaseExpression,
    over: cst.BaseExpression,
    lists: Mapping[str, tuple[cst.BaseExpression, ...]],
    found: set[str],
) -> None:
    """``for k, (w, b) in enumerate(zip(ws, bs))``: where ``w`` is an array, so are the elements of the list ``ws``."""
    match over:
        case cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(value=inner), *_]) if isinstance(
            target, cst.Tuple
        ):
            _by_loop(scope, target.elements[-1].value, inner, lists, found)
        case cst.Call(func=cst.Name(value="reversed"), args=[cst.Arg(value=inner)]):
            _by_loop(scope, target, inner, lists, found)
        case cst.Call(func=cst.Name(value="zip"), args=args) if isinstance(target, cst.Tuple):
            for t, a in zip(target.elements, args, strict=False):
                _by_loop(scope, t.value, a.value, lists, found)
        case cst.Name(value=name) if name in lists and dotted(target) in found:
            found |= {n for e in lists[name] if (n := dotted(e)) and _local(scope, n)}
        case cst.List(elements=parts) | cst.Tuple(elements=parts) if dotted(target) in found:
            found |= {n for e in parts if (n := dotted(e.value)) and _local(scope, n)}


def launched(scope: HostScope, node: cst.Call) -> str:
    """The kernel that a call launches, "" if it launches none: ``k[grid, block](…)``, ``k.forall(n)(…)``."""
    match node.func:
        case cst.Subscript(value=value):
            name = dotted(value)
        case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value="forall"))):
            name = dotted(value)
        case cst.Name(value=alias) if alias in scope.launchers:
            name = scope.launchers[alias]
        case _:
            return ""
    return name if name in scope.functions or name in scope.refused else ""
