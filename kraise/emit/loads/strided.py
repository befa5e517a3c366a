"""Loads from a flat array at fixed strides whose rows may overlap: ``a[i * hop + j]`` with j up to more than ``hop``.

A function of the module makes them: slices of the array as rows where these lie apart, which the sizes tell when the
function is traced, and index arrays where they overlap.
"""

from __future__ import annotations

from kraise.emit.context import Context, Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import Py, Slice
from kraise.ir import equations as eq
from kraise.ir.order import by_text
from kraise.ir.types import INT32

NAME = "_strided"
TEXT = '''
def _strided(a, shape, strides):
    """a[i * strides[0] + j * strides[1] + ...] for every (i, j, ...) of shape; rows may overlap."""
    outer, inner = strides[:-1], strides[1:]
    rows = [s // max(t, 1) for s, t in zip(outer, inner)]
    if all(n <= r and r * t == s for n, r, s, t in zip(shape[1:], rows, outer, inner)):
        return jnp.resize(a, (shape[0], *rows))[tuple(slice(n) for n in shape)]
    at = 0
    for n, stride in zip(shape, strides):
        at = jnp.asarray(at)[..., None] + stride * jnp.arange(n)
    return a[at]
'''
Factors = tuple[eq.Expr, ...]


def strided(low: Lowering, base: Py, subscript: eq.Expr, frame: Frame) -> Val | None:
    """The load of one subscript over two or more axes of a flat array, or None if it is of another form."""
    ctx = low.ctx
    found = strides_of(ctx, subscript, frame) if ctx.names.is_free(NAME) else None
    if found is None:
        return None
    strides, offset = found
    order = tuple(sorted(strides, key=lambda a: _rank(strides[a]), reverse=True))
    if not strides[order[-1]].same(Linear((), 1)) or any(
        strides[a].same(strides[b]) or not _divides(strides[b], strides[a])
        for a, b in zip(order, order[1:], strict=False)
    ):
        return None
    for axis in order:
        if axis.step != 1:
            return None
        lo = linear(axis.lo)
        if lo.terms and strides[axis].terms:
            return None
        offset += strides[axis].times(lo.constant) if not lo.terms else lo.times(strides[axis].constant)
    if not offset.same(Linear()):
        # an offset hides where a negative stride leads: it has to be a number, and so have the strides
        number = not offset.terms and offset.constant < 0
        if number or any(s.terms for s in strides.values()) or not ctx.is_static(offset):
            return None
        base = py.Sub(base, (Slice(ctx.static(offset), None),))
    sizes = [ctx.size(a) for a in order]
    if any(s is None or not ctx.is_static(s) for s in sizes):
        return None
    shape = tuple(ctx.at_least_zero(s) for s in sizes if s is not None)
    ctx.needs.add(NAME)
    array = py.call(NAME, base, py.Tup(shape), py.Tup(tuple(ctx.static(strides[a]) for a in order)))
    return low.extend(array, order, frame)


def strides_of(context: Context, subscript: eq.Expr, frame: Frame) -> tuple[dict[eq.Axis, Linear], Linear] | None:
    """The stride of each axis and what is free of them, if the subscript is a sum of such products."""
    axes = {a.name: a for a in frame if a.name in context.free(subscript)}
    form = linear(subscript)
    out: dict[eq.Axis, Linear] = {}
    start = Linear((), form.constant)
    for atom, c in form.terms:
        if not context.free(atom) & axes.keys():
            start += Linear(((atom, c),))
            continue
        factors = factors_of(atom)
        moving = [f for f in factors if context.free(f) & axes.keys()]
        if len(moving) != 1 or not isinstance(moving[0], eq.Index):
            return None
        fixed = tuple(f for f in factors if f is not moving[0])
        stride = Linear((), c) if not fixed else Linear(((_product(fixed), c),))
        if not context.is_static(stride):
            return None
        axis = axes[moving[0].name]
        out[axis] = out.get(axis, Linear()) + stride
    good = len(out) == len(axes) >= 2 and all(
        c > 0 for s in out.values() for _, c in (*s.terms, (None, s.constant or 1))
    )
    return (out, start) if good else None


def factors_of(e: eq.Expr) -> Factors:
    match e:
        case eq.Op(name="mul", args=(a, b)):
            return (*factors_of(a), *factors_of(b))
    return (e,)


def _product(factors: Factors) -> eq.Expr:
    first, *others = sorted(factors, key=by_text)
    for f in others:
        first = eq.Op("mul", (first, f), INT32)
    return first


def _rank(stride: Linear) -> tuple[int, int]:
    """Larger for a stride that is a product of more sizes."""
    return max(((len(factors_of(a)), c) for a, c in stride.terms), default=(0, stride.constant))


def _divides(small: Linear, large: Linear) -> bool:
    """Whether one stride is a multiple of another at all sizes."""
    if small.same(Linear((), 1)):
        return True
    if not small.terms:
        return (
            small.constant > 0
            and large.constant % small.constant == 0
            and all(c % small.constant == 0 for _, c in large.terms)
        )
    if len(small.terms) != 1 or small.constant or len(large.terms) != 1 or large.constant:
        return False
    (a, c), (b, d) = small.terms[0], large.terms[0]
    left = list(factors_of(b))
    for f in factors_of(a):
        if f not in left:
            return False
        left.remove(f)
    return d % c == 0
