"""Constants of the module, folded without running anything: ``TILE = 16``, ``N = 2 * TILE``, tables of numbers."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from kraise import dialects
from kraise.frontends.python.annotations import of_dtype, scalar_type
from kraise.frontends.python.names import Imports, simple_statements
from kraise.frontends.python.source import Source, children, dotted, subscripted, walk
from kraise.ir.kernel import Constant
from kraise.ir.types import BOOL, COMPLEX, FLOAT, INT, ScalarType

_BINARY = {
    cst.Add: operator.add,
    cst.Subtract: operator.sub,
    cst.Multiply: operator.mul,
    cst.Divide: operator.truediv,
    cst.FloorDivide: operator.floordiv,
    cst.Modulo: operator.mod,
    cst.BitAnd: operator.and_,
    cst.BitOr: operator.or_,
    cst.BitXor: operator.xor,
}


def python_type(value: object) -> ScalarType:
    """The type of a Python number."""
    if isinstance(value, bool):
        return BOOL
    return INT if isinstance(value, int) else FLOAT if isinstance(value, float) else COMPLEX


class Folder:
    """Values of names: filled statement by statement, in the order of the module."""

    def __init__(self, imports: Imports):
        self.imports = imports
        self.values: dict[str, Constant] = {}

    def number(self, node: cst.BaseExpression) -> tuple[object, ScalarType] | None:
        """(value, type) of a constant scalar expression, None if it is not one."""
        match node:
            case cst.Integer() | cst.Float() | cst.Imaginary():
                number = complex(node.value) if isinstance(node, cst.Imaginary) else node.evaluated_value
                return number, python_type(number)
            case cst.Name(value="True" | "False"):
                return node.value == "True", BOOL
            case cst.Name(value=name) if name in self.values:
                constant = self.values[name]
                return (constant.values[0], constant.type) if constant.shape == () else None
            case cst.Name() | cst.Attribute():
                name = self.imports.qualified(dotted(node))
                known = dialects.constants("numpy_scalar").get(name)
                return None if known is None else (known, FLOAT)
            case cst.UnaryOperation(operator=sign, expression=inner):
                found = self.number(inner)
                if found is None:
                    return None
                value, type_ = found
                if isinstance(sign, cst.Minus):
                    return -value, type_  # type: ignore[operator]
                return found if isinstance(sign, cst.Plus) else None
            case cst.BinaryOperation(left=left, operator=symbol, right=right):
                return self._binary(left, symbol, right)
            case cst.Call(func=func, args=[cst.Arg(value=argument)]):
                return self._cast(self.imports.qualified(dotted(func)), argument)
        return None

    def _binary(self, left, symbol, right):
        a, b = self.number(left), self.number(right)
        if a is None or b is None:
            return None
        try:
            if isinstance(symbol, cst.Power):
                if abs(b[0]) > 64 or (isinstance(a[0], int) and abs(a[0]) > 1e6):
                    return None
                value = a[0] ** b[0]
            elif isinstance(symbol, cst.LeftShift | cst.RightShift):
                if not 0 <= b[0] <= 64:
                    return None
                value = a[0] << b[0] if isinstance(symbol, cst.LeftShift) else a[0] >> b[0]
            else:
                value = _BINARY[type(symbol)](a[0], b[0])
        except (ArithmeticError, KeyError, TypeError):
            return None
        sized = [t for t in (a[1], b[1]) if t.bits is not None and t != BOOL]
        return value, sized[0] if sized and len(set(sized)) == 1 else python_type(value)

    def _cast(self, name: str, argument):
        import math

        found = self.number(argument)
        if found is None:
            return None
        spelled = dialects.operations("python").get(name)
        try:
            if spelled is not None and name.startswith(("math.", "numpy.")):
                function = getattr(math, name.rpartition(".")[2], None)
                return None if function is None else (function(found[0]), python_type(function(found[0])))
            type_ = scalar_type(name)
            if type_ is None:
                return None
            made = {"int": int, "uint": int, "bool": bool, "float": float, "complex": complex}[type_.kind](found[0])
        except (ArithmeticError, ValueError, TypeError):
            return None
        return made, type_

    def table(self, node: cst.BaseExpression) -> tuple[list, tuple[int, ...], ScalarType] | None:
        """(values row by row, shape, type) of a tuple, list or ``np.array`` of numbers."""
        if isinstance(node, cst.Call):
            name = self.imports.qualified(dotted(node.func))
            if dialects.vocabulary("numpy_scalar").get(name) != "table" or not node.args:
                return None
            inner = self.table(node.args[0].value)
            dtype = [a.value for a in node.args[1:] if a.keyword is None or a.keyword.value == "dtype"]
            if inner is None or not dtype:
                return inner
            type_ = of_dtype(dtype[0], self.imports.qualified)
            return (inner[0], inner[1], type_) if isinstance(type_, ScalarType) else None
        rows = self.listed(node)
        if not rows:
            return None
        scalars = [self.number(r) for r in rows]
        if all(s is not None for s in scalars):
            types = [s[1] for s in scalars]  # type: ignore[index]
            strongest = next(t for t in (COMPLEX, FLOAT, INT, BOOL, types[0]) if t in types)
            return [s[0] for s in scalars], (len(rows),), strongest  # type: ignore[index]
        tables = [self.table(r) for r in rows]
        if any(t is None for t in tables) or len({t[1] for t in tables}) != 1:  # type: ignore[index]
            return None
        types = [t[2] for t in tables]  # type: ignore[index]
        strongest = next(t for t in (COMPLEX, FLOAT, INT, BOOL, types[0]) if t in types)
        return [v for t in tables for v in t[0]], (len(rows), *tables[0][1]), strongest  # type: ignore[index,misc]

    def listed(self, node: cst.BaseExpression) -> list[cst.BaseExpression] | None:
        """The elements of a list, of ``[a] + [b] * 4``, too; None for anything else."""
        match node:
            case cst.Tuple(elements=parts) | cst.List(elements=parts):
                return [e.value for e in parts]
            case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
                one, two = self.listed(left), self.listed(right)
                return None if one is None or two is None else one + two
            case cst.BinaryOperation(left=left, operator=cst.Multiply(), right=right):
                one, count = self.listed(left), self.number(right)
                times = count[0] if count is not None else None
                known = one is not None and isinstance(times, int) and 0 <= times * len(one) <= 4096
                return one * times if known else None  # type: ignore[operator]
        return None


def read_constants(
    source: Source, imports: Imports, body=None, known: dict[str, Constant] | None = None
) -> dict[str, Constant]:
    """The constants of a module (or of a function's ``body``) by name.

    A name that is bound twice, or declared ``global`` somewhere, is none. ``known`` are constants that may be used.
    """
    folder = Folder(imports)
    folder.values = dict(known or {})
    body = source.tree.body if body is None else body
    bindings = times_bound(body)
    for statement in simple_statements(body):
        match statement:
            case cst.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target.target, cst.Tuple) and isinstance(value, cst.Tuple):
                        for t, v in zip(target.target.elements, value.elements, strict=False):
                            if isinstance(t.value, cst.Name) and bindings[t.value.value] == 1:
                                _bind(folder, source, t.value, v.value)
                    elif isinstance(target.target, cst.Name) and bindings[target.target.value] == 1:
                        _bind(folder, source, target.target, value)
            case cst.AnnAssign(target=cst.Name() as name, value=value) if (
                value is not None and bindings[name.value] == 1
            ):
                _bind(folder, source, name, value)
    return {n: c for n, c in folder.values.items() if n not in changed(source.tree)}


@lru_cache(maxsize=64)
def changed(tree: cst.Module) -> frozenset[str]:
    """The names of a module that some function of it may set (``global``), and those of lists and arrays that change
    after they are made: by a store to an element (``T[0] = 9``), a method (``T.append``) or ``out=T``."""
    found: set[str] = set()
    stack: list[tuple[cst.CSTNode, frozenset[str]]] = [(tree, frozenset())]
    while stack:
        node, own = stack.pop()
        match node:
            case cst.FunctionDef(decorators=decorators) if any(map(_compiles, decorators)):
                continue  # numba compiles what a module holds into a function: a store to it is an error
            case cst.FunctionDef(params=params, body=cst.IndentedBlock(body=body)):
                own |= {p.name.value for p in walk(params) if isinstance(p, cst.Param)} | times_bound(body).keys()
            case cst.Global(names=names):
                found |= {n.name.value for n in names}
            case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.Del(target=target):
                found |= {name for name in _bases(target) if name not in own}
            case cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=way))) if (
                way in _IN_PLACE and name not in own
            ):
                found.add(name)
            case cst.Arg(keyword=cst.Name(value="out"), value=cst.Name(value=name)) if name not in own:
                found.add(name)
        stack += [(n, own) for n in children(node)]
    return frozenset(found)


def _compiles(node: cst.Decorator) -> bool:
    callee = node.decorator.func if isinstance(node.decorator, cst.Call) else node.decorator
    last = dotted(callee).rpartition(".")[2]
    return "jit" in last or "vectorize" in last


_IN_PLACE = frozenset(
    {"append", "extend", "insert", "pop", "remove", "sort", "reverse", "clear", "update"}
    | {"fill", "put", "itemset", "resize", "partition", "setflags"}
)


def _bases(target: cst.BaseExpression) -> Iterator[str]:
    """``T`` of ``T[0][1]``, of each target of several."""
    match target:
        case cst.Subscript():
            yield subscripted(target)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for e in elements:
                yield from _bases(e.value)


def times_bound(body) -> Counter:
    """How often each name is bound by the statements of a module or function (not by those of functions in it)."""
    counts: Counter = Counter()
    inner = (cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.GeneratorExp, cst.ListComp, cst.DictComp, cst.SetComp)
    for statement in body:
        for node in walk(statement, lambda n: not isinstance(n, inner)):
            match node:
                case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
                    counts[name.value] += 1
                case cst.AssignTarget() | cst.For() | cst.AugAssign() | cst.NamedExpr() | cst.AnnAssign():
                    if not (isinstance(node, cst.AnnAssign) and node.value is None):
                        counts.update(n.value for n in walk(node.target, _no_subscript) if isinstance(n, cst.Name))
                case cst.ImportAlias():
                    bound = node.name if node.asname is None else node.asname.name
                    counts[dotted(bound).partition(".")[0]] += 1
    return counts


def _no_subscript(node: cst.CSTNode) -> bool:
    return not isinstance(node, cst.Subscript | cst.Attribute)


def _bind(folder: Folder, source: Source, name: cst.Name, value: cst.BaseExpression) -> None:
    found = folder.number(value)
    if found is not None:
        folder.values[name.value] = Constant(name.value, found[1], (found[0],), span=source.span(name))  # type: ignore[arg-type]
        return
    table = folder.table(value)
    if table is not None:
        folder.values[name.value] = Constant(name.value, table[2], tuple(table[0]), table[1], span=source.span(name))
