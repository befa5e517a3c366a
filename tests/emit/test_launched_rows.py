"""Rows that the launch counts: columns beyond their ends are zeros that a mask asks for, and nothing else."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees, verified

FOLDER = Path(__file__).parents[2] / "samples" / "cuda_launched_rows"
TEXT = (FOLDER / "kernel.cu").read_text()


def failures(text):
    done = pipeline.translate(text, "kernel.cu")
    case = str(FOLDER / "case.toml")
    reports, found = verified(done, pipeline.Request(case=case, gradients=False), "kernel.cu", text)
    assert len(reports) == 1
    return [r for r in reports[0].failures if r.check != "form"], done.text or ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x >= REACH ? row", "x > REACH ? row"),
        ("x + STRIP < width ? row[x + STRIP] : 0.0f", "x + STRIP < width - 1 ? row[x + STRIP] : 1.5f"),
        ("x >= REACH ? row[x - REACH]", "blockIdx.y > 0 || x >= REACH ? row[x - REACH]"),
        ("in + blockIdx.y * width", "in + (gridDim.y - 1 - blockIdx.y) * width"),
        ("x < width ? row[x]", "x < width - 2 ? row[x]"),
        ("if (x < width) {", "if (x < width - 2 && x > 1) {"),
    ],
)
@pytest.mark.long_cases("1.5f", "x < width - 2 ? row", "gridDim.y - 1")
def test_other_masks_keep_their_values(old, new):
    assert old in TEXT
    failed, _ = failures(TEXT.replace(old, new))
    assert not failed


def test_the_cells_before_a_row_are_those_of_the_row_before_it():
    _, text = failures(TEXT.replace("x >= REACH ? row[x - REACH]", "blockIdx.y > 0 || x >= REACH ? row[x - REACH]"))
    assert "in_padded" not in text


FIELD = """__global__ void f(const float *u, float *out, int nx, int ny, int pitch) {
  __shared__ float s[64];
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  s[t] = %s;
  __syncthreads();
  for (int d = blockDim.x * blockDim.y / 2; d > 0; d /= 2) { if (t < d) s[t] = %s; __syncthreads(); }
  if (t == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = s[0];
}"""
SUMS, TOPS = "s[t] + s[t + d]", "fmaxf(s[t], s[t + d])"
FIELDS = {
    "sums": ("x < nx && y < ny ? u[y * nx + x] * u[y * nx + x] : 0.0f", SUMS, True),
    "extrema": ("x < nx && y < ny ? u[y * nx + x] : -INFINITY", TOPS, True),
    "a part of the columns": ("x < nx - 2 && y < ny ? u[y * nx + x] : 0.0f", SUMS, True),
    "a mask of data": ("x < nx && y < ny && u[y * nx + x] > 0.0f ? u[y * nx + x] : 0.0f", SUMS, True),
    "extrema beside a number": ("x < nx && y < ny ? u[y * nx + x] : 0.5f", TOPS, True),
    "rows that overlap": ("x < nx && y < ny ? u[y * (nx - 1) + x] : 0.0f", SUMS, False),
}


@pytest.mark.parametrize("name", FIELDS)
def test_rows_of_a_field_in_blocks(name):
    """Slices of a padded array where blocks cover its rows; a launch may be a part of them, and the array end there."""
    value, tree, padded = FIELDS[name]
    done = pipeline.translate(FIELD % (value, tree), "f.cu")
    assert done.text and ("jnp.pad(" in done.text and "clip" not in done.text) == padded, done.text
    for grid, cells in (((3, 2), 35), ((1, 1), 18)):
        request = pipeline.Request(
            shapes={"u": (cells,), "out": (6,)}, values={"nx": 7, "ny": 5, "pitch": 7}, grid=grid, block=(4, 2)
        )
        agrees(done, request, grid)


def test_a_block_that_is_begun_beside_a_condition_that_is_stored():
    """``b[t] = i < n and x[i] > 0.5``: the array ends where n says, within the last block."""
    source = """
from numba import cuda
import numpy as np

@cuda.jit
def any_above(x, out, n):
    b = cuda.shared.array(4, np.bool_)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    b[t] = i < n and x[i] > 0.5
    cuda.syncthreads()
    h = 2
    while h >= 1:
        if t < h:
            b[t] = b[t] or b[t + h]
        cuda.syncthreads()
        h = h // 2
    if t == 0:
        out[cuda.blockIdx.x] = b[0]
"""
    done = pipeline.translate(source, "kernel.py")
    shapes, values = {"x": (9,), "out": (3,)}, {"n": 9}
    request = pipeline.Request(shapes=shapes, values=values, grid=(3,), block=(4,), gradients=False)
    agrees(done, request)


ENDS = """__global__ void f(const int *a, const int *b, int *y, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (%s ? b[i + %s] : a[i]) * (threadIdx.x %% 3);
}"""


@pytest.mark.parametrize(
    ("mask", "offset", "form"),
    [
        ("(i + m < n)", "m", "where("),  # the array ends at n, not at n + m
        ("(i + 2 < n)", "2", "jnp.pad(b[:n]"),
        ("(a[i] > 0) & (i + 2 < n)", "2", "where("),
        ("(a[i] < n - 2 - i)", "2", "where("),  # nothing shows where it ends
    ],
)
def test_rows_end_where_the_source_reads_last(mask, offset, form):
    text = pipeline.translate(ENDS % (mask, offset), "f.cu").text
    assert form in text, text
    n, m, i = 13, 3, np.arange(13)
    a, b = i % 5, 7 * i + 1
    d = m if offset == "m" else 2
    expected = np.where(eval(mask), b[np.minimum(i + d, n - 1)], a) * (i % 8 % 3)
    got = load_module(text).f(*(jnp.asarray(v, jnp.int32) for v in (a, b, i)), n, m, grid=2, block=8)
    assert np.asarray(got).tolist() == expected.tolist()


PADDED = """__global__ void f(const float *x, float *y, int m, int p) {
  int row = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p) y[row * p + i] = i < m ? x[row * m + i] : -1.0f;
}"""


def test_rows_that_are_shorter_than_what_the_threads_fill():
    """Rows of m elements copied to rows of p > m (a pitch): the launch counts the rows, and m says where one ends."""
    done = pipeline.translate(PADDED, "f.cu")
    for m, p in ((5, 8), (8, 8), (8, 5)):
        request = pipeline.Request(
            shapes={"x": (3 * m,), "y": (3 * p,)}, values={"m": m, "p": p}, grid=(2, 3), block=(4, 1)
        )
        agrees(done, request, m, p)
