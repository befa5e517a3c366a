"""Where the masked loads of a kernel go: the values of their subscripts, and the limits that hold wherever they are
used."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from kraise.emit import tree
from kraise.emit.loads.filled import Filled, by_launch, of_places
from kraise.emit.loads.masks import Masks, conjuncts, is_static, negated, number, positive, power
from kraise.emit.loads.views import expression
from kraise.emit.text.linear import Linear, linear, nonnegative, rounds_up
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, INT32
from kraise.ir.walk import topological

Ranges = dict[str, eq.Axis]
ZERO = eq.Const(0, INT)
_MOST_WAYS = 16  # sets of masks under which a value is looked at; a chain of n branches has 2**n
_SOME: Masks = (eq.Const(True, BOOL),)  # masks of which nothing is known: they bound nothing, and show no place reached


@dataclass(frozen=True)
class Side:
    """What a subscript may be over the ranges of its indices: from ``start`` to before ``stop``."""

    form: Linear
    start: Linear
    stop: Linear
    indices: frozenset[str]


def side(subscript: eq.Expr, ranges: Ranges, free: tree.Free) -> Side | None:
    """The values of a subscript that is a sum of indices of known ranges and of sizes (or holds none of them), else
    None."""
    form = number(linear(subscript))
    if not free(subscript) & ranges.keys():
        return Side(form, form, form + 1, frozenset())
    start, stop = Linear((), form.constant), Linear((), form.constant + 1)
    names: set[str] = set()
    for atom, c in form.terms:
        match atom:
            case eq.Index(name=name) if name in ranges:
                axis = ranges[name]
                if axis.step != 1:
                    return None
                names.add(name)
                ends = linear(axis.lo).times(c), (linear(axis.hi) + -1).times(c)
                start, stop = start + ends[c < 0], stop + ends[c > 0]
            case eq.Op(name="mul", args=(eq.Index(name=name), size)) if name in ranges and c == 1 and is_static(size):
                axis = ranges[name]  # the first cell of a block
                if axis.step != 1 or not linear(axis.lo).same(Linear()):
                    return None
                names.add(name)
                stop = stop + linear(eq.Op("mul", (axis.hi, size), INT)) - linear(size)
            case eq.Op(name="shl") if (name := power(atom)) in ranges:
                axis = ranges[name]  # 1, 2, 4 ... as long as they are no more than some size
                if axis.step != 1 or not linear(axis.lo).same(Linear()) or not _bits(axis.hi):
                    return None
                names.add(name)
                ends = Linear((), c), linear(axis.hi.args[0]).times(c)  # type: ignore[union-attr]
                start, stop = start + ends[c < 0], stop + ends[c > 0]
            case _ if is_static(atom):
                start, stop = start + Linear(((atom, c),)), stop + Linear(((atom, c),))
            case _:
                return None
    return Side(form, number(start), number(stop), frozenset(names))


def _bits(size: eq.Expr) -> bool:
    return isinstance(size, eq.Op) and size.name == "bit_length"


def made(kernel: eq.Kernel) -> dict[str, tuple[eq.Expr, ...]]:
    """The shapes of the arrays that a kernel makes."""
    return {s.version.array: s.shape for s in tree.statements(kernel.body) if isinstance(s, eq.New)}


def extent(own: dict[str, tuple[eq.Expr, ...]], node: eq.Read, at: int) -> Linear:
    """The extent of one axis of what is read; ``own`` as of :func:`made`."""
    if node.view:
        return linear(node.view[at])
    array = node.version.array
    return linear(own[array][at] if own.get(array) else eq.Shape(array, at, INT32))


def _beside_end(mask: eq.Expr, ranges: Ranges) -> eq.Expr:
    """``i != 0`` as ``i > 0`` where no i is smaller, and ``i != n - 1`` as ``i < n - 1`` where none is greater."""
    match mask:
        case eq.Op(name="ne", args=(eq.Index(name=name) as i, end)) if name in ranges and ranges[name].step == 1:
            at = linear(end)
            if at.same(linear(ranges[name].lo)):
                return eq.Op("gt", (i, end), BOOL)
            if (at + 1).same(linear(ranges[name].hi)):
                return eq.Op("lt", (i, end), BOOL)
    return mask


@dataclass
class _Load:
    """A safe load: its subscripts, for each the limits that masks set wherever it is used, those of these and of the
    ends of its range that the source reaches somewhere, and whether a mask asks that it be not negative: an offset may
    be, then."""

    sides: tuple[Side, ...]
    limits: list[list[Linear]]
    reached: list[list[Linear]]
    asked: list[bool]


class Places:
    """The safe loads of a kernel, with the masks and ranges under which they are used."""

    def __init__(self, kernel: eq.Kernel):
        self.free = tree.Free()
        self.own = made(kernel)
        roots = (r for s in tree.statements(kernel.body) for r in tree.statement_roots(s))
        pools = (n for n in tree.walk(*roots) if isinstance(n, eq.ArgReduce) or _is_pool(n))
        self.pooled = {n for n in tree.walk(*pools) if isinstance(n, eq.Read)}  # see kraise.emit.sums.pooling
        self.loads: dict[eq.Read, _Load | None] = {}
        self.filled = Filled()
        self.above: dict[eq.Expr, bool] = {}  # whether a safe load lies at or below a node
        self.data: dict[frozenset[str], eq.Expr] = {}  # one mask of data for all that speak of the same indices
        self.plain: dict[eq.Expr, eq.Expr] = {}
        self.known: dict[eq.Expr, tuple[Linear, ...]] = {}
        self.seen: set[tuple[eq.Expr, Masks, tuple[tuple[str, eq.Axis], ...]]] = set()
        self.ways: Counter[tuple[eq.Expr, tuple[tuple[str, eq.Axis], ...]]] = Counter()
        self.body(kernel.body)

    def body(self, body: tuple[eq.Stmt, ...]) -> None:
        """Collects the loads of statements."""
        for s in body:
            match s:
                case eq.Write(axes=axes, value=value, where=where):
                    self.visit(value, () if where is None else conjuncts(where), _ranges(axes))
                    if where is not None:
                        self.visit(where, (), _ranges(axes))
                case eq.Fold(scalars=scalars, outputs=outputs, condition=condition):
                    for c in scalars:
                        self.visit(c.init, (), _ranges(c.axes))
                        self.visit(c.update, (), _ranges(c.axes))
                    for o in outputs:
                        self.visit(o.value, (), _ranges(o.axes))
                    if condition is not None:
                        self.visit(condition, (), {})
                    self.body(s.body)

    def visit(self, root: eq.Expr, masks: Masks, ranges: Ranges) -> None:
        """Collects the loads below ``root``."""
        for below in topological((root,), tree.children):
            if below not in self.above:
                self.above[below] = _is_safe(below) or any(self.above[c] for c in tree.children(below))
        stack = [(root, self._alike(masks), ranges)]
        while stack:
            node, over, known = stack.pop()
            if not self.above[node]:
                continue
            axes = tuple(known.items())
            self.ways[node, axes] += (node, over, axes) not in self.seen
            if self.ways[node, axes] > _MOST_WAYS:
                over = _SOME
            key = (node, over, axes)
            if key in self.seen:
                continue
            self.seen.add(key)
            match node:
                case eq.Op(name="select", args=(c, a, b)):
                    stack.append((c, over, known))
                    stack.append((a, self._more(over, conjuncts(c), known), known))
                    stack.append((b, self._more(over, conjuncts(negated(c)), known), known))
                    continue
                case eq.Op(name="and", args=(a, b)):
                    stack += [(a, over, known), (b, self._more(over, conjuncts(a), known), known)]
                    continue
                case eq.Op(name="or", args=(a, b)):
                    stack += [(a, over, known), (b, self._more(over, conjuncts(negated(a)), known), known)]
                    continue
                case eq.Reduce(where=where) | eq.ArgReduce(where=where):
                    own = tree.axes_of(node)
                    known = known | _ranges(own)
                    over = self._hidden(over, own)
                    if where is not None:
                        stack.append((where, over, known))
                        over = self._more(over, conjuncts(where), known)
                    stack.append((node.body, over, known))
                    continue
                case eq.Scan(axis=axis):
                    over = self._hidden(over, (axis,))  # what comes before in the scan is another point
                case eq.Read(safe=True, view=view):
                    self.filled.see(node, over, known)
                    if not by_launch(view[1:]):
                        self._load(node, over, known)
            stack += [(c, over, known) for c in tree.children(node)]

    def _more(self, masks: Masks, others: Masks, ranges: Ranges) -> Masks:
        return tuple(dict.fromkeys((*masks, *self._alike(tuple(_beside_end(m, ranges) for m in others)))))

    def _alike(self, masks: Masks) -> Masks:
        """Masks that bound nothing but say that there is one: of those over the same indices one is enough, whichever.
        A load behind many branches has few sets of masks then, not one for each way to it."""
        for m in masks:
            if m not in self.plain:
                self.plain[m] = m if self.bounds(m) or of_places(m) else self.data.setdefault(self.free(m), m)
        return tuple(dict.fromkeys(self.plain[m] for m in masks))

    def bounds(self, mask: eq.Expr) -> tuple[Linear, ...]:
        """:func:`kraise.emit.loads.masks.positive`, remembered."""
        found = self.known.get(mask)
        if found is None:
            found = self.known[mask] = positive(mask)
        return found

    def _hidden(self, masks: Masks, axes: tuple[eq.Axis, ...]) -> Masks:
        """The masks that do not speak of indices that are bound anew."""
        names = {a.name for a in axes}
        return tuple(m for m in masks if not self.free(m) & names)

    def _load(self, node: eq.Read, masks: Masks, ranges: Ranges) -> None:
        sides = tuple(x for s in node.subscripts if (x := side(s, ranges, self.free)) is not None)
        apart = sum(len(x.indices) for x in sides) == len(frozenset().union(*(x.indices for x in sides)))
        if len(sides) < len(node.subscripts) or not apart:
            self.loads[node] = None
            return
        limits, reached, asked = [], [], []
        for x in sides:
            asked.append(any(form.same(x.form) for m in masks for form in self.bounds(m)))
            tops = [form + x.form + 1 for m in masks for form in self.bounds(m)] if x.indices else []
            limits.append([t for t in tops if all(is_static(a) for a, _ in t.terms)])
            # data may keep it from the end, and a guard that is not seen here the lanes that only fill the last block
            seen = all(map(self.bounds, masks))
            told = seen and not by_launch((expression(x.stop),))
            told = told and (
                all(isinstance(a, _SIZES) for a, _ in x.stop.terms) or (bool(masks) and len(x.indices) == 1)
            )
            ends = (*limits[-1], x.stop) if told else limits[-1] if seen else ()
            reached.append([t for t in ends if x.indices and self._touched(t, x, masks)])
        before = self.loads.setdefault(node, _Load(sides, limits, [], asked))
        if before is None or before.sides != sides:
            self.loads[node] = None
            return
        before.asked = [a and b for a, b in zip(before.asked, asked, strict=True)]
        before.limits = [
            [a for a in old if any(a.same(b) for b in new)] for old, new in zip(before.limits, limits, strict=True)
        ]
        before.reached = [x + y for x, y in zip(before.reached or [[] for _ in sides], reached, strict=True)]

    def limits(self) -> dict[eq.Read, eq.Read]:
        """The loads by block and thread that find zeros from some flat position on."""
        found = self.filled.found()
        limited = {node: (rows, eq.Outside(ZERO, top, ZERO)) for node, rows, top in found}
        return {n: replace(n, subscripts=r[0], view=r[1], limit=top) for n, (r, top) in limited.items()}

    def outside(self) -> dict[eq.Read, tuple[eq.Outside | None, ...]]:
        """Where each load finds zeros, for those that can be loads of a padded array."""
        chosen: dict[eq.Read, list[Linear]] = {}
        shown: defaultdict[tuple[object, ...], list[Linear]] = defaultdict(list)  # limits that some load reaches
        for node, load in self.loads.items():
            for at, reached in enumerate(() if load is None else load.reached):
                shown[node.version, node.view, at] += reached
        for node, load in self.loads.items():
            best = None if load is None else self._chosen(node, load, shown)
            if best is not None:
                chosen[node] = best
        found: dict[eq.Read, tuple[eq.Outside | None, ...]] = {}
        for node, limits in chosen.items():
            alike = [o for n, o in chosen.items() if n.version is node.version and n.view == node.view]
            load, summed = self.loads[node], node not in self.pooled
            assert load is not None
            parts = [
                _outside(x, self._common(x, limit, [o[at] for o in alike]), summed, load.asked[at])
                if x.indices
                else None
                for at, (x, limit) in enumerate(zip(load.sides, limits, strict=True))
            ]
            if any(parts) and None not in (p for p, x in zip(parts, load.sides, strict=True) if x.indices):
                found[node] = tuple(parts)
        return found

    def _chosen(
        self, node: eq.Read, load: _Load, shown: Mapping[tuple[object, ...], list[Linear]]
    ) -> list[Linear] | None:
        """One limit for each axis, or None: what the masks say, else the array's extent, else where the range ends."""
        out: list[Linear] = []
        for at, (x, limits, reached) in enumerate(zip(load.sides, load.limits, load.reached, strict=True)):
            size, elsewhere = extent(self.own, node, at), shown[node.version, node.view, at]
            best = size if not x.indices or not (x.stop - size).terms else None
            for limit in limits:
                gap = None if best is None else best - limit
                known = not (size - limit).terms or any(r.same(limit) for r in elsewhere)
                if not (size - limit).terms and (size - limit).constant < 0:
                    limit = size  # a mask that lets the load beyond its array is one of several
                if known and (gap is None or (not gap.terms and gap.constant > 0)):
                    best = limit
            if best is None and any(r.same(x.stop) for r in reached):
                best = x.stop
            if best is None:
                return None
            out.append(best)
        return out

    @staticmethod
    def _common(x: Side, limit: Linear, others: list[Linear]) -> Linear:
        """A larger limit of another load, which shows that the array reaches so far, where this one stops anyway."""
        if limit.same(x.stop):
            for other in others:
                gap = other - limit
                if not gap.terms and gap.constant > 0:
                    limit = other
        return limit

    def _touched(self, limit: Linear, x: Side, masks: Masks) -> bool:
        """Whether no mask keeps a subscript from the last place before the limit, sizes being large enough: of several
        indices those masks that bound this very sum of them."""
        for form in (f for m in masks for f in self.bounds(m)):
            if len(x.indices) > 1:
                value = form + x.form + 1 - limit  # where the place is before the limit that this mask sets
                if any(not is_static(a) for a, _ in value.terms):
                    continue
            else:
                (name,) = x.indices
                index = next((a for a, _ in form.terms if isinstance(a, eq.Index) and a.name == name), None)
                if index is None:
                    continue
                c, mine = form.coefficient(index), x.form.coefficient(index)
                if abs(mine) != 1:
                    return False
                value = form.without(index) + (limit + -1 - x.form.without(index)).times(c * mine)
            if (value.constant < 0 and not value.terms) or any(k < 0 for _, k in value.terms):
                return False
        return True


def _outside(x: Side, limit: Linear, summed: bool, asked: bool) -> eq.Outside | None:
    """How far a load leaves its array, None where that does not say how long the padded one is. Of the windows of a sum
    (``summed``) the padded array has a slice for each place, wherever the array ends. Of a place that the source
    ``asked`` not to be negative the offset may be: ``x[i + off]``."""
    before, after = -x.start, x.stop - limit
    params = bool(before.terms) and all(isinstance(a, eq.Param) and c < 0 for a, c in before.terms)
    if asked and params and len(x.indices) == 1 and not before.constant:
        rims = [expression(linear(eq.Op("max", (expression(w), ZERO), INT))) for w in (before, after)]
        return eq.Outside(rims[0], expression(limit), rims[1])
    if before.terms and nonnegative(x.start):
        before = Linear()
    if not after.terms:
        after = Linear((), max(after.constant, 0))
    if not before.terms:
        before = Linear((), max(before.constant, 0))
    if before.terms and not nonnegative(before):
        if len(x.indices) < 2:
            return None  # a width that nothing shows to be one: the load's place counts from it
        before = linear(eq.Op("max", (expression(before), ZERO), INT))  # a window, which is empty if it is none
    short = any(isinstance(a, eq.Shape | eq.Param) and c < 0 for a, c in after.terms) and not rounds_up(after)
    launched = by_launch((expression(x.stop),))  # which may be the smaller one
    if short and not (len(x.indices) == 2 and (summed or launched)):
        return None
    if short and not launched:
        after = linear(eq.Op("max", (expression(after), ZERO), INT))
    if len(before.terms) > 2 or len(after.terms) > 2:
        return None
    return eq.Outside(expression(before), expression(limit), expression(after))


_SIZES = (eq.Param, eq.Shape)


def _is_pool(node: eq.Expr) -> bool:
    return isinstance(node, eq.Reduce) and node.op in ("min", "max")


def _is_safe(node: eq.Expr) -> bool:
    return isinstance(node, eq.Read) and node.safe


def _ranges(axes: tuple[eq.Axis, ...]) -> Ranges:
    return {a.name: a for a in axes}
