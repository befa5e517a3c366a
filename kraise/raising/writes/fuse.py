"""Two writes of the same cells in a row are one: ``C *= beta`` then ``C += A @ B`` is ``C = beta * C + A @ B``.

A write whose version nothing reads but the next write of the same cells (and reads of those very cells in its value) is
put into it. Initial zeros, scale-then-accumulate and sum-then-divide come out as the one equation that an expert would
write. Where the next one stores under a condition, that is a choice between both: what is overwritten has no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kraise.analysis.conditions import conjunction, conjuncts
from kraise.analysis.dependence import implied
from kraise.analysis.poly import to_expr, to_poly
from kraise.analysis.segments import segments
from kraise.ir import equations as eq
from kraise.ir.open_types import in_floats, is_open, like
from kraise.ir.types import BOOL, FLOAT, INT, ScalarType
from kraise.ir.walk import axes_of, free_indices, map_statement, statement_expressions, substitute, topological
from kraise.raising.carried.problem import bounds_of
from kraise.raising.carried.reduction import combined
from kraise.raising.run import simplify
from kraise.raising.run.earliest import earliest
from kraise.raising.threads.launched import at_least_one
from kraise.raising.threads.seeds import started as started_with
from kraise.raising.threads.tiles import merged_reductions
from kraise.raising.writes.finish import covers
from kraise.raising.writes.portions import in_one

_COMBINED = ("add", "mul", "min", "max", "and_", "or_", "xor")

Shapes = dict[str, tuple[eq.Expr, ...]]


def fuse(stmts: tuple[eq.Stmt, ...], returned: frozenset[eq.Version], shapes: Shapes) -> tuple[eq.Stmt, ...]:
    """``stmts`` with writes fused, within folds too; ``shapes`` are those of the arrays that the kernel makes."""
    stmts = tuple(
        replace(s, body=fuse(s.body, returned | {a.exit for a in s.arrays}, shapes)) if isinstance(s, eq.Fold) else s
        for s in stmts
    )
    while True:
        found = _pair(stmts, returned, shapes)
        if found is None:
            return stmts
        at, to, new, inside = found
        rest = [map_statement(s, inside) if _uses(s, stmts[at].after) else s for s in stmts]  # type: ignore
        stmts = (*rest[:at], *rest[at + 1 : to], new, *rest[to + 1 :])


def _pair(
    stmts: tuple[eq.Stmt, ...], returned: frozenset[eq.Version], shapes: Shapes
) -> tuple[int, int, eq.Write, Callable[[eq.Expr], eq.Expr]] | None:
    """The first write that can be put into the next one of its array: both places, what stands at the second then, and
    how loads of the first elsewhere become what it stored."""
    kinds = {s.version.array: s.element for s in stmts if isinstance(s, eq.New)}
    for at, first in enumerate(stmts):
        if not isinstance(first, eq.Write) or first.safe or first.after in returned:
            continue
        users = [i for i in range(len(stmts)) if i != at and _uses(stmts[i], first.after)]
        heirs = [i for i in users if isinstance(stmts[i], eq.Write) and stmts[i].before is first.after]  # type: ignore[union-attr]
        if len(heirs) != 1 or min(users) < at:
            continue
        (to,) = heirs
        second = stmts[to]
        assert isinstance(second, eq.Write)
        if not all(_reads_same_cells(stmts[i], first) for i in users if i != to):
            continue
        new = _fused(first, second, shapes, kinds.get(first.after.array))
        if new is not None:
            before = eq.Read(first.before, first.subscripts, first.value.type, first.view)
            cell = combined_cell(first.accumulate, before, first.value)
            return at, to, new, _instead(first.after, cell)
    return None


def _instead(version: eq.Version, cell: eq.Expr) -> Callable[[eq.Expr], eq.Expr]:
    def fn(e: eq.Expr) -> eq.Expr:
        loads = {n: cell for n in topological((e,)) if isinstance(n, eq.Read) and n.version is version}
        return substitute(e, loads) if loads else e

    return fn


def _reads_same_cells(s: eq.Stmt, first: eq.Write) -> bool:
    """Whether ``s`` loads what ``first`` stored only at the very cell, under the same indices and condition."""
    if not isinstance(s, eq.Write) or s.where is not first.where or not set(first.axes) <= set(s.axes):
        return False
    nodes = topological((s.value, *s.subscripts))
    bound = {a.name for n in nodes if isinstance(n, eq.Reduce | eq.ArgReduce | eq.Scan) for a in axes_of(n)}
    return not bound & {a.name for a in first.axes} and all(
        n.subscripts == first.subscripts and n.view == first.view
        for n in topological(statement_expressions(s))
        if isinstance(n, eq.Read) and n.version is first.after
    )


def summed(stmts: tuple[eq.Stmt, ...], facts: tuple[eq.Expr, ...] = ()) -> tuple[eq.Stmt, ...]:
    """An accumulation over indices that its cell does not depend on adds up what they give: a reduction, then one
    step. ``facts`` hold of the sizes, since the emitted function checks them."""
    floats = frozenset(s.version.array for s in stmts if isinstance(s, eq.New) and s.element.kind == "float")
    return tuple(_summed(s, facts, floats) for s in stmts)


def _summed(s: eq.Stmt, facts: tuple[eq.Expr, ...], floats: frozenset[str]) -> eq.Stmt:
    if isinstance(s, eq.Fold):
        return replace(s, body=summed(s.body, facts))
    if not isinstance(s, eq.Write) or s.accumulate not in ("", *_COMBINED):
        return s
    kept = frozenset().union(*(free_indices(x) for x in s.subscripts)) if s.subscripts else frozenset()
    inner = tuple(a for a in s.axes if a.name not in kept)
    if not s.accumulate:
        return _stored_by_any(_where_some_round_is(s, inner, facts), inner)
    parts = conjuncts(s.where) if s.where is not None else ()
    if not inner or _in_its_row(s, inner, parts):
        return _plain(s, facts)
    names = {a.name for a in inner}
    where = conjunction([c for c in parts if free_indices(c) & names])
    outer = conjunction([c for c in parts if not free_indices(c) & names])
    value, own = s.value, inner
    if where is None and isinstance(value, eq.Reduce) and value.op == s.accumulate and value.where is None:
        own, value = (*inner, *value.axes), value.body
    reduced = eq.Reduce(s.accumulate, own, value, where, s.value.type)
    if s.after.array in floats and in_floats(of_floats := replace(reduced, type=FLOAT)):
        reduced = of_floats
    total = in_one(merged_reductions(reduced, ()), ())
    if isinstance(total, eq.Reduce) and not total.axes:  # each lane's part was known: nothing is left to sum over
        outer = conjunction([c for c in (outer, total.where) if c is not None])
        total = total.body if total.body.type.kind != "bool" else eq.Cast(total.type, total.body)
    if (apart := started_with(reduced)) is not None:
        total = eq.Op(s.accumulate, (apart[0], merged_reductions(apart[1], ())), total.type)
    kept_axes = tuple(a for a in s.axes if a.name in kept)
    return _plain(replace(s, axes=kept_axes, value=total, where=outer), facts)


def _in_its_row(s: eq.Write, inner: tuple[eq.Axis, ...], parts: tuple[eq.Expr, ...]) -> bool:
    """Whether each cell belongs to one row, which its accumulation is over: ``x[k] *= a[i]`` for ptr[i] <= k <
    ptr[i + 1]."""
    rows = {(x.index, *x.row.indices()) for x in segments(parts) if x.whole}
    cells = {n.name for n in s.subscripts if isinstance(n, eq.Index)}
    return len(inner) == 1 and any((k, inner[0].name) in rows for k in cells)


def _where_some_round_is(s: eq.Write, inner: tuple[eq.Axis, ...], facts: tuple[eq.Expr, ...]) -> eq.Write:
    """A store whose cell, value and condition do not name the round of a loop is made where the loop has a round. (A
    launch has a thread.)"""
    names = {a.name for a in inner}
    if any(free_indices(c) & names for c in ((s.value,) if s.where is None else (s.value, s.where))):
        return s
    found: list[eq.Expr] = []
    for a in reversed(inner):
        mine = conjunction([c for c in found if a.name in free_indices(c)])
        found = [c for c in found if a.name not in free_indices(c)]
        some = eq.Op("lt", (a.lo, a.hi), BOOL)
        count = to_expr(to_poly(a.hi) - to_poly(a.lo))
        if mine is not None:
            found.append(eq.Reduce("or", (a,), mine, None, BOOL))
        elif not at_least_one(count) and not implied(facts, some):
            found.append(some)
    if not found:
        return s
    return replace(s, where=conjunction([*(conjuncts(s.where) if s.where is not None else ()), *found]), covers=False)


def _stored_by_any(s: eq.Write, inner: tuple[eq.Axis, ...]) -> eq.Write:
    """A store of one value by many instances to one cell is made if any of them makes it. (Where an index array holds
    the cell, a scatter stores it as often as it is met.)"""
    if any(isinstance(n, eq.Read) for n in topological(s.subscripts)):
        return s
    names = {a.name for a in inner}
    if not inner or s.where is None or free_indices(s.value) & names:
        return s
    parts = conjuncts(s.where)
    own = conjunction([c for c in parts if free_indices(c) & names])
    outer = [c for c in parts if not free_indices(c) & names]
    if own is None or any(free_indices(b) & names for a in s.axes for b in (a.lo, a.hi)):
        return s
    if len(inner) == 1:
        own, _ = earliest(own, inner[0].name, bounds_of(inner[0]))  # if any round leaves, one is the first
    some = eq.Reduce("or", inner, own, None, BOOL)
    return replace(s, axes=tuple(a for a in s.axes if a.name not in names), where=conjunction([*outer, some]))


def _plain(s: eq.Write, facts: tuple[eq.Expr, ...]) -> eq.Write:
    """``y[i] *= e`` over cells that differ is ``y[i] = y[i] * e``: jax has derivatives of add as a scatter, not of
    the rest."""
    single = [to_poly(x).indices() for x in s.subscripts]
    own = [n for names in single for n in names]
    affine = all(_one_to_one(x, facts) and len(n) <= 1 for x, n in zip(s.subscripts, single, strict=True))
    if s.accumulate == "add" or not affine or len(set(own)) != len(own) or s.safe:
        return s
    old = eq.Read(s.before, s.subscripts, s.value.type, s.view)
    value = simplify.op(s.accumulate, (old, s.value), s.value.type)
    return replace(s, value=value, accumulate="")


def _one_to_one(subscript: eq.Expr, facts: tuple[eq.Expr, ...]) -> bool:
    """Whether a subscript of one index takes each value once: ``i + n`` and ``2 * i`` do, ``i % 3`` and ``i // 3`` do
    not, and ``k * i`` does only where k is known to be positive."""
    stack = [subscript]
    while stack:
        match stack.pop():
            case eq.Const() | eq.Param() | eq.Shape() | eq.Index():
                pass
            case eq.Op(name="add" | "sub" | "neg", args=args):
                stack += args
            case eq.Op(name="mul", args=(eq.Const(value=value), other) | (other, eq.Const(value=value))) if value:
                stack.append(other)
            case eq.Op(name="mul", args=(a, b)) if not free_indices(b) and _positive(b, facts):
                stack.append(a)
            case eq.Op(name="mul", args=(a, b)) if not free_indices(a) and _positive(a, facts):
                stack.append(b)
            case eq.Op() as e if not free_indices(e):
                pass
            case _:
                return False
    return True


def _positive(factor: eq.Expr, facts: tuple[eq.Expr, ...]) -> bool:
    return implied(facts, eq.Op("ge", (factor, eq.Const(1, INT)), BOOL))


def started(stmts: tuple[eq.Stmt, ...], shapes: Shapes) -> tuple[eq.Stmt, ...]:
    """An accumulation into every cell of a new array that was filled is a plain write of fill and sum."""
    fills = {s.version: s.fill for s in stmts if isinstance(s, eq.New) and s.fill is not None}
    out = []
    for s in stmts:
        if isinstance(s, eq.Write) and s.accumulate and s.where is None and s.before in fills:
            plain = replace(s, accumulate="", value=combined(s.accumulate, fills[s.before], s.value, s.value))
            plain = replace(plain, covers=covers(plain.axes, plain.subscripts, plain.after.array, shapes))
            s = plain if plain.covers else s
        out.append(s)
    return tuple(out)


def _uses(s: eq.Stmt, version: eq.Version) -> bool:
    if any(isinstance(n, eq.Read) and n.version is version for n in topological(statement_expressions(s))):
        return True
    match s:
        case eq.Write(before=before):
            return before is version
        case eq.Fold(arrays=arrays, body=body):
            return any(a.outside is version or a.exit is version for a in arrays) or any(
                _uses(b, version) for b in body
            )
    return False


def _fused(first: eq.Write, second: eq.Write, shapes: Shapes, kind: ScalarType | None) -> eq.Write | None:
    """``second`` with what ``first`` left in its cells, of type ``kind``, written out; None if their cells differ."""
    if first.view != second.view or len(first.axes) != len(second.axes):
        return None
    renaming: dict[eq.Index, eq.Index] = {}
    for a, b in zip(first.subscripts, second.subscripts, strict=True):
        if isinstance(a, eq.Index) and isinstance(b, eq.Index):
            if renaming.setdefault(a, b) is not b:
                return None
        elif a is not b:
            return None
    if {i.name for i in renaming} != {a.name for a in first.axes} or len(set(renaming.values())) != len(renaming):
        return None
    by_name = {a.name: a for a in second.axes}
    for i, j in renaming.items():
        mine = next(a for a in first.axes if a.name == i.name)
        other = by_name.get(j.name)
        if other is None or (mine.lo, mine.hi, mine.step) != (other.lo, other.hi, other.step):
            return None
    value = substitute(first.value, renaming)
    where = None if first.where is None else substitute(first.where, renaming)
    # where one of both stores
    chosen = where is None and second.where is not None and not (first.accumulate or second.accumulate)
    if (where is not second.where and not chosen) or _touches(second.where, first.after):
        return None
    own = [n for n in topological((second.value,)) if isinstance(n, eq.Read) and n.version is first.after]
    if any(n.subscripts != second.subscripts or n.view != second.view for n in own):
        return None
    before = eq.Read(first.before, second.subscripts, value.type, first.view)
    cell = combined_cell(first.accumulate, before, value)
    new = substitute(second.value, dict.fromkeys(own, cell)) if own else second.value
    if chosen and second.where is not None:
        number = isinstance(cell, eq.Const)
        one_type = not (is_open(new) or is_open(cell)) and new.type.is_inexact is cell.type.is_inexact
        if not (one_type or number or isinstance(new, eq.Const)):
            return None  # a choice between an integer and a float would be made in floating point
        new = simplify.select(second.where, new, cell, new.type if number else cell.type)
        full = covers(second.axes, second.subscripts, second.after.array, shapes)
        return replace(second, before=first.before, value=new, where=None, covers=full)
    if (
        second.accumulate
        and second.accumulate == first.accumulate
        and not (second.accumulate == "add" and _of_cell(value, new))
    ):
        return replace(second, before=first.before, value=simplify.op(second.accumulate, (value, new), value.type))
    if second.accumulate:
        if second.accumulate == "add" and not first.accumulate and _of_cell(cell, new):
            cell = like(None if kind is None else FLOAT if kind.is_inexact else INT, cell)
        less = _less(cell, new) if second.accumulate == "add" else None
        new = less or combined(second.accumulate, cell, new, cell)
    full = second.where is None and covers(second.axes, second.subscripts, second.after.array, shapes)
    return replace(second, before=first.before, value=new, accumulate="", covers=full)


def _of_cell(a: eq.Expr, b: eq.Expr) -> bool:
    """Whether two terms may not be added before they are added to the cell: in its type they are no booleans, and wrap
    no sooner than it does."""
    return "bool" in (a.type.kind, b.type.kind) or is_open(a) and is_open(b)


def _touches(where: eq.Expr | None, version: eq.Version) -> bool:
    return where is not None and any(isinstance(n, eq.Read) and n.version is version for n in topological((where,)))


def combined_cell(op: str, before: eq.Expr, value: eq.Expr) -> eq.Expr:
    """What a cell holds after the write."""
    if not op:
        return value
    if op in ("or_", "xor") and isinstance(before, eq.Const) and before.value == 0:
        return value
    less = _less(before, value) if op == "add" else None
    return less or simplify.op(op, (before, value), value.type)


def _less(a: eq.Expr, b: eq.Expr) -> eq.Expr | None:
    """``a + -c`` as ``a - c``: c may have no sign."""
    match b:
        case eq.Op(name="neg", args=(c,)) if is_open(c):
            return simplify.op("sub", (a, c), b.type)
    return None
