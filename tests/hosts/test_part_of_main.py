"""A ``main`` one of whose kernels was not raised gives the results that need nothing of it."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

TEXT = """
__global__ void twice(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i];
}
__global__ void racy(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = y[i + 1] + x[i];
}
int main(int argc, char **argv) {
    int n = atoi(argv[1]), m = 1;
    float *x = new float[n], *a = new float[n], *b = new float[n];
    for (int i = 0; i < n; i++) x[i] = i;
    float *dx, *dy; cudaMalloc(&dx, n * sizeof(float)); cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(dy, 0, n * sizeof(float));
    for (int k = 0; k < 10; k++) racy<<<1, 256>>>(dx, dy, n);
    cudaMemcpy(a, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    BETWEEN
    twice<<<1, 256>>>(dx, dy, n);
    cudaMemcpy(b, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
}
"""
WHOLE = "cudaMemset(dy, 0, n * sizeof(float));"


def main(between):
    return pipeline.translate(TEXT.replace("BETWEEN", between), "a.cu", Options(only=("main",)))


def test_results_that_need_nothing_of_a_refused_kernel_come_out():
    done = main(WHOLE)
    assert "main" in done.raised and "Left out: a, which needs what was refused" in done.text
    assert any(d.code == "KR212" and d.kernel == "main" for d in done.diagnostics)  # it is still said
    np.testing.assert_allclose(load_module(done.text).main(5), 2 * np.arange(5.0))


@pytest.mark.parametrize(
    "between",
    [
        "",  # memory that racy wrote, and that nothing sets anew
        "cudaMemset(dy, 0, (n - 1) * sizeof(float));",  # not all of it
        "n = n - 1; " + WHOLE,  # not all of it, though the text is the same
        WHOLE + " cudaMemcpy(dx, a, n * sizeof(float), cudaMemcpyHostToDevice);",  # made of what it gave
        "float *p = dy; cudaMemset(p, 0, n * sizeof(float));",  # by another name: not followed
        WHOLE + " if (a[0] > 3) cudaMemset(dx, 0, n * sizeof(float));",  # under a condition that it decides
    ],
)
def test_results_that_need_a_refused_kernel_do_not(between):
    assert "main" not in main(between).raised
