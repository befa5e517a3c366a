"""CUB's collectives in kernels: ``cub::BlockReduce<float, 256>(storage).Sum(x)``, scans, loads and stores of a block.

What CUB promises is written out in shared memory (CCCL's documentation of cub::BlockReduce, BlockScan, WarpReduce,
WarpScan, BlockLoad, BlockStore): each thread leaves its value in a cell of its own, and after a barrier takes what it
needs. A reduction's result is promised to the first thread only; here all have it. The storage that is passed says
nothing, and its reuse without a barrier is no race here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.arithmetic import cast
from kraise.frontends.cuda_c.c_types import Array, Collective
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.group_scans import tile_scan
from kraise.frontends.cuda_c.trees import strip, words
from kraise.frontends.cuda_c.values import Alias, Cell, Group, NoValue, PointerValue
from kraise.ir.kernel import Assign, Barrier, Const, Expr, For, Hw, If, Load, LocalArray, Op, Store, Var, Warp
from kraise.ir.types import BOOL, INT32, UINT32, ScalarType

ZERO, ONE = Const(0, INT32), Const(1, INT32)
_OPERATORS = {
    "Sum": "add", "plus": "add", "Max": "max", "maximum": "max", "Min": "min", "minimum": "min", "multiplies": "mul",
}  # fmt: skip
_OF_WARP = {"add": "sum", "max": "max", "min": "min"}


def collective(low: Any, c: Collective, method: str, arguments: list[Tree], node: Tree) -> Any:
    """What a method of a collective gives to this thread. Raises Refused (KR103)."""
    low.flush()
    found = None
    match c.does:
        case "reduce":
            found = _reduction(low, c, method, arguments, node)
        case "scan":
            found = _scan(low, c, method, arguments, node)
        case "load" | "store" if method == c.does.capitalize():
            found = _moved(low, c, arguments, node)
    if found is None:
        hint = "Sum, Reduce, the scans, Load and Store with sums, products and extrema are"
        raise low.refuse("KR103", f"`{c.name}::{method}` is not raised like this", node, hint)
    return found


# --- reductions


def _reduction(low: Any, c: Collective, method: str, arguments: list[Tree], node: Tree) -> Any:
    op, rest = "add", arguments[1:]
    if method == "Reduce":
        op, rest = _operator(rest[0]) if rest else "", rest[1:]
    if not op or method not in ("Sum", "Reduce") or not arguments or len(rest) > 1:
        return None
    mine = _together(low, op, c, _items(low, arguments[0]), node)
    if c.who == "warp":
        if rest or op not in _OF_WARP:
            return None
        return low.temporary(Warp(_OF_WARP[op], (mine,), mine.type, _number(c.size[0]), span=low.span(node)), op, node)
    valid = cast(low.scalar(rest[0]), INT32) if rest else None
    return _among(low, op, c, mine, valid, node)


def _among(low: Any, op: str, c: Collective, mine: Expr, valid: Expr | None, node: Tree) -> Expr:
    """The values of a block's threads together; of the ``valid`` first ones where that is a number."""
    axes = [a for a in range(3) if a == 0 or _number(c.size[a]) != 1]
    if valid is not None and len(axes) > 1:
        raise low.refuse("KR103", f"`{c.name}` of some threads of a block of several axes is not raised", node)
    array, rank = _shared(low, c, mine, axes, node)
    span, t = low.span(node), mine.type
    counters = [Var(low.fresh("j"), INT32) for _ in axes]
    total = low.fresh({"add": "total", "max": "most", "min": "least"}.get(op, "product"))
    low.emit(Assign(total, _neutral(op, t), t, span=span))
    both = Op(op, (Var(total, t), Load(array, tuple(reversed(counters)), t)), t, span=span)
    body: tuple[Any, ...] = (Assign(total, both, t, span=span),)
    for a, counter in zip(axes, counters, strict=True):
        stop = valid if valid is not None else c.size[a]
        body = (For(counter.name, ZERO, stop, ONE, body, span=span),)
    low.emit(body[0])
    low.emit(Barrier("block", span=span))
    return Var(total, t, span=span)


# --- scans


def _scan(low: Any, c: Collective, method: str, arguments: list[Tree], node: Tree) -> Any:
    exclusive = method.startswith("Exclusive")
    if method not in ("InclusiveSum", "ExclusiveSum", "InclusiveScan", "ExclusiveScan") or len(arguments) < 2:
        return None
    op, rest, initial = "add", arguments[2:], None
    if method.endswith("Scan"):
        if exclusive and len(rest) > 1 and not _operator(rest[0]):
            initial, rest = low.scalar(rest[0]), rest[1:]
        op, rest = (_operator(rest[0]) if rest else ""), rest[1:]
    if not op or len(rest) > 1 or (exclusive and initial is None and op != "add"):
        return None
    if c.who == "warp":
        if rest or initial is not None:
            return None
        tile, name = Group("tile", _number(c.size[0])), "exclusive_scan" if exclusive else "inclusive_scan"
        operator = [] if op == "add" else [arguments[2]]
        low.write(low.place(arguments[1]), tile_scan(low, tile, name, [arguments[0], *operator], node), node)
        return NoValue()
    _one_axis(low, c, node)
    inputs, outputs = _items(low, arguments[0]), _items(low, arguments[1])
    if inputs.count != outputs.count:
        return None
    mine = _together(low, op, c, inputs, node)
    if inputs.count == 1 and not exclusive and initial is None:
        running, total = _before(low, op, c, mine, None, True, bool(rest), node)
        low.write(outputs.at(ZERO), running, node)
    else:
        running, total = _before(low, op, c, mine, initial, False, bool(rest), node)

        def step(k: Expr) -> None:
            item = low.temporary(inputs.value(low, k, mine.type), "item", node)  # it may lie where the result goes
            after = Op(op, (running, item), running.type, span=low.span(node))
            low.write(outputs.at(k), running if exclusive else after, node)
            low.emit(Assign(running.name, after, running.type, span=low.span(node)))

        _each(low, inputs.count, step, node)
    if rest:
        low.write(low.place(rest[0]), total, node)
    return NoValue()


def _before(
    low: Any, op: str, c: Collective, mine: Expr, initial: Expr | None, own: bool, whole: bool, node: Tree
) -> tuple[Var, Var | None]:
    """What the threads before this one (``own``: and this one) have together, and (``whole``) what all have."""
    array, rank = _shared(low, c, mine, [0], node)
    rank = Op("add", (rank, ONE), INT32) if own else rank
    span, t = low.span(node), mine.type
    j, name = Var(low.fresh("j"), INT32), low.fresh("before")
    low.emit(Assign(name, cast(initial, t) if initial is not None else _neutral(op, t), t, span=span))
    both = Op(op, (Var(name, t), Load(array, (j,), t)), t, span=span)
    low.emit(For(j.name, ZERO, rank, ONE, (Assign(name, both, t, span=span),), span=span))
    total: Var | None = None
    if whole:
        k, all_ = Var(low.fresh("j"), INT32), low.fresh("total")
        low.emit(Assign(all_, _neutral(op, t), t, span=span))
        both = Op(op, (Var(all_, t), Load(array, (k,), t)), t, span=span)
        low.emit(For(k.name, ZERO, c.size[0], ONE, (Assign(all_, both, t, span=span),), span=span))
        total = Var(all_, t, span=span)
    low.emit(Barrier("block", span=span))
    return Var(name, t, span=span), total


# --- loads and stores


def _moved(low: Any, c: Collective, arguments: list[Tree], node: Tree) -> Any:
    """``Load(from, items[, valid[, otherwise]])`` and ``Store(to, items[, valid])``: each thread has its items beside
    one another."""
    if not 2 <= len(arguments) <= (4 if c.does == "load" else 3):
        return None
    pointer, items = low.value(arguments[0]), _items(low, arguments[1])
    if not isinstance(pointer, PointerValue) or items.count != c.items:
        return None
    _one_axis(low, c, node)
    _cells(low, c, Const(0, INT32), [0], node)
    valid = cast(low.scalar(arguments[2]), INT32) if len(arguments) > 2 else None
    span = low.span(node)
    first = _rank() if c.items == 1 else Op("mul", (_rank(), Const(c.items, INT32)), INT32, span=span)

    def step(k: Expr) -> None:
        at = Op("add", (first, k), INT32, span=span) if c.items > 1 else first
        with low.captured() as body:
            cell = low.element(pointer, at, node)
            to, of = (items.at(k), cell) if c.does == "load" else (cell, items.at(k))
            low.write(to, low.convert(low.read(of, node), c.element, node), node)
        if valid is None:
            low.out.extend(body)
            return
        if len(arguments) > 3:
            low.write(items.at(k), low.convert(low.value(arguments[3]), c.element, node), node)
        low.emit(If(Op("lt", (at, valid), BOOL, span=span), tuple(body), span=span))

    _each(low, c.items, step, node)
    return NoValue()


# --- what they share


def _shared(low: Any, c: Collective, mine: Expr, axes: list[int], node: Tree) -> tuple[str, Expr]:
    """The cells that hold each thread's value, and this thread's place among them."""
    array = _cells(low, c, mine, axes, node)
    low.emit(Barrier("block", span=low.span(node)))
    return array, _rank()


def _cells(low: Any, c: Collective, mine: Expr, axes: list[int], node: Tree) -> str:
    """Shared memory with a cell for each thread, which it fills: so many threads a block has."""
    array, span = low.fresh("$together"), low.span(node)
    low.emit(LocalArray(array, mine.type, tuple(c.size[a] for a in reversed(axes)), "shared", span=span))
    low.emit(Store(array, tuple(_rank(a) for a in reversed(axes)), mine, span=span))
    return array  # type: ignore[no-any-return]


def _one_axis(low: Any, c: Collective, node: Tree) -> None:
    if any(_number(s) != 1 for s in c.size[1:]):
        raise low.refuse("KR103", f"`{c.name}` of a block of several axes is not raised", node)


def _rank(axis: int = 0) -> Expr:
    return cast(Hw("thread", axis, UINT32), INT32)


def _together(low: Any, op: str, c: Collective, items: _Items, node: Tree) -> Var:
    """A thread's own items together."""
    assert c.element is not None
    t, span = c.element, low.span(node)
    if items.count == 1:
        return low.temporary(items.value(low, ZERO, t), "mine", node)  # type: ignore[no-any-return]
    mine = low.temporary(_neutral(op, t), "mine", node)

    def step(k: Expr) -> None:
        low.emit(Assign(mine.name, Op(op, (mine, items.value(low, k, t)), t, span=span), t, span=span))

    _each(low, items.count, step, node)
    return mine  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Items:
    """What an argument passes: the elements of a thread's own array, or one value."""

    tree: Tree
    place: Any
    count: int = 1

    def at(self, k: Expr) -> Any:
        """The place of an element."""
        if self.place is None or not isinstance(self.place.type, Array):
            return self.place
        return Cell(self.place.array, (*self.place.subscripts, k), self.place.type.of)

    def value(self, low: Any, k: Expr, t: ScalarType) -> Expr:
        """An element, as a ``t``."""
        if self.place is None:
            return cast(low.scalar(self.tree), t)
        return cast(low.read(self.at(k), self.tree), t)


def _items(low: Any, tree: Tree) -> _Items:
    """The elements of an argument. Raises Refused (KR104) for an array of unknown extent."""
    plain = strip(tree)
    if not low._is_place(plain):
        return _Items(tree, None)
    place = low.place(plain)
    while isinstance(place, Alias):
        place = place.place
    if not isinstance(getattr(place, "type", None), Array):
        return _Items(tree, place)
    extent = fold(place.type.extent) if place.type.extent is not None else None
    if extent is None or not isinstance(place, Cell):
        raise low.refuse("KR104", "the extent of this array is not known", tree)
    return _Items(tree, place, int(extent.value.real))


def _each(low: Any, count: int, step: Callable[[Expr], None], node: Tree) -> None:
    """``step`` for each of so many items, in a loop where there are several."""
    if count == 1:
        step(ZERO)
        return
    k = Var(low.fresh("k"), INT32)
    with low.captured() as body:
        step(k)
    low.emit(For(k.name, ZERO, Const(count, INT32), ONE, tuple(body), span=low.span(node)))


def _operator(tree: Tree) -> str:
    """The operation of ``cub::Max()``, ``cuda::std::plus<>{}``; "" for others."""
    return next((_OPERATORS[w] for w in words(tree) if w in _OPERATORS), "")


def _neutral(op: str, t: ScalarType) -> Const:
    """What a sum, a product or an extremum of nothing is."""
    if op in ("add", "mul"):
        value: float | int = int(op == "mul")
    elif t.is_inexact:
        value = float("-inf") if op == "max" else float("inf")
    else:
        bits = t.bits or 32
        least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if t.kind == "int" else (0, (1 << bits) - 1)
        value = least if op == "max" else most
    return Const(float(value) if t.is_inexact else value, t)


def _number(e: Expr) -> int:
    """The value of a constant size, 0 where it is another expression."""
    return int(e.value.real) if isinstance(e, Const) else 0


__all__ = ["collective"]
