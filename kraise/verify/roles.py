"""What a parameter is used as: asked for its extent, a subscript, a loop's bound, an integer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kraise.ir import kernel as k
from kraise.ir.types import UINT64
from kraise.verify.facts import slots, walk

_BITS = frozenset(("and_", "or_", "xor", "invert", "shl", "shr", "popcount", "clz", "tdiv", "tmod"))


@dataclass(frozen=True)
class Roles:
    """Paths of parameters of the function that is run.

    ``asked``: (array, axis) whose extent the program reads; ``indices``: arrays whose values are subscripts;
    ``bounds``: arrays whose values bound loops; ``integers``: parameters that must hold integers, these included;
    ``counted``: arrays into which the program stores integers only; ``searched``: arrays that are looked into in the
    middle of a range, as a binary search does; ``colours``: parameters that are compared with a remainder;
    ``shifts``: arrays whose values say by how many bits something is shifted; ``words``: those whose bits meet numbers
    that the source gives 64 bits without a sign; ``modes``: numbers that are only compared with integers, and these.
    """

    asked: frozenset[tuple[str, int]]
    indices: frozenset[str]
    bounds: frozenset[str]
    integers: frozenset[str]
    counted: frozenset[str]
    searched: frozenset[str] = frozenset()
    colours: frozenset[str] = frozenset()
    shifts: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    modes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


class _Uses:
    """The flow of values into subscripts, bounds and bit operations, by names, without regard to order."""

    def __init__(self, function: k.Function):
        self.flows: dict[str, set[str]] = {}  # a local: the names its value is made of
        self.subscripts: set[str] = set()
        self.bounds: set[str] = set()
        self.bits: set[str] = set()
        self.shifts: set[str] = set()
        self.words: set[str] = set()
        self.asked: set[tuple[str, int]] = set()
        self.quotients: list[tuple[set[str], set[str]]] = []  # operands of Python's // and %
        self.searched = _searched(function)
        for node in walk(function.body):
            self.visit(node)

    def visit(self, node: object) -> None:
        match node:
            case k.Assign(name=name, value=value):
                self.flows.setdefault(name, set()).update(names(value))
            case k.For(var=var, start=start, stop=stop, step=step):
                self.flows.setdefault(var, set()).update(names(start))
                self.bounds.update(names(start), names(stop), names(step))
            case k.Load(subscripts=subscripts) | k.Store(subscripts=subscripts) | k.Atomic(subscripts=subscripts):
                for s in subscripts:
                    self.subscripts.update(names(s))
            case k.ArrayRef(offset=offset) if offset is not None:
                self.subscripts.update(names(offset))
            case k.Op(name="mod" | "floordiv", args=(x, y)):
                self.quotients.append((names(x), names(y)))
                if isinstance(y, k.Const) and isinstance(y.value, int) and y.value >= 2**16:  # a generator's modulus
                    self.bits.update(names(x))
            case k.Op(name="pow", args=(base, exponent)) if _below_zero(base):
                self.bits.update(names(exponent))  # (-1)**m
            case k.Op(name=name, args=args) if name in _BITS:
                for a in args:
                    self.bits.update(names(a))
                if name in ("shl", "shr"):
                    self.shifts.update(names(args[1]))
                if any(isinstance(a, k.Const | k.Cast) and a.type == UINT64 and not names(a) for a in args):
                    self.words.update(names(args[0]))
            case k.Shape(array=array, axis=axis):
                self.asked.add((array, axis))
            case _:
                pass

    def closed(self, start: Iterable[str]) -> set[str]:
        """All names whose values flow into these."""
        found: set[str] = set()
        todo = list(start)
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += self.flows.get(name, ())
        return found


def _below_zero(e: k.Expr) -> bool:
    match e:
        case k.Op(name="neg", args=(k.Const() as number,)):
            return not isinstance(number.value, complex) and number.value > 0
    return isinstance(e, k.Const) and not isinstance(e.value, complex) and e.value < 0


def names(e: object) -> set[str]:
    """Scalars and loaded arrays whose values make the value of an expression (not those in its loads' subscripts)."""
    found: set[str] = set()
    todo = [e]
    while todo:
        match todo.pop():
            case k.Var(name=name):
                found.add(name)
            case k.Load(array=array):
                found.add(array)
            case k.Op(name="select", args=args):
                todo += args[1:]
            case k.Op(name=name, args=args) if name not in ("lt", "le", "gt", "ge", "eq", "ne"):
                todo += args
            case k.Cast(arg=arg):
                todo.append(arg)
            case _:
                pass
    return found


def find_roles(source: k.Module, functions: list[k.Function], entry: k.Function) -> Roles:
    """The roles of the parameters of ``entry``, through the functions that it calls."""
    uses = {f.name: _Uses(f) for f in functions}
    by_name = {f.name: f for f in functions}
    for _ in range(len(functions)):  # a chain of calls is no longer than the list
        for f in functions:
            for node in walk(f.body):
                if isinstance(node, k.Call | k.CallStmt) and node.function in by_name:
                    _carry(uses[f.name], uses[node.function], by_name[node.function], node)
    own = uses[entry.name]
    params = {slot.path for param in entry.params for slot in slots(param)}
    indices = own.closed(own.subscripts) & params
    bounds = own.closed(own.bounds) & params
    bits = own.closed(own.bits) & params
    asked = frozenset((a, axis) for a, axis in own.asked if a in params)
    integers = indices | bounds | bits
    for x, y in own.quotients:  # what divides an integer is one
        made = own.closed(x) & params
        if made and made <= integers:
            integers |= own.closed(y) & params
    return Roles(
        asked,
        frozenset(indices),
        frozenset(bounds),
        frozenset(integers),
        _counted(own, entry, params, integers),
        frozenset(own.searched & params),
        frozenset(_colours(entry) & params),
        frozenset(own.closed(own.shifts) & params),
        frozenset(own.closed(own.words) & params),
        {name: numbers for name, numbers in _modes(entry).items() if name in params},
    )


def _modes(function: k.Function) -> dict[str, tuple[int, ...]]:
    """The names that are only compared with integers, and these: ``if mode == 2:``."""
    used: Counter[str] = Counter()
    compared: dict[str, list[int]] = {}
    for node in walk(function.body):
        match node:
            case k.Var(name=name):
                used[name] += 1
            case k.Op(name="eq" | "ne" | "lt" | "le" | "gt" | "ge", args=args):
                for one, other in (args, args[::-1]):
                    if isinstance(one, k.Var) and isinstance(other, k.Const) and type(other.value) is int:
                        compared.setdefault(one.name, []).append(other.value)
    return {name: tuple(numbers) for name, numbers in compared.items() if len(numbers) == used[name]}


def _colours(function: k.Function) -> set[str]:
    """What a remainder by a number is compared with: ``(i + j) % 2 == colour``."""
    found: set[str] = set()
    for node in walk(function.body):
        match node:
            case k.Op(name="eq" | "ne", args=args):
                for one, other in (args, args[::-1]):
                    if isinstance(other, k.Var) and any(map(_remainder, walk((one,)))):
                        found.add(other.name)
    return found


def _remainder(node: object) -> bool:
    match node:
        case k.Op(name="mod" | "tmod", args=(_, k.Const(value=int() as n))):
            return n > 1
        case k.Op(name="and_", args=(_, k.Const(value=1))):
            return True
    return False


def _searched(function: k.Function) -> set[str]:
    """Arrays that are read, in a loop, at a local that is half of something."""
    found: set[str] = set()
    for loop in walk(function.body):
        if isinstance(loop, k.While):
            nodes = list(walk(loop.body))
            halves = {n.name for n in nodes if isinstance(n, k.Assign) and any(map(_half, walk((n.value,))))}
            found |= {
                n.array
                for n in nodes
                if isinstance(n, k.Load) and any(isinstance(x, k.Var) and x.name in halves for x in n.subscripts[-1:])
            }
    return found


def _half(node: object) -> bool:
    match node:
        case k.Op(name="floordiv" | "tdiv", args=(_, k.Const(value=2))) | k.Op(name="shr", args=(_, k.Const(value=1))):
            return True
    return False


def _counted(own: _Uses, entry: k.Function, params: set[str], integers: set[str]) -> frozenset[str]:
    """Arrays whose stored values are integers by their type, or made of integer parameters only."""
    counts: dict[str, bool] = {}
    for node in walk(entry.body):
        match node:
            case k.Store(array=array, value=value) | k.Atomic(array=array, values=(value, *_)):
                made = own.closed(names(value)) & params - {array}
                whole = value.type.is_integer or (value.type.kind == "number" and bool(made) and made <= integers)
                counts[array] = counts.get(array, True) and whole
            case _:
                pass
    return frozenset(array for array, whole in counts.items() if whole and array in params)


def _carry(own: _Uses, inner: _Uses, callee: k.Function, call: k.Call | k.CallStmt) -> None:
    """What a callee does with its parameters, its caller does with the arguments."""
    flows = (inner.subscripts, inner.bounds, inner.bits, inner.shifts, inner.words)
    subscripts, bounds, bits, shifts, words = map(inner.closed, flows)
    for param, argument in zip(callee.params, call.args, strict=False):
        given = {argument.array} if isinstance(argument, k.ArrayRef) else names(argument)
        for slot in slots(param):
            suffix = slot.path[len(param.name) :]
            paths = {name + suffix for name in given}
            if slot.path in subscripts:
                own.subscripts |= paths
            if slot.path in bounds:
                own.bounds |= paths
            if slot.path in bits:
                own.bits |= paths
            if slot.path in shifts:
                own.shifts |= paths
            if slot.path in words:
                own.words |= paths
            if slot.path in inner.searched:
                own.searched |= paths
            if isinstance(argument, k.ArrayRef):
                own.asked |= {(argument.array + suffix, axis) for name, axis in inner.asked if name == slot.path}
    if isinstance(call, k.CallStmt):
        for result in call.results:
            own.flows.setdefault(result, set()).update(*(names(a) for a in call.args if not isinstance(a, k.ArrayRef)))
