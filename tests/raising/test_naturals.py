"""Guards that `&` joins, and blocks kept from being negative: the domains that `&&` and the plain index have."""

import pytest

from kraise import pipeline

STENCIL = """
__global__ void f(float *y, const float *x, int h, int w) {
  int first = (int)blockIdx.x * (int)blockDim.x, j = %s + (int)threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (%s) y[i * w + j] = x[i * w + j + 1] - x[i * w + j - 1];
}"""
PLAIN, GUARD = "first", "i >= 0 && j >= 1 && i < h && j <= w - 2"


def text(block, guard):
    done = pipeline.translate(STENCIL % (block, guard), "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    return done.text.replace("first", "j")  # whichever local the index is named after


@pytest.mark.parametrize(
    "block", ["max(first, 0)", "max(0, first)", "(first > 0 ? first : 0)", "(0 < first ? first : 0)"]
)
def test_a_block_is_never_negative(block):
    assert text(block, GUARD) == text(PLAIN, GUARD)


@pytest.mark.parametrize("guard", ["i >= 0 & j >= 1 & i < h & j <= w - 2", "!(i < 0 | j < 1 | i >= h | j > w - 2)"])
def test_truth_values_joined_bit_by_bit(guard):
    assert text(PLAIN, guard) == text(PLAIN, GUARD)


@pytest.mark.parametrize("block", ["max(first, 1)", "min(first, 0)", "max(first - 1, 0)"])
def test_others_stay(block):
    """Two blocks, or two of their threads, at one place."""
    codes = [d.code for d in pipeline.translate(STENCIL % (block, GUARD), "k.cu").diagnostics]
    assert codes and set(codes) <= {"KR201", "KR202"}
