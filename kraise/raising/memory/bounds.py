"""Marks accesses that the raised form makes beyond the source's own, where they may leave the array (raising.md, step
7).

The box of an equation is the hull of its domain: behind a mask, in a triangle, in a neutral lane of a reduction, a read
happens whose value nobody uses. If its subscript is not proved to be a coordinate of the array, it is marked ``safe``:
emission brings it inside first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from kraise.analysis.boxes import chosen_largest, largest, stated
from kraise.analysis.conditions import always, conjuncts
from kraise.analysis.dependence import Access, implied, nonnegative
from kraise.analysis.extents import Extents
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.analysis.whole_windows import last_of_windows
from kraise.diagnostics import refuse
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import children, free_indices, map_statement, rebuild, statements, topological
from kraise.raising.memory import whole_tiles
from kraise.raising.memory.by_number import ByNumber
from kraise.raising.memory.entry_rows import Entries, last_row
from kraise.raising.memory.first_rounds import Flags, exit_flags, in_first_rounds
from kraise.raising.memory.flat import flat, flattened, same_place
from kraise.raising.memory.going_round import goes_round
from kraise.raising.memory.guarded import Guards, guards
from kraise.raising.memory.one_block import of_one_block
from kraise.raising.memory.ranged import (
    Domain,
    above,
    begun,
    bounds_alone,
    box,
    by_launch_only,
    counted,
    from_zero,
    is_rounded,
    of_indices,
    remainder_below,
    sizes_of,
    sliced,
    within_range,
)
from kraise.raising.memory.row_extents import in_rows_of, writes_in_rows
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.state import ROWS
from kraise.raising.threads.groups import of_shares
from kraise.raising.threads.row_views import asks_for, by_launch, counts_threads


def mark(
    stmts: tuple[eq.Stmt, ...],
    returns: tuple[object, ...],
    accesses: list[Access],
    tails: Callable[[str], int],
    threads: frozenset[eq.Expr],
    rounds: tuple[eq.Axis, ...],
    tables: Entries,
) -> tuple[tuple[eq.Stmt, ...], tuple[object, ...], list[tuple[eq.Expr, eq.Expr]]]:
    """``stmts`` and ``returns`` with ``safe`` set on the accesses that may leave, and what became of each value
    (names follow it); ``tails`` of an array are its axes after the flat one; ``threads`` are parameters that are a
    block's threads, ``rounds`` the indices of loops around the function, ``tables`` what entries of tables are."""
    around = box(rounds)
    values = tuple(r for r in returns if isinstance(r, eq.Node) and not isinstance(r, eq.Version))
    marker = _Marker(accesses, tails, threads, guards(stmts, values))  # type: ignore[arg-type]
    marker.sizes, marker.flags, marker.tables = sizes_of(stmts), exit_flags(stmts), tables
    marker.made = {s.version.array: s.shape for s in statements(stmts) if isinstance(s, eq.New)}
    out = tuple(marker.statement(s, around) for s in stmts)
    kept = tuple(
        marker.expression(r, around) if isinstance(r, eq.Node) and not isinstance(r, eq.Version) else r  # type: ignore[arg-type]
        for r in returns
    )
    values_of = [(old, new) for (old, _), new in marker.memo.items()]
    if not marker.rows:
        return out, kept, [(old, new) for old, new in values_of if new is not old]
    viewed = in_rows_of(marker.extent)
    changed = [(old, now) for old, new in values_of if (now := viewed(new)) is not old]
    done = tuple(writes_in_rows(map_statement(s, viewed), marker.extent) for s in out)
    kept = tuple(viewed(r) if isinstance(r, eq.Node) and not isinstance(r, eq.Version) else r for r in kept)  # type: ignore[arg-type]
    return done, kept, changed


class _Marker:
    def __init__(
        self,
        accesses: list[Access],
        tails: Callable[[str], int],
        threads: frozenset[eq.Expr],
        under: Mapping[eq.Expr, Guards],
    ):
        self.extents, self.tails, self.threads, self.under = Extents(accesses), tails, threads, under
        self.executed: dict[tuple[str, tuple[eq.Expr, ...]], list[frozenset[eq.Expr]]] = {}
        for a in accesses:
            self.executed.setdefault((a.array, a.whole or a.subscripts), []).append(frozenset(a.path))
        self.by_number = ByNumber(self.executed)
        self.memo: dict[tuple[eq.Expr, Domain], eq.Expr] = {}
        self.rows: dict[tuple[str, tuple[eq.Expr, ...]], dict[Poly, None]] = {}
        self.firsts: dict[tuple[str, tuple[eq.Expr, ...]], dict[Poly | None, None]] = {}
        self.sizes: frozenset[eq.Expr] = frozenset()
        self.flags: Flags = {}
        self.tables: Entries = {}
        self.made: dict[str, tuple[eq.Expr, ...]] = {}  # the shapes of arrays of the function's own

    def _sized(self, condition: eq.Expr) -> bool:
        """Whether sizes alone decide."""
        atoms = [n for n in topological((condition,)) if not isinstance(n, eq.Op | eq.Const)]
        return bool(atoms) and all(isinstance(n, eq.Shape) or n in self.sizes for n in atoms)

    def statement(self, s: eq.Stmt, outer: Domain) -> eq.Stmt:
        match s:
            case eq.Write():
                domain = (*outer, *box(s.axes))
                if s.view and not self._rows(s.after.array, s.subscripts, s.view, domain):
                    at = flat(s.subscripts, s.view, self.tails(s.after.array))  # nothing says how many rows
                    s = replace(s, subscripts=at, view=())
                if s.where is not None and not s.accumulate and self._sized(s.where):
                    domain = (*domain, *conjuncts(s.where))  # all of it or nothing: emission asks before it stores
                leaves = self._leaves(s.after.array, s.subscripts, s.view, domain, s.where)
                return replace(
                    s,
                    subscripts=tuple(self.expression(x, domain) for x in s.subscripts),
                    value=self.expression(s.value, domain),
                    where=None if s.where is None else self.expression(s.where, domain),
                    safe=leaves and s.where is not None,
                )
            case eq.Fold():
                inner = outer if s.axis is None else (*outer, *box((s.axis,)))
                scalars = tuple(
                    replace(
                        c,
                        init=self.expression(c.init, (*outer, *box(c.axes))),
                        update=self.expression(c.update, (*inner, *box(c.axes))),
                    )
                    for c in s.scalars
                )
                outputs = tuple(replace(o, value=self.expression(o.value, (*inner, *box(o.axes)))) for o in s.outputs)
                condition = None if s.condition is None else self.expression(s.condition, inner)
                return replace(
                    s,
                    scalars=scalars,
                    outputs=outputs,
                    body=tuple(self.statement(b, inner) for b in s.body),
                    condition=condition,
                )
        return s

    def expression(self, e: eq.Expr, domain: Domain) -> eq.Expr:
        """``e`` with its reads marked over ``domain`` (reductions add their own axes)."""
        key = (e, domain)
        if key in self.memo:
            return self.memo[key]
        if isinstance(e, eq.Reduce | eq.ArgReduce | eq.Scan):
            axes = e.axes if isinstance(e, eq.Reduce) else (e.axis,)
            names = {a.name for a in axes}
            inner = (*(c for c in domain if not free_indices(c) & names), *box(axes))
            new = tuple(self.expression(c, domain if at < 2 * len(axes) else inner) for at, c in enumerate(children(e)))
        else:
            if isinstance(e, eq.CarryIn | eq.FoldResult):
                _within(e, domain)
            new = tuple(self.expression(c, domain) for c in children(e))
        out = rebuild(e, new)
        if isinstance(out, eq.Read) and isinstance(e, eq.Read) and not e.safe:
            leaves = self._leaves(e.version.array, e.subscripts, e.view, domain, None)
            paths = self.executed.get((e.version.array, e.subscripts), []) if leaves else []
            leaves = leaves and not goes_round(e.subscripts, e.view, paths, domain)
            leaves = leaves and not self._in_its_rows(e, domain)
            short = not leaves and self._counted_use(e, domain)
            leaves = leaves or short
            if leaves and (last := last_row(e, domain, self.tables, self._has_row)) is not None:
                here, leaves = (e.version.array, e.view[1:]), False
                self.rows.setdefault(here, {})[last + 1] = self.firsts.setdefault(here, {})[None] = None
            elif (
                self._partly(e)
                or e.view
                and not (
                    self._rows_executed(e, domain)
                    or self._rows_guarded(e, domain)
                    or self._rows_of_box(e, domain)
                    or (short and self._rows(e.version.array, e.subscripts, e.view, domain))
                    if leaves
                    else self._rows(e.version.array, e.subscripts, e.view, domain)
                )
            ):
                out, leaves = flattened(out, self.tails(out.version.array)), True
            if leaves:
                out = eq.Read(out.version, out.subscripts, out.type, out.view, True)
        elif isinstance(e, eq.Read) and e.safe and e.view and e.view[0] is ROWS:
            self._rows(e.version.array, e.subscripts, e.view, domain)
        self.memo[key] = out
        return out

    def _leaves(
        self,
        array: str,
        subs: tuple[eq.Expr, ...],
        view: tuple[eq.Expr, ...],
        domain: Domain,
        where: eq.Expr | None,
    ) -> bool:
        """Whether some subscript may leave the array over the domain, as far as can be proved."""
        if any(paths <= set(domain) for paths in self.executed.get((array, subs), [])):
            return False
        for d, s in enumerate(subs):
            if isinstance(s, eq.Const | eq.Param) or (not view and self._in_own(array, d, s, domain)):
                continue
            index = sliced(s, bool(view), domain)
            if index is not None and not self._stops_before(array, subs, view, index, domain):
                continue
            top = remainder_below(s, domain)
            if index_like(s) and self.extents.holds(array, d, view, s if top is None else top, domain):
                continue
            as_wide = flat(subs, view, self.tails(array)) if asks_for(view, ("grid.",)) else ()  # as the launch
            if any(self._surely(array, at, domain) for at in same_place(self.executed, array, as_wide)):
                return False
            if view and whole_tiles.made(self.executed, array, flat(subs, view, self.tails(array))[0], domain):
                return False
            return not self._surely(array, subs, domain)
        return False

    def _in_own(self, array: str, axis: int, s: eq.Expr, domain: Domain) -> bool:
        """Whether a subscript is a coordinate of an array that the function makes."""
        shape = self.made.get(array, ())
        if axis >= len(shape) or not index_like(s):
            return False
        at = to_poly(s)
        return nonnegative(domain, at) and nonnegative(domain, to_poly(shape[axis]) - 1 - at)

    def _stops_before(
        self, array: str, subs: tuple[eq.Expr, ...], view: tuple[eq.Expr, ...], index: eq.Index, domain: Domain
    ) -> bool:
        """Whether sizes keep the source's own accesses from places that the domain has (``l < k`` of a range that is
        rounded up to whole tiles): the array need not reach as far as the range."""
        if any(is_rounded(a) for c in above(index, domain) for a in to_poly(c.args[1]).atoms()):
            return True
        paths = self.executed.get((array, subs)) or of_one_block(self.executed, array, subs)
        if paths and all(counted(index, p, domain) or begun(index, p, domain) for p in paths):
            return True
        if by_launch(view):  # or within the last block
            whole = self.executed.get((array, flat(subs, view, self.tails(array))), ())
            if whole and all(any(of_indices(c) and not implied(domain, c) for c in p) for p in whole):
                return True
        return bool(paths) and all(any(bounds_alone(c, index) and not implied(domain, c) for c in p) for p in paths)

    def _counted_use(self, read: eq.Read, domain: Domain) -> bool:
        """The same of a load (a tile's) whose uses are all under such a condition."""
        under = self.under.get(read, frozenset())
        return any(isinstance(s, eq.Index) and counted(s, under, domain) for s in read.subscripts)

    def _in_its_rows(self, read: eq.Read, domain: Domain) -> bool:
        """Whether a load by the whole domain from rows of a flat array lies within them, up to a last."""
        if not read.view or read.view[0] is not ROWS or by_launch((*read.view, *read.subscripts)):
            return False
        row, zero = read.subscripts[0], eq.Const(0, INT)
        last = largest(to_poly(row), domain) or within_range(to_poly(row), domain)
        below = (eq.Op("lt", pair, BOOL) for pair in zip(read.subscripts[1:], read.view[1:], strict=True))
        above = (eq.Op("ge", (s, zero), BOOL) for s in read.subscripts)
        rows, cells = (frozenset().union(*map(free_indices, s)) for s in (read.subscripts[:1], read.subscripts[1:]))
        paths = [p for (array, _), found in self.executed.items() if array == read.version.array for p in found]
        if any(free_indices(c) & rows and free_indices(c) & cells and not implied(domain, c) for p in paths for c in p):
            return False  # the last row is begun, and need not be whole
        mine = self.executed.get((read.version.array, read.subscripts), [])
        if mine and all(any(free_indices(c) & rows and not implied(domain, c) for c in p) for p in mine):
            return False  # lanes beyond the source's last row
        if last is None or (isinstance(row, eq.Index) and by_launch_only(row, domain)):
            return False  # there may be more threads than rows
        return all(implied(domain, c) for c in (*self.under.get(read, ()), *above, *below))

    def _rows(self, array: str, subs: tuple[eq.Expr, ...], view: tuple[eq.Expr, ...], domain: Domain) -> bool:
        """Notes how many rows of a flat array are touched; False if nothing bounds them."""
        row = to_poly(subs[0])
        last = chosen_largest(row)
        top = largest(last, domain) or within_range(last, domain) or last_of_windows(last, domain)
        if top is None or (last != row and not (top.offset < 0 and _is_size(top - top.offset))):
            return False  # a row that only data choose may not be there: below a size of the source it is
        key = (array, view[1:])
        least = largest(chosen_largest(-row), domain)
        self.rows.setdefault(key, {})[top + 1] = None
        self.firsts.setdefault(key, {})[None if least is None else -least] = None
        return True

    def _partly(self, read: eq.Read) -> bool:
        """Whether the rows are the threads of blocks, and a condition lets only some of them load: the array need not
        fill the last row."""
        places = zip(read.subscripts, read.view, strict=True) if read.view else ()
        within = frozenset().union(*(free_indices(s) for s, r in places if not of_shares(r) and self._of_threads(r)))
        paths = [p for (array, _), found in self.executed.items() if array == read.version.array for p in found]
        of_rows = [c for p in paths for c in p if free_indices(c) & within]
        leaves = {n for n in topological(of_rows) if isinstance(n, eq.Param | eq.Shape | eq.Read)}
        return any(n not in self.threads and not by_launch((n,)) for n in leaves)

    def _of_threads(self, radix: eq.Expr) -> bool:
        return not self.threads.isdisjoint(topological((radix,)))

    def _rows_executed(self, read: eq.Read, domain: Domain) -> bool:
        """Notes how many rows the source itself touches by a load that the raised form makes beyond it, too."""
        paths = self.executed.get((read.version.array, read.subscripts), [])
        if by_launch(read.view) or not paths:
            return False
        tops = [stated(to_poly(read.subscripts[0]), tuple(sorted(p, key=repr))) for p in paths]
        known = [t for t in tops if t is not None]
        if len(known) < len(tops):
            return False
        for path, top in zip(paths, known, strict=True):
            if not all(map(of_indices, path)) and not self._has_row(read, top, domain):
                return False  # where data or sizes decide, the last row need not be there
        key = (read.version.array, read.view[1:])
        self.rows.setdefault(key, {}).update(dict.fromkeys(t + 1 for t in known))
        self.firsts.setdefault(key, {})[None] = None
        return True

    def _has_row(self, read: eq.Read, row: Poly, domain: Domain) -> bool:
        """Whether the array is loaded by rows as far as that, whatever data say."""
        same = (s for a, s in self.executed if a == read.version.array and len(s) == len(read.subscripts))
        rows = {s[0] for s in same if isinstance(s[0], eq.Index) and from_zero(s[0], domain)}
        return any((top := largest(to_poly(r), domain)) is not None and always(top - row) for r in rows)

    def _rows_of_box(self, read: eq.Read, domain: Domain) -> bool:
        """The same where only other subscripts may leave: the rows are those of the box, filled up in case the source
        does not touch them all."""
        row = read.subscripts[0]
        if not isinstance(row, eq.Index) or not from_zero(row, domain) or by_launch(read.view):
            return False
        return self._rows(read.version.array, read.subscripts, read.view, domain)

    def _rows_guarded(self, read: eq.Read, domain: Domain) -> bool:
        """The same where conditions around every use of the load bound the row (a tile that is filled under them)."""
        if by_launch(read.view):
            return False
        row, under = read.subscripts[0], tuple(sorted(self.under.get(read, ()), key=repr))
        top = stated(to_poly(row), under)
        below = eq.Op("ge", (row, eq.Const(0, INT)), BOOL)
        if top is None and implied(under, below) and all(implied((*domain, below), c) for c in under):
            top = largest(to_poly(row), domain) or within_range(to_poly(row), domain)  # it may lie before the first row
        if top is None or by_launch((to_expr(top),)):
            return False
        key = (read.version.array, read.view[1:])
        self.rows.setdefault(key, {})[top + 1] = None
        self.firsts.setdefault(key, {})[None] = None
        return True

    def extent(self, array: str, radices: tuple[eq.Expr, ...]) -> eq.Expr:
        """The number of rows under which a flat array is viewed: the most that any access touches, and a rim after
        them that is as wide as the one before them where that makes it a size of the source."""
        kept: list[Poly] = []
        for p in self.rows[array, radices]:
            if not any(always(q - p) for q in kept):
                kept = [q for q in kept if not always(p - q)] + [p]
        if len(kept) == 1:
            kept = [kept[0] + self._rim(kept[0], self.firsts[array, radices])]
        out = to_expr(kept[0])
        for p in kept[1:]:
            out = eq.Op("max", (out, to_expr(p)), INT)
        return out

    @staticmethod
    def _rim(rows: Poly, firsts: dict[Poly | None, None]) -> int:
        starts = [None if p is None else p.value for p in firsts]
        rim = min((n for n in starts if n is not None), default=0)
        known = None not in starts and rim > 0 and not _is_size(rows)
        return rim if known and _is_size(rows + rim) else 0

    def _surely(self, array: str, subs: tuple[eq.Expr, ...], domain: Domain) -> bool:
        """Whether the source makes this very access wherever the domain holds."""
        for path in (*self.executed.get((array, subs), ()), *self.by_number.paths(array, subs)):
            if all(c in domain or implied(domain, c) for c in path):
                return True
            if in_first_rounds(self.flags, path, subs, domain):
                return True
        return False


def _is_size(poly: Poly) -> bool:
    """Whether it is a size of the source as it stands, or of the launch."""
    size = to_expr(poly)
    return isinstance(size, eq.Param | eq.Shape) or counts_threads(size)


def _within(e: eq.CarryIn | eq.FoldResult, domain: Domain) -> None:
    """Refuses the use of a loop's result in lanes for which the loop keeps none.

    Raises:
        Refused: KR299.
    """
    for c in box(e.axes):
        if (
            free_indices(c) & {n for d in domain for n in free_indices(d)}
            and c not in domain
            and not implied(domain, c)
        ):
            raise refuse(
                "KR299",
                f"`{e.name.lstrip('$')}` is carried by a loop and used where that loop is not run "
                f"({', '.join(a.name for a in e.axes)})",
                None,
                "guard the loop and what uses its result by the same condition",
            )
