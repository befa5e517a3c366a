"""Threads of a block of several axes that are numbered through."""

import numpy as np
import pytest

from kraise import pipeline
from tests.hostile.judge import judge

KERNEL = """__global__ void k(const int *x, int *y, int n) {{
  int t = threadIdx.x + {row} * threadIdx.y, i = blockIdx.x * {block} + t;
  if (i < n) {body}
}}"""
BODIES = {
    "stores": "y[i] = x[i] * (threadIdx.y + 1);",
    "the largest": "atomicMax(y, x[i] * (threadIdx.y + 1));",
    "sums": "atomicAdd(y, x[i]);",
}


@pytest.mark.parametrize("body", BODIES)
def test_a_block_is_as_wide_as_its_rows(body):
    """It had ``block`` threads along x: each element was visited by threads of several rows."""
    source = KERNEL.format(row=4, block=12, body=BODIES[body])
    assert judge(source, "cu", "x=i[30]<-9:9 y=i[30] n=30", [((3,), (4, 3))]) == "right"


def test_numbers_that_are_no_digits_tell_no_size():
    source = KERNEL.format(row=4, block=10, body=BODIES["sums"])
    assert judge(source, "cu", "x=i[30]<-9:9 y=i[30] n=30", [((3,), (4, 3)), ((3,), (2, 5))]) == "right"


@pytest.mark.parametrize("further", ["8", "blockDim.x"])
def test_elements_are_shared_out(further):
    """Blocks of sixteen threads would add most elements twice."""
    first = f"if (i < n) atomicAdd(y, x[i]); if (i + {further} < n) atomicAdd(y, x[i + {further}]);"
    source = f"__global__ void k(const int *x, int *y, int n) {{ int i = blockIdx.x * 16 + threadIdx.x; {first} }}"
    assert judge(source, "cu", "x=i[40]<-9:9 y=i[1] n=40", [((3,), (8,))]) == "right"


def test_cells_that_are_stored_are_shared_out():
    body = "int i = blockIdx.x * 16 + threadIdx.x; if (i < n) y[i] = 2 * x[i]; if (i + 8 < n) y[i + 8] = x[i + 8] - i;"
    source = f"__global__ void k(const int *x, int *y, int n) {{ {body} }}"
    assert judge(source, "cu", "x=i[40]<-9:9 y=i[40] n=40", [((3,), (8,))]) == "right"


def test_a_block_of_three_axes_is_numbered_through():
    """Rows of four were taken to be apart: no n above 4 was right."""
    number = "(blockIdx.z * blockDim.z + threadIdx.z) * 8 + threadIdx.y * 4 + threadIdx.x"
    source = f"__global__ void k(const int *x, int *y, int n) {{ int j = {number}; if (j < n) y[n - 1 - j] = x[j]; }}"
    assert judge(source, "cu", "x=i[30]<-9:9 y=i[30] n=30", [((1, 1, 2), (4, 2, 2))]) == "right"
    uneven = source.replace("* 8", "* 6")  # no digits
    assert judge(uneven, "cu", "x=i[30]<-9:9 y=i[30] n=30", [((1, 1, 2), (4, 2, 2))]) != "right"


COARSE = """__global__ void k(const int *x, int *y, int n, int w) {{
  int a = 0;
  for (int k = 0; k < 4; k++) {{
    {body}
  }}
}}"""
RUNNING = "int i = blockIdx.x * 32 + threadIdx.x + k * {step}; if (i < n) {{ a += x[i]; y[i] = a; }}"
ROWS = """int r = (blockIdx.y * 4 + k) * 2 + threadIdx.y, i = blockIdx.x * 4 + threadIdx.x;
    if (i < w && r < n) y[r * w + i] = x[r * w + i] * 2;"""


def test_the_rounds_of_a_thread_share_out_what_they_store():
    """The block had as many threads along the axis as it has elements: no launch was right."""
    source = COARSE.format(body=RUNNING.format(step=8))
    assert judge(source, "cu", "x=i[70]<-9:9 y=i[70] n=70 w=1", [((3,), (8,))]) == "right"
    assert judge(COARSE.format(body=ROWS), "cu", "x=i[70] y=i[70] n=10 w=7", [((2, 2), (4, 2))]) == "right"


def test_rounds_that_reach_into_the_next_block_meet_it():
    source = COARSE.format(body=RUNNING.format(step=16))
    assert judge(source, "cu", "x=i[70]<-9:9 y=i[70] n=70 w=1", [((3,), (8,))]) == "refused KR201"


def test_a_neighbour_that_is_loaded_shares_nothing_out():
    body = "int i = blockIdx.x * 8 + threadIdx.x; if (i < n) y[i] = x[i] - x[i + 4];"
    source = f"__global__ void k(const int *x, int *y, int n) {{ {body} }}"
    assert judge(source, "cu", "x=i[44]<-9:9 y=i[40] n=40", [((5,), (8,))]) == "right"


LOADED = """__global__ void k(const int *x, int *y, int n) {{
  __shared__ int s[128];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = 0;
  {loop}
  __syncthreads();
  for (int h = 16; h > 0; h /= 2) {{ if (t < h) s[t] += s[t + h]; __syncthreads(); }}
  if (t == 0) y[blockIdx.x] = s[0];
}}"""


@pytest.mark.parametrize("loop", ["while (i < n)", "if (i < n)"])
def test_elements_that_are_loaded_and_added_up_are_shared_out(loop):
    """Blocks of sixty-four threads would read the half of the elements twice."""
    body = "{ s[t] += x[i]; if (i + 32 < n) s[t] += x[i + 32]; i += 64 * gridDim.x; }"
    source = LOADED.format(loop=f"{loop} {body}")
    assert judge(source, "cu", "x=i[150]<-9:9 y=i[3] n=150", [((3,), (32,))]) == "right"


DEALT = """__global__ void k(const int *x, int *y, int n) {{
  int first = blockIdx.x * 128;
  for (int j = threadIdx.x; j < {most}; j += blockDim.x) if (first + j < n) {count}
}}"""


@pytest.mark.parametrize("most", [128, 100])
def test_a_block_deals_its_elements_out_whatever_its_size(most):
    source = DEALT.format(most=most, count="atomicAdd(&y[x[first + j] & 7], 1);")
    launches = [((2,), (32,)), ((2,), (128,)), ((3,), (96,))]
    assert judge(source, "cu", "x=i[300]<-9:9 y=i[8] n=300", launches) == "right"


LINEAR = """__global__ void k(const float *x, float *y, int n) {{
  __shared__ float s[128];
  int t = threadIdx.x, r = t / 8, c = t % 8, i = blockIdx.x * 8 + c;
  for (int l = t; l < 128; l += {step}) s[l] = blockIdx.x * 8 + l % 8 < n ? x[(l / 8) * n + blockIdx.x * 8 + l % 8] : 0;
  __syncthreads();
  float a = 0;
  for (int j = 0; j < 16; j++) a += s[j * 8 + c] * (r + 1);
  if (i < n) y[r * n + i] = a;
}}"""


def test_a_thread_that_is_divided_is_one_of_more():
    """``8 * block + t % 8`` is no block of eight threads: their rows ``t / 8`` would be one."""
    source = LINEAR.format(step="64")
    assert judge(source, "cu", "x=f[480]<-4:4 y=f[240] n=30", [((4,), (64,))]) == "right"


def test_blocks_whose_elements_overlap_store_them_twice():
    source = DEALT.format(most=160, count="y[first + j] = x[first + j] + j;")
    assert judge(source, "cu", "x=i[300]<-9:9 y=i[300] n=300", [((3,), (32,))]).startswith("refused")
    source = DEALT.format(most=128, count="y[first + j] = x[first + j] + j;")
    assert judge(source, "cu", "x=i[300]<-9:9 y=i[300] n=300", [((3,), (32,)), ((3,), (64,))]) == "right"


NUMBERED = """__global__ void k(const int *x, int *y, int n) {{
  __shared__ int s[64];
  int tx = threadIdx.x, ty = threadIdx.y, t = {number}, m = blockDim.x * blockDim.y;
  int i = blockIdx.x * m + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int h = m / 2; h > 0; h /= 2) {{ if (t < h) s[t] += s[t + h]; {barrier} }}
  if ({first}) y[blockIdx.x] = s[0];
}}"""
SHAPES = [((3,), (8, 4)), ((3,), (4, 8)), ((2,), (16, 2))]


@pytest.mark.parametrize(
    ("number", "first"),
    [
        ("ty * blockDim.x + tx", "t == 0"),
        ("tx * blockDim.y + ty", "m - 1 == t"),
        ("tx + ty * blockDim.x", "!tx && !ty"),
        ("ty * blockDim.x + tx", "n > 0 && (threadIdx.x | ty) == 0"),
    ],
)
def test_a_block_of_any_shape_is_one_row(number, first):
    source = NUMBERED.format(number=number, first=first, barrier="__syncthreads();")
    assert judge(source, "cu", "x=i[96]<-9:9 y=i[3] n=80", SHAPES) == "right"


@pytest.mark.parametrize(
    "changed",
    [
        {"number": "ty * blockDim.y + tx"},
        {"number": "ty * (blockDim.x - 1) + tx"},
        {"barrier": ""},
        {"first": "tx == 0"},  # one for each row of threads
    ],
)
def test_numbers_that_threads_share_are_refused(changed):
    given = {"number": "ty * blockDim.x + tx", "first": "t == 0", "barrier": "__syncthreads();"} | changed
    if changed.get("first"):
        given["first"] += ") { if (ty < 2"
        source = NUMBERED.format(**given).replace("y[blockIdx.x] = s[0];", "y[blockIdx.x] = s[ty]; }")
    else:
        source = NUMBERED.format(**given)
    assert judge(source, "cu", "x=i[96]<-9:9 y=i[3] n=80", SHAPES).startswith("refused")


NUMBERED_BLOCK = """import math
from numba import cuda, float32
@cuda.jit
def k(x, y, z):
    t = (cuda.threadIdx.z * cuda.blockDim.y + cuda.threadIdx.y) * cuda.blockDim.x + cuda.threadIdx.x
    i = (cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x) * cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z + t
    v = x[i] if i < x.size else 0.0
    k = 16
    while k > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, k)
        k //= 2
    if t % 32 == 0:
        y[i // 32] = v
"""


def test_lanes_are_counted_through_the_block():
    source = NUMBERED_BLOCK.replace(", z)", ")")
    assert judge(source, "py", "x=f[190] y=f[6]", [((3, 1), (8, 4, 2)), ((1, 2), (4, 4, 6))]) == "right"


def test_blocks_that_a_local_that_is_not_read_counts_are_there():
    """A block of one row has no second axis for it to stand for."""
    source = """
__global__ void f(float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  atomicAdd(&out[0], (float)gridDim.x);
}
"""
    scope = {}
    exec(pipeline.translate(source, "f.cu").text, scope)
    assert scope["f"](np.zeros(1, np.float32), grid=(3, 5), block=(4, 2))[0] == 3 * 5 * 4 * 2 * 3
