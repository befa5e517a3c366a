"""The constraints of one question to isl: indices as set variables, other atoms as parameters.

What is not affine is left out of the constraints: the set may be larger than the domain (``dropped``), never smaller.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from kraise.analysis import flipped, parities, sets
from kraise.analysis.conditions import Fact, bounded_loads, classify, negate, static_expr
from kraise.analysis.limited import limited
from kraise.analysis.poly import Poly, to_poly
from kraise.analysis.products import Product, multiplied
from kraise.analysis.ties import SYMBOL, exact, same_for_both, ties
from kraise.ir import equations as eq


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
        self.asked = sets.Conjunction()  # the first of the constraints
        self.grouped = 0  # how many of them these are

    def copy(self) -> Space:
        """The same constraints, to which more may be added."""
        out = Space(self.params.copy())
        out.variables, out.constraints = self.variables.copy(), self.constraints.copy()
        out.elements, out.chosen, out.unknown = self.elements.copy(), self.chosen.copy(), self.unknown.copy()
        out.bits.flips, out.bits.masked = self.bits.flips.copy(), self.bits.masked.copy()
        out.products, out.quotients = self.products.copy(), self.quotients.copy()
        out.stated, out.dropped = self.stated.copy(), self.dropped
        out.limited = None if self.limited is None else self.limited.copy()
        out.asked, out.grouped = self.asked, self.grouped
        return out

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
        whole = self.asked.with_all([*self.constraints[self.grouped :], *extra])
        if not self.products or whole.empty():
            return whole.empty()
        return whole.with_all(multiplied(self, lambda c: whole.with_all((c,)).empty())).empty()


@lru_cache(maxsize=4_000)
def of_path(path: tuple[eq.Expr, ...]) -> Space:
    """The instances that meet all of ``path``. Many questions share it: what is added goes into a copy."""
    space = Space()
    space.path(path, {})
    space.asked, space.grouped = space.asked.with_all(space.constraints), len(space.constraints)
    return space
