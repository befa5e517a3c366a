"""Least squares by gradient descent by hand: epochs after the last one are not run.

Nothing says that they are few, nor that a descent which has stopped (it may have diverged) stays finite where it goes
on: values chosen by ``where`` would then have a derivative of NaN.
"""

from functools import partial

import jax
import jax.numpy as jnp


@jax.jit
def grad_step(w, g, lr):
    return w - lr * g


@jax.jit
def residual(X, w, y, r):
    return X @ w - y


@jax.jit
def gradient(X, r, g):
    return (2.0 / X.shape[0]) * (r @ X)


@partial(jax.jit, static_argnames="epochs")
def fit(X, y, w0, lr, epochs, tol):
    def descend(w):
        r = X @ w - y
        loss = r @ r / y.size
        return w - lr * (2.0 / y.size) * (r @ X), ~(loss < tol), loss

    @jax.checkpoint
    def epoch(state, _):
        w, live = state
        w, live, loss = jax.lax.cond(live, descend, lambda w: (w, False, jnp.zeros_like(w[0])), w)
        return (w, live), loss

    (w, _), losses = jax.lax.scan(epoch, (w0, True), length=epochs)
    return w, losses


def large(rng):
    X, (y, r), (w, g) = rng.random((600, 500), "f"), rng.random((2, 600), "f"), rng.random((2, 500), "f")
    return {
        "grad_step": {"w": w, "g": g, "lr": 0.1},
        "residual": {"X": X, "w": w, "y": y, "r": r},
        "gradient": {"X": X, "r": r, "g": g},
        "fit": {"X": X - 0.5, "y": y, "w0": w / 100, "lr": 0.3, "epochs": 20, "tol": 0.01},
    }
