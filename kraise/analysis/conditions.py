"""Boolean expressions as conjunctions of facts about integers.

A path condition is a tuple of *conjuncts* (expressions). :func:`classify` puts one into the form ``poly >= 0``,
``poly == 0`` or ``poly != 0`` where it is a comparison of integers; anything else is data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kraise.analysis.poly import Poly, constant, is_integer, sum_wraps, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL
from kraise.ir.walk import free_indices

_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True)
class Fact:
    """``poly >= 0`` ("ge"), ``poly == 0`` ("eq") or ``poly != 0`` ("ne")."""

    kind: str
    poly: Poly


def conjuncts(condition: eq.Expr) -> tuple[eq.Expr, ...]:
    """The parts of ``condition`` that must all hold; () for true."""
    match condition:
        case eq.Const(value=True):
            return ()
        case eq.Op(name="and", args=(a, b)):
            return _unique((*conjuncts(a), *conjuncts(b)))
        case eq.Op(name="not", args=(eq.Op(name="or", args=(a, b)),)):
            return _unique((*conjuncts(negate(a)), *conjuncts(negate(b))))
        case eq.Op(name="ge" | "gt" as name, args=(x, eq.Op(name="max", args=(a, b)))) if is_integer(a) and is_integer(
            b
        ):
            return _unique((*conjuncts(eq.Op(name, (x, a), BOOL)), *conjuncts(eq.Op(name, (x, b), BOOL))))
        case eq.Op(name="lt" | "le" as name, args=(x, eq.Op(name="min", args=(a, b)))) if is_integer(a) and is_integer(
            b
        ):
            return _unique((*conjuncts(eq.Op(name, (x, a), BOOL)), *conjuncts(eq.Op(name, (x, b), BOOL))))
    return (condition,)


def _unique(parts: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
    return tuple(dict.fromkeys(parts))


def negate(condition: eq.Expr) -> eq.Expr:
    """Not ``condition``; a comparison of integers is turned round (one of floats is not: NaN)."""
    match condition:
        case eq.Const(value=bool() as value):
            return eq.Const(not value, BOOL)
        case eq.Op(name="not", args=(a,)):
            return a
        case eq.Op(name=name, args=(a, b)) if name in _NEGATED and (
            name in ("eq", "ne") or (is_integer(a) and is_integer(b))
        ):
            return eq.Op(_NEGATED[name], (a, b), BOOL)
    return eq.Op("not", (condition,), BOOL)


def both(a: eq.Expr | None, b: eq.Expr | None) -> eq.Expr | None:
    """The conjunction; None is true."""
    if a is None:
        return b
    if b is None or a is b:
        return a
    return eq.Op("and", (a, b), BOOL)


def conjunction(parts: tuple[eq.Expr, ...] | list[eq.Expr]) -> eq.Expr | None:
    """All of ``parts`` as one expression, None if there are none."""
    out: eq.Expr | None = None
    for part in parts:
        out = both(out, part)
    return out


@lru_cache(maxsize=100_000)
def classify(condition: eq.Expr) -> Fact | None:
    """The integer fact that ``condition`` states, or None if it is data."""
    match condition:
        case eq.Op(name=name, args=(a, b)) if name in _NEGATED and is_integer(a) and is_integer(b):
            if sum_wraps(a) or sum_wraps(b):
                return None
            difference = to_poly(a) - to_poly(b)
            match name:
                case "lt":
                    return Fact("ge", -difference - 1)
                case "le":
                    return Fact("ge", -difference)
                case "gt":
                    return Fact("ge", difference - 1)
                case "ge":
                    return Fact("ge", difference)
                case "eq":
                    return Fact("eq", difference)
                case "ne":
                    return _odd(Fact("ne", difference))
        case eq.Op(name="not", args=(inner,)):
            fact = classify(inner)
            if fact is not None and fact.kind == "ge":
                return Fact("ge", -fact.poly - 1)
            if fact is not None:
                return _odd(Fact("ne" if fact.kind == "eq" else "eq", fact.poly))
    return None


def _odd(fact: Fact) -> Fact:
    """``x % 2 != 0`` is ``x % 2 == 1``: the second form bounds a domain."""
    found = modulus(fact.poly) if fact.kind == "ne" else None
    if found is None:
        return fact
    atom, rest = found
    if atom.args[1].value == 2 and rest.value in (0, -1):  # type: ignore[union-attr]
        odd = eq.Op("mod", atom.args, atom.type)
        return Fact("eq", Poly({(odd,): 1}) - (1 + rest.value))  # type: ignore[operator]
    return fact


def modulus(poly: Poly) -> tuple[eq.Op, Poly] | None:
    """``(p % m, rest)`` if ``poly`` is ``p % m + rest`` with a positive constant m and rest free of indices."""
    hits = [a for a in poly.atoms() if isinstance(a, eq.Op) and a.name in ("mod", "tmod")]
    if len(hits) != 1 or poly.terms.get((hits[0],)) not in (1, -1):
        return None
    atom = hits[0]
    divisor = atom.args[1]
    if not isinstance(divisor, eq.Const) or type(divisor.value) is not int or divisor.value <= 0:
        return None
    sign = poly.terms[(atom,)]
    rest = poly.without(atom)
    if rest.indices() or (atom.name == "tmod" and rest.value != 0):
        return None  # C's remainder of a negative number is negative: only `== 0` and `!= 0` mean the same
    return atom, rest if sign == 1 else -rest


def divisor(atom: eq.Op) -> int:
    """The number by which a quotient or remainder that :func:`modulus` found divides."""
    d = atom.args[1]
    assert isinstance(d, eq.Const) and isinstance(d.value, int)
    return d.value


def fact_to_expr(fact: Fact) -> eq.Expr:
    """A comparison with zero that states ``fact``."""
    from kraise.analysis.poly import to_expr
    from kraise.ir.types import INT

    return eq.Op(fact.kind, (to_expr(fact.poly), eq.Const(0, INT)), BOOL)


def always(poly: Poly) -> bool:
    """Whether ``poly >= 0`` whatever the sizes: shapes are not negative, a launch has blocks and blocks have threads;
    nothing else is known."""
    least = 0
    for m, c in poly.terms.items():
        if m and (c < 0 or not all(isinstance(a, eq.Shape) or of_launch(a) for a in m)):
            return False
        least += c if all(map(of_launch, m)) else 0
    return least >= 0


def of_launch(atom: eq.Expr) -> bool:
    """Whether it is a number of blocks, warps or threads."""
    return isinstance(atom, eq.Param) and atom.name.startswith(("grid.", "block.", "threads.", "warps."))


def is_static(poly: Poly) -> bool:
    """Whether ``poly`` holds only parameters, shapes and integer arithmetic on them: known when the function is
    traced."""
    return all(static_expr(a) for a in poly.atoms())


@lru_cache(maxsize=100_000)
def static_expr(expr: eq.Expr) -> bool:
    match expr:
        case eq.Const():
            return True
        case eq.Param(type=t):
            return t.is_integer or t.kind == "number"
        case eq.Shape():
            return True
        case eq.Op(name=name, args=args):
            return name not in ("div",) and all(static_expr(a) for a in args)
        case eq.Cast(type=t, arg=a):
            return t.is_integer and static_expr(a)
    return False


__all__ = [
    "Fact",
    "always",
    "both",
    "bounded_loads",
    "classify",
    "conjunction",
    "conjuncts",
    "divisor",
    "constant",
    "fact_to_expr",
    "is_static",
    "modulus",
    "negate",
    "static_expr",
]


def unfloored(condition: eq.Expr) -> tuple[eq.Expr, ...]:
    """``i // 32 == 2`` as ``64 <= i < 96`` and ``i // 32 < n`` as ``i < 32 * n``: facts about the index itself."""
    fact = classify(condition)
    if fact is None or fact.kind == "ne":
        return (condition,)
    for atom in fact.poly.atoms():
        match atom:
            case eq.Op(name="floordiv", args=(a, eq.Const(value=int() as size))) if size > 1 and free_indices(a):
                sign, rest = fact.poly.coefficient(atom).value, fact.poly.without(atom)
                if sign not in (1, -1) or rest.indices() or not fact.poly.is_affine_in(rest.indices()):
                    return (condition,)
                least = rest * -size if sign == 1 else rest * size  # a // size >= least / size, or <=
                above, below = Fact("ge", to_poly(a) - least), Fact("ge", least + (size - 1) - to_poly(a))
                if fact.kind == "eq":
                    return (fact_to_expr(above), fact_to_expr(below))
                return (fact_to_expr(above if sign == 1 else below),)
    return (condition,)


def bounded_loads(path: tuple[eq.Expr, ...]) -> list[eq.Read]:
    """The loads of integers for which a path states numbers as bounds, above and below."""
    found: dict[str, list[eq.Read]] = {"ge": [], "le": []}
    for c in path:
        match c:
            case eq.Op(name="ge" | "le" as name, args=(eq.Read() as read, eq.Const())) if read.type.is_integer:
                found[name].append(read)
    return [r for r in dict.fromkeys(found["ge"]) if r in found["le"]]
