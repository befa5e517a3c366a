"""How a simulation begins: what the locals of a block's threads and its shared arrays hold before it."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from kraise.ir import equations as eq
from kraise.ir.types import INT, ScalarType
from kraise.ir.walk import topological
from kraise.raising.collective.frame import Frame, numbers
from kraise.raising.collective.marks import Beyond
from kraise.raising.collective.simulate import Simulation
from kraise.raising.loops.touched import stores
from kraise.raising.run.context import Context
from kraise.raising.run.state import State
from kraise.raising.run.values import resolve


def simulation(cx: Context, st: State, found: Frame, size: int, outlets: bool) -> Simulation:
    """A block of ``size`` threads, before the statements that come next."""
    threads = np.arange(size)
    hardware = {("thread", 0): threads, ("blockDim", 0): np.full(size, size)}
    for axis in () if found.rows else (1, 2):
        hardware["thread", axis] = np.zeros(size, dtype=np.int64)
        if ("blockDim", axis) not in cx.threads:
            hardware["blockDim", axis] = np.ones(size, dtype=np.int64)

    def entry(name: str) -> np.ndarray | None:
        if name not in st.env or name in st.partial:
            raise Beyond(f"{name} has no value here")
        if any(
            isinstance(n, eq.Param) and (n.name == "block.x" or n is found.extent) for n in topological((st.env[name],))
        ):
            sim.by_extent = True
        return numbers(found, st.env[name], size)

    @cache
    def cells(array: str) -> tuple[np.ndarray, ScalarType] | None:
        name = resolve(cx, st, array)
        local = st.locals.get(name)
        if found.rows or local is None or not local.shared or local.prefix != cx.blocks:
            return None
        if local.shape == (eq.Param("shared", INT),):
            return filled(st, name, found, size, (4 * size,)), local.type
        extents = [numbers(found, extent, size) for extent in local.shape]
        shape = tuple(int(e[0]) for e in extents if e is not None)
        if len(shape) < len(local.shape) or min(shape) < 1 or math.prod(shape) > 8192:
            return None
        return filled(st, name, found, size, shape), local.type

    written = {_head(a) for a in stores(cx.function.body)}
    sim = Simulation(size, hardware, entry, cells, {})
    sim.parts = frozenset(a for a in cx.parts)
    sim.rows = found.rows
    sim.outside = lambda array: resolve(cx, st, array) not in st.locals
    sim.steady = lambda array: sim.outside(array) and _head(resolve(cx, st, array)) not in written
    if outlets:
        sim.outlets = []
    return sim


def _head(array: str) -> str:
    return array.partition(".")[0]


def filled(st: State, array: str, found: Frame, size: int, shape: tuple[int, ...]) -> np.ndarray:
    """Which of the cells of an array the threads of a block have written so far, as far as it is known."""
    out = np.zeros(shape, dtype=bool)
    for a in st.accesses:
        if a.array == array and a.write and a.subscripts:
            known = [numbers(found, s, size) for s in (a.whole or a.subscripts)[-len(shape) :]]
            at = tuple(s for s in known if s is not None)
            if len(at) < len(shape):
                return np.ones(shape, dtype=bool)
            inside = np.logical_and.reduce([(s >= 0) & (s < extent) for s, extent in zip(at, shape, strict=True)])
            out[tuple(s[inside] for s in at)] = True
    return out


__all__ = ["filled", "simulation"]
