"""Gradients beside hand-written twins: traps with the experts' safe operands, time loops, gathers, triangles, scans.

The twins are what one writes by hand who knows where NaN comes from: the same guards before the operation, no more.
Times are of the processor (all threads of the process): load disturbs them less than the clock on the wall.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kraise import pipeline
from kraise.verify.load import load_module
from tests.bench.timing import alternating, row
from tests.corpus import SAMPLES

SOURCE = '''
from numba import cuda, njit


@njit
def relax(u, v, rate, steps):
    """Diffusion with a copy back."""
    ny, nx = u.shape
    for t in range(steps):
        for y in range(1, ny - 1):
            for x in range(1, nx - 1):
                v[y, x] = u[y, x] + rate * (u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1] - 4.0 * u[y, x])
        for y in range(1, ny - 1):
            for x in range(1, nx - 1):
                u[y, x] = v[y, x]


@cuda.jit
def weighted_gather(x, idx, w, out, n, k):
    i = cuda.grid(1)
    if i < n:
        acc = 0.0
        for j in range(k):
            acc += w[i * k + j] * x[idx[i * k + j]]
        out[i] = acc


@cuda.jit
def triangular(L, x, y, n):
    i = cuda.grid(1)
    if i < n:
        acc = 0.0
        for j in range(i + 1):
            acc += L[i, j] * x[j]
        y[i] = acc


@cuda.jit
def peaks(x, out, n, m):
    i = cuda.grid(1)
    if i < n:
        best = x[i, 0]
        for j in range(m):
            best = max(best, x[i, j])
            out[i, j] = best
'''
KEY = jax.random.key(0)
TRAPS = ("coulomb_self", "gravity", "masked_softmax", "unit_vectors", "slope_limiter", "correlation", "polar_origin")


def normal(*shape: int) -> Any:
    return jax.random.normal(KEY, shape)


@partial(jax.jit, static_argnames="steps")
def relax(u, v, rate, steps):  # noqa: ANN001, ANN201
    def step(_, u):  # noqa: ANN001, ANN202
        near = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return u.at[1:-1, 1:-1].add(rate * (near - 4.0 * u[1:-1, 1:-1]))

    u = jax.lax.fori_loop(0, steps, step, u)
    return u, v.at[1:-1, 1:-1].set(u[1:-1, 1:-1])


@partial(jax.jit, static_argnames=("n", "k"))
def weighted_gather(x, idx, w, out, n, k):  # noqa: ANN001, ANN201
    return jnp.sum(w.reshape(n, k) * x[idx.reshape(n, k)], axis=1)


@partial(jax.jit, static_argnames="n")
def triangular(L, x, y, n):  # noqa: ANN001, ANN201
    # an infinite x reaches rows that do not read it: what kraise emits does not let it
    return jnp.tril(L) @ x


@partial(jax.jit, static_argnames=("n", "m"))
def peaks(x, out, n, m):  # noqa: ANN001, ANN201
    return jax.lax.cummax(x, axis=1)


@jax.jit
def coulomb_self(phi, q, x):  # noqa: ANN001, ANN201
    same = jnp.eye(x.size, dtype=bool)
    d = jnp.where(same, 1.0, jnp.abs(x[:, None] - x))
    return jnp.sum(jnp.where(same, 0.0, q / d), axis=1)


@partial(jax.jit, static_argnames="n")
def gravity(ax, ay, body, n):  # noqa: ANN001, ANN201
    dx, dy = (body[:, c] - body[:, c, None] for c in (0, 1))
    r2 = dx * dx + dy * dy
    apart = r2 >= 1e-6
    inv = jax.lax.rsqrt(jnp.where(apart, r2, 1.0))
    s = jnp.where(apart, body[:, 3] * inv * inv * inv, 0.0)
    return jnp.sum(s * dx, axis=1), jnp.sum(s * dy, axis=1)


@jax.jit
def masked_softmax(y, x, bias):  # noqa: ANN001, ANN201
    v = x + bias
    m = jax.lax.stop_gradient(v.max(axis=1, keepdims=True))
    some = m != -jnp.inf
    e = jnp.exp(jnp.where(some, v - m, 0.0))
    return jnp.where(some, e / e.sum(axis=1, keepdims=True), 0.0)


@jax.jit
def unit_vectors(u, x):  # noqa: ANN001, ANN201
    square = (x**2).sum(axis=1, keepdims=True)
    long = square > 1e-6
    return jnp.where(long, x / jnp.sqrt(jnp.where(long, square, 1.0)), x)


@partial(jax.jit, static_argnames="n")
def slope_limiter(y, u, n):  # noqa: ANN001, ANN201
    dl, dr = u[1:-1] - u[:-2], u[2:] - u[1:-1]
    same = dl * dr > 0
    slope = jnp.where(same, dl * dr * (dl + dr) / jnp.where(same, dl * dl + dr * dr, 1.0), 0.0)
    return y.at[1:-1].set(u[1:-1] + 0.5 * slope)


@partial(jax.jit, static_argnames=("rows", "n"))
def correlation(r, a, b, rows, n):  # noqa: ANN001, ANN201
    a, b = a.reshape(rows, n), b.reshape(rows, n)
    square = (a * a).sum(axis=1) * (b * b).sum(axis=1)
    long = square > 1e-6
    return jnp.where(long, (a * b).sum(axis=1) / jnp.sqrt(jnp.where(long, square, 1.0)), 0.0)


@jax.jit
def polar_origin(r, theta, x, y):  # noqa: ANN001, ANN201
    origin = x * x + y * y < 1e-9
    x = jnp.where(origin, 1.0, x)
    return jnp.where(origin, 0.0, jnp.hypot(x, y)), jnp.where(origin, 0.0, jnp.arctan2(y, x))


def arguments() -> dict[str, tuple[Any, ...]]:
    """What each is called with; every trap holds points that hurt."""
    n, k = 100_000, 8
    some = jnp.where(jax.random.bernoulli(KEY, 0.1, (1_000_000,)), 0.0, normal(1_000_000))
    hidden = jnp.where(jax.random.bernoulli(KEY, 0.2, (1000, 1000)), -jnp.inf, 0.0).at[7].set(-jnp.inf)
    idx = jax.random.randint(KEY, (n * k,), 0, n)
    return {
        "relax": (normal(512, 512), normal(512, 512), 0.1, 50),
        "weighted_gather": (normal(n), idx, normal(n * k), jnp.zeros(n), n, k),
        "triangular": (normal(2000, 2000), normal(2000), jnp.zeros(2000), 2000),
        "peaks": (normal(1000, 1000), jnp.zeros((1000, 1000)), 1000, 1000),
        "coulomb_self": (jnp.zeros(2000), normal(2000), jnp.linspace(-1.0, 1.0, 2000)),
        "gravity": (jnp.zeros(1000), jnp.zeros(1000), normal(1000, 4), 1000),
        "masked_softmax": (jnp.zeros((1000, 1000)), normal(1000, 1000), hidden),
        "unit_vectors": (jnp.zeros((300_000, 3)), some[:900_000].reshape(300_000, 3).at[5].set(0.0)),
        "slope_limiter": (jnp.zeros(some.size), some, some.size),
        "correlation": (jnp.zeros(1000), some, normal(1_000_000).at[:5000].set(0.0), 1000, 1000),
        "polar_origin": (jnp.zeros(300_000), jnp.zeros(300_000), some[:300_000], some[300_000:600_000]),
    }


def emitted() -> dict[str, Any]:
    """The emitted functions by name."""
    modules = [load_module(pipeline.translate(SOURCE, "twins.py").text or "")]
    names = {s.name.removeprefix("cuda_").removeprefix("trap_"): s for s in SAMPLES}
    modules += [load_module(names[n].translate().text or "") for n in TRAPS]
    return {n: getattr(m, n) for n in arguments() for m in modules if hasattr(m, n)}


def compared(name: str, ours: Any, given: tuple[Any, ...]) -> tuple[list[Callable[[], Any]], list[Callable[[], Any]]]:
    """Calls of ours and of the twin: values, and gradients of a weighted sum. AssertionError if they differ."""
    twin = globals()[name]
    floats = [k for k, v in enumerate(given) if hasattr(v, "dtype") and v.dtype.kind == "f"]

    weights = [jax.random.normal(KEY, v.shape) for v in jax.tree.leaves(twin(*given))]

    def gradient(function: Any) -> Callable[[], Any]:
        def loss(*chosen: Any) -> Any:
            now = list(given)
            for k, v in zip(floats, chosen, strict=True):
                now[k] = v
            return sum(jnp.vdot(w, v) for w, v in zip(weights, jax.tree.leaves(function(*now)), strict=True))

        compiled = jax.jit(jax.grad(loss, argnums=tuple(range(len(floats)))))
        return lambda: jax.block_until_ready(compiled(*(given[k] for k in floats)))

    values: list[Callable[[], Any]] = [lambda f=f: jax.block_until_ready(f(*given)) for f in (ours, twin)]
    slopes = [gradient(f) for f in (ours, twin)]
    for a, b in ([c() for c in calls] for calls in (values, slopes)):
        for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
            assert np.isfinite(x).all()
            np.testing.assert_allclose(x, y, rtol=2e-3, atol=2e-3 * (1e-6 + np.abs(np.asarray(y)).max()))
    return values, slopes


def main() -> None:
    """One row a function: ours over the twin, value and gradient."""
    functions = emitted()
    for name, given in arguments().items():
        values, slopes = compared(name, functions[name], given)
        one, two = alternating(values, clock=time.process_time)
        one_g, two_g = alternating(slopes, clock=time.process_time)
        bar = f"gradient {one_g / two_g:.2f} x, at most 1.1 x   (twin {two * 1e3:.1f} ms, {two_g * 1e3:.1f} ms)"
        row(name, f"{one / two:.2f} x", bar)


if __name__ == "__main__":
    main()
