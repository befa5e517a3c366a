"""Sums of blocks times something, added to one cell: one sum over all elements, whatever the launch."""

import pytest

from kraise import pipeline
from tests.checks import agrees

SOURCE = """__global__ void f(const {type} *p, const {type} *q, {type} *out, {type} w, int n) {{
  __shared__ {type} s[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  {type} v = 0;
  if (i < n) v = p[i] * q[i];
  s[t] = v;
  __syncthreads();
  for (int k = 32; k > 0; k /= 2) {{
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }}
  if (t == 0) atomicAdd(out, {total});
}}
"""


@pytest.mark.long_cases("0.5f", "-s[0]")
@pytest.mark.parametrize("total", ["s[0] / n", "0.5f * s[0] * w", "-s[0] / (w + 2.0f)"])
def test_one_sum(total):
    done = pipeline.translate(SOURCE.format(type="float", total=total), "case.cu")
    assert "def f(p, q, out, w, n):" in done.text and "reshape" not in done.text, done.text
    agrees(done, pipeline.Request(), done.text)


@pytest.mark.long_cases("s[0] * s[0]")
@pytest.mark.parametrize("total", ["s[0] / 3", "s[0] * s[0]"])
def test_each_block(total):
    """Quotients of integers and squares are those of a block."""
    done = pipeline.translate(SOURCE.format(type="int", total=total), "case.cu")
    assert "grid, block" in done.text, done.text
    agrees(done, pipeline.Request(), done.text)


ROUNDS = """__global__ void f(const {type} *p, {type} *out, {type} w, int n) {{
  __shared__ {type} s[32];
  {type} v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v += p[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x % 32] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x == 0) atomicAdd(out, {total});
}}
"""


@pytest.mark.long
def test_one_sum_of_warps():
    """They were sums over rounds, each divided, through index arrays that ask for the launch."""
    request = pipeline.Request(shapes={"p": (80,), "out": (1,)}, values={"n": 75}, grid=(2,), block=(64,))
    for total in ("v / n", "0.5f * v"):
        done = pipeline.translate(ROUNDS.format(type="float", total=total), "case.cu")
        assert "def f(p, out, w, n):" in done.text and "arange" not in done.text, done.text
        agrees(done, request, done.text)


@pytest.mark.long
def test_quotients_of_each_block():
    done = pipeline.translate(ROUNDS.format(type="int", total="v / 3"), "case.cu")
    assert "grid, block" in done.text, done.text
    agrees(
        done, pipeline.Request(shapes={"p": (80,), "out": (1,)}, values={"n": 75}, grid=(2,), block=(64,)), done.text
    )
