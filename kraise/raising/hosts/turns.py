"""Rounds that take turns (Host IR to Host IR): pointers in place of arms that are alike, and a last round by itself.

``if (s % 2 == 0) step(a, b); else step(b, a);`` is ``step(p, q)`` with ``p`` one of the two and ``q`` the other, by the
same condition: :mod:`.choices` and :mod:`.banks` make a swap of that. ``if (s != steps - 1) swap(a, b);`` at the end of
a round is a swap in each round but the last one, which then stands behind the loop.

Side conditions, checked: the arms are one text with two arrays exchanged, which they do not move; what the last round
leaves out only moves pointers, and the counter steps by one to a bound that no round changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, fresh, set_within
from kraise.ir.rename import names_in, renamed, within
from kraise.ir.types import BOOL, INT
from kraise.raising.hosts.choices import counts
from kraise.raising.hosts.reach import Numbers

Body = tuple[h.Stmt, ...]
_MOST = 8  # arrays in an arm


def with_turns(body: Body, taken: set[str], parameters: set[str]) -> Body:
    """The body with both; ``taken`` are the names of the function."""
    turned = _arms_in_turns(body, partial(fresh, taken))
    return _with_last_rounds(turned, Numbers(turned, parameters))


def _arms_in_turns(body: Body, new: Callable[[str], str]) -> Body:
    """The body with pointers that a condition chooses in place of arms that differ by them; ``new`` gives fresh
    names."""
    out: list[h.Stmt] = []
    for stmt in body:
        blocks = {f: _arms_in_turns(getattr(stmt, f), new) for f in ("body", "orelse") if hasattr(stmt, f)}
        stmt = replace(stmt, **blocks) if blocks else stmt  # type: ignore[arg-type]
        if isinstance(stmt, h.If) and counts(stmt.condition):
            out, stmt = _with_first_places(out, stmt)
            out += _in_turns(stmt, new)
        else:
            out.append(stmt)
    return tuple(out)


def _with_first_places(before: list[h.Stmt], stmt: h.If) -> tuple[list[h.Stmt], h.If]:
    """``p = a; q = b; if (s & 1) swap(p, q);`` as ``if (s & 1) { p = b; q = a; } else { p = a; q = b; }``: where the
    arms only move pointers that were put to whole arrays right before."""
    moves = (*stmt.body, *stmt.orelse)
    if not moves or not all(isinstance(x, h.Point) and all(map(_plain, x.sources)) for x in moves):
        return before, stmt
    first = len(before)
    while first and _whole(before[first - 1]):
        first -= 1
    heads = before[first:]
    begun = _moved({}, heads)
    arms = [_moved(begun, arm) for arm in (stmt.body, stmt.orelse)]
    changed = {n for x in moves for n in x.names}  # type: ignore[union-attr]
    if not changed <= {*begun} or {*begun} & {array for places in (begun, *arms) for array in places.values()}:
        return before, stmt
    kept = [p for p in heads if p.names[0] not in changed]  # type: ignore[union-attr]
    one, other = (
        tuple(h.Point((n,), (k.ArrayRef(places[n]),), span=stmt.span) for n in sorted(changed)) for places in arms
    )
    return [*before[:first], *kept], replace(stmt, body=one, orelse=other)


def _moved(places: dict[str, str], points: Sequence[h.Stmt]) -> dict[str, str]:
    """The array that each name points to after the points, one by one."""
    for p in points:
        assert isinstance(p, h.Point)
        now = [places.get(s.array, s.array) for s in p.sources if isinstance(s, k.ArrayRef)]
        places = places | dict(zip(p.names, now, strict=True))
    return places


def _plain(s: object) -> bool:
    return isinstance(s, k.ArrayRef) and s.offset is None and not s.rows


def _in_turns(stmt: h.If, new: Callable[[str], str]) -> list[h.Stmt]:
    """Pointers, and the arm by them; or a choice for each pointer that both arms move."""
    pairs = [(a, b) for a, b in zip(stmt.body, stmt.orelse, strict=False) if _whole(a) and _whole(b)]
    names = [a.names for a, b in pairs if a.names == b.names]  # type: ignore[union-attr]
    if len(pairs) == len(stmt.body) == len(stmt.orelse) == len(names) > 1:
        sources = {s.array for a, b in pairs for p in (a, b) for s in p.sources}  # type: ignore[union-attr]
        own = {n for group in names for n in group}
        if len(own) == len(names) and not own & (sources | {*expression_names(stmt.condition)}):
            return [replace(stmt, body=(a,), orelse=(b,)) for a, b in pairs]
    if not stmt.body or len(stmt.body) != len(stmt.orelse) or stmt.body == stmt.orelse:
        return [stmt]
    bound = set_within(stmt.body)
    if bound & {*expression_names(stmt.condition)} or within(stmt.body, h.Return | h.Break):
        return [stmt]
    arrays = sorted({x.array for arm in (stmt.body, stmt.orelse) for x in within(arm, k.ArrayRef | h.Whole)})
    for a, b in combinations(arrays, 2) if len(arrays) <= _MOST else ():
        if bound & {a, b} or renamed(stmt.body, {a: b, b: a}) != stmt.orelse:
            continue
        one, other = new(a), new(b)
        arm = renamed(stmt.body, {a: one, b: other})
        points = [_choice(stmt, one, a, b), _choice(stmt, other, b, a)]
        return [p for p, name in zip(points, (one, other), strict=True) if name in names_in(arm)] + [*arm]
    return [stmt]


def _choice(stmt: h.If, name: str, then: str, otherwise: str) -> h.If:
    arms = [(h.Point((name,), (k.ArrayRef(array),), span=stmt.span),) for array in (then, otherwise)]
    return replace(stmt, body=arms[0], orelse=arms[1])


def _whole(s: h.Stmt) -> bool:
    """Is it one name that is pointed to the whole of an array?"""
    match s:
        case h.Point(names=(_,), sources=(k.ArrayRef(offset=None),)):
            return True
    return False


def _with_last_rounds(body: Body, number: Numbers) -> Body:
    """The body with the last round behind each loop whose rounds move pointers, but for the last one."""
    out: list[h.Stmt] = []
    for stmt in body:
        blocks = {f: _with_last_rounds(getattr(stmt, f), number) for f in ("body", "orelse") if hasattr(stmt, f)}
        stmt = replace(stmt, **blocks) if blocks else stmt  # type: ignore[arg-type]
        out += (_last_apart(stmt, number) if isinstance(stmt, h.For) else None) or [stmt]
    return tuple(out)


def _last_apart(stmt: h.For, number: Numbers) -> list[h.Stmt] | None:
    moves = stmt.body[-1] if stmt.body else None
    one = k.Const(1, stmt.step.type)
    if not isinstance(moves, h.If) or moves.orelse or stmt.step != one or stmt.condition is not None:
        return None
    rest = stmt.body[:-1]
    changed = set_within(stmt.body)
    still = not changed & {stmt.var, *expression_names(stmt.start, stmt.stop)}
    points = all(isinstance(s, h.Point) for s in moves.body)
    if not (still and points and moves.body) or within(stmt.body, h.Return | h.Break):
        return None
    last = k.Op("sub", (stmt.stop, one), INT)
    if not _but_the_last(moves.condition, stmt, number):
        return None
    turned = replace(stmt, stop=last, body=(*rest, *moves.body))
    value = h.Assign(stmt.var, last, INT, span=stmt.span)
    read = stmt.var in names_in(rest)
    some = k.Op("lt", (stmt.start, stmt.stop), BOOL)
    return [turned, h.If(some, (*((value,) if read else ()), *rest), span=stmt.span)]  # type: ignore[arg-type]


def _but_the_last(condition: h.Expr, stmt: h.For, number: Numbers) -> bool:
    """Does a condition hold in each round but the last one: ``s != stop - 1``, ``s + 1 < stop``?"""
    match condition:
        case k.Op(name="ne" | "lt" as name, args=(a, b)) | k.Op(name="gt" as name, args=(b, a)):
            counter = k.Var(stmt.var, INT)
            gap = number(b) - number(a) - (number(stmt.stop) - 1 - number(counter))
            back = number(b) - number(a) + (number(stmt.stop) - 1 - number(counter))
            return not gap.terms or (name == "ne" and not back.terms)
    return False


__all__ = ["with_turns"]
