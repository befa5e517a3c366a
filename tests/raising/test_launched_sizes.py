"""Sizes of blocks that the file's own launches tell, tried before those that a kernel's text suggests."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HALVES = """
#define BS 8
__global__ void edge(float *m, int n, int offset) {
    __shared__ float corner[BS][BS];
    __shared__ float row[BS][BS];
    int t = threadIdx.x;
    if (t < BS) {
        for (int i = 0; i < BS; i++) corner[i][t] = m[(offset + i) * n + offset + t];
    } else {
        int j = t - BS;
        for (int i = 0; i < BS; i++) row[i][j] = m[(offset + i) * n + offset + (blockIdx.x + 1) * BS + j];
    }
    __syncthreads();
    if (t < BS)
        for (int i = 0; i < BS; i++)
            m[(offset + i) * n + offset + (blockIdx.x + 1) * BS + t] = row[i][t] - 0.5f * corner[i][t];
}
"""
RUN = "void run(float *m, int n) { edge<<<n / BS - 1, %s>>>(m, n, 0); }\n"


def test_the_launch_tells_how_many_threads_a_block_has():
    done = pipeline.translate(HALVES + RUN % "2 * BS", "edge.cu")
    assert {"edge", "run"} <= set(done.raised), done.diagnostics
    assert "a block has 16 threads along x" in done.text
    m = np.random.default_rng(1).normal(size=(32, 32)).astype(np.float32)
    got = np.asarray(load_module(done.text).run(m.ravel(), 32)).reshape(32, 32)
    expected = m.copy()
    for block in range(1, 4):
        expected[:8, 8 * block : 8 * block + 8] -= 0.5 * m[:8, :8]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("runs", [["BS"], ["2 * BS", "BS"]], ids=["half of the row stays empty", "two sizes"])
def test_a_size_that_leaves_cells_empty_is_refused(runs):
    hosts = "".join((RUN % block).replace("run", f"run{at}") for at, block in enumerate(runs))
    done = pipeline.translate(HALVES + hosts, "edge.cu")
    assert "edge" not in done.raised


ROWS = """
__global__ void k(const float *in, const float *w, float *out, int n, int R) {{
  extern __shared__ float t[];
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  for (int i = threadIdx.x; i < blockDim.x + {cells}; i += blockDim.x) {{
    int g = blockIdx.x * blockDim.x + i - R;
    t[i] = g >= 0 && g < n ? in[y * n + g] : 0.0f;
  }}
  __syncthreads();
  if (x < n) {{
    float s = 0;
    for (int i = -R; i <= R; i++) s += w[i + R] * t[threadIdx.x + R + i];
    out[y * n + x] = s;
  }}
}}
"""


def test_rows_with_halos_of_any_width():
    done = pipeline.translate(ROWS.format(cells="2 * R"), "k.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    assert "threads" not in done.text and "block: " not in done.text and "out.shape[0] // n" in done.text, done.text
    for n, block in ((11, 4), (3, 4)):
        shapes = {"in": (2 * n,), "w": (5,), "out": (2 * n,)}
        request = pipeline.Request(shapes=shapes, values={"n": n, "R": 2}, grid=(-(-n // block), 2), block=(block, 1))
        ((report,), problems) = pipeline.verify(done, request)
        assert not problems and report.ok, report.failures


def test_a_halo_without_a_barrier():
    done = pipeline.translate(ROWS.format(cells="2 * R").replace("__syncthreads();", ""), "k.cu")
    assert done.text is None and {d.code for d in done.diagnostics} == {"KR201"}, done.text
