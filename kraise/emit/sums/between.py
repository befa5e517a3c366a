"""What a cell and its neighbour both compute, each where it has that neighbour, is computed once for all pairs.

``pull[i] if i > 0`` and ``pull[i + 1] if i < n - 1`` of ``pull[i] = k * (x[i] - x[i - 1])`` become loads from an array
of the values between two cells, which finds zeros beyond its ends (:mod:`kraise.emit.loads.halo`): the masks go where
they leave out no more than that. (Measured on a chain of springs: 0.6 of the time.) The side conditions: each value is
used under conditions on the index alone, which bound it to a range, and somewhere under no others: so the source
computes it at each of these places. (Where no mask is in the way, :mod:`kraise.emit.sums.neighbours` does that.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraise.emit import tree
from kraise.emit.loads.masks import conjuncts, negated, number, positive
from kraise.emit.loads.views import expression
from kraise.emit.sums.neighbours import indices, linear_shift, of_several, placed, values
from kraise.emit.text.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import children, free_indices, substitute, topological

_MOST = 400  # nodes of a value that is looked through
_MOST_WAYS = 8  # sets of conditions under which a value is used

Way = frozenset[eq.Expr]
Bounds = tuple[Linear, Linear]


def between(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such values as arrays of their own."""
    together: dict[tuple[eq.Axis, ...], list[int]] = {}
    for at, s in enumerate(kernel.body):
        if isinstance(s, eq.Write) and not s.segments and not kernel.memory.limit:
            together.setdefault(s.axes, []).append(at)
    wishes = {n.expr: n.name for n in kernel.names}
    body = list(kernel.body)
    made: dict[int, list[eq.Stmt]] = {}
    for axes, places in together.items():
        for axis in axes:
            stores: list[eq.Write] = [body[at] for at in places]  # type: ignore[misc]
            for group, bounds in _groups(stores, axis):
                array = f"between {sum(map(len, made.values()))}.{wishes.get(group[max(group)], 'between')}"
                order = sorted(axes, key=lambda a: _last(stores[0].subscripts, a.name))
                loads, stmts = _array(array, order, axis, group, bounds)
                first = next(at for at, s in zip(places, stores, strict=True) if {*loads} & {*topological((s.value,))})
                made.setdefault(first, []).extend(stmts)
                for at, s in zip(places, stores, strict=True):
                    body[at] = replace(s, value=substitute(s.value, loads))
    return replace(kernel, body=tuple(s for at, own in enumerate(body) for s in (*made.get(at, ()), own)))


def _array(
    name: str, axes: list[eq.Axis], axis: eq.Axis, group: dict[int, eq.Expr], bounds: Bounds
) -> tuple[dict[eq.Expr, eq.Expr], list[eq.Stmt]]:
    """A load for each value of a group, and the statements that make what they load from."""
    at, node = max(group), group[max(group)]
    before, after = (eq.Version(name, k) for k in (0, 1))
    own = [a for a in axes if a.name in free_indices(node)]
    place = eq.Index(f"{axis.name} and the one before", INT)
    inside = substitute(node, dict.fromkeys(indices(node, axis.name), linear_shift(place, -at)))
    inside = substitute(inside, {n: replace(n, safe=False) for n in tree.walk(inside) if isinstance(n, eq.Read)})
    wide = eq.Axis(place.name, expression(bounds[0]), expression(bounds[1]))
    made = tuple(wide if a is axis else a for a in own)
    shape = tuple(expression(linear(a.hi) + linear(a.lo).times(-1)) for a in made)
    loads: dict[eq.Expr, eq.Expr] = {}
    for offset, value in group.items():
        subscripts = (_from(a, bounds[0] + -offset if a is axis else linear(a.lo)) for a in own)
        loads[value] = eq.Read(after, tuple(subscripts), value.type, safe=True)
    places = tuple(_from(a, linear(a.lo)) for a in made)
    return loads, [eq.New(before, node.type, shape), eq.Write(before, after, made, places, inside, covers=True)]


def _last(subscripts: tuple[eq.Expr, ...], name: str) -> int:
    return max((at for at, s in enumerate(subscripts) if name in free_indices(s)), default=-1)


def _from(axis: eq.Axis, first: Linear) -> eq.Expr:
    """An axis's index counted from a place."""
    return expression(number(linear(eq.Index(axis.name, INT)) + first.times(-1)))


def _groups(stores: list[eq.Write], axis: eq.Axis) -> Iterator[tuple[dict[int, eq.Expr], Bounds]]:
    """The values that are computed at two neighbouring places, by their offsets from the index, and where they are."""
    nodes = list(dict.fromkeys(n for s in stores for n in values(s.value)))
    if axis.step != 1 or len(nodes) > _MOST or not any(map(_leaves, nodes)):
        return
    groups: dict[eq.Expr, dict[int, eq.Expr]] = {}
    for node in nodes:
        found = placed(node, axis.name, masked=True) if isinstance(node, eq.Op) else None
        if found is not None:
            groups.setdefault(found[0], {})[found[1]] = node
    ways = _ways(stores)
    kept: list[tuple[dict[int, eq.Expr], Bounds]] = []
    for group in groups.values():
        if len(group) != 2 or max(group) - min(group) != 1 or len({n.type for n in group.values()}) > 1:
            continue
        if not all(of_several(n, set()) for n in group.values()) or not any(map(_leaves, topological(group.values()))):
            continue
        one, other = (_bounds(ways.get(node), axis, at) for at, node in group.items())
        if one is not None and other is not None and all(a.same(b) for a, b in zip(one, other, strict=True)):
            kept.append((group, one))
    tops = {n for group, _ in kept for n in group.values()}
    for group, bounds in kept:  # one that is used on its own, not only within larger ones; none that holds such a one
        if _alone(stores, {*group.values()}, tops) and not any(
            _alone(stores, {*g.values()}, tops) for g, _ in kept if g is not group and _within(g, group)
        ):
            yield group, bounds


def _within(small: dict[int, eq.Expr], large: dict[int, eq.Expr]) -> bool:
    return any(n in topological(large.values()) for n in small.values())


def _alone(stores: list[eq.Write], nodes: set[eq.Expr], tops: set[eq.Expr]) -> bool:
    """Whether a value is used elsewhere than within one larger one."""
    users = {p for s in stores for p in topological((s.value,)) if nodes & {*tree.children(p)}}
    return len(users) > 2 or not users <= tops or any(s.value in nodes for s in stores)


def _leaves(node: eq.Expr) -> bool:
    return isinstance(node, eq.Read) and node.safe


def _ways(stores: list[eq.Write]) -> dict[eq.Expr, set[Way] | None]:
    """The sets of conditions under which the parts of what is stored are used; None where these are too many."""
    found: dict[eq.Expr, set[Way] | None] = {}
    for s in stores:
        own: Way = frozenset() if s.where is None else frozenset(conjuncts(s.where))
        found[s.value] = (found.get(s.value) or set()) | {own}
    for node in reversed(topological(tuple(s.value for s in stores))):
        over = found[node]
        over = None if over is None else _united(over)
        if over is not None and len(over) > _MOST_WAYS:
            over = None
        found[node] = over
        for child, more in _parts(node):
            have = found.setdefault(child, set())
            found[child] = None if over is None or have is None else have | {w | more for w in over}
    return found


def _parts(node: eq.Expr) -> Iterator[tuple[eq.Expr, Way]]:
    match node:
        case eq.Op(name="select", args=(c, a, b)):
            yield c, frozenset()
            yield a, frozenset(conjuncts(c))
            yield b, frozenset(conjuncts(negated(c)))
        case eq.Op(name="and" | "or", args=args):
            for a in args[:1]:
                yield a, frozenset()
            for a in args[1:]:  # evaluated or not, as the first says
                yield a, frozenset((node,))
        case eq.Op() | eq.Cast():
            for a in children(node):
                yield a, frozenset()
        case _:  # of reductions and the like
            for a in children(node):
                yield a, frozenset((node,))


def _united(ways: set[Way]) -> set[Way]:
    """The ways without those that say no more than another, and two that differ by one condition and its negation as
    one."""
    while True:
        ways = {w for w in ways if not any(o < w for o in ways)}
        for a in ways:
            for m in a:
                other = (a - {m}) | frozenset(conjuncts(negated(m)))
                if other in ways and len(other) == len(a):
                    ways = (ways - {a, other}) | {a - {m}}
                    break
            else:
                continue
            break
        else:
            return ways


def _bounds(ways: set[Way] | None, axis: eq.Axis, at: int) -> Bounds | None:
    """The places at which a value is used, ``at`` from the index, if conditions on the index alone say so."""
    if ways is None or len(ways) != 1:
        return None
    lo, hi = linear(axis.lo), linear(axis.hi)
    for mask in next(iter(ways)):
        forms = positive(mask)
        if len(forms) != 1:
            return None
        form = forms[0]
        own = next((atom for atom, _ in form.terms if isinstance(atom, eq.Index)), None)
        if own is None or own.name != axis.name:
            return None
        c = form.coefficient(own)
        rest = form + linear(own).times(-c)
        if any(isinstance(atom, eq.Index) for atom, _ in rest.terms):
            return None
        if c == 1:  # index + rest >= 0
            start: Linear | None = _later(lo, rest.times(-1))
            stop: Linear | None = hi.times(-1)
        elif c == -1:
            start, stop = lo, _later(hi.times(-1), (rest + 1).times(-1))
        else:
            return None
        if start is None or stop is None:
            return None
        lo, hi = start, stop.times(-1)
    return number(lo + at), number(hi + at)


def _later(a: Linear, b: Linear) -> Linear | None:
    """The larger of two, where one surely is."""
    gap = number(b + a.times(-1))
    return None if gap.terms else b if gap.constant > 0 else a


__all__ = ["between"]
