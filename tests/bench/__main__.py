"""``make bench``: all benchmarks, or those that the arguments name; behind ``emitted`` names of samples."""

import os
import subprocess
import sys

from tests.bench import emitted, hosts, large, memory, peers, rows, start, tiled, twins, waves

BENCHMARKS = {
    "start": start.main,
    "large": large.main,
    "emitted": emitted.main,
    "twins": twins.main,
    "memory": memory.main,
    "peers": peers.main,
    "hosts": hosts.main,
    "rows": rows.main,
    "waves": waves.main,
    "tiled": tiled.main,
}

# rows of processor time: on one core no threads of XLA's wait for each other, which would count, too
ON_ONE_CORE = ("emitted", "rows", "waves")

if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if name in BENCHMARKS] or list(BENCHMARKS)
    samples = [name for name in sys.argv[1:] if name not in BENCHMARKS]
    if samples and names != ["emitted"]:
        raise SystemExit(f"no benchmark: {', '.join(samples)}; there are {', '.join(BENCHMARKS)}")
    for name in names:
        if len(names) > 1:  # a process each: one that computes in 64 bits, or grows, changes none after it
            subprocess.run([sys.executable, "-m", "tests.bench", name], check=True)
            continue
        if name in ON_ONE_CORE and hasattr(os, "sched_setaffinity") and len(os.sched_getaffinity(0)) > 1:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            # anew: threads that are there already stay on both
            os.execv(sys.executable, [sys.executable, "-m", "tests.bench", name, *samples])
        print(f"{name}: {sys.modules[BENCHMARKS[name].__module__].__doc__.splitlines()[0]}", flush=True)
        BENCHMARKS[name](*samples)
