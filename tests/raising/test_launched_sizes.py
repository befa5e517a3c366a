"""Sizes of blocks that the file's own launches tell, tried before those that a kernel's text suggests."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees, verified

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
        agrees(done, request)


def test_a_halo_without_a_barrier():
    done = pipeline.translate(ROWS.format(cells="2 * R").replace("__syncthreads();", ""), "k.cu")
    assert done.text is None and {d.code for d in done.diagnostics} == {"KR201"}, done.text


CHANGE = """
import numpy as np
from numba import cuda, float32

@cuda.jit
def relax(u, v, change):
    s = cuda.shared.array(32, float32)
    i, j = cuda.grid(2)
    t = cuda.threadIdx.x + cuda.threadIdx.y * cuda.blockDim.x
    d = 0.0
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        d = abs(v[i, j] - u[i, j])
    s[t] = d
    cuda.syncthreads()
    k = 16
    while k > 0:
        if t < k:
            s[t] = max(s[t], s[t + k])
        cuda.syncthreads()
        k //= 2
    if t == 0:
        cuda.atomic.max(change, 0, s[0])

def run(u, v):
    change = cuda.to_device(np.zeros(1, np.float32))
    relax[((u.shape[0] + 7) // 8, (u.shape[1] + 3) // 4), (8, 4)](u, v, change)
    return v, change.copy_to_host()[0]
"""


def test_a_block_of_two_axes_is_a_tree_by_the_launch_s_size():
    """The launch covers more than the array: what its threads beyond it hold is no load."""
    done = pipeline.translate(CHANGE, "relax.py")
    assert "jnp.zeros((" not in done.text and "a block has 4 threads along y" in done.text, done.text
    shapes = {"u": (9, 7), "v": (9, 7)}
    reports, problems = verified(done, pipeline.Request(shapes=shapes))
    assert not problems and all(r.ok for r in reports), [f for r in reports for f in r.failures]


def test_without_a_launch_the_block_of_two_axes_stays_an_array():
    assert "a block has" not in pipeline.translate(CHANGE.partition("def run")[0], "relax.py").text


def test_dynamic_memory_read_at_a_place_of_the_launch():
    """How far the threads reach is asked of arrays that say how many cells they have."""
    source = """
__global__ void turned(float *x, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  x[t] = s[n - t - 1];
}
"""
    done = pipeline.translate(source, "k.cu")
    request = pipeline.Request(shapes={"x": (8,)}, values={"n": 8}, grid=(1,), block=(8,))
    agrees(done, request, done.text)
