"""A product, mirrored blocks and sums of blocks by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("modes", "cells"))
def project(basis, state, out, modes, cells):
    return (basis.reshape(-1, modes) @ state.reshape(modes, cells)).ravel()


@partial(jax.jit, static_argnames="B")
def mirror_blocks(x, y, *, B):
    return x.reshape(-1, B)[:, ::-1].ravel()


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def tail_by_warp(x, sums, n, *, grid, block):
    return jnp.pad(x[:n], (0, grid * block - n)).reshape(grid, block).sum(axis=1)


def large(rng):
    rows, modes, cells = 400, 480, 512
    basis, state, out = (rng.random(n, "f") for n in (rows * modes, modes * cells, rows * cells))
    x, y = rng.random((2, 1 << 19), "f")
    tiles = {"T": 16, "grid": (cells // 16, rows // 16), "block": (16, 16)}
    return {
        "project": {"basis": basis, "state": state, "out": out, "modes": modes, "cells": cells} | tiles,
        "mirror_blocks": {"x": x, "y": y, "B": 64, "grid": 1 << 13, "block": 64},
        "tail_by_warp": {"x": x[:-9], "sums": y[: 1 << 12], "n": x.size - 9, "grid": 1 << 12, "block": 128},
    }
