"""One buffer that a host deals out by pointers (``u = buf; v = buf + n; w = v + n``) as an array for each of them.

The statements of the function are followed in order: where each name points into the buffer is known, but for names
that a loop or a branch swaps, which point to the start of some piece. Copies and fills of several pieces are one for
each.

Side conditions, checked here: the buffer is the function's own, the places where pieces start are sums and products of
numbers that are set once, and their order is known. That nothing reaches beyond its piece is checked where it is used
(:class:`NotApart`): otherwise the buffer stays one array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from kraise.analysis.poly import Poly, constant
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, fresh, read_within, set_within, sets
from kraise.ir.rename import within
from kraise.ir.types import INT32
from kraise.raising.hosts.reach import Numbers


class NotApart(Exception):
    """Something may reach beyond its piece of a buffer."""


def dealt_out(
    body: tuple[h.Stmt, ...], parameters: set[str], taken: set[str], number: Numbers
) -> tuple[tuple[h.Stmt, ...], frozenset[str]]:
    """The body with an array for each piece of such buffers, and the names of these arrays."""
    pieces: set[str] = set()
    if not any(r.offset is not None for r in within(body, k.ArrayRef)):
        return body, frozenset()
    for stmt in body:
        if (
            isinstance(stmt, h.Alloc)
            and stmt.shape is not None
            and len(stmt.shape) == 1
            and number.times[stmt.name] == 1
        ):
            if stmt.name in parameters:
                continue
            own = set(taken)
            try:
                dealing = _Dealing(body, stmt, parameters, number, own)
                body = dealing.run()
            except NotApart:
                continue
            taken |= own
            pieces |= set(dealing.names)
    return body, frozenset(pieces)


class _Dealing:
    """One buffer."""

    def __init__(self, body: tuple[h.Stmt, ...], pool: h.Alloc, parameters: set[str], number: Numbers, taken: set[str]):
        self.body, self.pool, self.number, self.taken = body, pool, number, taken
        before = body[: next(n for n, s in enumerate(body) if s is pool)]
        self.known = number.fixed & (parameters | set_within(before))
        assert pool.shape is not None
        self.total = self.number(pool.shape[0])
        self.starts: list[tuple[Poly, k.Expr | None]] = [(constant(0), None)]
        self.wishes: dict[Poly, str] = {}
        self.seen = set_within(before) | parameters  # names that mean something else until the buffer is dealt out
        self.names: list[str] = []
        self.sizes: list[tuple[Poly, k.Expr]] = []

    def run(self) -> tuple[h.Stmt, ...]:
        rest = self.body[next(n for n, s in enumerate(self.body) if s is self.pool) + 1 :]
        self.find(rest)
        if len(self.starts) < 2:
            raise NotApart
        self.order()
        shape = [(size,) for _, size in self.sizes]
        made = [replace(self.pool, name=n, shape=s) for n, s in zip(self.names, shape, strict=True)]
        out: list[h.Stmt] = []
        for s in self.body:
            if s is self.pool:
                out += made
                break
            out.append(s)
        if self.pool.name in read_within(rest) and self.pool.name not in self.names:
            out.append(h.Point((self.pool.name,), (k.ArrayRef(self.names[0]),), span=self.pool.span))
        at: dict[str, Poly | None] = {n: p for n, (p, _) in zip(self.names, self.starts, strict=True)}
        at[self.pool.name] = constant(0)
        return (*out, *self.written(rest, at))

    # --- where the pieces start

    def find(self, rest: tuple[h.Stmt, ...]) -> None:
        """The places at which names and arguments point into the buffer."""
        at: dict[str, tuple[Poly, k.Expr | None] | None] = {self.pool.name: (constant(0), None)}
        for stmt in rest:
            for ref in _references(stmt):
                if ref.array in at and ref.offset is not None:
                    self.start(self.place(at[ref.array], ref.offset))
            if isinstance(stmt, h.Point):
                found = [at.get(s.array) for s in stmt.sources if isinstance(s, k.ArrayRef)]
                moved = {}
                for name, source, base in zip(stmt.names, stmt.sources, found, strict=True):
                    assert isinstance(source, k.ArrayRef)
                    if source.array in at:
                        place = base if source.offset is None else self.place(base, source.offset)
                        moved[name] = place
                        if place is not None and name not in self.seen:
                            self.wishes.setdefault(place[0], name)
                    elif name in at:
                        raise NotApart
                at.update(moved)
            elif inner := {n for b in h.children(stmt) for n in set_within(b)} & set(at):
                at.update(dict.fromkeys(inner, None))
            elif sets(stmt) & set(at):
                raise NotApart
            self.seen |= set_within((stmt,))

    def place(self, base: tuple[Poly, k.Expr | None] | None, offset: k.Expr) -> tuple[Poly, k.Expr]:
        """A place in the buffer, which must be known where it is made."""
        if base is None or not set(expression_names(offset)) <= self.known or within(offset, k.Load):
            raise NotApart
        start, e = base
        return start + self.number(offset), offset if e is None else k.Op("add", (e, offset), INT32)

    def start(self, found: tuple[Poly, k.Expr]) -> None:
        if found[0] not in [p for p, _ in self.starts]:
            self.starts.append(found)

    def order(self) -> None:
        """The pieces in order, with names and sizes."""
        ordered: list[tuple[Poly, k.Expr | None]] = []
        waiting = list(self.starts)
        while waiting:
            first = next((x for x in waiting if all(self.number.not_negative(y[0] - x[0]) for y in waiting)), None)
            if first is None:
                raise NotApart
            ordered.append(first)
            waiting.remove(first)
        self.starts = ordered
        for n, (p, e) in enumerate(ordered):
            end, after = (self.total, self.pool.shape[0]) if n + 1 == len(ordered) else ordered[n + 1]  # type: ignore[index]
            size = end - p
            if not self.number.not_negative(size) or after is None:
                raise NotApart
            self.sizes.append((size, self.expression(size, (after, e))))
            wish = self.wishes.get(p, f"{self.pool.name}_{n}")
            taken = wish in self.names or wish == self.pool.name
            self.names.append(fresh(self.taken, wish) if taken or p not in self.wishes else wish)

    # --- the statements on the pieces

    def written(self, body: Iterable[h.Stmt], at: dict[str, Poly | None]) -> tuple[h.Stmt, ...]:
        """The statements with the pieces' own names; ``at``: where each name points, None for the start of a piece."""
        out: list[h.Stmt] = []
        for stmt in body:
            inner = {n for b in h.children(stmt) for n in set_within(b)} & set(at)
            if inner:
                at.update(dict.fromkeys(inner))
            if h.children(stmt):
                blocks = {n: self.written(getattr(stmt, n), dict(at)) for n in ("body", "orelse") if hasattr(stmt, n)}
                out.append(replace(self.plain(stmt, at), **blocks))  # type: ignore[arg-type]
            elif isinstance(stmt, h.Point):
                out += self.pointed(stmt, at)
            elif isinstance(stmt, h.Update):
                out += self.updated(stmt, at)
            else:
                out.append(self.plain(stmt, at))
        return tuple(out)

    def carrier(self, place: Poly, at: dict[str, Poly | None]) -> str:
        """A name that points to the piece that starts at a place."""
        found = next((n for n, p in at.items() if p == place), "")
        if not found or place not in [p for p, _ in self.starts]:
            raise NotApart
        return found

    def moved(self, ref: Any, at: dict[str, Poly | None]) -> Any:
        """A reference by the name of its piece."""
        if ref.array not in at or ref.offset is None:
            return ref
        base = at[ref.array]
        if base is None:
            raise NotApart
        return replace(ref, array=self.carrier(base + self.number(ref.offset), at), offset=None)

    def plain(self, stmt: Any, at: dict[str, Poly | None]) -> Any:
        """A statement (without its blocks) that uses whole pieces."""
        changed = {}
        for name in ("args", "values"):
            given = getattr(stmt, name, None)
            if isinstance(given, tuple):
                changed[name] = tuple(self.moved(a, at) if isinstance(a, k.ArrayRef | h.Whole) else a for a in given)
        return replace(stmt, **changed) if changed else stmt

    def pointed(self, stmt: h.Point, at: dict[str, Poly | None]) -> list[h.Stmt]:
        pairs: list[tuple[str, k.ArrayRef]] = []
        moves: dict[str, Poly | None] = {}
        for name, source in zip(stmt.names, stmt.sources, strict=True):
            assert isinstance(source, k.ArrayRef)
            ref = self.moved(source, at)
            if source.array in at:
                moves[name] = at[ref.array]
            pairs += [(name, ref)] if name != ref.array else []
        at.update(moves)
        if not pairs:
            return []
        return [replace(stmt, names=tuple(n for n, _ in pairs), sources=tuple(r for _, r in pairs))]

    def updated(self, stmt: h.Update, at: dict[str, Poly | None]) -> list[h.Stmt]:
        """A copy or a fill, which may be of several pieces."""
        value = stmt.value
        if stmt.array in at:
            parts = self.parts(stmt.array, stmt.offset, stmt.count, at)
            if parts is None:
                return [replace(stmt, value=self.moved(value, at) if isinstance(value, h.Whole) else value)]
            if not isinstance(value, h.Whole):
                return [replace(stmt, array=n, offset=None, count=size) for n, _, size in parts]
            if value.array in at and len(parts) > 1:
                raise NotApart
            value = self.moved(value, at)
            return [
                replace(stmt, array=n, offset=None, count=size, 
                        value=replace(value, offset=_plus(value.offset, o), count=size))
                for n, o, size in parts
            ]  # fmt: skip
        if isinstance(value, h.Whole) and value.array in at:
            parts = self.parts(value.array, value.offset, value.count, at)
            if parts is None:
                return [stmt]
            return [
                replace(stmt, offset=_plus(stmt.offset, o), count=size,
                        value=replace(value, array=n, offset=None, count=size))
                for n, o, size in parts
            ]  # fmt: skip
        return [stmt]

    def expression(self, p: Poly, of: tuple[k.Expr | None, ...]) -> k.Expr:
        """A number of elements; the difference of two, where it is no sum of products of names."""
        found = self.number.expression(p, self.known)
        if found is None:
            after, before = of if len(of) == 2 else (None, None)
            if after is None:
                raise NotApart
            return after if before is None else k.Op("sub", (after, before), INT32)
        return found

    def length(self, parts: list[tuple[str, k.Expr | None, k.Expr]]) -> Poly:
        return sum((self.number(size) for _, _, size in parts), constant(0))

    def parts(
        self, name: str, offset: k.Expr | None, count: k.Expr | None, at: dict[str, Poly | None]
    ) -> list[tuple[str, k.Expr | None, k.Expr]] | None:
        """The pieces that a range covers: name, where it starts in the range, size; None for (part of) one piece that
        the name points to."""
        base = at[name]
        if base is None or count is None:
            if offset is not None or count is None:
                raise NotApart
            return None  # checked by the size of its memory
        first = base + self.number(offset) if offset is not None else base
        end = first + self.number(count)
        out: list[tuple[str, k.Expr | None, k.Expr]] = []
        for (p, _), (size, e) in zip(self.starts, self.sizes, strict=True):
            if p == first and not out and self.number.not_negative(p + size - end):
                if p + size == end:
                    return [(self.carrier(p, at), None, e)]
                if offset is None:
                    return None
                raise NotApart
            if p == (first if not out else first + self.length(out)) and self.number.not_negative(end - p - size):
                out.append((self.carrier(p, at), None if not out else self.expression(self.length(out), ()), e))
        if not out or first + self.length(out) != end:
            raise NotApart
        return out


def _plus(a: k.Expr | None, b: k.Expr | None) -> k.Expr | None:
    return b if a is None else a if b is None else k.Op("add", (a, b), INT32)


def _references(stmt: h.Stmt) -> list[k.ArrayRef]:
    """The references to arrays of a statement and its blocks, where a piece may start."""
    return within((stmt,), k.ArrayRef)
