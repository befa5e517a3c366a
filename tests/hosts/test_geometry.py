"""Launch geometry that helpers are given, and the size of dynamic shared memory, against NumPy."""

import numpy as np

from kraise import pipeline
from tests.hosts.test_hosts import agrees, codes

CUDA = """
__global__ void mark(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += blockIdx.x; }
void launch(dim3 grid, dim3 block, float *x) { mark<<<grid, block>>>(x); }
void f(float *x, int n) {
    dim3 b(8, 1, 1);
    dim3 g(n / 8);
    launch(g, b, x);
    launch(dim3(n / 4), dim3(4), x);
}
"""


def run(done, name, *args):
    assert not codes(done), [str(d) for d in done.diagnostics]
    namespace: dict = {}
    exec(compile(done.text, "a.py", "exec"), namespace)
    return np.asarray(namespace[name](*args))


def test_dim3_as_a_parameter():
    done = pipeline.translate(CUDA, "a.cu")
    x = np.arange(16, dtype=np.float32)
    np.testing.assert_array_equal(run(done, "f", x, 16), x + np.arange(16) // 8 + np.arange(16) // 4)
    agrees(done, "f", x=x, n=16)


SHARED = """
from numba import cuda, float32

@cuda.jit
def reverse(x, y):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    m = s.size
    if t < m:
        s[t] = x[t]
    cuda.syncthreads()
    if t < m:
        y[t] = s[m - 1 - t]

def f(x, y, k):
    reverse[1, 64, 0, 4 * k](x, y)
    return y
"""


def test_the_size_of_dynamic_shared_memory_is_passed_in_elements():
    done = pipeline.translate(SHARED, "a.py")
    x, y = np.arange(9, dtype=np.float32), np.zeros(9, np.float32)
    np.testing.assert_array_equal(run(done, "f", x, y, 5), [4, 3, 2, 1, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(run(done, "f", x, y, 3), [2, 1, 0, 0, 0, 0, 0, 0, 0])
    agrees(done, "f", x=x, y=y, k=5)


def test_a_callback_of_a_stream():
    """``CUDART_CB`` says how the runtime calls it: nothing on this side."""
    source = """#include <cstdio>
    void CUDART_CB tell(cudaStream_t stream, cudaError_t status, void *data) { printf("done\\n"); }
    __global__ void k(float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] *= 2; }
    void h(float *y, int n) {
      cudaStream_t s;
      cudaStreamCreate(&s);
      k<<<(n + 255) / 256, 256, 0, s>>>(y, n);
      cudaStreamAddCallback(s, tell, 0, 0);
    }
    """
    done = pipeline.translate(source, "k.cu")
    assert not done.diagnostics and "return k(y, n)" in done.text


RETURNED = """
__global__ void mark(float *x, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < w && j < h) x[j * w + i] += blockIdx.x + 10 * blockIdx.y;
}
static inline int cdiv(int a, int b) { return (a + b - 1) / b; }
dim3 tiles(int w, int h, dim3 block) {
    int columns = cdiv(w, block.x);
    return dim3(columns, cdiv(h, block.y));
}
void f(float *x, int w, int h) {
    dim3 block(4, 2);
    mark<<<tiles(w, h, block), block>>>(x, w, h);
    dim3 small(2, 2);
    dim3 grid = tiles(w, h, small);
    mark<<<grid, small>>>(x, w, h);
}
"""


def test_dim3_that_a_helper_returns():
    done = pipeline.translate(RETURNED, "a.cu")
    x = np.zeros(30, np.float32)
    j, i = np.divmod(np.arange(30), 6)
    np.testing.assert_array_equal(run(done, "f", x, 6, 5), i // 4 + 10 * (j // 2) + i // 2 + 10 * (j // 2))
    agrees(done, "f", x=x, w=6, h=5)
