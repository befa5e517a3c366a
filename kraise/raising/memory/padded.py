"""Shared arrays with gaps that keep the threads' banks apart: ``s[i + (i >> 5)]`` (Kernel IR to Kernel IR).

``i + i / c`` takes each value at most once (so does ``i + i / 16 + i / 256``), so an array all of whose subscripts are
of that form, with one c, is an array with subscript i. A local that is moved so first (``i += i >> 5; s[i] …``) is seen
through where nothing else reads it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.raising.loops.unrolled import maybe
from kraise.raising.run.liveness import reads

_MOVED = "$padded"  # in the name of a local that was moved on


def without_gaps(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``body`` with such arrays as arrays without gaps; the same if there are none."""
    if not any(_quotient(e) for e in walked(body) if isinstance(e, k.Op)):
        return body
    before, body = body, _told_apart(body, count())
    known = _once(body)
    changed = False
    for made in [s for s in walked(body) if isinstance(s, k.LocalArray) and s.space == "shared"]:
        gap = _gap(body, made, known)
        if gap is not None:
            body, changed = _closed(body, made, gap), True
    return body if changed else before


@dataclass(frozen=True)
class _Gap:
    """One cell is left out after every so many, for each of ``every``."""

    every: tuple[int, ...]
    known: Mapping[str, k.Expr]

    def cells(self, extent: int) -> int:
        """How many cells of ``extent`` are none of the gaps."""
        return sum(1 for i in range(extent) if i + sum(i // c for c in self.every) < extent)

    def place(self, at: k.Expr) -> k.Expr | None:
        """i, if ``at`` is ``i + i / every``."""
        if isinstance(at, k.Const) and type(at.value) is int and at.value >= 0:
            i = self.cells(at.value)
            return replace(at, value=i) if i + sum(i // c for c in self.every) == at.value else None
        found = _padded(at, self.known)
        return found[0] if found is not None and found[1] == self.every else None


def _quotient(e: k.Expr) -> tuple[k.Expr, int] | None:
    """i and c of ``i / c`` (``i >> log2 c``)."""
    match e:
        case k.Cast(arg=a) if e.type.is_integer:
            return _quotient(a)
        case k.Op(name="shr", args=(i, by)) if 0 < (n := maybe(by, {}) or 0) < 16:
            return i, 1 << n
        case k.Op(name="floordiv" | "tdiv", args=(i, by)) if (c := maybe(by, {}) or 0) > 1 and e.type.is_integer:
            return i, c
    return None


def _addends(e: k.Expr, known: Mapping[str, k.Expr]) -> Iterator[k.Expr]:
    match e:
        case k.Op(name="add", args=(a, b)):
            yield from _addends(a, known)
            yield from _addends(b, known)
        case k.Cast(arg=a) if e.type.is_integer:
            yield from _addends(a, known)
        case k.Var(name=name) if name in known and _speaks_of_gaps(known[name], known):
            yield from _addends(known[name], known)
        case _:
            yield e


def _speaks_of_gaps(value: k.Expr, known: Mapping[str, k.Expr]) -> bool:
    return _quotient(value) is not None or any(_quotient(e) for e in _addends(value, {}))


def _padded(at: k.Expr, known: Mapping[str, k.Expr]) -> tuple[k.Expr, tuple[int, ...]] | None:
    """i and every c of ``i + i / c + …``."""
    parts = list(_addends(at, known))
    quotients = [(e, found) for e in parts if (found := _quotient(e)) is not None]
    for _, (i, _) in quotients:
        of_it = [(e, c) for e, (j, c) in quotients if _text(j) == _text(i)]
        rest = Counter(map(_text, parts)) - Counter(_text(e) for e, _ in of_it)
        if rest == Counter(map(_text, _addends(i, known))):
            return i, tuple(sorted(c for _, c in of_it))
    return None


def _text(e: k.Expr) -> str:
    """The same for the same expression, wherever it stands."""
    match e:
        case k.Cast(arg=a) if e.type.is_integer:
            return _text(a)
        case k.Op(name=name, args=args):
            return f"{name}({', '.join(map(_text, args))})"
        case k.Var(name=name):
            return f"${name}"
        case k.Const(value=v):
            return repr(v)
        case k.Hw(kind=kind, axis=axis):
            return f"{kind}.{axis}"
    return repr(e)


def _once(body: tuple[k.Stmt, ...]) -> dict[str, k.Expr]:
    """The integers among the locals that are assigned once, from locals that are assigned once, and what they are."""
    values: dict[str, list[k.Expr | None]] = {}
    for s in walked(body):
        match s:
            case k.Assign(name=name, value=v):
                values.setdefault(name, []).append(v)
            case k.For(var=name):
                values.setdefault(name, []).extend((None, None))
            case k.CallStmt(results=results):
                for name in results:
                    values.setdefault(name, []).append(None)
            case k.Atomic(result=name) if name:
                values.setdefault(name, []).append(None)
    out: dict[str, k.Expr] = {}
    for name, held in values.items():
        value = held[0] if len(held) == 1 else None
        if value is not None and (_MOVED in name or all(len(values.get(n, ())) < 2 for n in reads(value))):
            out[name] = value
    return out


def _gap(body: tuple[k.Stmt, ...], made: k.LocalArray, known: Mapping[str, k.Expr]) -> _Gap | None:
    ats = [s for s in walked(body) if isinstance(s, k.Load | k.Store | k.Atomic) and s.array == made.name]
    if made.values or made.fill is not None or len(made.shape) > 1 or any(len(s.subscripts) != 1 for s in ats):
        return None
    if any(isinstance(n, k.ArrayRef | k.Shape) and n.array == made.name for n in walked(body)):
        return None
    extent = made.shape[0] if made.shape else None
    if extent is not None and not (isinstance(extent, k.Const) and type(extent.value) is int):
        return None
    found = next((f for s in ats if (f := _padded(s.subscripts[0], known)) is not None), None)
    if found is None:
        return None
    gap = _Gap(found[1], known)
    return gap if all(gap.place(s.subscripts[0]) is not None for s in ats) else None


def _closed(body: tuple[k.Stmt, ...], made: k.LocalArray, gap: _Gap) -> tuple[k.Stmt, ...]:
    def visit(n: object) -> object | None:
        if n is made and made.shape:
            (extent,) = made.shape
            assert isinstance(extent, k.Const) and isinstance(extent.value, int)
            return replace(made, shape=(replace(extent, value=gap.cells(extent.value)),))
        if isinstance(n, k.Load | k.Store | k.Atomic) and n.array == made.name:
            at = gap.place(n.subscripts[0])
            rest = {f: rewritten(getattr(n, f), visit) for f in ("value", "values") if hasattr(n, f)}
            return replace(n, subscripts=(rewritten(at, visit),), **rest)
        return None

    return rewritten(body, visit)  # type: ignore[no-any-return]


# --- locals that are moved first -----------------------------------------------------------------


def _told_apart(body: tuple[k.Stmt, ...], numbers: Iterator[int]) -> tuple[k.Stmt, ...]:
    """``body`` with a name of its own for what ``i = i + i / c`` makes of a local, where only the statements that
    follow in the same list read it."""
    out = list(body)
    for place, s in enumerate(out):
        if isinstance(s, k.If | k.For | k.While):
            out[place] = replace(s, body=_told_apart(s.body, numbers), orelse=_told_apart(s.orelse, numbers))
    for place, s in enumerate(out):
        if not isinstance(s, k.Assign) or not _moved(s):
            continue
        first = next((q for q in reversed(range(place)) if _assigns(out[q], s.name)), None)
        if first is None or not isinstance(out[first], k.Assign):
            continue
        later = tuple(out[place + 1 :])
        again = next((q for q, x in enumerate(later) if _assigns(x, s.name)), len(later))
        if again < len(later) and not isinstance(later[again], k.Assign):
            continue
        new = k.Var(f"{s.name}{_MOVED}{next(numbers)}", s.type)

        def visit(n: object, old: str = s.name, new: k.Var = new) -> object | None:
            return new if isinstance(n, k.Var) and n.name == old else None

        moved = [rewritten(x, visit) for x in later[:again]]
        if again < len(later):
            last = later[again]
            assert isinstance(last, k.Assign)
            moved.append(replace(last, value=rewritten(last.value, visit)))
        out[place : place + 1 + len(moved)] = [replace(s, name=new.name), *moved]
        out += [k.Assign(s.name, new, s.type, span=s.span)] if again == len(later) else []
    return tuple(out)


def _moved(s: k.Assign) -> bool:
    found = _padded(s.value, {})
    return found is not None and isinstance(found[0], k.Var) and found[0].name == s.name


def _assigns(s: k.Stmt, name: str) -> bool:
    return any(
        (isinstance(x, k.Assign) and x.name == name) or (isinstance(x, k.For) and x.var == name) for x in walked(s)
    )


__all__ = ["without_gaps"]
