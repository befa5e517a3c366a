"""Loads that a mask keeps inside their array become loads that find zeros outside of it (raising.md, step 6).

``x[i - 1] if i > 0 else 0`` is a slice of ``jnp.pad(x, (1, 0))``: no index arrays, no mask, and a gradient that is a
slice again. A load gets the extents beyond which it finds zeros where, wherever it is used, the masks around it say
that it stays below them (or the range of its indices does). Then a mask goes where all that it excludes is such a zero:
factors that are the same in other lanes may stand beside the load, what they are multiplied with is zero now instead of
left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.emit import tree, windows
from kraise.emit.linear import Linear, linear, nonnegative
from kraise.emit.masks import Masks, conjuncts, is_static, negated, number, positive, zero
from kraise.emit.views import expression
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, INT32

Ranges = dict[str, eq.Axis]


def padded(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with its masked loads as loads that find zeros outside, and without the masks that say so."""
    roots = [r for s in tree.statements(kernel.body) for r in tree.statement_roots(s)]
    if not any(isinstance(n, eq.Read) and n.safe for n in tree.walk(*roots)):
        return kernel
    kept: set[eq.Reduce] = set()  # windows whose masks do not go term by term
    while True:
        terms = _Terms(kept)
        wide = _mapped(kernel, terms.expression)
        rule = _Rule(_Places(wide).outside())
        done = _mapped(wide, rule.expression)
        left = {node for node, masks in terms.made.items() if any(rule.stays(m) for m in masks)}
        if not left:
            wishes = {n.expr: n for n in kernel.names}
            changed = [(old, rule.memo.get(new, new)) for old, new in terms.memo.items()]
            names = [replace(wishes[old], expr=new) for old, new in changed if old is not new and old in wishes]
            return replace(done, names=(*kernel.names, *dict.fromkeys(names)))
        kept |= left


def _mapped(kernel: eq.Kernel, fn) -> eq.Kernel:  # type: ignore[no-untyped-def]
    def statement(s: eq.Stmt) -> eq.Stmt:
        match s:
            case eq.Write(value=value, where=where):
                return replace(s, value=fn(value), where=None if where is None else fn(where))
            case eq.Fold():
                return replace(
                    s,
                    scalars=tuple(replace(c, init=fn(c.init), update=fn(c.update)) for c in s.scalars),
                    outputs=tuple(replace(o, value=fn(o.value)) for o in s.outputs),
                    body=tuple(map(statement, s.body)),
                )
        return s

    return replace(kernel, body=tuple(map(statement, kernel.body)))


# --- windows -----------------------------------------------------------------------------------


class _Terms:
    """Sums over short windows with a mask as sums of masked terms."""

    def __init__(self, kept: set[eq.Reduce]):
        self.kept = kept
        self.free = tree.Free()
        self.memo: dict[eq.Expr, eq.Expr] = {}
        self.made: dict[eq.Reduce, tuple[eq.Expr, ...]] = {}

    def expression(self, node: eq.Expr) -> eq.Expr:
        found = self.memo.get(node)
        if found is None:
            found = tree.rebuilt(node, {c: self.expression(c) for c in tree.children(node)})
            if isinstance(node, eq.Reduce) and isinstance(found, eq.Reduce) and node not in self.kept:
                found = self._terms(node, found)
            self.memo[node] = found
        return found

    def _terms(self, old: eq.Reduce, node: eq.Reduce) -> eq.Expr:
        chain = windows.terms(node, self.free) if node.op == "add" else None
        if not chain or not any(isinstance(n, eq.Read) and n.safe for n in tree.walk(node.body)):
            return node
        parts = [b if m is None else eq.Op("select", (m, b, eq.Const(0, INT)), b.type) for b, m in chain]
        self.made[old] = tuple(p for p, (_, m) in zip(parts, chain, strict=True) if m is not None)
        total = parts[0]
        for part in parts[1:]:
            total = eq.Op("add", (total, part), node.type)
        return total


# --- where loads go ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    """What a subscript may be over the ranges of its indices: from ``start`` to before ``stop``."""

    form: Linear
    start: Linear
    stop: Linear
    indices: frozenset[str]


def side(subscript: eq.Expr, ranges: Ranges) -> Side | None:
    """The values of a subscript that is a sum of indices of known ranges and of sizes, else None."""
    form = number(linear(subscript))
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
            case _ if is_static(atom):
                start, stop = start + Linear(((atom, c),)), stop + Linear(((atom, c),))
            case _:
                return None
    return Side(form, number(start), number(stop), frozenset(names))


@dataclass
class _Load:
    """A safe load: its subscripts, for each the limits that masks set wherever it is used, and those of these and of
    the ends of its range that the source reaches somewhere."""

    sides: tuple[Side, ...]
    limits: list[list[Linear]]
    reached: list[list[Linear]]


class _Places:
    """The safe loads of a kernel, with the masks and ranges under which they are used."""

    def __init__(self, kernel: eq.Kernel):
        self.free = tree.Free()
        self.own = {s.version.array: s.shape for s in tree.statements(kernel.body) if isinstance(s, eq.New)}
        self.loads: dict[eq.Read, _Load | None] = {}
        self.seen: set[tuple[eq.Expr, Masks, tuple[tuple[str, eq.Axis], ...]]] = set()
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
        stack = [(root, masks, ranges)]
        while stack:
            node, over, known = stack.pop()
            key = (node, over, tuple(known.items()))
            if key in self.seen:
                continue
            self.seen.add(key)
            match node:
                case eq.Op(name="select", args=(c, a, b)):
                    stack.append((c, over, known))
                    stack.append((a, _more(over, conjuncts(c)), known))
                    stack.append((b, _more(over, conjuncts(negated(c))), known))
                    continue
                case eq.Op(name="and", args=(a, b)):
                    stack += [(a, over, known), (b, _more(over, conjuncts(a)), known)]
                    continue
                case eq.Reduce(where=where) | eq.ArgReduce(where=where):
                    own = tree.axes_of(node)
                    known = known | _ranges(own)
                    over = self._hidden(over, own)
                    if where is not None:
                        stack.append((where, over, known))
                        over = _more(over, conjuncts(where))
                    stack.append((node.body, over, known))
                    continue
                case eq.Scan(axis=axis):
                    over = self._hidden(over, (axis,))  # what comes before in the scan is another point
                case eq.Read(safe=True):
                    self._load(node, over, known)
            stack += [(c, over, known) for c in tree.children(node)]

    def _hidden(self, masks: Masks, axes: tuple[eq.Axis, ...]) -> Masks:
        """The masks that do not speak of indices that are bound anew."""
        names = {a.name for a in axes}
        return tuple(m for m in masks if not self.free(m) & names)

    def _load(self, node: eq.Read, masks: Masks, ranges: Ranges) -> None:
        sides = tuple(x for s in node.subscripts if (x := side(s, ranges)) is not None)
        apart = sum(len(x.indices) for x in sides) == len(frozenset().union(*(x.indices for x in sides)))
        if len(sides) < len(node.subscripts) or not apart:
            self.loads[node] = None
            return
        limits, reached = [], []
        for x in sides:
            tops = [form + x.form + 1 for m in masks for form in positive(m)] if x.indices else []
            limits.append([t for t in tops if all(is_static(a) for a, _ in t.terms)])
            ends = (*limits[-1], x.stop) if all(map(positive, masks)) else limits[-1]  # data may keep it from the end
            reached.append([t for t in ends if x.indices and _touched(t, x, masks)])
        before = self.loads.setdefault(node, _Load(sides, limits, []))
        if before is None or before.sides != sides:
            self.loads[node] = None
            return
        before.limits = [
            [a for a in old if any(a.same(b) for b in new)] for old, new in zip(before.limits, limits, strict=True)
        ]
        before.reached = [x + y for x, y in zip(before.reached or [[] for _ in sides], reached, strict=True)]

    def extent(self, node: eq.Read, at: int) -> Linear:
        """The extent of one axis of what is read."""
        if node.view:
            return linear(node.view[at])
        own = self.own.get(node.version.array)
        return linear(own[at]) if own else linear(eq.Shape(node.version.array, at, INT32))

    def outside(self) -> dict[eq.Read, tuple[eq.Outside | None, ...]]:
        """Where each load finds zeros, for those that can be loads of a padded array."""
        chosen: dict[eq.Read, list[Linear]] = {}
        for node, load in self.loads.items():
            best = None if load is None else self._chosen(node, load)
            if best is not None:
                chosen[node] = best
        found: dict[eq.Read, tuple[eq.Outside | None, ...]] = {}
        for node, limits in chosen.items():
            alike = [o for n, o in chosen.items() if n.version is node.version and n.view == node.view]
            load = self.loads[node]
            assert load is not None
            parts = [
                _outside(x, self._common(x, limit, [o[at] for o in alike])) if x.indices else None
                for at, (x, limit) in enumerate(zip(load.sides, limits, strict=True))
            ]
            if any(parts) and None not in (p for p, x in zip(parts, load.sides, strict=True) if x.indices):
                found[node] = tuple(parts)
        return found

    def _chosen(self, node: eq.Read, load: _Load) -> list[Linear] | None:
        """One limit for each axis, or None: what the masks say, else the array's extent, else where the range ends."""
        out: list[Linear] = []
        for at, (x, limits, reached) in enumerate(zip(load.sides, load.limits, load.reached, strict=True)):
            extent = self.extent(node, at)
            best = extent if not x.indices or not (x.stop - extent).terms else None
            for limit in limits:
                gap = None if best is None else best - limit
                known = not (extent - limit).terms or any(r.same(limit) for r in reached)
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


def _outside(x: Side, limit: Linear) -> eq.Outside | None:
    before, after = -x.start, x.stop - limit
    if before.terms and nonnegative(x.start):
        before = Linear()
    if not after.terms:
        after = Linear((), max(after.constant, 0))
    if not before.terms:
        before = Linear((), max(before.constant, 0))
    if any(isinstance(a, eq.Shape | eq.Param) and c < 0 for part in (before, after) for a, c in part.terms):
        return None  # a width that nothing shows to be one
    if len(before.terms) > 2 or len(after.terms) > 2:
        return None
    return eq.Outside(expression(before), expression(limit), expression(after))


def _touched(limit: Linear, x: Side, masks: Masks) -> bool:
    """Whether no mask keeps a subscript of one index from the last place before the limit (at large enough sizes)."""
    if len(x.indices) > 1:
        return True
    (name,) = x.indices
    for m in masks:
        for form in positive(m):
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


def _more(masks: Masks, others: Masks) -> Masks:
    return tuple(dict.fromkeys((*masks, *others)))


def _ranges(axes: tuple[eq.Axis, ...]) -> Ranges:
    return {a.name: a for a in axes}


# --- what a mask leaves out ----------------------------------------------------------------------


class _Rule:
    """Rewrites loads to ``outside``, and masks away."""

    def __init__(self, outside: dict[eq.Read, tuple[eq.Outside | None, ...]]):
        self.outside = outside
        self.free = tree.Free()
        self.memo: dict[eq.Expr, eq.Expr] = {}

    def stays(self, select: eq.Expr) -> bool:
        """Whether a mask over a term of a window is still there."""
        return isinstance(self.memo.get(select, select), eq.Op) and self.memo.get(select) is self._kept(select)

    def _kept(self, node: eq.Expr) -> eq.Expr:
        return tree.rebuilt(node, {c: self.expression(c) for c in tree.children(node)})

    def expression(self, node: eq.Expr) -> eq.Expr:
        """``node`` with its loads and masks rewritten."""
        found = self.memo.get(node)
        if found is None:
            found = self.memo[node] = self._one(node, self._kept(node))
        return found

    def _one(self, node: eq.Expr, out: eq.Expr) -> eq.Expr:
        match node, out:
            case eq.Read(), eq.Read() if node in self.outside:
                return replace(out, outside=self.outside[node])
            case eq.Op(name="select", args=(c, a, b)), eq.Op(args=(_, then, orelse)):
                return self._select(node, (c, a, b), then, orelse) or out
            case eq.Reduce(op="add", where=where), eq.Reduce() if where is not None:
                left = [m for m in conjuncts(where) if not self._vanishes(out.body, m)]
                if len(left) < len(conjuncts(where)):
                    return replace(out, where=_all(tuple(map(self.expression, left))))
        return out

    def _select(
        self, node: eq.Op, args: tuple[eq.Expr, eq.Expr, eq.Expr], then: eq.Expr, orelse: eq.Expr
    ) -> eq.Expr | None:
        c, a, b = args
        for over, value, new, other in (
            (conjuncts(c), a, then, b),
            (conjuncts(negated(c)), b, orelse, a),
        ):
            if zero(other) and _alike(new, node, other) and self.vanishes(new, over):
                return new
            match value, new:
                case eq.Op(name="add" | "sub" as name, args=(s, t), type=kind), eq.Op(name=same, args=(_, _) as now):
                    if same != name or kind != node.type or other not in (s, t) or (name == "sub" and s is not other):
                        continue
                    if self.vanishes(now[1] if s is other else now[0], over):
                        return new
        return None

    def vanishes(self, node: eq.Expr, masks: Masks) -> bool:
        """Whether ``node`` is zero wherever one of the masks does not hold."""
        return all(self._vanishes(node, m) for m in masks)

    def _vanishes(self, node: eq.Expr, mask: eq.Expr) -> bool:
        match node:
            case eq.Read(outside=outside) if outside:
                return _out(node, mask)
            case eq.Op(name="mul", args=(a, b)):
                return any(
                    self._vanishes(x, mask) and (self._vanishes(y, mask) or bool(self.free(mask) - self.free(y)))
                    for x, y in ((a, b), (b, a))
                )
            case eq.Op(name="add" | "sub", args=(a, b)):
                return all(zero(x) or self._vanishes(x, mask) for x in (a, b))
            case eq.Op(name="neg", args=(a,)) | eq.Cast(arg=a):
                return self._vanishes(a, mask)
            case eq.Op(name="div", args=(a, eq.Const(value=value))):
                return value != 0 and self._vanishes(a, mask)
            case eq.Op(name="select", args=(_, a, b)):
                return all(zero(x) or self._vanishes(x, mask) for x in (a, b))
            case eq.Reduce(op="add", axes=axes, body=body):
                return not self.free(mask) & {a.name for a in axes} and self._vanishes(body, mask)
        return False


def _alike(new: eq.Expr, node: eq.Op, other: eq.Expr) -> bool:
    """Whether a value has the type of the choice that it stands for, whose other arm was ``other``."""
    return new.type == node.type or (isinstance(other, eq.Const) and isinstance(other.value, int))


def _out(node: eq.Read, mask: eq.Expr) -> bool:
    """Whether a load is outside, on one axis, wherever the mask does not hold."""
    forms = positive(mask)
    if len(forms) != 1:
        return False
    for s, part in zip(node.subscripts, node.outside, strict=True):
        if part is None:
            continue
        place = number(linear(s))
        for inside in (place, number(linear(part.limit)) - place + -1):
            gap = forms[0] - inside  # the mask fails: forms[0] <= -1, and then inside <= -1, too
            if not gap.terms and gap.constant >= 0:
                return True
    return False


def _all(masks: Masks) -> eq.Expr | None:
    out: eq.Expr | None = None
    for m in masks:
        out = m if out is None else eq.Op("and", (out, m), BOOL)
    return out
