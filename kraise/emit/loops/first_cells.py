"""Arrays that a loop carries, of which the kernel uses the first cells only: ``a1 = a[:n]`` before the loop, and
``a.at[:n].set(a1)`` after it.

A round is then of whole arrays: XLA neither updates cells of a state that may be longer nor, in the gradient, puts the
cotangent of such an update together (measured on a CPU, a ring of 1,024 cells in 500 rounds: half of the gradient's
time). The side conditions: the array has one axis, a round stores all of the first ``n`` cells, and no load or store of
the kernel is to another cell, whatever its masks say.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit import tree
from kraise.emit.loads.views import Access, accesses
from kraise.emit.text.linear import Linear, from_zero, linear, nonnegative
from kraise.ir import equations as eq
from kraise.ir.walk import map_statement, transform


def alone(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such arrays under a view of their first cells."""
    folds = [s for s in kernel.body if isinstance(s, eq.Fold)]
    carried = dict.fromkeys(c.outside.array for f in folds for c in f.arrays)
    made = {s.version.array for s in tree.statements(kernel.body) if isinstance(s, eq.New)}
    checked = [s for s in tree.statements(kernel.body) if isinstance(s, eq.Check)]
    if checked or not carried.keys() - made:
        return kernel
    used: dict[str, list[Access]] = {}
    for a in accesses(kernel):
        used.setdefault(a.array, []).append(a)
    for array in carried:
        size = _stored(folds, array) if array not in made else None
        if size is None or not all(_within(a, linear(size)) for a in used[array]):
            continue
        kernel = _under(kernel, array, size)
    return kernel


def _stored(folds: list[eq.Fold], array: str) -> eq.Expr | None:
    """How many of its first cells a round stores all of."""
    for s in tree.statements(tuple(folds)):
        match s:
            case eq.Write(
                after=eq.Version(array=name),
                axes=axes,
                subscripts=(eq.Index(name=index),),
                where=None,
                safe=False,
                segments=False,
                view=(),
            ) if name == array:
                axis = next((a for a in axes if a.name == index), None)
                if axis is not None and from_zero(axis):
                    return None if _is_extent(axis.hi, array) else axis.hi
    return None


def _is_extent(e: eq.Expr, array: str) -> bool:
    return any(isinstance(n, eq.Shape) and n.array == array for n in tree.walk(e))


def _within(a: Access, size: Linear) -> bool:
    """Whether an access is to one of the first cells, for all values of its indices."""
    if a.view or a.outside or len(a.subscripts) != 1:
        return False
    (subscript,) = a.subscripts
    match subscript:
        case eq.Op(name="mod", args=(_, count)) if linear(count).same(size):
            return True
    low = high = linear(subscript)
    for atom, c in linear(subscript).terms:
        if isinstance(atom, eq.Index) and atom.name in a.ranges:
            axis = a.ranges[atom.name]
            first, last = linear(axis.lo).times(c), (linear(axis.hi) + -1).times(c)
            low = low.without(atom) + (first if c > 0 else last)
            high = high.without(atom) + (last if c > 0 else first)
        elif not isinstance(atom, eq.Param | eq.Shape):
            return False
    return nonnegative(low) and nonnegative(size - high + -1)


def _under(kernel: eq.Kernel, array: str, size: eq.Expr) -> eq.Kernel:
    memo: dict[eq.Expr, eq.Expr] = {}

    def one(n: eq.Expr) -> eq.Expr:
        return replace(n, view=(size,)) if isinstance(n, eq.Read) and n.version.array == array else n

    def statement(s: eq.Stmt) -> eq.Stmt:
        s = map_statement(s, lambda e: transform(e, one, memo))
        if isinstance(s, eq.Fold):
            return replace(s, body=tuple(map(statement, s.body)))
        return replace(s, view=(size,)) if isinstance(s, eq.Write) and s.after.array == array else s

    names = tuple(replace(n, expr=transform(n.expr, one, memo)) for n in kernel.names)
    returns = tuple(v if isinstance(v, eq.Version) else transform(v, one, memo) for v in kernel.returns)
    return replace(kernel, body=tuple(map(statement, kernel.body)), names=names, returns=returns)


__all__ = ["alone"]
