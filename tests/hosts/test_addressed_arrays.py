"""``&h`` of an array with memory of its own begins where ``h`` does; of a pointer it is another place."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

KERNELS = """
struct Best { float value; int place; };
__global__ void square(const float *x, float *y) { int i = threadIdx.x; if (i < 4) y[i] = x[i] * x[i]; }
__global__ void largest(const float *x, Best *out, int n) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < 4) {
        float v = 0.0f; int p = 0;
        for (int i = 0; i < n; i++) if (x[b * n + i] > v) { v = x[b * n + i]; p = i; }
        out[b].value = v; out[b].place = p;
    }
}
"""
BACK = "square<<<1, 4>>>(x, y); cudaMemcpy(&h, y, 4 * sizeof(float), cudaMemcpyDeviceToHost);"
SUM = "float s = 0.0f; for (int i = 0; i < 4; i++) s += h[i]; return s; }"
X = np.array([1.0, -2.0, 3.0, 0.5], np.float32)


def _raised(source):
    done = pipeline.translate(KERNELS + source, "host.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    return load_module(done.text)


@pytest.mark.parametrize("cast", ("&h", "(void *)&h", "&(h)"))
def test_an_array_that_is_copied_back_by_its_address(cast):
    f = _raised("float f(const float *x, float *y) { float h[4]; " + BACK.replace("&h", cast) + SUM).f
    np.testing.assert_allclose(f(X, 0 * X)[0], (X * X).sum(), rtol=1e-6)
    np.testing.assert_allclose(jax.grad(lambda x: f(x, 0 * X)[0])(X), 2 * X, rtol=1e-6)


def test_an_array_that_is_copied_from_by_its_address():
    body = "float h[4]; for (int i = 0; i < 4; i++) h[i] = i + 1.0f;"
    f = _raised(
        "void f(float *x, float *y) { " + body + " cudaMemcpy(x, &h, 4 * sizeof(float), cudaMemcpyHostToDevice);"
        " square<<<1, 4>>>(x, y); }"
    ).f
    np.testing.assert_allclose(f(X, 0 * X)[1], [1, 4, 9, 16], rtol=1e-6)


def test_an_array_of_structs():
    body = "Best h[4]; largest<<<1, 4>>>(x, d, n); cudaMemcpy(&h, d, 4 * sizeof(Best), cudaMemcpyDeviceToHost);"
    end = "float s = 0.0f; for (int i = 0; i < 4; i++) s += h[i].value * h[i].place; return s; }"
    f = _raised("float f(const float *x, Best *d, int n) { " + body + end).f
    x = np.arange(12, dtype=np.float32) % 5
    rows, zero = x.reshape(4, 3), np.zeros(4, np.float32)
    got = f(x, zero, zero.astype(np.int32), 3)
    np.testing.assert_allclose(got[0], (rows.max(1) * rows.argmax(1)).sum(), rtol=1e-6)


def test_the_address_of_a_pointer_is_another_place():
    body = "float *h = (float *)malloc(4 * sizeof(float)); "
    done = pipeline.translate(KERNELS + "float f(const float *x, float *y) { " + body + BACK + SUM, "host.cu")
    assert "f" not in done.raised and "KR211" in {d.code for d in done.diagnostics}
