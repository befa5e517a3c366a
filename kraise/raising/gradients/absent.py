"""Cells that a lane does not read: what stands in them (NaN, inf, garbage) must not reach a gradient.

In ``y[i] = w[i] * x[i] if live[i] else 0`` the lanes that are not live read neither ``w`` nor ``x``. The text reads
both, and the derivative of the product there is ``0 * x[i]``: NaN if ``x[i]`` is. Such a load is put to zero where its
value is not used, if a derivative may multiply with it. A load that the condition itself needs (``if x[i] > 0``) is
made in every lane, by the source too, and stays as it is; so does one that only sums and choices use. Of the two
factors of a product one may stay as it is: what it does to the other's derivative ends at the other's mask.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable

from kraise.ir.equations import CarryIn, Cast, Const, Expr, New, Op, Read, Reduce, Scan
from kraise.ir.walk import free_indices, statements, topological
from kraise.raising.gradients.conditions import ALWAYS, NEVER, Conditions, Demand
from kraise.raising.gradients.hazards import constant_like, hazards
from kraise.raising.gradients.needs import within
from kraise.raising.gradients.usage import Site, Unit, Usage, carries_derivative, value_children
from kraise.raising.run import simplify

Reads = frozenset[Expr]
_NONE: Reads = frozenset()

# operations whose partials are finite whatever the operands are
_STRAIGHT = frozenset(("add", "sub", "neg", "min", "max", "select", "real", "imag", "conj", "complex", "copysign"))


class Absent:
    """The loads of a kernel that must be put to zero: ``everywhere``, or at a ``site`` in what is no condition."""

    def __init__(self, usage: Usage) -> None:
        self.usage, self.conditions = usage, usage.conditions
        new = (s.version.array for s in statements(usage.kernel.body) if isinstance(s, New))
        self.arrays = frozenset((*(p.name for p in usage.kernel.params), *new))  # type: ignore[attr-defined]
        made = self._made()
        self.sites: dict[Site, dict[Expr, Expr]] = {}
        for site, unit in usage.units.items():
            own = {n: made[n] for n in unit.demands if n in made}
            if found := _Poison(self.conditions, unit, own).reached() if own else {}:
                self.sites[site] = {r: self._zeroed(r, d) for r, d in found.items()}
        reads = dict.fromkeys(r for found in self.sites.values() for r in found)
        needed = usage.needs(reads) if reads else {}
        self.everywhere = {r: self._zeroed(r, made[r]) for r in reads if within(needed[r], made[r])}

    def _made(self) -> dict[Expr, Demand]:
        """The loads that some lanes do not make, with the condition under which the others do."""
        made: dict[Expr, Demand] = {}
        first: dict[Expr, int] = {}
        ambient: dict[Expr, frozenset[str]] = {}
        for unit in self.usage.units.values():
            around = self.usage.ambient[unit.scope]
            for node, demand in unit.demands.items():
                if isinstance(node, Read) and demand != NEVER:
                    made[node] = self.conditions.either(made.get(node, NEVER), demand)
                    first[node] = min(first.get(node, unit.position), unit.position)
                    ambient[node] = ambient.get(node, around) & around
        for node, demand in made.items():
            if demand != ALWAYS:
                seen = self.usage.before(demand, first[node])
                made[node] = _own(self.conditions, node, seen, ambient[node], self.arrays)
        return {r: d for r, d in made.items() if d != ALWAYS}

    def _zeroed(self, read: Expr, demand: Demand) -> Expr:
        mask = self.conditions.expression(demand)
        return simplify.select(mask, read, constant_like(0, read.type), read.type)


def _own(conditions: Conditions, read: Expr, demand: Demand, ambient: frozenset[str], arrays: Container[str]) -> Demand:
    """The demand as far as it is flags and indices that are loaded, and that the load's own lanes see. Not: what needs
    the load itself, what changes from round to round of a loop, what floats decide, or what indices, sizes and the
    module's tables alone decide (the cells at a rim are read by their neighbours).
    """
    indices = free_indices(read) | ambient

    def keep(literal: int) -> bool:
        condition = conditions.shown(literal)
        if isinstance(condition, Reduce) or not conditions.free(literal) <= indices:
            return False
        nodes = topological((condition,))
        if read in nodes or any(isinstance(n, CarryIn) for n in nodes):
            return False
        loaded = any(isinstance(n, Read) and not _of_table(n, arrays) for n in nodes)
        return loaded and not any(map(_computed, nodes))

    return conditions.weaken(demand, keep)


def _of_table(read: Read, arrays: Container[str]) -> bool:
    """Whether it is an entry of one of the module's tables: no array of the kernel's, given or made."""
    array = read.version.array
    return not read.version.number and array not in arrays and array.partition(".")[0] not in arrays


def _computed(node: Expr) -> bool:
    """Whether a condition speaks of floats: those that it is about are read, and the source often has read more."""
    return node.type.is_inexact or (carries_derivative(node.type) and not isinstance(node, Read))


class _Poison:
    """Where what unread cells hold may go: values from below, the loads that must be masked."""

    def __init__(self, conditions: Conditions, unit: Unit, made: dict[Expr, Demand]) -> None:
        self.conditions, self.unit, self.made = conditions, unit, made
        self.order = topological(unit.roots, value_children)
        self.uses = Counter(c for n in self.order for c in value_children(n))
        self.bad: dict[Expr, Reads] = {}
        self.found: dict[Expr, Demand] = {}

    def reached(self) -> dict[Expr, Demand]:
        """The loads with which a derivative may be multiplied."""
        for node in self.order:
            self.bad[node] = self._value(node)
            for read in self._multiplied(node):
                self.found[read] = self.made[read]
        return {r: d for r, d in self.made.items() if r in self.found}

    def _masked(self, node: Op) -> set[int]:
        """The operands that get a safe value anyway."""
        return {k for k, _ in hazards(node)} if self.unit.demands[node] not in (ALWAYS, NEVER) else set()

    def _value(self, node: Expr) -> Reads:
        """The loads that may spoil a value where they are not wanted."""
        match node:
            case Read():
                return frozenset((node,)) if node in self.made else _NONE
            case Op(name="select", args=(c, a, b)):
                return self._blocked(a, c, True) | self._blocked(b, c, False)
            case Op(args=args):
                masked = self._masked(node)
                return _union(self.bad.get(a, _NONE) for k, a in enumerate(args) if k not in masked)
            case Reduce(body=body, where=where) if where is not None:
                return self._blocked(body, where, True)
        return _union(self.bad[c] for c in value_children(node))

    def _blocked(self, value: Expr, condition: Expr, holds: bool) -> Reads:
        bad = self.bad.get(value, _NONE)
        return frozenset(r for r in bad if not self.conditions.implies(condition, holds, self.made[r]))

    def _multiplied(self, node: Expr) -> Reads:
        """The loads of the operands with whose values (or functions of them) a derivative is multiplied."""
        match node:
            case Op(name=name) if name in _STRAIGHT:
                return _NONE
            case Op(name="mul", args=(a, b)):
                return self._factors(a, b)
            case Op(name="fma", args=(a, b, _)):
                return self._factors(a, b)
            case Op(name="div", args=(a, b)) if _constant(b) or 1 in self._masked(node):
                return _NONE
            case Op(args=args):
                masked = self._masked(node)
                return _union(self.bad.get(a, _NONE) for k, a in enumerate(args) if k not in masked)
            case Cast() | Reduce(op="add" | "min" | "max") | Scan(op="add" | "min" | "max", other=None):
                return _NONE
        return _union(self.bad[c] for c in value_children(node))

    def _factors(self, a: Expr, b: Expr) -> Reads:
        left, right = self.bad.get(a, _NONE), self.bad.get(b, _NONE)
        if _constant(a) or _constant(b) or not left | right:
            return _NONE
        for one, other, kept in ((a, b, left), (b, a, right)):
            # the other factor is one load: its mask is not needed where all that it could spoil is masked
            if one is not other and other in self.made and self.uses[other] == 1 and self._ends(one, kept, other):
                return kept
        return left | right

    def _ends(self, value: Expr, reads: Reads, other: Expr) -> bool:
        """Whether all that a derivative of the value reaches is masked where the other load is not made."""
        leaves = {n for n in topological((value,), value_children) if not value_children(n) and not _constant(n)}
        return leaves <= reads and all(within(self.made[r], self.made[other]) for r in leaves)


def _union(sets: Iterable[Reads]) -> Reads:
    return frozenset().union(*sets)


def _constant(node: Expr) -> bool:
    """Whether no derivative flows into a value: a number, or something made of integers."""
    return isinstance(node, Const) or (not value_children(node) and isinstance(node, Cast)) or node.type.is_integer
