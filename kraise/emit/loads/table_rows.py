"""Values along an index that tables of the module know (``weight[q] * rho * (1 + 3 * (cx[q] * ux + cy[q] * uy))``),
row by row: the table's entries are Python's own numbers, and nothing is broadcast along a short axis.

``sum(cx_q * f_q for f_q, cx_q in zip(jnp.unstack(f3), cx))`` is one pass over the rows, and their gradients are stacked
rather than added up as whole arrays. (Measured on a CPU, nine directions on 200 x 150 cells: 0.4 of the time of
products with an axis for the table, of the gradient 0.8.) Numbers among which the index alone chooses are such a
table, too (nine directions on 300 x 300 cells: the gradient in a sixth of the time). The side conditions: the index has
a known number of values, from 0, and stands alone, in front, in each subscript that holds it. A value of another form
that is needed more than once (populations that came from beyond a wall) is made with its axis, and its rows are these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kraise.emit import tree
from kraise.emit.blocks import Assign, Block, Def, Frame, Val
from kraise.emit.loads.dims import Range, classify
from kraise.emit.loads.rolls import few, rolls
from kraise.emit.loads.windows import at
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear
from kraise.emit.text.names import identifier
from kraise.emit.text.python import ALL, Atom, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.walk import substitute

_Made = Mapping[eq.Expr, tuple[str, Frame]]  # parts that are made with the axis: their names, their other axes


@dataclass
class _Rows:
    """What comes in with each row: names, in order, and of what they are the rows."""

    names: list[str] = field(default_factory=list)
    sources: list[Py] = field(default_factory=list)
    known: dict[object, tuple[str, Frame]] = field(default_factory=dict)
    tables: bool = False
    arrays: bool = False


def total(low: Lowering, node: eq.Reduce, frame: Frame, own: Frame) -> Val | None:
    """A sum of rows by a table's entries; None where it is another sum."""
    if node.op != "add" or node.where is not None or len(node.axes) != 1 or len(own) < 2:
        return None
    if node.type.is_integer or node.type.kind == "bool":
        return None
    found = None if low.ctx.generators else _by_row(low, node.body, node.axes[0], own)
    if found is None or not found[0].arrays or found[1].lines:
        return None
    if not low.ctx.names.builtin("sum") or not low.ctx.names.builtin("zip"):
        return None
    rows, _, term = found
    text = py.call("sum", py.Generator(term, ((", ".join(rows.names), _zipped(rows)),)))
    return low.extend(text, own, frame)


def stacked(low: Lowering, stmt: eq.Write, frame: Frame) -> None:
    """Makes the value of a store whose first axis is that of a table row by row, where it is of that form: the text of
    it, or a variable where the rows go round and its name is needed."""
    ctx, value = low.ctx, stmt.value
    if len(frame) < 3 or len(ctx.blocks) > 1 or not isinstance(value, eq.Op):
        return
    if stmt.where is not None or low.variable(value, frame) is not None:
        return
    found = _by_row(low, value, frame[0], frame[1:])
    if found is None or not ctx.names.builtin("zip"):
        return
    rows, block, term = found
    given = tuple(rows.names)
    name = ctx.names.fresh("term")
    ctx.emit(Def(name, given, [*block.lines, Assign(None, term)]))
    row = block.index_text
    each = py.Call(Atom(name), (py.Un("*", Atom(row)),)) if len(given) > 1 else py.call(name, Atom(row))
    text = py.call("jnp.stack", py.Generator(each, ((row, _zipped(rows)),), listed=True))
    if all(isinstance(s, eq.Index) for s in stmt.subscripts):
        ctx.inline[value, frame] = Val(text, frame, len(frame))
        return
    made = ctx.names.fresh(f"{stmt.after.array.split('.')[-1]}_new")
    ctx.emit(Assign(made, text))
    ctx.blocks[0].variables[(value, frozenset(frame))] = (made, frame)


def _zipped(rows: _Rows) -> Py:
    return rows.sources[0] if len(rows.sources) == 1 else py.call("zip", *rows.sources)


def _by_row(low: Lowering, value: eq.Expr, axis: eq.Axis, own: Frame) -> tuple[_Rows, Block, Py] | None:
    """The value of one row over the axes that are left, and what comes in with it."""
    ctx = low.ctx
    if not few(axis):
        return None
    wanted = _made_with_axis(low, value, axis, own)
    if wanted is None:
        return None
    first = axis
    axis, value, anew = _renamed(low, value, axis)
    tables = (isinstance(n, eq.Read) and n.version.array in ctx.tables for n in tree.walk(value))
    if not any(tables) and not any(_chosen(low, n, axis) for n in tree.walk(value)):
        return None
    made = {anew(n): ("", over) for n, over in wanted.items()}
    rows = _collected(low, value, axis, own, made)
    if rows is None:
        return None
    for n, over in wanted.items():
        known = low.variable(n, (first, *over))
        if known is not None and known[1] != (first, *over):
            return None
        made[anew(n)] = (known[0] if known is not None else low.define(n, (first, *over)), over)
    for node in _beside(low, value, axis):
        low.lower(node, own)  # what is the same in all rows gets its variables first
    rows = _collected(low, value, axis, own, made)
    if rows is None:
        return None
    block = Block("", axis.name, ctx.names.fresh(_short(axis)), axis, unrolled=True)
    block.variables |= rows.known
    taken = [block.index_text, *map(ctx.names.fresh, rows.names)]
    ctx.enter(block)
    try:
        term = low.lower(value, own)
    finally:
        ctx.leave()
        for name in taken:
            ctx.names.release(name)
    for line in block.lines:
        if isinstance(line, Assign) and line.target:
            ctx.names.release(line.target)
    if term.axes != own or term.rank != len(own):
        return None
    return rows, block, term.py


def _made_with_axis(low: Lowering, value: eq.Expr, axis: eq.Axis, own: Frame) -> dict[eq.Expr, Frame] | None:
    """The parts that are no operations on loads at the index, with their other axes: loads whose rows are moved, and
    the largest operations that are needed more than once. None where there is another such part."""
    ctx = low.ctx

    def by_rows(n: eq.Expr) -> bool:
        if axis.name not in ctx.free(n) or _chosen(low, n, axis) is not None:
            return True
        match n:
            case eq.Read(safe=False, outside=(), limit=None, subscripts=(eq.Index(), *rest)):
                return not any(axis.name in ctx.free(s) for s in rest)
            case eq.Op() | eq.Cast():
                return all(map(by_rows, tree.children(n)))
        return False

    def moved(n: eq.Expr, over: Frame) -> bool:
        if not isinstance(n, eq.Read) or n.outside or n.limit is not None:
            return False
        found = rolls(ctx, n.subscripts, ctx.array_extents(n.version, n.view), (axis, *over), n.safe)
        return found is not None and found.rows == axis and not any(found.parts) and found.axes == over

    found: dict[eq.Expr, Frame] = {}
    stack = [value]
    while stack:
        n = stack.pop()
        if by_rows(n):
            continue
        over = tuple(a for a in own if a.name in ctx.free(n))
        if n is not value and over and (moved(n, over) or (isinstance(n, eq.Op) and ctx.uses[n] > 1)):
            found[n] = over
        elif isinstance(n, eq.Op | eq.Cast):
            stack += tree.children(n)
        else:
            return None
    return found


def _renamed(low: Lowering, value: eq.Expr, axis: eq.Axis) -> tuple[eq.Axis, eq.Expr, Callable[[eq.Expr], eq.Expr]]:
    """The value with an index of its own (sums beside it may run over one of that name), and how a part has it."""
    ctx, name = low.ctx, f"{axis.name}${len(low.ctx.blocks)}"
    held = [n for n in tree.walk(value) if axis.name in ctx.free(n)]
    old = {n: eq.Index(name, n.type) for n in held if isinstance(n, eq.Index)}
    for n in held:
        new = substitute(n, dict(old))
        ctx.uses[new] = ctx.uses[n]
        if n in ctx.wishes:
            ctx.wishes[new] = ctx.wishes[n]

    def anew(e: eq.Expr) -> eq.Expr:
        return substitute(e, dict(old))

    return eq.Axis(name, axis.lo, axis.hi, axis.step), anew(value), anew


def _beside(low: Lowering, value: eq.Expr, axis: eq.Axis) -> list[eq.Expr]:
    """The operations right below what the index is in that are free of it."""
    found: dict[eq.Expr, None] = {}
    for n in tree.walk(value):
        if isinstance(n, eq.Op | eq.Cast) and axis.name in low.ctx.free(n):
            found |= dict.fromkeys(c for c in tree.children(n) if axis.name not in low.ctx.free(c))
    return [n for n in found if isinstance(n, eq.Op | eq.Reduce)]


def _collected(low: Lowering, value: eq.Expr, axis: eq.Axis, own: Frame, made: _Made) -> _Rows | None:
    """The loads at the index, and the rows of what is ``made`` with its axis, by names that are free again; None where
    it is used in another way."""
    rows = _Rows()
    good = _loads(low, rows, value, axis, own, made) and rows.tables
    for name in rows.names:
        low.ctx.names.release(name)
    return rows if good else None


def _loads(low: Lowering, rows: _Rows, value: eq.Expr, axis: eq.Axis, own: Frame, made: _Made) -> bool:
    ctx = low.ctx
    seen: set[eq.Expr] = set()
    stack = [value]
    found: list[eq.Read] = []
    while stack:
        node = stack.pop()
        if node in seen or axis.name not in ctx.free(node):
            continue
        seen.add(node)
        if node in made:
            whole, over = made[node]
            name = ctx.names.fresh(f"{whole or 'row'}_{_short(axis)}")
            rows.names.append(name)
            rows.sources.append(py.call("jnp.unstack", Atom(whole)))
            rows.known[(node, frozenset(over))] = (name, over)
            rows.arrays = True
            continue
        if (numbers := _chosen(low, node, axis)) is not None:
            _numbers(low, rows, node, numbers, axis)
            continue
        match node:
            case eq.Read(safe=False, outside=(), limit=None, subscripts=(eq.Index(), *rest)):
                if any(axis.name in ctx.free(s) for s in rest):
                    return False
                found.append(node)
            case eq.Op():
                stack += tree.children(node)[::-1]
            case eq.Cast(arg=arg):
                stack.append(arg)
            case _:
                return False
    for node in sorted(found, key=lambda n: (n.version.array in ctx.tables, found.index(n))):
        if not (
            _table(low, rows, node, axis) if node.version.array in ctx.tables else _row(low, rows, node, axis, own)
        ):
            return False
    for node in seen:
        if isinstance(node, eq.Cast) and _chosen(low, node.arg, axis) is not None:
            if not node.type.is_inexact or node.arg.type.kind == "float" and node.arg.type != node.type:
                return False
            rows.known[(node, frozenset())] = rows.known[(node.arg, frozenset())]
    for node in seen:  # one of Python's numbers takes the type of the array that it meets
        if isinstance(node, eq.Cast) and isinstance(node.arg, eq.Read) and node.arg.version.array in ctx.tables:
            own_bits = (node.arg.type.bits, node.type.bits)
            if not node.type.is_inexact or (node.arg.type.kind == "float" and own_bits == (32, 64)):
                return False  # Python's numbers have 64 bits
            rows.known[(node, frozenset())] = rows.known[(node.arg, frozenset())]
    return True


def _table(low: Lowering, rows: _Rows, node: eq.Read, axis: eq.Axis) -> bool:
    table = low.ctx.tables[node.version.array]
    count = linear(axis.hi).constant
    if len(table.shape) != 1 or table.shape[0] < count or node.view or node.version.number:
        return False
    if table.type.kind not in ("int", "float") or (table.type.kind == "float" and table.type.bits == 64):
        return False
    low.ctx.used_constants.add(node.version.array)
    name = low.ctx.names.fresh(f"{node.version.array}_{_short(axis)}")
    rows.names.append(name)
    text: Py = Atom(identifier(node.version.array))
    rows.sources.append(text if table.shape[0] == count else py.Sub(text, (Slice(None, py.number(count)),)))
    rows.known[(node, frozenset())] = (name, ())
    rows.tables = True
    return True


def _row(low: Lowering, rows: _Rows, node: eq.Read, axis: eq.Axis, own: Frame) -> bool:
    from kraise.emit.loads.subscripts import slice_item, subscripted, viewed

    ctx = low.ctx
    extents = ctx.array_extents(node.version, node.view)
    dims = [classify(ctx, s, e, own) for s, e in zip(node.subscripts[1:], extents[1:], strict=True)]
    ranges = [d for d in dims if isinstance(d, Range) and d.step == 1 and not d.backward]
    left = tuple(d.axis for d in ranges)
    if len(ranges) < len(dims) or tuple(a for a in own if a in left) != left:
        return False
    base = viewed(ctx, node.version, node.view)
    base = base if node.view else ctx.wide.get(node.version, base)
    items: list[Py] = [ALL if linear(axis.hi).same(extents[0]) else Slice(None, ctx.static(axis.hi))]
    items += [slice_item(ctx, d, e)[0] for d, e in zip(ranges, extents[1:], strict=True)]
    base = subscripted(base, items)
    name = ctx.names.fresh(f"{node.version.array.split('.')[-1]}_{_short(axis)}")
    rows.names.append(name)
    rows.sources.append(py.call("jnp.unstack", base) if left else base)
    rows.known[(node, frozenset(left))] = (name, left)
    rows.arrays |= bool(left)
    return True


def _chosen(low: Lowering, node: eq.Expr, axis: eq.Axis) -> list[eq.Expr] | None:
    """The numbers among which the index alone chooses (``4 / 9 if q == 0 else 1 / 9 if q < 5 else 1 / 36``), one for
    each of its values: a table that is not written as one. None for any other value."""
    if not isinstance(node, eq.Op) or node.name not in ("select", "pick") or low.ctx.free(node) != {axis.name}:
        return None
    if node.type.kind not in ("int", "float", "number") or node.type.is_inexact and node.type.bits == 64:
        return None
    found = [at(node, axis.name, k, low.ctx.tables) for k in range(linear(axis.hi).constant)]
    plain = all(isinstance(n, eq.Const) or _arithmetic(n) for v in found for n in tree.walk(v))
    return found if plain else None


def _arithmetic(n: eq.Expr) -> bool:
    return isinstance(n, eq.Op) and n.name in ("div", "mul", "neg", "add", "sub") and n.type.is_inexact


def _numbers(low: Lowering, rows: _Rows, node: eq.Expr, values: list[eq.Expr], axis: eq.Axis) -> None:
    """Such numbers as what comes in with the rows."""
    wish = low.ctx.wishes.get(node)
    name = low.ctx.names.fresh(f"{wish.name if wish else 'number'}_{_short(axis)}")
    rows.names.append(name)
    rows.sources.append(py.Tup(tuple(low.lower(v, ()).py for v in values)))
    rows.known[(node, frozenset())] = (name, ())
    rows.tables = True


def _short(axis: eq.Axis) -> str:
    return axis.name.partition("$")[0]


__all__ = ["stacked", "total"]
