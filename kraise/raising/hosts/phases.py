"""What is known of a number that chooses among N arrays, modulo N.

A host function that says ``d_u[cur]`` and ``cur = 1 - cur`` swaps pointers by a number. While it is read, the arrays
of such a bank lie as after ``phase`` rotations by one: the name ``d_u_0`` stands for ``d_u[phase % N]``, and so on. Of
each number is known its distance from the phase (``near``), its value as a sum of variables (``sums``), or nothing;
``exact`` are those that lie within 0 … N-1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names
from kraise.ir.types import INT


@dataclass(frozen=True)
class Sum:
    """``constant + sum(factor * variable)`` modulo N."""

    constant: int
    terms: tuple[tuple[str, int], ...] = ()

    def plus(self, other: Sum, factor: int, n: int) -> Sum:
        """``self + factor * other``."""
        terms = dict(self.terms)
        for name, by in other.terms:
            terms[name] = (terms.get(name, 0) + factor * by) % n
        kept = tuple(sorted((a, b) for a, b in terms.items() if b))
        return Sum((self.constant + factor * other.constant) % n, kept)


@dataclass(frozen=True)
class Known:
    """What is known of a number: see the module."""

    near: int | None = None
    sum: Sum | None = None
    exact: bool = False


@dataclass
class Facts:
    """What is known at a place of the function."""

    n: int
    near: dict[str, int] = field(default_factory=dict)
    sums: dict[str, Sum] = field(default_factory=dict)
    exact: set[str] = field(default_factory=set)
    phase: Sum | None = Sum(0)
    counted: list[bool] = field(default_factory=list)  # is a distance known from how often a loop ran? (of all copies)

    def copy(self) -> Facts:
        """Facts of its own."""
        return Facts(self.n, dict(self.near), dict(self.sums), set(self.exact), self.phase, self.counted)

    def of(self, e: h.Expr) -> Known:
        """What is known of an expression."""
        found = self._table(e) or self._form(e)
        if found.near is None and found.sum is not None and self.phase is not None:
            away = found.sum.plus(self.phase, -1, self.n)
            if not away.terms:
                self.counted += [True] if self.phase.terms else []
                return Known(away.constant, found.sum, found.exact)
        return found

    def _form(self, e: h.Expr) -> Known:
        n = self.n
        match e:
            case k.Const(value=value) if not isinstance(value, complex | float) or float(value.real).is_integer():
                return Known(None, Sum(int(value.real) % n), 0 <= value.real < n)
            case k.Var(name=name):
                own = self.sums.get(name, Sum(0, ((name, 1),)) if name not in self.near else None)
                return Known(self.near.get(name), own, name in self.exact)
            case k.Cast(arg=arg, type=kind) if kind.is_integer:
                return self.of(arg)
            case k.Op(name="add" | "sub" as name, args=(a, b)):
                return self._added(self.of(a), self.of(b), 1 if name == "add" else -1)
            case k.Op(name="xor", args=(a, b)) if n == 2:
                return self._added(self.of(a), self.of(b), 1)
            case k.Op(name="mul", args=(a, b)):
                one, two = self.of(a).sum, self.of(b).sum
                if one is not None and two is not None and not (one.terms and two.terms):
                    factor, other = (one, two) if not one.terms else (two, one)
                    return Known(None, Sum(0).plus(other, factor.constant, n))
            case k.Op(name="mod" | "tmod", args=(a, k.Const(value=by))) if int(by.real) and not int(by.real) % n:
                found = self.of(a)  # C's remainder of a negative number is below 0
                return Known(found.near, found.sum, int(by.real) == n and e.name == "mod")
            case k.Op(name="and_", args=(a, k.Const(value=mask))) if n == 2 and int(mask.real) == 1:
                found = self.of(a)
                return Known(found.near, found.sum, True)
        return Known()

    def _added(self, a: Known, b: Known, sign: int) -> Known:
        """``a + sign * b``."""
        n = self.n
        total = a.sum.plus(b.sum, sign, n) if a.sum is not None and b.sum is not None else None
        near = None
        if a.near is not None and b.sum is not None and not b.sum.terms:
            near = (a.near + sign * b.sum.constant) % n
        elif b.near is not None and a.sum is not None and not a.sum.terms and (sign == 1 or n == 2):
            near = (b.near + a.sum.constant) % n
        return Known(near, total)

    def _table(self, e: h.Expr) -> Known | None:
        """A function of one number within 0 … N-1, by its values: ``1 - cur``, ``!cur``, ``cur == 0 ? 1 : 0``."""
        names = set(expression_names(e))
        if len(names) != 1 or isinstance(e, k.Var):
            return None
        (name,) = names
        if name not in self.exact or name not in self.near:
            return None
        values = [evaluated(e, {name: x}) for x in range(self.n)]
        if any(v is None or v != int(v) for v in values):
            return None
        whole = [int(v) for v in values]
        exact = all(0 <= v < self.n for v in whole)
        if len(set(whole)) == 1:
            return Known(None, Sum(whole[0] % self.n), exact)
        moves = {(v - x) % self.n for x, v in enumerate(whole)}
        return Known((self.near[name] + moves.pop()) % self.n, None, exact) if len(moves) == 1 else None

    def assign(self, name: str, found: Known) -> None:
        """A number gets a value."""
        self.kill({name})
        if found.near is not None:
            self.near[name] = found.near
        if found.sum is not None and name not in dict(found.sum.terms):
            self.sums[name] = found.sum
        if found.exact:
            self.exact.add(name)

    def kill(self, names: set[str]) -> None:
        """The names get values of which nothing is known."""
        if self.phase is not None and names & set(dict(self.phase.terms)):
            self.phase = None
        for name in names:
            self.near.pop(name, None)
            self.sums.pop(name, None)
            self.exact.discard(name)
        self.sums = {v: s for v, s in self.sums.items() if not names & set(dict(s.terms))}

    def rotate(self, by: int) -> None:
        """The arrays of the bank are rotated: what stood at place ``by`` stands at the first."""
        if by:
            self.near = {v: (c - by) % self.n for v, c in self.near.items()}
            self.phase = self.phase.plus(Sum(by), 1, self.n) if self.phase is not None else None

    def settle(self) -> None:
        """Distances from the phase are written down while the phase is known."""
        for name in list(self.sums):
            found = self.of(k.Var(name, INT))
            if found.near is not None:
                self.near[name] = found.near

    def meet(self, other: Facts) -> None:
        """What is known on both of two ways."""
        self.settle()
        other.settle()
        self.near = {v: c for v, c in self.near.items() if other.near.get(v) == c}
        self.sums = {v: s for v, s in self.sums.items() if other.sums.get(v) == s}
        self.exact &= other.exact
        self.phase = self.phase if self.phase == other.phase else None

    def best_rotation(self, other: Facts, names: set[str]) -> int:
        """The rotation after which what is known of most of the names is as in ``other``."""
        self.settle()
        other.settle()

        def agreeing(by: int) -> int:
            return sum(other.near.get(v) == (c - by) % self.n for v, c in self.near.items() if v in names)

        return max(range(self.n), key=lambda by: (agreeing(by), by == 0))


def evaluated(e: Any, values: dict[str, int]) -> Any:
    """The value of an integer expression over known numbers, None where it has none here."""
    match e:
        case k.Const(value=value):
            return value.real
        case k.Var(name=name):
            return values.get(name)
        case k.Cast(arg=arg, type=kind):
            found = evaluated(arg, values)
            return bool(found) if found is not None and kind.kind == "bool" else found
        case k.Op(name=name, args=args) if name in _OPERATIONS:
            found = [evaluated(a, values) for a in args]
            if any(x is None for x in found) or (name in ("mod", "tmod") and (found[1] <= 0 or found[0] < 0)):
                return None
            return _OPERATIONS[name](*found)
    return None


_OPERATIONS: dict[str, Any] = {
    **{"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "neg": lambda a: -a},
    **{"mod": lambda a, b: a % b, "tmod": lambda a, b: a % b, "not": lambda a: not a},
    **{"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "gt": lambda a, b: a > b},
    **{"le": lambda a, b: a <= b, "ge": lambda a, b: a >= b, "select": lambda c, a, b: a if c else b},
}
