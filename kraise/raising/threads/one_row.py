"""Blocks and launches of any shape whose threads are numbered through: ``threadIdx.y * blockDim.x + threadIdx.x``
(Kernel IR to Kernel IR).

Where a kernel looks at its threads by that number only, and at the block's extents by their product only, the block
may as well be one row of so many threads: the number takes each value below the product once, whatever the shape is.
``threadIdx.x`` then stands for the number and ``blockDim.x`` for the product
(:attr:`~kraise.ir.kernel.Function.one_row`). Another order of the axes will do where no lanes of a warp meet. Likewise
the threads of the whole launch, in rows and planes of blocks: ``y * gridDim.x * blockDim.x + x``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import permutations

from kraise.analysis.poly import Monomial, Poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.order import by_text
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.raising.run.calls import called
from kraise.raising.threads.counted import counted

_RING = ("add", "sub", "mul", "neg")
_OWN = ("thread", "blockDim")
_EXTENT = {"thread": "blockDim", "block": "gridDim"}
Digit = tuple[str, int]  # the kind and the axis of a hardware index
_LARGEST = 1024  # threads of a block
_NUMBER, _THREADS = eq.Param("0", INT), eq.Param("1", INT)  # the number of a thread, and how many there are


class _Otherwise(Exception):
    """A thread is looked at by another number."""


def in_one_row(module: k.Module, function: k.Function) -> k.Function:
    """``function`` for blocks of one row, if it looks at its threads by their number only; the same if it does not."""
    nodes = list(walked(function.body))
    axes = {n.axis for n in nodes if isinstance(n, k.Hw) and n.kind == "thread"}
    if function.kind != "kernel" or axes not in ({0, 1}, {0, 1, 2}):
        return function
    helpers = set(called(module, function))
    inside = [n for f in module.functions if f.name in helpers for n in walked(f.body)]
    if any(isinstance(n, k.Hw) and n.kind in _OWN for n in inside):
        return function
    in_warps = any(isinstance(n, k.Warp) or (isinstance(n, k.Barrier) and n.scope == "warp") for n in nodes + inside)
    natural = tuple(sorted(axes))
    for order in (natural,) if in_warps else sorted(permutations(natural)):
        try:
            body = _Row(tuple(("thread", axis) for axis in order), _locals(function, nodes)).body(function.body)
        except _Otherwise:
            continue
        if _blocks(nodes) - _blocks(walked(body)):
            break  # what is computed and not read still says that the grid has this axis
        return replace(function, body=body, one_row=len(axes))
    return function


def in_one_line(module: k.Module, function: k.Function) -> k.Function | None:
    """``function`` for a launch of one row of blocks, if it looks at its threads by their number in the whole launch
    only and each number is one thread's; None if it does not, or if how many threads there are matters."""
    nodes = list(walked(function.body))
    digits = {(n.kind, n.axis) for n in nodes if isinstance(n, k.Hw) and n.kind in _EXTENT}
    calls = called(module, function)
    inside = [n for f in module.functions if f.name in {*calls} for n in walked(f.body)]
    meeting = any(isinstance(n, k.Warp | k.Barrier) for n in nodes + inside)
    staged = any(isinstance(n, k.LocalArray) and n.space == "shared" for n in nodes + inside)
    if function.kind != "kernel" or len({axis for _, axis in digits}) < 2 or meeting or staged:
        return None
    if any(isinstance(n, k.Hw) for n in inside) or counted(module, function, calls):
        return None
    own = _locals(function, nodes)
    for order in _orders(nodes, digits, own):
        try:
            body = _Row(order, own, whole=True).body(function.body)
        except _Otherwise:
            continue
        extents = [("block" if kind == "thread" else "grid", axis) for kind, axis in order]
        extents += [("block", axis) for axis in range(1, function.one_row)]
        return replace(function, body=body, one_row=0, one_line=tuple(extents))
    return None


def _orders(nodes: list[object], digits: set[Digit], own: dict[str, k.Expr]) -> list[tuple[Digit, ...]]:
    """The orders in which an expression counts the digits, the fastest first: as many extents as digits are before."""
    found: dict[tuple[Digit, ...], None] = {}
    row = _Row(tuple(sorted(digits)), own, whole=True)
    for e in nodes:
        if isinstance(e, k.Op) and e.name in _RING and row._of_block(e):
            try:
                poly = row._poly(e)
            except _Otherwise:  # a part of it
                continue
            times = {d: min(map(len, terms)) for d in digits if (terms := poly.coefficient(row.of(d)).terms)}
            order = tuple(sorted(times, key=lambda d: (times[d], d)))
            if [times[d] - times[order[0]] for d in order] == [*range(len(digits))]:
                found[order] = None
    return list(found)


def _blocks(nodes: Iterable[object]) -> set[int]:
    return {n.axis for n in nodes if isinstance(n, k.Hw) and n.kind == "block"}


def _locals(function: k.Function, nodes: list[object]) -> dict[str, k.Expr]:
    """The locals that are assigned once, and stand for arithmetic of the threads' indices and of what never changes."""
    changed = [n.name for n in nodes if isinstance(n, k.Assign)] + [n.var for n in nodes if isinstance(n, k.For)]
    changed += [n.result for n in nodes if isinstance(n, k.Atomic)]
    changed += [r for n in nodes if isinstance(n, k.CallStmt) for r in n.results]
    once = {n.name: n.value for n in nodes if isinstance(n, k.Assign) and changed.count(n.name) == 1 and _wide(n.type)}
    while True:
        steady = {p.name for p in function.params} - set(changed) | once.keys()
        left = {name: v for name, v in once.items() if _arithmetic(v, steady)}
        if len(left) == len(once):
            return {n: v for n, v in once.items() if any(isinstance(x, k.Hw) for x in _expanded(v, once))}
        once = left


def _expanded(e: k.Expr, once: dict[str, k.Expr]) -> list[object]:
    found = list(walked(e))
    return found + [x for n in found if isinstance(n, k.Var) and n.name in once for x in _expanded(once[n.name], once)]


def _arithmetic(e: k.Expr, steady: set[str]) -> bool:
    match e:
        case k.Const(value=v):
            return type(v) is int
        case k.Hw():
            return True
        case k.Var(name=name, type=t):
            return name in steady and t.is_integer
        case k.Cast(type=t, arg=a):
            return _wide(t) and _arithmetic(a, steady)
        case k.Op(name=name, args=args, type=t):
            return name in _RING and t.is_integer and all(_arithmetic(a, steady) for a in args)
    return False


def _wide(t: ScalarType) -> bool:
    return t.is_integer and (t.bits or 64) >= 32


@dataclass
class _Row:
    """The rewriting for one order of the digits, the fastest first, those of a block or of the ``whole`` launch."""

    order: tuple[Digit, ...]
    locals: dict[str, k.Expr]
    whole: bool = False
    numbers: set[str] = field(default_factory=set)  # those that are arithmetic of the number: they stay
    nodes: dict[eq.Expr, k.Expr] = field(default_factory=dict)  # by the atom that stands for it
    known: dict[k.Expr, eq.Param] = field(default_factory=dict)

    def body(self, body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
        """``body`` by the number.

        Raises:
            _Otherwise: it looks at a thread in another way.
        """
        for name, e in self.locals.items():
            if self._by_number(e) is not None:
                self.numbers.add(name)
        return rewritten(body, self.visit)  # type: ignore[no-any-return]

    def visit(self, n: object) -> object | None:
        match n:
            case k.Assign(name=name) if name in self.locals and name not in self.numbers:
                return ()  # its value stands in place of it
            case k.Op(name="and" | "or"):
                return self._first(n)
            case k.Hw() | k.Var() | k.Cast() | k.Op():
                if not self._of_block(n):
                    return None
                found = self._by_number(n)
                if found is None:
                    raise _Otherwise
                return found
        return None

    def _first(self, n: k.Op) -> k.Expr | None:
        """``x == 0 and y == 0 and e`` as ``number == 0 and e``; ``x != 0 or y != 0`` likewise."""
        joint = n.name if n.name in ("and", "or") else ""
        compared = "eq" if n.name in ("and", "eq") else "ne"
        parts = _parts(n, joint) if joint else [n]
        axes = [self._zero(p, compared) for p in parts]
        if not frozenset().union(*axes) >= {*self.order}:
            return None
        t = next(x.type for x in walked(n) if isinstance(x, k.Hw | k.Var) and self._of_block(x))
        number = k.Op(compared, (self._number(t), k.Const(0, t)), BOOL, span=n.span)
        kept = [number if own else rewritten(p, self.visit) for p, own in zip(parts, axes, strict=True)]
        return reduce(lambda a, b: k.Op(joint, (a, b), BOOL, span=n.span), dict.fromkeys(kept))

    def _number(self, t: ScalarType) -> k.Expr:
        """The number of a thread."""
        thread = k.Hw("thread", 0, t)
        if not self.whole:
            return thread
        before = k.Op("mul", (k.Hw("block", 0, t), k.Hw("blockDim", 0, t)), t)
        return k.Op("add", (before, thread), t)

    def _threads(self, t: ScalarType) -> k.Expr:
        """How many threads there are."""
        block = k.Hw("blockDim", 0, t)
        return k.Op("mul", (k.Hw("gridDim", 0, t), block), t) if self.whole else block

    def _zero(self, e: k.Expr, compared: str) -> frozenset[Digit]:
        """The threads' indices that ``e`` compares with zero, and nothing else."""
        match e:
            case k.Op(name=name, args=(a, k.Const(value=0))) if name == compared:
                return self._axes(a) or frozenset()
        return frozenset()

    def _axes(self, e: k.Expr) -> frozenset[Digit] | None:
        match e:
            case k.Op(name="add" | "or_", args=(a, b)):
                one, two = self._axes(a), self._axes(b)
                return None if one is None or two is None else one | two
        poly = self._poly(e) if self._of_block(e) else Poly()
        for digit in self.order:
            if poly == Poly({(self.of(digit),): 1}):
                return frozenset((digit,))
        return None

    def of(self, digit: Digit) -> eq.Expr:
        """The atom of a hardware index."""
        return self._atom(k.Hw(*digit, INT))

    def _own(self, kind: str) -> bool:
        return kind in _OWN or (self.whole and kind in ("block", "gridDim"))

    def _of_block(self, e: k.Expr) -> bool:
        """Whether ``e`` is arithmetic of the threads' indices or the block's extents."""
        match e:
            case k.Hw(kind=kind):
                return self._own(kind)
            case k.Var(name=name):
                return name in self.locals and name not in self.numbers
            case k.Cast(type=t, arg=a):
                return _wide(t) and self._of_block(a) and self._small(a)
            case k.Op(name=name, args=args, type=t):
                return name in _RING and t.is_integer and any(map(self._of_block, args))
        return False

    def _small(self, e: k.Expr) -> bool:
        """Whether ``e`` is a sum of products of the threads' indices and the block's extents: no type is too narrow."""
        poly = self._poly(e)
        own = {a for a in poly.atoms() if isinstance(n := self.nodes[a], k.Hw) and self._own(n.kind)}
        return poly.atoms() <= own and all(0 <= c <= _LARGEST for c in poly.terms.values())

    def _poly(self, e: k.Expr) -> Poly:
        match e:
            case k.Const(value=int() as v) if type(v) is int:
                return Poly({(): v})
            case k.Var(name=name) if name in self.locals and name not in self.numbers:
                return self._poly(self.locals[name])
            case k.Op(name="neg", args=(a,)) if self._of_block(e):
                return -self._poly(a)
            case k.Op(name="add" | "sub" | "mul" as name, args=(a, b)) if self._of_block(e):
                p, q = self._poly(a), self._poly(b)
                return p + q if name == "add" else p - q if name == "sub" else p * q
            case k.Cast(arg=a) if self._of_block(e):
                return self._poly(a)
            case k.Hw(kind=kind, axis=axis) if self._own(kind):
                return Poly({(self._atom(k.Hw(kind, axis, INT)),): 1})
        return Poly({(self._atom(rewritten(e, self.visit)),): 1})

    def _atom(self, e: k.Expr) -> eq.Expr:
        if e not in self.known:
            self.known[e] = eq.Param(f"{len(self.known):04}", INT)
            self.nodes[self.known[e]] = e
        return self.known[e]

    def _by_number(self, e: k.Expr) -> k.Expr | None:
        """``e`` as so many times the number and a rest without the threads' indices, the extents by their product; None
        where it is no such sum."""
        poly = self._poly(e)
        threads = [self.of(digit) for digit in self.order]
        times = poly.coefficient(threads[0])
        number, stride = Poly(), Poly({(): 1})
        for t, (kind, axis) in zip(threads, self.order, strict=True):
            number = number + stride * Poly({(t,): 1})
            stride = stride * Poly({(self.of((_EXTENT[kind], axis)),): 1})
        rest = poly - times * number
        if any(t in rest.atoms() or t in times.atoms() for t in threads):
            return None
        by_product = [self._by_product(p) for p in (times, rest)]
        if by_product[0] is None or by_product[1] is None:
            return None
        return self._spelled(by_product[0] * Poly({(_NUMBER,): 1}) + by_product[1], e)

    def _by_product(self, poly: Poly) -> Poly | None:
        kinds = ("blockDim", "gridDim") if self.whole else ("blockDim",)
        extents = [self.of((kind, axis)) for kind in kinds for axis in range(3)]
        out: dict[Monomial, int] = {}
        for m, c in poly.terms.items():
            left = list(m)
            if any(x in left for x in extents):
                for kind, axis in self.order:
                    if (extent := self.of((_EXTENT[kind], axis))) not in left:
                        return None
                    left.remove(extent)
                if any(x in left for x in extents):
                    return None
                left = sorted((*left, _THREADS), key=by_text)
            out[tuple(left)] = c
        return Poly(out)

    def _spelled(self, poly: Poly, like: k.Expr) -> k.Expr:
        t = like.type
        out: k.Expr | None = None
        for m, c in sorted(poly.terms.items(), key=lambda term: -len(term[0])):
            part: k.Expr | None = None if m and abs(c) == 1 else k.Const(abs(c), t, span=like.span)
            for a in m:
                if a in (_NUMBER, _THREADS):
                    factor = self._number(t) if a is _NUMBER else self._threads(t)
                else:
                    factor = _as(self.nodes[a], t)
                part = factor if part is None else k.Op("mul", (part, factor), t, span=like.span)
            assert part is not None
            if out is None:
                out = part if c > 0 else k.Op("neg", (part,), t, span=like.span)
            else:
                out = k.Op("add" if c > 0 else "sub", (out, part), t, span=like.span)
        return k.Const(0, t, span=like.span) if out is None else out


def _as(e: k.Expr, t: ScalarType) -> k.Expr:
    return e if e.type == t else k.Cast(t, e, span=e.span)


def _parts(e: k.Expr, name: str) -> list[k.Expr]:
    if isinstance(e, k.Op) and e.name == name:
        return [p for a in e.args for p in _parts(a, name)]
    return [e]


__all__ = ["in_one_line", "in_one_row"]
