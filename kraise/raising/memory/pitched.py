"""A tile that lies flat in shared memory: ``s[ty * (blockDim.x + 2) + tx]`` (Kernel IR to Kernel IR).

Where a subscript has a multiple of one size in it, the array is one of two axes: what is multiplied by the size is the
row, the rest the column. That the column stays within the row is proved of every access of the run, or the run is taken
back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kraise.analysis.poly import to_poly
from kraise.diagnostics import refuse
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import INT
from kraise.raising.loops.unrolled import maybe
from kraise.raising.memory import parts
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, reads
from kraise.raising.run.state import State
from kraise.raising.run.values import provable_here
from kraise.raising.threads.spelled import integer


class NoRows(Exception):
    """There is no flat tile to be seen in rows: the run would be the one without them."""


def enter(cx: Context, body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``body`` with its flat tiles in rows.

    Raises:
        NoRows: there are none, nor are there where dynamic arrays are taken apart.
    """
    body, cx.pitched = in_rows(body)
    if not (cx.pitched or cx.apart or in_rows(parts.split(body))[1]):
        raise NoRows
    return body


def in_rows(body: tuple[k.Stmt, ...]) -> tuple[tuple[k.Stmt, ...], frozenset[str]]:
    """``body`` with its flat tiles in rows, and their names; the same if there are none."""
    arrays = [s for s in walked(body) if isinstance(s, k.LocalArray) and _flat(s)]
    fixed = _fixed(body) if arrays else {}
    names: set[str] = set()
    for made in arrays:
        for pitch in _pitches(body, made.name, fixed):
            found = _rewritten(body, made, pitch)
            if found is not None:
                body = found
                names.add(made.name)
                break
    return body, frozenset(names)


@dataclass(frozen=True)
class _Pitch:
    """The elements of a row: a number, or what is the same for all threads all the time; ``fixed``: the locals that are
    nothing else ever."""

    size: k.Expr
    fixed: Mapping[str, k.Expr]

    @property
    def number(self) -> int | None:
        return maybe(self.size, {})

    def is_it(self, e: k.Expr) -> bool:
        number = maybe(e, {})
        if self.number is not None or number is not None:
            return number == self.number
        return _text(e, self.fixed) == _text(self.size, self.fixed)

    def place(self, at: k.Expr) -> tuple[k.Expr, k.Expr]:
        """Row and column of a flat subscript."""
        rows: list[tuple[int, k.Expr]] = []
        columns: list[tuple[int, k.Expr]] = []
        row, column = 0, 0
        for sign, e in _addends(at, self.fixed):
            number, factor = maybe(e, {}), self._factor(e)
            if number is not None:
                column += sign * number
            elif self.is_it(e):
                row += sign
            elif factor is not None:
                rows.append((sign, factor))
            else:
                columns.append((sign, e))
        if not rows and not all(self._of_thread(e) for _, e in columns):
            of = _sum(columns, column)  # a cell by its number
            return (
                _sum([(1, k.Op("floordiv", (of, self.size), INT))], row),
                k.Op("mod", (of, self.size), INT),
            )
        if self.number is not None:
            back = column < 0 and 2 * (column % self.number) > self.number  # t - 1 is in t's row, t - 17 one up of 18
            row, column = row + column // self.number + back, column % self.number - back * self.number
        return _sum(rows, row), _sum(columns, column)

    def _of_thread(self, e: k.Expr) -> bool:
        """Whether ``e`` is a thread's own index and no number of a cell, which a product or a loop makes."""
        bare = integer(e)
        return isinstance(bare, k.Hw) or (isinstance(bare, k.Var) and bare.name in self.fixed)

    def _factor(self, e: k.Expr) -> k.Expr | None:
        """a of ``a * size``."""
        match integer(e):
            case k.Op(name="mul", args=(a, b)):
                return a if self.is_it(b) else b if self.is_it(a) else None
        return None


def _flat(s: k.LocalArray) -> bool:
    plain = s.space == "shared" and not s.values and s.fill is None
    return plain and (len(s.shape) == 1 or (s.dynamic and not s.shape))


def _fixed(body: tuple[k.Stmt, ...]) -> dict[str, k.Expr]:
    """The integers among the locals that are assigned once, from the launch's indices, parameters and such locals."""
    changed = list(assigned(body))
    values = {s.name: s.value for s in walked(body) if isinstance(s, k.Assign)}
    every = [s.name for s in walked(body) if isinstance(s, k.Assign)]
    once = {n: v for n, v in values.items() if every.count(n) == 1 and _arithmetic(v)}
    looped = {s.var for s in walked(body) if isinstance(s, k.For)}
    others = set(changed) - set(once) | looped
    while True:
        left = {n: v for n, v in once.items() if n not in looped and not reads(v) & others}
        if len(left) == len(once):
            return left
        others |= set(once) - set(left)
        once = left


def _arithmetic(e: k.Expr) -> bool:
    """Whether ``e`` is made of the launch's numbers, locals and constants alone, by sums, differences and products."""
    match e:
        case k.Const() | k.Hw() | k.Var():
            return e.type.is_integer
        case k.Cast(arg=a):
            return e.type.is_integer and _arithmetic(a)
        case k.Op(name="add" | "sub" | "mul", args=args):
            return all(map(_arithmetic, args))
    return False


def _addends(e: k.Expr, fixed: Mapping[str, k.Expr], sign: int = 1) -> Iterator[tuple[int, k.Expr]]:
    match integer(e):
        case k.Op(name="add", args=(a, b)):
            yield from _addends(a, fixed, sign)
            yield from _addends(b, fixed, sign)
        case k.Op(name="sub", args=(a, b)):
            yield from _addends(a, fixed, sign)
            yield from _addends(b, fixed, -sign)
        case k.Var(name=name) if name in fixed and _has_product(fixed[name], fixed):
            yield from _addends(fixed[name], fixed, sign)
        case bare:
            yield sign, bare


def _has_product(e: k.Expr, fixed: Mapping[str, k.Expr]) -> bool:
    return any(isinstance(integer(a), k.Op) and integer(a).name == "mul" for _, a in _addends(e, fixed))  # type: ignore[union-attr]


def _sum(parts: list[tuple[int, k.Expr]], number: int) -> k.Expr:
    out: k.Expr | None = None
    for sign, e in sorted(parts, key=lambda p: -p[0]):
        if out is None:
            out = e if sign > 0 else k.Op("neg", (e,), INT)
        else:
            out = k.Op("add" if sign > 0 else "sub", (out, e), INT)
    if out is None or not number:
        return k.Const(number, INT) if out is None else out
    return k.Op("add" if number > 0 else "sub", (out, k.Const(abs(number), INT)), INT)


def _expanded(e: k.Expr, fixed: Mapping[str, k.Expr]) -> k.Expr:
    """``e`` without locals: it is used where these are not assigned yet."""

    def visit(n: object) -> object | None:
        return _expanded(fixed[n.name], fixed) if isinstance(n, k.Var) and n.name in fixed else None

    return rewritten(e, visit)  # type: ignore[no-any-return]


def _text(e: k.Expr, fixed: Mapping[str, k.Expr]) -> str:
    """The same for the same size, wherever it stands and whatever locals hold it."""
    match integer(e):
        case k.Op(name="add" | "mul" as name, args=args):
            return f"{name}({', '.join(sorted(_text(a, fixed) for a in args))})"
        case k.Op(name=name, args=args):
            return f"{name}({', '.join(_text(a, fixed) for a in args)})"
        case k.Var(name=name):
            return _text(fixed[name], fixed) if name in fixed else f"${name}"
        case k.Const(value=v):
            return repr(v)
        case k.Hw(kind=kind, axis=axis):
            return f"{kind}.{axis}"
    return repr(e)


def _subscripts(body: tuple[k.Stmt, ...], array: str) -> list[k.Expr]:
    every = (s for s in walked(body) if isinstance(s, k.Load | k.Store | k.Atomic) and s.array == array)
    return [s.subscripts[0] for s in every if len(s.subscripts) == 1]


def _pitches(body: tuple[k.Stmt, ...], array: str, fixed: Mapping[str, k.Expr]) -> Iterator[_Pitch]:
    """What a row, or a thread's index, is multiplied by in the subscripts; what may change is none."""
    found: dict[str, k.Expr] = {}
    for at in _subscripts(body, array):
        for _, e in _addends(at, fixed):
            match e:
                case k.Op(name="mul", args=(a, b)):
                    for size, other in ((b, a), (a, b)):
                        if _uniform(size, fixed) and maybe(other, {}) is None and (maybe(size, {}) or 2) > 1:
                            found.setdefault(_text(size, fixed), size)
    for size in sorted(found.values(), key=lambda e: maybe(e, {}) or 0, reverse=True):
        yield _Pitch(size, fixed)


def _uniform(e: k.Expr, fixed: Mapping[str, k.Expr]) -> bool:
    """Whether ``e`` is a number, or a sum of the launch's sizes, the same for all threads."""
    match integer(e):
        case k.Op(name="add" | "sub" | "mul", args=args):
            return all(_uniform(a, fixed) for a in args)
        case k.Var(name=name):
            return name in fixed and _uniform(fixed[name], fixed)
        case k.Hw(kind=kind):
            return kind in ("blockDim", "gridDim")
        case k.Const():
            return True
    return False


def _rewritten(body: tuple[k.Stmt, ...], made: k.LocalArray, pitch: _Pitch) -> tuple[k.Stmt, ...] | None:
    refs = [n for n in walked(body) if isinstance(n, k.ArrayRef | k.Shape) and n.array == made.name]
    twice = [n for n in walked(body) if isinstance(n, k.LocalArray) and n.name == made.name]
    if refs or len(twice) > 1:
        return None
    shape: tuple[k.Expr, ...]
    if made.shape:
        cells, across = maybe(made.shape[0], {}), pitch.number
        if cells is None or across is None or across >= cells:
            return None
        shape = (k.Const(-(-cells // across), INT), k.Const(across, INT))
    else:
        shape = (_expanded(pitch.size, pitch.fixed),)  # of as many rows as the launch gives it

    def visit(n: object) -> object | None:
        if n is made:
            return replace(made, shape=shape)
        if isinstance(n, k.Load | k.Store | k.Atomic) and n.array == made.name and len(n.subscripts) == 1:
            at = tuple(rewritten(e, visit) for e in pitch.place(n.subscripts[0]))
            rest = {f: rewritten(getattr(n, f), visit) for f in ("value", "values") if hasattr(n, f)}
            return replace(n, subscripts=at, **rest)
        return None

    return rewritten(body, visit)  # type: ignore[no-any-return]


def check(cx: Context, st: State) -> None:
    """Refuses accesses that are not proved to stay within their row.

    Raises:
        Refused: KR299.
    """
    for a in st.accesses:
        local = st.locals.get(a.array)
        if local is None or a.array not in cx.pitched:
            continue
        at, inside = to_poly((a.whole or a.subscripts)[-1]), replace(st, path=a.path)
        if not provable_here(inside, at) or not provable_here(inside, to_poly(local.shape[-1]) - 1 - at):
            reason = f"nothing says that this stays within a row of the shared array `{a.array}`"
            raise refuse("KR299", reason, a.span, "give the array two axes")


__all__ = ["NoRows", "check", "enter"]
