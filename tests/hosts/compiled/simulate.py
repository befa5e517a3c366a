"""Runs the hosts of programs.py in numba's CUDA simulator and writes what they return and change to a file.

A program of its own (``python simulate.py OUT``): numba must be told of the simulator before it is imported. CuPy is
NumPy here.
"""

import os
import sys
import types
from pathlib import Path

import numpy as np


def cupy():
    """NumPy under CuPy's name."""
    made = types.ModuleType("cupy")
    made.__dict__.update({n: getattr(np, n) for n in dir(np) if not n.startswith("__")})
    made.asnumpy = np.asarray
    made.asarray = np.array
    return made


def main(out):
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    sys.path.insert(0, str(Path(__file__).parent))
    sys.modules["cupy"] = cupy()
    import programs

    found = {}
    for name in sys.argv[2:]:
        rng = np.random.default_rng(0)
        x, y = (rng.standard_normal(13).astype(np.float32) for _ in range(2))
        result = getattr(programs, name)(x, y)
        result = (result.u, result.total) if hasattr(result, "notes") else result
        several = () if result is None else result if isinstance(result, tuple) else (result,)
        for at, each in enumerate((*several, x, y)):
            found[f"{name} {at}"] = np.array(each.copy_to_host() if hasattr(each, "copy_to_host") else each)
    np.savez(out, **found)


main(sys.argv[1])
