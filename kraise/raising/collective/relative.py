"""Sums of the lanes of a warp that are kept relative to a running extremum, combined in pairs.

``n = max(m, shfl(m)); s = s * exp(m - n) + shfl(s) * exp(shfl(m) - n); m = n`` over the steps of a tree keeps ``s *
exp(m)`` a plain sum (:mod:`kraise.raising.carried.rescaled` has the same along a loop). The tree is looked at without
these factors; where both come out over the same lanes, the sum is that of ``s * exp(m - n)`` with n the extremum of
all.

Side conditions, each checked: the loop does nothing else that is looked at later; both halves of each pair are scaled
from their own extremum to the one of both, and come from the same lane; each lane has met an element, or begins with a
finite extremum (of two lanes that have met none ``exp(-inf - -inf)`` makes sums that are no numbers).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.operations import TURNED
from kraise.ir.rewrite import rewritten, walked
from kraise.raising.carried.rebased import demand_elements, met_elements, rebased
from kraise.raising.optimistic import decided
from kraise.raising.run.context import Context
from kraise.raising.run.state import State


@dataclass(frozen=True)
class Pairs:
    """The loop as a plain tree, the extremum's name, and the sums that are relative to it, with the exponential."""

    tree: k.For | k.While
    extremum: str
    op: str
    sums: Mapping[str, str]


def pairs(s: k.Stmt, live: frozenset[str]) -> Pairs | None:
    """``s`` as such a loop, None if it is another; ``live`` are the locals that are read after it."""
    if not isinstance(s, k.For | k.While) or s.orelse or (isinstance(s, k.While) and s.test_last):
        return None
    made = _values(s.body)
    if made is None:
        return None
    extrema = {n: found for n, v in made.items() if (found := _extremum(n, v)) is not None}
    if len(extrema) != 1:
        return None
    ((m, (value, other)),) = extrema.items()
    read = {x.name for v in made.values() for x in walked(v) if isinstance(x, k.Var)}
    sums: dict[str, str] = {}
    body: list[k.Stmt] = [k.Assign(m, value, value.type, span=s.span)]
    for n, v in made.items():
        if n not in read and n in live:
            return None
        if n == m or n not in read:
            continue  # a local of the round
        name = _relative(n, v, made[m], k.Var(m, value.type), value, other)
        if name:
            sums[n] = name
            more = rewritten(other, _instead(k.Var(m, value.type), k.Var(n, v.type)))
            v = k.Op("add", (k.Var(n, v.type), more), v.type)
        elif any(isinstance(x, k.Warp) for x in walked(v)) or any(
            isinstance(x, k.Var) and x.name == m for x in walked(v)
        ):
            return None
        body.append(k.Assign(n, v, v.type, span=s.span))
    return Pairs(replace(s, body=tuple(body)), m, value.name, sums) if sums else None


def _instead(old: k.Expr, new: k.Expr) -> Callable[[object], k.Expr | None]:
    return lambda x: new if x == old else None


def _values(body: tuple[k.Stmt, ...], begun: Mapping[str, k.Expr] = MappingProxyType({})) -> dict[str, k.Expr] | None:
    """What a round leaves in each local, in terms of what it began with."""
    made = dict(begun)
    for s in body:
        match s:
            case k.Barrier(scope="warp"):
                continue
            case k.Assign(name=name, value=value):
                made[name] = _in_terms(value, made)
            case k.If(condition=condition, body=then, orelse=orelse):
                first, second = _values(then, made), _values(orelse, made)
                if first is None or second is None:
                    return None
                chosen = _in_terms(condition, made)
                for name in {**first, **second}:
                    a, b = first.get(name), second.get(name)
                    kind = (a or b).type  # type: ignore[union-attr]
                    a, b = a or k.Var(name, kind), b or k.Var(name, kind)
                    made[name] = a if a == b else k.Op("select", (chosen, a, b), kind)
            case _:
                return None
    return made


def _in_terms(e: k.Expr, made: Mapping[str, k.Expr]) -> k.Expr:
    """An expression in terms of what a round began with."""
    found: k.Expr = rewritten(e, lambda x: made.get(x.name) if isinstance(x, k.Var) else None)
    return found


def _extremum(name: str, v: k.Expr) -> tuple[k.Op, k.Warp] | None:
    """The extremum of a local and another lane's that ``v`` is, and the other lane's."""
    if not isinstance(v, k.Op):
        return None
    own = k.Var(name, v.type)
    if v.name in ("max", "min") and (other := _met(own, v.args)) is not None:
        return v, other
    if v.name != "select" or (other := _met(own, v.args[1:])) is None:
        return None
    condition, then, _ = v.args
    if not isinstance(condition, k.Op) or condition.name not in TURNED:
        return None
    if {*map(_bare, condition.args)} != {_bare(own), _bare(other)}:
        return None
    above = condition.name if _bare(condition.args[0]) == _bare(then) else TURNED[condition.name]
    return k.Op("max" if above in ("gt", "ge") else "min", (own, other), v.type), other


def _met(own: k.Expr, args: tuple[k.Expr, ...]) -> k.Warp | None:
    """The other lane's value of a local, which its own meets."""
    for a, b in (args, args[::-1]) if len(args) == 2 else ():
        if a == own and isinstance(b, k.Warp) and b.name.startswith("shfl") and b.args and b.args[0] == own:
            return b
    return None


def _relative(name: str, v: k.Expr, chosen: k.Expr, mine: k.Expr, after: k.Op, other: k.Warp) -> str:
    """The exponential by which both halves of a sum are scaled to the extremum ``after`` (``chosen``, as the source has
    it); "" if they are not."""
    if not isinstance(v, k.Op) or v.name != "add":
        return ""
    own = k.Var(name, v.type)
    theirs = replace(other, args=(own, *other.args[1:]), type=v.type)
    if isinstance(chosen, k.Op) and chosen.name == "select" and _bare(_arm(v, chosen.args[0], True)) != _bare(v):
        return _by_arms(v, own, theirs, chosen, mine, other, after)
    for a, b in (v.args, v.args[::-1]):
        for exponential in ("exp", "exp2"):
            ways = ((a, own, mine, other), (b, theirs, other, mine))
            if all(_is_scaled(e, x, m, n, after, chosen, exponential) for e, x, m, n in ways):
                return exponential
    return ""


def _is_scaled(e: k.Expr, value: k.Expr, m: k.Expr, n: k.Expr, after: k.Op, chosen: k.Expr, exponential: str) -> bool:
    """Whether ``e`` is ``value`` scaled from its own extremum m to that of both, m and n."""

    return _bare(_scale(e, value)) in (_power(m, of, after.name, exponential) for of in (after, chosen))


def _power(m: k.Expr, of: k.Expr, extremum: str, exponential: str) -> k.Expr | None:
    """What a sum relative to m is multiplied by to be relative to another."""
    difference = k.Op("sub", (m, of) if extremum == "max" else (of, m), m.type)
    return _bare(k.Op(exponential, (difference,), m.type))


def _by_arms(v: k.Expr, own: k.Expr, theirs: k.Expr, chosen: k.Op, mine: k.Expr, other: k.Expr, after: k.Op) -> str:
    """The same where one condition chooses the extremum and, in whatever way, which half is scaled to it."""
    condition, first, _ = chosen.args
    ways = ((own, theirs, mine, other), (theirs, own, other, mine))  # as it is, scaled, to the extremum, from the other
    for exponential in ("exp", "exp2"):
        for holds, (kept, moved, top, low) in zip(
            (True, False), ways if _bare(first) == _bare(mine) else ways[::-1], strict=True
        ):
            e = _arm(v, condition, holds)
            if not isinstance(e, k.Op) or e.name != "add":
                break
            to = _power(low, top, after.name, exponential)
            pairs = (e.args, e.args[::-1])
            if not any(_bare(a) == _bare(kept) and _bare(_scale(b, moved)) == to for a, b in pairs):
                break
        else:
            return exponential
    return ""


def _arm(e: k.Expr, condition: k.Expr, holds: bool) -> k.Expr:
    """What ``e`` is where a condition holds, or where it does not."""
    plain = _bare(condition)

    def decided(x: object) -> k.Expr | None:
        if not isinstance(x, k.Op) or x.name != "select":
            return None
        inner = x.args[0].args[0] if isinstance(x.args[0], k.Op) and x.args[0].name == "not" else None
        if plain not in (_bare(x.args[0]), _bare(inner)):
            return None
        return _arm(x.args[1] if (_bare(x.args[0]) == plain) == holds else x.args[2], condition, holds)

    found: k.Expr = rewritten(e, decided)
    return found


def _scale(e: k.Expr, value: k.Expr) -> k.Expr | None:
    """What ``value`` is multiplied by."""
    if not isinstance(e, k.Op) or e.name != "mul":
        return None
    a, b = e.args
    return b if _bare(a) == _bare(value) else a if _bare(b) == _bare(value) else None


def _bare(e: k.Expr | None) -> k.Expr | None:
    """Without the places in the source, by which alike expressions differ."""
    return rewritten(e, lambda x: replace(x, span=None) if getattr(x, "span", None) is not None else None)


def scaled(cx: Context, before: State, st: State, found: Pairs) -> bool:
    """Puts the factors back into what the tree, run from ``before`` to ``st``, has become; False where its parts are
    not over the same lanes, or lanes may have met no element."""
    top = st.env.get(found.extremum)
    begun = before.env.get(found.extremum)
    asked = None if begun is None else met_elements(before, begun)
    if asked is None or any(decided(c) is False for c in asked):
        return False
    if not isinstance(top, eq.Reduce) or top.op != found.op:
        return False
    for name, exponential in found.sums.items():
        total = st.env.get(name)
        if not isinstance(total, eq.Reduce) or st.partial.get(name) != st.partial.get(found.extremum):
            return False
        made = rebased(total, top, exponential)
        if made is None:
            return False
        st.env[name] = made
        st.names[made] = replace(st.names[total], expr=made) if total in st.names else eq.Name(made, name)
    demand_elements(cx, asked)
    return True


__all__ = ["Pairs", "pairs", "scaled"]
