"""A search that has found what it looks for stays where it is: its exit needs no flag."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified

SEARCH = """from numba import cuda
@cuda.jit
def f(row, col, key, y, z):
    i = cuda.grid(1)
    if i < y.size:
        lo = row[i]
        hi = row[i + 1] - 1
        found = -1
        n = 0
        while lo <= hi:
            mid = (lo + hi) // 2
{body}
        y[i] = found
        z[i] = n
"""
HIT_FIRST = """if col[mid] == key[i]:
    found = {value}{more}
    break
if col[mid] < key[i]:
    lo = mid + 1
else:
    hi = mid - 1"""
HIT_LAST = """if col[mid] < key[i]:
    lo = mid + 1
elif col[mid] > key[i]:
    hi = mid - 1
else:
    found = {value}{more}
    break"""


def module(body: str) -> str:
    lines = "\n".join(" " * 12 + line for line in body.splitlines())
    done = pipeline.translate(SEARCH.format(body=lines), "case.py")
    assert done.text is not None, done.diagnostics
    return done.text


def compare(body: str, text: str, kind: type = np.int32) -> None:
    """The module beside the loop itself, row by row; keys that are and are not there, empty rows, equal entries."""
    rng = np.random.default_rng(3)
    row = np.array([0, 0, 7, 8, 8, 31, 33, 60], np.int32)
    col = np.concatenate([np.sort(rng.integers(0, 20, b - a)) for a, b in zip(row[:-1], row[1:], strict=True)])
    col = col.astype(kind)
    source = SEARCH.format(body="\n".join(" " * 12 + line for line in body.splitlines()))
    lines = source.replace("@cuda.jit\n", "").replace("from numba import cuda\n", "").replace("cuda.grid(1)", "i")
    scope: dict = {}
    exec(lines.replace("y, z):", "y, z, i):").replace("    i = i\n", ""), scope)
    f = load_module(text).f
    for _ in range(20):
        key = rng.integers(0, 20, 7).astype(kind)
        y, z = np.zeros(7, np.int32), np.zeros(7, np.int32)
        for i in range(7):
            scope["f"](row, col, key, y, z, i)
        got = f(row, col, key, np.zeros(7, np.int32), np.zeros(7, np.int32))
        np.testing.assert_array_equal(got[0], y)
        np.testing.assert_array_equal(got[1], z)


@pytest.mark.parametrize("kind", [np.int32, np.float32])
@pytest.mark.parametrize("value", ["1", "mid", "hi - mid"])
@pytest.mark.parametrize("form", [HIT_FIRST, HIT_LAST])
def test_no_flag(form, value, kind):
    body = form.format(value=value, more="")
    text = module(body)
    assert "stopped" not in text and "lo, hi = state" in text
    compare(body, text, kind)


@pytest.mark.parametrize(
    "body",
    [
        HIT_FIRST.format(value="mid", more="\n    lo = hi"),  # the round that leaves moves an end
        HIT_FIRST.format(value="mid", more="\n    n += 1"),  # ... and counts
        "n += 1\n" + HIT_FIRST.format(value="mid", more=""),  # each round counts
        HIT_FIRST.format(value="found + mid", more=""),  # what it sets comes from what it was
        HIT_FIRST.format(value="col[mid] * 2", more=""),  # a load behind the loop would need a mask
        "if n > 2:\n    found = mid\n    break\n"
        + "n += 1\n"
        + HIT_FIRST.format(value="mid", more="").split("\n", 3)[3],
    ],
)
def test_flags_that_stay(body):
    text = module(body)
    assert "stopped" in text
    compare(body, text)


ROOTS = """
__global__ void last(const float *x, float *y, int *rounds, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = x[i] + 1.0f, d;
    int it = 0;
    do {
        d = (r * r - x[i]) / (2.0f * r);
        r -= d;
    } while (fabsf(d) > 1e-3f && ++it < 4);
    y[i] = r;
    rounds[i] = it;
}
__global__ void first(const float *x, float *y, int *rounds, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = x[i] + 1.0f, d = 1.0f;
    int it = 0;
    while (fabsf(d) > 1e-3f && it++ < 4) {
        d = (r * r - x[i]) / (2.0f * r);
        if (d < -5.0f) continue;
        r -= d;
    }
    y[i] = r;
    rounds[i] = it;
}
__global__ void three(const float *x, float *y, int *rounds, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = x[i];
    int it = 0;
    while ((r > 0.5f && ++it < 6) && it != 3) r *= 0.5f;
    y[i] = r;
    rounds[i] = it;
}
"""


def test_what_the_right_side_of_a_test_counts_bounds_the_rounds():
    done = pipeline.translate(ROOTS, "k.cu")
    assert done.text and "while_loop" not in done.text and done.raised == ("last", "first", "three")
    values = {"x": [0.3, 2.0, 40.0, 0.0, 9.0, 700.0], "n": 6}
    reports, problems = verified(done, pipeline.Request(shapes={"x": (6,)}, values=values))
    assert not problems and not [r.failures for r in reports if r.failures]
