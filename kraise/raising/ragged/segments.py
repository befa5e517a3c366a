"""Reductions and stores over segments, over the flat range (raising.md, step 5: ragged bounds).

An index k with ``ptr[i] <= k < ptr[i + 1]`` belongs to one i, since ptr does not decrease (a precondition that the
kernel states): what is said of (i, k) is said of k with ``i = row[k]``, and ``row[k]`` is the number of entries of ptr
that are not greater than k. A reduction over k becomes an accumulation into one cell a row, a store over (i, k) one
over k. Where the row is found through something else (``ptr[col[j]]``), the reduction is made for every row of ptr, if
it depends on nothing but the row. What depends on more has no flat form: its loop runs to the longest row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kraise.analysis.conditions import conjunction, conjuncts
from kraise.analysis.poly import to_expr, to_poly
from kraise.analysis.segments import Segment, segments
from kraise.ir import equations as eq
from kraise.ir.open_types import in_floats
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import axes_of, children, free_indices, map_statement, rebuild, substitute, topological
from kraise.raising import checked
from kraise.raising.ragged.loops import LongRows
from kraise.raising.ragged.row_forms import (
    Rows,
    apart_from,
    asked_in_rows,
    bound_by_data,
    computes,
    ends_with,
    fixed,
    neutral,
    over_all,
    plain_row,
    rows_of_rows,
    shortest,
    signed,
    times,
    unguarded,
    unused,
    without_arg,
)
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.context import Context

Axes = Mapping[str, eq.Axis]
_COMBINED = ("add", "min", "max", "and", "or")
_ZERO, _ONE = eq.Const(0, INT), eq.Const(1, INT)


def flattened(
    cx: Context, stmts: tuple[eq.Stmt, ...], returns: tuple[eq.Version | eq.Expr, ...], names: dict[eq.Expr, eq.Name]
) -> tuple[tuple[eq.Stmt, ...], tuple[eq.Version | eq.Expr, ...]]:
    """The statements and results with every segment of a ragged loop in flat form; ``names`` gets those of new values.

    Raises:
        LongRows: what some loop makes has no flat form.
    """
    if not cx.ragged:
        return stmts, returns
    for e, n in list(names.items()):  # a load may have been marked since
        names.setdefault(unguarded(e), n)
    flat = _Flattening(cx, names)
    body = flat.statements(stmts)
    late: list[eq.Stmt] = []
    results = tuple(r if isinstance(r, eq.Version) else flat.expression(r, {}, late) for r in returns)
    for version in dict.fromkeys(flat.pointers):
        checked.rely_on_order(cx, version, INT, f"{version.array} must not decrease")
    return (*flat.first, *body, *late), results


class _Flattening:
    def __init__(self, cx: Context, names: dict[eq.Expr, eq.Name]):
        self.cx, self.names = cx, names
        self.first: list[eq.Stmt] = []
        self.pointers: list[eq.Version] = []
        self.rows: dict[tuple[object, ...], Rows] = {}
        self.done: dict[tuple[object, ...], tuple[eq.Version, tuple[eq.Axis, ...]]] = {}
        self.entries: list[str] = []
        self.early: set[eq.Version] = set()  # made before everything else
        self.folds = 0

    # --- statements --------------------------------------------------------------------------

    def statements(self, stmts: tuple[eq.Stmt, ...]) -> tuple[eq.Stmt, ...]:
        out: list[eq.Stmt] = []
        for s in stmts:
            out += self.statement(s)
        return tuple(out)

    def statement(self, s: eq.Stmt) -> list[eq.Stmt]:
        match s:
            case eq.Write():
                before: list[eq.Stmt] = []
                s = over_all(s)
                axes = {a.name: a for a in s.axes}
                new = map_statement(s, lambda e: self.expression(e, axes, before))
                assert isinstance(new, eq.Write)
                return [*before, self.store(new)]
            case eq.Fold():
                return self.fold(s)
        return [s]

    def fold(self, s: eq.Fold) -> list[eq.Stmt]:
        before: list[eq.Stmt] = []
        after: list[eq.Stmt] = []
        for axes in (*(c.axes for c in s.scalars), *(o.axes for o in s.outputs)):
            self.refuse_if({a.name for a in axes} if len(axes) > 1 else set())
        self.folds += 1
        body = self.statements(s.body)
        scalars = []
        for c in s.scalars:
            own = {a.name: a for a in c.axes}
            update = self.expression(c.update, own, after)
            self.folds -= 1
            init = self.expression(c.init, own, before)
            self.folds += 1
            scalars.append(replace(c, init=init, update=update))
        outputs = tuple(
            replace(o, value=self.expression(o.value, {a.name: a for a in o.axes}, after)) for o in s.outputs
        )
        self.folds -= 1
        if s.condition is not None and self.expression(s.condition, {}, []) is not s.condition:
            self.refuse_if(set(self.cx.ragged))
        return [*before, replace(s, scalars=tuple(scalars), outputs=outputs, body=(*body, *after))]

    def store(self, s: eq.Write) -> eq.Write:
        """A store over (i, k) as one over k."""
        inside = {a.name: a for a in s.axes}
        if not set(inside) & set(self.cx.ragged):
            return s
        parts = () if s.where is None else conjuncts(s.where)
        for found in segments(parts, given_ends=True):
            row = plain_row(found.row)
            if found.index not in inside or row is None or row[0].name not in inside:
                continue
            i, k = inside[row[0].name], inside[found.index]
            if i.step != 1 or k.step != 1 or not ends_with(found, i):
                continue
            rows = self.rows_of(found, row[1], i, k)
            index = eq.Index(k.name, INT)
            here, conditions = self.belongs(rows, index, i, found)
            fn = self.moved(i, here, (*s.subscripts, s.value, *found.left(parts)))
            where = conjunction((*conditions, *map(fn, found.left(parts))))
            subscripts, axes = tuple(map(fn, s.subscripts)), tuple(a for a in s.axes if a is not i)
            safe = s.safe or subscripts != s.subscripts
            flat = replace(s, axes=axes, subscripts=subscripts, value=fn(s.value), where=where, covers=False, safe=safe)
            return self.store(flat)
        data = {a for a in inside if a in self.cx.ragged and bound_by_data(a, parts, set(inside))}
        self.refuse_if(data)
        return s

    # --- expressions -------------------------------------------------------------------------

    def expression(self, e: eq.Expr, axes: Axes, before: list[eq.Stmt]) -> eq.Expr:
        """``e`` with its ragged reductions as loads of what statements in ``before`` make."""
        memo: dict[tuple[eq.Expr, tuple[eq.Axis, ...]], eq.Expr] = {}

        def visit(node: eq.Expr, around: dict[str, eq.Axis]) -> eq.Expr:
            key = (node, tuple(around.values()))
            if key not in memo:
                memo[key] = one(node, around)
                if memo[key] is not node and node in self.names:
                    new = memo[key]
                    self.names.setdefault(new, replace(self.names[node], expr=new))
            return memo[key]

        def one(node: eq.Expr, around: dict[str, eq.Axis]) -> eq.Expr:
            if isinstance(node, eq.ArgReduce) and node.op != "bisect":
                node = without_arg(node, self.cx.ragged)
            if isinstance(node, eq.CarryIn | eq.FoldResult | eq.Scan):
                mine = [node.axis] if isinstance(node, eq.Scan) else node.axes
                whole = isinstance(node, eq.Scan) and node.other is None
                self.refuse_if({a.name for a in mine} if len(mine) > 1 or whole else set())
            inner = around
            if isinstance(node, eq.Reduce):
                inner = {**around, **{a.name: a for a in node.axes}}
            cut = 2 * len(node.axes) if isinstance(node, eq.Reduce) else 0
            below = children(node)
            new = rebuild(node, tuple(visit(c, around if at < cut else inner) for at, c in enumerate(below)))
            if isinstance(new, eq.Reduce):
                return self.reduction(new, around, before)
            return new

        if not any(isinstance(n, eq.Reduce | eq.ArgReduce | eq.Scan | eq.FoldResult) for n in topological((e,))):
            return e
        return visit(e, dict(axes))

    def reduction(self, node: eq.Reduce, axes: Axes, before: list[eq.Stmt]) -> eq.Expr:
        own = {a.name: a for a in node.axes}
        node = asked_in_rows(node)
        parts = () if node.where is None else conjuncts(node.where)
        mine = {n for n in own if n in self.cx.ragged and bound_by_data(n, parts, None)}
        if not mine:
            data = {n for n in self.cx.ragged if n in axes and bound_by_data(n, parts, None)}
            self.refuse_if({n for n in data if any(n in free_indices(c) and free_indices(c) & set(own) for c in parts)})
            return node
        for found in segments(parts, given_ends=True):
            if found.index not in mine or len(mine) > 1 or free_indices(found.pointer) & set(own):
                continue
            left = found.left(parts)
            total = self.by_row(node, found, left, axes, before) or self.for_every_row(node, found, left, axes, before)
            if total is not None:
                return total
        return self.nested(node, parts, mine, axes, before)

    def nested(
        self, node: eq.Reduce, parts: tuple[eq.Expr, ...], mine: set[str], axes: Axes, before: list[eq.Stmt]
    ) -> eq.Expr:
        """Rows of rows: the totals of the inner rows first, whichever outer row they belong to."""
        factor, sums = apart_from(node)
        found = rows_of_rows(sums, parts, mine, axes) if node.op in _COMBINED else None
        if found is None:
            self.refuse_if(mine)
            return node
        inner, around, outside = found
        total = self.reduction(inner, {**axes, **{a.name: a for a in around}}, before)
        return times(factor, self.reduction(eq.Reduce(node.op, around, total, outside, node.type), axes, before))

    def by_row(
        self, node: eq.Reduce, found: Segment, left: tuple[eq.Expr, ...], axes: Axes, before: list[eq.Stmt]
    ) -> eq.Expr | None:
        """Rows that an index counts: ``ptr[i + c]``."""
        row = plain_row(found.row)
        if row is None or row[0].name not in axes:
            return None
        i = axes[row[0].name]
        if i.step != 1 or free_indices(i.lo) or free_indices(i.hi) or not ends_with(found, i):
            return None
        free = free_indices(node) - {i.name}
        others = tuple(a for n, a in axes.items() if n in free)
        if len(others) < len(free) or any(a.step != 1 for a in others):
            return None
        made = self.total(node, found, row[1], i, others, left, before)
        if made is None:
            return None
        at = tuple(to_expr(to_poly(eq.Index(a.name, INT)) - to_poly(a.lo)) for a in (i, *others))
        return eq.Read(made, at, node.type)

    def for_every_row(
        self, node: eq.Reduce, found: Segment, left: tuple[eq.Expr, ...], axes: Axes, before: list[eq.Stmt]
    ) -> eq.Expr | None:
        """Rows that are looked up: the total of each row of the pointer, if it (less a factor) depends on it alone."""
        factor, node = apart_from(node)
        pointer = found.pointer
        hi = eq.Op("sub", (eq.Shape(pointer.version.array, 0, INT), _ONE), INT)
        j = eq.Axis(unused("j", axes), _ZERO, hi)
        sub = pointer.subscripts[0]
        index = eq.Index(j.name, INT)
        mapping: dict[eq.Expr, eq.Expr] = {sub: index}
        body = substitute(node.body, mapping)
        rest = tuple(substitute(c, mapping) for c in left)
        gone = free_indices(sub)
        if any(free_indices(e) & gone for e in (body, *rest)) or pointer.version.array in self.cx.made:
            return None
        if found.unless_last is not None:
            return None
        own = {a.name for a in node.axes}
        others = tuple(axes[n] for n in axes if n not in own and any(n in free_indices(e) for e in (body, *rest)))
        if any(a.step != 1 for a in others):
            return None
        named = eq.Read(pointer.version, (index,), pointer.type)
        node = eq.Reduce(node.op, node.axes, body, node.where, node.type)
        made = self.total(node, replace(found, pointer=named), 0, j, others, rest, before)
        if made is None:
            return None
        at = tuple(to_expr(to_poly(eq.Index(a.name, INT)) - to_poly(a.lo)) for a in others)
        return times(factor, eq.Read(made, (sub, *at), node.type))

    def total(
        self,
        node: eq.Reduce,
        found: Segment,
        offset: int,
        i: eq.Axis,
        others: tuple[eq.Axis, ...],
        left: tuple[eq.Expr, ...],
        before: list[eq.Stmt],
    ) -> eq.Version | None:
        """The array of totals, one cell a row (and each of ``others``)."""
        k = next(a for a in node.axes if a.name == found.index)
        if node.op not in _COMBINED or k.step != 1:
            return None
        if not left:
            node = eq.Reduce(node.op, node.axes, unguarded(node.body), node.where, node.type)
        key = (node.op, node.axes, node.body, left, found.pointer, found.shift, i, others)
        known = self.done.get(key)
        if known is not None:
            return known[0]
        rows = self.rows_of(found, offset, i, k)
        index = eq.Index(k.name, INT)
        here, conditions = self.belongs(rows, index, i, found)
        fn = self.moved(i, here, (node.body, *left), loose=not left)
        value = fn(node.body)
        rest = tuple(a for a in node.axes if a is not k)
        if rest:
            value = eq.Reduce(node.op, rest, value, conjunction(tuple(map(fn, left))), node.type)
            left = ()
        source = self.names.get(node) or self.names.get(unguarded(node))
        array = self.array(source.name if source else {"add": "totals"}.get(node.op, f"row_{node.op}"))
        shape = tuple(to_expr(to_poly(a.hi) - to_poly(a.lo)) for a in (i, *others))
        new, filled = eq.Version(array, 0), eq.Version(array, 1)
        kind = node.type if in_floats(node) and not rest else value.type
        made: list[eq.Stmt] = [eq.New(new, kind, shape, neutral(node.op, kind))]
        at = tuple(to_expr(to_poly(eq.Index(a.name, INT)) - to_poly(a.lo)) for a in others)
        span = source.span if source else None
        # outside every row nothing is combined, whatever there is; only derivatives must not see it
        plain = left and value.type.is_integer and not any(map(computes, left))
        where = conjunction((*(() if plain else conditions), *map(fn, left)))
        made.append(
            eq.Write(new, filled, (k, *others), (rows.at(index), *at), value, where, node.op, segments=True, span=span)
        )
        bounds = [e for a in (i, k, *others) for e in (a.lo, a.hi)]
        early = self.folds and all(fixed(e, (k, *others), self.early) for e in (value, where, *bounds) if e is not None)
        (self.first if early else before).extend(made)
        if early:
            self.early.add(filled)
        if early or not self.folds:
            self.done[key] = (filled, others)
        return filled

    # --- rows --------------------------------------------------------------------------------

    def rows_of(self, found: Segment, offset: int, i: eq.Axis, k: eq.Axis) -> Rows:
        """The row of each k: how many entries of the pointer, from that of the first row on, are not greater."""
        version = found.pointer.version
        last = to_expr(to_poly(i.hi) + (found.unless_last is None))
        key = (version, found.shift, offset, i.lo, last, k.lo, k.hi)
        for known, rows in self.rows.items():
            # the rows of a longer range serve for a shorter one
            if known[:-1] == key[:-1] and (known[-1] is k.hi or known[-1] in shortest(k.hi)):
                return Rows(rows.version, k)
        self.pointers.append(version)
        index = eq.Index(k.name, INT)
        taken = {k.name, *(r.axis.name for r in self.rows.values())}
        entry = eq.Axis(unused("j", {*taken, *self.entries}), i.lo, last)
        self.entries.append(entry.name)
        j = to_expr(to_poly(eq.Index(entry.name, INT)) + offset)
        start = to_expr(to_poly(eq.Read(version, (j,), INT)) + found.shift)
        count = eq.Reduce("add", (entry,), _ONE, eq.Op("le", (start, index), BOOL), INT)
        array = self.array("row")
        new, filled = eq.Version(array, 0), eq.Version(array, 1)
        shape = (to_expr(to_poly(k.hi) - to_poly(k.lo)),)
        rows = Rows(filled, k)
        self.early.add(filled)
        self.first.append(eq.New(new, INT, shape))
        value = eq.Op("sub", (count, _ONE), INT)
        self.first.append(eq.Write(new, filled, (k,), rows.at(index).subscripts, value, covers=True))
        if version.number or self.folds and free_indices(i.lo) | free_indices(i.hi):
            self.refuse_if({k.name})
        self.rows[key] = rows
        return rows

    def belongs(self, rows: Rows, k: eq.Index, i: eq.Axis, found: Segment) -> tuple[eq.Expr, tuple[eq.Expr, ...]]:
        """The row that k belongs to, as a value of i, and the conditions under which there is one."""
        row, size = rows.at(k), signed(to_expr(to_poly(i.hi) - to_poly(i.lo)))
        least, most = eq.Op("ge", (row, _ZERO), BOOL), eq.Op("lt", (row, size), BOOL)
        here = tidy(eq.Op("add", (row, i.lo), INT))
        return here, (least, most) if found.unless_last is None else (least,)  # the last row goes on

    def moved(self, i: eq.Axis, row: eq.Expr, roots: tuple[eq.Expr, ...], loose: bool = False):  # noqa: ANN201
        """A function that puts ``row`` for index i; what is computed for a row alone is left to ``i``'s own array."""
        nodes = topological(roots)
        indices: dict[eq.Expr, eq.Expr] = {n: row for n in nodes if isinstance(n, eq.Index) and n.name == i.name}
        if any(
            isinstance(n, eq.CarryIn | eq.FoldResult | eq.Scan) and i.name in {a.name for a in axes_of(n)}
            for n in nodes
        ):
            # a loop's result has an axis of its own for the row: it cannot be looked up
            self.refuse_if(set(self.cx.ragged))

        def fn(e: eq.Expr) -> eq.Expr:
            new = tidy(substitute(e, indices))
            new = unguarded(new) if loose else new
            for node in topological((e,)):
                if node in self.names:
                    moved = tidy(substitute(node, indices))
                    twin = unguarded(moved) if loose else moved
                    self.names.setdefault(twin, replace(self.names[node], expr=twin))
            return new

        return fn

    def array(self, wish: str) -> str:
        """A name for an array that no other array has."""
        taken = {*self.cx.ragged_arrays, *(p.name for p in self.cx.function.params), *self.cx.made}
        name = unused(wish, taken | {c.name for c in self.cx.module.constants})
        self.cx.ragged_arrays.add(name)
        return name

    def refuse_if(self, names: set[str]) -> None:
        """Asks for the loops of these indices to run to their longest row."""
        loops = frozenset().union(*(self.cx.ragged.get(n, set()) for n in names)) if names else frozenset()
        if loops:
            raise LongRows(loops)
