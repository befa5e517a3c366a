"""Questions on access relations, answered by the polyhedral library islpy.

An :class:`Access` is one load or store with the path condition under which it happens. All answers err on the safe
side: what is not affine is left out of the constraints, so two accesses are taken to meet unless it is proved that they
do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from kraise.analysis import flipped, parities, sets
from kraise.analysis.ascents import ascending
from kraise.analysis.conditions import Fact, bounded_loads, classify, negate, static_expr
from kraise.analysis.curved import curved
from kraise.analysis.halves import parted
from kraise.analysis.limited import limited
from kraise.analysis.multiples import multiples
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.analysis.products import Product, multiplied
from kraise.analysis.ranks import ranked
from kraise.analysis.tallies import tallied
from kraise.analysis.ties import SYMBOL, exact, same_for_both, ties
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


class Space:
    """Names of one isl set under construction: indices become set variables, other atoms parameters."""

    def __init__(self, params: dict[object, str] | None = None) -> None:
        self.variables: dict[str, str] = {}
        self.params: dict[object, str] = {} if params is None else params
        self.constraints: list[str] = []
        self.elements: dict[tuple[eq.Expr, str], str] = {}  # numbers for what arrays hold, by side
        self.chosen: dict[tuple[eq.Expr, str], str] = {}  # variables for minima, choices, remainders, by side
        self.unknown: dict[tuple[eq.Expr, str], int] = {}  # those that no variable stands for
        self.bits = flipped.Bits()  # unknowns that stand for an index with bits flipped
        self.products: dict[str, Product] = {}  # unknowns that stand for an index times a size
        self.quotients: dict[str, eq.Op] = {}  # unknowns that stand for one size divided by another
        self.stated: set[Poly] = set()  # what the facts say is not negative
        self.dropped = False  # a condition was left out: the set is larger than the domain
        self.limited: dict[tuple[eq.Expr, str], str] | None = None  # variables of which only the range is known, if any

    def variable(self, name: str) -> str:
        return self.variables.setdefault(name, f"v{len(self.variables)}")

    def poly(self, poly: Poly, rename: dict[str, str]) -> str | None:
        """``poly`` in isl's syntax with its indices renamed, or None if it is not quasi-affine."""
        parts = []
        for m, c in poly.terms.items():
            text = self._monomial(m, rename) if m else "1"
            if text is None:
                return None
            parts.append(f"{c}*{text}")
        return " + ".join(f"({p})" for p in parts) or "0"

    def _monomial(self, m: tuple[eq.Expr, ...], rename: dict[str, str]) -> str | None:
        structured = len(m) == 1 and isinstance(m[0], eq.Op) and m[0].name in ("floordiv", "mod", "tdiv", "tmod")
        if structured and m[0].name in ("tdiv", "tmod") and self._constant_divisor(m[0]) and static_expr(m[0]):  # type: ignore[union-attr]
            return self._truncated(m[0], rename)  # type: ignore[arg-type]
        same = len(m) > 1 and all(static_expr(a) or same_for_both(a, rename) for a in m)
        if same or (all(map(static_expr, m)) and not (structured and self._constant_divisor(m[0]))):
            key: object = m if len(m) > 1 else m[0]
            fresh = key not in self.params
            name = self.params.setdefault(key, f"p{len(self.params)}")
            self.constraints += parities.said(self, m, name, rename) if fresh else []
            if structured and m[0].name in ("floordiv", "tdiv"):  # type: ignore[union-attr]
                self.quotients[name] = m[0]  # type: ignore[assignment]
            return name
        if len(m) != 1:
            return self._opaque(m, rename)
        atom = m[0]
        if self.elements and (atom, getattr(rename, "suffix", "")) in self.elements:
            return self.elements[atom, getattr(rename, "suffix", "")]
        if isinstance(atom, eq.Index):
            return self.variable(rename.get(atom.name, atom.name))
        match atom:
            case eq.Op(name="floordiv" | "mod" as name, args=(a, eq.Const(value=int() as k))) if k > 0:
                inner = self.poly(to_poly(a), rename)
                if inner is None:
                    return limited(self, atom, rename)
                return f"floor(({inner})/{k})" if name == "floordiv" else f"(({inner}) mod {k})"
        chosen = self._chosen(atom, rename)
        if chosen is None and same_for_both(atom, rename):
            return self.params.setdefault(atom, f"p{len(self.params)}")
        return limited(self, atom, rename) if chosen is None else chosen

    def _chosen(self, atom: eq.Expr, rename: dict[str, str]) -> str | None:
        """A minimum, maximum, choice or remainder as a variable of its own, tied to its operands."""
        bits = flipped.parts(atom, getattr(rename, "same", None))
        key = (atom if bits is None else flipped.bare(atom), getattr(rename, "suffix", ""))
        if key in self.chosen:
            return self.chosen[key]
        if self.unknown.get(key) == len(self.elements):
            return None

        def text(e: eq.Expr) -> str | None:
            return self.poly(to_poly(e), rename)

        if bits is not None:
            fixed = static_expr(bits[2])
            mask = text(bits[2]) if fixed else self.params.setdefault(("mask", bits[2]), f"p{len(self.params)}")
            return self._masked(key, bits[0], text(bits[1]), mask)
        if (both := flipped.moving(atom)) is not None:
            return self._masked(key, "moving", *map(text, both))
        if ties(atom, "", text) is None:
            self.unknown[key] = len(self.elements)  # asked again when more is known of what arrays hold
            return None
        v = self.chosen[key] = self.variable(f"chosen {len(self.chosen)}")
        self.constraints.append(f"({ties(atom, v, text)})")
        self.dropped |= not exact(atom, text)
        return v

    def _masked(self, key: tuple[eq.Expr, str], operation: str, place: str | None, mask: str | None) -> str | None:
        """``place ^ mask`` or ``place & mask`` as a variable of its own, with what other such say of it."""
        if place is None or mask is None:
            return None
        self.chosen[key] = v = self.variable(f"chosen {len(self.chosen)}")
        new = flipped.Term(place, mask, v, operation == "moving")
        self.constraints += self.bits.add(operation, new)
        self.dropped = True
        return v

    def _truncated(self, atom: eq.Op, rename: dict[str, str]) -> str | None:
        """C's quotient (or remainder) of a size by a number: rounded down where the size is not negative."""
        inner, by = self.poly(to_poly(atom.args[0]), rename), atom.args[1]
        assert isinstance(by, eq.Const)
        if inner is None:
            return None
        key = (to_poly(atom.args[0]), by.value)
        fresh = key not in self.params
        name = self.params.setdefault(key, f"p{len(self.params)}")
        if fresh:
            down, up = f"{name} = floor(({inner})/{by.value})", f"{name} = -floor((-({inner}))/{by.value})"
            self.constraints.append(f"(({inner} >= 0 and {down}) or ({inner} < 0 and {up}))")
        return name if atom.name == "tdiv" else f"(({inner}) - {by.value}*{name})"

    def _opaque(self, m: tuple[eq.Expr, ...], rename: dict[str, str]) -> str | None:
        """A product of indices and sizes (``block * blockDim``) as one unknown number."""
        if not all(isinstance(a, eq.Index) or static_expr(a) or same_for_both(a, rename) for a in m):
            return None
        self.dropped = True
        key = "product", tuple(rename.get(a.name, a.name) if isinstance(a, eq.Index) else a for a in m)
        name = self.params.setdefault(key, f"p{len(self.params)}")
        index, *more = (a for a in m if isinstance(a, eq.Index))
        rest = tuple(a for a in m if a is not index)
        if not more and name not in self.products and (size := self._monomial(rest, rename)) is not None:
            self.products[name] = self.variable(rename.get(index.name, index.name)), size, rest, index
        return name

    @staticmethod
    def _constant_divisor(atom: eq.Expr) -> bool:
        d = atom.args[1]  # type: ignore[union-attr]
        return isinstance(d, eq.Const) and type(d.value) is int and d.value > 0

    def fact(self, fact: Fact, rename: dict[str, str]) -> None:
        text = self.poly(fact.poly, rename)
        if text is None:
            self.dropped = True
            return
        self.constraints.append(f"{text} {SYMBOL[fact.kind]} 0")
        self.stated |= {fact.poly} if fact.kind == "ge" else set()

    def path(self, path: Iterable[eq.Expr], rename: dict[str, str]) -> None:
        path = tuple(path)
        for read in bounded_loads(path):  # what an array holds is a number that only its bounds are known of
            self.dropped = True
            self.elements.setdefault(
                (read, getattr(rename, "suffix", "")), self.variable(f"element {len(self.elements)}")
            )
        for c in path:
            fact = classify(c)
            if fact is not None:
                self.fact(fact, rename)
            else:
                self._disjunction(c, rename)

    def _disjunction(self, condition: eq.Expr, rename: dict[str, str]) -> None:
        """``a or b`` of facts, ``not (a and b)``."""
        texts = []
        parts: tuple[eq.Expr, ...] = ()
        match condition:
            case eq.Op(name="or", args=args):
                parts = args
            case eq.Op(name="not", args=(eq.Op(name="and", args=args),)):
                parts = tuple(map(negate, args))
        if len(parts) == 2:
            for part in parts:
                fact = classify(part)
                text = self.poly(fact.poly, rename) if fact is not None else None
                if fact is not None and text is not None:
                    texts.append(f"{text} {SYMBOL[fact.kind]} 0")
        if len(texts) == 2:
            self.constraints.append(f"({texts[0]} or {texts[1]})")
        else:
            self.dropped = True

    def empty(self, *extra: str) -> bool:
        """Whether it is proved that no integer point (for any parameters) meets the constraints."""
        own = [*self.constraints, *extra]
        if not self.products or sets.empty(own):
            return sets.empty(own)
        return sets.empty([*own, *multiplied(self, lambda c: sets.empty([*own, c]))])


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
    question = Question(a, b, distinct, shared, relation, injective, sorted_)
    return a.array == b.array and not all(question.space.empty(d) for d in question.differing)


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
    space = Space()
    space.path(path, {})
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
