"""Loads that a mask keeps inside their array become loads that find zeros outside of it (raising.md, step 6).

``x[i - 1] if i > 0 else 0`` is a slice of ``jnp.pad(x, (1, 0))``: no index arrays, no mask, and a gradient that is a
slice again. A load gets the extents beyond which it finds zeros where, wherever it is used, the masks around it say
that it stays below them (or the range of its indices does). Then a mask goes where all that it excludes is such a zero:
factors that are the same in other lanes may stand beside the load, what they are multiplied with is zero now instead of
left out.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from kraise.emit import tree
from kraise.emit.loads import filled, windows
from kraise.emit.loads.mapped import Axes, mapped, named
from kraise.emit.loads.masks import Masks, conjuncts, negated, number, positive, zero
from kraise.emit.loads.places import Places
from kraise.emit.loads.tables import Tables
from kraise.emit.text.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, FLOAT, INT, NUMBER
from kraise.ir.walk import topological

_ZERO = eq.Const(0, INT)


def padded(kernel: eq.Kernel, tables: Tables) -> eq.Kernel:
    """The kernel with its masked loads as loads that find zeros outside, and without the masks that say so."""
    roots = [r for s in tree.statements(kernel.body) for r in tree.statement_roots(s)]
    if not any(isinstance(n, eq.Read) and n.safe for n in tree.walk(*roots)):
        return kernel
    kept: set[eq.Reduce] = set()  # windows whose masks do not go term by term
    while True:
        terms = _Terms(kept, tables, _made(roots))
        wide = mapped(kernel, terms.expression)
        places = Places(wide)
        rule = _Rule(places.outside(), places.limits())
        done = mapped(wide, rule.expression)
        left = {node for node, masks in terms.made.items() if any(rule.stays(m) for m in masks)}
        if not left:
            return named(done, ((old, rule.memo.get(new, new)) for old, new in terms.memo.items()))
        kept |= left


# --- windows -----------------------------------------------------------------------------------


class _Terms:
    """Sums over short windows with a mask as sums of masked terms."""

    def __init__(self, kept: set[eq.Reduce], tables: Tables, made: Container[eq.Expr]):
        self.kept = kept
        self.tables = tables
        self.at_hand = made
        self.free = tree.Free()
        self.memo: dict[eq.Expr, eq.Expr] = {}
        self.made: dict[eq.Reduce, tuple[eq.Expr, ...]] = {}

    def expression(self, node: eq.Expr, axes: Axes = ()) -> eq.Expr:
        found = self.memo.get(node)
        if found is None:
            found = tree.rebuilt(node, {c: self.expression(c) for c in tree.children(node)})
            if isinstance(node, eq.Reduce) and isinstance(found, eq.Reduce) and node not in self.kept:
                found = self._terms(node, found)
            self.memo[node] = found
        return found

    def _terms(self, old: eq.Reduce, node: eq.Reduce) -> eq.Expr:
        chain = windows.terms(node, self.free, self.tables) if node.op == "add" else None
        if not chain or not any(isinstance(n, eq.Read) and n.safe for n in tree.walk(node.body)):
            return node
        names = {a.name for a in old.axes}
        if windows.at_hand(old.body, names, self.free, lambda n: isinstance(n, eq.Op) and n in self.at_hand):
            return node  # what all terms are made of is made for the whole window anyway
        parts = [b if m is None else eq.Op("select", (m, b, eq.Const(0, INT)), b.type) for b, m in chain]
        self.made[old] = tuple(p for p, (_, m) in zip(parts, chain, strict=True) if m is not None)
        total = parts[0]
        for part in parts[1:]:
            total = eq.Op("add", (total, part), node.type)
        return total


def _made(roots: list[eq.Expr]) -> set[eq.Expr]:
    """What stands outside of reductions: it is made over the axes of a store."""
    sums = eq.Reduce | eq.ArgReduce | eq.Scan
    return set(topological(roots, lambda n: () if isinstance(n, sums) else tree.children(n)))


# --- what a mask leaves out ----------------------------------------------------------------------


class _Rule:
    """Rewrites loads to ``outside``, and masks away."""

    def __init__(self, outside: dict[eq.Read, tuple[eq.Outside | None, ...]], limits: dict[eq.Read, eq.Read]):
        self.outside, self.limits = outside, limits
        self.free = tree.Free()
        self.memo: dict[eq.Expr, eq.Expr] = {}
        self.zero: dict[tuple[eq.Expr, eq.Expr], bool] = {}

    def stays(self, select: eq.Expr) -> bool:
        """Whether a mask over a term of a window is still there."""
        return isinstance(self.memo.get(select, select), eq.Op) and self.memo.get(select) is self._kept(select)

    def _kept(self, node: eq.Expr) -> eq.Expr:
        return tree.rebuilt(node, {c: self.expression(c) for c in tree.children(node)})

    def expression(self, node: eq.Expr, axes: Axes = ()) -> eq.Expr:
        """``node`` with its loads and masks rewritten."""
        found = self.memo.get(node)
        if found is None:
            found = self.memo[node] = self._one(node, self._kept(node))
        return found

    def _one(self, node: eq.Expr, out: eq.Expr) -> eq.Expr:
        match node, out:
            case eq.Read(), eq.Read() if node in self.limits:
                return self.limits[node]
            case eq.Read(), eq.Read() if node in self.outside:
                return replace(out, outside=self.outside[node])
            case eq.Op(name="select", args=(c, a, b)), eq.Op(args=(_, then, orelse)):
                return self._select(node, (c, a, b), then, orelse) or out
            case eq.Reduce(op="add", where=where), eq.Reduce() if where is not None:
                left = [m for m in conjuncts(where) if not self._vanishes(out.body, m)]
                if len(left) < len(conjuncts(where)):
                    return replace(out, where=_all(tuple(map(self.expression, left))))
            case eq.Reduce(op="min" | "max" as op, where=where, body=eq.Read()), eq.Reduce(body=eq.Read() as load):
                end = eq.Const(float("inf" if op == "min" else "-inf"), load.type)
                bounded = load.limit is not None or all(load.outside) and len(load.outside) > 1
                ends = where is not None and bounded and _holds_infinity(load)
                found = _ended(load, conjuncts(where), end) if ends else None  # type: ignore[arg-type]
                if found is not None:
                    return replace(out, body=found, where=None)
        return out

    def _select(
        self, node: eq.Op, args: tuple[eq.Expr, eq.Expr, eq.Expr], then: eq.Expr, orelse: eq.Expr
    ) -> eq.Expr | None:
        c, a, b = args
        for over, value, new, other in (
            (conjuncts(c), a, then, b),
            (conjuncts(negated(c)), b, orelse, a),
        ):
            if zero(other) and self.vanishes(new, over):
                return new if _alike(new, node, other) else eq.Cast(node.type, new)
            if isinstance(new, eq.Read) and _number(other, node) and _alike(new, node, other):
                # what another mask was left out for is not filled once more: ``7 if j < 0 else (-1 if j >= n else …)``
                fill = _ended if isinstance(value, eq.Read) else _other_end
                if (ended := fill(new, over, other)) is not None:
                    return ended
            match value, new:
                case eq.Op(name="add" | "sub" as name, args=(s, t), type=kind), eq.Op(name=same, args=(_, _) as now):
                    alike = kind == node.type or {kind, node.type} == {FLOAT, NUMBER}  # the sum has the choice's type
                    if same != name or not alike or other not in (s, t) or (name == "sub" and s is not other):
                        continue
                    if self.vanishes(now[1] if s is other else now[0], over):
                        return new
        return None

    def vanishes(self, node: eq.Expr, masks: Masks) -> bool:
        """Whether ``node`` is zero wherever one of the masks does not hold."""
        return all(self._vanishes(node, m) for m in masks)

    def _vanishes(self, node: eq.Expr, mask: eq.Expr) -> bool:
        found = self.zero.get((node, mask))
        if found is None:
            found = self.zero[node, mask] = self._zero_without(node, mask)
        return found

    def _zero_without(self, node: eq.Expr, mask: eq.Expr) -> bool:
        match node:
            case eq.Read(outside=outside) if outside:
                return not any(o and (o.fill or o.behind) for o in outside) and is_out(node, mask)
            case eq.Read(limit=top) if top is not None:
                return top.fill is None and filled.beyond(node, mask)
            case eq.Op(name="mul", args=(a, b)):
                return any(
                    self._vanishes(x, mask) and (self._vanishes(y, mask) or bool(self.free(mask) - self.free(y)))
                    for x, y in ((a, b), (b, a))
                )
            case eq.Op(name="add" | "sub", args=(a, b)):
                return all(zero(x) or self._vanishes(x, mask) for x in (a, b))
            case eq.Op(name="neg", args=(a,)) | eq.Cast(arg=a):
                return self._vanishes(a, mask)
            case eq.Op(name="pow", args=(a, eq.Const(value=int() | float() as power))):
                return power >= 1 and self._vanishes(a, mask)
            case eq.Op(name="div", args=(a, eq.Const(value=value))):
                return value != 0 and self._vanishes(a, mask)
            case eq.Op(name="select", args=(_, a, b)):
                return all(zero(x) or self._vanishes(x, mask) for x in (a, b))
            case eq.Reduce(op="add", axes=axes, body=body):
                return not self.free(mask) & {a.name for a in axes} and self._vanishes(body, mask)
        return False


def _ended(load: eq.Read, over: Masks, fill: eq.Expr) -> eq.Read | None:
    """The load with ``fill`` beyond its ends, if that is wherever one of the masks does not hold."""
    if load.outside and all(is_out(load, m) for m in over):
        return replace(load, outside=tuple(o and replace(o, fill=fill) for o in load.outside))
    if load.limit is not None and all(filled.beyond(load, m) for m in over):
        return replace(load, limit=replace(load.limit, fill=fill))
    return None


def _other_end(load: eq.Read, over: Masks, fill: eq.Expr) -> eq.Read | None:
    """The load with ``fill`` beyond one of its ends, if that is wherever one of the masks does not hold: the other end
    keeps what it has."""
    parts = [o for o in load.outside if o is not None]
    if len(parts) != 1 or parts[0].edge:
        return None
    own = parts[0]
    forms = [f for m in over for f in positive(m)]
    if len(forms) != 1 or len(over) != 1:
        return None
    place = next(s for s, o in zip(load.subscripts, load.outside, strict=True) if o is not None)
    below, above = (forms[0].same(inside) for inside in _inside(place, own))
    if not below and not above:
        return None
    own = replace(own, fill=fill, behind=own.behind or own.fill or _ZERO) if below else replace(own, behind=fill)
    return replace(load, outside=tuple(o and own for o in load.outside))


def ends_held(load: eq.Read, masks: Masks) -> bool:
    """Whether one of the masks does not hold beyond each end that a load goes beyond: nothing is found there."""
    forms = [f[0] for f in map(positive, masks) if len(f) == 1]
    return all(
        (width.value == 0 if isinstance(width, eq.Const) else False) or any(inside.same(f) for f in forms)
        for s, part in zip(load.subscripts, load.outside, strict=True)
        if part is not None
        for width, inside in zip((part.before, part.after), _inside(s, part), strict=True)
    )


def _inside(place: eq.Expr, part: eq.Outside) -> tuple[Linear, Linear]:
    """What is not negative behind the first end, and before the last one."""
    own = number(linear(place))
    return own, number(linear(part.limit)) - own + -1


def _holds_infinity(load: eq.Read) -> bool:
    """Whether an array can have an infinity behind its end: it is made one of floats there if it may be none."""
    return (load.type.kind == "float" and load.type.bits is not None) or (load.type is NUMBER and not load.outside)


def _alike(new: eq.Expr, node: eq.Op, other: eq.Expr) -> bool:
    """Whether a value has the type of the choice that it stands for, whose other arm was ``other``."""
    if isinstance(other, eq.Const) and node.type is FLOAT and new.type is NUMBER:
        return _of_floats(new)  # one of Python's numbers takes the array's type
    return new.type == node.type or (isinstance(other, eq.Const) and isinstance(other.value, int))


def _of_floats(node: eq.Expr) -> bool:
    """Whether a value is a float, whatever the arrays hold."""
    match node:
        case eq.Op(name="add" | "sub" | "mul", args=args):
            return any(map(_of_floats, args))
    return node.type.is_inexact


def _number(arm: eq.Expr, select: eq.Op) -> bool:
    """Whether an arm is a constant that an array of the choice's type can hold."""
    value = arm.value if isinstance(arm, eq.Const) else None
    return type(value) is int or (isinstance(value, float) and select.type.is_inexact)


def is_out(node: eq.Read, mask: eq.Expr) -> bool:
    """Whether a load is outside, on one axis, wherever the mask does not hold."""
    forms = positive(mask)
    if len(forms) != 1:
        return False
    for s, part in zip(node.subscripts, node.outside, strict=True):
        if part is None:
            continue
        for inside in _inside(s, part):
            gap = forms[0] - inside  # the mask fails: forms[0] <= -1, and then inside <= -1, too
            if not gap.terms and gap.constant >= 0:
                return True
    return False


def _all(masks: Masks) -> eq.Expr | None:
    out: eq.Expr | None = None
    for m in masks:
        out = m if out is None else eq.Op("and", (out, m), BOOL)
    return out
