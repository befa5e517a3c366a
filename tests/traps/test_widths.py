"""Loops of single precision differentiated in double: what they carry keeps the arguments' width."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.traps.scalar import Program

SOURCE = """
__global__ void from_index(const float *x, float *y, float *last, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float u = (float)i;
        for (int j = 0; j < m; j++) {
            y[i * m + j] = u;
            u += fmaxf(x[i], 1.0f) * u;
        }
        last[i] = u;
    }
}

__global__ void from_product(const float *x, float *y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float u = 0.125f * i;
        for (int k = 0; k < m; k++) {
            u = u * u + x[k * n + i];
            y[k * n + i] = u;
        }
    }
}

__global__ void counted(const float *x, float *y, int *seen, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f) {
        for (int k = 0; k < m; k++) {
            y[i] = atanf(x[k] * y[i]);
            seen[i] = i % 4;
        }
    }
}
"""
PROGRAM = """
def from_index(x, y, last, n, m):
    for i in range(n):
        u = float(i)
        for j in range(m):
            y[i * m + j] = u
            u = u + max(x[i], 1.0) * u
        last[i] = u

def from_product(x, y, n, m):
    for i in range(n):
        u = 0.125 * i
        for k in range(m):
            u = u * u + x[k * n + i]
            y[k * n + i] = u

def counted(x, y, seen, n, m):
    for i in range(n):
        if x[i] > 0.0:
            for k in range(m):
                y[i] = math.atan(x[k] * y[i])
                seen[i] = i % 4
"""
N, M = 4, 3
RNG = np.random.default_rng(0)
GIVEN = {
    "from_index": {"x": RNG.normal(size=N), "y": np.zeros(N * M), "last": np.zeros(N), "n": N, "m": M},
    "from_product": {"x": RNG.normal(size=N * M), "y": np.zeros(N * M), "n": N, "m": M},
    "counted": {"x": RNG.normal(size=N), "y": RNG.normal(size=N), "seen": np.zeros(N, np.int32), "n": N, "m": M},
}


def cast(given, kind):
    return {n: jnp.asarray(v, kind) if np.asarray(v).dtype == np.float64 else v for n, v in given.items()}


@pytest.fixture(scope="module")
def module():
    return load_module(pipeline.translate(SOURCE, "widths.cu").text)


@pytest.mark.parametrize("name", GIVEN)
def test_gradient_in_double_is_that_of_the_program(name, module):
    given = GIVEN[name]
    _, slopes = Program(PROGRAM).gradient(name, given, None, np.ones)
    with jax.enable_x64(True):

        def loss(x):
            leaves = jax.tree.leaves(getattr(module, name)(**(cast(given, float) | {"x": x})))
            return sum(jnp.sum(v) for v in leaves if v.dtype == float)

        np.testing.assert_allclose(jax.grad(loss)(jnp.asarray(given["x"])), slopes["x"], rtol=1e-9)
        np.testing.assert_allclose(jax.jacfwd(loss)(jnp.asarray(given["x"])), slopes["x"], rtol=1e-9)


@pytest.mark.parametrize("name", GIVEN)
def test_single_precision_stays_single(name, module):
    leaves = jax.tree.leaves(getattr(module, name)(**cast(GIVEN[name], np.float32)))
    assert {str(v.dtype) for v in leaves} <= {"float32", "int32"}


WITHIN = """
__global__ void within(const float *x, float *y, long long n) {
    int i = threadIdx.x;
    if (i < n) {
        float s = 0.0f;
        for (int m = 1; m < n; m++)
            for (int k = max(m - 1, 0); k * k < m + 2; k++) s += x[i] * k;
        y[i] = s;
    }
}
"""


def test_a_counter_that_begins_with_one_around_it_keeps_its_width():
    module = load_module(pipeline.translate(WITHIN, "widths.cu").text)
    x = np.arange(5, dtype=np.float32)
    total = sum(k for m in range(1, 5) for k in range(m - 1, 9) if k * k < m + 2)
    np.testing.assert_array_equal(module.within(x, np.zeros(5, np.float32), 5), x * total)
