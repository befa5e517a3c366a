"""Running values along an axis: ``cumsum``, ``cumprod``, ``cummax``, ``cummin``, the linear recurrence; and sorts."""

from __future__ import annotations

from kraise.diagnostics import refuse
from kraise.emit import tree
from kraise.emit.context import Assign, Def, Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.sums import row_totals
from kraise.emit.sums.reductions import BITWISE
from kraise.emit.sums.widths import kept_width
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.emit.text.python import ALL, NONE, Atom, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.open_types import is_open, kind_of
from kraise.ir.types import FLOAT, INT
from kraise.ir.walk import substitute

_COMBINE = {"add": "+", "mul": "*", "min": "jnp.minimum", "max": "jnp.maximum", "and": "&", "or": "|"}
_COMBINE |= {"and_": "&", "or_": "|", "xor": "^"}
_FUNCTIONS = {"and": "logical_and", "or": "logical_or", **BITWISE}


def scan(low: Lowering, node: eq.Scan, frame: Frame, own: Frame) -> Val:
    """The scan over the whole of its axis, then the part of it that the frame asks for."""
    ctx = low.ctx
    asked = next((a for a in own if a.name == node.axis.name), None)
    if asked is None:
        return _of_round(low, node, frame, own)
    whole = tuple(node.axis if a is asked else a for a in own)
    if asked is not node.axis:
        # the running value over its whole axis, then the slice of it that is asked for
        name = low.as_name(node, whole, "running").py
        offset = linear(asked.lo) - linear(node.axis.lo)
        if asked.step != node.axis.step or node.axis.step != 1:
            raise refuse("KR305", "a running value is used over another stride than its own")
        stop = linear(asked.hi) - linear(node.axis.lo)
        size = linear(node.axis.hi) - linear(node.axis.lo)
        if not (nonnegative(offset) and nonnegative(size - stop)):
            places = py.call("jnp.arange", ctx.static(offset), ctx.static(stop))
            taken = py.call("jnp.take", name, places, axis=py.number(own.index(asked)), mode=Atom('"clip"'))
            return low.extend(taken, own, frame)  # a mask hides what lies beyond
        hi = None if stop.same(size) else ctx.static(stop)
        lo = None if offset.same(Linear()) else ctx.static(offset)
        items = tuple(Slice(lo, hi) if a is asked else ALL for a in own)
        return low.extend(py.Sub(name, items), own, frame)
    at = whole.index(node.axis)
    if node.op != "linear" and node.other is not None:
        return low.extend(_in_rows(low, node, whole, at), own, frame)
    told = _counted(node)
    body = full(low, node.body if told is None else told, whole)
    if told is not None and not node.inclusive and not isinstance(body, Atom):
        body = low.as_name(told, whole, "mask").py
    if node.op == "linear":
        return low.extend(_linear(low, node, body, whole, at), own, frame)
    if (sums := row_totals.ending(low.ctx).get(node)) is not None:
        return low.extend(_after_zero(low.as_name(sums, whole, "sums").py, at, len(whole), False), own, frame)
    if node.op == "add" and kind_of(node.init) == FLOAT and is_open(node.body):
        body = py.as_floats(body)
    text = running_text(node.op, body, at, len(whole), node.reverse, kept_width(low.ctx, node.op, node.type))
    start = is_neutral(node)
    if not node.inclusive:
        if start and node.op == "add" and node.type.is_integer and isinstance(body, Atom):
            return low.extend(py.Bin("-", text, body), own, frame)  # no padded copy; exact, as integers wrap
        if start and node.op == "add" and low.ctx.first_of(node.axis) == py.number(1):
            return low.extend(_after_zero(text, at, len(whole), node.reverse), own, frame)
        first = _edge(low, node.init, whole, node.axis)
        edge = Slice(py.number(1), None) if node.reverse else Slice(None, py.number(-1))
        parts = [first, py.Sub(text, tuple([ALL] * at + [edge]))]
        if node.reverse:
            parts.reverse()
        text = py.call("jnp.concatenate", py.Tup(tuple(parts)), **({"axis": py.number(at)} if at else {}))
        if not start:
            # the running part after the first position holds init too
            body = py.call("jnp.concatenate", py.Tup(tuple(_shifted(node, body, first, at))), **_axis(at))
            text = running_text(node.op, body, at, len(whole), node.reverse, kept_width(low.ctx, node.op, node.type))
    elif not start:
        text = _combined(node.op, low.lower(node.init, whole).py, text)
    return low.extend(text, own, frame)


def _counted(node: eq.Scan) -> eq.Expr | None:
    """What is counted where it holds, ``1 if c else 0``: sums of truths are integers."""
    match node:
        case eq.Scan(op="add", body=eq.Op(name="select", args=(c, eq.Const(value=1), eq.Const(value=0))), other=None):
            return c if node.type.kind == "int" and is_neutral(node) else None
    return None


def _after_zero(text: Py, at: int, rank: int, reverse: bool) -> Py:
    """Sums up to each place but its own: a zero, and all sums but the last."""
    edge = Slice(py.number(1), None) if reverse else Slice(None, py.number(-1))
    one, none = (tuple(py.number(n) for n in pair) for pair in (((0, 1) if reverse else (1, 0)), (0, 0)))
    widths = one if rank == 1 else tuple(py.Tup(one if n == at else none) for n in range(rank))
    return py.call("jnp.pad", py.Sub(text, tuple([ALL] * at + [edge])), py.Tup(widths))


def _of_round(low: Lowering, node: eq.Scan, frame: Frame, own: Frame) -> Val:
    """The entry of a loop's round: the running value has no axis of its own here. All of it is made, outside the loop
    where it can be, and the round takes its place in it."""
    ctx = low.ctx
    if node.axis.step != 1:
        raise refuse("KR305", "a running value is used over another stride than its own")
    name = f"{node.axis.name}_all"
    while name in ctx.free(node):
        name += "_all"
    mapping = {n: eq.Index(name, n.type) for n in tree.walk(node) if _is_index(n, node.axis.name)}
    whole = substitute(node, {eq.Index(node.axis.name, INT): eq.Index(name, INT), **mapping})
    assert isinstance(whole, eq.Scan)
    running = low.as_name(whole, (*own, whole.axis), "running").py
    place: Py = Atom(low.fold_index(node.axis.name))
    if not linear(node.axis.lo).same(Linear()):
        place = py.Bin("-", place, low.lower(node.axis.lo, ()).py)
    # a mask hides what lies beyond
    items = [ALL if a in own else NONE for a in (frame[frame.index(own[0]) :] if own else ())]
    last = max((n for n, item in enumerate(items) if item is ALL), default=-1)
    return Val(py.Sub(running, (*items[: last + 1], place, *items[last + 1 :])), own, len(items))


def _is_index(node: eq.Expr, name: str) -> bool:
    return isinstance(node, eq.Index) and node.name == name


def _axis(at: int) -> dict[str, Py]:
    return {"axis": py.number(at)} if at else {}


def _shifted(node: eq.Scan, body: Py, first: Py, at: int) -> list[Py]:
    edge = Slice(py.number(1), None) if node.reverse else Slice(None, py.number(-1))
    parts = [first, py.Sub(body, tuple([ALL] * at + [edge]))]
    return parts[::-1] if node.reverse else parts


def _edge(low: Lowering, init: eq.Expr, whole: Frame, axis: eq.Axis) -> Py:
    """``init`` over one position of the axis."""
    value = low.lower(init, whole)
    shape = tuple(low.ctx.first_of(axis) if a is axis else low.ctx.extent(a) for a in whole)
    return py.call("jnp.full", py.Tup(shape), value.py)


def full(low: Lowering, node: eq.Expr, frame: Frame) -> Py:
    """A value with every axis of the frame present."""
    value = low.lower(node, frame)
    if value.axes == frame:
        return value.py
    return py.call("jnp.broadcast_to", value.py, low.ctx.shape_of(frame))


def is_neutral(node: eq.Scan) -> bool:
    match node.op, node.init:
        case "sort", _:
            return True
        case "add" | "or" | "or_" | "xor", eq.Const(value=value):
            return value == 0
        case "mul" | "and", eq.Const(value=value):
            return value == 1
        case "and_", eq.Const(value=value, type=kind):
            return value == -1 or (kind.kind == "uint" and value == (1 << (kind.bits or 0)) - 1)
        case "min", eq.Const(value=value):
            return value == float("inf")
        case "max", eq.Const(value=value):
            return value == float("-inf")
    return False


def running_text(op: str, body: Py, at: int, rank: int, reverse: bool, width: dict[str, Py]) -> Py:
    axis = {"axis": py.number(at)} if rank > 1 or op not in ("sort", "add", "mul") else {}
    match op:
        case "sort":
            return py.call("jnp.sort", body, **axis)
        case "add" | "mul":
            function = "jnp.cumsum" if op == "add" else "jnp.cumprod"
            if not reverse:
                return py.call(function, body, **axis, **width)
            flipped = py.call("jnp.flip", body, **axis)
            return py.call("jnp.flip", py.call(function, flipped, **axis, **width), **axis)
        case "min" | "max":
            extra = {"reverse": Atom("True")} if reverse else {}
            return py.call(f"jax.lax.cum{op}", body, **axis, **extra)
    extra = {"reverse": Atom("True")} if reverse else {}
    return py.call("jax.lax.associative_scan", Atom(f"jnp.{_FUNCTIONS[op]}"), body, **extra, **axis)


def _combined(op: str, a: Py, b: Py) -> Py:
    symbol = _COMBINE[op]
    return py.call(symbol, a, b) if symbol.startswith("jnp") else py.Bin(symbol, a, b)


def _in_rows(low: Lowering, node: eq.Scan, whole: Frame, at: int) -> Py:
    """A running value that starts anew at the first entry of each row."""
    assert node.other is not None
    ctx = low.ctx
    depth = ctx.depth(node)
    anew = full(low, node.other, whole)
    if not isinstance(anew, Atom):
        name = ctx.names.fresh("first")
        ctx.emit(Assign(name, anew), depth)
        anew = Atom(name)
    body: Py = full(low, node.body, whole)
    init = low.lower(node.init, whole).py
    if not is_neutral(node):
        body = py.call("jnp.where", anew, _combined(node.op, init, body), body)
    combine = ctx.names.fresh("within_rows")
    a, one, b, two = (Atom(ctx.names.fresh(n)) for n in ("left", "anew", "right", "anew"))
    lines: list = [
        Assign(f"{a.text}, {one.text}", Atom("before")),
        Assign(f"{b.text}, {two.text}", Atom("entry")),
        Assign(None, py.Tup((py.call("jnp.where", two, b, _combined(node.op, a, b)), py.Bin("|", one, two)))),
    ]
    ctx.emit(Def(combine, ("before", "entry"), lines), depth)
    for n in (a, b, one, two):
        ctx.names.release(n.text)
    running = ctx.names.fresh("running")
    extra: dict[str, Py] = {"reverse": Atom("True")} if node.reverse else {}
    call = py.call("jax.lax.associative_scan", Atom(combine), py.Tup((body, anew)), **extra, **_axis(at))
    ctx.emit(Assign(f"{running}, _", call), depth)
    if node.inclusive:
        return Atom(running)
    back = py.number(-1 if node.reverse else 1)
    moved = py.call("jnp.roll", Atom(running), back, **_axis(at))
    return py.call("jnp.where", anew, init, moved)


def _linear(low: Lowering, node: eq.Scan, a: Py, whole: Frame, at: int) -> Py:
    assert node.other is not None
    ctx = low.ctx
    depth = ctx.depth(node)
    b = full(low, node.other, whole)
    combine, pair = ctx.names.fresh("combine"), [ctx.names.fresh(n) for n in ("gain", "gain", "shift", "shift")]
    g1, g2, s1, s2 = (Atom(n) for n in pair)
    body: list = [
        Assign(f"{g1.text}, {s1.text}", Atom("first")),
        Assign(f"{g2.text}, {s2.text}", Atom("second")),
        Assign(None, py.Tup((py.Bin("*", g1, g2), py.Bin("+", py.Bin("*", g2, s1), s2)))),
    ]
    ctx.emit(Def(combine, ("first", "second"), body), depth)
    gains, shifts = ctx.names.fresh("gains"), ctx.names.fresh("shifts")
    extra = {"reverse": Atom("True")} if node.reverse else {}
    call = py.call("jax.lax.associative_scan", Atom(combine), py.Tup((a, b)), **extra, axis=py.number(at))
    ctx.emit(Assign(f"{gains}, {shifts}", call), depth)
    init = low.lower(node.init, whole)
    text: Py = py.Bin("+", py.Bin("*", Atom(gains), init.py), Atom(shifts))
    if not node.inclusive:
        name = ctx.names.fresh("running")
        ctx.emit(Assign(name, text), depth)
        parts = _shifted(node, Atom(name), _edge(low, node.init, whole, node.axis), at)
        text = py.call("jnp.concatenate", py.Tup(tuple(parts)), **_axis(at))
    return text
