"""Index-set splitting: a store that does one thing at the edges of its domain and another one within is several stores.

``y[i] = x[i] if i == 0 or i == n - 1 else x[i - 1] + x[i + 1]`` is a store to all and one to the interior, or, where
what stands at the edges is more than a load, a store to the interior and one to each edge: no load leaves an array, and
nothing is padded (Griebl, Feautrier and Lengauer, "Index set splitting", 2000). A condition is split at if it is a
conjunction or disjunction of comparisons of one index with a place that is a constant away from an end of its axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kraise.analysis.conditions import conjunction, conjuncts, negate
from kraise.analysis.dependence import implied
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL
from kraise.ir.walk import children, free_indices, statement_expressions, statements, topological
from kraise.raising.carried.problem import at_index
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import tidy
from kraise.raising.writes.beside import joined
from kraise.raising.writes.decided import decided
from kraise.raising.writes.domain_edges import Axes, Part, Sides, both_ends, sides, single
from kraise.raising.writes.masks import bounds

_MOST = 9  # stores out of one
_ARITHMETIC = ("add", "sub", "mul", "div", "neg")


@dataclass(frozen=True)
class _Piece:
    axes: Axes
    value: eq.Expr
    where: tuple[eq.Expr, ...]

    def of(self, part: Part, value: eq.Expr) -> _Piece:
        return _Piece(part.axes, value, (*self.where, *part.there))


def split(
    stmts: tuple[eq.Stmt, ...],
    facts: tuple[eq.Expr, ...],
    leaving: Callable[[tuple[eq.Stmt, ...]], frozenset[eq.Version]],
) -> tuple[eq.Stmt, ...]:
    """``stmts`` with such stores apart, within folds too. ``facts`` hold of the sizes; ``leaving`` tells the stores (by
    the version that they make) in which a load leaves its array at an edge: others stay in one where they choose."""
    stmts = _joined(stmts)
    if _each(stmts, facts, _Numbers(stmts), None) == stmts:
        return stmts
    return _each(stmts, facts, _Numbers(stmts), leaving(stmts))


def _joined(stmts: tuple[eq.Stmt, ...]) -> tuple[eq.Stmt, ...]:
    one = tuple(_complements(joined(stmts, _one)))
    return tuple(replace(s, body=_joined(s.body)) if isinstance(s, eq.Fold) else s for s in one)


class _Numbers:
    """New versions of arrays."""

    def __init__(self, stmts: tuple[eq.Stmt, ...]):
        self.last: dict[str, int] = {}
        for s in statements(stmts):
            found = [n.version for n in topological(statement_expressions(s)) if isinstance(n, eq.Read)]
            match s:
                case eq.Write(before=before, after=after):
                    found += [before, after]
                case eq.Fold(arrays=arrays):
                    found += [v for a in arrays for v in (a.outside, a.entry, a.exit, a.result)]
            for v in found:
                self.last[v.array] = max(self.last.get(v.array, 0), v.number)

    def next(self, array: str) -> eq.Version:
        self.last[array] += 1
        return eq.Version(array, self.last[array])


def _each(
    stmts: tuple[eq.Stmt, ...],
    facts: tuple[eq.Expr, ...],
    numbers: _Numbers,
    leaving: frozenset[eq.Version] | None,
    kept: frozenset[eq.Expr] = frozenset(),
) -> tuple[eq.Stmt, ...]:
    """``kept`` is what a loop carries or puts out besides arrays."""
    out: list[eq.Stmt] = []
    for s in stmts:
        match s:
            case eq.Fold():
                own = frozenset((*(c.update for c in s.scalars), *(o.value for o in s.outputs)))
                out.append(replace(s, body=_each(s.body, facts, numbers, leaving, own)))
            case eq.Write(accumulate="", safe=False, segments=False) if s.value not in kept:
                out += _apart(s, facts, numbers, leaving is None or s.after in leaving)
            case _:
                out.append(s)
    return tuple(out)


def _apart(s: eq.Write, facts: tuple[eq.Expr, ...], numbers: _Numbers, choices: bool) -> list[eq.Stmt]:
    named = frozenset().union(*map(free_indices, s.subscripts)) if s.subscripts else frozenset()
    own = {a.name for a in s.axes}
    if not own <= named or own & _kept_along(s):
        return [s]
    first = _pointed(s.axes, conjuncts(s.where) if s.where is not None else (), s.value)
    cell = eq.Read(s.before, s.subscripts, s.value.type, s.view)
    pieces = [p for p in _pieces(first, cell, choices) if p.value is not cell]  # what is kept is not stored
    if pieces == [_Piece(s.axes, first.value, first.where)] or not 1 <= len(pieces) <= _MOST:
        return [s]
    out: list[eq.Stmt] = []
    before = s.before
    for at, p in enumerate(pieces):
        after = s.after if at == len(pieces) - 1 else numbers.next(s.after.array)
        out.append(_store(replace(s, before=before, after=after), p, facts))
        before = after
    return out


def _kept_along(s: eq.Write) -> set[str]:
    """The axes along which the result of a loop is kept, or a running value: they stay as long as they are."""
    found: set[str] = set()
    for n in topological((s.value, *conjuncts(s.where or eq.Const(True, BOOL)))):
        match n:
            case eq.FoldResult(axes=axes) | eq.CarryIn(axes=axes):
                found |= {a.name for a in axes}
            case eq.Scan(axis=axis):
                found.add(axis.name)
    return found


def _pointed(axes: Axes, where: tuple[eq.Expr, ...], value: eq.Expr) -> _Piece:
    for k, a in enumerate(axes):
        found = single(a)
        if found is not None:
            axes, where = (*axes[:k], found[0], *axes[k + 1 :]), (*where, found[1])
    return _Piece(axes, value, where)


def _store(s: eq.Write, p: _Piece, facts: tuple[eq.Expr, ...]) -> eq.Write:
    """One piece: what its domain decides is decided."""
    path = (*bounds(p.axes), *p.where)
    where = tuple(c for c in p.where if not implied((*facts, *bounds(p.axes)), c))
    covers = s.covers and p.axes == s.axes and not where
    return replace(s, axes=p.axes, value=decided(p.value, path), where=conjunction(where), covers=covers)


def at_places(stmts: tuple[eq.Stmt, ...]) -> tuple[eq.Stmt, ...]:
    """``stmts`` with an index that has one value as that value, within folds too."""
    return tuple(map(_at_place, stmts))


def _at_place(s: eq.Stmt) -> eq.Stmt:
    if isinstance(s, eq.Fold):
        return replace(s, body=at_places(s.body))
    if not isinstance(s, eq.Write) or s.segments:
        return s
    kept = _kept_along(s)
    known = [a for a in s.axes if (to_poly(a.hi) - to_poly(a.lo)).value == 1 and a.name not in kept]
    for a in known:
        roots = (s.value, *s.subscripts, *conjuncts(s.where or eq.Const(True, BOOL)))
        for index in {n for n in topological(roots) if isinstance(n, eq.Index) and n.name == a.name}:
            value, *subscripts = (tidy(at_index(e, index, a.lo)) for e in (s.value, *s.subscripts))
            where = None if s.where is None else tidy(at_index(s.where, index, a.lo))
            s = replace(s, value=value, subscripts=tuple(subscripts), where=where)
    return replace(s, axes=tuple(a for a in s.axes if a not in known)) if known else s


def _pieces(p: _Piece, cell: eq.Expr, choices: bool) -> list[_Piece]:
    """The stores, in order; the last one of a cell counts."""
    if any((n := (to_poly(a.hi) - to_poly(a.lo)).value) is not None and n <= 0 for a in p.axes):
        return []
    for c in p.where:
        found = sides(c, p.axes)
        if found is not None and not found.data:
            rest = replace(p, where=tuple(w for w in p.where if w is not c))
            return [q for part in found.parts() for q in _pieces(rest.of(part, p.value), cell, choices)]
    chosen = _choice(p) if choices else None
    if chosen is None:
        return [p]
    parts, a, b = chosen
    if not parts.holds:
        a, b = b, a
    within = a if parts.data is None else simplify.select(parts.data, a, b, a.type)
    inner = _pieces(p.of(parts.box, within), cell, choices)
    two_ends = len(parts.faces) > 1 and both_ends(p.axes, parts.faces)
    if two_ends and _total(b) and cell not in (b, *(q.value for q in inner)):
        return [*_pieces(replace(p, value=b), cell, choices), *inner]
    return [*inner, *(q for part in parts.faces for q in _pieces(p.of(part, b), cell, choices))]


def _choice(p: _Piece) -> tuple[Sides, eq.Expr, eq.Expr] | None:
    """Where to split, and what is stored where the condition holds and where it does not."""
    match p.value:
        case eq.Op(name="select", args=(c, a, b)) if (found := sides(c, p.axes)) is not None:
            if _computes(a, b) and not _adds_to(a, b):
                return found, a, b
    path = (*bounds(p.axes), *p.where)
    for n in reversed(topological((p.value,), _outside_of_sums)):
        match n:
            case eq.Op(name="select", args=(c, a, b)) if _computes(a, b) and _load(a, b) and not _adds_to(a, b):
                found = sides(c, p.axes)
                if found is not None and found.data is None:
                    one, other = ((*path, *conjuncts(x)) for x in (c, negate(c)))
                    return found, decided(p.value, one), decided(p.value, other)
    return None


def _outside_of_sums(e: eq.Expr) -> Iterable[eq.Expr]:
    return () if isinstance(e, eq.Reduce | eq.ArgReduce | eq.Scan | eq.Read) else children(e)


def _computes(*arms: eq.Expr) -> bool:
    """Whether one is more than what a padded array holds."""
    return any(isinstance(a, eq.Op) and a.name in _ARITHMETIC and not a.type.is_integer for a in arms)


def _adds_to(a: eq.Expr, b: eq.Expr) -> bool:
    """Whether one of two values is the other one and a term more, which a padded array gives."""
    return any(y in topological((x,)) and (not _total(y) or _with_load(x, y)) for x, y in ((a, b), (b, a)))


def _with_load(x: eq.Expr, y: eq.Expr) -> bool:
    match x:
        case eq.Op(name="add", args=(a, b)):
            return (a is y and isinstance(b, eq.Read)) or (b is y and isinstance(a, eq.Read))
    return False


def _load(*arms: eq.Expr) -> bool:
    """Whether all do."""
    return all(any(isinstance(n, eq.Read) for n in topological((a,))) for a in arms)


def _total(e: eq.Expr) -> bool:
    """Whether a value that is stored and then overwritten does no harm: a load, or a sum of some."""
    match e:
        case eq.Const() | eq.Param():
            return True
        case eq.Read(subscripts=subscripts):
            return not any(isinstance(n, eq.Read) for n in topological(subscripts))
        case eq.Cast(arg=arg) | eq.Op(name="neg", args=(arg,)):
            return _total(arg)
    return False


def _complements(stmts: tuple[eq.Stmt, ...]) -> list[eq.Stmt]:
    """Two stores in a row, one to a box and one to the rest of the cells around it, are one store of either value."""
    out: list[eq.Stmt] = []
    for s in stmts:
        last = out[-1] if out else None
        if isinstance(s, eq.Write) and isinstance(last, eq.Write) and (one := _one(last, s)) is not None:
            out[-1] = one
        else:
            out.append(s)
    return out


def _one(first: eq.Write, second: eq.Write) -> eq.Write | None:
    if second.before is not first.after or first.accumulate or second.accumulate or first.view != second.view:
        return None
    if first.subscripts != second.subscripts or first.safe or second.safe:
        return None
    if any(isinstance(n, eq.Read) and n.version is first.after for n in topological(statement_expressions(second))):
        return None
    for inner, outer in ((first, second), (second, first)):
        if outer.where is None:
            continue
        rest = negate(outer.where)
        if inner.axes == outer.axes and inner.where is rest:
            holds = True
        else:
            found = sides(rest, outer.axes)
            holds = found is not None and found.holds and found.box == Part(inner.axes) and found.data is inner.where
        if holds:
            value = eq.Op("select", (rest, inner.value, outer.value), outer.value.type)
            return replace(outer, before=first.before, after=second.after, value=value, where=None)
    return None


__all__ = ["at_places", "split"]
