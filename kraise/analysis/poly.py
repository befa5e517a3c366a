"""Integer index arithmetic in normal form: polynomials with integer coefficients over atoms.

An atom is an equation expression that is not itself a sum, difference or product: an index, a parameter, a shape, or
something opaque such as ``n // 2`` or ``idx[i]``. Every affine question (bounds, strides, equality of subscripts) is
asked of this form, so ``i * n + j``, ``j + n * i`` and ``(i + 1) * n - n + j`` are the same thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from kraise.ir import equations as eq
from kraise.ir.order import by_text
from kraise.ir.types import INT, INT32, INT64, ScalarType
from kraise.ir.walk import free_indices

Monomial = tuple[eq.Expr, ...]


class Poly:
    """A polynomial: a mapping from monomials (sorted tuples of atoms; () is the constant) to nonzero integers."""

    __slots__ = ("_hash", "terms")
    _hash: int

    def __init__(self, terms: Mapping[Monomial, int] = {}):  # noqa: B006 - never mutated
        self.terms = {m: c for m, c in terms.items() if c != 0}

    def _plus(self, terms: Iterable[tuple[Monomial, int]], sign: int) -> Poly:
        out = dict(self.terms)
        for m, c in terms:
            total = out.get(m, 0) + sign * c
            if total:
                out[m] = total
            else:
                out.pop(m, None)
        return _of(out)

    def __add__(self, other: Poly | int) -> Poly:
        return self._plus(other.terms.items() if isinstance(other, Poly) else (((), other),), 1)

    def __neg__(self) -> Poly:
        return _of({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Poly | int) -> Poly:
        return self._plus(other.terms.items() if isinstance(other, Poly) else (((), other),), -1)

    def __mul__(self, other: Poly | int) -> Poly:
        out: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            for k, d in constant(other).terms.items():
                key = tuple(sorted((*m, *k), key=by_text))
                out[key] = out.get(key, 0) + c * d
        return Poly(out)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(frozenset(self.terms.items()))
            return self._hash

    def __repr__(self) -> str:
        return f"Poly({to_expr(self)!r})"

    @property
    def value(self) -> int | None:
        """The number, if it is one."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 and () in self.terms else None

    @property
    def offset(self) -> int:
        """The constant term."""
        return self.terms.get((), 0)

    def atoms(self) -> set[eq.Expr]:
        return {a for m in self.terms for a in m}

    def indices(self) -> frozenset[str]:
        """The free indices of all atoms, opaque ones included."""
        return frozenset(n for a in self.atoms() for n in free_indices(a))

    def coefficient(self, index: eq.Expr) -> Poly:
        """What multiplies ``index`` (which must occur to the first power at most, see :meth:`is_affine_in`)."""
        out: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            if index in m:
                rest = list(m)
                rest.remove(index)
                out[tuple(rest)] = c
        return Poly(out)

    def without(self, index: eq.Expr) -> Poly:
        """The terms in which ``index`` does not occur."""
        return Poly({m: c for m, c in self.terms.items() if index not in m})

    def is_affine_in(self, names: Iterable[str]) -> bool:
        """Whether every monomial holds at most one of the named indices, as an atom of its own, to the first power."""
        wanted = set(names)
        for m in self.terms:
            hits = 0
            for a in m:
                if isinstance(a, eq.Index) and a.name in wanted:
                    hits += 1
                elif free_indices(a) & wanted:
                    return False
            if hits > 1:
                return False
        return True

    def substitute(self, atom: eq.Expr, value: Poly) -> Poly:
        out = Poly()
        for m, c in self.terms.items():
            term = constant(c)
            for a in m:
                term = term * (value if a is atom else Poly({(a,): 1}))
            out = out + term
        return out


def _of(terms: dict[Monomial, int]) -> Poly:
    """The polynomial of terms none of which is zero."""
    out = Poly.__new__(Poly)
    out.terms = terms
    return out


def constant(value: Poly | int) -> Poly:
    return value if isinstance(value, Poly) else Poly({(): value})


def is_integer(expr: eq.Expr) -> bool:
    return expr.type.is_integer if not isinstance(expr, eq.Const) else type(expr.value) is int


LARGE = 1 << 16
_PLANES = 1 << 27


def of_hash(value: object, t: ScalarType, factor: bool = True) -> bool:
    """Whether an integer constant is taken for one of a hash or a generator, whose products wrap: a large one. Not a
    large even signed ``factor``, which has no inverse: it is the stride of a plane (``z * (256 * 256)``)."""
    if not isinstance(value, int) or abs(value) < LARGE:
        return False
    return t.kind != "int" or (factor and value % 2 == 1) or abs(value) >= _PLANES


def wraps(op: eq.Op) -> bool:
    """Whether an operation on integers of a width may leave the type: unsigned differences, products with large
    constants, and all arithmetic in types narrower than C's int.

    All other index arithmetic is taken to fit its type.
    """
    if op.type.bits is None or not op.type.is_integer:
        return False
    if op.type.bits < 32:
        return op.name in ("add", "sub", "mul", "neg")
    if op.type.kind == "uint" and op.name in ("sub", "neg"):
        return True
    return op.name == "mul" and any(isinstance(a, eq.Const) and of_hash(a.value, op.type) for a in op.args)


def sum_wraps(expr: eq.Expr) -> bool:
    """Whether an integer expression is a sum or product of unsigned numbers, and an array or a loop says of which:
    ``s = a[i] + 5`` may be less than ``a[i]``, and its normal form is right modulo the type only."""
    match expr:
        case eq.Op(name="add" | "mul", args=args, type=t) if t.kind == "uint" and t.bits is not None:
            return not all(map(_counted, args)) or any(map(sum_wraps, args))
        case eq.Op(name="add" | "sub" | "mul" | "neg", args=args):
            return any(map(sum_wraps, args))
        case eq.Cast(type=ScalarType(is_integer=True), arg=a):
            return sum_wraps(a)
    return False


@lru_cache(maxsize=100_000)
def _counted(expr: eq.Expr) -> bool:
    """Whether an expression is made of indices, sizes and numbers alone, and far from its type's end: it is no unsigned
    difference, nor a number or a signed difference that is near the end once it is unsigned."""
    match expr:
        case eq.Const(value=value):
            return isinstance(value, int) and abs(value) < 1 << 31
        case eq.Index() | eq.Param() | eq.Shape():
            return True
        case eq.Op(args=args):
            return not wraps(expr) and all(map(_counted, args))
        case eq.Cast(type=t, arg=a):
            below = t.kind == "uint" and a.type.kind == "int" and any(c < 0 for c in to_poly(a).terms.values())
            return _counted(a) and not below
    return False


def _holds(wide: ScalarType, narrow: ScalarType) -> bool:
    """Whether every value of the one integer type is one of the other."""
    if wide.bits is None:
        return True
    if narrow.bits is None:
        return False
    return wide.bits >= narrow.bits + (narrow.kind == "uint")


@lru_cache(maxsize=100_000)
def to_poly(expr: eq.Expr) -> Poly:
    """The normal form of an integer expression; what is not a sum or product becomes an opaque atom."""
    match expr:
        case eq.Const(value=int() as value) if type(value) is int:
            return constant(value)
        case eq.Op() if wraps(expr):
            pass
        case eq.Op(name="add", args=(a, b)):
            return to_poly(a) + to_poly(b)
        case eq.Op(name="sub", args=(a, b)):
            return to_poly(a) - to_poly(b)
        case eq.Op(name="mul", args=(a, b)):
            return to_poly(a) * to_poly(b)
        case eq.Op(name="pow", args=(a, eq.Const(value=2)), type=t) if t == a.type and t in (INT, INT32, INT64):
            return to_poly(a) * to_poly(a)
        case eq.Op(name="neg", args=(a,)):
            return -to_poly(a)
        case eq.Cast(type=ScalarType(kind="int") as wide, arg=a) if is_integer(a) and _holds(wide, a.type):
            return to_poly(a)
    return Poly({(expr,): 1})


def to_expr(poly: Poly, type: ScalarType = INT) -> eq.Expr:
    """A readable expression for ``poly``: indices first, then parameters, the constant last, no leading minus if
    possible."""

    def rank(item: tuple[Monomial, int]) -> tuple[object, ...]:
        m, c = item
        kind = 0 if any(isinstance(a, eq.Index) for a in m) else 1 if m else 2
        return (c < 0, kind, -len(m), tuple(by_text(a) for a in m))

    out: eq.Expr | None = None
    for m, c in sorted(poly.terms.items(), key=rank):
        term: eq.Expr | None = None
        for a in m:
            term = a if term is None else eq.Op("mul", (term, a), type)
        size = abs(c) if out is not None or not m else c
        if term is None:
            term = eq.Const(c if out is None else size, type)
        elif size == -1:
            term = eq.Op("neg", (term,), type)
        elif size != 1:
            term = eq.Op("mul", (eq.Const(size, type), term), type)
        out = term if out is None else eq.Op("sub" if c < 0 else "add", (out, term), type)
    return eq.Const(0, type) if out is None else out


@lru_cache(maxsize=100_000)
def normal(expr: eq.Expr) -> eq.Expr:
    """``expr`` with its integer arithmetic in normal form (its atoms are left as they are)."""
    return to_expr(to_poly(expr), expr.type)
