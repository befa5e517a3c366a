"""Variables of the file that ``main`` and its helpers change, and templates that launch: all of them are ``main``'s."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>
int rows, cols;
static int launches, *data;
float weight = 0.5f, *d_a, *d_b;
const int EXTRA = 1;
__global__ void shift(const float *a, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) b[i] = a[i] + a[i - 1];
}
template <typename T> __global__ void scale(T *x, T s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = s * x[i];
}
void options(int argc, char **argv) {
    if (argc == 3) { cols = atoi(argv[1]); rows = atoi(argv[2]); }
    else { printf("usage\\n"); exit(0); }
    data = new int[rows * cols];
    for (int i = 0; i < rows * cols; i++) data[i] = rand() % 10;
}
int size() { return rows * cols; }
void allocate() {
    cudaMalloc((void **)&d_a, size() * sizeof(float));
    cudaMalloc((void **)&d_b, size() * sizeof(float));
}
void turn() { float *t = d_a; d_a = d_b; d_b = t; launches += EXTRA; }
void launch() { shift<<<(rows * cols + 63) / 64, 64>>>(d_a, d_b, rows * cols); turn(); weight *= 2.0f; }
template <typename T> void scaled(T *d, T s, int n) { scale<T><<<(n + 63) / 64, 64>>>(d, s, n); }
int main(int argc, char **argv) {
    options(argc, argv);
    allocate();
    float *h = (float *)malloc(rows * cols * sizeof(float));
    for (int i = 0; i < rows * cols; i++) h[i] = data[i] * weight;
    cudaMemcpy(d_a, h, rows * cols * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h, rows * cols * sizeof(float), cudaMemcpyHostToDevice);
    int weights = 3;
    { int rows = 2; weights += rows; }
    for (int k = 0; k < 3; k++) launch();
    scaled<float>(d_a, weight + launches + weights, rows * cols);
    cudaMemcpy(h, d_a, rows * cols * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 10; i++) printf("%f ", h[i]);
    cudaFree(d_a); cudaFree(d_b);
    return 0;
}
"""


def main(text):
    return pipeline.translate(text, "a.cu", Options(only=("main",)))


def test_variables_of_the_file_are_variables_of_main():
    done = main(PROGRAM)
    assert "main" in done.raised, [d.reason for d in done.diagnostics]
    (host,) = [x for x in done.source.hosts if x.name == "main"]
    assert {p.name: p.default for p in host.params} == {"cols": None, "rows": None, "data": None}
    data = np.arange(15, dtype=np.int32) % 10
    a = b = data * np.float32(0.5)
    for _ in range(3):
        b = np.concatenate([b[:1], a[1:] + a[:-1]])
        a, b = b, a
    np.testing.assert_allclose(load_module(done.text).main(rows=3, cols=5, data=data), a * (4.0 + 3 + 5), rtol=1e-6)


@pytest.mark.parametrize(
    "old, new",
    [
        ("int size() { return rows * cols; }", "int size() { if (rows) { for (;;) return rows; } return 1; }"),
        ("static int launches, *data;", "static int launches, **data;"),
    ],
)
def test_what_is_not_followed_is_refused(old, new):
    assert "main" not in main(PROGRAM.replace(old, new)).raised
