"""Numbers that a parameter of a CUDA host refers to: set ones are arrays of one element, others numbers."""

import jax
import numpy as np

from kraise import pipeline
from kraise.verify.load import load_module

KERNEL = """
__global__ void add(const float *x, float *s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(s, x[i] * x[i]);
}
"""
LAUNCH = (
    "float *d; cudaMalloc(&d, sizeof(float)); cudaMemset(d, 0, sizeof(float)); add<<<(n + 255) / 256, 256>>>(x, d, n);"
)
X = np.array([1.0, -2.0, 3.0], np.float32)


def _translated(host):
    return pipeline.translate(KERNEL + host, "host.cu")


def _f(host):
    done = _translated(host)
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    return load_module(done.text).f


def test_a_number_that_is_copied_to_and_changed():
    back = "cudaMemcpy(&mean, d, sizeof(float), cudaMemcpyDeviceToHost); mean /= n; count++; }"
    f = _f(f"void f(const float *x, const int &n, float &mean, int &count) {{ {LAUNCH} {back}")
    mean, count = f(X, 3, np.zeros(1, np.float32), np.array([4], np.int32))
    np.testing.assert_allclose(mean, [14 / 3], rtol=1e-6)
    assert count.tolist() == [5]
    slope = jax.grad(lambda x: f(x, 3, np.zeros(1, np.float32), np.array([4], np.int32))[0][0])(X)
    np.testing.assert_allclose(slope, 2 * X / 3, rtol=1e-6)


def test_a_number_that_is_only_read():
    f = _f("void f(const float *x, float *s, int &n) { add<<<(n + 255) / 256, 256>>>(x, s, n); }")
    np.testing.assert_allclose(f(X, np.ones(1, np.float32), 2), [6.0])


def test_a_number_that_a_helper_sets():
    helper = "void halve(float &r, float v) { r = v / 2; }\n"
    back = "float h; cudaMemcpy(&h, d, sizeof(float), cudaMemcpyDeviceToHost); halve(s, h); }"
    f = _f(f"{helper}void f(const float *x, int n, float &s) {{ {LAUNCH} {back}")
    np.testing.assert_allclose(f(X, 3, np.zeros(1, np.float32)), [7.0])


def test_a_name_that_is_declared_again_is_refused():
    again = "for (int k = 0; k < 2; k++) { float s = 1; s += k; add<<<1, 32>>>(x, y, s); }"
    done = _translated(f"void f(const float *x, float *y, float &s) {{ {again} s = 2; }}")
    assert [(d.code, d.kernel) for d in done.diagnostics if d.severity == "error"] == [("KR211", "f")]


def test_a_header_that_is_named_is_read():
    assert pipeline.translate(KERNEL, "add.h").raised == ("add",)
    assert [d.code for d in pipeline.translate(KERNEL, "add.txt").diagnostics] == ["KR105"]
