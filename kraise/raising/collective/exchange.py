"""Primitives of the warp in a simulation: lanes read what other lanes hold."""

from __future__ import annotations

import numpy as np

from kraise.ir import kernel as k
from kraise.raising.collective.marks import UNKNOWN, Beyond, Combined, Value
from kraise.raising.collective.memory import WARP

_GROUPED = {"sum": "add", "max": "max", "min": "min"}


class Exchange:
    """The part of a simulation that meets them."""

    size: int
    threads: np.ndarray

    def value(self, e: k.Expr, on: np.ndarray) -> Value:
        raise NotImplementedError

    def numbers(self, e: k.Expr, on: np.ndarray) -> np.ndarray:
        """``e``, which must be a number by thread."""
        raise NotImplementedError

    def operand(self, op: str, a: Combined) -> Combined:
        """``a`` as a combination by ``op``."""
        raise NotImplementedError

    def exchanged(self, e: k.Warp, on: np.ndarray) -> Value:
        """A primitive of the warp: for shuffles the lane read, which must take part."""
        v = self.value(e.args[0], on) if e.args else UNKNOWN
        if e.name in _GROUPED:
            return self._grouped(_GROUPED[e.name], v, e.width, on)
        if not e.name.startswith("shfl"):
            return UNKNOWN  # a mask of lanes: who computes with it goes beyond
        amount = self.numbers(e.args[1], on)
        lane = self.threads % WARP
        start = lane // e.width * e.width
        match e.name:
            case "shfl_up":
                source = np.where(lane - amount >= start, lane - amount, lane)
            case "shfl_down":
                source = np.where(lane + amount < start + e.width, lane + amount, lane)
            case "shfl_xor":
                source = np.where((lane ^ amount) < start + e.width, lane ^ amount, lane)
            case _:
                source = start + np.mod(amount, e.width)
        thread = self.threads - lane + source
        if np.any(on & (thread >= self.size)) or np.any(on & ~on[np.minimum(thread, self.size - 1)]):
            raise Beyond("a lane is read that does not take part")
        thread = np.where(on, thread, self.threads)
        if isinstance(v, np.ndarray):
            return v[thread]
        if isinstance(v, Combined):
            return Combined(v.op, v.marks[:, thread], v.type)
        return UNKNOWN

    def _grouped(self, op: str, v: Value, width: int, on: np.ndarray) -> Value:
        """``op`` over the lanes of each group of ``width``, all of which take part or none."""
        groups = on.reshape(-1, width) if self.size % width == 0 else None
        if groups is None or not isinstance(v, Combined) or np.any(groups.any(axis=1) != groups.all(axis=1)):
            raise Beyond("a lane is read that does not take part")
        own = self.operand(op, v)
        with np.errstate(over="ignore"):
            total = own.marks.reshape(2, -1, width).sum(axis=2, dtype=np.uint64)
        return Combined(op, np.repeat(total, width, axis=1), own.type)
