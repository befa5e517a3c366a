"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def _strided(a, shape, strides):
    """a[i * strides[0] + j * strides[1] + ...] for every (i, j, ...) of shape; rows may overlap."""
    outer, inner = strides[:-1], strides[1:]
    rows = [s // max(t, 1) for s, t in zip(outer, inner)]
    if all(n <= r and r * t == s for n, r, s, t in zip(shape[1:], rows, outer, inner)):
        return jnp.resize(a, (shape[0], *rows))[tuple(slice(n) for n in shape)]
    at = 0
    for n, stride in zip(shape, strides):
        at = jnp.asarray(at)[..., None] + stride * jnp.arange(n)
    return a[at]


@partial(jax.jit, static_argnames=("n", "m", "ld"))
def add_outer(n, m, ld, a, u, v, alpha):
    """a[row, col] += alpha * u[row] * v[col]  for 0 <= col < m, 0 <= row < n

    a block has 16 threads along x
    a block has 16 threads along y
    """
    if m > ld:
        raise ValueError("add_outer: rows would overlap: m <= ld must hold")
    a2 = jnp.resize(a, (n, ld))
    a2 = a2.at[:, :m].add(alpha * u[:n, None] * v[:m])  # kernel.cu:9
    return a.at[: n * ld].set(a2.ravel()[: a.size])


@partial(jax.jit, static_argnames=("nz", "ny", "nx", "pitch", "slice"))
def project(nz, ny, nx, pitch, slice, volume, image):
    """sums over planes of a volume whose rows and planes are padded

    image[y, x] = sum_z volume[z * pitch * slice + y * pitch + x]  for 0 <= x < nx, 0 <= y < ny
    """
    if nx > pitch:
        raise ValueError("project: rows would overlap: nx <= pitch must hold")
    image2 = jnp.resize(image, (ny, pitch))
    image2 = image2.at[:, :nx].set(
        jnp.sum(
            jnp.transpose(
                _strided(volume, (nz, ny, nx), (pitch * slice, pitch, 1)), (1, 2, 0)
            ),
            axis=2,
        )
    )  # kernel.cu:19
    return image.at[: ny * pitch].set(image2.ravel()[: image.size])


@partial(jax.jit, static_argnames=("frames", "hop", "width"))
def frame_energy(frames, hop, width, signal, window, energy):
    """windowed energies: the frames of a signal, which overlap where hop < width

    energy[f] = sum_k signal[f * hop + k] * window[k] * signal[f * hop + k] * window[k]
        for 0 <= f < frames
    """
    s = _strided(signal, (frames, width), (hop, 1)) * window[:width]  # kernel.cu:29
    return energy.at[:frames].set(jnp.sum(s * s, axis=1))  # kernel.cu:32
