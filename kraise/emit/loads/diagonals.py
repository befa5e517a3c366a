"""Tables along their diagonals: the rounds of a wavefront see one diagonal of each, and put one out.

``t[i, w - c * i]`` for all rows i in round w is row w of the table skewed, a pad and a reshape; ``d[c * i + j, i]`` for
all i and j is the way back. Functions of the module do both.
"""

from __future__ import annotations

from kraise.emit.context import Context, Frame, Val
from kraise.emit.loads.dims import Dim, Range
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, from_zero, linear
from kraise.emit.text.python import Py, Slice
from kraise.ir import equations as eq

SKEW, UNSKEW = "by_diagonals", "from_diagonals"
TEXTS = {
    SKEW: '''
def by_diagonals(a, count, slope=1):
    """Row w < count holds a[i, w - slope * i] for each i, zero where there is none."""
    rows = a.shape[0]
    more = max(count + slope - a.shape[1], 0)
    wide = jnp.pad(a, ((0, 0), (0, more)))
    return wide.ravel()[: rows * count].reshape(rows, count).T
''',
    UNSKEW: '''
def from_diagonals(a, cols, slope=1):
    """Cell (i, j) of the result is a[slope * i + j, i], for 0 <= j < cols."""
    rows = a.shape[1]
    flat = jnp.pad(a.T.ravel(), (0, slope * rows))
    return flat.reshape(rows, slope * rows + cols)[:, :cols]
''',
}


def diagonal_of(low: Lowering, node: eq.Read, base: Py, row: eq.Axis, rounds: eq.Axis, slope: int) -> Py | None:
    """The skewed table whose row w round w sees, or None where its extents are not those of the diagonals."""
    ctx = low.ctx
    if not (_free(ctx, SKEW) and from_zero(row) and from_zero(rounds)):
        return None
    rows, extents = linear(row.hi), ctx.array_extents(node.version, node.view)
    cols = linear(rounds.hi) - (rows + -1).times(slope)
    if not (ctx.is_static(rows) and ctx.is_static(cols)):
        return None
    items: list[Py] = [
        Slice(None, None if n.same(e) else ctx.static(n)) for n, e in zip((rows, cols), extents, strict=True)
    ]
    while items and items[-1] == Slice(None, None):
        items.pop()
    ctx.needs.add(SKEW)
    table = py.Sub(base, tuple(items)) if items else base
    count = ctx.at_least_zero(linear(rounds.hi))
    return py.call(SKEW, table, count, *([py.number(slope)] if slope != 1 else []))


def slope_of(context: Context, subscripts: tuple[eq.Expr, ...], row: str, index: str) -> int | None:
    """c where the subscripts are ``[row, index - c * row]``."""
    if len(subscripts) != 2 or not isinstance(subscripts[0], eq.Index) or subscripts[0].name != row:
        return None
    form = linear(subscripts[1])
    found = {a.name: c for a, c in form.terms if isinstance(a, eq.Index)}
    if form.constant or len(form.terms) != 2 or found.get(index) != 1 or found.get(row, 0) >= 0:
        return None
    return -found[row]


def unskewed(low: Lowering, base: Py, node: eq.Read, extents: tuple[Linear, ...], frame: Frame) -> Val | None:
    """``a[c * i + j, i]`` over all rows i and columns j, or None if the load is of another form."""
    ctx = low.ctx
    if len(node.subscripts) != 2 or not isinstance(node.subscripts[1], eq.Index) or not ctx.names.is_free(UNSKEW):
        return None
    row = next((a for a in frame if a.name == node.subscripts[1].name), None)  # type: ignore[union-attr]
    form = linear(node.subscripts[0])
    found = {a.name: c for a, c in form.terms if isinstance(a, eq.Index)}
    column = next((a for a in frame if found.get(a.name) == 1 and a is not row), None)
    if row is None or column is None or form.constant or len(form.terms) != 2 or found.get(row.name, 0) < 1:
        return None
    slope, rows, cols = found[row.name], linear(row.hi), linear(column.hi)
    whole = (rows + -1).times(slope) + cols
    if not (from_zero(row) and from_zero(column) and extents[1].same(rows) and extents[0].same(whole)):
        return None
    ctx.needs.add(UNSKEW)
    array = py.call(UNSKEW, base, ctx.at_least_zero(cols), *([py.number(slope)] if slope != 1 else []))
    return low.extend(array, (row, column), frame)


def along(ctx: Context, base: Py, dims: list[Dim], extents: tuple[Linear, ...]) -> tuple[Py, Frame] | None:
    """``A[i, i]`` for all i of a range as a part of ``jnp.diagonal(A)``, or None for other loads. (Of the whole matrix:
    the gradient fills up one, where it would one for each part.)"""
    match dims:
        case [Range(axis=axis, step=1, backward=False) as row, Range(axis=other, step=1, backward=False) as column]:
            if other is not axis or not row.start.same(column.start):
                return None
            ends = any(row.stop.same(e) for e in extents)  # the other extent is no smaller then
            part = Slice(_bound(ctx, row.start), None if ends else _bound(ctx, row.stop))
            whole = py.call("jnp.diagonal", base)
            return (whole if part == Slice(None, None) else py.Sub(whole, (part,))), (axis,)
    return None


def _bound(ctx: Context, place: Linear) -> Py | None:
    if place.same(Linear()):
        return None
    return ctx.at_least_zero(place) if place.terms else py.number(max(place.constant, 0))


def _free(context: Context, name: str) -> bool:
    return context.names.is_free(name)
