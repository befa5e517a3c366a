"""Runs the samples' own Python in numba's CUDA simulator beside the interpreter; prints what differs.

A program of its own (``python tests/verify/simulator.py``): numba must be told of the simulator before it is imported.
"""

import importlib.util
import os
import sys
import warnings
from pathlib import Path

import numpy as np

from kraise.frontends import python
from kraise.frontends.cuda_c import find_embedded
from kraise.verify import interpreter
from kraise.verify.inputs import launch_for, load_cases
from kraise.verify.measure import compare

MISSING = ("import cupy", "cuda.shfl", "cuda.ballot", "cuda.any_sync", "cuda.all_sync")  # the simulator has no warps
SAMPLES = Path(__file__).parents[2] / "samples"


def original(path):
    """The sample's module, imported (it is ours)."""
    spec = importlib.util.spec_from_file_location(f"sample_{path.parent.name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def differences(folder):
    """One line for each array or returned value in which interpreter and original differ; and how many there are."""
    path = folder / "kernel.py"
    ir, _ = python.read(path.read_text(encoding="utf-8"), "kernel.py")
    module = original(path)
    lines, count = [], 0
    for name, case in load_cases(folder / "case.toml").items():
        function = ir.function(name)
        if not hasattr(module, name):
            continue  # a method, raised as a function of its own
        arguments = case.arguments()
        grid, block = launch_for(ir, function, arguments, case)
        outcome = interpreter.run(ir, name, arguments, grid=grid, block=block)
        call = getattr(module, name)
        given = [arguments[p.name] for p in function.params]
        if function.kind == "kernel":
            call[grid, block](*given)
            pairs = []
        else:
            result = getattr(call, "py_func", call)(*given)
            results = result if isinstance(result, tuple) else () if result is None else (result,)
            pairs = list(zip(results, outcome.returned, strict=True))
        pairs += [(arguments[w], outcome.arrays[w]) for w in outcome.written]
        for got, expected in pairs:
            count += 1
            row = compare("original", name, np.asarray(got), expected, 2e-5)
            if row.status != "ok":
                lines.append(f"{folder.name}: {row.message}")
    return lines, count


def main():
    """All samples; exit status 1 where something differs."""
    warnings.simplefilter("ignore")
    total, wrong = 0, []
    for folder in sorted(p.parent for p in SAMPLES.glob("*/kernel.py")):
        text = (folder / "kernel.py").read_text(encoding="utf-8")
        if find_embedded(text) or any(missing in text for missing in MISSING):
            continue  # CUDA C in a string is compiled by tests/frontends_cuda
        lines, count = differences(folder)
        total += count
        wrong += lines
    print(*wrong, f"{total} compared, {len(wrong)} differ", sep="\n")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    assert os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
    sys.exit(main())
