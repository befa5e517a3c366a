"""Whole blocks of a flat array by a number that data or a quotient say: ``x[(g * m + i) * n + j]``, all i < m, j < n.

With ``g = head / groups`` or ``g = table[b]`` that is block ``g`` of m rows of n, one gather of blocks, where cells
would be looked up one by one. (Measured on 32 blocks of 512 x 64: an eighth of the time.) The side conditions: the
indices of a block go over all of it, no condition asks for them, what is left is a multiple of its size, and the number
is no sum of indices alone (that is a slice). On a well-defined launch the cells of a block that is read lie in the
array, all of them: the block is one of those that the array has whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from kraise.emit import tree
from kraise.emit.loads.views import of_blocks
from kraise.emit.text.linear import from_zero, transparent
from kraise.ir import equations as eq
from kraise.ir.types import INT

_MOST = 16  # products of a sum
Factors = tuple[eq.Expr, ...]
Terms = list[tuple[int, Factors]]
_OPAQUE = ("tdiv", "floordiv", "tmod", "mod", "select", "min", "max")


def candidate(node: eq.Read | eq.Write) -> bool:
    """Whether a place is flat, and may be one of a block."""
    if len(node.subscripts) != 1 or node.view or isinstance(node, eq.Read) and (node.outside or node.limit is not None):
        return False
    place = node.subscripts[0]
    return isinstance(place, eq.Op) and place.name == "add" and any(map(_opaque, tree.walk(place)))


def found(
    node: eq.Read | eq.Write, array: str, ranges: Mapping[str, eq.Axis], asked: frozenset[str], free: tree.Free
) -> tuple[tuple[eq.Expr, ...], tuple[eq.Expr, ...]] | None:
    """The number of the block and the place in it, and the view of the array as its blocks; None for other places."""
    left = _expanded(node.subscripts[0]) if candidate(node) else None
    if left is None:
        return None
    stride: tuple[int, Factors] = 1, ()
    inner: list[eq.Index] = []
    sizes: list[eq.Expr] = []
    while (digit := _digit(left, stride, ranges, asked, free)) is not None:
        index, size = digit
        larger = _times(stride, size)
        rest = [t for t in left if t != (stride[0], _sorted((*stride[1], index)))]
        if larger is None or not all(_quotient(t, larger) for t in rest):
            break
        inner.insert(0, index)
        sizes.insert(0, size)
        left, stride = rest, larger
    if not inner or not left:
        return None
    quotients = [q for t in left if (q := _quotient(t, stride)) is not None]
    kind = node.subscripts[0].type
    number = reduce(lambda a, b: eq.Op("add", (a, b), kind), (_product(q, kind) for q in quotients))
    if not any(map(_opaque, tree.walk(number))):
        return None
    return (number, *inner), of_blocks(array, tuple(sizes), True)


def _opaque(e: eq.Expr) -> bool:
    return isinstance(e, eq.Read) or isinstance(e, eq.Op) and e.name in _OPAQUE


def _digit(
    terms: Terms, stride: tuple[int, Factors], ranges: Mapping[str, eq.Axis], asked: frozenset[str], free: tree.Free
) -> tuple[eq.Index, eq.Expr] | None:
    """The index that goes over all of its range by the stride, and that range's size."""
    for index in ranges:
        own = eq.Index(index, INT)
        mine = (stride[0], _sorted((*stride[1], own)))
        axis = ranges[index]
        if mine not in terms or index in asked or not from_zero(axis):
            continue
        if any(index in free(f) for t in terms if t != mine for f in t[1]) or terms.count(mine) != 1:
            continue
        return own, axis.hi
    return None


def _expanded(e: eq.Expr) -> Terms | None:
    """The expression as a sum of products; None where there are too many."""
    match e:
        case eq.Const(value=int() as value, name=""):
            return [(int(value), ())] if value else []
        case eq.Index(name=name):
            return [(1, (eq.Index(name, INT),))]
        case eq.Cast(type=kind, arg=arg) if transparent(kind, arg):
            return _expanded(arg)
        case eq.Op(name="add" | "mul" as name, args=(a, b)) if e.type.kind != "uint":
            first, second = _expanded(a), _expanded(b)
            if first is None or second is None or len(first) * len(second) > _MOST:
                return None
            if name == "mul":
                return [(x * y, _sorted((*f, *g))) for x, f in first for y, g in second]
            return [*first, *second] if len(first) + len(second) <= _MOST else None
    return [(1, (e,))]


def _sorted(factors: Factors) -> Factors:
    return tuple(sorted(factors, key=lambda f: (type(f).__name__, repr(f))))


def _times(stride: tuple[int, Factors], size: eq.Expr) -> tuple[int, Factors] | None:
    by = _expanded(size)
    return (stride[0] * by[0][0], _sorted((*stride[1], *by[0][1]))) if by is not None and len(by) == 1 else None


def _quotient(term: tuple[int, Factors], by: tuple[int, Factors]) -> tuple[int, Factors] | None:
    left = list(term[1])
    for f in by[1]:
        if f not in left:
            return None
        left.remove(f)
    return (term[0] // by[0], tuple(left)) if by[0] > 0 and term[0] % by[0] == 0 else None


def _product(term: tuple[int, Factors], kind: eq.ScalarType) -> eq.Expr:
    number, factors = term
    parts = [*factors] if number == 1 and factors else [eq.Const(number, INT), *factors]
    return reduce(lambda a, b: eq.Op("mul", (a, b), kind), parts)


__all__ = ["candidate", "found"]
