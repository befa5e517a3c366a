"""How many cells of a shared array a block's tree or serial sum takes in, where the array may have more.

``s[4][9]`` has a cell more in each row, so that the rows lie in other banks, ``s[64]`` may be as large as any block:
the extent is at least the number of threads. ``if (t < 4) s[t] += s[t + 4]`` and what follows read the cells 0 to 7,
each of which a thread has filled: so many threads a block has if its sum is to hold each thread's share once. Nothing
is concluded from that but what to try (:mod:`kraise.raising.threads.sizes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraise.ir import kernel as k
from kraise.ir.operations import TURNED
from kraise.ir.rewrite import walked
from kraise.raising.run.liveness import assigned
from kraise.raising.threads.sizes import from_thread, once, thread_locals
from kraise.raising.threads.spelled import bare, number

_HALVED = ("shr", "tdiv", "floordiv")
_TURNED = {**TURNED, "eq": "eq"}
_Range = tuple[int, int]  # the least and the most


def reached(body: tuple[k.Stmt, ...], certainly: bool = False) -> dict[int, int]:
    """By axis: of how many cells, the first ones, the threads read others than each its own, if no cell is left out and
    it is clear how far they reach. ``certainly``: whatever is asked of
    anything but the threads, where that is not asked of what fills them, too."""
    found = _Reach(body, certainly)
    found.block(body, {}, {})
    out: dict[int, int] = {}
    for (array, dimension), axis in found.filled.items():
        cells = found.read.get((array, dimension), set())
        others = {(lo, hi) for lo, hi, own in cells if not own}
        end = 0
        for lo, hi, _ in sorted(cells):
            end = max(end, hi + 1) if lo <= end else -1
            if end < 0:
                break
        shape = found.shapes[array]
        extent = number(shape[dimension]) if dimension < len(shape) else None  # a dynamic one has none
        if others and end > 2 and (array, dimension) not in found.open and extent is not None and end <= extent:
            out[axis] = max(end, out.get(axis, 0))
    return out


class _Reach:
    def __init__(self, body: tuple[k.Stmt, ...], certainly: bool):
        self.certainly = certainly
        nodes = list(walked(body))
        self.names, self.values = thread_locals(body), once(nodes)
        self.shapes = {s.name: s.shape for s in nodes if isinstance(s, k.LocalArray) and s.space == "shared"}
        self.filled: dict[tuple[str, int], int] = {}  # by array and dimension of it: the axis with a cell a thread
        self.read: dict[tuple[str, int], set[tuple[int, int, bool]]] = {}  # from, to, by their own threads alone
        self.open: set[tuple[str, int]] = set()  # how far threads read is not clear
        for s in nodes:
            if not isinstance(s, k.Store) or s.array not in self.shapes:
                continue
            for d, at in enumerate(s.subscripts):
                place = from_thread(at, self.names, self.values)
                if place is not None and place[1] == 0:
                    self.filled.setdefault((s.array, d), place[0])

    def block(self, stmts: Iterable[k.Stmt], env: dict[str, _Range], threads: dict[int, _Range]) -> None:
        for s in stmts:
            match s:
                case k.If(condition=condition, body=body, orelse=orelse):
                    self.loads((condition,), env, threads)
                    if self.certainly and not (self.fills((*body, *orelse)) or self.picks(condition, env, threads)):
                        continue
                    self.block(body, dict(env), threads | dict(self.picked(condition, env, threads)))
                    self.block(orelse, dict(env), threads)
                case k.For(var=var, start=start, stop=stop, step=step, body=body):
                    inner = {n: r for n, r in env.items() if n not in (*assigned(body), var)}
                    first, last, by = self.of(start, env, threads), self.of(stop, env, threads), number(step)
                    if first is not None and last is not None and by is not None and by > 0:
                        inner[var] = first[0], last[1] - 1
                    self.block(body, inner, threads)
                case k.While(body=body):
                    inner = {n: r for n, r in env.items() if n not in assigned(body)}
                    inner |= {n: (0, env[n][1]) for n in assigned(body) if n in env and _halved(n, body)}
                    self.block(body, inner, threads)
                case k.Assign(name=name, value=value):
                    self.loads((value,), env, threads)
                    held = self.of(value, env, threads)
                    env.pop(name, None)
                    if held is not None:
                        env[name] = held
                case _:
                    self.loads((s,), env, threads)
            for name in assigned((s,)) if not isinstance(s, k.Assign) else ():
                env.pop(name, None)

    def loads(self, parts: tuple[object, ...], env: dict[str, _Range], threads: dict[int, _Range]) -> None:
        for n in walked(parts):
            if not isinstance(n, k.Load) or n.array not in self.shapes:
                continue
            for d, at in enumerate(n.subscripts):
                key = (n.array, d)
                if (axis := self.filled.get(key)) is None:
                    continue
                own = from_thread(at, self.names, self.values) == (axis, 0)
                cells = self.of(at, env, threads)
                if cells is not None and 0 <= cells[0] <= cells[1]:
                    self.read.setdefault(key, set()).add((*cells, own))
                elif not own:
                    self.open.add(key)

    def of(self, e: k.Expr, env: dict[str, _Range], threads: dict[int, _Range]) -> _Range | None:
        """The least and the most that ``e`` is."""
        if (n := number(e)) is not None:
            return n, n
        place = from_thread(e, self.names, self.values)
        if place is not None:
            within = threads.get(place[0])
            return None if within is None else (within[0] + place[1], within[1] + place[1])
        match bare(e):
            case k.Var(name=name):
                return env.get(name)
            case k.Op(name="add" | "sub" as name, args=(a, b)):
                p, q = self.of(a, env, threads), self.of(b, env, threads)
                if p is not None and q is not None:
                    return (p[0] + q[0], p[1] + q[1]) if name == "add" else (p[0] - q[1], p[1] - q[0])
        return None

    def fills(self, body: tuple[k.Stmt, ...]) -> bool:
        """Whether the shared arrays are stored to there: then what is read is asked for by the same condition."""
        return any(isinstance(s, k.Store) and s.array in self.shapes for s in walked(body))

    def picks(self, condition: k.Expr, env: dict[str, _Range], threads: dict[int, _Range]) -> bool:
        """Whether all that a condition asks is which thread it is."""
        match bare(condition):
            case k.Op(name="and", args=args):
                return all(self.picks(a, env, threads) for a in args)
        return any(True for _ in self.picked(condition, env, threads))

    def picked(
        self, condition: k.Expr, env: dict[str, _Range], threads: dict[int, _Range]
    ) -> Iterator[tuple[int, _Range]]:
        """The axes along which a condition picks threads, and which."""
        match bare(condition):
            case k.Op(name="and", args=args):
                for a in args:
                    yield from self.picked(a, env, threads)
            case k.Op(name=name, args=(a, b)) if name in _TURNED:
                for own, other, is_ in ((a, b, name), (b, a, _TURNED[name])):
                    place, bound = from_thread(own, self.names, self.values), self.of(other, env, threads)
                    if place is not None and bound is not None and is_ in ("lt", "le", "eq"):
                        least = bound[0] - place[1] if is_ == "eq" else 0
                        most = bound[1] - place[1] - (is_ == "lt")
                        before = threads.get(place[0], (least, most))
                        yield place[0], (max(least, before[0]), min(most, before[1]))


def _halved(name: str, body: tuple[k.Stmt, ...]) -> bool:
    """Whether a loop does nothing to a variable but to divide it."""
    by = [s.value for s in walked(body) if isinstance(s, k.Assign) and s.name == name]
    return all(
        isinstance(v := bare(e), k.Op)
        and v.name in _HALVED
        and isinstance(was := bare(v.args[0]), k.Var)
        and was.name == name
        and (number(v.args[1]) or 0) > 0
        for e in by
    )


__all__ = ["reached"]
