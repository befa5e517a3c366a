"""Accumulations bit by bit: and, or and xor, which no scatter of JAX's has."""

from __future__ import annotations

from kraise.diagnostics import refuse
from kraise.emit.context import Assign, Frame
from kraise.emit.loads import subscripts as subs
from kraise.emit.lower import Lowering, dtype_text
from kraise.emit.stores import versions
from kraise.emit.text import python as py
from kraise.emit.text.python import ALL, NONE, Atom, Py
from kraise.ir import equations as eq
from kraise.ir.operations import BITWISE
from kraise.ir.types import NUMBER

_SYMBOLS = {"and_": "&", "or_": "|", "xor": "^"}
_PLANES = {"and_": "min", "or_": "max", "xor": "add"}


def accumulate(low: Lowering, stmt: eq.Write, frame: Frame, rest: Frame) -> bool:
    """Emits an accumulation of bits, or a count of those that are named; False for other stores."""
    if stmt.accumulate in BITWISE:
        _accumulate(low, stmt, frame, rest)
        return True
    other = _same_bits(low, stmt) if not rest else None
    if other is not None:
        _count_words(low, stmt, frame, other)
    return other is not None


def _accumulate(low: Lowering, stmt: eq.Write, frame: Frame, rest: Frame) -> None:
    """``y[s] ^= value`` over index arrays: each bit is a plane, scattered by max, min or add, then put together.

    Where no subscript moves, all values are reduced first. A lane that the mask leaves out has the neutral element. Of
    ``1 << k`` there is one bit to scatter, to place k of the planes.
    """
    ctx, op = low.ctx, stmt.accumulate
    kind, element = stmt.value.type, ctx.element(stmt.before.array)
    known = kind.is_integer and kind.bits is not None
    if not known and element is not NUMBER and not element.is_integer:
        raise refuse("KR306", f"no scatter that combines by {op.rstrip('_')}", stmt.span)
    value: eq.Expr = stmt.value
    place = _one_bit(value, op) if frame and not rest else None
    if place is not None:
        _set_bit(low, stmt, frame, place)
        return
    if stmt.where is not None:
        inverted = op == "and_" and kind.kind != "int"  # -1 is no number without a sign
        value = eq.Op("invert", (value,), kind) if inverted else value
        value = eq.Op("select", (stmt.where, value, eq.Const(-1 if op == "and_" and not inverted else 0, kind)), kind)
        value = eq.Op("invert", (value,), kind) if inverted else value
    whole = (*frame, *rest)
    text = low.lower(value, whole)
    if text.axes != whole:
        text_py: Py = py.call("jnp.broadcast_to", text.py, ctx.shape_of(whole))
    else:
        text_py = text.py
    function = f"jnp.bitwise_{op.rstrip('_')}.reduce"
    if rest:
        axes = tuple(py.number(len(frame) + at) for at in range(len(rest)))
        axis = {} if len(whole) == 1 else {"axis": axes[0] if len(axes) == 1 else py.Tup(axes)}
        text_py = py.call(function, text_py, **axis)
    extents = ctx.array_extents(stmt.before, stmt.view)
    items, _ = subs.index_arrays(low, stmt.subscripts, extents, frame, stmt.safe)
    if not frame:

        def combined(base: Py) -> Py:
            at = py.Sub(base, tuple(items))
            new = py.Bin(_SYMBOLS[op], at, text_py)
            return py.method(py.Sub(py.Attr(base, "at"), tuple(items)), "set", new)

        versions.assign(low, stmt, combined)
        return
    bit = _numbers(low, stmt)
    one: Py = py.Bin("&", py.Bin(">>", py.Sub(text_py, (*[ALL] * len(frame), NONE)), bit), py.number(1))
    if not known:
        one = py.method(one, "astype", _dtype(low, stmt))
    bits = ctx.names.fresh("bits")
    ctx.emit(Assign(bits, one))
    versions.assign(low, stmt, lambda base: _put_together(low, stmt, base, bit, items, Atom(bits)))


def _one_bit(value: eq.Expr, op: str) -> eq.Expr | None:
    """k where the value is ``1 << k``, or ``~(1 << k)`` of an and."""
    match value:
        case eq.Op(name="shl", args=(eq.Const(value=1), k)) if op != "and_":
            return k
        case eq.Op(name="invert", args=(eq.Op(name="shl", args=(eq.Const(value=1), k)),)) if op == "and_":
            return k
    return None


def _set_bit(low: Lowering, stmt: eq.Write, frame: Frame, place: eq.Expr) -> None:
    """Counts how often each bit is named: one that is named is set (cleared, by ``and``), one that is named an odd
    number of times changes. The counts are those of any other such store at the same places: XLA counts once."""
    ctx, op, kind = low.ctx, stmt.accumulate, _dtype(low, stmt)
    extents = ctx.array_extents(stmt.before, stmt.view)
    amount: Py = py.number(1)
    if stmt.where is not None:
        amount = py.method(low.lower(stmt.where, frame).py, "astype", Atom("jnp.uint32"))
    whole = _whole(stmt, place)
    if whole is None:
        items, _ = subs.index_arrays(low, stmt.subscripts, extents, frame, stmt.safe)
        items.append(py.method(low.lower(place, frame).py, "astype", Atom("jnp.int32")))
    else:
        items = [low.lower(whole, frame).py]
    bit = _numbers(low, stmt)
    named = ctx.names.fresh("named")
    width: Py = py.number(stmt.value.type.bits) if stmt.value.type.bits else py.Attr(bit, "size")

    def combined(base: Py) -> Py:
        cells: Py = py.Bin("*", width, py.Attr(base, "size"))
        if whole is None:
            cells = py.Tup((Atom(f"*{py.flat(base)}.shape"), width))
        nothing = py.call("jnp.zeros", cells, Atom("jnp.uint32"))
        counts = py.method(py.Sub(py.Attr(nothing, "at"), tuple(items)), "add", amount)
        if whole is not None:
            counts = py.method(counts, "reshape", py.number(-1), width)
        ctx.emit(Assign(named, counts))
        said: Py = py.Bin("&", Atom(named), py.number(1)) if op == "xor" else py.Bin(">", Atom(named), py.number(0))
        word = py.call("jnp.sum", py.Bin("<<", py.method(said, "astype", kind), bit), axis=py.number(-1), dtype=kind)
        return py.Bin(_SYMBOLS[op], base, py.Un("~", word) if op == "and_" else word)

    versions.assign(low, stmt, combined)


def _same_bits(low: Lowering, stmt: eq.Write) -> tuple[eq.Expr, int] | None:
    """The numbers, and the width of a word, of a store of bits to the words that this store counts
    (``hits[key / 32] += 1``)."""
    one = isinstance(stmt.value, eq.Const) and stmt.value.value == 1 and stmt.value.type.is_integer
    plain = stmt.accumulate == "add" and not stmt.view and not stmt.safe and stmt.where is None
    if not one or not plain or not low.ctx.element(stmt.before.array).is_integer:
        return None
    for s in low.ctx.kernel.body:
        if isinstance(s, eq.Write) and s.accumulate in BITWISE and s.where is None and s.axes == stmt.axes:
            place = _one_bit(s.value, s.accumulate)
            whole = None if place is None else _whole(s, place)
            if whole is not None and s.subscripts == stmt.subscripts and s.value.type.bits:
                return whole, s.value.type.bits
    return None


def _count_words(low: Lowering, stmt: eq.Write, frame: Frame, words: tuple[eq.Expr, int]) -> None:
    """Counts for each word how often its bits are named, which XLA has counted already for the bits."""
    number, bits = words
    key = low.lower(number, frame).py
    named, dtype = low.ctx.names.fresh("named"), versions.dtype_of(low.ctx, stmt.before)

    def combined(base: Py) -> Py:
        nothing = py.call("jnp.zeros", py.Bin("*", py.number(bits), py.Attr(base, "size")), Atom("jnp.uint32"))
        counts = py.method(py.Sub(py.Attr(nothing, "at"), (key,)), "add", py.number(1))
        low.ctx.emit(Assign(named, py.method(counts, "reshape", py.number(-1), py.number(bits))))
        return py.Bin("+", base, py.call("jnp.sum", Atom(named), axis=py.number(-1), dtype=dtype))

    versions.assign(low, stmt, combined)


def _whole(stmt: eq.Write, place: eq.Expr) -> eq.Expr | None:
    """The number of which the one subscript and the place of the bit are the digits, where it is not negative."""
    match stmt.subscripts, place:
        case ((row,), eq.Op(name="mod" | "tmod", args=(a, eq.Const(value=bits)))) if bits == stmt.value.type.bits:
            match _uncast(row):
                case eq.Op(name="floordiv" | "tdiv", args=(b, eq.Const(value=size))) if size == bits and a is b:
                    return a if a.type.kind == "uint" and not stmt.view else None
    return None


def _uncast(node: eq.Expr) -> eq.Expr:
    return _uncast(node.arg) if isinstance(node, eq.Cast) and node.type.is_integer else node


def _numbers(low: Lowering, stmt: eq.Write) -> Atom:
    """The variable of the numbers of a value's bits."""
    bit, dtype = low.ctx.names.fresh("bit"), _dtype(low, stmt)
    bits = stmt.value.type.bits or low.ctx.element(stmt.before.array).bits
    width: Py = py.number(bits or 0)
    if not bits:  # as many as an element of the array has
        width = py.Bin("*", py.number(8), py.Attr(dtype, "itemsize"))
    low.ctx.emit(Assign(bit, py.call("jnp.arange", width, dtype=dtype)))
    return Atom(bit)


def _dtype(low: Lowering, stmt: eq.Write) -> Py:
    kind = stmt.value.type
    return Atom(dtype_text(kind)) if kind.bits else versions.dtype_of(low.ctx, stmt.before)


def _put_together(low: Lowering, stmt: eq.Write, base: Py, bit: Atom, items: list[Py], bits: Py) -> Py:
    """The array once its planes are scattered to."""
    op, rank = stmt.accumulate, len(stmt.subscripts)
    old = low.ctx.names.fresh("planes")
    low.ctx.emit(Assign(old, py.Bin("&", py.Bin(">>", py.Sub(base, (*[ALL] * rank, NONE)), bit), py.number(1))))
    planes: Py = py.method(py.Sub(py.Attr(Atom(old), "at"), tuple(items)), _PLANES[op], bits)
    if op == "xor":
        planes = py.Bin("&", planes, py.number(1))
    return py.call("jnp.sum", py.Bin("<<", planes, bit), axis=py.number(-1), dtype=_dtype(low, stmt))
