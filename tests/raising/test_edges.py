"""Halos: what threads at the edge of a block load continues what its other threads load."""

from functools import cache

import numpy as np
import pytest

from kraise import pipeline
from tests.checks import agrees

KERNEL = """
__global__ void f(const float *x, float *y, int n) {{
  __shared__ float s[34];
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  s[t + 1] = i < n ? x[i] : {outside};
  if (t == 0) s[0] = {first};
  if (t == 31) s[33] = {last};
  __syncthreads();
  if (i < n) y[i] = s[t] + 10 * s[t + 1] + 100 * s[t + 2];
}}
"""
FIRST, LAST = "i > 0 ? x[i - 1] : 0.0f", "i + 1 < n ? x[i + 1] : 0.0f"


@cache
def translated(first, last, outside):
    return pipeline.translate(KERNEL.format(first=first, last=last, outside=outside), "f.cu")


def run(first=FIRST, last=LAST, outside="0.0f", n=75):
    done = translated(first, last, outside)
    assert done.text is not None, [d.reason for d in done.diagnostics]
    scope = {}
    exec(done.text, scope)
    x = np.arange(80, dtype=np.float32) + 1
    return done.text, x, np.asarray(scope["f"](x, np.zeros(80, np.float32), n))[:n]


def wanted(x, n, first, last, outside=0.0):
    """What the threads compute, block by block; ``first`` and ``last`` give the cells at the edges."""
    y = np.zeros(n, np.float32)
    for b in range(0, n, 32):
        s = np.array([first(b), *(x[i] if i < n else outside for i in range(b, b + 32)), last(b + 31)])
        both = s[:-2] + 10 * s[1:-1] + 100 * s[2:]
        y[b : b + 32] = both[: len(y[b : b + 32])]
    return y


@pytest.mark.parametrize("n", [1, 31, 32, 33, 75])
def test_guards_of_the_edges_are_guards_of_the_padded_array(n):
    text, x, got = run(n=n)
    assert "jnp.pad" in text and "where" not in text
    same = wanted(x, n, lambda i: x[i - 1] if i else 0, lambda i: x[i + 1] if i + 1 < n else 0)
    assert np.array_equal(got, same)


@pytest.mark.parametrize(
    ("more", "first", "last"),
    [
        ({"first": "i > 0 ? x[i] : 0.0f"}, lambda x, n, i: x[i] if i else 0, None),  # the edge has another cell
        ({"first": "i > 32 ? x[i - 1] : 0.0f"}, lambda x, n, i: x[i - 1] if i > 32 else 0, None),
        ({"first": "i > 0 ? x[i - 1] : 7.0f"}, lambda x, n, i: x[i - 1] if i else 7, None),
        ({"last": "i + 1 < n ? x[i + 1] : 7.0f"}, None, lambda x, n, i: x[i + 1] if i + 1 < n else 7),
        ({"last": "i + 2 < n ? x[i + 1] : 0.0f"}, None, lambda x, n, i: x[i + 1] if i + 2 < n else 0),
    ],
)
@pytest.mark.parametrize("n", [32, 33, 34, 64, 75])
def test_other_edges_stay_what_they_are(more, first, last, n):
    _, x, got = run(**more, n=n)
    same = wanted(
        x,
        n,
        lambda i: first(x, n, i) if first else x[i - 1] if i else 0,
        lambda i: last(x, n, i) if last else x[i + 1] if i + 1 < n else 0,
    )
    assert np.array_equal(got, same)


@pytest.mark.parametrize("n", [31, 32, 33, 75])
def test_another_value_outside(n):
    _, x, got = run(outside="7.0f", n=n)
    same = wanted(x, n, lambda i: x[i - 1] if i else 0, lambda i: x[i + 1] if i + 1 < n else 0, 7.0)
    assert np.array_equal(got, same)


FIRST_ALONE = KERNEL.replace("if (t == 31) s[33] = {last};", "").replace(
    "if (t == 0) s[0] = {first};",
    "if (t < 1) {{ s[t] = i > 0 ? x[i - 1] : 0; s[t + 33] = i + 32 < n ? x[i + 32] : 0; }}",
)


@pytest.mark.parametrize("n", [1, 2, 33, 75])
def test_the_first_thread_loads_both_ends(n):
    """Where its block begins, nothing says: its load from the place before is none of any place."""
    done = pipeline.translate(FIRST_ALONE.format(outside="0.0f"), "f.cu")
    scope = {}
    exec(done.text, scope)
    x = np.arange(n, dtype=np.float32) + 1  # no element more than the source reads
    same = wanted(x, n, lambda i: x[i - 1] if i else 0, lambda i: x[i + 1] if i + 1 < n else 0)
    assert np.array_equal(scope["f"](x, np.zeros(n, np.float32), n), same)


STAGED = """
__global__ void f(const float *x, float *y, int n) {{
  __shared__ float s[32 + 6];
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  s[t + 3] = i < n ? x[i] : 0;
  if (t < 3) {{
    s[t] = i - 3 >= 0 ? x[{before}] : 0;
    s[t + 35] = i + 32 < n ? x[i + 32] : {beyond};
  }}
  __syncthreads();
  float r = 0;
  for (int o = -3; o <= 3; o++) r += (o + 4) * s[t + 3 + o];
  if (i < n) y[i] = r;
}}
"""


@pytest.mark.parametrize(
    ("before", "beyond", "one"), [("i - 3", "0", True), ("i - 2", "0", False), ("i - 3", "1", False)]
)
@pytest.mark.long_cases("i - 2")
def test_threads_that_do_not_store_may_have_filled_the_halo(before, beyond, one):
    done = pipeline.translate(STAGED.format(before=before, beyond=beyond), "f.cu")
    assert done.text and ("where" not in done.text) == one, done.text
    for n in (3, 32, 45):
        request = pipeline.Request(shapes={"x": (n + 40,), "y": (n,)}, values={"n": n}, grid=2, block=32)
        agrees(done, request)


def test_a_rim_lies_in_the_rows_before_and_behind():
    """The inner cells are rows of the array; what the rim continues leaves them."""
    stores = "s[t + 2] = x[i]; if (t < 2) { s[t] = i >= 2 ? x[i - 2] : 0.0f; s[t + 6] = i + 4 < n ? x[i + 4] : 0.0f; }"
    head = "__global__ void f(const float *x, float *y, int n) { __shared__ float s[8]; int t = threadIdx.x;"
    ends = "__syncthreads(); y[i] = s[t + 1] * s[t + 1] + 2.0f * s[t + 2] + s[t + 3]; }"
    done = pipeline.translate(f"{head} int i = blockIdx.x * 4 + t; {stores} {ends}", "f.cu")
    agrees(done, pipeline.Request(shapes={"x": (8,), "y": (8,)}, values={"n": 7}, grid=(2,), block=(4,)))
