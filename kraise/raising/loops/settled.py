"""Exits that need no flag: a search that has found what it looks for stays where it is.

In ``while lo <= hi: … if hit: found = 1; break …`` the round that leaves moves neither end. Were it run again, it would
do the same: a lane that is done needs no flag to keep its state, and what only such a round sets (``found``, the place)
is a function of the state that the rounds end with. All lanes are done then, so those whose condition still holds are
those that left.

The side conditions: the loop stores nothing; its condition beside the flag, and the exit, depend on nothing but what is
carried on and what no round changes; the round that leaves changes nothing that is carried on; what it sets no other
round sets or uses, and it is made of no load; the number of rounds suffices for every lane.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.analysis.conditions import conjuncts
from kraise.analysis.truth import follows
from kraise.ir import equations as eq
from kraise.ir.types import BOOL
from kraise.ir.walk import substitute, topological
from kraise.raising.loops.folds import FIRST, Folding
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.state import map_access

_UNLIKE, _LIKE = ("lt", "gt", "ne"), ("le", "ge", "eq")


@dataclass(frozen=True)
class Settled:
    """The flag, the condition that the lanes that left still meet, and what the round that leaves sets: by name, what
    it had before the loop and what it is set to."""

    flag: str
    left: eq.Expr
    latched: dict[str, tuple[eq.Expr, eq.Expr]]

    def results(self, fold: Folding) -> dict[str, eq.Expr]:
        """What the flag and the latched variables are behind the loop."""
        after: dict[eq.Expr, eq.Expr] = {}
        for name, node in fold.carries.items():
            own = fold.narrow[node]
            assert isinstance(own, eq.CarryIn)
            after[node] = eq.FoldResult(own.fold, name, own.axes, own.type)
        left = substitute(self.left, after)
        chosen = {n: simplify.select(left, substitute(x, after), init) for n, (init, x) in self.latched.items()}
        return {self.flag: left, **chosen}


def settled(fold: Folding, condition: eq.Expr) -> Settled | None:
    """Takes the flag of an exit, and what only the exit sets, out of a fold that has run and is not closed; None if it
    stays as it is."""
    flags = [n for n, c in fold.carries.items() if simplify.negation(c) in conjuncts(condition)]
    if len(flags) != 1 or fold.written or fold.raws or fold.inits[flags[0]] is not simplify.FALSE:
        return None
    (flag,) = flags
    up = fold.carries[flag]
    off: dict[eq.Expr, eq.Expr] = {up: simplify.FALSE, simplify.negation(up): simplify.TRUE}
    bare = {n: tidy(substitute(u, off)) for n, u in fold.bare.items()}
    leaves, goes_on = bare.pop(flag), simplify.conjunction(*(tidy(substitute(c, off)) for c in conjuncts(condition)))
    inside = _known(leaves)
    latched: dict[str, tuple[eq.Expr, eq.Expr]] = {}
    for n, u in bare.items():
        if _under(u, inside) is not fold.carries[n]:
            if not _set_only_where(u, fold.carries[n], leaves):
                return None
            latched[n] = fold.inits[n], _under(u, inside)
    stays = {n: u for n, u in bare.items() if n not in latched}
    gone = {up, *(fold.carries[n] for n in latched)}
    used = set(topological((goes_on, leaves, *stays.values(), *(x for _, x in latched.values()))))
    if gone & used or fold.index in used or fold.carries.get(FIRST) in used:
        return None
    if any(isinstance(x, eq.Read) for x in topological(tuple(x for _, x in latched.values()))):
        return None
    fold.bare = stays
    fold.updates = {n: simplify.select(goes_on, u, fold.carries[n], fold.carries[n].type) for n, u in stays.items()}
    fold.condition_uses = [goes_on]
    fold.carries = {n: c for n, c in fold.carries.items() if n in stays}
    at, inner = fold.accesses_from, fold.inner
    inner.accesses[at:] = [map_access(a, lambda e: tidy(substitute(e, off))) for a in inner.accesses[at:]]
    return Settled(flag, goes_on, latched)


def _set_only_where(update: eq.Expr, own: eq.CarryIn, leaves: eq.Expr) -> bool:
    """Whether rounds that do not leave keep the value."""
    match update:
        case eq.Op(name="select", args=(c, _, other)) if other is own:
            return follows((c,), leaves)
        case eq.Op(name="select", args=(c, other, _)) if other is own:
            return follows((simplify.negation(c),), leaves)
    return False


def _known(e: eq.Expr) -> dict[eq.Expr, eq.Expr]:
    """What is known of conditions where ``e`` holds."""
    out: dict[eq.Expr, eq.Expr] = {}
    for x in conjuncts(e):
        out |= {x: simplify.TRUE, simplify.negation(x): simplify.FALSE}
        match x:
            case eq.Op(name="not", args=(y,)):
                out[y] = simplify.FALSE
            case eq.Op(name="eq", args=(a, b)):
                for pair in ((a, b), (b, a)):
                    out |= {eq.Op(n, pair, BOOL): simplify.FALSE for n in _UNLIKE}
                    out |= {eq.Op(n, pair, BOOL): simplify.TRUE for n in _LIKE}
    return out


def _under(e: eq.Expr, known: dict[eq.Expr, eq.Expr]) -> eq.Expr:
    return tidy(substitute(e, known))
