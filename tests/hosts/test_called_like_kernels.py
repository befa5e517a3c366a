"""A CUDA host and a kernel of one name, which C++ tells apart by their arguments: the host is `reduce_host`."""

import jax
import numpy as np

from kraise import pipeline
from kraise.verify.load import load_module
from tests.hosts.test_hosts import python

SOURCE = """
__global__ void reduce(const float *x, float *s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(s, x[i] * x[i]);
}
// The sum of squares.
float reduce(const float *x, int n) {
    float h[1] = {0};
    float *d;
    cudaMalloc(&d, sizeof(float));
    cudaMemcpy(d, h, sizeof(float), cudaMemcpyHostToDevice);
    reduce<<<(n + 255) / 256, 256>>>(x, d, n);
    cudaMemcpy(h, d, sizeof(float), cudaMemcpyDeviceToHost);
    return h[0];
}
void both(const float *x, float *out, int n) { out[0] = reduce(x, n) * 2; out[1] = reduce(x, n / 2); }
"""
X = np.array([1.0, -2.0, 3.0, 0.5], np.float32)


def test_the_host_has_a_name_of_its_own():
    done = pipeline.translate(SOURCE, "k.cu")
    assert not done.diagnostics and done.raised == ("reduce", "reduce_host", "both"), done
    assert "`reduce` of the source, which has a kernel of that name, too." in done.text
    module = load_module(done.text)
    np.testing.assert_allclose(module.reduce(X, np.zeros(1, np.float32), 4), [14.25])
    np.testing.assert_allclose(module.reduce_host(X, 4), 14.25)
    np.testing.assert_allclose(module.both(X, np.zeros(2, np.float32), 4), [28.5, 5.0])
    slope = jax.grad(lambda x: module.both(x, np.zeros(2, np.float32), 4)[0])(X)
    np.testing.assert_allclose(slope, 4 * X, rtol=1e-6)


def test_a_name_that_is_taken_is_not_taken_again():
    done = pipeline.translate(SOURCE + "__global__ void reduce_host(float *y) { y[0] = 1; }", "k.cu")
    assert {"reduce", "reduce_host", "reduce_host_2", "both"} == {*done.raised}


def test_python_has_one_function_of_a_name():
    done = python(
        "@cuda.jit\ndef f(u):\n i = cuda.grid(1)\n if i < u.shape[0]:\n  u[i] += 1\ng = f\ndef f(u):\n g[1, 64](u)\n"
    )
    assert "f_host" not in (done.text or "")
