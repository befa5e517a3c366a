"""Emitted code beside a hand-written twin (expert.py of a sample, or a gold twin): values and gradients.

Both must give the same values and the same gradients of a weighted sum of these. The arguments are those that the
twin's ``large(rng)`` has for a kernel; otherwise those of case.toml, with the sizes doubled until the twin works for a
few milliseconds, so that arithmetic and not dispatch is measured. Medians of processor time: other work does not count.
On a GPU it is wall time, and both compute products in float32, as kernels do (JAX's default there is TF32).
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from kraise.verify.cases import ArraySpec, Case, load_case
from tests.bench.timing import alternating, row
from tests.corpus import ROOT, SAMPLES, Sample

ELEMENTS = 4_000_000  # of the largest array, at most
ROUNDS = 21
BUDGET = 1.0  # seconds for the rounds of a row
ENOUGH = 3e-3  # seconds of work to measure, on a CPU
STRUCTURAL = 4  # a size up to this is the length of a vector, not of the data
GOLD = ROOT.parent / "shared" / "gold"


def main(*only: str) -> None:
    """Two rows a kernel, of all samples or ``only`` some: values and gradient, emitted over hand-written. Exits in the
    end if some could not be compared, or differ."""
    import jax
    import numpy as np

    if jax.default_backend() != "cpu":
        jax.config.update("jax_default_matmul_precision", "float32")
    failed = []
    for sample in SAMPLES:
        if only and sample.name not in only:
            continue
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
            large = theirs.large(np.random.default_rng(0)) if hasattr(theirs, "large") else {}
            for name in done.raised:
                if hasattr(theirs, name):
                    label = f"{name} / {sample.name}"
                    try:
                        _compare(label, getattr(ours, name), getattr(theirs, name), sample, large.get(name))
                    except Exception as error:  # one that cannot be compared does not stop the others
                        failed.append(label)
                        what = " ".join(str(error).split())[:160]
                        row(label, "failed", f"{type(error).__name__}: {what}")
    if failed:
        raise SystemExit(f"not compared, or different: {', '.join(failed)}")


def _compare(label: str, ours: Any, theirs: Any, sample: Sample, large: Mapping[str, Any] | None = None) -> None:
    """Two rows: values and gradient. AssertionError if they differ."""
    import jax

    arguments = {}

    def call(function: Any) -> Any:
        accepted = inspect.signature(function).parameters
        return lambda **changed: function(**{n: v for n, v in (arguments | changed).items() if n in accepted})

    for larger in [large] if large else _doubled(sample, ours.__name__):
        arguments = jax.tree.map(lambda v: jax.numpy.asarray(v) if hasattr(v, "shape") else v, dict(larger))
        size = max((a.size for a in jax.tree.leaves(arguments) if hasattr(a, "size")), default=0)
        if large or size > ELEMENTS / 4:
            break
        (seconds,) = alternating([lambda: jax.block_until_ready(call(theirs)())], rounds=3, clock=clock())
        if seconds > (ENOUGH if jax.default_backend() == "cpu" else ENOUGH / 10):
            break

    mine, other = call(ours), call(theirs)
    agree(mine(), other())
    one, two = alternating(
        [lambda: jax.block_until_ready(mine()), lambda: jax.block_until_ready(other())],
        rounds=ROUNDS,
        clock=clock(),
        budget=BUDGET,
    )
    leaves, structure = jax.tree.flatten(arguments)  # members of structs are arguments, too
    arrays = {k: leaf for k, leaf in enumerate(leaves) if hasattr(leaf, "dtype")}

    def over_arrays(function: Any) -> Any:
        def applied(chosen: dict[int, Any]) -> Any:
            return function(**jax.tree.unflatten(structure, [chosen.get(k, leaf) for k, leaf in enumerate(leaves)]))

        return jax.jit(applied)

    alike = _alike(one / two, over_arrays(mine), over_arrays(other), arrays)
    row(label, f"{one / two:.2f} x", f"at most 1.1 x   ({one * 1e3:.2f} ms{alike})")
    wrt = {k: leaf for k, leaf in arrays.items() if leaf.dtype.kind == "f" and leaf.ndim}
    others = {k: leaf for k, leaf in arrays.items() if k not in wrt}  # no constants: XLA folds them
    results = [leaf for leaf in jax.tree.leaves(mine()) if leaf.dtype.kind == "f"]
    if not wrt or not results:
        return
    weights = [jax.random.normal(jax.random.key(k), v.shape, v.dtype) for k, v in enumerate(results)]

    def slope_of(function: Any) -> Any:
        def loss(chosen: dict[int, Any], others: dict[int, Any], weights: list[Any]) -> Any:
            given = [(chosen | others).get(k, leaf) for k, leaf in enumerate(leaves)]
            result = function(**jax.tree.unflatten(structure, given))
            floats = [leaf for leaf in jax.tree.leaves(result) if leaf.dtype.kind == "f"]
            return sum(jax.numpy.vdot(w, v) for w, v in zip(weights, floats, strict=True))

        return jax.jit(jax.grad(loss))

    slopes = [slope_of(mine), slope_of(other)]
    slope, other_slope = (lambda f=f: jax.block_until_ready(f(wrt, others, weights)) for f in slopes)
    agree(slope(), other_slope())
    one_g, two_g = alternating([slope, other_slope], rounds=ROUNDS, clock=clock(), budget=BUDGET)
    row(
        "  gradient",
        f"{one_g / two_g:.2f} x",
        f"at most 1.1 x   ({one_g * 1e3:.2f} ms, {one_g / one:.1f} x the primal"
        f"{_alike(one_g / two_g, *slopes, wrt, others, weights)})",
    )


def _alike(ratio: float, mine: Any, other: Any, *arguments: Any) -> str:
    """Words for a row above the bar whose two programs have the same instructions: the ratio is noise then (of where
    arrays lie, of threads that wake up)."""
    if ratio <= 1.1:
        return ""
    texts = [f.lower(*arguments).compile().as_text() for f in (mine, other)]
    first, second = (Counter(re.findall(r"= (\S+ [\w-]+)\(", text)) for text in texts)
    return ", the same instructions" if first == second else ""


def agree(ours: Any, theirs: Any) -> None:
    """AssertionError unless both are the same arrays: integers equal, floats up to the order of sums."""
    import jax
    import numpy as np

    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{a.dtype}{a.shape} is not {b.dtype}{b.shape}"
        if a.dtype.kind in "fc":
            a, b = np.asarray(a), np.asarray(b)
            finite = np.isfinite(b)
            scale = np.abs(b[finite]).max(initial=0.0)
            np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-4 * scale)
        else:
            np.testing.assert_array_equal(a, b)


def clock() -> Callable[[], float]:
    """Processor time where the processor does the work, else wall time."""
    import jax

    return time.process_time if jax.default_backend() == "cpu" else time.perf_counter


def _doubled(sample: Sample, kernel: str) -> Iterator[dict[str, Any]]:
    """The arguments of case.toml, then with all sizes doubled, and so on."""
    case = load_case(sample.folder / "case.toml", kernel)
    for factor in (1 << k for k in range(21)):
        launch = {"grid": _launch(case.grid, factor), "block": _launch(case.block, 1)}
        yield enlarged(case, factor).arguments() | {n: v for n, v in launch.items() if v is not None}


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
    sys.modules[module.__name__] = module  # dataclasses look there
    exec(compile(text, str(sample.golden), "exec"), module.__dict__)
    return module


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"twin_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(*sys.argv[1:])
