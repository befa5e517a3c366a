"""Gradient traps: each sample's naive form gives NaN at the sample's own point, the emitted form the derivative.

The oracle is independent of kraise: central differences, in 64 bits, of the values of a form written by hand.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise.verify.cases import load_cases
from kraise.verify.gradients import widen
from kraise.verify.load import load_module
from tests.corpus import SAMPLES
from tests.traps import naive

TRAPS = [s for s in SAMPLES if s.name.removeprefix("cuda_").startswith("trap_")]
STEP = 1e-6


class Trap:
    """One sample at its point: the emitted and the naive function, and a weighted sum of what they return."""

    def __init__(self, sample):
        ((name, case),) = load_cases(sample.folder / "case.toml").items()
        wide = {n: widen(v) for n, v in case.arguments().items()}
        self.arguments = {n: jnp.asarray(v) if np.ndim(v) else v for n, v in wide.items()}
        self.floats = [n for n, v in self.arguments.items() if np.asarray(v).dtype.kind == "f"]
        self.emitted = getattr(load_module(sample.golden.read_text()), name)
        self.naive = getattr(naive, name)
        rng = np.random.default_rng(5)
        outputs = jax.tree_util.tree_leaves(self.emitted(**self.arguments))
        self.weights = [rng.uniform(0.5, 1.5, np.shape(v)) for v in outputs]

    def loss(self, function, floats):
        leaves = jax.tree_util.tree_leaves(function(**{**self.arguments, **floats}))
        return sum(jnp.sum(w * v) for w, v in zip(self.weights, leaves, strict=True))

    def gradients(self, function):
        floats = {n: jnp.asarray(self.arguments[n]) for n in self.floats}
        gradient = jax.jit(jax.grad(lambda f: self.loss(function, f)))
        return {n: np.asarray(g) for n, g in gradient(floats).items()}

    def slopes(self, name):
        """The difference quotients of the naive form's loss by one argument, from the right and from the left."""
        at = np.asarray(self.arguments[name], np.float64)
        steps = STEP * np.eye(at.size).reshape(-1, *at.shape)
        loss = jax.jit(jax.vmap(lambda v: self.loss(self.naive, {name: v})))
        here, above, below = np.split(np.asarray(loss(np.stack([at, *(at + steps), *(at - steps)]))), [1, at.size + 1])
        return ((above - here) / STEP).reshape(at.shape), ((here - below) / STEP).reshape(at.shape)


@pytest.fixture(autouse=True)
def in_64_bits():
    with jax.enable_x64(True):
        yield


def test_there_are_enough_traps():
    assert len(TRAPS) >= 16
    assert sum(s.name.startswith("cuda_") for s in TRAPS) >= 6


@pytest.mark.parametrize("sample", TRAPS, ids=lambda s: s.name)
def test_the_naive_form_falls_in_and_the_emitted_form_does_not(sample):
    trap = Trap(sample)
    values = jax.tree_util.tree_leaves(trap.emitted(**trap.arguments))
    for got, expected in zip(values, jax.tree_util.tree_leaves(trap.naive(**trap.arguments)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
    fallen = trap.gradients(trap.naive)
    assert any(not np.isfinite(g).all() for g in fallen.values()), "this is no trap"
    compared = 0
    for name, gradient in trap.gradients(trap.emitted).items():
        assert np.isfinite(gradient).all(), f"the gradient by {name} is {gradient}"
        right, left = trap.slopes(name)
        # at a kink or a jump there is no one derivative
        smooth = (np.abs(right - left) <= 1e-3 * np.maximum(1.0, np.abs(right))) & (np.abs(right) < 1e4)
        np.testing.assert_allclose(
            gradient[smooth], ((right + left) / 2)[smooth], rtol=2e-4, atol=2e-4, err_msg=f"by {name}"
        )
        compared += (smooth & ~np.isfinite(fallen[name])).sum()
    assert compared, "nothing was compared where the naive form is not finite"
