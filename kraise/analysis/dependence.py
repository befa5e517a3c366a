"""Questions on access relations, answered by the polyhedral library islpy.

An :class:`Access` is one load or store with the path condition under which it happens. All answers err on the safe
side: what is not affine is left out of the constraints, so two accesses are taken to meet unless it is proved that they
do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from kraise.analysis import flipped
from kraise.analysis.ascents import ascending
from kraise.analysis.conditions import Fact, classify
from kraise.analysis.curved import curved
from kraise.analysis.halves import parted
from kraise.analysis.multiples import multiples
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.analysis.ranks import ranked
from kraise.analysis.space import Space, of_path
from kraise.analysis.tallies import tallied
from kraise.analysis.told_apart import different, disjoint, turned
from kraise.analysis.wrapped import unwound
from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices


@dataclass(frozen=True)
class Access:
    """A load or a store of ``array[subscripts]`` under ``path``; ``accumulate`` names the operator of ``cell op=
    value``.

    ``order`` is the place in the program order of one thread; ``phase`` the number of barriers passed; ``folds`` the
    sequential loops that are open around it. ``whole`` are the subscripts as the source has them, where ``subscripts``
    are digits of them; ``node`` is what a load became; ``own`` marks the load of the cell that an accumulation
    combines with (no dependence of its own, as long as nothing else uses its value). ``passed`` are the barriers passed
    in each round under way (loop, count, the grid's own), ``answered`` marks a load whose value is that of a store of
    the same round. Accesses that are ``together`` are known not to meet within a round.
    """

    array: str
    subscripts: tuple[eq.Expr, ...]
    path: tuple[eq.Expr, ...]
    write: bool
    accumulate: str = ""
    atomic: bool = False
    order: int = 0
    phase: int = 0
    folds: tuple[str, ...] = ()
    view: tuple[eq.Expr, ...] = ()
    whole: tuple[eq.Expr, ...] = ()
    value: eq.Expr | None = None
    node: eq.Read | None = None
    own: bool = False
    passed: tuple[tuple[str, int, int, int], ...] = ()
    answered: bool = False
    together: str = ""
    span: Span | None = None


def may_meet(
    a: Access,
    b: Access,
    distinct: tuple[str, ...],
    shared: frozenset[str],
    relation: str = "!=",
    injective: frozenset[str] = frozenset(),
    sorted_: frozenset[str] = frozenset(),
) -> bool:
    """Whether ``a`` and ``b`` can touch one cell in two instances that differ in some index of ``distinct``.

    Indices in ``shared`` have one value in both instances; all others are free in each. ``relation`` "<" asks for
    instances in which a's index (the only one of ``distinct``) is the smaller, ">" for those in which it is the larger.
    What stands in different elements of an array in ``injective``, as it came in, is different; one in ``sorted_``
    never decreases.
    """
    return a.array == b.array and _met(_place(a), _place(b), distinct, shared, relation, injective, sorted_)


def _place(a: Access) -> Access:
    """What a question looks at: stores of different values to one cell ask the same."""
    return Access("", a.subscripts, a.path, False, folds=a.folds, view=a.view, whole=a.whole)


@lru_cache(maxsize=20_000)
def _met(
    a: Access,
    b: Access,
    distinct: tuple[str, ...],
    shared: frozenset[str],
    relation: str,
    injective: frozenset[str],
    sorted_: frozenset[str],
) -> bool:
    question = Question(a, b, distinct, shared, relation, injective, sorted_)
    return not all(question.space.empty(d) for d in question.differing)


class Question:
    """The constraints under which two accesses touch one cell, and for each index the one that tells them apart."""

    def __init__(
        self,
        a: Access,
        b: Access,
        distinct: tuple[str, ...],
        shared: frozenset[str],
        relation: str = "!=",
        injective: frozenset[str] = frozenset(),
        sorted_: frozenset[str] = frozenset(),
    ) -> None:
        space = self.space = Space()
        space.limited = {}
        same = flipped.Same(shared, a.folds == b.folds and shared.issuperset(a.folds))
        names_a, names_b = self.names = _Renaming("a", shared, same), _Renaming("b", shared, same)
        space.path(a.path, names_a)
        space.path(b.path, names_b)
        disjoint(space, a, b, names_a, names_b)
        different(space, a, b, names_a, names_b, injective)
        ranked(space, a, b, names_a, names_b)
        tallied(space, a, b, names_a, names_b)
        parted(space, a, b, names_a, names_b)
        ascending(space, a, b, names_a, names_b, sorted_)
        cells = a.subscripts, b.subscripts
        if a.view != b.view:  # taken apart in different ways: as the source has them
            cells = _as_written(a), _as_written(b)
        self.exact = bool(a.view == b.view or (cells[0] and cells[1])) and len(cells[0]) == len(cells[1])
        if self.exact:
            if cells[0] == cells[1]:
                own = unwound(cells[0], lambda p: nonnegative(a.path, p) and nonnegative(b.path, p))
                cells = own, own
            for s, t in zip(*cells, strict=True):
                p, q = _without_stride(to_poly(s), to_poly(t), (*a.path, *b.path), shared)
                told = curved(space, a, b, names_a, names_b, p, q) or turned(space, a, b, names_a, names_b, s, t)
                told = told or multiples(space, a, b, names_a, names_b, p, q)
                left, right = told or (space.poly(p, names_a), space.poly(q, names_b))
                if left is not None and right is not None:
                    space.constraints.append(f"{left} = {right}")
                else:
                    self.exact = False
        self.exact = self.exact and not space.limited
        self.differing = [
            f"{space.variable(names_a.get(n, n))} {relation} {space.variable(names_b.get(n, n))}" for n in distinct
        ]


def _as_written(a: Access) -> tuple[eq.Expr, ...]:
    """The subscripts as the source has them, which digits of one are put together to; none where these are unknown."""
    if a.whole or not a.view:
        return a.whole or a.subscripts
    rows = a.view[0] != eq.Const(0, INT)  # where sizes are their lengths, what proves these reads better
    if len(a.view) != len(a.subscripts) or (rows and not all(isinstance(r, eq.Const) for r in a.view[1:])):
        return ()
    flat = to_poly(a.subscripts[0])
    for s, radix in zip(a.subscripts[1:], a.view[1:], strict=True):
        flat = flat * to_poly(radix) + to_poly(s)
    return (to_expr(flat),)


def _without_stride(p: Poly, q: Poly, path: tuple[eq.Expr, ...], shared: frozenset[str]) -> tuple[Poly, Poly]:
    """``p == q`` as an equation without the sizes that multiply all of it: ``s * i + c == s * j + c`` is ``i == j``
    where ``path`` has s >= 1, and ``i * n + k == k * n + k`` is ``i == k``. What no index but those in ``shared`` is in
    is the same number on both sides."""

    def moves(m: tuple[eq.Expr, ...]) -> bool:
        return any(free_indices(a) - shared for a in m)

    moving = [Poly({m: c for m, c in x.terms.items() if moves(m)}) for x in (p, q)]
    left, right = moving[0] + (p - moving[0]) - (q - moving[1]), moving[1]
    monomials = [*left.terms, *right.terms]
    if not any(x.terms for x in moving) or not all(monomials) or all(len(m) == 1 for m in monomials):
        return p, q
    one = eq.Const(1, INT)
    common = [
        a
        for a in dict.fromkeys(monomials[0])
        if isinstance(a, eq.Param)
        and all(m.count(a) == 1 for m in monomials)
        and (eq.Op("ge", (a, one), BOOL) in path or nonnegative(path, Poly({(a,): 1}) - 1))
    ]
    if not common:
        return p, q
    return (
        Poly({tuple(a for a in m if a not in common): c for m, c in left.terms.items()}),
        Poly({tuple(a for a in m if a not in common): c for m, c in right.terms.items()}),
    )


class _Renaming(dict[str, str]):
    """Gives every index that is not shared a name of its own."""

    def __init__(self, suffix: str, shared: frozenset[str], same: flipped.Same):
        super().__init__()
        self.suffix, self.same = suffix, same
        self.shared = shared

    def get(self, name: str, default: str = "") -> str:  # type: ignore[override]
        return name if name in self.shared else f"{name}.{self.suffix}"


def implied(path: Iterable[eq.Expr], condition: eq.Expr) -> bool:
    """Whether ``condition`` holds wherever all of ``path`` does (False where that cannot be decided)."""
    fact = classify(condition)
    return fact is not None and _contradicts(tuple(path), (_negation(fact),))


def _negation(fact: Fact) -> Fact:
    if fact.kind == "ge":
        return Fact("ge", -fact.poly - 1)
    return Fact("ne" if fact.kind == "eq" else "eq", fact.poly)


@lru_cache(maxsize=20_000)
def _contradicts(path: tuple[eq.Expr, ...], facts: tuple[Fact, ...]) -> bool:
    space = of_path(path).copy()
    for f in facts:
        if space.poly(f.poly, {}) is None:
            return False
        space.fact(f, {})
    return space.empty()


def impossible(path: Iterable[eq.Expr]) -> bool:
    """Whether no instance meets all of ``path``."""
    return _contradicts(tuple(path), ())


def nonnegative(path: Iterable[eq.Expr], poly: Poly) -> bool:
    """Whether ``poly >= 0`` wherever ``path`` holds."""
    return _contradicts(tuple(path), (Fact("ge", -poly - 1),))
