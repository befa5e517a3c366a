"""CUDA C hosts that return arrays: vectors, pointers that they allocate, beside the arrays that they change."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = """
#include <vector>
__global__ void twice(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i] * x[i];
}
"""
X = np.array([1.0, 2.0, 3.0], np.float32)


def once(x):
    return 2 * x * x


FUNCTIONS = {
    "a vector": (
        "std::vector<float> f(const std::vector<float> &x, int n) { float *d, *e; cudaMalloc(&d, n * sizeof(float));"
        " cudaMalloc(&e, n * sizeof(float)); cudaMemcpy(d, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);"
        " twice<<<1, n>>>(d, e, n); std::vector<float> r(n);"
        " cudaMemcpy(r.data(), e, n * sizeof(float), cudaMemcpyDeviceToHost); cudaFree(d); cudaFree(e); return r; }",
        [once(X)],
    ),
    "a pointer": (
        "float *f(const float *x, int n) { float *y; cudaMalloc(&y, n * sizeof(float)); twice<<<1, n>>>(x, y, n);"
        " return y; }",
        [once(X)],
    ),
    "the array that it changes": ("float *f(float *x, int n) { twice<<<1, n>>>(x, x, n); return x; }", [once(X)]),
    "another array than it changes": (
        "float *f(float *x, int n) { float *y; cudaMalloc(&y, n * sizeof(float)); twice<<<1, n>>>(x, y, n);"
        " twice<<<1, n>>>(y, x, n); return y; }",
        [once(X), once(once(X))],
    ),
    "a pair of an array and a number": (
        "std::pair<float *, int> f(const float *x, int n) { float *y; cudaMalloc(&y, n * sizeof(float));"
        " twice<<<1, n>>>(x, y, n); return {y, n - 1}; }",
        [once(X), 2],
    ),
    "a struct": (
        "struct Two { float *p; float first; };\n"
        "Two f(const float *x, int n) { Two t; cudaMalloc(&t.p, n * sizeof(float)); twice<<<1, n>>>(x, t.p, n);"
        " cudaMemcpy(&t.first, t.p, sizeof(float), cudaMemcpyDeviceToHost); return t; }",
        [once(X), once(X)[0]],
    ),
    "what another function returns": (
        "float *g(const float *x, int n) { float *y; cudaMalloc(&y, n * sizeof(float)); twice<<<1, n>>>(x, y, n);"
        " return y; }\nvoid f(float *h, int n) { float *a = g(h, n); float *b = g(a, n);"
        " cudaMemcpy(h, b, n * sizeof(float), cudaMemcpyDeviceToHost); cudaFree(a); cudaFree(b); }",
        [once(once(X))],
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results(name):
    source, expected = FUNCTIONS[name]
    result = pipeline.translate(HEAD + source, "host.cu")
    assert not result.diagnostics, result.diagnostics
    found = load_module(result.text).f(X, 3)
    found = found if isinstance(found, tuple) else (found,)
    assert len(found) == len(expected)
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
