"""Channels of sequences by hand: shifted sums, and a scan that carries an array of states."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("C", "T", "K"))
def look_back(x, taps, bias, y, C, T, K):
    padded = jnp.pad(x.reshape(-1, C, T), ((0, 0), (0, 0), (K - 1, 0)))
    taps = taps.reshape(C, K)
    return (bias[:, None] + sum(taps[:, k, None] * padded[:, :, k : k + T] for k in range(K))).ravel()


@partial(jax.jit, static_argnames=("T", "C"))
def carry_states(x, step, decay, in_, out, y, T, C):
    decay = decay.reshape(C, -1)

    @jax.checkpoint
    def round(h, row):
        x, d, into, weight = row
        h = jnp.exp(-d[:, None] * decay) * h + (d * x)[:, None] * into
        return h, h @ weight

    rows = x.reshape(T, C), step.reshape(T, C), in_.reshape(T, -1), out.reshape(T, -1)
    return jax.lax.scan(round, jnp.zeros(decay.shape, x.dtype), rows)[1].ravel()


def large(rng):
    C, T = 128, 500
    x = rng.random(4 * C * T, "f")
    back = {"x": x, "taps": rng.random(4 * C, "f"), "bias": rng.random(C, "f"), "y": 0 * x, "C": C, "T": T, "K": 4}
    x, step = rng.random((2, T * C), "f")
    into, out = rng.random((2, T * 4), "f")
    carried = {"x": x, "step": step, "decay": rng.random(4 * C, "f"), "in_": into, "out": out, "y": 0 * x}
    return {"look_back": back, "carry_states": carried | {"T": T, "C": C}}
