"""Loops in steps of the number of threads, and loops that only look so."""

# ruff: noqa: E501 - kernels on one line

from pathlib import Path

import pytest

from kraise import pipeline
from kraise.diagnostics import Refused
from tests.checks import agrees
from tests.hostile.judge import judge
from tests.raising.agree import agree, kinds, raised, refusal, write

START = "def f(x, y):\n i = cuda.grid(1)\n for j in range(i, len(x), cuda.gridsize(1)):\n  {}"
MERGED = {
    "elementwise": "y[j] = x[j] * 2",
    "a local": "a = x[j]\n  if a > 0: a = a * 2\n  y[j] = a",
    "a guard": "if j > 0: y[j] = x[j - 1]",
    "an inner loop": "a = 0.0\n  for k in range(j): a += x[k]\n  y[j] = a",
    "an atomic": "cuda.atomic.add(y, 0, x[j])",
    "a break of an inner loop": "for k in range(3):\n   if x[j] > k: break\n   y[j] = k",
}


@pytest.mark.parametrize("name", MERGED)
def test_merged(name):
    kernel = agree(START.format(MERGED[name]))
    assert not kernel.launch
    assert "i" not in {a.name for a in write(kernel).axes}


def test_an_offset_start():
    agree("def f(x, y):\n i = cuda.grid(1)\n for j in range(i + 1, len(x), cuda.gridsize(1)):\n  y[j] = x[j - 1]")


DOWN = "def f(x, y):\n i = cuda.grid(1)\n for j in range(len(x) - 1 - i, {}, -cuda.gridsize(1)):\n  {}"


@pytest.mark.parametrize(
    ("end", "body"), [("-1", "y[j] = x[j] * 2"), ("1", "a = x[j]\n  y[j] = a + x[len(x) - 1 - j]")]
)
def test_downwards(end, body):
    kernel = agree(DOWN.format(end, body))
    assert not kernel.launch and "Fold" not in kinds(kernel)


def test_downwards_a_race_stays_one():
    assert refusal(DOWN.format("0", "y[j] = y[j - 1]")) == "KR201"


STRIDE = "cuda.gridsize(1)"
EACH = {  # elements of a thread: next to each other, or so many threads on; from a place on; the rest by itself
    "next to each other": f" for j in range(4 * i, n, 4 * {STRIDE}):\n  for u in range(4):\n   if j + u < n: y[j + u] = x[j + u]",
    "in place": f" for j in range(4 * i, n, 4 * {STRIDE}):\n  for u in range(4):\n   if j + u < n: y[j + u] *= 2",
    "every fourth": f" for j in range(4 * i, n, 4 * {STRIDE}): y[j] *= 2",
    "from a place on": f" for j in range(m + i, n, {STRIDE}): y[j] *= 2",
    "a sum from a place on": f" s = 0.0\n for j in range(m + i, n, {STRIDE}): s += x[j]\n cuda.atomic.add(y, 0, s)",
    "whole groups and the rest": f" for j in range(i, n // 4, {STRIDE}):\n  y[4 * j] *= 2\n  y[4 * j + 1] *= 2\n"
    f"  y[4 * j + 2] *= 2\n  y[4 * j + 3] *= 2\n for j in range(n // 4 * 4 + i, n, {STRIDE}): y[j] *= 2",
    "a sum of whole groups and the rest": f" s = 0.0\n for j in range(i, n // 2, {STRIDE}): s += x[2 * j] + x[2 * j + 1]\n"
    f" for j in range(n // 2 * 2 + i, n, {STRIDE}): s += x[j]\n cuda.atomic.add(y, 0, s)",
    "a block further on": " b = cuda.blockDim.x\n for j in range(cuda.blockIdx.x * b * 2 + cuda.threadIdx.x, n, 2 * b * cuda.gridDim.x):\n"
    "  for u in range(2):\n   if j + u * b < n: y[j + u * b] *= 2",
}
MEET = {
    "groups that overlap": f" for j in range(3 * i, n, 3 * {STRIDE}):\n  for u in range(4):\n   if j + u < n: y[j + u] *= 2",
    "the rest begins too early": f" for j in range(i, n // 4, {STRIDE}):\n  y[4 * j] *= 2\n  y[4 * j + 3] *= 2\n"
    f" for j in range(n // 4 * 4 - 1 + i, n, {STRIDE}): y[j] *= 2",
    "rounds of other threads": f" for j in range(4 * i, n, 2 * {STRIDE}): y[j] *= 2",
}


@pytest.mark.parametrize("name", EACH)
def test_several_elements_of_a_thread(name):
    given = "x, y, n, m" if "x[" in EACH[name] else "y, n, m"
    kernel = agree(f"def f({given}):\n i = cuda.grid(1)\n{EACH[name]}", sizes=(0, 1, 3, 29))
    assert not kernel.launch and not kernel.checks


@pytest.mark.parametrize("name", MEET)
def test_threads_that_meet(name):
    assert refusal("def f(x, y, n, m):\n i = cuda.grid(1)\n" + MEET[name]) in ("KR201", "KR202", "KR306")


OTHER = [
    "def f(x, y):\n i = cuda.grid(1)\n for j in range(2 * i, len(x), cuda.gridsize(1)):\n  y[j] = x[j]",
    "def f(x, y):\n i = cuda.grid(1)\n for j in range(i, len(x), cuda.blockDim.x):\n  y[j] = x[j]",
]


@pytest.mark.parametrize("source", OTHER)
def test_other_loops_depend_on_the_launch(source):
    """Refused, or told apart by the launch (with a check that threads do not meet)."""
    try:
        kernel = raised(source)
    except Refused:
        return
    assert kernel.launch == "required" and kernel.checks


def test_a_race_stays_one():
    assert refusal(START.format("y[0] = x[j]")) in ("KR205", "KR201")


FACTOR = (Path(__file__).parents[2] / "samples" / "cuda_block_factor" / "kernel.cu").read_text(encoding="utf-8")
WITHOUT = {
    "eliminate": ("A[k * n + j];\n    __syncthreads();", "A[k * n + j];"),
    "substitute": (
        "if (threadIdx.x == 0) b[k] /= A[k * n + k];\n    __syncthreads();",
        "if (threadIdx.x == 0) b[k] /= A[k * n + k];",
    ),
    "column": ("i > k && i < n", "i >= k && i < n"),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_rows_that_a_loop_moves(name):
    """Strides that start behind a loop's counter are a row of it; without its barrier, or with the pivot, a race."""
    assert name in pipeline.translate(FACTOR, "a.cu").raised
    old, new = WITHOUT[name]
    done = pipeline.translate(FACTOR.replace(old, new), "a.cu")
    assert FACTOR.count(old) == 1 and name not in done.raised
    assert {d.code for d in done.diagnostics if d.kernel == name} <= {"KR201", "KR205"}


OWN = {  # what else in the loop speaks of the thread, not of the element
    "its number": "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)"
    " y[threadIdx.x + blockIdx.x * 32] += x[i];",
    "its number, in a load": "for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 32 * gridDim.x)"
    " y[i] += x[threadIdx.x + blockIdx.x * 32];",
    "its array": "float l[3] = {0}; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x *"
    " gridDim.x) l[i % 3] += x[i]; y[blockIdx.x * 32 + threadIdx.x] = l[0] - l[1] + l[2] * 3;",
    "its number, in a name": "int t = blockIdx.x * blockDim.x + threadIdx.x; for (int i = t; i < n; i += gridDim.x *"
    " blockDim.x) y[i] = x[i] * 3 + t;",
    "its rounds": "float a = 1; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)"
    " { a *= 2; y[i] = x[i] * a; }",
    "its own sum so far": "float a = 0; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x *"
    " blockDim.x) { a += x[i]; y[i] = a; }",
    "its block": "for (int r = blockIdx.x; r < n / 32; r += gridDim.x) y[r * 32 + threadIdx.x] = x[blockIdx.x];",
}


@pytest.mark.parametrize("name", OWN)
def test_an_element_is_not_its_thread(name):
    done = pipeline.translate(f"__global__ void f(const float *x, float *y, int n) {{ {OWN[name]} }}", "k.cu")
    assert done.text is not None, done.diagnostics
    sizes = pipeline.Request(shapes={"x": (200,), "y": (200,)}, values={"n": 200}, grid=(2,), block=(32,))
    agrees(done, sizes, done.text)


BLOCKS = {  # loops from the block's number on, by what is no number of blocks: the launch says how many there are
    "stored": "if (threadIdx.x == 0) for (int r = blockIdx.x; r < n; r += 16) y[r] = x[r];",
    "stored by all": "for (int r = blockIdx.x; r < n; r += 16) y[r] = x[r];",
    "added": "if (threadIdx.x == 0) for (int r = blockIdx.x; r < n; r += 16) atomicAdd(&y[0], x[r]);",
    "summed": "if (threadIdx.x == 0) { float s = 0; for (int r = blockIdx.x; r < n; r += 3) s += x[r];"
    " atomicAdd(y, s); }",
    "beside rows": "for (int r = blockIdx.y; r < n / 4; r += 16) { int c = blockIdx.x * blockDim.x + threadIdx.x;"
    " if (c < 4) y[r * 4 + c] = x[r * 4 + c] + 1; }",
}


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.long_cases("stored by all")
def test_the_launch_says_how_many_blocks_begin_a_loop(name):
    done = pipeline.translate(f"__global__ void f(const float *x, float *y, int n) {{ {BLOCKS[name]} }}", "k.cu")
    assert done.text is not None, done.diagnostics
    for blocks in (2, 16, 18):
        grid = (1, blocks) if "blockIdx.y" in BLOCKS[name] else (blocks,)
        sizes = pipeline.Request(shapes={"x": (80,), "y": (80,)}, values={"n": 80}, grid=grid, block=(8,))
        agrees(done, sizes, blocks, done.text)


def test_a_load_from_the_end_does_not_say_how_wide_the_launch_is():
    body = "int i = blockIdx.x * 32 + threadIdx.x; float a = 0; if (i < n) a += x[n - 1 - i]; y[i] = a;"
    done = pipeline.translate(f"__global__ void f(const float *x, float *y, int n) {{ {body} }}", "k.cu")
    assert done.text is not None, done.diagnostics
    sizes = pipeline.Request(shapes={"x": (40,), "y": (64,)}, values={"n": 40}, grid=(2,), block=(32,))
    agrees(done, sizes, done.text)


def test_cells_that_two_threads_share_stay_a_race():
    loop = "for (int i = t; i < n; i += gridDim.x * blockDim.x) y[i / 2] = x[i] * 3 + t;"
    source = f"int t = blockIdx.x * blockDim.x + threadIdx.x; {loop}"
    done = pipeline.translate(f"__global__ void f(const float *x, float *y, int n) {{ {source} }}", "k.cu")
    assert done.text is None and {d.code for d in done.diagnostics} == {"KR201"}, done.diagnostics


@pytest.mark.parametrize("guard", ["n", "m"])
def test_a_loop_that_is_tested_at_its_end(guard):
    """Behind the condition that it tests it is one tested at its start; behind another it has a round at least."""
    body = f"if (i < {guard}) do {{ y[i] = 2 * x[i]; i += gridDim.x * blockDim.x; }} while (i < n);"
    source = f"__global__ void k(const int *x, int *y, int n, int m) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}"
    launches = [((2,), (4,)), ((3,), (4,)), ((1,), (4,))]
    assert judge(source, "cu", "x=i[24] y=i[24] n=8 m=11", launches) == "right"
