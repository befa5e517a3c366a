"""Histograms that each block first makes for itself are one histogram; what is not passed on whole is not."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified
from tests.hostile.judge import judge

SOURCE = """
from numba import cuda, int32

@cuda.jit
def tally(v, h, n):
    own = cuda.shared.array(64, int32)
    b = cuda.threadIdx.x
    while b < 64:
        own[b] = 0
        b += cuda.blockDim.x
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(own, v[i], 1)
    cuda.syncthreads()
    b = cuda.threadIdx.x
    while b < 64:
        cuda.atomic.add(h, b, own[b])
        b += cuda.blockDim.x
"""
ONE = "h.at[v[:n]].add(1)"


def test_one_histogram():
    done = pipeline.translate(SOURCE, "f.py")
    assert done.text and ONE in done.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("own[b] = 0", "own[b] = 1"),
        ("    while b < 64:\n        cuda.atomic", "    while b < 32:\n        cuda.atomic"),
        ("cuda.atomic.add(h, b, own[b])", "cuda.atomic.add(h, b, own[63 - b])"),
        ("cuda.atomic.add(h, b, own[b])", "cuda.atomic.add(h, b, 2 * own[b])"),
        ("cuda.atomic.add(h, b, own[b])", "cuda.atomic.add(h, b // 2 * 2, own[b])"),
        ("1)\n    cuda.syncthreads()\n    b =", "1)\n    b ="),
    ],
)
def test_what_is_passed_on_otherwise(old, new):
    assert old in SOURCE
    done = pipeline.translate(SOURCE.replace(old, new), "f.py")
    assert not done.text or ONE not in done.text


NAMED_TWICE = """
from numba import cuda, int32

@cuda.jit
def tally(x, h, low, width):
    own = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    for b in range(t, 64, cuda.blockDim.x):
        own[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        b = int((x[i] - low) / width)
        if b >= 0 and b < 64:
            cuda.atomic.add(own, b, 1)
    cuda.syncthreads()
    for b in range(t, 64, cuda.blockDim.x):
        cuda.atomic.add(h, b, own[b])
"""


def test_a_counter_and_a_number_of_one_name():
    """A name that is the counter of loops here, and the bin there, is two names."""
    done = pipeline.translate(NAMED_TWICE, "f.py")
    assert done.text and "def tally(x, h, low, width):" in done.text and "h.at[" in done.text
    reports, findings = verified(done, pipeline.Request(), source=NAMED_TWICE)
    assert not findings and all(r.ok for r in reports), [r.failures for r in reports]


def test_a_counter_that_is_read_after_its_loop_is_one_name():
    source = NAMED_TWICE.replace(
        "    cuda.syncthreads()\n    for i in", "    h[0] += b * 0\n    cuda.syncthreads()\n    for i in"
    )
    done = pipeline.translate(source, "f.py")
    assert "def tally(x, h, low, width):" not in (done.text or "")


CELLS_OF = """__global__ void count(const int *k, const int *q, const float *w, float *h, int n) {{
    __shared__ float s[96];
    for (int i = threadIdx.x; i < 96; i += blockDim.x) s[i] = 0.0f;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {{ {body} }}
    __syncthreads();
    for (int i = threadIdx.x; i < 96; i += blockDim.x) atomicAdd(&h[i], {passed});
}}"""


@pytest.mark.parametrize(
    ("body", "cell"),
    [
        ("atomicAdd(&s[k[i] * 16 + q[i]], w[i]);", "h.at[k[:n] * 16 + q[:n]].add(w[:n])"),
        ("int a = k[i], b = q[i]; if (a >= 0 && a < 6 && b >= 0 && b < 16) atomicAdd(&s[b * 6 + a], w[i]);", "* 6 + k"),
        ("atomicAdd(&s[2 * k[i] + 1], w[i]);", "h.at[2 * k[:n] + 1].add(w[:n])"),
    ],
)
def test_cells_of_several_numbers(body, cell):
    done = pipeline.translate(CELLS_OF.format(body=body, passed="s[i]"), "k.cu")
    assert done.raised == ("count",), [d.reason for d in done.diagnostics]
    assert cell in done.text and "grid" not in done.text
    if "if" in body:  # the others need numbers that are cells
        reports, findings = verified(done, pipeline.Request())
        assert not findings and not [r for r in reports if r.failures]


@pytest.mark.parametrize("passed", ["2.0f * s[i]", "s[95 - i]", "s[i] * s[i]"])
def test_what_is_passed_on_changed_stays_each_block_s(passed):
    done = pipeline.translate(CELLS_OF.format(body="atomicAdd(&s[k[i] * 16 + q[i]], w[i]);", passed=passed), "k.cu")
    assert done.text is None or "h.at[k[:n] * 16 + q[:n]].add(w[:n])" not in done.text


STEPS = """    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&own[data[i]], 2u);
"""
UNSIGNED = """    size_t k = blockIdx.x * blockDim.x + threadIdx.x, stride = blockDim.x * gridDim.x;
    while (k < n) { atomicAdd(&own[data[k]], 2u); k += stride; }
"""
CELLS = """
__global__ void tally(const unsigned char *data, unsigned *bins, int n, int cells) {
    extern __shared__ unsigned own[];
    for (int i = threadIdx.x; i < cells; i += blockDim.x) own[i] = 0;
    __syncthreads();
STEPS    __syncthreads();
    for (int i = threadIdx.x; i < cells; i += blockDim.x) PASS
}
"""


@pytest.mark.parametrize(
    ("once", "steps"),
    [
        ("atomicAdd(&bins[i], own[i]);", STEPS),
        ("if (own[i] > 0) atomicAdd(&bins[i], own[i]);", UNSIGNED),
        ("if (i % 3 == 1) atomicAdd(&bins[i / 3], own[i]);", STEPS),
    ],
)
def test_cells_of_dynamic_memory(once, steps):
    done = pipeline.translate(CELLS.replace("PASS", once).replace("STEPS", steps), "f.cu")
    assert done.text and "grid" not in done.text and "zeros" not in done.text
    values = {"n": 50, "cells": 9, "data": [(7 * i) % 9 for i in range(50)]}
    shapes = {"data": (50,), "bins": (9,)}
    request = pipeline.Request(shapes=shapes, values=values, grid=(2,), block=(8,))
    reports, problems = verified(done, request)
    assert not problems and not [r.failures for r in reports if r.failures]


def test_cells_that_are_passed_on_by_what_they_hold():
    kept = CELLS.replace("STEPS", STEPS).replace("PASS", "if (own[i] > 5) atomicAdd(&bins[i], own[i]);")
    done = pipeline.translate(kept, "f.cu")
    assert done.text and "grid" in done.text


FEW = """__global__ void k(const int *x, int *h, int n) {{
  __shared__ int s[40];
  int t = threadIdx.x, i = blockIdx.x * 16 + t;
  for (int c = t; c < 40; c += 16) s[c] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&s[x[i]], 1);
  __syncthreads();
  {}
}}"""


@pytest.mark.parametrize(
    "passed",
    [
        "atomicAdd(&h[t], s[t]);",
        "for (int r = 0; r < 2; r++) atomicAdd(&h[t + 16 * r], s[t + 16 * r]);",
        "if (x[t % n] > 4) atomicAdd(&h[t], s[t]);",
    ],
)
def test_fewer_threads_than_cells_pass_on_their_own(passed):
    """All cells were passed on, by sixteen threads; a row and a column of the bins were an internal error."""
    launches = [((3,), (16,))]
    assert judge(FEW.format(passed), "cu", "x=i[40]<0:40 h=i[40] n=40", launches) == "right"


PLANE = """__global__ void k(const int *x, int *h, int n) {{
  __shared__ int s[{cells}];
  int id = threadIdx.y * 8 + threadIdx.x, i = blockIdx.x * 64 + id;
  for (int c = id; c < {cells}; c += 64) s[c] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&s[x[i] & 31], 1);
  __syncthreads();
  if ({passed}) atomicAdd(h + id, s[id]);
}}"""


@pytest.mark.parametrize(
    ("cells", "passed"), [(32, "id < 32"), (32, "id < 32 && s[id]"), (32, "threadIdx.x < 4 && id < 32"), (80, "1")]
)
def test_threads_of_a_plane_pass_on_the_cells_of_their_numbers(cells, passed):
    """The cell's number was taken for the thread's column: cells beyond the eighth were left out."""
    source = PLANE.format(cells=cells, passed=passed)
    launches = [((2,), (8, 8))]
    assert judge(source, "cu", f"x=i[100] h=i[{cells}] n=100", launches) == "right"


BY_GRID = """__global__ void k(const int *x, int *h, int n) {{
  __shared__ int s[64];
  int t = threadIdx.x, i = blockIdx.x * {size} + t;
  for (int c = t; c < 64; c += {size}) s[c] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&s[x[i] & 31], 1);
  __syncthreads();
  {passed}
}}"""


@pytest.mark.parametrize("size", ["blockDim.x", "16"])
@pytest.mark.parametrize(
    "passed",
    [
        "if (i < 20) atomicAdd(&h[i], s[i]);",
        "if (i < 20) h[i] += s[i];",
        "for (int k = i; k < 32; k += blockDim.x * gridDim.x) atomicAdd(&h[k], s[k]);",
    ],
)
def test_cells_that_the_threads_of_the_grid_pass_on_are_not_every_block_s(size, passed):
    """The counts of all blocks came in, where each passes on the cells of its threads' numbers in the grid."""
    source = BY_GRID.format(size=size, passed=passed)
    assert judge(source, "cu", "x=i[60] h=i[64] n=60", [((4,), (16,))]) in ("right", "KR201", "KR206")


FIRST = """
__global__ void k(const float *x, const int *key, float *out, int n) {{
  __shared__ float s[8];
  if (threadIdx.x < 8) s[threadIdx.x] = 0.0f;
  __syncthreads();
  int i = blockIdx.x * {} + threadIdx.x;
  if (i < n) atomicAdd(&s[key[i]], x[i]);
  __syncthreads();
  if ({}) out[blockIdx.x * 8 + threadIdx.x] = s[threadIdx.x];
}}
{}"""
FIRST_ARGS = "x=f[150] key=i[150]<0:8 out=f[24] n=150"


@pytest.mark.parametrize("block, kept_by", [(64, "threadIdx.x < 8"), (100, "7 >= threadIdx.x")])
def test_cells_that_the_first_threads_keep_are_no_block(block, kept_by):
    """Blocks of eight threads, one for each cell, would count an eighth of the elements: a guard that all of them
    pass speaks of larger ones."""
    source = FIRST.format("blockDim.x", kept_by, "")
    kept = pipeline.translate(source, "k.cu").text
    assert "*, grid, block)" in kept and "8 threads" not in kept
    assert judge(source, "cu", FIRST_ARGS, [((3,), (block,))]) == "right"


@pytest.mark.parametrize(
    "by, host",
    [("8", ""), ("blockDim.x", "void run(float *x, int *key, float *out, int n) { k<<<3, 8>>>(x, key, out, n); }")],
)
def test_cells_of_all_threads_are_a_block(by, host):
    source = FIRST.format(by, "threadIdx.x < 8", host)
    assert "a block has 8 threads" in pipeline.translate(source, "k.cu").text
    assert judge(source, "cu", FIRST_ARGS, [((3,), (8,))]) == "right"


STRIDED = """from numba import cuda, int32
@cuda.jit
def f(img, out):
    h = cuda.shared.array(16, int32)
    c = cuda.shared.array(16, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    if t < 16:
        h[t] = 0
    cuda.syncthreads()
    for j in range(t, img.shape[1], 32):
        cuda.atomic.add(h, img[row, j], 1)
    cuda.syncthreads()
    if t < 16:
        s = 0
        for k in range(t + 1):
            s += h[k]
        c[t] = s
    cuda.syncthreads()
    if t < 16:
        out[row, t] = c[t]
"""


def test_threads_beyond_a_stride_add_once_more_each():
    """With 64 threads in strides of 32 each element is counted twice: the stride says that there are 32, and another
    number of threads is no launch that is passed over."""
    done = pipeline.translate(STRIDED, "k.py")
    assert done.text is not None, done.diagnostics
    f = load_module(done.text).f
    images = (np.arange(140).reshape(2, 70) % 16).astype(np.int32)
    found = f(images, np.zeros((2, 16), np.int32), grid=2, block=32)
    wanted = [np.bincount(row, minlength=16) for row in images]
    np.testing.assert_array_equal(found, np.cumsum(wanted, axis=1))
    with pytest.raises(ValueError, match="a block has 32 threads"):
        f(images, np.zeros((2, 16), np.int32), grid=2, block=64)


WARPS = """
__global__ void tally(const int *d, const int *w, int *hist, int n) {
  __shared__ int h[8][64];
  int own = threadIdx.x >> 5, lane = threadIdx.x & 31;
  for (int b = lane; b < 64; b += 32) h[own][b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&h[own][d[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 64; b += blockDim.x) {
    int s = 0;
    for (int k = 0; k < 8; k++) s += h[k][b];
    if (s > 0) atomicAdd(hist + b, s);
  }
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("s > 0", "s >= 1"),
        ("d[i]], 1)", "d[i]], w[i])"),  # what is added may be negative: the guard says something
        ("s > 0", "s > 1"),
        ("k < 8", "k < 7"),
        ("s += h[k][b]", "s += k * h[k][b]"),
    ],
)
def test_a_histogram_for_each_warp(old, new):
    done = pipeline.translate(WARPS.replace(old, new), "k.cu")
    one = "def tally(d, w, hist, n):" in (done.text or "")
    assert one == (new in ("", "s >= 1")), done.text
    if one:
        assert "return hist.at[d[:n]].add(1)" in done.text
