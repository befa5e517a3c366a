"""Loops of hosts over time that end early: on a GPU the condition is asked once for several rounds."""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline

HALVED = """
from numba import cuda
import numpy as np

@cuda.jit
def relax(x, y, a):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] / (1.0 + x[i])

def until_small(x, a, tol, most):
    d = cuda.to_device(x)
    e = cuda.device_array_like(d)
    said = np.zeros(most, dtype=np.float32)
    for k in range({start}, most):
        relax[(x.size + 63) // 64, 64](d, e, a)
        d, e = e, d
        top = d.copy_to_host().max()
        said[k] = {said}
        if top < tol:
            break
    return d.copy_to_host(), said
"""


@cache
def text(source: str) -> str:
    done = pipeline.translate(source, "kernel.py")
    assert done.text is not None and "checkpointed_while(" in done.text, done.refusals
    return done.text


def module(source: str) -> dict:
    """Anew each time: what was traced for one backend is kept."""
    space: dict = {}
    exec(text(source), space)
    return space


def rounds(x, a, tol, most, start):
    """What the source does, and how many rounds it takes."""
    said = np.zeros(most, np.float32)
    done = 0
    for k in range(start, most):
        x = a * x / (1.0 + x)
        said[k] = x.max()
        done += 1
        if x.max() < tol:
            break
    return x, said, done


@pytest.mark.parametrize(("start", "tol", "count"), [(0, 0.5, 1), (0, 0.00185, 8), (3, 1e-9, 18)])
def test_several_rounds_are_asked_for_together(start, tol, count, monkeypatch):
    source = HALVED.format(start=start, said="top")
    x = np.linspace(0.1, 0.9, 5, dtype="f")
    want, said, done = rounds(x, np.float32(0.5), tol, 21, start)
    assert done == count
    found = []
    for backend in ("cpu", "gpu"):
        monkeypatch.setattr(jax, "default_backend", lambda b=backend: b)
        space = module(source)
        run = space["until_small"]
        value = run(jnp.asarray(x), 0.5, tol, 21)
        slopes = jax.grad(lambda v, a, f=run: sum(jnp.sum(jnp.sin(r)) for r in f(v, a, tol, 21)), (0, 1))(x, 0.5)
        found.append((*value, *slopes))
        loop = str(jax.make_jaxpr(lambda v, f=run: f(v, 0.5, tol, 21))(x))
        assert f"length={3 if backend == 'gpu' else 21 - start}" in loop
    for here, there in zip(*found, strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-5)
    np.testing.assert_allclose(found[1][0], want, rtol=1e-5)
    np.testing.assert_allclose(found[1][1], said, rtol=1e-5)
    assert np.isfinite(found[1][2]).all()


def test_rounds_after_the_last_run_where_all_is_defined(monkeypatch):
    """The round's number, too: a division by ``most - k`` is by no zero."""
    source = HALVED.format(start=0, said="top / (most - k)")
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    run = module(source)["until_small"]
    with jax.debug_nans(True):
        value, said = run(jnp.ones(4), 0.5, 0.0, 5)
    assert np.isfinite(said).all() and said.shape == (5,)
