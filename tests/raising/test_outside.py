"""Accesses that leave their array for all sizes are refused with the values; those that may stay within are not."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise import pipeline
from kraise.diagnostics import Refused
from tests.checks import agrees
from tests.hostile.judge import judge
from tests.raising.agree import agree, raised

INSIDE = {
    "under a guard": "def f(x, y):\n for i in range(len(x)):\n  if i > 0: y[i] = x[i - 1]",
    "in an arm": "def f(x, y):\n for i in range(len(x)):\n  y[i] = x[i - 1] if i > 0 else 0.0",
    "behind an and": "def f(x, y):\n for i in range(len(x)):\n  if i > 0 and x[i - 1] > 0: y[i] = 1.0",
    "the margin of a range": "def f(x, y):\n for i in range(1, len(x) - 1): y[i] = x[i - 1] + x[i + 1]",
    "a triangle": "def f(A, y):\n for i in range(len(A)):\n  for j in range(i): y[i] += A[i - j - 1, j]",
    "a remainder": "def f(x, y):\n n = len(x)\n for i in range(n): y[i] = x[(i - 1) % n]",
    "clamped": "def f(x, y):\n n = len(x)\n for i in range(n): y[i] = x[max(i - 1, 0)] + x[min(i + 1, n - 1)]",
    "a constant from the end": "def f(x, y):\n n = len(x)\n for i in range(n): y[i] = x[-1]",
    "the mirror": "def f(x, y):\n n = len(x)\n for i in range(n): y[i] = x[n - 1 - i]",
    "a range from below zero, guarded": "def f(x, y):\n n = len(x)\n for i in range(n):\n  s = 0.0\n  for k in range(-2, 3):\n   if k >= 0 and k < n and x[k] > 0: s += x[k]\n  y[i] = s",
    "a triangle from the diagonal": "def f(A, y):\n for i in range(len(A)):\n  for j in range(-i, 1): y[i] += A[i + j, -j]",
    "under data": "def f(x, y, k):\n for i in range(len(x)):\n  if k[i] > 0 and i >= k[i]: y[i] = x[i - k[i]]",
}


@pytest.mark.parametrize("name", INSIDE)
def test_inside(name):
    agree(INSIDE[name])


SOME_SIZES = {
    "the channels in reverse, three of them": "for (int c = 0; c < m; c++) if (i < n) y[i * m + c] = x[i * m + 2 - c];",
    "a tile of four, however large the block": "__shared__ float s[4]; int t = threadIdx.x; s[t] = x[i]; __syncthreads(); if (i < n) y[i] = s[t];",
}


@pytest.mark.parametrize("name", SOME_SIZES)
def test_sizes_that_stay_inside_exist(name):
    body = "int i = blockIdx.x * blockDim.x + threadIdx.x; " + SOME_SIZES[name]
    source = f"__global__ void f(float *y, const float *x, int n, int m) {{ {body} }}"
    assert "KR204" not in [d.code for d in pipeline.translate(source, "f.cu").diagnostics]


ROUND = {
    "the one before": "def f(x, y, n):\n for i in range(n): y[i] = x[i - 1]",
    "a store": "def f(x, y, n):\n for i in range(n): y[i - 2] = x[i]",
    "threads": "def f(x, y, n):\n i = cuda.grid(1)\n if i < n: y[i] = x[i - 1]",
    "a row": "def f(A, B):\n for i in range(len(A)):\n  for j in range(A.shape[1]): B[i, j] = A[i - 1, j]",
    "a guard that lets it through": "def f(x, y, n):\n for i in range(n):\n  if i != 1: y[i] = x[i - 1]",
    "a range below zero": "def f(x, y):\n n = len(x)\n for k in range(-n, 0): y[k] = x[k]",
    "a range down below zero": "def f(x, y):\n s = 0.0\n for k in range(-1, -len(x) - 1, -1): s = 0.5 * s + x[k]\n y[0] = s",
    "a range from below zero, under data": "def f(x, y):\n for i in range(len(y)):\n  for k in range(-2, 3):\n   if x[k] > 0: y[i] = x[k]",
    "the last ones, by a parameter": "def f(x, y, q):\n for k in range(q): y[k] = x[k - q]",
    "a row of three": "def f(A, w):\n for i in range(len(w)):\n  for k in range(2): w[i] += A[i, -k - 1]",
    "a range over the whole": "def f(x, y):\n for k in range(len(x) + 1): y[0] += x[-k]",
    "from the end": "def f(x, y):\n for i in range(len(x)): y[-i - 1] = x[i] - x[-i - 1]",
    "two axes": "def f(A, B):\n for i in range(len(A)):\n  for j in range(len(A)): B[i, j] = A[i - 1, j] - A[-1 - i, j - 1]",
}


@pytest.mark.parametrize("name", ROUND)
def test_python_counts_from_the_end(name):
    agree(ROUND[name])


ROUNDS = "def k(x, w, y, p, m):\n t = w[0] * p[0]\n n = len(x)\n s = 0.0 * m\n for j in range({}):\n  {}\n y[0] = s + t"
THREADS = "from numba import cuda, float64\n@cuda.jit\ndef k(x, w, y, p, m):\n t = w[0] * p[0] + m\n i = cuda.grid(1)\n n = x.size\n if i < n:\n  s = 0.0\n  {}\n  y[i] = s + t"
LOCAL = "v = cuda.local.array(4, float64)\n  for j in range(4): v[{}] = x[i] + j\n  for j in range(4):\n   "
MASKED = {
    "mirrored": (THREADS, "if x[i - 1] > 0: s = w[-i - 1]"),
    "an arm": (THREADS, "s = math.log(9.0 + w[i - 1]) if x[i] > 0 else w[i - 2]"),
    "a round that another leaves": ("n", "if w[j] > 1: break\n  s += x[j - 1] - x[~j]"),
    "the way out itself": ("n", "if x[j] > x[-j - 1]: break\n  s += x[j]"),
    "down over zero": ("-1, n - 1", "s += x[-j]"),
    "down over zero, in an arm": ("-1, n - 1", "s += x[-j] if j % 2 == 0 else w[~j]"),
    "a round that stays": ("n", "s = 0.5 * s + (x[~j] if w[j] > 0 else x[-j - 1] * w[p[j]])"),
    "a count that stays": (THREADS, "j = 0\n  while j < n and x[j - 1] < 1.5:\n   s += w[-j - 1] * x[p[j]]\n   j += 1"),
    "its own cells": (THREADS, LOCAL.format("j - 1") + "if w[i] > j - 2: s = 0.5 * s + v[~j] * j"),
    "by a parameter": ("n", "y[j] = x[j - p[0]]\n  s += w[j - m] if x[j] > 0 else x[j - m]"),
    "rounds written out": ("-2, 1", "s = math.sin(s) + x[j] * w[j]"),
    "stored under data": ("n", "if w[j] > 0: y[j - 1] = x[j]\n  if x[j] > 0: y[-j - 1] += w[j]"),
    "stored, too": ("n", "if w[j] > 0: y[j - 1] = x[-j - 1]\n  elif w[j - 1] > 0: y[j - 1] += x[j - 1]"),
}


@pytest.mark.parametrize("name", MASKED)
def test_under_masks_too(name):
    """Rims of zeros were read below zero, and places from there on were moved to the first."""
    frame, text = MASKED[name]
    source = "import math\n" + (frame.format(text) if frame is THREADS else ROUNDS.format(frame, text))
    for n in (2, 6):
        assert judge(source, "py", f"x=d[{n}] w=d[{n}] y=d[{n}] p=i[{n}]<-{n}:{n} m={n - 1}", [((3,), (2,))]) == "right"


SOME = """
def k(x, w, y, z, u, v, lag):
    n = len(y)
    s = 0.0
    for i in range(n):
        s += x[lag - i - 1] * w[i - n + lag]
        y[lag - i - 1] = x[i]
    for i in range(n):
        if w[i] > 0:
            z[i - n + lag] += x[lag - i - 1]
    for i in range(lag):
        for j in range(n):
            u[i * n + j] = s * v[(i - 1) * n + j]
"""


@pytest.mark.parametrize("lag", [0, 1, 5])
def test_below_zero_for_some_sizes_only(lag):
    """Slices were cut short, and what was left was repeated or did not fit."""
    assert judge(SOME, "py", f"x=d[5] w=d[5] y=d[5] z=d[5] u=d[25] v=d[25] lag={lag}", [((1,), (1,))]) == "right"


CHECKED = {
    "the last m": (
        "for i in range(m): y[i] = x[len(x) - m + i]",
        "`x` would be used before its first element: m <= x.shape[0] must hold",
    ),
    "a store that might meet itself": (
        "for i in range(m): y[q - i] = x[i]",
        "`y` would be used before its first element: m <= q + 1 must hold",
    ),
}


@pytest.mark.parametrize("name", CHECKED)
def test_sizes_are_checked(name):
    body, said = CHECKED[name]
    assert said in [text for _, text in raised(f"def f(x, y, m, q):\n {body}").checks]


OUTSIDE = {
    "the one after": ("def f(x, y):\n for i in range(len(x)): y[i] = x[i + 1]", "beyond its last element (at 2) for i = 1, x.shape[0] = 2"),
    "a round too many": ("def f(x, y):\n for i in range(len(x) + 1): y[i] = x[i]", "beyond its last element (at 2) for i = 2, x.shape[0] = 2"),
    "the mirror off by one": ("def f(x, y):\n n = len(x)\n for i in range(n): y[i] = x[n - i]", "beyond its last element (at 2) for i = 0, x.shape[0] = 2"),
    "a window over both ends": ("def f(x, y):\n i = cuda.grid(1)\n if i < x.size:\n  a = 0.0\n  for j in range(i - 3, i + 4): a += x[j]\n  y[i] = a", "beyond its last element"),
    "from the end and further": ("def f(x, y):\n for i in range(len(x)): y[i] = x[-i - 2]", "before its first element, from the end as well (at -3)"),
    "a range from further on": ("def f(x, y):\n n = len(x)\n for k in range(-n - 1, 0): y[k] = x[k]", "from the end as well (at -3)"),
    "a carried value": ("def f(x, n):\n for i in range(n): x[i] = x[i - 1] + 1.0", "before its first element (at -1)"),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside(name):
    source, said = OUTSIDE[name]
    with pytest.raises(Refused) as refused:
        raised(source)
    (found,) = refused.value.diagnostics[:1]
    assert found.code == "KR204" and said in found.reason, found.reason


TILE = "from numba import cuda, float32\n@cuda.jit\ndef k(x, y, n):\n s = cuda.shared.array(8, float32)\n t = cuda.threadIdx.x\n i = cuda.grid(1)\n {}\n cuda.syncthreads()\n if i < n: y[i] = {}\n"
LOADED = "s[t] = x[i] if i < n else 0.0"


@pytest.mark.parametrize(("load", "use"), [(LOADED, "s[t - 1]"), ("s[t - 1] = x[i]", "s[t]"), (LOADED, "s[~t]")])
def test_a_tile_of_a_python_kernel(load, use):
    """The tile's cell from its end, not the one of the array before."""
    assert judge(TILE.format(load, use), "py", "x=f[16] y=f[16] n=13", [((2,), (8,))]) == "right"


def test_a_local_array_of_known_size():
    """Of C: the array has four elements, the loop five rounds."""
    source = "__global__ void f(float *y, int n) { float a[4]; for (int j = 0; j <= 4; j++) a[j] = j;\n y[0] = a[1]; }"
    (found,) = pipeline.translate(source, "f.cu").diagnostics
    assert found.code == "KR204" and "beyond its last element (at 4) for j = 4" in found.reason
    inside = source.replace("<= 4", "< 4")
    assert pipeline.translate(inside, "f.cu").diagnostics == ()


def test_what_a_block_computes_together_keeps_to_its_cells():
    """Eight threads of 64 add up what lies before their cell: the store stands under ``t < 8``."""
    each = "if (t < 8) { int s = 0; for (int k = 0; k < t; k++) s += h[k]; pre[t] = s; } __syncthreads();"
    source = (
        "__global__ void f(const int *x, int *y, int n) { int t = threadIdx.x, i = blockIdx.x * 64 + t;\n"
        "  __shared__ int h[8]; __shared__ int pre[8]; if (t < 8) h[t] = 0; __syncthreads();\n"
        "  if (i < n) atomicAdd(&h[x[i] & 7], 1); __syncthreads();\n"
        f"  {each}\n  if (i < n) y[i] = pre[x[i] & 7]; }}"
    )
    done = pipeline.translate(source, "f.cu")
    assert done.text is not None and "cumsum" in done.text, done.diagnostics
    beyond = pipeline.translate(source.replace("(t < 8) { int", "(t < 9) { int"), "f.cu")
    assert beyond.text is None


BELOW = {
    "a warp's lanes": "float s = 0; if (i < n) s = x[i] - x[i - 1]; SHUFFLES if (i % 32 == 0) atomicAdd(y, s);",
    "a row the wrong way": "if (c < m && i < n) y[i * m + c] = x[i * m - c];",
    "the cell before a row": "if (c < m && i < n) y[i * m + c] = x[i * m + c - 1];",
    "a sum over it": "if (i < n) { float s = 0; for (int j = 0; j < m; j++) s += x[i * m - j]; y[i] = s; }",
}
KEPT = {
    "a warp's lanes": "float s = 0; if (0 < i && i < n) s = x[i] - x[i - 1]; SHUFFLES if (i % 32 == 0) atomicAdd(y, s);",
    "a row the wrong way": "if (c < m && i < n) y[i * m + c] = x[(i + 1) * m - c];",
    "the cell before a row": "if (0 < c && c < m && i < n) y[i * m + c] = x[i * m + c - 1];",
    "a sum over it": "if (i < n) { float s = 0; for (int j = 0; j < m; j++) s += x[i * m + m - 1 - j]; y[i] = s; }",
    "a number that may be below zero": "if (c < m && i < n) y[i * m + c] = x[i * m + c - d];",
}
SHUFFLES = "for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffff, s, o);"


def _in_c(body: str) -> pipeline.Translation:
    head = "__global__ void f(const float *x, float *y, int n, int m, int d) {"
    threads = "int i = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y * blockDim.y + threadIdx.y;"
    return pipeline.translate(f"{head} {threads} {body.replace('SHUFFLES', SHUFFLES)} }}", "f.cu")


@pytest.mark.parametrize("name", BELOW)
def test_below_zero_in_the_first_row_or_block(name):
    """What lies before ``x`` nobody knows, and a guard that lets such threads through is none."""
    done = _in_c(BELOW[name])
    (found,) = done.diagnostics
    assert found.code == "KR204" and "reads `x` before its first element (at -1)" in found.reason, found.reason


@pytest.mark.parametrize("name", KEPT)
def test_guards_that_keep_to_the_first_row_or_block(name):
    shapes, sizes = {"x": (48,), "y": (40,)}, {"n": 5, "m": 8, "d": 0}
    agrees(_in_c(KEPT[name]), pipeline.Request(shapes=shapes, values=sizes, grid=(1, 4), block=(32, 2)), name)
