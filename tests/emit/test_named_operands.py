"""Values that several expressions share, in a contraction and in a docstring."""

from kraise import pipeline
from tests.checks import agrees

FORCES = """
import math
from numba import cuda

@cuda.jit
def forces(pos, mass, acc, eps):
    i = cuda.grid(1)
    if i >= pos.shape[0]:
        return
    a = cuda.local.array(3, "float32")
    d = cuda.local.array(3, "float32")
    for c in range(3):
        a[c] = 0.0
    for j in range(pos.shape[0]):
        r2 = eps
        for c in range(3):
            d[c] = pos[j, c] - pos[i, c]
            r2 += d[c] * d[c]
        w = mass[j] / (r2 * math.sqrt(r2))
        for c in range(3):
            a[c] += w * d[c]
    for c in range(3):
        acc[i, c] = a[c]
"""
PENDULA = """
__device__ void deriv(const float *y, float *dy, float mu) { dy[0] = y[1]; dy[1] = mu * y[1] - y[0]; }
__global__ void steps(float *y0, int n, float mu, float h, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float y[2], k1[2], k2[2], t[2];
    y[0] = y0[2 * i]; y[1] = y0[2 * i + 1];
    for (int s = 0; s < steps; ++s) {
        deriv(y, k1, mu);
        for (int c = 0; c < 2; ++c) t[c] = y[c] + h * k1[c];
        deriv(t, k2, mu);
        for (int c = 0; c < 2; ++c) y[c] += h * (k1[c] + k2[c]);
    }
    y0[2 * i] = y[0]; y0[2 * i + 1] = y[1];
}
"""


def test_a_factor_that_another_names_first_is_taken_as_it_is():
    done = pipeline.translate(FORCES, "case.py")
    assert done.text is not None, done.diagnostics
    assert 'jnp.einsum("ij,ijc->ic", w, ' in done.text and "transpose" not in done.text
    agrees(done, pipeline.Request())


def test_what_a_loop_carries_keeps_its_name():
    done = pipeline.translate(PENDULA, "case.cu")
    assert done.text is not None, done.diagnostics
    (line,) = (line for line in done.text.split("\n") if line.lstrip().startswith("y_0 = y_0 + h * (y_1 + y_1"))
    assert "k1_0" not in done.text  # it is y_1
    agrees(done, pipeline.Request())
