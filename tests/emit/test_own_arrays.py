"""Arrays of the kernel's own are no larger than the part of them that is read."""

import pytest

from kraise import pipeline
from tests.checks import agrees

TREE = """
__global__ void totals(const float *x, float *lo, float *hi) {
    __shared__ float a[16], b[16];
    int t = threadIdx.x, i = blockIdx.x * 16 + t;
    a[t] = x[i]; b[t] = x[i] * x[i];
    __syncthreads();
    for (int w = FIRST; w; w >>= 1) {
        if (t < w) { a[t] += a[t + w]; b[t] OP; }
        __syncthreads();
    }
    if (!t) { lo[blockIdx.x] = a[0]; hi[blockIdx.x] = b[0]; }
}
"""


@pytest.mark.parametrize("first", [7, 5, 3, 8])
@pytest.mark.parametrize("op", ["+= b[t + w]", "= fmaxf(b[t], b[t + w])"])
def test_trees_over_two_arrays_that_take_in_a_part_of_them(first, op):
    done = pipeline.translate(TREE.replace("FIRST", str(first)).replace("OP", op), "k.cu")
    request = pipeline.Request(shapes={"x": (48,), "lo": (3,), "hi": (3,)}, grid=(3,), block=(16,))
    agrees(done, request, done.text)
