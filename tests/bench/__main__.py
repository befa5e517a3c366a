"""``make bench``: all benchmarks, or those that the arguments name."""

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

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHMARKS:
        print(f"{name}: {sys.modules[BENCHMARKS[name].__module__].__doc__.splitlines()[0]}")
        BENCHMARKS[name]()
