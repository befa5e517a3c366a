"""Statements of Kernel IR for every thread of one block, in step, on marks (:mod:`.marks`).

Conditions, subscripts and trip counts must be numbers that the thread's index decides. What the run touches of the
device's memory, or decides by data (but for ``if b < a: a = b``), ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kraise.ir import kernel as k
from kraise.ir.operations import ASSOCIATIVE
from kraise.ir.rewrite import walked
from kraise.ir.types import ScalarType
from kraise.raising.collective.arms import place, with_tie
from kraise.raising.collective.exchange import Exchange
from kraise.raising.collective.integers import NUMBERS, cast, number, truth
from kraise.raising.collective.marks import (
    UNKNOWN,
    Beyond,
    Combined,
    Compared,
    Literals,
    Unknown,
    Value,
    marks,
)
from kraise.raising.collective.memory import Cells, Touch, touch
from kraise.raising.collective.outlets import Outlets, negated
from kraise.raising.collective.picks import Picks, alike

_ROUNDS, _STEPS = 1100, 6000


class Simulation(Exchange, Picks, Outlets):
    """One block of ``size`` threads. ``entry`` answers for a local that the run has not assigned: numbers by thread, or
    None for data (then the local is a family of marks); ``cells`` says which cells of a shared array have been
    written."""

    def __init__(
        self,
        size: int,
        hardware: Mapping[tuple[str, int], np.ndarray],
        entry: Callable[[str], np.ndarray | None],
        cells: Callable[[str], tuple[np.ndarray, ScalarType] | None],
        families: dict[str, int],
    ):
        self.size, self.hardware, self.entry, self.cells = size, hardware, entry, cells
        self.families = families
        self.threads = np.arange(size)
        self.env: dict[str, Value] = {}
        self.arrays: dict[str, Cells] = {}
        self.literals = Literals()
        self.phases = np.zeros(size, dtype=np.int64)  # barriers of its warp that a thread has passed
        self.barriers = 0
        self.first: dict[str, Touch] = {}  # what was done to the arrays before the first barrier of the block
        self.by_extent = False  # the number of threads of a block was asked for
        self.steps = 0
        self.parts: frozenset[str] = frozenset()  # arrays beyond whose cells are other arrays
        self.rows = False  # the threads are one row of a block's
        self.outside: Callable[[str], bool] = lambda _: False  # whether an array is the caller's
        self.steady: Callable[[str], bool] = lambda _: False  # and nothing stores to it
        self.known_picks, self.interned = {}, {}

    # --- statements

    def run(self, stmts: tuple[k.Stmt, ...], on: np.ndarray) -> None:
        """Runs ``stmts`` for the threads that are ``on``.

        Raises:
            Beyond: what is met cannot be simulated.
        """
        for s in stmts:
            if not on.any():
                return
            self.steps += 1
            if self.steps > _STEPS:
                raise Beyond("too long")
            self._statement(s, on)

    def _statement(self, s: k.Stmt, on: np.ndarray) -> None:
        match s:
            case k.Assign(name=name, value=v, type=t):
                self._assign(name, self.value(v, on), on, t)
            case k.Store(array=array, subscripts=subs, value=v):
                if self.outside(array):
                    self.outlet(s, on)
                else:
                    self._store(array, subs, self.value(v, on), on)
            case k.Atomic(result="", name="add" | "min" | "max" as op, array=array, subscripts=subs, values=(v,)):
                memory = self._memory(array)
                amount = self.operand(op, self._data(self.value(v, on), memory.type))
                memory.combine(op, self._place(memory, subs, on), amount.marks[:, on], self.threads[on])
            case k.If():
                c, body, orelse = with_tie(s.condition, s.body, s.orelse)
                try:
                    condition = self.value(c, on)
                except Beyond:
                    if isinstance(c, k.Op) and c.name == "and" and not orelse:  # a part that data decide, after others
                        self._statement(k.If(c.args[0], (k.If(c.args[1], body, span=s.span),), span=s.span), on)
                        return
                    raise
                undecided = isinstance(condition, Compared | Unknown)
                if undecided and not orelse and self.guarded(c, body, on):
                    return
                if isinstance(condition, Compared):
                    self._replacement(condition, body, orelse, on)
                    return
                decided = truth(self._known(condition))
                around = self.guards
                self.guards = (*around, c)
                self.run(body, on & decided)
                self.guards = (*around, negated(c))
                self.run(orelse, on & ~decided)
                self.guards = around
            case k.For() | k.While():
                self.loops += 1
                self._loop(s, on)
                self.loops -= 1
            case k.Barrier(scope="block"):
                if not on.all() or self.rows:
                    raise Beyond("a barrier that not all threads reach")
                if not self.barriers:
                    self.first = self.touched()
                for memory in self.arrays.values():
                    memory.clear()
                self.barriers += 1
            case k.Barrier(scope="warp"):
                self.phases = self.phases + on
            case _:
                raise Beyond(type(s).__name__)

    def _loop(self, s: k.For | k.While, on: np.ndarray) -> None:
        match s:
            case k.For():
                self._for(s, on)
            case k.While(condition=c, body=body, test_last=last):
                on = on.copy()
                for round in range(_ROUNDS):
                    if round or not last:
                        on &= truth(self.numbers(c, on))
                    if not on.any():
                        return
                    self.run(body, on)
                raise Beyond("too many rounds")

    def _for(self, s: k.For, on: np.ndarray) -> None:
        start, stop, step = (self.numbers(e, on) for e in (s.start, s.stop, s.step))
        if s.orelse or np.any(step == 0):
            raise Beyond("a loop")
        i, on = start.copy(), on.copy()
        for _ in range(_ROUNDS):
            on &= np.where(step > 0, i < stop, i > stop)
            if not on.any():
                return
            self._assign(s.var, i, on, s.type)
            self.run(s.body, on)
            i = i + step
        raise Beyond("too many rounds")

    def _assign(self, name: str, new: Value, on: np.ndarray, t: ScalarType) -> None:
        if on.all() or isinstance(new, Unknown):
            self.env[name] = new
            return
        try:
            old = self.variable(name, t)
        except Beyond:
            old = new
        self.env[name] = self._either(on, new, old)

    def _store(self, array: str, subs: tuple[k.Expr, ...], new: Value, on: np.ndarray) -> None:
        memory = self._memory(array)
        data = self._data(new, memory.type)
        memory.write(self._place(memory, subs, on), data.marks[:, on], data.op, self.threads[on], self.phases[on])

    def _replacement(self, c: Compared, body: tuple[k.Stmt, ...], orelse: tuple[k.Stmt, ...], on: np.ndarray) -> None:
        """``if b < a: a = b``: the smaller one, and what rides along with it. What both arms set, or one of them."""
        taken, other = self._arm(body, orelse, on), self._arm(orelse, body, on)
        changes: list[tuple[k.Assign | k.Store, Combined]] = []
        for at, (s, _) in {**taken, **other}.items():
            own: k.Expr
            if isinstance(s, k.Assign):
                t, name, own = s.type, s.name, k.Var(s.name, s.type)
            else:
                t, name = self._memory(s.array).type, ""
                own = k.Load(s.array, s.subscripts, t)
            new, old = (arm[at][1] if at in arm else self.value(own, on) for arm in (taken, other))
            changes.append((s, self._better(c, new, old, on, name, t)))
        for s, best in changes:
            if isinstance(s, k.Assign):
                self._assign(s.name, best, on, s.type)
            else:
                self._store(s.array, s.subscripts, best, on)

    def _arm(
        self, body: tuple[k.Stmt, ...], other: tuple[k.Stmt, ...], on: np.ndarray
    ) -> dict[object, tuple[k.Assign | k.Store, Value]]:
        """What an arm sets, by its place. Its own locals have no value afterwards: data decide that."""
        found: dict[object, tuple[k.Assign | k.Store, Value]] = {}
        done, inner, others = set[str](), set[str](), [place(s) for s in other]
        for s in body:
            if not isinstance(s, k.Assign | k.Store) or done & _used(s):
                raise Beyond("data decide")
            new = self.value(s.value, on)
            if isinstance(s, k.Assign) and (s.name in inner or not (s.name in others or self._has_value(s))):
                self.env[s.name] = new
                inner.add(s.name)
                continue
            done.add(s.name if isinstance(s, k.Assign) else s.array)
            found[place(s)] = s, new
        self.env |= dict.fromkeys(inner, UNKNOWN)
        return found

    def _has_value(self, s: k.Assign) -> bool:
        try:
            return not isinstance(self.variable(s.name, s.type), Unknown)
        except Beyond:
            return False

    def _better(self, c: Compared, new: Value, old: Value, on: np.ndarray, name: str, t: ScalarType) -> Combined:
        """``new if a name b else old`` as the smaller or the larger of both, or as what rides along."""
        if c.name not in ("lt", "le", "gt", "ge"):
            raise Beyond("data decide")
        if not isinstance(new, Combined) or not isinstance(old, Combined):
            return self.ride(c, new, old, on, name, t)
        if alike(c.a, new, on) and alike(c.b, old, on):
            op = "min" if c.name in ("lt", "le") else "max"
        elif alike(c.b, new, on) and alike(c.a, old, on):
            op = "max" if c.name in ("lt", "le") else "min"
        else:
            return self.ride(c, new, old, on, name, t)
        return self._combine(op, new, old)

    def count_of(self, family: str) -> int:
        return self.arrays[family[1:-1]].row if family.startswith("[") else self.size

    # --- values

    def variable(self, name: str, t: ScalarType) -> Value:
        """A local; one that the run has not assigned is a number or a family of data."""
        if name not in self.env:
            known = self.entry(name)
            self.env[name] = Combined("", self._family(name, self.size), t) if known is None else known
        return self.env[name]

    def _family(self, name: str, count: int) -> np.ndarray:
        return marks(self.families.setdefault(name, len(self.families)), count)

    def value(self, e: k.Expr, on: np.ndarray) -> Value:
        match e:
            case k.Const(value=bool() | int() as whole):
                return np.full(self.size, whole)
            case k.Const(value=float() as literal, type=t):
                mark = self.literals.of(literal)
                return Combined("", np.repeat(mark[:, None], self.size, axis=1), t)
            case k.Var(name=name, type=t):
                return self.variable(name, t)
            case k.Hw(kind=kind, axis=axis):
                if (kind, axis) not in self.hardware:
                    return UNKNOWN
                self.by_extent |= kind == "blockDim"
                return self.hardware[kind, axis]
            case k.Op(name="select", args=(c, a, b)):
                condition = self.value(c, on)
                if isinstance(condition, Compared):
                    name = next((x.name for x in (b, a) if isinstance(x, k.Var)), "")
                    return self._better(condition, self.value(a, on), self.value(b, on), on, name, e.type)
                decided = truth(self._known(condition))
                first = self.value(a, on & decided) if (on & decided).any() else None
                second = self.value(b, on & ~decided) if (on & ~decided).any() else None
                if first is None or second is None:
                    return second if first is None else first  # type: ignore[return-value]
                return self._either(decided, first, second)
            case k.Op(name="and" | "or" as name, args=(a, b)):
                first = self.value(a, on)
                if name == "or" and isinstance(first, Compared):
                    return self.tied(first, b, on)
                left = self._known(first)
                rest = on & (truth(left) if name == "and" else ~truth(left))
                right = self._known(self.value(b, rest)) if rest.any() else left
                return NUMBERS[name](left, right)
            case k.Op():
                return self._operation(e, on)
            case k.Cast(type=t, arg=k.Const(value=float() as literal)) if t.kind == "float" and _exact(literal):
                return self.value(k.Const(literal, t), on)
            case k.Cast(type=t, arg=a):
                v = self.value(a, on)
                if isinstance(v, np.ndarray):
                    if t.is_integer or t.kind == "bool":
                        return cast(v, t)
                    return self._data(v, t) if isinstance(a, k.Const) else UNKNOWN
                return v if isinstance(v, Combined) and v.type == t else UNKNOWN
            case k.Load(array=array, subscripts=subs):
                return self._load(array, subs, on)
            case k.Warp():
                return self.exchanged(e, on)
        return UNKNOWN

    def _load(self, array: str, subs: tuple[k.Expr, ...], on: np.ndarray) -> Value:
        if self.cells(array) is None:
            return UNKNOWN
        memory = self._memory(array)
        got = memory.read(self._place(memory, subs, on), self.threads[on], self.phases[on])
        out = np.zeros((2, self.size), dtype=np.uint64)
        out[:, on] = got.marks
        return Combined(got.op, out, got.type)

    def _operation(self, e: k.Op, on: np.ndarray) -> Value:
        args = [self.value(a, on) for a in e.args]
        if any(isinstance(a, Unknown | Compared) for a in args):
            return UNKNOWN
        if all(isinstance(a, np.ndarray) for a in args):
            return number(e.name, args, e.type)  # type: ignore[arg-type]
        if len(args) != 2:
            return UNKNOWN
        like = next(a for a in args if isinstance(a, Combined))
        a, b = (self._data(x, like.type) for x in args)
        if e.name in ("lt", "le", "gt", "ge"):
            return Compared(e.name, a, b)
        if e.name in ASSOCIATIVE:
            return self._combine(e.name, a, b)
        return UNKNOWN

    def operand(self, op: str, a: Combined) -> Combined:
        if a.op not in ("", op):
            raise Beyond("two operators")
        return Combined(op, self.literals.without_neutral(op, a.marks), a.type)

    def _combine(self, op: str, a: Combined, b: Combined) -> Combined:
        a, b = self.operand(op, a), self.operand(op, b)
        return Combined(op, a.marks + b.marks, a.type)

    def _either(self, choice: np.ndarray, a: Value, b: Value) -> Value:
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            return np.where(choice, a, b)
        if isinstance(a, Unknown | Compared) or isinstance(b, Unknown | Compared):
            return UNKNOWN
        like = a if isinstance(a, Combined) else b
        assert isinstance(like, Combined)
        first, second = self._data(a, like.type), self._data(b, like.type)
        if first.op and second.op and first.op != second.op:
            raise Beyond("two operators")
        return Combined(first.op or second.op, np.where(choice, first.marks, second.marks), like.type)

    def _data(self, v: Value, t: ScalarType) -> Combined:
        """A value as data: an integer literal among data is a datum of its own."""
        if isinstance(v, Combined):
            return v
        if isinstance(v, np.ndarray) and v.size and np.all(v == v[0]):
            mark = self.literals.of(float(v[0]))
            return Combined("", np.repeat(mark[:, None], self.size, axis=1), t)
        raise Beyond("numbers among data")

    def _known(self, v: Value) -> np.ndarray:
        if not isinstance(v, np.ndarray):
            raise Beyond("data decide")
        return v

    def numbers(self, e: k.Expr, on: np.ndarray) -> np.ndarray:
        return self._known(self.value(e, on))

    def _place(self, memory: Cells, subs: tuple[k.Expr, ...], on: np.ndarray) -> np.ndarray:
        """The cells that the threads that are ``on`` touch."""
        return memory.place([self.numbers(s, on)[on] for s in subs])

    def _memory(self, array: str) -> Cells:
        if array not in self.arrays:
            found = self.cells(array)
            if found is None:
                raise Beyond(f"{array} is not shared")
            filled, t = found
            name = f"[{array}]"
            self.arrays[array] = Cells(self.families.setdefault(name, len(self.families)), filled, t)
            self.arrays[array].part = array in self.parts
        return self.arrays[array]

    def touched(self) -> dict[str, Touch]:
        """What was done to the arrays since the last barrier of the block."""
        return {a: touch(m) for a, m in self.arrays.items()}


def _exact(literal: float) -> bool:
    """Whether a literal is the same number in any width."""
    with np.errstate(over="ignore"):
        return bool(np.float16(literal) == literal)


def _used(s: k.Assign | k.Store) -> set[str]:
    """The locals and arrays that a statement reads."""
    return {x.array if isinstance(x, k.Load) else x.name for x in walked(s) if isinstance(x, k.Load | k.Var)}
