"""Arrays that the kernel makes: what a cell of one holds, whichever thread stored it (raising.md, step 6: staging).

A shared array has the indices of the block in front, a thread's own array all open indices: with these, its cells are
written and read like those of any other array. A load is answered from the stores before it where that can be done: the
store's subscripts are solved for the indices of the instance that filled the cell, and its value is taken there. An
array all of whose loads are answered is gone. A cell that no store reaches is undefined, and a well-defined program
does not read it: what would be there does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from kraise.analysis.conditions import conjunction, conjuncts, negate
from kraise.analysis.dependence import Access, implied, impossible
from kraise.diagnostics import refuse
from kraise.ir import equations as eq
from kraise.ir.types import ScalarType
from kraise.ir.walk import Unmovable, free_indices, substitute, topological
from kraise.raising.carried.freely import own_only
from kraise.raising.memory.blank import note_undefined
from kraise.raising.memory.filled import Solved, solve
from kraise.raising.memory.filled_twice import joined, without_known
from kraise.raising.memory.made_again import made_again
from kraise.raising.memory.partly import marked
from kraise.raising.memory.renumbered import digits_of, readings
from kraise.raising.run import simplify
from kraise.raising.run.context import Context
from kraise.raising.run.state import LocalArray, Raw, RawNew, RawWrite, State
from kraise.raising.threads.launched import has_a_thread


class Transient(Exception):
    """An array was taken to be refilled in each round of a loop, but a load sees what an earlier round left."""

    def __init__(self, arrays: frozenset[str]):
        super().__init__(", ".join(sorted(arrays)))
        self.arrays = arrays


# --- the value of a cell ---------------------------------------------------------------------


class _Mark:
    """Answers that are no values."""


UNDEFINED, UNKNOWN = _Mark(), _Mark()
_MOST_STEPS = 300  # stores that one question goes back over: those of rounds that are written out would double each

_LARGEST = (
    2000  # nodes of a value at another thread: each exchange would make it as many times as large as it has cells
)


def held(cx: Context, st: State, array: str, subs: tuple[eq.Expr, ...]) -> eq.Expr | None:
    """What the cell holds now, or None where the stores before do not say it."""
    if array not in st.locals or not st.locals[array].private:
        return None
    found = _Search(cx, st, array, subs).at(st.versions[array], (*st.path, *st.facts))
    return None if isinstance(found, _Mark) or made_again(st.out, array, found) else found


def check_filled(cx: Context, st: State, array: str, subs: tuple[eq.Expr, ...], span: object) -> None:
    """Refuses a load from a shared array of a cell that certainly nobody has stored to.

    A block of a size that was only suggested may have too few threads to fill the array: what looks like no race then
    (``s[t] = …; … = s[255 - t]``, with the barrier left out, by 128 threads) is no launch that means something.
    """
    if never_filled(cx, st, array, subs):
        raise refuse(
            "KR207",
            f"nothing has been stored to this element of `{array}`",
            span,  # type: ignore[arg-type]
            "fill it before, with a barrier after that",
        )


def never_filled(cx: Context, st: State, array: str, subs: tuple[eq.Expr, ...]) -> bool:
    """Whether certainly nobody has stored to a cell of a shared array."""
    local = st.locals.get(array)
    if local is None or not local.shared or not local.private:
        return False
    known = (*st.path, *st.facts)
    return _Search(cx, st, array, subs).at(st.versions[array], known) is UNDEFINED and not impossible(known)


def holds_nothing(cx: Context, st: State, array: str, subs: tuple[eq.Expr, ...], neutral: eq.Expr | None) -> bool:
    """Whether nobody has stored to the cell, or the ``neutral`` element."""
    if array not in st.locals or not st.locals[array].private:
        return False
    found = _Search(cx, st, array, subs).at(st.versions[array], (*st.path, *st.facts))
    if isinstance(found, _Mark):
        return found is UNDEFINED
    known = (*st.path, *st.facts)
    while True:
        match found:
            case eq.Cast(arg=arg):
                found = arg
            case eq.Op(name="select", args=(c, a, b)) if impossible((*known, c)) or impossible((*known, negate(c))):
                found = b if impossible((*known, c)) else a
            case _:
                break
    same = isinstance(found, eq.Const) and isinstance(neutral, eq.Const)
    return same and not isinstance(found.value, complex) and found.value == neutral.value  # type: ignore[union-attr]


def refilled(cx: Context, made: dict[str, LocalArray], array: str, st: State, loop: str) -> bool:
    """Takes it that each round of ``loop`` fills the array anew and that no load sees an earlier round's store; the
    loads that are answered bear it out, and :func:`refute` finds the one that does not."""
    if array not in made or not made[array].private or array in cx.solid:
        return False
    for raw in st.out:
        if isinstance(raw, RawWrite) and raw.after.array == array and loop in raw.loops:
            cx.overwritten[raw.after] = cx.overwritten.get(raw.after, frozenset()) | {loop}
    return True


def refute(cx: Context, nodes: Iterable[eq.Expr]) -> None:
    """Raises Transient if a load is left of an array that was taken to be refilled in each round."""
    taken = {v.array for v in cx.overwritten}
    found = frozenset(n.version.array for n in nodes if isinstance(n, eq.Read) and n.version.array in taken)
    if found:
        raise Transient(found)


@dataclass
class _Search:
    """One question for a cell, answered by going back over the stores."""

    cx: Context
    st: State
    array: str
    subs: tuple[eq.Expr, ...]
    steps: Iterator[int] = field(default_factory=lambda: iter(range(_MOST_STEPS)))  # of the whole question

    def at(
        self, version: eq.Version, path: tuple[eq.Expr, ...], seen: int = 0, moving: bool = False
    ) -> eq.Expr | _Mark:
        """The cell in ``version``, where ``path`` holds; ``seen`` stores were looked at, ``moving``: what they store
        depends on the round of a loop around."""
        if next(self.steps, None) is None:
            return UNKNOWN
        st = self.st
        raws = [*st.before, *st.out]
        place = next((p for p in reversed(range(len(raws))) if _after(raws[p], self.array) is version), None)
        raw = None if place is None else raws[place]
        if isinstance(raw, RawNew) and raw.stmt.fill is None:
            return self._nothing(path)
        if isinstance(raw, RawNew) and place >= st.fences.get(self.array, 0):  # type: ignore[operator]
            return raw.stmt.fill  # type: ignore[return-value]
        if place is None or place < st.walls.get(self.array, 0):
            # no store of this round; if those of the other rounds are no different, there is none at all
            still = not moving and seen >= self.cx.sites.get(self.array, 1 << 30)
            return self._nothing(path) if still else UNKNOWN
        if not isinstance(raw, RawWrite) or not self.cx.overwritten.get(version, frozenset()) <= set(st.open):
            return UNKNOWN
        raw, solved = self._filler(raws, place, path)  # type: ignore[arg-type]
        if solved is None:
            return UNKNOWN
        if raw.after in self.cx.trees and not raw.accumulate and (solved.never or _open(path, solved.conditions) != []):
            return UNKNOWN  # perhaps one of the cells that a tree reduction leaves half-combined
        moving = moving or any(map(self._moves, raw.subscripts))
        seen += 1
        if solved.never:
            if solved.chosen and _open(path, solved.exists) != []:
                return UNKNOWN
            return self.at(raw.before, path, seen, moving)
        exists = _open(path, solved.exists)
        if solved.chosen and exists != []:
            return UNKNOWN
        if exists is None:
            return self.at(raw.before, path, seen, moving)
        if exists and _open(inside := add(path, *exists), solved.conditions) is None:
            return self._before(raw, solved, inside, path, seen, moving)
        if exists:
            held = self._stored(raw, solved, add(path, *exists), seen, moving)
            if held is UNKNOWN:
                return UNKNOWN
            other = self.at(raw.before, add(path, negate(conjunction(exists))), seen, moving)  # type: ignore[arg-type]
            return self._either(path, exists, held, other)
        return self._stored(raw, solved, path, seen, moving)

    def _filler(self, raws: list[Raw], place: int, path: tuple[eq.Expr, ...]) -> tuple[RawWrite, Solved | None]:
        """The instance of the store at ``place`` that fills the cell, if need be of that store over numbers in place of
        their digits, or of it and those before it as one."""
        raw = raws[place]
        assert isinstance(raw, RawWrite)
        solved = solve(self.cx, self.st, raw, self.subs, place)
        if solved is not None and not (solved.chosen and _open(path, solved.exists) != []):
            return raw, solved
        rounds = {n for n in raw.loops if n in self.st.open and n not in self.cx.thread_names}
        kept = frozenset({*self.cx.blocks, *rounds})
        for other in readings(self.cx, raws[: place + 1], kept):
            again = None if other is None else solve(self.cx, self.st, other, self.subs, place)
            if other is None or again is None:
                continue
            try:
                inside = topological((again.apply(other.value),))
            except Unmovable:  # a running value of the lanes has no value at a number that is no lane
                continue
            if any(isinstance(n, eq.Op) and n.name in ("floordiv", "mod") for n in inside):
                continue  # the numbers have digits of their own: another reading may do without
            if not again.chosen or not _open(path, add((), *map(again.apply, digits_of(other)))):
                return other, again
        return raw, solved

    def _nothing(self, path: tuple[eq.Expr, ...]) -> _Mark:
        """Nobody has stored to the cell: what it holds means nothing, where there is an instance that loads it."""
        note_undefined(self.cx, self.st, self.array, self.subs, path)
        return UNDEFINED

    def _stored(
        self, raw: RawWrite, solved: Solved, path: tuple[eq.Expr, ...], seen: int, moving: bool
    ) -> eq.Expr | _Mark:
        """The cell after ``raw`` if the thread that would store it exists."""
        conditions = _open(path, solved.conditions)
        if conditions is None:
            return self._before(raw, solved, path, path, seen, moving)
        below = moving or any(map(self._moves, conditions))
        moved = [i.name for i, e in solved.mapping.items() if isinstance(i, eq.Index) and e is not i]
        own_only(self.cx, self.st, raw.value, moved, raw.span)
        try:
            value = stored(solved.apply(raw.value), self.st.locals[self.array].type)
        except ValueError:
            return UNKNOWN  # the value is that of a carried scalar of one lane only
        nodes = topological((value,))
        if solved.unsolved & free_indices(value) or any(map(_stack, nodes)) or (moved and len(nodes) > _LARGEST):
            return UNKNOWN
        value = without_known(path, self._made_from(value, path))
        if raw.accumulate:
            if not solved.determines(raw.loops):
                return UNKNOWN  # several instances add to the cell
            from kraise.raising.carried.reduction import combined

            base = self.at(raw.before, path, seen, below)
            if isinstance(base, _Mark):
                return UNKNOWN
            total = combined(raw.accumulate, base, value, base)
            return total if not conditions else self._either(path, conditions, total, base)
        if not conditions:
            return value
        other = self.at(raw.before, add(path, negate(conjunction(conditions))), seen, below)  # type: ignore[arg-type]
        return self._either(path, conditions, value, other)

    def _before(
        self,
        raw: RawWrite,
        solved: Solved,
        excluding: tuple[eq.Expr, ...],
        path: tuple[eq.Expr, ...],
        seen: int,
        moving: bool,
    ) -> eq.Expr | _Mark:
        """The cell before ``raw``, which does not store to it where ``excluding`` holds."""
        against = (c for c in solved.conditions if _excluded(excluding, c))  # what keeps the store from the cell
        below = moving or all(map(self._moves, against))
        return self.at(raw.before, path, seen, below)

    def _moves(self, e: eq.Expr) -> bool:
        """Whether a value may be another in the next round of a loop around: by its index, or by what it carries."""
        rounds = free_indices(e) - set(self.cx.thread_names) - set(self.cx.blocks)
        carried = any(isinstance(n, eq.CarryIn | eq.FoldResult) for n in topological((e,)))
        return carried or not rounds.isdisjoint(self.st.open)

    def _made_from(self, value: eq.Expr, path: tuple[eq.Expr, ...]) -> eq.Expr:
        """``value`` with what it takes from the array itself replaced by what the stores before say of it now."""
        mapping: dict[eq.Expr, eq.Expr] = {}
        for node in topological([value]):
            if isinstance(node, eq.Read) and node.version.array == self.array and not node.view:
                found = _Search(self.cx, self.st, self.array, node.subscripts, self.steps).at(node.version, path)
                if not isinstance(found, _Mark):
                    mapping[node] = found
        return substitute(value, mapping) if mapping else value

    def _either(
        self, path: tuple[eq.Expr, ...], conditions: list[eq.Expr], a: eq.Expr | _Mark, b: eq.Expr | _Mark
    ) -> eq.Expr | _Mark:
        """``a`` where the conditions hold, else ``b``."""
        if a is UNKNOWN or b is UNKNOWN:
            return UNKNOWN
        if a is b:
            return a
        if isinstance(b, _Mark):
            return self._where(conditions, a)
        if isinstance(a, _Mark):
            return self._where([negate(conjunction(conditions))], b)  # type: ignore[arg-type]
        return joined(path, conditions, a, b)

    def _where(self, conditions: list[eq.Expr], value: eq.Expr | _Mark) -> eq.Expr | _Mark:
        """What was stored where the conditions hold, and nothing elsewhere."""
        known = {*self.st.open, *self.cx.blocks, *(n for e in self.subs for n in free_indices(e))}
        own = all(free_indices(c) <= known for c in conditions)
        if isinstance(value, _Mark) or not own:
            return value
        return marked(self.array, conditions, value)


def _stack(e: eq.Expr) -> bool:
    """Whether ``e`` is what the rounds of a fold put out: it is read from the array that keeps it."""
    return isinstance(e, eq.FoldResult) and e.name.endswith(".out")


def add(path: tuple[eq.Expr, ...], *more: eq.Expr) -> tuple[eq.Expr, ...]:
    return tuple(dict.fromkeys((*path, *(c for m in more for c in conjuncts(m)))))


def _open(path: tuple[eq.Expr, ...], conditions: tuple[eq.Expr, ...]) -> list[eq.Expr] | None:
    """The conditions that ``path`` does not imply; None if it contradicts one."""
    left = []
    for c in conditions:
        if c in path or has_a_thread(c) or implied(path, c):
            continue
        if _excluded(path, c):
            return None
        left.append(c)
    return left


def _excluded(path: tuple[eq.Expr, ...], condition: eq.Expr) -> bool:
    return negate(condition) in path or implied(path, negate(condition))


def _after(raw: object, array: str) -> eq.Version | None:
    match raw:
        case RawWrite(after=after):
            return after
        case RawNew(stmt):
            return stmt.version
        case _:
            return next((a.result for a in raw.fold.arrays if a.result.array == array), None)  # type: ignore[attr-defined]


def stored(value: eq.Expr, element: ScalarType) -> eq.Expr:
    """``value`` as an array of ``element`` keeps it."""
    if element.kind == "number" or value.type == element:
        return value
    if element.is_integer or (element.bits or 64) < (value.type.bits or 0):
        return simplify.cast(element, value)
    if isinstance(value, eq.Const) and element.is_inexact and type(value.value) is int:
        return eq.Const(float(value.value), element)
    return value


def check_known(cx: Context, array: str, version: eq.Version, span: object) -> None:
    """Refuses a load of cells that a tree reduction has left half-combined."""
    if version in cx.clobbered:
        raise refuse(
            "KR299",
            f"what a tree reduction leaves in `{array}` besides its result is read",
            span,  # type: ignore[arg-type]
        )


def held_before(
    cx: Context, st: State, accesses: Iterable[Access], versions: dict[eq.Version, eq.Version]
) -> dict[eq.Expr, eq.Expr]:
    """What each load of an array that the kernel makes finds there, by the stores before the loop."""
    found: dict[eq.Expr, set[eq.Expr | None]] = {}
    for a in accesses:
        if a.node is None or a.node.version not in versions or a.array not in st.locals:
            continue
        values = found.setdefault(a.node, set())  # one load node may stand under several guards
        below = topological([*a.subscripts, *a.path])
        if any(isinstance(n, eq.Read) and n.version in versions for n in below):
            values.add(None)
            continue
        at = replace(st, path=a.path, open=tuple(dict.fromkeys((*st.open, *_indices(below)))))
        value = held(cx, at, a.array, a.subscripts)
        # what is made from cells of the array that stay unknown is better read than made once more
        values.add(None if value is None or _reads_of(value, a.array) else value)
    return {node: v for node, values in found.items() if len(values) == 1 for v in values if v is not None}


def _reads_of(value: eq.Expr, array: str) -> bool:
    return any(isinstance(n, eq.Read) and n.version.array == array for n in topological([value]))


def _indices(nodes: Iterable[eq.Expr]) -> list[str]:
    return [n.name for n in nodes if isinstance(n, eq.Index)]


__all__ = [
    "Transient",
    "check_filled",
    "check_known",
    "held",
    "held_before",
    "holds_nothing",
    "never_filled",
    "refilled",
    "refute",
    "stored",
]
