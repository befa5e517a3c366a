"""Stores to the caller's arrays among what the threads of a block compute together: ``sums[blockIdx.x] = s[last]``
between the two sweeps of a scan.

What is stored is taken down where the store stands, and stored after the run. A barrier of the run must come before it:
what other threads did with the array before the run stays before the store, and what they do after the run must be kept
apart from it by a barrier of its own (the race check sees the store at the end of the run).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kraise.ir import kernel as k
from kraise.ir.types import BOOL
from kraise.raising.collective.marks import UNKNOWN, Beyond, Combined, Outside, Stored, Value
from kraise.raising.run.liveness import reads


@dataclass(frozen=True)
class Outlet:
    """A store, under the ``guards`` around it; ``names`` are the locals that hold what the run has computed, for the
    threads that are ``on``; ``used`` are other locals in it, with what they held."""

    store: k.Store
    guards: tuple[k.Expr, ...]
    names: tuple[str, ...]
    on: np.ndarray
    used: dict[str, Value]

    def statement(self) -> k.Stmt:
        """The store, to run after all."""
        out: k.Stmt = self.store
        for c in reversed(self.guards):
            out = k.If(c, (out,), span=self.store.span)
        return out


class Outlets:
    """The part of a simulation that meets such stores; ``outlets`` is None where they end it."""

    outlets: list[Outlet] | None = None
    guards: tuple[k.Expr, ...] = ()
    barriers: int
    size: int
    loops: int = 0
    env: dict[str, Value]
    outside: Callable[[str], bool]
    steady: Callable[[str], bool]

    def value(self, e: k.Expr, on: np.ndarray) -> Value:
        raise NotImplementedError

    def outlet(self, s: k.Store, on: np.ndarray) -> None:
        """Takes down a store to an array of the caller.

        Raises:
            Stored: it cannot wait until after the run.
        """
        if self.outlets is None or self.loops or (not self.barriers and self.size > 1):
            raise Stored(f"{s.array} is not shared")
        names: list[str] = []
        new = self._taken(s.value, on, names)
        used = set().union(*(reads(x) for x in (new, *s.subscripts, *self.guards))) - set(names)
        held = {n: self.env[n] for n in used if n in self.env}
        self.outlets.append(Outlet(replace(s, value=new), self.guards, tuple(names), on.copy(), held))

    def _taken(self, e: k.Expr, on: np.ndarray, names: list[str]) -> k.Expr:
        """``e`` with locals in place of what the run has computed."""
        if isinstance(e, k.Const):
            return e
        try:
            v = self.value(e, on)
        except Outside:
            raise
        except Beyond:  # of one operand, perhaps: what data choose beside what the run has computed
            v = UNKNOWN
        if isinstance(v, Combined):
            assert self.outlets is not None
            name = f"$out{len(self.outlets)}_{len(names)}"
            names.append(name)
            self.env[name] = v
            return k.Var(name, v.type)
        match e:
            case k.Var() | k.Hw():
                return e
            case k.Op(args=args):
                return replace(e, args=tuple(self._taken(a, on, names) for a in args))
            case k.Cast(arg=a):
                return replace(e, arg=self._taken(a, on, names))
            case k.Load(array=array, subscripts=subs) if self.steady(array):
                return replace(e, subscripts=tuple(self._taken(s, on, names) for s in subs))
        raise Beyond("what is stored is not known")

    def guarded(self, condition: k.Expr, body: tuple[k.Stmt, ...], on: np.ndarray) -> bool:
        """Takes down the stores under a condition that the run cannot decide; False if there is more than stores.

        Raises:
            Stored: there is no waiting until after the run.
        """
        if not body or not all(isinstance(s, k.Store) and self.outside(s.array) for s in body):
            return False
        if self.outlets is None:
            raise Stored("data decide of a store")
        before, self.guards = self.guards, (*self.guards, condition)
        for s in body:
            assert isinstance(s, k.Store)
            self.outlet(s, on)
        self.guards = before
        return True


def negated(condition: k.Expr) -> k.Expr:
    return k.Op("not", (condition,), BOOL)
