"""Times that a CUDA C host keeps in arrays: not followed, no result, and refused where a result needs them."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module, x64

HEAD = """
__global__ void inc(float *x, float a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += a; }
__global__ void add(float *x, const double *t, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += (float)t[0];
}
void timed(float *x, double *t, int n) { double t0 = clock(); inc<<<1, 64>>>(x, 1.0f, n); t[0] = clock() - t0; }
"""
KEPT = {
    "in a loop": "for (int r = 0; r < 3; r++) { double e = clock(); inc<<<1, 64>>>(x, 1.0f, n); t[r] = clock() - e; }",
    "added up": "t[0] = 0; for (int r = 0; r < 3; r++) { inc<<<1, 64>>>(x, 1.0f, n); *t += clock(); }",
    "by the runtime": (
        "for (int r = 0; r < 3; r++) inc<<<1, 64>>>(x, 1.0f, n); cudaEventElapsedTime(&ms[0], a, b); t[0] = ms[0];"
    ),
    "by a copy": "double e = clock(); memcpy(&t[1], &e, 8); for (int r = 0; r < 3; r++) inc<<<1, 64>>>(x, 1.0f, n);",
    "by another host": "for (int r = 0; r < 3; r++) timed(x, t, n);",
    "averaged": (
        "double s[3]; for (int r = 0; r < 3; r++) { s[r] = clock(); inc<<<1, 64>>>(x, 1.0f, n); }\n"
        'double m = 0; for (int r = 0; r < 3; r++) m += s[r]; printf("%f", m); t[0] = clock();'
    ),
}
NEEDED = {
    "a kernel reads it": "t[0] = clock(); add<<<1, 64>>>(x, t, n);",
    "in a loop": "for (int r = 0; r < 3; r++) t[r] = clock(); add<<<1, 64>>>(x, t, n);",
    "an array of its own": "double s[2]; s[0] = clock(); add<<<1, 64>>>(x, s, n);",
    "by another pointer": "double *p = t; p[0] = clock(); add<<<1, 64>>>(x, t, n);",
    "an element": "inc<<<1, 64>>>(x, 1.0f, n); t[0] = clock(); x[0] = (float)t[0];",
    "by the runtime": "cudaEventElapsedTime(ms, a, b); inc<<<1, 64>>>(x, ms[0], n);",
    "by a copy": "double e = clock(); memcpy(t, &e, 8); add<<<1, 64>>>(x, t, n);",
    "by another host": "timed(x, t, n); add<<<1, 64>>>(x, t, n);",
    "without a subscript": "double *p = t; *p++ = clock(); add<<<1, 64>>>(x, t, n);",
}


def translated(body, only=()):
    return pipeline.translate(HEAD + body, "a.cu", Options(only=only))


@pytest.mark.parametrize("how", KEPT)
def test_an_array_of_times_is_no_result(how):
    done = translated(f"void f(float *x, double *t, float *ms, int n) {{ {KEPT[how]} }}\n")
    assert "f" in done.raised, [d.reason for d in done.diagnostics]
    with x64(True):
        x = load_module(done.text).f(np.zeros(5, np.float32), np.zeros(3), np.zeros(1, np.float32), 5)
    np.testing.assert_array_equal(np.asarray(x), np.full(5, 3, np.float32))
    assert any(d.code == "KR216" and d.kernel == "f" for d in done.diagnostics)


@pytest.mark.parametrize("how", NEEDED)
def test_a_result_that_needs_a_time_is_refused(how):
    done = translated(f"void f(float *x, double *t, float *ms, int n) {{ {NEEDED[how]} }}\n")
    assert "f" not in done.raised and any("time" in d.reason for d in done.diagnostics if d.kernel == "f")


MAIN = """
int main() {
    const int n = 5; float h[5] = {0, 1, 2, 3, 4}, *x; double t[3]; float sum = 0;
    cudaMalloc(&x, n * sizeof(float)); cudaMemcpy(x, h, n * sizeof(float), cudaMemcpyHostToDevice);
    for (int r = 0; r < 3; r++) { timed(x, t, n); }
    double mean = 0; for (int r = 0; r < 3; r++) mean += t[r];
"""


def test_main_prints_what_is_made_of_times():
    back = "cudaMemcpy(&sum, x, sizeof(float), cudaMemcpyDeviceToHost);"
    done = translated(MAIN + back + 'printf("%f %f", sum, mean); }', ("main",))
    assert "main" in done.raised, [d.reason for d in done.diagnostics]
    with x64(True):
        assert float(load_module(done.text).main()) == 3
    done = translated(MAIN + 'printf("%f", mean); }', ("main",))
    assert "main" not in done.raised
