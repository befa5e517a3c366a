"""Sums of a block by its warps' sums, of which one thread makes something for the others in a cell that held one."""

# ruff: noqa: E501 (kernels on one line)

import pytest

from kraise import pipeline
from tests.checks import agrees

KERNEL = """
__global__ void norm(const float *x, float *y, int d) {
  __shared__ float s[32];
  int row = blockIdx.x, lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  float a = 0;
  for (int k = threadIdx.x; k < d; k += blockDim.x) a += x[row * d + k] * x[row * d + k];
  for (int o = 16; o > 0; o >>= 1) a += __shfl_xor_sync(~0u, a, o);
  if (lane == 0) s[wid] = a;
  __syncthreads();
  %s {
    a = lane < blockDim.x / 32 ? s[lane] : 0;
    for (int o = 16; o > 0; o >>= 1) a += __shfl_xor_sync(~0u, a, o);
    %s s[0] = rsqrtf(a / d + 1e-5f);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < d; k += blockDim.x) y[row * d + k] = x[row * d + k] * s[0];
}
"""


@pytest.mark.parametrize(
    ("by", "warps"), [("if (lane == 0)", "32"), ("if (threadIdx.x == 0)", "32"), ("if (threadIdx.x == 0)", "32.f")]
)
def test_one_thread_leaves_what_it_makes(by, warps):
    done = pipeline.translate((KERNEL % ("if (wid == 0)", by)).replace("/ 32 ?", f"/ {warps} ?"), "k.cu")
    assert done.text is not None and "lax.scan" not in done.text and "arange" not in done.text, done.diagnostics
    agrees(done, pipeline.Request(shapes={"x": (70,), "y": (70,)}, values={"d": 35}, grid=(2,), block=(64,)), by, warps)


def test_other_warps_read_the_cell_meanwhile():
    """All warps add up; thread 0 stores to a cell that the lanes 0 of the others read: a race."""
    done = pipeline.translate(KERNEL % ("", "if (threadIdx.x == 0)"), "k.cu")
    assert done.text is None


@pytest.mark.parametrize("test", ["t < blockDim.x / 4.f", "blockDim.x / 2.0 <= t", "t - 9 > blockDim.x / 8.f"])
def test_parts_of_a_block_in_floating_point(test):
    """A power of two divides a block's threads exactly: whole numbers are compared."""
    body = f"int t = threadIdx.x, i = blockIdx.x * blockDim.x + t; if (i < n) y[i] = {test} ? x[i] : 2 * x[i];"
    done = pipeline.translate(f"__global__ void f(const float *x, float *y, int n) {{ {body} }}", "k.cu")
    assert done.text is not None and "float" not in done.text.split('"""')[-1]
    request = pipeline.Request(shapes={"x": (50,), "y": (50,)}, values={"n": 50}, grid=(3,), block=(20,))
    agrees(done, request, test)
