"""Heat in a rod that is annealed in stages: settings as a dataclass, helpers, an enumeration, a timer around the work."""

import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum

from numba import cuda

STEPS = 4


class Edge(Enum):
    FIXED = 1
    OPEN = 2


@dataclass(frozen=True)
class Stage:
    """One stage: how fast heat spreads, and what is added to each cell in a step."""

    rate: float = 0.25
    heating: float = 0.0

    def cooled(self, by):
        return replace(self, rate=self.rate / 2, heating=-by)


@cuda.jit
def spread(u, out, rate):
    i = cuda.grid(1)
    if 0 < i < u.size - 1:
        out[i] = u[i] + rate * (u[i - 1] - 2.0 * u[i] + u[i + 1])


@cuda.jit
def heat(u, source, amount):
    i = cuda.grid(1)
    if i < u.size:
        u[i] += amount * source[i]


@cuda.jit
def close(u, out):
    i = cuda.grid(1)
    if i == 0:
        out[0] = u[1]
        out[u.size - 1] = u[u.size - 2]


@contextmanager
def timed(what):
    start = time.perf_counter()
    yield
    print(what, time.perf_counter() - start)


def blocks(n, threads=128):
    return (n + threads - 1) // threads


def run(stage, edge, u, new, source):
    for _ in range(STEPS):
        heat[blocks(u.size), 128](u, source, stage.heating)
        spread[blocks(u.size), 128](u, new, stage.rate)
        if edge is Edge.OPEN:
            close[1, 32](u, new)
        u[:] = new
    return float(u.max())


def anneal(rod, source):
    """The rod after it was heated and cooled, and its hottest cell after each of the two."""
    u, new = cuda.to_device(rod), cuda.to_device(rod)
    warm = Stage(heating=0.5)
    with timed("annealing"):
        hottest = run(warm, Edge.OPEN, u, new, source)
        last = run(warm.cooled(0.25), Edge.FIXED, u, new, source)
    return u.copy_to_host(), hottest, last
