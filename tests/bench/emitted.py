"""Emitted code beside a hand-written twin (expert.py of a sample, or a gold twin): values and gradients.

The arguments are those of case.toml, with the sizes doubled until the hand-written twin works for a few
milliseconds, so that arithmetic and not dispatch is measured. Medians of processor time: other work does not count.
"""

from __future__ import annotations

import importlib.util
import inspect
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from kraise.verify.cases import ArraySpec, Case, load_case
from tests.bench.timing import alternating, row
from tests.corpus import ROOT, SAMPLES, Sample

ELEMENTS = 4_000_000  # of the largest array, at most
ENOUGH = 3e-3  # seconds of work to measure
STRUCTURAL = 4  # a size up to this is the length of a vector, not of the data
GOLD = ROOT.parent / "shared" / "gold"


def main() -> None:
    """One row a kernel: emitted over hand-written, and gradient over primal."""
    import jax

    for sample in SAMPLES:
        jax.config.update("jax_enable_x64", False)  # until its module asks for 64 bits
        twins = [p for p in (sample.folder / "expert.py", GOLD / f"{sample.name}_raised.py") if p.exists()]
        done = sample.translate() if twins else None
        if done is None or done.text is None:
            if twins:
                row(sample.name, "refused")
            continue
        ours = _module(sample, done.text)
        for twin in twins:
            theirs = _load(twin)
            for name in done.raised:
                if hasattr(theirs, name):
                    label = f"{name} / {twin.name}"
                    try:
                        _compare(label, getattr(ours, name), getattr(theirs, name), sample)
                    except Exception as error:  # one that cannot be compared does not stop the others
                        row(label, "failed", f"{type(error).__name__}: {str(error).splitlines()[0][:80]}")


def _compare(label: str, ours: Any, theirs: Any, sample: Sample) -> None:
    import jax

    case = load_case(sample.folder / "case.toml", ours.__name__)
    arguments = {}

    def call(function: Any) -> Any:
        launch = {"grid": _launch(case.grid, factor), "block": _launch(case.block, 1)}
        accepted = inspect.signature(function).parameters
        extra = {k: v for k, v in launch.items() if k in accepted and v is not None}
        return lambda **changed: function(**(arguments | changed), **extra)

    factor = 1
    while True:
        larger = enlarged(case, factor)
        arguments = {n: jax.numpy.asarray(v) if hasattr(v, "shape") else v for n, v in larger.arguments().items()}
        (seconds,) = alternating([lambda: jax.block_until_ready(call(theirs)())], rounds=3, clock=time.process_time)
        size = max((a.size for a in arguments.values() if hasattr(a, "size")), default=0)
        if seconds > ENOUGH or size > ELEMENTS / 4 or factor > 1 << 20:
            break
        factor *= 2

    mine, other = call(ours), call(theirs)
    one, two = alternating(
        [lambda: jax.block_until_ready(mine()), lambda: jax.block_until_ready(other())], clock=time.process_time
    )
    row(label, f"{one / two:.2f} x", f"at most 1.1 x   ({one * 1e3:.2f} ms)")
    wrt = [n for n, v in arguments.items() if hasattr(v, "dtype") and v.dtype.kind in "f" and v.ndim]
    if not any(leaf.dtype.kind == "f" for leaf in jax.tree.leaves(mine())):
        return

    def gradient(function: Any) -> Any:
        def loss(chosen: dict[str, Any]) -> Any:
            return sum(leaf.sum() for leaf in jax.tree.leaves(function(**chosen)) if leaf.dtype.kind == "f")

        compiled = jax.jit(jax.grad(loss))
        return lambda: jax.block_until_ready(compiled({n: arguments[n] for n in wrt}))

    one_g, two_g = alternating([gradient(mine), gradient(other)], clock=time.process_time)
    row("  gradient", f"{one_g / two_g:.2f} x", f"at most 1.1 x   (gradient over primal: {one_g / one:.1f} x)")


def _launch(extents: tuple[int, ...] | None, factor: int) -> int | tuple[int, ...] | None:
    larger = tuple(n * factor for n in extents or ())
    return larger[0] if len(larger) == 1 else larger or None


def enlarged(case: Case, factor: int) -> Case:
    """The case with all data sizes multiplied, and with them the integers that are such sizes.

    A size much smaller than the largest is the width of a filter or the length of a vector, and stays.
    """
    arrays = [a for a in case.args.values() if isinstance(a, ArraySpec) and a.values is None]
    largest = max((n for a in arrays for n in a.shape), default=0)
    sizes = {n for a in arrays for n in a.shape if n > STRUCTURAL and 3 * n > largest}
    around = {n + d: n * factor + d for d in (-2, -1, 1, 2) for n in sizes} | {n: n * factor for n in sizes}

    def scale(value: Any) -> Any:
        if isinstance(value, ArraySpec):
            bounds = {}
            if value.dtype.startswith(("int", "uint")) and value.high is not None:
                bounds = {"high": around.get(int(value.high), value.high)}
            return replace(value, shape=tuple(n * factor if n in sizes else n for n in value.shape), **bounds)
        return around.get(value, value) if type(value) is int else value

    return replace(case, args={name: scale(value) for name, value in case.args.items()})


def _module(sample: Sample, text: str) -> ModuleType:
    module = ModuleType(f"emitted_{sample.name}")
    exec(compile(text, str(sample.golden), "exec"), module.__dict__)
    return module


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"twin_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
