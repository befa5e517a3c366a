"""Medians of wall times, of processes and of calls."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable


def process(*command: str, rounds: int = 7) -> float:
    """Median wall time of a process in seconds; CalledProcessError if it fails."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def alternating(
    calls: list[Callable[[], object]],
    *,
    rounds: int = 15,
    budget: float = 6.0,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Median time of each call in seconds; the calls take turns, so that load falls on all alike."""
    for call in calls:
        call()  # compiles
    times: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + budget
    for done in range(rounds):
        if done >= 3 and time.perf_counter() > end:
            break
        for call, mine in zip(calls, times, strict=True):
            start = clock()
            call()
            mine.append(clock() - start)
    return [statistics.median(mine) for mine in times]


def row(name: str, value: str, bar: str = "") -> None:
    """Prints one line of the table."""
    print(f"  {name:44} {value:>10}  {bar}", flush=True)
