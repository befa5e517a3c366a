"""Tiles of floats that a loop carries are as wide as what is stored in them, whichever way they are stored."""

import jax
import jax.numpy as jnp
import numpy as np

from kraise import pipeline
from kraise.options import Options

COARSE = """from numba import cuda, float32


@cuda.jit
def product(A, B, C):
    sA = cuda.shared.array((8, 4), float32)
    sB = cuda.shared.array((4, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = cuda.local.array(2, float32)
    for i in range(2):
        acc[i] = 0.0
    tid = ty * 8 + tx
    for k0 in range(0, A.shape[1], 4):
        for e in range(tid, 32, 32):
            sA[e // 4, e % 4] = A[cuda.blockIdx.y * 8 + e // 4, k0 + e % 4]
            sB[e // 8, e % 8] = B[k0 + e // 8, cuda.blockIdx.x * 8 + e % 8]
        cuda.syncthreads()
        for k in range(4):
            for i in range(2):
                acc[i] += sA[ty + 4 * i, k] * sB[k, tx]
        cuda.syncthreads()
    for i in range(2):
        C[cuda.blockIdx.y * 8 + ty + 4 * i, cuda.blockIdx.x * 8 + tx] = acc[i]
"""


def test_a_product_in_64_bits():
    done = pipeline.translate(COARSE, "k.py", Options())
    assert not done.diagnostics
    found: dict = {}
    exec(done.text, found)
    rng = np.random.default_rng(1)
    with jax.enable_x64(True):
        A, B = (jnp.asarray(rng.normal(size=shape)) for shape in ((8, 12), (12, 16)))
        C = found["product"](A, B, jnp.zeros((8, 16)), grid=(2, 1), block=(8, 4))
        np.testing.assert_allclose(C, A @ B, rtol=1e-12)
