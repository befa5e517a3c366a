"""Warp-synchronous tails, threads that do several elements of a tile, tiles without guards; and their racy twins."""

from pathlib import Path

import pytest

from kraise.pipeline import translate

SAMPLES = Path(__file__).parents[2] / "samples"
VOLATILE = (SAMPLES / "cuda_volatile_tail" / "kernel.cu").read_text()
ROWS = (SAMPLES / "cuda_transpose_rows" / "kernel.cu").read_text()
PRODUCT = (SAMPLES / "cuda_product_tiles" / "kernel.cu").read_text()
BARRIER = "__syncthreads();"


def codes(source):
    """The codes of what is refused."""
    return {d.code for d in translate(source, "kernel.cu").diagnostics if d.severity == "error"}


def without(source, text, number):
    """``source`` with one occurrence of ``text`` left out."""
    parts = source.split(text)
    return text.join(parts[: number + 1]) + text.join(["", *parts[number + 1 :]])[len(text) :]


@pytest.mark.parametrize("source", [VOLATILE, ROWS, PRODUCT])
@pytest.mark.long_cases("source1", "source2")
def test_the_originals_are_raised(source):
    assert codes(source) == set()


@pytest.mark.long
def test_lanes_in_step_need_volatile():
    assert "KR201" in codes(VOLATILE.replace("volatile ", ""))


STEPS = """
__global__ void f(const float *x, float *y) {
  __shared__ volatile float s[128];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 128 + t];
  __syncthreads();
  if (t < LANES) { s[t] += s[t + LANES]; if (t < LANES / 2) s[t] += s[t + LANES / 2]; }
  __syncthreads();
  y[blockIdx.x * 128 + t] = s[t];
}
"""


@pytest.mark.parametrize(("lanes", "found"), [(32, set()), (64, {"KR201"})])
def test_two_steps_of_one_warp_and_of_two(lanes, found):
    assert codes(STEPS.replace("LANES", str(lanes))) == found


@pytest.mark.long
def test_volatile_orders_no_two_warps():
    assert "KR201" in codes(VOLATILE.replace("w > 32", "w > 64").replace("t < 32)", "t < 64)"))


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.long_cases("1")
def test_a_transposition_without_its_barrier_is_a_race(number):
    assert codes(without(ROWS, BARRIER, number)) == {"KR201"}


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.long_cases("1")
def test_a_product_without_one_of_its_barriers_is_a_race(number):
    assert codes(without(PRODUCT, BARRIER, number)) == {"KR201"}


def test_the_step_says_how_many_threads_share_a_tile():
    done = translate(ROWS.replace("j += ROWS", "j += 2 * ROWS").replace("i += ROWS", "i += 2 * ROWS"), "kernel.cu")
    assert "a block has 4 threads along y" in (done.text or "")


def test_a_store_outside_the_shared_out_loop_is_refused():
    more = ROWS.replace("  x = blockIdx.y * TILE", "  out[y] += 1.0f;\n  x = blockIdx.y * TILE", 1)
    done = translate(more, "kernel.cu")
    assert "transpose_rows" not in done.raised


def test_a_loop_over_a_row_starts_from_zero():
    source = """
    __global__ void sums(const float *x, float *y, int n, int m) {
      int row = blockIdx.x * blockDim.x + threadIdx.x;
      if (row >= m) return;
      float s = 0;
      for (int j = row * n; j < row * n + n; j++) s += x[j];
      y[row] = s;
    }
    """
    done = translate(source, "kernel.cu")
    assert done.text is not None
    assert ".sum(axis=1)" in done.text
