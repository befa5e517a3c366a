"""Blocks of any shape whose threads are numbered through: ``threadIdx.y * blockDim.x + threadIdx.x`` (Kernel IR to
Kernel IR).

Where a kernel looks at its threads by that number only, and at the block's extents by their product only, the block
may as well be one row of so many threads: the number takes each value below the product once, whatever the shape is.
``threadIdx.x`` then stands for the number and ``blockDim.x`` for the product
(:attr:`~kraise.ir.kernel.Function.one_row`). Another order of the axes will do where no lanes of a warp meet.
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

_RING = ("add", "sub", "mul", "neg")
_OWN = ("thread", "blockDim")
_LARGEST = 1024  # threads of a block


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
            body = _Row(order, _locals(function, nodes)).body(function.body)
        except _Otherwise:
            continue
        if _blocks(nodes) - _blocks(walked(body)):
            break  # what is computed and not read still says that the grid has this axis
        return replace(function, body=body, one_row=len(axes))
    return function


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
    """The rewriting for one order of the axes, the fastest first."""

    order: tuple[int, ...]
    locals: dict[str, k.Expr]
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
        number = k.Op(compared, (k.Hw("thread", 0, t), k.Const(0, t)), BOOL, span=n.span)
        kept = [number if own else rewritten(p, self.visit) for p, own in zip(parts, axes, strict=True)]
        return reduce(lambda a, b: k.Op(joint, (a, b), BOOL, span=n.span), dict.fromkeys(kept))

    def _zero(self, e: k.Expr, compared: str) -> frozenset[int]:
        """The axes of the threads' indices that ``e`` compares with zero, and nothing else."""
        match e:
            case k.Op(name=name, args=(a, k.Const(value=0))) if name == compared:
                return self._axes(a) or frozenset()
        return frozenset()

    def _axes(self, e: k.Expr) -> frozenset[int] | None:
        match e:
            case k.Op(name="add" | "or_", args=(a, b)):
                one, two = self._axes(a), self._axes(b)
                return None if one is None or two is None else one | two
        poly = self._poly(e) if self._of_block(e) else Poly()
        for axis in self.order:
            if poly == Poly({(self._atom(k.Hw("thread", axis, INT)),): 1}):
                return frozenset((axis,))
        return None

    def _of_block(self, e: k.Expr) -> bool:
        """Whether ``e`` is arithmetic of the threads' indices or the block's extents."""
        match e:
            case k.Hw(kind=kind):
                return kind in _OWN
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
        own = {a for a in poly.atoms() if isinstance(n := self.nodes[a], k.Hw) and n.kind in _OWN}
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
            case k.Hw(kind=kind, axis=axis) if kind in _OWN:
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
        threads = [self._atom(k.Hw("thread", axis, INT)) for axis in self.order]
        times = poly.coefficient(threads[0])
        number, stride = Poly(), Poly({(): 1})
        for t, axis in zip(threads, self.order, strict=True):
            number = number + stride * Poly({(t,): 1})
            stride = stride * Poly({(self._atom(k.Hw("blockDim", axis, INT)),): 1})
        rest = poly - times * number
        if any(t in rest.atoms() or t in times.atoms() for t in threads):
            return None
        by_product = [self._by_product(p) for p in (times, rest)]
        if by_product[0] is None or by_product[1] is None:
            return None
        own = Poly({(self._atom(k.Hw("thread", 0, INT)),): 1})
        return self._spelled(by_product[0] * own + by_product[1], e)

    def _by_product(self, poly: Poly) -> Poly | None:
        extents = [self._atom(k.Hw("blockDim", axis, INT)) for axis in range(3)]
        out: dict[Monomial, int] = {}
        for m, c in poly.terms.items():
            left = list(m)
            if any(x in left for x in extents):
                for axis in self.order:
                    if extents[axis] not in left:
                        return None
                    left.remove(extents[axis])
                if any(x in left for x in extents):
                    return None
                left = sorted((*left, extents[0]), key=by_text)
            out[tuple(left)] = c
        return Poly(out)

    def _spelled(self, poly: Poly, like: k.Expr) -> k.Expr:
        t = like.type
        out: k.Expr | None = None
        for m, c in sorted(poly.terms.items(), key=lambda term: -len(term[0])):
            part: k.Expr | None = None if m and abs(c) == 1 else k.Const(abs(c), t, span=like.span)
            for a in m:
                factor = self.nodes[a]
                factor = k.Hw(factor.kind, factor.axis, t) if isinstance(factor, k.Hw) else _as(factor, t)
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


__all__ = ["in_one_row"]
