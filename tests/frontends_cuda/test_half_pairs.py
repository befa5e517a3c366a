"""Pairs of numbers of 16 bits: what cuda_fp16.h and cuda_bf16.h do with two at once."""

import pytest

from kraise import dialects, pipeline
from kraise.frontends.cuda_c import vocabulary
from tests.checks import agrees

PAIRS = {
    "half2": ("half2", "__half22float2(v)", "__float22half2_rn(f)", "__half2half2(__high2half(w))"),
    "bfloat162": (
        "__nv_bfloat162",
        "__bfloat1622float2(v)",
        "__floats2bfloat162_rn(f.x, f.y)",
        "__float2bfloat162_rn(2.0f)",
    ),
}
KERNEL = """
__global__ void k(const {0} *x, {0} *y, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  {0} v = __hfma2(x[i], y[i], __hmax2(x[i], __hneg2(y[i]))), w = __hsub2(v, x[i] * y[i]);
  float2 f = {1};
  f.x = fmaxf(f.x, __low2float(w));
  y[i] = __hadd2({2}, {3});
}}"""


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_is_two_numbers(name):
    done = pipeline.translate(KERNEL.format(*PAIRS[name]), "a.cu")
    agrees(done, pipeline.Request(shapes={"x": (4, 2), "y": (4, 2)}, values={"n": 4}, gradients=False))


def test_numbers_are_seen_as_pairs():
    source = """
    #define PAIR(v) (reinterpret_cast<half2 *>(&(v))[0])
    __global__ void k(half *x, half *y, int n) {
      int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
      if (i + 1 < n) PAIR(y[i]) = h2exp(PAIR(x[i]));
    }"""
    assert "jnp.exp(x[: 2 * (n // 2)])" in pipeline.translate(source, "a.cu").text


def test_what_a_pair_is_made_of():
    """Each row names a function of one number, or none; there is no half3."""
    rows = [row.partition(".")[::2] for row in dialects.table("cuda")["names"].values()]
    named = [of.removeprefix("x.").removeprefix("y.") for head, of in rows if head in ("each", "pair", "member")]
    assert named and all(not of or vocabulary.concept(of) or vocabulary.operation(of) for of in named)
    assert vocabulary.type_called("half3") is None
    done = pipeline.translate("__global__ void k(half *x) { x[0] = __low2half(x[0]); }", "a.cu")
    assert {d.code for d in done.diagnostics} == {"KR103"} and "without a pair" in done.diagnostics[0].reason
