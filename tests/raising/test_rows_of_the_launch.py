"""Images whose rows are as wide as the launch (``x + y * blockDim.x * gridDim.x``) are viewed in rows, loads too."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

HEAT = """
__global__ void heat(const float *in, float *out) {
  int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
  int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
  int p = x + width * y;
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
    out[p] = in[p] + 0.25f * (in[p - 1] + in[p + 1] + in[p - width] + in[p + width]);
}"""


def test_a_stencil_of_the_launch_is_slices():
    done = pipeline.translate(HEAT, "k.cu")
    assert done.raised == ("heat",) and "arange" not in done.text and ".get(" not in done.text
    assert "in2[1:-1, :-2] + in2[1:-1, 2:] + in2[:-2, 1:-1] + in2[2:, 1:-1]" in done.text
    x, y = np.random.default_rng(0).normal(size=(2, 6, 8)).astype(np.float32)
    got = load_module(done.text).heat(x.ravel(), y.ravel(), grid=(4, 2), block=(2, 3))
    want = y.copy()
    want[1:-1, 1:-1] = x[1:-1, 1:-1] + 0.25 * (x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1])
    np.testing.assert_allclose(got.reshape(6, 8), want, rtol=1e-6)
    agrees(done, pipeline.Request())


def test_a_narrower_range_keeps_to_the_cells_that_are_there():
    source = HEAT.replace("y > 0 && y < height - 1", "y < n").replace("float *out", "float *out, int n")
    done = pipeline.translate(source.replace("in[p - width] + in[p + width]", "in[p]"), "k.cu")
    assert done.raised == ("heat",), done.diagnostics
    x = np.arange(16, dtype=np.float32)
    got = load_module(done.text).heat(x, x[:15], 2, grid=(4, 2), block=(2, 3))
    assert got.shape == (15,) and got[9] == 9 + 0.25 * (8 + 10 + 9)


def test_a_row_that_another_thread_writes_is_refused():
    done = pipeline.translate(HEAT.replace("const float *in", "float *in").replace("out[p] =", "in[p] ="), "k.cu")
    assert not done.raised and {d.code for d in done.diagnostics} == {"KR201"}


STREWN = """
__global__ void sums(int n, float g, float *grid_, const float4 *atom) {
  unsigned int xi = __umul24(blockIdx.x, blockDim.x) * 4 + threadIdx.x;
  unsigned int yi = __umul24(blockIdx.y, blockDim.y) + threadIdx.y;
  unsigned int at = __umul24(gridDim.x, blockDim.x) * 4 * yi + xi;
  float x = g * xi, a = 0, b = 0;
  for (int k = 0; k < n; k++) {
    float dx = x - atom[k].x, dx2 = dx + g * 8;
    a += atom[k].w / (dx * dx + atom[k].z);
    b += atom[k].w / (dx2 * dx2 + atom[k].z);
  }
  grid_[at] += a;
  grid_[at + 8] += b;
}"""


def test_elements_a_block_apart_say_how_many_threads_it_has():
    done = pipeline.translate(STREWN, "k.cu")
    assert done.raised == ("sums",) and "a block has 8 threads along x" in done.text, done.diagnostics
    assert "[:, :, :8]" in done.text and "[:, :, 8:16]" in done.text  # of 32, not all but the last 24
    run = load_module(done.text).sums
    atom = np.array([[0.5, 0, 2, 3], [7, 0, 1, 5]], np.float32)
    got = np.asarray(run(2, 0.5, np.ones(2 * 64, np.float32), atom, grid=2, block=(8, 2))).reshape(2, 2, 4, 8)
    at = 0.5 * np.arange(64).reshape(2, 4, 8)
    value = 1 + sum(w / ((at - x) ** 2 + z) for x, _, z, w in atom)
    np.testing.assert_allclose(got[:, :, :2], np.broadcast_to(value[:, :2], (2, 2, 2, 8)), rtol=1e-5)
    assert (got[:, :, 2:] == 1).all()
    with pytest.raises(ValueError, match="8 threads"):
        run(2, 0.5, np.ones(2 * 64, np.float32), atom, grid=2, block=(16, 2))


def test_elements_of_the_next_thread_are_a_race():
    done = pipeline.translate(STREWN.replace("at + 8", "at + 1").replace("g * 8", "g"), "k.cu")
    assert not done.raised and {d.code for d in done.diagnostics} == {"KR201"}
