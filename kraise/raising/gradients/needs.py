"""When conditions, subscripts and integers need a value: the lanes in which what they say of it matters.

No derivative flows there, so nothing has to be made safe. But ``a or f(x) > 0`` asks for ``f(x)`` only where ``a`` does
not hold, as the source's own ``or`` does.
"""

from __future__ import annotations

from collections.abc import Callable

from kraise.ir.equations import ArgReduce, CarryIn, Expr, Op, Reduce, Scan
from kraise.ir.walk import axes_of, children, topological
from kraise.raising.gradients.conditions import NEVER, Conditions, Demand

Uses = list[tuple[Expr, Demand]]


def asked(conditions: Conditions, roots: Uses, wanted: Callable[[Expr], bool]) -> dict[Expr, Demand]:
    """The wanted nodes below the roots, each with the condition under which the roots, used as given, need it."""
    above: set[Expr] = set()  # nodes with a wanted one below, or wanted: nothing else is looked at
    for node in topological([root for root, _ in roots]):
        if wanted(node) or not above.isdisjoint(children(node)):
            above.add(node)
    found: dict[Expr, Demand] = {}
    seen: set[tuple[Expr, Demand]] = set()
    stack = [pair for pair in reversed(roots) if pair[0] in above]
    while stack:
        node, demand = pair = stack.pop()
        if pair in seen or demand == NEVER:
            continue
        seen.add(pair)
        if wanted(node):
            found[node] = conditions.either(found.get(node, NEVER), demand)
        stack += _below(conditions, node, demand, above)
    return found


def _below(conditions: Conditions, node: Expr, demand: Demand, above: set[Expr]) -> Uses:
    """The children that are in ``above``, each with the condition under which it matters."""
    below = [c for c in children(node) if c in above]
    match node:
        case Op(name="and" | "or" as name, args=(a, b)):
            if isinstance(b, CarryIn):
                a, b = b, a  # a flag decides: it says nothing of the rest that would have to be asked first
            out = [(a, demand)] if a in above else []
            return [*out, (b, conditions.narrow(demand, a, name == "and"))] if b in above else out
        case Op(name="select", args=(c, *arms)):
            out = [(c, demand)] if c in above else []
            pairs = zip(arms, (True, False), strict=True)
            return out + [(e, conditions.narrow(demand, c, holds)) for e, holds in pairs if e in above]
        case Reduce() | Scan() | ArgReduce() if below:
            hidden = {a.name for a in axes_of(node)}  # an index of that name outside is another one
            inner = conditions.weaken(demand, lambda lit: not conditions.free(lit) & hidden)
            where = node.where if isinstance(node, Reduce) else None
            body = conditions.narrow(inner, where) if where is not None and node.body in above else inner
            return [(c, body if c is node.body and c is not where else inner) for c in below]
    return [(c, demand) for c in below]


def within(narrow: Demand, wide: Demand) -> bool:
    """Whether the wide demand plainly holds wherever the narrow one does."""
    return all(any(w <= c for w in wide) for c in narrow)
