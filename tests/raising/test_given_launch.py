"""A launch that is given counts as it is, also where it covers less than the guards of the kernel."""

import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
STRIDE = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)"
KERNELS = {
    "first blocks": (
        f"{INDEX} if (blockIdx.x < 2 && i < n) atomicAdd(out, x[i]);",
        lambda grid, block, i, n: i < min(2, grid) * block,
    ),
    "stride of the first blocks": (
        f"if (blockIdx.x < 2) {{ float s = 0.0f; {STRIDE} s += x[i]; atomicAdd(out, s); }}",
        lambda grid, block, i, n: i // block % grid < 2,
    ),
    "stride of all but the first": (
        f"float s = 0.0f; {STRIDE} if (blockIdx.x > 0) s += x[i]; atomicAdd(out, s);",
        lambda grid, block, i, n: i // block % grid > 0,
    ),
    "first threads": (
        f"{INDEX} if (threadIdx.x < 3 && i < n) atomicAdd(out, x[i]);",
        lambda grid, block, i, n: i % block < 3 and i < grid * block,
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_threads_that_are_not_launched_add_nothing(name):
    body, runs = KERNELS[name]
    done = pipeline.translate(f"__global__ void k(const float *x, float *out, int n) {{ {body} }}", "k.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    module = load_module(done.text)
    for n, grid, block in ((20, 5, 4), (20, 1, 4), (20, 2, 4), (20, 3, 2), (20, 6, 4), (3, 1, 2), (0, 1, 4)):
        x = np.arange(1, n + 1, dtype=np.float32)
        expected = 1 + sum(x[i] for i in range(n) if runs(grid, block, i, n))
        got = module.k(jnp.asarray(x), jnp.ones(1, jnp.float32), n, grid=grid, block=block)
        assert got[0] == expected, (n, grid, block)
