"""Subscripts whose bits are those of indices in another order, as sums: ``__brev(t) >> 27`` of a lane is ``16 * (t % 2)
+ 8 * (t // 2 % 2) + ... + t // 16``.

What is known of a sum of digits is known of it then: that it takes each value once, and which. Each bit of the result
must be one bit of an index that is known to lie below a power of two, or of none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from kraise.analysis.boxes import largest
from kraise.analysis.delinearize import provable
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT, ScalarType
from kraise.ir.walk import substitute, topological
from kraise.raising.run.arithmetic import index_like, operation, tidy

Bits = dict[int, tuple[eq.Expr, int]]  # by the place of a bit: which bit of which number it is
_MOST = 16  # bits of an index, and rounds of a loop over bits


def by_digits(e: eq.Expr, path: tuple[eq.Expr, ...]) -> eq.Expr:
    """``e`` with what is put together of bits in it as such sums."""
    if not any(_joins(n) for n in topological((e,))):
        return e
    found = _bits(e, path, {})
    if not found:
        return _around(e, path)
    parts = [operation("mul", (eq.Const(1 << at, INT), _digit(*bit, path)), INT) for at, bit in sorted(found.items())]
    return reduce(lambda a, b: operation("add", (a, b), INT), reversed(parts))


def _around(e: eq.Expr, path: tuple[eq.Expr, ...]) -> eq.Expr:
    """A sum or a product with its parts so: ``32 * block + (__brev(t) >> 27)``."""
    match e:
        case eq.Cast(arg=a, type=t) if t.is_integer and (t.bits or 32) >= 32:
            inner = by_digits(a, path)
            return inner if inner is not a and index_like(inner) else e
        case eq.Op(name="add" | "mul" as name, args=args, type=t) if t.is_integer:
            parts = tuple(by_digits(a, path) for a in args)
            if parts != args and all(map(index_like, parts)):
                out = operation(name, parts, INT)
                return out if t.kind == "int" or provable(path, to_poly(out)) else e
    return e


def involution(e: eq.Expr) -> tuple[eq.Index, int] | None:
    """The index and the number of its bits, where ``e`` is such a sum of them all that takes itself back: bits that
    change places two by two, as where their order is reversed."""
    found: dict[int, int] = {}
    index: eq.Expr | None = None
    for term, c in to_poly(e).terms.items():
        bit = _bit(term[0]) if len(term) == 1 else None
        if bit is None or not _power(c) or index not in (None, bit[0]):
            return None
        index, found[c.bit_length() - 1] = bit
    whole = set(found) == set(range(len(found))) and all(found.get(at) == to for to, at in found.items())
    return (index, len(found)) if whole and isinstance(index, eq.Index) and len(found) > 1 else None


def _bit(e: eq.Expr) -> tuple[eq.Expr, int] | None:
    """The number and which of its bits: ``t // 4 % 2``, or ``t // 4`` of the last one."""
    match e:
        case eq.Op(name="mod", args=(a, eq.Const(value=2))):
            return (a, 0) if isinstance(a, eq.Index) else _bit(a)
        case eq.Op(name="floordiv", args=(eq.Index() as a, eq.Const(value=int() as m))) if _power(m):
            return a, m.bit_length() - 1
    return None


def _joins(n: eq.Expr) -> bool:
    match n:
        case eq.Op(name="or_") | eq.Reduce(op="or_"):
            return n.type.is_integer
        case eq.Op(name="floordiv" | "tdiv", args=(eq.Op(name="floordiv" | "tdiv"), eq.Const(value=2))):
            return True
    return False


def _digit(place: eq.Expr, at: int, path: tuple[eq.Expr, ...]) -> eq.Expr:
    above = operation("floordiv", (place, eq.Const(1 << at, INT)), INT) if at else place
    top = _below(place, path) == at + 1
    return above if top else operation("mod", (above, eq.Const(2, INT)), INT)


def _below(place: eq.Expr, path: tuple[eq.Expr, ...]) -> int | None:
    """The number of bits of an index that is not negative, where it has few."""
    poly = to_poly(place)
    most = largest(poly, path) if poly.indices() and provable(path, poly) else None
    size = None if most is None or most.value is None else most.value.bit_length()
    return size if size is not None and size <= _MOST else None


def _bits(e: eq.Expr, path: tuple[eq.Expr, ...], known: dict[eq.Expr, Bits | None]) -> Bits | None:
    if e not in known:
        known[e] = _of(e, path, known)
    return known[e]


def _of(e: eq.Expr, path: tuple[eq.Expr, ...], known: dict[eq.Expr, Bits | None]) -> Bits | None:
    match e:
        case eq.Const(value=0):
            return {}
        case eq.Cast(arg=a, type=t) if t.is_integer and a.type.is_integer:
            return _within(_bits(a, path, known), t)
        case eq.Op(name="or_" | "xor" | "add", args=(a, b), type=t):
            first, second = _bits(a, path, known), _bits(b, path, known)
            if first is not None and second is not None:
                return None if first.keys() & second.keys() else _within(first | second, t)
        case eq.Op(name="and_", args=(a, eq.Const(value=int() as mask)) | (eq.Const(value=int() as mask), a)):
            return _kept(_bits(a, path, known), lambda at: mask >> at & 1 == 1)
        case eq.Op(name="shl", args=(a, eq.Const(value=int() as by)), type=t) if 0 <= by < 32:
            return _within(_moved(_bits(a, path, known), by), t)
        case eq.Op(name="shr", args=(a, eq.Const(value=int() as by))) if 0 <= by < 32:
            return _moved(_bits(a, path, known), -by)
        case eq.Op(name="mul", args=(a, eq.Const(value=int() as m)) | (eq.Const(value=int() as m), a), type=t) if (
            _power(m)
        ):
            return _within(_moved(_bits(a, path, known), m.bit_length() - 1), t)
        case eq.Op(name="floordiv" | "tdiv", args=(a, eq.Const(value=int() as m))) if _power(m):
            return _moved(_bits(a, path, known), 1 - m.bit_length())
        case eq.Op(name="mod" | "tmod", args=(a, eq.Const(value=int() as m))) if _power(m):
            return _kept(_bits(a, path, known), lambda at: 1 << at < m)
        case eq.Reduce(op="or_" | "add", axes=(axis,), body=body, where=None, type=t):
            rounds = [to_poly(n).value for n in (axis.lo, axis.hi)]
            if None in rounds or not 0 < rounds[1] - rounds[0] <= _MOST:  # type: ignore[operator]
                return None
            out: Bits = {}
            for at in range(rounds[0], rounds[1], axis.step):  # type: ignore[arg-type]
                one = _bits(tidy(substitute(body, {eq.Index(axis.name, INT): eq.Const(at, INT)})), path, known)
                if one is None or one.keys() & out.keys():
                    return None
                out |= one
            return _within(out, t)
    if index_like(e) and (size := _below(e, path)) is not None:
        return {at: (e, at) for at in range(size)}
    return None


def _power(m: int) -> bool:
    return m > 0 and m & (m - 1) == 0


def _kept(bits: Bits | None, keeps: Callable[[int], bool]) -> Bits | None:
    return None if bits is None else {at: bit for at, bit in bits.items() if keeps(at)}


def _moved(bits: Bits | None, by: int) -> Bits | None:
    return None if bits is None else {at + by: bit for at, bit in bits.items() if at + by >= 0}


def _within(bits: Bits | None, t: ScalarType) -> Bits | None:
    """What a type holds of them: an unsigned one drops those above its own, one with a sign must have room."""
    width = t.bits or 32
    if t.kind == "uint":
        return _kept(bits, lambda at: at < width)
    return None if bits is None or any(at >= width - 1 for at in bits) else bits


__all__ = ["by_digits", "involution"]
