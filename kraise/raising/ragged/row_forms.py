"""What the flat form of ragged loops is made of: rows and their numbers, conditions, lengths."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from kraise.analysis.conditions import classify, conjunction, conjuncts
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.analysis.segments import Segment, plain, segments
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.ir.walk import free_indices, substitute, topological, transform


@dataclass(frozen=True)
class Rows:
    """The row that each k belongs to, counted from the first: ``version[k - axis.lo]``."""

    version: eq.Version
    axis: eq.Axis

    def at(self, k: eq.Index) -> eq.Read:
        position = to_expr(to_poly(k) - to_poly(self.axis.lo))
        return eq.Read(self.version, (position,), INT)


def plain_row(row: Poly) -> tuple[eq.Index, int] | None:
    """``(i, c)`` if the row is ``i + c``."""
    indices = [a for a in row.atoms() if isinstance(a, eq.Index)]
    if len(indices) != 1 or row.coefficient(indices[0]).value != 1:
        return None
    rest = row.without(indices[0]).value
    return None if rest is None else (indices[0], rest)


def ends_with(found: Segment, i: eq.Axis) -> bool:
    """Whether all rows of ``i`` end where the next one starts, the last one apart."""
    if found.unless_last is None:
        return True
    fact, last = classify(found.unless_last), to_poly(i.hi) - 1
    indices = [] if fact is None else [a for a in fact.poly.atoms() if isinstance(a, eq.Index) and a.name == i.name]
    if fact is None or len(indices) != 1 or i.step != 1:
        return False
    (index,) = indices
    slope, before_last = fact.poly.coefficient(index).value, to_poly(index) - last
    if fact.kind == "ne":
        return slope in (1, -1) and (fact.poly * slope - before_last).value == 0  # type: ignore[operator]
    least = (fact.poly + before_last + 1).value  # at the row before the last one
    return fact.kind == "ge" and slope == -1 and least is not None and least >= 0


def rows_of_rows(
    node: eq.Reduce, parts: tuple[eq.Expr, ...], mine: set[str], axes: Mapping[str, eq.Axis]
) -> tuple[eq.Reduce, tuple[eq.Axis, ...], eq.Expr | None] | None:
    """A reduction over rows and their entries, as that over the entries of one row, the axes around it and the
    condition on these; None if no index runs over rows that another one of the reduction chooses, or if the entries
    are combined with what depends on the outer row."""
    own = {a.name: a for a in node.axes}
    found = segments(parts)
    for s in found:
        inside = tuple(c for c in parts if s.index in free_indices(c))
        around = tuple(a for a in node.axes if a.name != s.index)
        if s.index not in mine or not free_indices(s.pointer) & {a.name for a in around}:
            continue
        inner = eq.Reduce(node.op, (own[s.index],), node.body, conjunction(inside), node.type)
        rows = {n for other in found for n in free_indices(other.pointer) if n in axes}
        if not free_indices(inner) & rows:
            return inner, around, conjunction(tuple(c for c in parts if c not in inside))
    return None


def apart_from(node: eq.Reduce) -> tuple[eq.Expr | None, eq.Reduce]:
    """The factors of a sum that do not depend on what it is over, if they are no more than loads and numbers (a
    coefficient is finite), and the sum of the rest."""
    own = {a.name for a in node.axes}
    if node.op != "add":
        return None, node
    held: list[eq.Expr] = []
    outside: list[eq.Expr] = []
    stack = [node.body]
    while stack:
        e = stack.pop()
        if isinstance(e, eq.Op) and e.name == "mul" and e.type.kind == node.body.type.kind:
            stack += e.args[::-1]
        else:
            plain = isinstance(e, eq.Read) and e.type.kind in ("float", "number") and not free_indices(e) & own
            (outside if plain else held).append(e)
    if not outside or not held:
        return None, node
    factor, rest = (reduce(lambda a, b: eq.Op("mul", (a, b), node.body.type), part) for part in (outside, held))
    return factor, eq.Reduce(node.op, node.axes, rest, node.where, node.type)


def times(factor: eq.Expr | None, total: eq.Expr) -> eq.Expr:
    """The total times what was left out of it."""
    return total if factor is None else eq.Op("mul", (factor, total), total.type)


def without_arg(node: eq.ArgReduce, ragged: Collection[str]) -> eq.Expr:
    """Which index, as the least (or greatest) index at which the body is the extremum."""
    parts = () if node.where is None else conjuncts(node.where)
    if node.axis.name not in ragged or not bound_by_data(node.axis.name, parts, None):
        return node
    plain = len(parts) == 2 and any(s.whole for s in segments(parts))
    body = unguarded(node.body) if plain else node.body
    best = eq.Reduce(node.op, (node.axis,), body, node.where, body.type)
    found = conjunction((*parts, eq.Op("eq", (body, best), BOOL)))
    return eq.Reduce("max" if node.last else "min", (node.axis,), eq.Index(node.axis.name, INT), found, INT)


def asked_in_rows(node: eq.Reduce) -> eq.Reduce:
    """An any whose body says which row an entry is in, with that as its condition."""
    if node.op != "or" or node.where is not None:
        return node
    parts = conjuncts(node.body)
    bounds = {b for s in segments(parts) for b in s.bounds}
    rest = conjunction([c for c in parts if c not in bounds])
    if not bounds or rest is None:
        return node
    return eq.Reduce("or", node.axes, rest, conjunction([c for c in parts if c in bounds]), BOOL)


def bound_by_data(name: str, parts: tuple[eq.Expr, ...], inside: set[str] | None) -> bool:
    """Whether a condition compares the index with what an array holds."""
    for c in parts:
        if name in free_indices(c) and isinstance(c, eq.Op) and c.name in ("ge", "gt", "lt", "le"):
            a, b = plain(c).args  # type: ignore[union-attr]
            for x, y in ((a, b), (b, a)):
                if isinstance(x, eq.Index) and x.name == name:
                    lanes = free_indices(y) - {name}
                    if any(isinstance(n, eq.Read) for n in topological((y,))) and lanes:
                        return True
    return False


def fixed(e: eq.Expr, axes: tuple[eq.Axis, ...], early: Collection[eq.Version]) -> bool:
    """Whether a value over these axes is the same in every round of the loops around; ``early`` are versions made
    before everything else."""
    return free_indices(e) <= {a.name for a in axes} and all(
        not isinstance(n, eq.CarryIn | eq.FoldResult)
        and (not isinstance(n, eq.Read) or not n.version.number or n.version in early)
        for n in topological((e,))
    )


def signed(size: eq.Expr) -> eq.Expr:
    """A size as a number that a row, which may be -1, can be compared with."""
    sizes: dict[eq.Expr, eq.Expr] = {
        n: eq.Param(n.name, INT) for n in topological((size,)) if isinstance(n, eq.Param) and n.type.kind == "uint"
    }
    return substitute(size, sizes)


def shortest(length: eq.Expr) -> tuple[eq.Expr, ...]:
    """The lengths of which ``length`` is the least."""
    if isinstance(length, eq.Op) and length.name == "min":
        return (*shortest(length.args[0]), *shortest(length.args[1]))
    return (length,)


def over_all(s: eq.Write) -> eq.Write:
    """An accumulation of a sum over the rows that an entry may belong to, as one over rows and entries."""
    value = s.value
    if not s.accumulate or not isinstance(value, eq.Reduce) or value.op != s.accumulate or value.where is None:
        return s
    names, own = {a.name for a in s.axes}, {a.name for a in value.axes}
    for found in segments(conjuncts(value.where)):
        row = plain_row(found.row)
        if found.index in names and row is not None and row[0].name in own and not names & own:
            parts = (() if s.where is None else conjuncts(s.where)) + conjuncts(value.where)
            return replace(s, axes=(*s.axes, *value.axes), value=value.body, where=conjunction(parts))
    return s


def neutral(op: str, kind: ScalarType) -> eq.Expr | None:
    if op in ("and", "or"):
        return eq.Const(op == "and", BOOL)
    if op == "add":
        return eq.Const(0, kind)
    return None


def computes(e: eq.Expr) -> bool:
    """Whether a condition computes with floats, which it may share with values that are made under a mask."""
    return any(isinstance(n, eq.Op) and not n.type.is_integer and n.type.kind != "bool" for n in topological((e,)))


def unguarded(e: eq.Expr) -> eq.Expr:
    """Loads without the care for lanes that nobody uses: a point outside every row is dropped, whatever it holds.

    Those beside a point (``x[k - 1]``) keep it: they are slices, which would be shorter than the range.
    """

    def beside(s: eq.Expr) -> bool:
        form = to_poly(s)
        return form.value is None and form != to_poly(next(iter(form.atoms()))) and all(map(_affine, form.atoms()))

    def one(node: eq.Expr) -> eq.Expr:
        if isinstance(node, eq.Read) and node.safe and not any(map(beside, node.subscripts)):
            return eq.Read(node.version, node.subscripts, node.type, node.view)
        return node

    return transform(e, one)


def _affine(atom: eq.Expr) -> bool:
    return isinstance(atom, eq.Index | eq.Param | eq.Shape)


def unused(wish: str, taken: Collection[str]) -> str:
    """``wish``, or with a number if that is taken."""
    name, number = wish, 1
    while name in taken:
        number += 1
        name = f"{wish}_{number}"
    return name
