"""Arrays that the kernel makes, at the end: those that nobody reads are gone, the others get their extents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kraise.analysis.boxes import box
from kraise.analysis.conditions import always
from kraise.analysis.poly import to_poly
from kraise.diagnostics import refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import INT
from kraise.ir.walk import topological
from kraise.raising.memory.private import refute
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawFold, RawNew, RawWrite, State


def store_sites(cx: Context) -> dict[str, int]:
    """How many stores to each array stand in the kernel; an array that is passed to a function is left out."""
    out: Counter[str] = Counter()
    passed: set[str] = set()
    stack: list[object] = [*cx.bodies()]
    while stack:
        x = stack.pop()
        match x:
            case k.Store(array=a) | k.Atomic(array=a):
                out[a] += 1
            case k.ArrayRef(array=a):
                passed.add(a)
        if isinstance(x, tuple | list):
            stack.extend(x)
        elif hasattr(x, "__dataclass_fields__"):
            stack.extend(getattr(x, f) for f in x.__dataclass_fields__ if f not in ("span", "type"))
    return {a: n for a, n in out.items() if a not in passed}


def without_unread(cx: Context, st: State, returned: tuple[k.ArrayRef | None, ...]) -> None:
    """Drops the arrays that the kernel makes and of which no load is left.

    Raises:
        Transient: a load is left of an array that was taken to be refilled in each round of a loop.
    """
    from kraise.raising.run.state import expressions

    kept = {r.array for r in returned if r is not None}
    while True:
        nodes = topological([*(e for r in st.out for e in expressions(r)), *_results(st)])
        read = {n.version.array for n in nodes if isinstance(n, eq.Read)} | kept
        unread = {a for a in cx.made if a not in read} & _arrays_of(st.out)
        if not unread:
            break
        st.out = _kept(st.out, unread)
    refute(cx, nodes)


def _results(st: State) -> list[eq.Expr]:
    return [v for n, v in st.env.items() if n.startswith("$ret")]


def _arrays_of(raws: Iterable[Raw]) -> set[str]:
    out: set[str] = set()
    for r in raws:
        match r:
            case RawWrite(after=after):
                out.add(after.array)
            case RawNew(stmt):
                out.add(stmt.version.array)
            case RawFold(_, body):
                out |= _arrays_of(body)
    return out


def _kept(raws: Iterable[Raw], unread: set[str]) -> list[Raw]:
    out: list[Raw] = []
    for r in raws:
        match r:
            case RawWrite(after=after) if after.array in unread:
                continue
            case RawNew(stmt) if stmt.version.array in unread:
                continue
            case RawFold(fold, body):
                arrays = tuple(a for a in fold.arrays if a.outside.array not in unread)
                inner = tuple(_kept(body, unread))
                if not (arrays or inner or fold.scalars or fold.outputs):
                    continue
                r = RawFold(replace(fold, arrays=arrays), inner)
        out.append(r)
    return out


def private_extents(cx: Context, st: State) -> None:
    """The extents of the axes in front of each array that is left, from the stores to it.

    Raises:
        Unbounded: nothing known when the function is traced bounds one.
    """
    for name in sorted(_arrays_of(st.out) & set(cx.made)):
        local = cx.made[name]
        extents: list[eq.Expr] = []
        for p in local.prefix:
            ends: dict[eq.Expr, None] = {}
            for raw, folds in _writes_of(st.out, name, ()):
                at = next((n for n in raw.loops if eq.Index(n, INT) is raw.subscripts[len(extents)]), p)
                axis = box((at,), raw.path, (*raw.loops, *folds)).axes[0]
                if not always(to_poly(axis.lo)):
                    raise refuse("KR299", f"`{name}` is made for each {p}, which may be negative", raw.span)
                ends[axis.hi] = None
            end: eq.Expr | None = None
            for e in ends:
                end = e if end is None else eq.Op("max", (end, e), INT)
            extents.append(end if end is not None else eq.Const(1, INT))
        new = replace(local, extents=tuple(extents))
        cx.made[name] = st.locals[name] = new
        st.out = [_reshaped(r, name, (*extents, *local.shape)) for r in st.out]


def _writes_of(raws: Iterable[Raw], name: str, folds: tuple[str, ...]) -> Iterator[tuple[RawWrite, tuple[str, ...]]]:
    for r in raws:
        if isinstance(r, RawWrite) and r.after.array == name:
            yield r, folds
        elif isinstance(r, RawFold):
            yield from _writes_of(r.body, name, folds if r.fold.axis is None else (*folds, r.fold.axis.name))


def _reshaped(raw: Raw, name: str, shape: tuple[eq.Expr, ...]) -> Raw:
    match raw:
        case RawNew(stmt) if stmt.version.array == name:
            return RawNew(replace(stmt, shape=shape))
        case RawFold(fold, body):
            return RawFold(fold, tuple(_reshaped(b, name, shape) for b in body))
    return raw


__all__ = ["private_extents", "store_sites", "without_unread"]
