"""Wavefronts: nests in which a cell waits for cells above it and beside it run along their diagonals.

``d[i, j] = f(d[i-1, j-1], d[i-1, j], d[i, j-1], …)`` for all i and j: the cells with one ``w = c * i + j`` wait only
for cells with a smaller one, so that the loop is one over w, all cells of a diagonal at once (Lamport, The parallel
execution of DO loops, CACM 1974). The loop carries the last few diagonals, a row of them each; what does not depend on
the array is taken from tables, of which a round sees a diagonal (:mod:`kraise.emit.loads.diagonals`).

Side conditions, each checked: two nested counted loops by one, both ranges known when the function is traced and the
inner one the same in every round; every round stores one cell of each array that it writes, at ``[i + a, j + b]``,
and loads of these arrays only cells at fixed distances; no scalar is carried; nothing else runs in parallel around.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kraise.analysis.boxes import Unbounded
from kraise.analysis.conditions import conjunction, is_static, static_expr
from kraise.analysis.dependence import Access, implied
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT, NUMBER
from kraise.ir.walk import children, free_indices, rebuild, substitute, topological
from kraise.raising.loops.alone import alone, as_thread
from kraise.raising.loops.diagonal_tables import Front, NoFront, Tables
from kraise.raising.loops.ranges import Range
from kraise.raising.loops.touched import stores
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import index_like, tidy
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, exposed
from kraise.raising.run.state import LocalArray, Raw, RawFold, RawNew, RawWrite, State
from kraise.raising.run.values import resolve, value

SHORT = 8  # a side of as many cells at most is not worth diagonals
STEEPEST, DEEPEST = 3, 6  # of the diagonals, and how many of them are kept


@dataclass
class _Cell:
    """The one store of an array in a round: where it is, and the distances in rounds of the loads of earlier rounds."""

    raw: RawWrite
    dims: tuple[int, int]  # which subscript moves with the outer loop, which with the inner one
    value: eq.Expr
    earlier: dict[eq.Read, tuple[int, int]] = field(default_factory=dict)
    bare: bool = False  # it loads no cell beside those that the loops store, where another one does


def wavefront(cx: Context, st: State, s: k.For, rng: Range, live: frozenset[str]) -> bool:
    """Runs the nest along its diagonals; False, with nothing done, where it is none or has another form."""
    nest, own = _nest(cx, st, s, rng, live), alone(st)
    if nest is None or own is None:
        return False
    checks, wanted = list(cx.checks), dict(cx.wanted)
    try:
        done = _run(cx, own, nest, rng)
    except (Refused, Unbounded, NoFront):
        done = None
    if done is None:
        cx.checks[:], cx.wanted = checks, wanted
        return False
    if own is not st:
        as_thread(done, st)
    st.become(done)
    st.rung(s.span, rng.index.name, "rung 2: a loop over the diagonals, all cells of one at once")
    return True


def _nest(cx: Context, st: State, s: k.For, rng: Range, live: frozenset[str]) -> tuple[k.For, k.For] | None:
    """The two loops, if nothing but plain assignments stands between them and no scalar leaves a round."""
    *before, last = s.body or (None,)
    if not isinstance(last, k.For) or last.orelse or not all(isinstance(x, k.Assign) for x in before):
        return None
    if cx.cooperative or abs(rng.step) != 1 or rng.within:
        return None
    own = {*assigned(s.body), s.var, last.var}
    if own & live or own & exposed(s.body, frozenset()) - {s.var} or not _plain(last.body):
        return None
    return s, last


def _plain(body: tuple[k.Stmt, ...]) -> bool:
    """Whether ``body`` holds assignments, stores and branches only."""
    return all(
        isinstance(x, k.Assign | k.Store) or (isinstance(x, k.If) and _plain(x.body) and _plain(x.orelse)) for x in body
    )


def _run(cx: Context, st: State, nest: tuple[k.For, k.For], rng: Range) -> State | None:
    from kraise.raising.run.statements import block

    s, t = nest
    inner = st.copy()
    arrays = sorted({resolve(cx, st, a) for a in stores(s.body)})
    for a in arrays:
        inner.versions.setdefault(a, eq.Version(a, 0))
    outside = {a: inner.versions[a] for a in arrays}
    entry = {a: cx.version(a) for a in arrays}
    inner.versions |= entry
    writes_from, accesses_from = len(inner.out), len(inner.accesses)
    inner.fences |= dict.fromkeys(arrays, writes_from)
    inner.walls |= {a: len(inner.before) + writes_from for a in arrays}
    _enter(inner, rng, s.var, writes_from)
    block(cx, inner, s.body[:-1], frozenset(assigned(s.body)))
    start, stop, step = (value(cx, inner, e) for e in (t.start, t.stop, t.step))
    if not isinstance(step, eq.Const) or step.value not in (1, -1) or not all(map(index_like, (start, stop))):
        return None
    second = Range(cx.index(t.var, inner.open), start, stop, int(step.value))  # type: ignore[arg-type]
    if not all(static_expr(e) and not free_indices(e) for e in (rng.start, rng.stop, start, stop)):
        return None
    sides = [(to_poly(r.stop) - to_poly(r.start)) * r.step for r in (rng, second)]
    if any(n.value is not None and n.value <= SHORT for n in sides):
        return None
    _enter(inner, second, t.var, writes_from)
    block(cx, inner, t.body, frozenset())
    raws = inner.out[writes_from:]
    own = inner.accesses[accesses_from:]
    cells = _cells(raws, inner.path, (rng, second), entry, outside)
    if any(x.array in cells and not x.write and x.node is None and not x.answered for x in own):
        return None
    paths = {n: [x.path for x in own if x.node is n] for c in cells.values() for n in c.earlier}
    front = _front(cx, st, cells, paths, (rng, second), sides)
    if front is None:
        return None
    done = st.copy()
    done.order, done.locals = inner.order, dict(st.locals)
    done.rungs = inner.rungs
    done.accesses += [replace(a, folds=(*st.folds, rng.index.name, second.index.name), node=None) for a in own]
    _emit(cx, done, cells, front, (rng, second), outside, s)
    for n in {*assigned(s.body), s.var, t.var}:
        done.env.pop(n, None)
    return done


def _enter(st: State, rng: Range, var: str, at: int) -> None:
    st.env[var] = rng.index
    st.open = (*st.open, rng.index.name)
    st.path = tuple(dict.fromkeys((*st.path, *rng.conjuncts())))
    st.entered[rng.index.name] = len(st.before) + at


def _cells(
    raws: list[Raw],
    path: tuple[eq.Expr, ...],
    ranges: tuple[Range, Range],
    entry: dict[str, eq.Version],
    outside: dict[str, eq.Version],
) -> dict[str, _Cell]:
    """The store of each array, and the loads of what earlier rounds stored. Raises NoFront."""
    cells: dict[str, _Cell] = {}
    for raw in raws:
        if not isinstance(raw, RawWrite) or raw.after.array in cells:
            raise NoFront
        old = eq.Read(outside[raw.after.array], raw.subscripts, raw.value.type, raw.view)
        new = simplify.op(raw.accumulate, (old, raw.value), raw.value.type) if raw.accumulate else raw.value
        extra = conjunction([c for c in raw.path if c not in path and not implied(path, c)])
        new = new if extra is None else simplify.select(extra, new, old, new.type)
        cells[raw.after.array] = _Cell(raw, _dims(raw.subscripts, ranges), new)
    after = {c.raw.after: a for a, c in cells.items()}
    before = {v: a for a, v in entry.items()}
    same: dict[eq.Expr, eq.Expr] = {}
    found: dict[str, dict[eq.Read, tuple[int, int]]] = {a: {} for a in cells}
    for n in topological([c.value for c in cells.values()]):
        if not isinstance(n, eq.Read) or n.version not in after | before:
            continue
        a = (after | before)[n.version]
        if a not in cells:
            raise NoFront
        distance = _distance(n, cells[a], ranges)
        if distance > (0, 0):
            found[a][n] = distance
        elif distance == (0, 0) and n.version in after:
            raise NoFront
        else:  # nothing has stored it yet
            same[n] = eq.Read(outside[a], n.subscripts, n.type, n.view)
    for a, c in cells.items():
        c.value, c.earlier = substitute(c.value, same), found[a]
    return cells


def _dims(subs: tuple[eq.Expr, ...], ranges: tuple[Range, Range]) -> tuple[int, int]:
    """Which subscript is ``i + a`` and which is ``j + b``. Raises NoFront."""
    out = []
    for own in ranges:
        names = {r.index.name for r in ranges}
        at = [d for d, x in enumerate(subs) if index_like(x) and free_indices(x) & names == {own.index.name}]
        if len(subs) != 2 or len(at) != 1 or not is_static(to_poly(subs[at[0]]) - to_poly(own.index)):
            raise NoFront
        out.append(at[0])
    return out[0], out[1]


def _distance(read: eq.Read, cell: _Cell, ranges: tuple[Range, Range]) -> tuple[int, int]:
    """How many rounds of the outer and of the inner loop ago the cell was stored. Raises NoFront."""
    if read.view != cell.raw.view or len(read.subscripts) != 2 or not all(map(index_like, read.subscripts)):
        raise NoFront
    gaps = [to_poly(w) - to_poly(r) for w, r in zip(cell.raw.subscripts, read.subscripts, strict=True)]
    if any(g.value is None for g in gaps):
        raise NoFront
    first, second = (int(gaps[d].value) * r.step for d, r in zip(cell.dims, ranges, strict=True))  # type: ignore[arg-type]
    return first, second


def _front(
    cx: Context,
    st: State,
    cells: dict[str, _Cell],
    paths: dict[eq.Read, list[tuple[eq.Expr, ...]]],
    ranges: tuple[Range, Range],
    sides: list[Poly],
) -> Front | None:
    """How the diagonals run, or None where the rows or the columns are independent."""
    distances = {n: d for c in cells.values() for n, d in c.earlier.items()}
    if not any(p == 0 for p, _ in distances.values()) or not any(p > 0 for p, _ in distances.values()):
        return None
    slope = next((c for c in range(1, STEEPEST + 1) if all(c * p + q > 0 for p, q in distances.values())), None)
    if slope is None or max(slope * p + q for p, q in distances.values()) > DEEPEST:
        return None
    rims = {a: _rim(c, paths, ranges) for a, c in cells.items()}
    top, left, right = (max(r[at] for r in rims.values()) for at in range(3))
    for a, rim in rims.items():  # another array need not have the cells that one has around the loops' own
        cells[a].bare = rim != (top, left, right)
        if cells[a].bare and rim != (0, 0, 0):
            return None
    row, column = ranges[0].index, ranges[1].index
    diagonal = cx.index("diagonal", (*st.open, row.name, column.name))
    (i, j) = ranges
    outer = to_poly(i.start) + (to_poly(row) - top) * i.step
    inner = to_poly(j.start) + (to_poly(column) - left) * j.step
    rows, columns = sides[0] + top, sides[1] + left + right
    return Front(row, column, diagonal, rows, columns, slope, top, left, right, to_expr(outer), to_expr(inner))


def _rim(
    c: _Cell, paths: dict[eq.Read, list[tuple[eq.Expr, ...]]], ranges: tuple[Range, Range]
) -> tuple[int, int, int]:
    """How far above, to the left and to the right of the cells that the loops store those are that they load."""
    top = left = right = 0
    for n, (p, q) in c.earlier.items():
        if p and not _stays(ranges[0], -p, paths[n]):
            top = max(top, p)
        if q and not _stays(ranges[1], -q, paths[n]):
            left, right = max(left, q), max(right, -q)
    return top, left, right


def _stays(rng: Range, rounds: int, paths: Iterable[tuple[eq.Expr, ...]]) -> bool:
    """Whether a load that many rounds from its own is of a round that the loop has."""
    moved = to_expr(to_poly(rng.index) + rounds * rng.step)
    inside = [substitute(c, {rng.index: moved}) for c in rng.conjuncts()]
    inside = [tidy(c) for c in inside]
    return all(implied(path, c) for path in paths for c in inside)


def _emit(
    cx: Context,
    st: State,
    cells: dict[str, _Cell],
    front: Front,
    ranges: tuple[Range, Range],
    outside: dict[str, eq.Version],
    s: k.For,
) -> None:
    """Puts the tables, the loop over the diagonals and the stores of what it made into ``st``."""
    row, diagonal = front.row, front.diagonal
    name = cx.fold(diagonal.name)
    tables = Tables(cx, st, front, (ranges[0].index, ranges[1].index), s.span)
    kept: dict[str, list[str]] = {}
    for a, c in cells.items():
        depth = max((front.slope * p + q for p, q in c.earlier.values()), default=0)
        kept[a] = [_made(cx, st, f"{a}.before", a, c, (to_expr(front.rows),), s) for _ in range(depth)]
    entries = {n: cx.version(n) for names in kept.values() for n in names}
    for array in entries:
        st.accesses.append(_access(st, array, (row,), front.bounds(row)))
    earlier: dict[eq.Expr, eq.Expr] = {}
    for a, c in cells.items():
        for n, (p, q) in c.earlier.items():
            array = kept[a][front.slope * p + q - 1]
            place = to_expr(to_poly(row) - p)
            earlier[n] = eq.Read(entries[array], (place,), n.type)
            inside = eq.Op("ge", (row, eq.Const(p, INT)), BOOL)
            st.accesses.append(_access(st, array, (place,), (*front.bounds(row), inside)))
    lane = front.axis(row)
    own = conjunction(front.own(front.place))
    assert own is not None
    outputs, body, arrays = [], [], []
    for a, c in cells.items():
        new = _along(c.value, earlier, tables)
        border = (front.top or front.left or front.right) and not c.bare
        old = eq.Read(outside[a], c.raw.subscripts, new.type, c.raw.view)
        beside = tables.load(old, True) if border else eq.Const(0, INT if new.type.kind == "number" else new.type)
        new = simplify.select(own, new, beside, new.type)
        outputs.append(eq.Output(f"${a}.out", (lane,), new, new.type))
        path = (*st.path, *front.bounds(row))
        for at, array in enumerate(kept[a]):
            source = new if at == 0 else eq.Read(entries[kept[a][at - 1]], (row,), new.type)
            exit_ = cx.version(array)
            body.append(RawWrite(entries[array], exit_, (row.name,), path, (row,), source, span=c.raw.span))
            arrays.append(eq.ArrayCarry(st.versions[array], entries[array], exit_, cx.version(array)))
    st.out += tables.made
    fold = eq.Fold(name, front.axis(diagonal), (), tuple(arrays), (), outputs=tuple(outputs), span=s.span)
    st.out.append(RawFold(fold, tuple(body)))
    for c_ in arrays:
        st.versions[c_.result.array] = c_.result
    for (a, c), out in zip(cells.items(), outputs, strict=True):
        _store(cx, st, a, c, front, eq.FoldResult(name, out.name, (lane, front.axis(diagonal)), out.type), outside, s)


def _along(e: eq.Expr, earlier: dict[eq.Expr, eq.Expr], tables: Tables) -> eq.Expr:
    """``e`` on a diagonal. Raises NoFront where a reduction holds a cell of an earlier round."""
    waiting = {n for n in topological([e]) if n in earlier}
    for n in topological([e]):
        if any(x in waiting for x in children(n)):
            waiting.add(n)
    memo: dict[eq.Expr, eq.Expr] = {}

    def one(n: eq.Expr) -> eq.Expr:
        if n not in memo:
            if n in earlier:
                memo[n] = earlier[n]
            elif n not in waiting:
                memo[n] = tables.load(n)
            elif isinstance(n, eq.Op | eq.Cast):
                memo[n] = rebuild(n, tuple(map(one, children(n))))
            else:
                raise NoFront
        return memo[n]

    return one(e)


def _store(
    cx: Context,
    st: State,
    array: str,
    c: _Cell,
    front: Front,
    result: eq.FoldResult,
    outside: dict[str, eq.Version],
    s: k.For,
) -> None:
    """What the loop put out, diagonal by diagonal, into the array."""
    row, column, diagonal = front.row, front.column, front.diagonal
    stack = _made(cx, st, f"{array}.diagonals", array, c, (to_expr(front.diagonals), to_expr(front.rows)), s)
    full = cx.version(stack)
    path = (*st.path, *front.bounds(diagonal, row))
    st.out.append(RawWrite(st.versions[stack], full, (diagonal.name, row.name), path, (diagonal, row), result))
    st.versions[stack] = full
    at = (to_expr(to_poly(row) * front.slope + to_poly(column)), row)
    inside = front.bounds(row, column)
    if c.bare:
        inside = (*inside, *front.own(to_poly(column)))
    st.accesses.append(_access(st, stack, at, inside))
    placed = {row: front.outer, column: front.inner}
    subs = tuple(tidy(substitute(x, placed)) for x in c.raw.subscripts)
    after = cx.version(array)
    new = eq.Read(full, at, result.type)
    loops = (row.name, column.name)
    st.out.append(
        RawWrite(outside[array], after, loops, (*st.path, *inside), subs, new, view=c.raw.view, span=c.raw.span)
    )
    st.versions[array] = after


def _made(cx: Context, st: State, wish: str, array: str, c: _Cell, shape: tuple[eq.Expr, ...], s: k.For) -> str:
    """A new array of the element type of ``array``, zero; its name."""
    from kraise.raising.run.statements import _element

    name, number = wish, 1
    while name in st.versions:
        number += 1
        name = f"{wish}{number}"
    kind, like = _element(cx, st, array, c.value), ""
    if array in st.locals:
        like = st.locals[array].like
    elif kind.is_inexact or kind.kind == "number":
        kind, like = NUMBER, array  # whatever floats it is given
    st.locals[name] = cx.made[name] = LocalArray(name, (), shape, kind, like, private=True)
    st.versions[name] = cx.version(name)
    st.out.append(RawNew(eq.New(st.versions[name], kind, shape, eq.Const(0, INT), like, s.span)))
    return name


def _access(st: State, array: str, subs: tuple[eq.Expr, ...], path: tuple[eq.Expr, ...]) -> Access:
    return Access(array, subs, (*st.path, *path), False, order=st.order, folds=st.folds, passed=st.passed)
