"""Arrays that a plain function of Python adds up element by element: each element must be a number, no row.

``s += M[i]`` adds up the rows of a matrix in Python, and all of its elements in ``M.sum()``. So does a running value, a
product of two arrays, ``M[i] += M[i - 1]``. Where nothing in the function has a meaning for numbers only, the emitted
function asks how many axes the array has, if it is a sum or a scan there (a loop over rows has carries that do not
fit). It need not where Python asks by itself: a branch on what comes of an element, a function of ``math``, a cell of
an array of numbers that is made here. It asks, too, where ``t = M[i]`` is read after ``M[i] = M[j]``, or changed
by ``t *= 2``: a row would see it, or be seen; and where ``a[..., k]`` stands. (A kernel or function that numba
compiles has numbers by its types.)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kraise.frontends.python import expressions as ex
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.source import all_of, dotted, walk
from kraise.ir.kernel import ArrayRef, Assign, For, If, Load, LocalArray, Param, Stmt, Store, Var, While
from kraise.ir.rewrite import walked
from kraise.ir.types import NUMBER, ArrayType

_OF_NUMBERS = ("float", "int", "complex", "bool", "round", "min", "max")  # builtins that take no rows


def parameters(scope: Scope, params: tuple[Param, ...], body: tuple[Stmt, ...]) -> tuple[tuple[str, str], ...]:
    """The parameters that must have so many axes, or be a number, where they are added up, and nothing else says so."""
    if scope.definition.kind != "plain" or scope.definition.decorated:
        return ()
    nodes = [*walked(body)]
    sums = {read for reads in _added_up(body, ()) for read in reads}
    dots = {n.value.value for n in all_of(cst.Subscript, scope.definition.node.body) if _dots(n)}  # type: ignore[attr-defined]
    seen = {*_seen(scope, body, nodes)} | dots
    if not sums and not seen:
        return ()
    flows = [(n.name, ex.values(n.value)) for n in nodes if isinstance(n, Assign)]
    numbers = {*_asked(scope), *_kept(nodes)}
    for found, certain in ((sums, False), (numbers, True)):
        before: set[str] = set()
        while before != found:
            before = set(found)
            for name, reads in flows:
                others = [r for n, r in flows if n == name and r is not reads and not r <= {name}]
                if name in before and not (certain and others):  # of several values the last one counts
                    found |= reads
    axes = {p.name: p.type.ndim if isinstance(p.type, ArrayType) else "number" for p in params
            if isinstance(p.type, ArrayType) or p.type == NUMBER}  # fmt: skip
    asked = [p.name for p in params if p.name in axes.keys() - (numbers - dots)]
    return (
        *((n, f"{axes[n]} summed") for n in asked if n in sums),
        *((n, f"{axes[n]}") for n in asked if n in seen),
    )


def _dots(node: cst.Subscript) -> bool:
    """Whether ``...`` stands among the subscripts of a name, which leaves open how many axes it has."""
    return isinstance(node.value, cst.Name) and any(
        isinstance(e.slice, cst.Index) and isinstance(e.slice.value, cst.Ellipsis) for e in node.slice
    )


def _seen(scope: Scope, body: tuple[Stmt, ...], nodes: list[object]) -> Iterator[str]:
    """Arrays of which a local holds an element, as it was, while that may be stored to, or that is changed in place."""
    named = {n.name: n.value.array for n in nodes if isinstance(n, Assign) and isinstance(n.value, Load)}
    for node in all_of(cst.AugAssign, scope.definition.node.body):
        if isinstance(node.target, cst.Name) and node.target.value in named:
            yield named[node.target.value]
    if named:
        yield from _Held(body).found


class _Held:
    """Walks statements in the order in which they run: which locals are elements, of what, and stored to since."""

    def __init__(self, body: tuple[Stmt, ...]):
        self.held: dict[str, set[str]] = {}
        self.stale: set[tuple[str, str]] = set()
        self.found: set[str] = set()
        self._block(body)

    def _block(self, body: tuple[Stmt, ...]) -> None:
        for s in body:
            match s:
                case For(body=inner) | While(body=inner):
                    self._read((s.start, s.stop, s.step) if isinstance(s, For) else s.condition)
                    for _ in range(2):
                        self._block(inner)
                    self._block(s.orelse)
                case If(condition=condition, body=a, orelse=b):
                    self._read(condition)
                    before = {n: set(v) for n, v in self.held.items()}, set(self.stale)
                    self._block(a)
                    held, stale = self.held, self.stale
                    self.held, self.stale = before
                    self._block(b)
                    self.held = {n: {*held.get(n, ()), *self.held.get(n, ())} for n in {*held, *self.held}}
                    self.stale |= stale
                case Assign(name=name, value=value):
                    self._read(value)
                    self.stale = {(n, a) for n, a in self.stale if n != name}
                    self.held[name] = {value.array} if isinstance(value, Load) else set()
                    if isinstance(value, Var):
                        self.held[name] = set(self.held.get(value.name, ()))
                        self.stale |= {(name, a) for n, a in self.stale if n == value.name}
                case Store(array=array):
                    self._read((s.subscripts, s.value))
                    self.stale |= {(n, array) for n, of in self.held.items() if array in of}
                case _:
                    self._read(s)
                    changed = {a.array for a in walked(s) if isinstance(a, ArrayRef)}
                    self.stale |= {(n, a) for n, of in self.held.items() for a in of & changed}

    def _read(self, node: object) -> None:
        names = {n.name for n in walked(node) if isinstance(n, Var)}
        self.found |= {a for n, a in self.stale if n in names}


def _added_up(body: tuple[Stmt, ...], loops: tuple[str, ...]) -> Iterator[set[str]]:
    """What flows into values that a loop carries on."""
    for s in body:
        match s:
            case Assign(name=name, value=value) if loops and name in ex.values(value):
                yield ex.values(value)
            case Store(array=array, subscripts=at, value=value) if loops and array in ex.values(value):
                own = [n for n in walked(value) if isinstance(n, Load) and n.array == array]
                here = {n.name for n in walked(at) if isinstance(n, Var)}
                if not {*loops} <= here or any(n.subscripts != at for n in own):
                    yield ex.values(value) - ({array} if all(n.subscripts == at for n in own) else set())
            case For(var=var, body=inner):
                yield from _added_up(inner, (*loops, var))
            case While(body=inner):
                yield from _added_up(inner, (*loops, ""))
            case If(body=a, orelse=b):
                yield from _added_up(a, loops)
                yield from _added_up(b, loops)


def _kept(nodes: list[object]) -> Iterator[str]:
    """What is stored to single cells of arrays that are made here."""
    made = {n.name: len(n.shape) for n in nodes if isinstance(n, LocalArray)}
    for n in nodes:
        if isinstance(n, Store) and made.get(n.array) == len(n.subscripts):
            yield from ex.values(n.value)


def _asked(scope: Scope) -> Iterator[str]:
    """What the source asks for its truth, or passes to a function of numbers, whatever is true."""
    skipped: set[int] = set()

    def looked(node: cst.CSTNode) -> bool:
        return id(node) not in skipped and not isinstance(node, cst.FunctionDef | cst.Lambda)

    for node in walk(scope.definition.node.body, looked):
        if id(node) in skipped:
            continue
        match node:
            case cst.If(test=test, body=body, orelse=orelse) | cst.IfExp(test=test, body=body, orelse=orelse):
                skipped |= {id(body), id(orelse)}
                yield from _values(test)
            case cst.While(test=test):
                yield from _values(test)
            case cst.BooleanOperation(left=left, right=right):
                skipped.add(id(right))
                yield from _values(left)
            case cst.Call(func=func, args=args):
                name = scope.imports.qualified(dotted(func))
                if name.startswith("math.") or name.removeprefix("builtins.") in _OF_NUMBERS:
                    for a in args:
                        yield from _values(a.value)


def _values(node: cst.BaseExpression) -> Iterator[str]:
    """The names of which an expression takes the value, or the value of an element, by arithmetic alone."""
    match node:
        case cst.Name(value=name) | cst.Subscript(value=cst.Name(value=name)):
            yield name
        case cst.BinaryOperation(left=a, right=b) | cst.BooleanOperation(left=a, right=b):
            yield from _values(a)
            yield from _values(b)
        case cst.UnaryOperation(expression=a):
            yield from _values(a)
        case cst.Comparison(left=a, comparisons=rest):
            yield from _values(a)
            for c in rest:
                yield from _values(c.comparator)


__all__ = ["parameters"]
