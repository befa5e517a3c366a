"""The number of rows of flat arrays that are read and written under a view of rows of known length."""

from __future__ import annotations

from dataclasses import replace

from kraise.emit import tree
from kraise.emit.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import INT

OPEN = "rows"  # the raiser's parameter for "as many rows as there are", the first extent of a view
Key = tuple[str, tuple[eq.Expr, ...]]


def sized(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with the open first extent of each view replaced by the number of rows that are used."""
    rows = _Rows()
    rows.body(kernel.body, {})
    for value in kernel.returns:
        if not isinstance(value, eq.Version):
            rows.expression(value, {})
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


class _Rows:
    """The rows past the last one that is used, of each view (None: not known)."""

    def __init__(self) -> None:
        self.stops: dict[Key, list[Linear | None]] = {}

    def body(self, body: tuple[eq.Stmt, ...], ranges: dict[str, eq.Axis]) -> None:
        for s in body:
            match s:
                case eq.Write(axes=axes):
                    inner = ranges | {a.name: a for a in axes}
                    if _open(s.view):
                        self.add((s.after.array, s.view[1:]), s.subscripts[0], s.safe, inner)
                    for root in tree.statement_roots(s):
                        self.expression(root, inner)
                case eq.Fold(axis=axis):
                    inner = ranges if axis is None else ranges | {axis.name: axis}
                    for c in s.scalars:
                        own = {a.name: a for a in c.axes}
                        self.expression(c.init, ranges | own)
                        self.expression(c.update, inner | own)
                    for o in s.outputs:
                        self.expression(o.value, inner | {a.name: a for a in o.axes})
                    if s.condition is not None:
                        self.expression(s.condition, inner)
                    self.body(s.body, inner)

    def expression(self, root: eq.Expr, ranges: dict[str, eq.Axis]) -> None:
        seen: set[eq.Expr] = set()
        stack = [(root, ranges)]
        while stack:
            node, known = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if isinstance(node, eq.Read) and _open(node.view):
                self.add((node.version.array, node.view[1:]), node.subscripts[0], node.safe, known)
            inner = known | {a.name: a for a in tree.axes_of(node)}
            stack += [(c, inner) for c in tree.children(node)]

    def add(self, key: Key, row: eq.Expr, safe: bool, ranges: dict[str, eq.Axis]) -> None:
        found = self.stops.setdefault(key, [])
        found.append(None if safe else _stop(row, ranges))

    def extent(self, key: Key) -> eq.Expr:
        """The rows of a view: those of all arrays with rows of one length, where they compare."""
        alike = [s for (_, rest), stops in self.stops.items() if rest == key[1] for s in stops]
        best = _largest(alike) or _largest(self.stops[key])
        return self.all_rows(key) if best is None else _expression(best)

    @staticmethod
    def all_rows(key: Key) -> eq.Expr:
        array, rest = key
        size = rest[0]
        for r in rest[1:]:
            size = eq.Op("mul", (size, r), INT)
        return eq.Op("floordiv", (eq.Shape(array, 0, INT), size), INT)


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
