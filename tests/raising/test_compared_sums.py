"""A block's sum that is compared is the sum that is stored, over what there is and no more."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = """
import math
import numpy as np
from numba import cuda

@cuda.jit
def length(x, y):
    s = cuda.shared.array(8, np.float64)
    t = cuda.threadIdx.x
    s[t] = x[t] * x[t] if t < x.shape[0] else 0.0
    cuda.syncthreads()
    d = 4
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0 and s[0] > 0.0:
        y[0] = math.sqrt(s[0])
"""


@pytest.mark.parametrize("n", [0, 1, 3, 8])
def test_fewer_elements_than_threads(n):
    text = pipeline.translate(SOURCE, "length.py").text
    assert text.count("jnp.sum(") == 1
    length = load_module(text).length
    with jax.enable_x64(True):
        for x in (np.arange(1.0, n + 1), np.zeros(n)):
            start = np.array([-1.0])
            expected = np.linalg.norm(x) if x.any() else -1.0
            np.testing.assert_allclose(length(x, start), [expected])
            slope = jax.grad(lambda x, start=start: length(x, start)[0])(x)
            np.testing.assert_allclose(slope, x / expected if x.any() else np.zeros(n))
