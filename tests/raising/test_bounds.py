"""Reads that the raised form makes beyond the source's own are marked, the others are not."""

# ruff: noqa: E501 - kernels on one line

import numpy as np
import pytest

from kraise import pipeline
from kraise.ir import equations as eq
from kraise.ir.walk import statement_expressions, topological
from kraise.verify.load import load_module
from tests.raising.agree import agree


def marked(kernel):
    """How many reads, and writes, are marked as possibly leaving."""
    roots = [e for s in kernel.body for e in statement_expressions(s)]
    roots += [r for r in kernel.returns if not isinstance(r, eq.Version)]
    return sum(isinstance(n, eq.Read) and n.safe for n in topological(roots))


SAFE = {
    "a neighbour behind data": "def f(x, y):\n for i in range(len(x)):\n  if y[i] > 0 and i + 1 < len(x): y[i] = x[i + 1]",
    "guarded by a domain": "def f(x, y):\n for i in range(len(x)):\n  if i > 0: y[i] = x[i - 1]",
    "the same access without a mask": "def f(x, y):\n for i in range(len(x)):\n  a = x[i]\n  if a > 0: y[i] = x[i]",
    "a triangle": "def f(A, B):\n for i in range(len(A)):\n  for j in range(i):\n   B[i, j] = A[j, i]",
}


@pytest.mark.parametrize("name", SAFE)
def test_not_marked(name):
    assert marked(agree(SAFE[name])) == 0


UNSAFE = {
    "an index array under a mask": "def f(x, y, v):\n for i in range(len(x)):\n  if v[i] >= 0 and v[i] < len(x): y[i] = x[v[i]]",
    "a neighbour under another bound": "def f(x, y, q):\n for i in range(len(x)):\n  y[i] = x[i + 1] if i + 1 < q else 0.5",
    "a neighbour of fewer": "def f(h, y, n):\n for i in range(n):\n  y[i] = h[i + 1] if i + 1 < len(h) else 0.5",
    "beyond the band": "def f(x, y):\n for i in range(len(x)):\n  a = 0.0\n  for j in range(-1, 2):\n"
    "   if i + j >= 0 and i + j < len(x): a += x[i + j]\n  y[i] = a",
    "a moving end": "def f(x, y, k):\n for i in range(len(x)):\n  if i + k[i] < len(x): y[i] = x[i + k[i]]",
}


@pytest.mark.parametrize("name", UNSAFE)
def test_marked(name):
    assert marked(agree(UNSAFE[name])) > 0


NEIGHBOURS = {
    "in an arm": "def f(x, y):\n for i in range(len(x)):\n  y[i] = x[i + 1] if i + 1 < len(x) else 0.5",
    "in a sum": "def f(x, y):\n for i in range(len(x)):\n  a = x[i]\n  if i > 0: a += x[i - 1]\n  y[i] = a",
    "of a row": "def f(A, B):\n for i in range(1, len(A)):\n  for j in range(len(A)):\n"
    "   B[i, j] = max(A[i - 1, j], A[i - 1, j - 1] if j > 0 else 0)",
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_a_neighbour_under_a_mask_is_marked(name):
    assert marked(agree(NEIGHBOURS[name])) > 0
    text = pipeline.translate(NEIGHBOURS[name], "k.py").text
    assert "jnp.pad(" in text and "clip" not in text  # and comes out as a slice


def test_masked_stores_outside_write_nothing():
    agree("def f(x, y, v):\n for i in range(len(x)):\n  if v[i] >= 0 and v[i] < len(x): y[v[i]] += x[i]")
    agree("def f(x, y, v):\n for i in range(len(x)):\n  if v[i] >= 0 and v[i] < len(x): y[v[i]] = x[i]")


BELOW = """__global__ void k(const int *a, const int *flag, int *b, int w, int h) {
  unsigned c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < w && r < h) b[%s * w + c] = %s ? a[(r + 1) * w + c] : a[r * w + c]; }"""


@pytest.mark.parametrize(
    ("place", "condition", "rows"),
    [
        ("r", "flag[r] > 0", {0, 1}),
        ("r", "r % 2 == 0 && h % 2 == 0", {0, 2}),
        ("(h - 1 - r)", "r + 1 < h", {0, 1, 2}),
        ("r", "flag[r] > 0 && r != h - 1", {0, 1}),
        ("r", "r < h - 1 && a[(r + 1) * w + c] > 3", {1, 2}),
        ("r", "!(r == h - 1 || a[(r + 1) * w + c] <= 3)", {1, 2}),
    ],
)
def test_the_row_below_that_data_choose_need_not_be_there(place, condition, rows):
    """An array of h rows, not of h + 1 (a slice and a reshape that failed for every size)."""
    k = load_module(pipeline.translate(BELOW % (place, condition), "k.cu").text).k
    a, flag = np.arange(8, dtype=np.int32).reshape(4, 2), np.array([1, 1, 0, 0], np.int32)
    b = a.copy()
    for r in rows:
        b[r] = a[r + 1]
    b = b[::-1] if place != "r" else b
    np.testing.assert_array_equal(k(a.ravel(), flag, np.zeros(8, np.int32), 2, 4), b.ravel())


PADS = """__global__ void k(const int *a, int *b, int w, int h, int k) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < w && r < h) b[r * w + c] = r < k ? a[r * w + c] : 7; }"""


@pytest.mark.parametrize("k", [2, 4, 5])
def test_of_two_bounds_of_a_row_none_is_the_array_s(k):
    """Fewer rows than are stored, or more."""
    run = load_module(pipeline.translate(PADS, "k.cu").text).k
    a = np.arange(2 * min(k, 4), dtype=np.int32)
    expected = np.full(8, 7)
    expected[: len(a)] = a
    np.testing.assert_array_equal(run(a, np.zeros(8, np.int32), 2, 4, k), expected)


COUNTED = """__global__ void each(const float *a, const int *count, float *o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < *count) o[i] = 2 * a[i]; }
__global__ void sums(const float *a, const int *count, float *o) {
  __shared__ float s[4];
  int t = threadIdx.x, blocks = (*count + 3) / 4;
  if (blockIdx.x < blocks) {
    s[t] = blockIdx.x * 4 + t < *count ? a[blockIdx.x * 4 + t] : 0;
    __syncthreads();
    for (int d = 2; d > 0; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
    if (t == 0) o[blockIdx.x] = s[0]; } }
__global__ void all(const float *a, const int *count, float *o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (a[i] < *count) o[i] = 2 * a[i]; }"""


def test_a_count_that_is_read_is_where_arrays_may_end():
    """A launch is rounded up to whole blocks; arrays of as many elements as are counted failed when called. Where no
    count bounds the places, a shorter array is an error as before."""
    run = load_module(pipeline.translate(COUNTED, "k.cu").text)
    a, five = np.arange(1.0, 6.0, dtype=np.float32), np.array([5], np.int32)
    for grid in (2, 3):
        np.testing.assert_array_equal(run.each(a, five, np.zeros(5, np.float32), grid=grid, block=4), 2 * a)
        found = run.sums(a, five, np.array([0, 0, 9], np.float32)[:grid], grid=grid)
        np.testing.assert_array_equal(found, [10, 5, 9][:grid])
    with pytest.raises((ValueError, TypeError)):
        run.all(a, five, np.zeros(8, np.float32), grid=2, block=4)


UNDER_DATA = """
from numba import cuda

@cuda.jit
def f(u, m, x):
    i, j = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        if m[i, j] > 0:
            u[i, j] = x[i, j] - PLACE
"""


@pytest.mark.parametrize(
    ("place", "text"), [("x[i - 1, j]", "x[: rows - 2, 1 : cols - 1]"), ("x[i, j + 1]", "x.at[i[:, None], j + 1]")]
)
def test_inner_cells_that_data_ask_for(place, text):
    """Of places from a number on a slice tells by itself that the array is too short; a place further on need not be
    there, as no lane may ask for it."""
    done = pipeline.translate(UNDER_DATA.replace("PLACE", place), "k.py")
    further = place == "x[i, j + 1]"
    assert text in done.text and ("x.at[" in done.text) is further
    draw = np.random.default_rng(1)
    u, m = draw.normal(size=(2, 5, 6)).astype(np.float32)
    m[:, 4] = -1.0
    x = draw.normal(size=(5, 5 if further else 6)).astype(np.float32)
    expected = u.copy()
    for i, j in np.argwhere(m[1:4, 1:5] > 0) + 1:
        expected[i, j] = x[i, j] - (x[i - 1, j] if "- 1" in place else x[i, j + 1])
    np.testing.assert_allclose(load_module(done.text).f(u, m, x), expected, rtol=1e-6)
