"""Loops over the places ``ptr[i] <= k < ptr[i + 1]`` of all rows side by side count their rounds, to the longest row.

``while any_i(k < stop)`` with a ``k`` that each lane counts up by one asks all lanes in every round, and carries their
counters. The round's own number and the longest row say as much: ``k`` is ``start + round``, and a round runs while its
number is below the longest ``stop - start``.

Side conditions, each checked: a while loop that carries scalars alone; it runs while one lane has ``k < stop``, signed
numbers of which no round changes ``stop``; every other scalar stays as it is in a lane that is done; nothing reads
``k`` after the loop.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import map_statement, statement_expressions, statements, topological, transform


def counted(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such loops as ones that count."""
    names: list[eq.Name] = []
    memo: dict[eq.Expr, eq.Expr] = {}
    body: list[eq.Stmt] = []
    for s in kernel.body:
        found = _counted(kernel, s) if isinstance(s, eq.Fold) else None
        if found is not None:
            s, more, moved = found
            names += more
            memo |= moved
        body.append(s)
    if not names:
        return kernel

    def one(e: eq.Expr) -> eq.Expr:
        return transform(e, lambda n: memo.get(n, n))

    return replace(
        kernel,
        body=tuple(map_statement(s, one) for s in body),
        names=(*(replace(n, expr=one(n.expr)) for n in kernel.names), *names),
    )


def _counted(kernel: eq.Kernel, s: eq.Fold) -> tuple[eq.Fold, list[eq.Name], dict[eq.Expr, eq.Expr]] | None:
    """The loop over rounds, names for the longest row and a lane's place, and what stands for the carried ``k``."""
    match s:
        case eq.Fold(
            axis=None,
            arrays=(),
            body=(),
            outputs=(),
            condition=eq.Reduce(
                op="or", axes=lanes, body=eq.Op(name="lt", args=(eq.CarryIn(name=name) as k, stop)) as below, where=None
            ),
        ) if k.axes == lanes:
            pass
        case _:
            return None
    scalars = {c.name: c for c in s.scalars}
    own = scalars[name]
    more = eq.Op("add", (k, eq.Const(1, k.type)), k.type)
    signed = all(e.type.kind == "int" for e in (k, stop, own.init))  # no difference of these wraps
    if own.update != eq.Op("select", (below, more, k), k.type) or not signed:
        return None
    if any(isinstance(n, eq.CarryIn) for n in topological([stop, own.init])):
        return None
    others = [c for c in s.scalars if c is not own]
    for c in others:
        match c.update:
            case eq.Op(name="select", args=(mask, _, eq.CarryIn(name=kept))) if mask == below and kept == c.name:
                pass
            case _:
                return None
    after = [e for x in statements(kernel.body) if x is not s for e in statement_expressions(x)]
    after += [r for r in kernel.returns if not isinstance(r, eq.Version)]
    if any(isinstance(n, eq.FoldResult) and (n.fold, n.name) == (s.name, name) for n in topological(after)):
        return None
    round_ = eq.CarryIn(s.name, f"{name}.round", (), INT)
    length = eq.Op("sub", (stop, own.init), k.type)
    longest = eq.Reduce("max", lanes, length, None, k.type)
    count = eq.ScalarCarry(round_.name, (), eq.Const(0, INT), eq.Op("add", (round_, eq.Const(1, INT)), INT), INT)
    condition = eq.Op("lt", (round_, longest), BOOL)
    fold = replace(s, scalars=(*others, count), condition=condition)
    place = eq.Op("add", (own.init, round_), k.type)
    return fold, [eq.Name(longest, "longest"), eq.Name(place, name)], {k: place}


__all__ = ["counted"]
