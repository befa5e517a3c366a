"""What an inner loop adds up, as a sum of its own (Kernel IR to Kernel IR).

``for dx in range(-1, 2): … for k in range(start[c], start[c + 1]): s += w`` is ``t = 0; for k …: t += w; s += t``: the
rounds of the outer loop, few as they are, then have nothing to do with each other but for a sum, and go through their
rows at once. The side conditions: the inner loop only adds to the local, and the rounds of the outer one are a few.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.raising.loops.accumulators import combined
from kraise.raising.loops.unrolled import maybe
from kraise.raising.run.liveness import assigned

_FEW = 32  # rounds of the outer loop: each is a lane


def partial_sums(stmts: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``stmts`` with sums of their own in loops within loops of a few rounds; the same if there are none."""
    taken = {x.name for x in walked(stmts) if isinstance(x, k.Var | k.Assign)}

    def outer(x: object) -> object | None:
        if not isinstance(x, k.For) or _rounds(x) > _FEW:
            return None
        body = tuple(rewritten(x.body, inner))
        return x if body == x.body else replace(x, body=body)

    def inner(x: object) -> object | None:
        if isinstance(x, k.For) and 0 < _rounds(x) <= _FEW:
            return None
        if not isinstance(x, k.For | k.While):
            return None
        names = [n for n in dict.fromkeys(assigned(x.body)) if _only_added(n, x)]
        if not names or x.orelse:
            return x
        own = {n: _fresh(n, taken) for n in names}
        kinds = {a.name: a.type for a in walked(x.body) if isinstance(a, k.Assign) and a.name in own}

        def named(y: object) -> object | None:
            if isinstance(y, k.Var) and y.name in own:
                return replace(y, name=own[y.name])
            if isinstance(y, k.Assign) and y.name in own:
                return replace(y, name=own[y.name], value=rewritten(y.value, named))
            return None

        zero = {n: k.Const(0 if t.is_integer else 0.0, t) for n, t in kinds.items()}
        before = tuple(k.Assign(own[n], zero[n], kinds[n], span=x.span) for n in names)
        after = tuple(
            k.Assign(n, k.Op("add", (k.Var(n, kinds[n]), k.Var(own[n], kinds[n])), kinds[n]), kinds[n], span=x.span)
            for n in names
        )
        return (*before, replace(x, body=rewritten(x.body, named)), *after)

    return rewritten(stmts, outer)  # type: ignore[no-any-return]


def _rounds(s: k.For) -> int:
    """How many rounds a loop has, if numbers say; more than a few where they do not."""
    first, last, step = (maybe(e, {}) for e in (s.start, s.stop, s.step))
    return len(range(first, last, step)) if None not in (first, last, step) and step else _FEW + 1  # type: ignore[arg-type]


def _only_added(name: str, loop: k.For | k.While) -> bool:
    """Whether a loop does nothing with a local but add to it."""
    adds = [x for x in walked(loop.body) if isinstance(x, k.Assign) and x.name == name]
    uses = [x for x in walked((loop,)) if isinstance(x, k.Var) and x.name == name]
    sums = all((c := combined(name, a.value)) is not None and c[0] == "add" for a in adds)
    return bool(adds) and sums and len(uses) == len(adds) and adds[0].type.kind not in ("bool", "uint")


def _fresh(name: str, taken: set[str]) -> str:
    own = f"{name}_part"
    while own in taken:
        own += "_"
    taken.add(own)
    return own


__all__ = ["partial_sums"]
