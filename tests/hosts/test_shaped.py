"""Flat arrays that a loop carries in the shape in which its kernels see them: the same values, nothing else touched."""

from functools import cache

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

KERNELS = """
#define P 8
__global__ void sweep(const float *a, float *b, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (0 < i && i < n - 1 && 0 < j && j < n - 1)
        b[i * n + j] = 0.25f * (a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j]);
}
__global__ void pitched(const float *a, float *b, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (0 < i && i < n && 0 < j && j < n) b[i * P + j] = 0.5f * a[i * P + j - 1] + a[(i - 1) * P + j];
}
__global__ void add(float *a, int n, float s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += s;
}
"""
DIM = "dim3 t(8, 8), g((n + 7) / 8, (n + 7) / 8);"
BOTH = "sweep<<<g, t>>>(a, b, n); sweep<<<g, t>>>(b, a, n);"
OWN = """float *x, *y;
    cudaMalloc(&x, n * n * sizeof(float)); cudaMalloc(&y, n * n * sizeof(float));
    cudaMemcpy(x, a, n * n * sizeof(float), cudaMemcpyHostToDevice); cudaMemset(y, 0, n * n * sizeof(float));"""
BACK = "cudaMemcpy(a, x, n * n * sizeof(float), cudaMemcpyDeviceToHost);"
SHAPED = {
    "the caller's": f"void run(float *a, float *b, int n, int m) {{ {DIM} for (int k = 0; k < m; k++) {{ {BOTH} }} }}",
    "swapped": f"""void run(float *a, float *b, int n, int m) {{ {DIM} {OWN}
        for (int k = 0; k < m; k++) {{ sweep<<<g, t>>>(x, y, n); float *z = x; x = y; y = z; }} {BACK} }}""",
    "also seen flat": f"""void run(float *a, float *b, int n, int m) {{ {DIM} {OWN}
        for (int k = 0; k < m; k++) {{ sweep<<<g, t>>>(x, y, n); add<<<(n * n + 63) / 64, 64>>>(y, n * n, 0.5f);
            sweep<<<g, t>>>(y, x, n); }} {BACK} }}""",
    "until it is small": f"""void run(float *a, float *b, int n, int m) {{ {DIM} {OWN} float first = 1.0f;
        for (int k = 0; k < m && first > 0.01f; k++) {{ sweep<<<g, t>>>(x, y, n); sweep<<<g, t>>>(y, x, n);
            cudaMemcpy(&first, x, sizeof(float), cudaMemcpyDeviceToHost); }} {BACK} }}""",
    "rows of a pitch": f"""void run(float *a, float *b, int n, int m) {{ {DIM} float *x, *y;
        cudaMalloc(&x, 64 * sizeof(float)); cudaMalloc(&y, 64 * sizeof(float)); cudaMemset(y, 0, 64 * sizeof(float));
        cudaMemcpy(x, a, 64 * sizeof(float), cudaMemcpyHostToDevice);
        for (int k = 0; k < m; k++) {{ pitched<<<g, t>>>(x, y, n); pitched<<<g, t>>>(y, x, n); }}
        cudaMemcpy(a, x, 64 * sizeof(float), cudaMemcpyDeviceToHost); }}""",
}
FLAT = {
    "the caller's, swapped": f"""void run(float *a, float *b, int n, int m) {{ {DIM}
        for (int k = 0; k < m; k++) {{ sweep<<<g, t>>>(a, b, n); float *z = a; a = b; b = z; }} }}""",
    "the caller's, all of it": f"""void run(float *a, float *b, int n, int m) {{ {DIM}
        for (int k = 0; k < m; k++) {{ {BOTH} add<<<2, 64>>>(a, 100, 0.5f); add<<<2, 64>>>(b, 100, 0.5f); }} }}""",
    "another size": f"""void run(float *a, float *b, int n, int m) {{ float *x, *y;
        cudaMalloc(&x, n * n * sizeof(float)); cudaMalloc(&y, n * n * sizeof(float));
        cudaMemcpy(x, a, n * n * sizeof(float), cudaMemcpyHostToDevice); cudaMemset(y, 0, n * n * sizeof(float));
        n = n - 1; {DIM}
        for (int k = 0; k < m; k++) {{ sweep<<<g, t>>>(x, y, n); sweep<<<g, t>>>(y, x, n); }}
        n = n + 1; {BACK} }}""",
}


@cache
def translated(text):
    """The text and the module of a host with these kernels."""
    done = pipeline.translate(KERNELS + text, "k.cu")
    assert "run" in done.raised, [d.reason for d in done.diagnostics]
    return done.text, load_module(done.text)


def run_(text, n=7, m=3, size=100):
    """What ``run`` makes of two longer arrays."""
    emitted, module = translated(text)
    rng = np.random.default_rng(3)
    a, b = (rng.random(size, dtype=np.float32) for _ in "ab")
    return emitted, a, b, module.run(a, b, n, m)


def sweep(a, b, n):
    u, v = a[: n * n].reshape(n, n), b[: n * n].reshape(n, n).copy()
    v[1:-1, 1:-1] = 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])
    return np.concatenate([v.ravel(), b[n * n :]])


def expected(name, a, b, n, m):
    """What the program computes."""
    if name in ("the caller's", "the caller's, all of it"):
        for _ in range(m):
            b = sweep(a, b, n)
            a = sweep(b, a, n)
            if name.endswith("it"):
                a, b = a + np.float32(0.5), b + np.float32(0.5)
        return a, b
    if name == "the caller's, swapped":
        for k in range(m):
            a, b = (a, sweep(a, b, n)) if k % 2 == 0 else (sweep(b, a, n), b)
        return a, b
    x, y = a[: n * n], np.zeros(n * n, np.float32)
    if name == "rows of a pitch":
        x, y = a[:64].copy(), np.zeros(64, np.float32)
        for _ in range(m):
            for u, v in ((x, y), (y, x)):
                u, v = u.reshape(8, 8), v.reshape(8, 8)
                v[1:n, 1:n] = 0.5 * u[1:n, : n - 1] + u[: n - 1, 1:n]
    first = 1.0
    for _ in range(m if name != "rows of a pitch" else 0):
        if name == "swapped":
            x, y = sweep(x, y, n), x
            continue
        if name == "until it is small" and first <= 0.01:
            break
        size = n - 1 if name == "another size" else n
        y = sweep(x, y, size) + np.float32(0.5 if name == "also seen flat" else 0.0)
        x = sweep(y, x, size)
        first = x[0]
    return np.concatenate([x, a[len(x) :]]), None


@pytest.mark.parametrize("name", [*SHAPED, *FLAT])
def test_values(name):
    """What lies behind the elements that the loop looks at is kept; so is everything where there are no rounds."""
    for n, m in ((7, 3), (7, 4), (7, 0), (2, 2)):
        text, a, b, got = run_({**SHAPED, **FLAT}[name], n, m)
        first, second = got if isinstance(got, tuple) else (got, None)
        wanted = expected(name, a, b, n, m)
        np.testing.assert_allclose(first, wanted[0], rtol=1e-5, atol=1e-6)
        if second is not None:
            np.testing.assert_allclose(second, wanted[1], rtol=1e-5, atol=1e-6)
        after = text.partition("def run(")[2]
        assert (".ravel()" in after) == (name in SHAPED), after


def test_a_slice_that_may_be_shorter_says_no_size():
    """``x[:m]`` of Python ends where the array does."""
    source = """
from numba import cuda
@cuda.jit
def sweep(a, b, n):
    j, i = cuda.grid(2)
    if 0 < i < n - 1 and 0 < j < n - 1:
        b[i * n + j] = 0.5 * (a[i * n + j - 1] + a[i * n + j + 1])
def run(x, n, m, steps):
    a = cuda.to_device(x[: n * n])
    b = cuda.to_device(x[: n * n])
    for _ in range(steps):
        sweep[(1, 1), (16, 16)](a, b, n)
        sweep[(1, 1), (16, 16)](b, a, n)
    return a.copy_to_host()
"""
    done = pipeline.translate(source, "k.py")
    run = load_module(done.text).run
    x = np.random.default_rng(0).random(40, dtype=np.float32)
    wanted = x[:25]
    for _ in range(3):
        wanted = wanted.reshape(5, 5).copy()
        wanted[1:-1, 1:-1] = 0.5 * (wanted[1:-1, :-2] + wanted[1:-1, 2:])
        wanted = wanted.ravel()
        # the second launch reads what the first one made of the copy, whose border is the same
        again = wanted.reshape(5, 5).copy()
        again[1:-1, 1:-1] = 0.5 * (wanted.reshape(5, 5)[1:-1, :-2] + wanted.reshape(5, 5)[1:-1, 2:])
        wanted = again.ravel()
    np.testing.assert_allclose(run(x, 5, 25, 3), wanted, rtol=1e-5)
