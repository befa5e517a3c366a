"""Flat arrays that are read and written under a view of rows of known length: how many rows, and if they are whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kraise.emit import tree
from kraise.emit.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import INT

OPEN = "rows"  # the raiser's parameter for "as many rows as there are", the first extent of a view
Key = tuple[str, tuple[eq.Expr, ...]]
Ranges = dict[str, eq.Axis]
Masks = tuple[eq.Expr, ...]


def sized(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with the open first extent of each view replaced by the number of rows that are used."""
    rows = _Rows(kernel)
    if not rows.stops:
        return kernel
    known = {key: rows.extent(key) for key in rows.stops}
    memo: dict[eq.Expr, eq.Expr] = {}

    def fix(node: eq.Expr) -> eq.Expr:
        found = memo.get(node)
        if found is None:
            out = tree.rebuilt(node, {c: fix(c) for c in tree.children(node)})
            if isinstance(out, eq.Read) and _open(out.view):
                view = (known[(out.version.array, out.view[1:])], *out.view[1:])
                out = eq.Read(out.version, out.subscripts, out.type, view, out.safe)
            found = memo[node] = out
        return found

    def stmt(s: eq.Stmt) -> eq.Stmt:
        match s:
            case eq.Write():
                view = (known[(s.after.array, s.view[1:])], *s.view[1:]) if _open(s.view) else s.view
                where = None if s.where is None else fix(s.where)
                return replace(s, subscripts=tuple(map(fix, s.subscripts)), value=fix(s.value), where=where, view=view)
            case eq.Fold():
                return replace(
                    s,
                    scalars=tuple(replace(c, init=fix(c.init), update=fix(c.update)) for c in s.scalars),
                    outputs=tuple(replace(o, value=fix(o.value)) for o in s.outputs),
                    body=tuple(map(stmt, s.body)),
                    condition=None if s.condition is None else fix(s.condition),
                )
        return s

    body = tuple(map(stmt, kernel.body))
    returns = tuple(v if isinstance(v, eq.Version) else fix(v) for v in kernel.returns)
    names = tuple(replace(n, expr=memo.get(n.expr, n.expr)) for n in kernel.names)
    return replace(kernel, body=body, returns=returns, names=names)


def _open(view: tuple[eq.Expr, ...]) -> bool:
    return bool(view) and isinstance(view[0], eq.Param) and view[0].name == OPEN


@dataclass(frozen=True)
class _Access:
    """A load or store under a view, the ranges of the indices around it, and the masks over it."""

    array: str
    view: tuple[eq.Expr, ...]
    subscripts: tuple[eq.Expr, ...]
    safe: bool
    ranges: Ranges
    masks: Masks = ()


def _accesses(kernel: eq.Kernel) -> Iterator[_Access]:
    """The loads and stores under views (a load in several ranges may come up once)."""
    yield from _body(kernel.body, {})
    for value in kernel.returns:
        if not isinstance(value, eq.Version):
            yield from _loads(value, {})


def _body(body: tuple[eq.Stmt, ...], ranges: Ranges) -> Iterator[_Access]:
    for s in body:
        match s:
            case eq.Write(axes=axes):
                inner = ranges | {a.name: a for a in axes}
                masks = () if s.where is None else (s.where,)
                if s.view:
                    yield _Access(s.after.array, s.view, s.subscripts, s.safe, inner, masks)
                for root in (*s.subscripts, *masks):
                    yield from _loads(root, inner)
                yield from _loads(s.value, inner, masks)
            case eq.Fold(axis=axis):
                inner = ranges if axis is None else ranges | {axis.name: axis}
                for c in s.scalars:
                    own = {a.name: a for a in c.axes}
                    yield from _loads(c.init, ranges | own)
                    yield from _loads(c.update, inner | own)
                for o in s.outputs:
                    yield from _loads(o.value, inner | {a.name: a for a in o.axes})
                if s.condition is not None:
                    yield from _loads(s.condition, inner)
                yield from _body(s.body, inner)


def _loads(root: eq.Expr, ranges: Ranges, masks: Masks = ()) -> Iterator[_Access]:
    seen: set[tuple[eq.Expr, Masks]] = set()
    stack = [(root, ranges, masks)]
    while stack:
        node, known, over = stack.pop()
        if (node, over) in seen:
            continue
        seen.add((node, over))
        if isinstance(node, eq.Read) and node.view:
            yield _Access(node.version.array, node.view, node.subscripts, node.safe, known, over)
        inner = known | {a.name: a for a in tree.axes_of(node)}
        if isinstance(node, eq.Reduce | eq.ArgReduce) and node.where is not None:
            over = (*over, node.where)
        stack += [(c, inner, over) for c in tree.children(node)]


class _Rows:
    """The rows past the last one that is used, of each view (None: not known)."""

    def __init__(self, kernel: eq.Kernel) -> None:
        self.stops: dict[Key, list[Linear | None]] = {}
        for a in _accesses(kernel):
            if _open(a.view):
                row = None if a.safe else _stop(a.subscripts[0], a.ranges)
                self.stops.setdefault((a.array, a.view[1:]), []).append(row)

    def extent(self, key: Key) -> eq.Expr:
        """The rows of a view: those of all arrays with rows of one length, where they compare."""
        alike = [s for (_, rest), stops in self.stops.items() if rest == key[1] for s in stops]
        best = _largest(alike) or _largest(self.stops[key])
        return self.all_rows(key) if best is None else _expression(best)

    @staticmethod
    def all_rows(key: Key) -> eq.Expr:
        """As many rows as there are, with the last one, which need not be whole."""
        array, rest = key
        size = rest[0]
        for r in rest[1:]:
            size = eq.Op("mul", (size, r), INT)
        negative = eq.Op("neg", (eq.Shape(array, 0, INT),), INT)
        return eq.Op("neg", (eq.Op("floordiv", (negative, size), INT),), INT)


def whole(kernel: eq.Kernel) -> frozenset[Key]:
    """The views (with their first extents) that their array surely fills: some access is to their last cell.

    Rows of a pitch (``a[i * lda + j]`` with j < m <= lda) end where the last row is used: the array may end there, too.
    """
    return frozenset((a.array, a.view) for a in _accesses(kernel) if not a.safe and _at_last(a))


def _at_last(a: _Access) -> bool:
    """Whether the access is to the last cell of its view for some values of its indices; what depends on data counts
    as executed."""
    fixed: dict[str, Linear] = {}
    for subscript, extent in zip(a.subscripts, a.view, strict=True):
        top = _top(linear(subscript), a.ranges, fixed)
        if top is None or not (top + 1).same(linear(extent)):
            return False
    return all(_holds(m, a.ranges, fixed) for m in a.masks)


def _holds(mask: eq.Expr, ranges: Ranges, fixed: dict[str, Linear]) -> bool:
    """Whether a mask over indices holds for these values of them."""
    match mask:
        case eq.Op(name="and", args=args):
            return all(_holds(m, ranges, fixed) for m in args)
        case _ if any(isinstance(n, eq.Read | eq.CarryIn | eq.FoldResult) for n in tree.walk(mask)):
            return True
        case eq.Op(name="lt" | "le" | "gt" | "ge" as name, args=(x, y)):
            gap = linear(y) - linear(x) if name in ("lt", "le") else linear(x) - linear(y)
            value = _top(gap, ranges, dict(fixed))
            return value is not None and not value.terms and value.constant >= (name in ("lt", "gt"))
    return False


def _top(form: Linear, ranges: dict[str, eq.Axis], fixed: dict[str, Linear]) -> Linear | None:
    """The largest value of a subscript, which fixes the indices that it names; those that are fixed stay."""
    for _ in range(2 * len(ranges) + 1):
        moving = [(atom, c) for atom, c in form.terms if isinstance(atom, eq.Index) and atom.name in ranges]
        if not moving:
            return form
        atom, c = moving[0]
        if atom.name not in fixed:
            axis = ranges[atom.name]
            fixed[atom.name] = linear(axis.hi) + -1 if c > 0 else linear(axis.lo)
        form = form.without(atom) + fixed[atom.name].times(c)
    return None


def _largest(stops: list[Linear | None]) -> Linear | None:
    best: Linear | None = None
    for stop in stops:
        gap = None if stop is None or best is None else stop - best
        if stop is None or (gap is not None and gap.terms):
            return None
        if gap is None or gap.constant > 0:
            best = stop
    return best


def _stop(row: eq.Expr, ranges: dict[str, eq.Axis]) -> Linear | None:
    """One past the largest value of a subscript."""
    form = linear(row)
    out = Linear((), form.constant + 1)
    for atom, c in form.terms:
        match atom:
            case eq.Index(name=name) if name in ranges:
                axis = ranges[name]
                out += (linear(axis.hi) + -1).times(c) if c > 0 else linear(axis.lo).times(c)
            case eq.Param() | eq.Shape() | eq.Const():
                out += Linear(((atom, c),))
            case _:
                return None
    return out


def _expression(value: Linear) -> eq.Expr:
    out: eq.Expr | None = None
    for atom, c in value.terms:
        part = atom if c == 1 else eq.Op("mul", (eq.Const(c, INT), atom), INT)
        out = part if out is None else eq.Op("add", (out, part), INT)
    if out is None:
        return eq.Const(value.constant, INT)
    return eq.Op("add", (out, eq.Const(value.constant, INT)), INT) if value.constant else out
