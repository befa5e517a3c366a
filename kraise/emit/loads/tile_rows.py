"""Running values within tiles, as rows of a matrix: ``max of x[i - i % 8 + k] for k <= i % 8`` is ``cummax`` in rows of
eight, of an array that is filled up to whole rows.

A shuffle's scan says it by the place of a thread in its tile. Split into a tile and a lane, the store's index needs
neither an index array nor a mask over all pairs of lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.emit import tree
from kraise.emit.loads.masks import conjuncts
from kraise.emit.text.linear import linear
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, INT32
from kraise.ir.walk import transform

_ZERO = eq.Const(0, INT)
_PLAIN = ("add", "sub", "mul", "min", "max", "neg")  # finite with finite slopes in the cells that are filled up


def in_tiles(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such stores by tile and lane."""
    return replace(kernel, body=tuple(_statement(s) for s in kernel.body))


def _statement(stmt: eq.Stmt) -> eq.Stmt:
    match stmt:
        case eq.Fold(body=body):
            return replace(stmt, body=tuple(map(_statement, body)))
        case eq.Write(
            axes=(axis,), subscripts=(eq.Index(name=name),), where=None, accumulate="", view=(), covers=False
        ):
            if name == axis.name and axis.step == 1 and axis.lo == eq.Const(0, axis.lo.type):  # type: ignore[union-attr]
                return _split(stmt, axis) or stmt
    return stmt


def _split(stmt: eq.Write, axis: eq.Axis) -> eq.Write | None:
    remainders = {
        n
        for n in tree.walk(stmt.value)
        if isinstance(n, eq.Op) and n.name == "mod" and isinstance(n.args[0], eq.Index) and n.args[0].name == axis.name
    }
    if len(remainders) != 1:
        return None
    (mod,) = remainders
    width = mod.args[1]
    if not isinstance(width, eq.Const) or not isinstance(width.value, int) or width.value < 2:
        return None
    tiles = _Tiles(axis, mod, width)
    value = tiles.moved(stmt.value)
    if value is None or not tiles.scans:
        return None
    where = eq.Op("lt", (tiles.place, axis.hi), BOOL)
    return replace(stmt, axes=tiles.axes, subscripts=(tiles.place,), value=tiles.limited(value), where=where)


@dataclass
class _Tiles:
    """A store's index as the ``width`` lanes of tiles."""

    axis: eq.Axis
    mod: eq.Op
    width: eq.Const

    def __post_init__(self) -> None:
        name, ceiling = self.axis.name, eq.Const(self.width.value - 1, INT)  # type: ignore[operator]
        self.index = self.mod.args[0]
        self.tile, self.lane = eq.Index(f"{name}_tile", INT), eq.Index(f"{name}_lane", INT)
        self.count = eq.Op("floordiv", (eq.Op("add", (self.axis.hi, ceiling), INT), self.width), INT)
        self.axes = (eq.Axis(self.tile.name, _ZERO, self.count), eq.Axis(self.lane.name, _ZERO, self.width))
        self.place = eq.Op("add", (eq.Op("mul", (self.tile, self.width), INT), self.lane), INT)
        self.scans = 0
        self.reached: set[eq.Version] = set()  # arrays that are read as far as the store goes
        self.first = linear(self.index) - linear(self.mod)

    def moved(self, node: eq.Expr) -> eq.Expr | None:
        """The value by tile and lane; None where it holds the index in another way."""
        match node:
            case eq.Reduce(axes=(own,)):
                return self._scan(node, own)
            case eq.Read(subscripts=(s,), view=(), outside=(), limit=None) if s is self.index:
                self.reached.add(node.version)
                return self._load(node, self.lane)
            case eq.Op(name=name, args=args) if name in _PLAIN:
                parts = [self.moved(a) for a in args]
                return None if None in parts else replace(node, args=tuple(parts))  # type: ignore[arg-type]
            case eq.Cast(arg=arg):
                part = self.moved(arg)
                return None if part is None else replace(node, arg=part)
        return None if any(n is self.index for n in tree.walk(node)) else node

    def _scan(self, node: eq.Reduce, own: eq.Axis) -> eq.Expr | None:
        """``node`` over the lanes of a tile up to the store's own, or None."""
        k = next((n for n in tree.walk(node.body) if isinstance(n, eq.Index) and n.name == own.name), None)
        whole = (
            own.step == 1 and own.lo == eq.Const(0, own.lo.type) and own.hi == eq.Const(self.width.value, own.hi.type)
        )  # type: ignore[union-attr]
        load = node.body.arg if isinstance(node.body, eq.Cast) else node.body
        if k is None or not whole or node.where is None or not isinstance(load, eq.Read):
            return None
        place = self.first + linear(k)
        if load.view or load.outside or load.limit or len(load.subscripts) != 1:
            return None
        if not linear(load.subscripts[0]).same(place):
            return None
        upto = None
        for c in conjuncts(node.where):
            if not isinstance(c, eq.Op) or c.name not in ("lt", "le"):
                return None
            low, high = c.args
            if low is k and high is self.mod:
                upto = c
            elif c.name != "lt" or not linear(low).same(place) or not linear(high).same(linear(self.axis.hi)):
                return None  # where the lane is none behind the store's own, its place is none, either
        if upto is None:
            return None
        self.scans += 1
        if upto.name == "le":
            self.reached.add(load.version)
        body: eq.Expr = self._load(load, k)
        if isinstance(node.body, eq.Cast):
            body = replace(node.body, arg=body)
        return replace(node, body=body, where=eq.Op(upto.name, (k, self.lane), BOOL))

    def _load(self, node: eq.Read, lane: eq.Index) -> eq.Read:
        top = eq.Outside(_ZERO, self.axis.hi, _ZERO)
        return replace(node, subscripts=(self.tile, lane), view=(self.count, self.width), safe=True, limit=top)

    def limited(self, node: eq.Expr) -> eq.Expr:
        """The value with the loads of arrays that may end before the store does limited to what they have."""

        def one(n: eq.Expr) -> eq.Expr:
            if isinstance(n, eq.Read) and n.limit is not None and n.version not in self.reached:
                end = eq.Op("min", (n.limit.limit, eq.Shape(n.version.array, 0, INT32)), INT)
                return replace(n, limit=replace(n.limit, limit=end))
            return n

        return transform(node, one)


__all__ = ["in_tiles"]
