"""A time loop of 1,000 steps and two kernels: raised as one function, against one jitted call for each launch; a host
that eliminates with two launches for each pivot, against an expert's loop."""

from __future__ import annotations

import time

STEPS, N = 1000, 1 << 14

SOURCE = """
from numba import cuda

@cuda.jit
def flux(u, f, n):
    i = cuda.grid(1)
    if i < n - 1:
        f[i] = u[i + 1] - u[i]

@cuda.jit
def advance(u, f, c, n):
    i = cuda.grid(1)
    if 0 < i < n - 1:
        u[i] += c * (f[i] - f[i - 1])

def run(u, f, c, n, steps):
    for _ in range(steps):
        flux[(n + 255) // 256, 256](u, f, n)
        advance[(n + 255) // 256, 256](u, f, c, n)
    return u
"""


NONLINEAR = SOURCE.replace("u[i + 1] - u[i]", "0.5 * (u[i + 1] * u[i + 1] - u[i] * u[i])")


def measure() -> list[str]:
    """Lines of the report."""
    return [*_measured("linear", SOURCE), *_measured("Burgers", NONLINEAR), _elimination()]


def _elimination(n: int = 512) -> str:
    """The sample's solver of a dense system, whose launches shrink with the rounds, beside rank-1 updates."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    from kraise.verify.load import load_module
    from tests.corpus import ROOT

    module = load_module((ROOT / "samples/cuda_elimination_steps/raised.py").read_text())
    rng = np.random.default_rng(0)
    a = jnp.asarray(rng.random((n, n)) + n * np.eye(n), jnp.float32)
    b = jnp.asarray(rng.random(n), jnp.float32)
    index = jnp.arange(n)

    @jax.jit
    def expert(a, b):  # noqa: ANN001, ANN202
        def down(t, state):  # noqa: ANN001, ANN202
            a, b = state
            m = jnp.where(index > t, a[:, t] / a[t, t], 0.0)
            return a - m[:, None] * jnp.where(index >= t, a[t], 0.0), b - m * b[t]

        def up(r, b):  # noqa: ANN001, ANN202
            i = n - 1 - r
            b = b.at[i].divide(a[i, i])
            return b - jnp.where(index < i, a[:, i] * b[i], 0.0)

        a, b = jax.lax.fori_loop(0, n - 1, down, (a, b))
        return jax.lax.fori_loop(0, n, up, b)

    ours, theirs = _best(lambda: module.solve(a.ravel(), b, n)), _best(lambda: expert(a, b))
    return (
        f"elimination, {n} unknowns, two launches a pivot: {ours * 1e3:.1f} ms, "
        f"an expert's loop {theirs * 1e3:.1f} ms: {ours / theirs:.2f}"
    )


def _measured(name: str, source: str) -> list[str]:
    import jax
    import jax.numpy as jnp

    from kraise import pipeline
    from kraise.verify.load import load_module

    done = pipeline.translate(source, "loop.py")
    assert done.text is not None, done.diagnostics
    module = load_module(done.text)
    u, f, c = jnp.linspace(0.0, 1.0, N) ** 2, jnp.zeros(N), jnp.float32(1e-3)

    def by_launch():  # noqa: ANN202
        x, y = u, f
        for _ in range(STEPS):
            y = module.flux(x, y, N)
            x = module.advance(x, y, c, N)
        return x

    one = lambda: module.run(u, f, c, N, STEPS)  # noqa: E731
    gradient = jax.jit(jax.grad(lambda x: jnp.sum(module.run(x, f, c, N, STEPS) ** 2)))
    times = {name: _best(call) for name, call in (("one", one), ("launches", by_launch), ("grad", lambda: gradient(u)))}
    memory = gradient.lower(u).compile().memory_analysis().temp_size_in_bytes
    return [
        f"{name}: host loop of {STEPS} steps, 2 kernels, {N} cells: one function {times['one'] * 1e3:.1f} ms, "
        f"a jitted call for each launch {times['launches'] * 1e3:.1f} ms: {times['launches'] / times['one']:.1f} times",
        f"its gradient {times['grad'] * 1e3:.1f} ms: {times['grad'] / times['one']:.1f} times the primal, "
        f"{memory / 1e6:.0f} MB of temporaries ({STEPS} states are {STEPS * N * 4 / 1e6:.0f} MB)",
    ]


def _best(call) -> float:  # noqa: ANN001
    import jax

    jax.block_until_ready(call())
    found = []
    for _ in range(5):
        start = time.perf_counter()
        jax.block_until_ready(call())
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    """Prints the report."""
    for line in measure():
        print(f"  {line}", flush=True)
