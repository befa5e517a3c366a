"""Tiles that lie flat in shared memory, tiles of blocks that overlap, and tiles with corners."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.raising import search
from tests.fuzz.check import check
from tests.fuzz.generate import Arg, Kernel, Program
from tests.hostile.judge import judge

DYNAMIC = """
__global__ void f(const float *u, float *v, int ny, int nx) {{
  extern __shared__ float s[];
  int tx = threadIdx.x, ty = threadIdx.y, w = blockDim.x + {more}, lx = tx + 1, ly = ty + 1;
  int x = blockIdx.x * blockDim.x + tx, y = blockIdx.y * blockDim.y + ty;
  s[ly * w + lx] = x < nx && y < ny ? u[y * nx + x] : 0.0f;
  if (tx == 0) s[ly * w] = x > 0 && x - 1 < nx && y < ny ? u[y * nx + x - 1] : 0.0f;
  if (tx == blockDim.x - 1) s[ly * w + lx + 1] = x + 1 < nx && y < ny ? u[y * nx + x + 1] : 0.0f;
  if (ty == 0) s[lx] = y > 0 && y - 1 < ny && x < nx ? u[(y - 1) * nx + x] : 0.0f;
  if (ty == blockDim.y - 1) s[(ly + 1) * w + lx] = y + 1 < ny && x < nx ? u[(y + 1) * nx + x] : 0.0f;
  {barrier}
  if (x < nx && y < ny)
    v[y * nx + x] = s[ly * w + lx - 1] + s[ly * w + lx + 1] + s[(ly - 1) * w + lx] + s[(ly + 1) * w + lx];
}}
"""
FLAT = """
__global__ void f(const float *u, float *v, int ny, int nx) {
  __shared__ float s[64];
  int x = blockIdx.x * 4 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  for (int q = threadIdx.y * 4 + threadIdx.x; q < 64; q += 16) {
    int r = blockIdx.y * 4 + q / 8 - 2, c = blockIdx.x * 4 + q % 8 - 2;
    s[q] = r >= 0 && r < ny && c >= 0 && c < nx ? u[r * nx + c] : 0.0f;
  }
  __syncthreads();
  if (x < nx && y < ny) {
    int at = (threadIdx.y + 2) * 8 + threadIdx.x + 2;
    v[y * nx + x] = s[at - 1] + s[at + 1] + s[at - 8] + s[at + 8];
  }
}
"""
OVERLAP = """
__global__ void f(const float *u, float *v, int ny, int nx) {{
  __shared__ float s[7][10];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 8 + tx - 1, y = blockIdx.y * 5 + ty - 1;
  s[ty][tx] = x >= 0 && x < nx && y >= 0 && y < ny ? u[y * nx + x] : 0.0f;
  {barrier}
  if (0 < tx && tx < {last} && 0 < ty && ty < 6 && x < nx && y < ny)
    v[y * nx + x] = s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx];
}}
"""
SYNC = "__syncthreads();"


def translated(text, **parts):
    return pipeline.translate(text.format(**parts) if parts else text, "f.cu")


def cross(u):
    p = np.pad(u, 1)
    return p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1]


def agrees(done):
    assert done.text is not None, [d.reason for d in done.diagnostics]
    scope = {}
    exec(done.text, scope)
    for ny, nx in ((1, 1), (5, 11), (16, 8), (13, 23)):
        u = np.arange(ny * nx, dtype=np.float32).reshape(ny, nx) % 7 - 3
        out = scope["f"](u.ravel(), np.zeros(ny * nx, np.float32), ny, nx)
        np.testing.assert_array_equal(np.asarray(out).reshape(ny, nx), cross(u))
    return True


def codes(done):
    return {d.code for d in done.diagnostics}


def test_a_dynamic_tile_is_slices_of_a_padded_array():
    done = translated(DYNAMIC, more=2, barrier=SYNC)
    assert agrees(done) and "jnp.pad" in done.text and "where" not in done.text and "block" not in done.text


@pytest.mark.parametrize("change", [{"barrier": ""}, {"more": 0}, {"more": 1}])
@pytest.mark.long_cases("change1")
def test_without_a_barrier_or_in_rows_that_are_too_short(change):
    done = translated(DYNAMIC, **{"more": 2, "barrier": SYNC} | change)
    assert done.text is None and "KR201" in codes(done)


def test_cells_by_their_number_are_cells_of_a_tile():
    done = translated(FLAT)
    assert agrees(done) and "jnp.pad" in done.text and "arange" not in done.text
    racy = translated(FLAT.replace(SYNC, ""))
    assert racy.text is None and "KR201" in codes(racy)


def test_a_block_has_the_threads_that_fill_an_odd_tile():
    done = translated(OVERLAP, barrier=SYNC, last=9)
    assert agrees(done) and "10 threads along x" in done.text and "7 threads along y" in done.text


@pytest.mark.parametrize("barrier, last", [("", 9), (SYNC, 10)])
def test_no_smaller_block_hides_a_race(barrier, last):
    """Eight threads along x would not meet, but the guard speaks of more."""
    done = translated(OVERLAP, barrier=barrier, last=last)
    assert done.text is None


CORNERS = """
__global__ void f(const float *u, float *v, int n, int m) {
  __shared__ float s[5][5];
  int i = threadIdx.x, j = threadIdx.y, x = blockIdx.x * 4 + i, y = blockIdx.y * 4 + j;
  s[j][i] = x < m && y < n ? u[y * m + x] : 0.0f;
  if (i == 3) s[j][4] = x + 1 < m && y < n ? u[y * m + x + 1] : 0.0f;
  if (j == 3) s[4][i] = y + 1 < n && x < m ? u[(y + 1) * m + x] : 0.0f;
  if (i == 3 && j == 3) s[4][4] = x + 1 < m && y + 1 < n ? u[(y + 1) * m + x + 1] : 0.0f;
  __syncthreads();
  if (x < m && y < n) v[y * m + x] = s[j][i] - s[j + 1][i + 1] + 2.0f * s[j][i + 1] + 3.0f * s[j + 1][i];
}
"""
ARGS = tuple(Arg(a, ("n", "m"), "f", flat=True) for a in "uv") + tuple(Arg(a, None, "i") for a in "nm")
CHANGES = [
    ("&& y + 1 < n ? u[(y + 1) * m + x + 1]", "&& y + 1 < n ? u[(y + 1) * m + x]"),
    ("&& y + 1 < n ? u[(y + 1) * m + x + 1] : 0.0f", "&& y + 1 < n ? u[(y + 1) * m + x + 1] : 1.0f"),
    ("s[j][4] = x + 1 < m && y < n ?", "s[j][4] = x + 1 < m && y + 1 < n ?"),
    ("s[4][i] = y + 1 < n && x < m ? u", "s[4][i] = y + 1 < n && x < m ? -u"),
    ("s[4][i] = y + 1 < n && x < m ? u[(y + 1) * m + x]", "s[4][i] = y + 1 < n && x < m ? u[y * m + x]"),
]  # fmt: skip


def checked(text):
    sizes = ("n", (1, 3, 4, 5, 8, 9)), ("m", (1, 3, 4, 5, 8, 9))
    kernel = Kernel("f", ARGS, ("m", "n"), (4, 4), sizes)
    return [
        f.kind for f in check(Program(text, (kernel,), 1, "f.cu"), gradients=False, twice=False, variants=(0, 2, 4))
    ]


def test_a_rim_with_its_corner_is_one_padded_array():
    done = pipeline.translate(CORNERS, "f.cu")
    assert "jnp.pad(u2, ((0, 1), (0, 1)))" in done.text and "where" not in done.text
    assert checked(CORNERS) == ["ok"]


@pytest.mark.parametrize("before, after", CHANGES)
@pytest.mark.long_cases("? -u", "? u[(y + 1) * m + x]", "s[j][4]")
def test_a_rim_that_holds_something_else_stays_as_it_is(before, after):
    assert before in CORNERS and checked(CORNERS.replace(before, after)) == ["ok"]


ROWS_OF_A_BLOCK = """__global__ void k(const float *x, float *y, int n, int d) {{
  extern __shared__ float buffer[];
  float *part = buffer + {row};
  int r = blockIdx.x * blockDim.y + threadIdx.y, t = threadIdx.x;
  float v = 0.f;
  if (r < n) for (int j = t; j < d; j += blockDim.x) v += x[r * d + j] * x[r * d + j];
  part[t] = v;
  __syncthreads();
  for (int h = blockDim.x / 2; h > 0; h /= 2) {{ if (t < h) part[t] += part[t + h]; __syncthreads(); }}
  if (r < n) for (int j = t; j < d; j += blockDim.x) y[r * d + j] = x[r * d + j] / part[0];
}}"""


@pytest.mark.parametrize("row", ["threadIdx.y * blockDim.x", "threadIdx.y * (blockDim.x - 1)", "threadIdx.y"])
def test_each_row_of_threads_has_a_row_of_the_buffer(row):
    source = ROWS_OF_A_BLOCK.format(row=row)
    found = judge(source, "cu", "x=f[30] y=f[30] n=5 d=6", [((2,), (4, 3)), ((1,), (8, 8))])
    assert found == "right" if row.endswith("* blockDim.x") else found.startswith("refused")


@pytest.mark.parametrize(("cell", "rows"), [("t", False), ("t / 8 * 8 + t % 8", True)])
def test_a_search_for_rows_ends_where_no_tile_has_some(cell, rows, monkeypatch):
    tried = []
    right = search.raised

    def noted(module, function, options, known, attempts):
        tried.append(known.tile_rows)
        return right(module, function, options, known, attempts)

    monkeypatch.setattr(search, "raised", noted)
    source = f"""
    __global__ void f(const int *k, float *y) {{
      __shared__ float s[64];
      int t = threadIdx.x;
      s[t] = 0;
      __syncthreads();
      if (k[t] > 0) s[k[t] % 64] = 1;
      __syncthreads();
      y[blockIdx.x * 64 + t] = s[{cell}];
    }}
    """
    pipeline.translate(source, "k.cu")
    assert any(tried) and (sum(tried) > 1) is rows
