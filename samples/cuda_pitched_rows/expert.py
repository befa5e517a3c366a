"""Matrices with a leading dimension and the frames of a signal, by hand. The squares are those of the products, as in the
source: squares of the factors may overflow where these do not."""

from functools import partial

import jax
import jax.numpy as jnp


def _padded(a, *shape):
    whole = 1
    for n in shape:
        whole *= n
    return jnp.pad(a[:whole], (0, max(whole - a.size, 0))).reshape(shape)


@partial(jax.jit, static_argnames=("n", "m", "ld"))
def add_outer(n, m, ld, a, u, v, alpha):
    new = _padded(a, n, ld).at[:, :m].add(alpha * jnp.outer(u[:n], v[:m])).ravel()
    return a.at[: n * ld].set(new[: a.size])


@partial(jax.jit, static_argnames=("nz", "ny", "nx", "pitch", "slice"))
def project(nz, ny, nx, pitch, slice, volume, image):
    total = _padded(volume, nz, slice, pitch)[:, :ny, :nx].sum(axis=0)
    new = _padded(image, ny, pitch).at[:, :nx].set(total).ravel()
    return image.at[: ny * pitch].set(new[: image.size])


@partial(jax.jit, static_argnames=("frames", "hop", "width"))
def frame_energy(frames, hop, width, signal, window, energy):
    at = jnp.arange(frames)[:, None] * hop + jnp.arange(width)
    windowed = signal[at] * window[:width]
    return energy.at[:frames].set((windowed**2).sum(axis=1))


def large(rng):
    a, u = rng.random(800 * 1000, "f"), rng.random(1000, "f")
    image = rng.random(100 * 110, "f")
    return {
        "add_outer": {"n": 800, "m": 990, "ld": 1000, "a": a, "u": u, "v": u, "alpha": 0.5},
        "project": {"nz": 60, "ny": 100, "nx": 100, "pitch": 110, "slice": 104}
        | {"volume": a[: 60 * 104 * 110], "image": image},
        "frame_energy": {"frames": 3000, "hop": 256, "width": 512, "signal": a, "window": u[:512]}
        | {"energy": a[:3000]},
    }
