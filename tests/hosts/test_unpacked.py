"""Small arrays of a host whose elements are named by constants are numbers, which may decide sizes."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = """
#define LEVELS 3
__global__ void add(float *x, float s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += s;
}
__global__ void count(const float *x, int *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0) atomicAdd(c + i % 2, 1);
}
"""
FUNCTIONS = {
    "sizes of a hierarchy": """
      void f(float *x, int n) {
        int size[LEVELS];
        float *part[LEVELS];
        int m = n;
        for (int l = 0; l < LEVELS; l++) {
          size[l] = m;
          cudaMalloc(&part[l], m * sizeof(float));
          cudaMemset(part[l], 0, m * sizeof(float));
          m = m / 2;
        }
        for (int l = 0; l < LEVELS; l++) {
          add<<<1, size[l]>>>(part[l], 10.0f * l + 1, size[l]);
          cudaMemcpy(x, part[l], size[l] * sizeof(float), cudaMemcpyDeviceToDevice);
        }
      }""",
    "in a loop": """
      void f(float *x, int n) {
        int range[2] = {n, n / 2};
        for (int round = 0; round < 3; round++) {
          add<<<1, 64>>>(x, 1.0f, range[0]);
          add<<<1, 64>>>(x, 10.0f, range[1]);
        }
      }""",
    "elements that change": """
      void f(float *x, int n) {
        int range[2];
        range[0] = n; range[1] = range[0] / 2;
        add<<<1, 64>>>(x, 1.0f, range[1]);
        range[1] -= 1; range[0] = range[1];
        add<<<1, 64>>>(x, 10.0f, range[0]);
      }""",
}
EXPECTED = {
    "sizes of a hierarchy": lambda n: [max(10 * m + 1 for m in range(3) if i < n >> m) for i in range(n)],
    "in a loop": lambda n: [3 + 30 * (i < n // 2) for i in range(n)],
    "elements that change": lambda n: [1 * (i < n // 2) + 10 * (i < n // 2 - 1) for i in range(n)],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sizes(name):
    result = pipeline.translate(HEAD + FUNCTIONS[name], "host.cu")
    assert not result.diagnostics, result.diagnostics
    module = load_module(result.text)
    for n in (4, 9):
        np.testing.assert_array_equal(module.f(np.zeros(n, np.float32), n), np.array(EXPECTED[name](n), np.float32))


def test_an_array_that_a_kernel_fills_stays_an_array():
    host = """
      int f(const float *x, int n) {
        int c[2] = {0, 0};
        int *d; cudaMalloc(&d, sizeof(c));
        cudaMemcpy(d, c, sizeof(c), cudaMemcpyHostToDevice);
        count<<<1, 64>>>(x, d, n);
        cudaMemcpy(c, d, sizeof(c), cudaMemcpyDeviceToHost);
        return 10 * c[0] + c[1];
      }"""
    result = pipeline.translate(HEAD + host, "host.cu")
    assert "f" in result.raised, result.diagnostics
    assert load_module(result.text).f(np.array([1, 1, 1, -1], np.float32), 4) == 21


def test_an_element_of_a_parameter_is_no_size():
    host = "void f(float *x, const int *size) { for (int l = 0; l < 3; l++) add<<<1, 64>>>(x, 1.0f, size[l]); }"
    result = pipeline.translate(HEAD + host, "host.cu")
    (found,) = result.diagnostics
    assert found.code == "KR214" and "an element of size" in found.reason and found.span.line == host_line(host)


def host_line(host: str) -> int:
    return (HEAD + host).count("\n", 0, (HEAD + host).index("void f")) + 1
