"""The text of loads that find zeros outside of an array, or its edges: slices (or positions) of ``jnp.pad(x[:n],
(1, 1))``."""

from __future__ import annotations

from collections.abc import Iterable

from kraise.emit.context import Assign, Context
from kraise.emit.loads.views import expression
from kraise.emit.loads.widths import ends, key_of, whole
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear, nonnegative, rounds_up
from kraise.emit.text.python import ALL, Atom, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.types import INT

Extents = tuple[Linear, ...]
Widths = tuple[tuple[Linear, Linear], ...]
NONE = Linear()


def padded(low: Lowering, node: eq.Read, base: Py, extents: Extents) -> tuple[Py, tuple[eq.Expr, ...], Extents]:
    """The padded array, the subscripts moved to it, and its extents: all for the padded axes alone.

    On the other axes the load has one position each, brought inside: those are taken first.
    """
    context = low.ctx
    subscripts, sizes, wide = [], [], []
    for s, part, extent, (before, after) in zip(
        node.subscripts, node.outside, extents, context.widths.of(node), strict=True
    ):
        if part is not None:
            moved_by = linear(s) + before
            subscripts.append(expression(moved_by) if not before.same(Linear()) else s)
            limit = linear(part.limit)
            size = _cut(low, limit) + before + _cut(low, after)
            if not limit.terms and after.terms and not nonnegative(extent - limit):
                # for small sizes the array may end before the number: as much more behind it, of which nothing counts
                after, size = after + limit, size + linear(eq.Param("padded.more", INT))
            sizes.append(size)
        wide.append((before, after))
    widths = tuple(wide)
    moved = tuple(subscripts), tuple(sizes)
    repeated = context.generators or any(part.edge for part in node.outside if part is not None)
    shared = context.widths.shared(node)
    if not shared and not (repeated and whole(node)):
        return _made(low, node, base, extents, widths), *moved
    rims = () if shared else tuple(map(ends, node.outside))  # other loads' own may be of other widths
    key = ("padded", key_of(node), rims)
    for block in context.blocks:
        known = block.variables.get(key)
        if known is not None:
            return Atom(known[0]), *moved
    depth = next((d for d, b in enumerate(context.blocks) if node.version in b.bound), 0)
    name = context.names.fresh(f"{node.version.array.split('.')[-1]}_padded")
    context.emit(Assign(name, _made(low, node, base, extents, widths)), depth)
    context.blocks[depth].variables[key] = (name, ())
    return Atom(name), *moved


def _cut(low: Lowering, size: Linear) -> Linear:
    """A width or a limit as it is cut at zero: a range that may end before the limit, or lie beyond it as a whole, is a
    slice of the padded array, not all of it."""
    if not size.terms or rounds_up(size) or low.ctx.never_negative(size):
        return size
    return linear(eq.Op("max", (expression(size), eq.Const(0, INT)), INT))


def _made(low: Lowering, node: eq.Read, base: Py, extents: Extents, widths: Widths) -> Py:
    from kraise.emit.loads.subscripts import position

    parts: list[Py] = []
    for s, part, extent in zip(node.subscripts, node.outside, extents, strict=True):
        if part is None:
            parts.append(position(low, s, extent, True))
        else:
            limit = linear(part.limit)
            parts.append(ALL if limit.same(extent) else Slice(None, low.ctx.at_least_zero(limit)))
    while parts and parts[-1] == ALL:
        parts.pop()
    array = py.Sub(base, tuple(parts)) if parts else base
    kept = tuple(w for w, part in zip(widths, node.outside, strict=True) if part is not None)
    if all(w.same(NONE) for pair in kept for w in pair):
        return array
    for edge in (part.edge for part in node.outside if part is not None and part.edge):
        limits = [linear(part.limit) for part in node.outside if part is not None]
        return py.call("jnp.pad", array, _text(low, kept), mode=repeating(low.ctx, edge, limits))
    values = (_values(low, part) for part in node.outside if part is not None)
    fills = [v for v in values if v is not None]
    return py.call("jnp.pad", array, _text(low, kept), **({"constant_values": fills[0]} if fills else {}))


def repeating(context: Context, edge: str, sizes: Iterable[Linear]) -> Py:
    """The mode of a pad that repeats cells, along axes of such sizes: JAX raises where there are none. Of what is added
    to nothing the loads take nothing, so that it may be any cell."""
    mode: Py = Atom(f'"{edge}"')
    for size in sizes:
        if size.terms and not context.never_negative(size + -1) and context.is_static(size):
            some = py.Bin(">", context.static(size), py.number(0))
            mode = py.IfExp(some, mode, Atom('"constant"'))
    return mode


def _values(low: Lowering, part: eq.Outside) -> Py | None:
    """What the rims hold: one number, or one before the first element and another behind the last."""
    first = None if part.fill is None else low.lower(part.fill, ()).py
    if part.behind is None:
        return first
    return py.Tup((first or py.number(0), low.lower(part.behind, ()).py))


def _text(low: Lowering, widths: Widths) -> Py:
    """``jnp.pad``'s widths as short as they can be."""
    texts = [tuple(low.ctx.at_least_zero(w) for w in pair) for pair in widths]
    if all(t == texts[0] for t in texts) and texts[0][0] == texts[0][1]:
        return texts[0][0]
    pairs = tuple(py.Tup(t) for t in texts)
    return pairs[0] if len(pairs) == 1 else py.Tup(pairs)
