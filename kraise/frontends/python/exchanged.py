"""Arrays made here whose names change places: ``prev, cur = cur, prev`` exchanges what the arrays hold.

Nobody sees which memory an array that the function makes has, as long as no part of it has another name: with as many
elements of one type, a permutation of names is a permutation of contents. ``prev = cur`` is a copy where ``cur`` is
made anew before it is used again: it is made in this block, and this is the last that is said of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from kraise.frontends.python.source import all_of, walk
from kraise.frontends.python.views import View
from kraise.ir.kernel import Assign, Const, For, Load, Stmt, Store, Var
from kraise.ir.types import INT, NUMBER

if TYPE_CHECKING:
    from kraise.frontends.python.scope import Scope


@dataclass
class Exchanges:
    """The right-hand sides of such assignments, with their pairs of target and source, of all but the ``idle`` ones,
    with which such an exchange begins; the groups of names."""

    idle: set[int] = field(default_factory=set)
    pairs: dict[int, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    groups: list[frozenset[str]] = field(default_factory=list)

    def of(self, name: str) -> frozenset[str]:
        """The names with which a name changes places."""
        return next((g for g in self.groups if name in g), frozenset())


def exchanges(body: cst.BaseSuite, params: Collection[str], ranks: Mapping[str, int], bound: Counter) -> Exchanges:
    """The assignments of ``body`` that exchange arrays; ``bound`` forgets that they bind a name."""
    found = Exchanges()
    times: Counter = Counter()
    for values, pairs in _candidates(body):
        found.pairs |= dict.fromkeys(map(id, values), pairs)
        found.idle |= set(map(id, values[:-1]))
        times.update(t for t, _ in pairs)
    for pairs in found.pairs.values():
        group = frozenset(n for p in pairs for n in p)
        touching = [g for g in found.groups if g & group]
        found.groups = [g for g in found.groups if not g & group] + [group.union(*touching)]
    made = {_bound_to_new(n) for n in all_of(cst.Assign, body)}
    in_place = Counter(n.target.value for n in all_of(cst.AugAssign, body) if isinstance(n.target, cst.Name))
    once = {n for n in made if n is not None and bound[n] - in_place[n] == times[n] + 1}
    own = {n for n in once if ranks.get(n) and n not in params}
    found.groups = [g for g in found.groups if g <= own]
    found.pairs = {k: pairs for k, pairs in found.pairs.items() if found.of(pairs[0][0])}
    bound.subtract(t for k, pairs in found.pairs.items() if k not in found.idle for t, _ in pairs)
    return found


Candidate = tuple[tuple[cst.BaseExpression, ...], tuple[tuple[str, str], ...]]


def _candidates(body: cst.BaseSuite) -> Iterator[Candidate]:
    """Permutations of names, and names of arrays that are made in the block of the assignment, which ends with it."""
    for node in all_of(cst.IndentedBlock, body):
        lines = [s.body[0] for s in node.body if isinstance(s, cst.SimpleStatementLine) and len(s.body) == 1]
        yield from _by_three(node, body)
        made = [t for s in lines if (t := _bound_to_new(s))]
        for line in lines:
            if not isinstance(line, cst.Assign) or len(line.targets) != 1:
                continue
            target, value = line.targets[0].target, line.value
            if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
                names = [_name(e.value) for e in target.elements], [_name(e.value) for e in value.elements]
                if None not in names[0] and len(set(names[0])) == len(names[0]) and set(names[0]) == set(names[1]):
                    yield (value,), tuple(zip(*names, strict=True))  # type: ignore[arg-type]
            elif (to := _name(target)) and (source := _name(value)) in made and to != source:
                last = node.body[-1]
                inside = sum(isinstance(n, cst.Name) and n.value == source for n in walk(node))
                whole = sum(isinstance(n, cst.Name) and n.value == source for n in walk(body))
                if isinstance(last, cst.SimpleStatementLine) and last.body[0] is line and inside == whole:
                    yield (value,), ((to, source),)


def _by_three(block: cst.IndentedBlock, body: cst.BaseSuite) -> Iterator[Candidate]:
    """``t = a; a = b; b = t``, t being nothing else: the first two exchange nothing, the third both."""
    moves = [_move(s) for s in block.body]
    for one, two, three in zip(moves, moves[1:], moves[2:], strict=False):
        if one is None or two is None or three is None:
            continue
        (held, a), (to, b), (last, back) = one[1], two[1], three[1]
        if (to, last, back) != (a, b, held) or len({held, a, b}) < 3:
            continue
        if sum(isinstance(n, cst.Name) and n.value == held for n in walk(body)) == 2:
            yield (one[0], two[0], three[0]), ((a, b), (b, a))


def _move(line: cst.CSTNode) -> tuple[cst.BaseExpression, tuple[str, str]] | None:
    """``a = b`` on a line of its own."""
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    s = line.body[0]
    if not isinstance(s, cst.Assign) or len(s.targets) != 1:
        return None
    target, source = _name(s.targets[0].target), _name(s.value)
    return None if target is None or source is None else (s.value, (target, source))


def _bound_to_new(line: cst.CSTNode) -> str | None:
    """A name that is bound to the result of a call or of arithmetic: of arrays, a new one."""
    new = cst.Call | cst.BinaryOperation | cst.UnaryOperation
    if isinstance(line, cst.Assign) and len(line.targets) == 1 and isinstance(line.value, new):
        return _name(line.targets[0].target)
    return None


def _name(node: cst.BaseExpression) -> str | None:
    return node.value if isinstance(node, cst.Name) else None


def lowered(scope: Scope, pairs: tuple[tuple[str, str], ...], node: cst.CSTNode) -> list[Stmt]:
    """The exchange, cell by cell."""
    from kraise.frontends.python.remade import agreed

    names = sorted({n for p in pairs for n in p})
    group = scope.exchanges.of(names[0])
    shapes = [scope.shapes.get(n) for n in names]
    if any(scope.views.get(n) != View(n, (None,) * len(s or ())) for n, s in zip(names, shapes, strict=True)):
        raise scope.refuse(node, f"{' and '.join(names)} are not all arrays that are made before", "", "KR299")
    extents = agreed(scope, names, node, f"{' and '.join(names)} change places")
    parts = [n for n, v in scope.views.items() if v.array in group and n not in group]
    if parts:
        raise scope.refuse(
            node, f"{parts[0]} is a part of an array that changes places", "subscript the array itself", "KR299"
        )
    span = scope.span(node)
    indices = [scope.fresh_index() for _ in extents]
    scope.bound.update(indices)
    cell = tuple(Var(i, INT, span=span) for i in indices)
    body: list[Stmt] = []
    held = []
    for _, source in pairs:
        held.append(scope.fresh(f"{source}_cell"))
        scope.bound[held[-1]] = 1
        body.append(Assign(held[-1], Load(source, cell, NUMBER, span=span), NUMBER, span=span))
    body += [Store(t, cell, Var(h, NUMBER, span=span), span=span) for (t, _), h in zip(pairs, held, strict=True)]
    for name, extent in zip(reversed(indices), reversed(extents), strict=True):
        body = [
            For(name, Const(0, INT, span=span), extent, Const(1, INT, span=span), tuple(body), False, INT, span=span)
        ]
    return body
