"""Maxima that cancel in a softmax have no derivative; others keep theirs."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = """
import math

def k(x, y, n, m):
    for i in range(n):
        top = x[i, 0]
        for j in range(1, m):
            top = max(top, x[i, j])
        s = 0.0
        for j in range(m):
            s += math.exp(x[i, j] - top)
"""
CANCELS = {
    "softmax": "for j in range(m):\n            y[i, j] = math.exp(x[i, j] - top) / s",
    "by the inverse": "q = 1.0 / s\n        for j in range(m):\n            y[i, j] = math.exp(x[i, j] - top) * q",
    "weighted": "t = 0.0\n        for j in range(m):\n            t += math.exp(x[i, j] - top) * x[i, j]\n"
    "        y[i, 0] = t / s",
    "with a factor that counts": "for j in range(m):\n            y[i, j] = math.exp(x[i, j] - top) / s * top",
    "log of the sum": "y[i, 0] = top + math.log(s)",
    "log of a softmax": "for j in range(m):\n            y[i, j] = x[i, j] - top - math.log(s)",
}
STAYS = {
    "the sum alone": "y[i, 0] = s",
    "squared": "for j in range(m):\n            y[i, j] = math.exp(x[i, j] - top) / (s * s)",
    "the log alone": "y[i, 0] = math.log(s)",
    "both": "y[i, 1] = s\n        for j in range(m):\n            y[i, 0] = math.exp(x[i, 0] - top) / s",
}


@pytest.mark.parametrize("name", [*CANCELS, *STAYS])
def test_a_shift_is_stopped_where_it_cancels(name):
    body = CANCELS.get(name) or STAYS[name]
    done = pipeline.translate(HEAD + "        " + body + "\n", "k.py")
    assert done.text and not done.diagnostics, done.diagnostics
    assert ("stop_gradient" in done.text) == (name in CANCELS), done.text
    request = pipeline.Request(shapes={"x": (4, 3), "y": (4, 3)}, values={"n": 4, "m": 3})
    agrees(done, request)


ROWS = """
import math

def k(ptr, x, y, n):
    for i in range(n):
        top = -math.inf
        for e in range(ptr[i], ptr[i + 1]):
            top = max(top, x[e])
        s = 0.0
        for e in range(ptr[i], ptr[i + 1]):
            s += math.exp(x[e] - top)
        for e in range(ptr[i], ptr[i + 1]):
            y[e] = {}
"""


@pytest.mark.parametrize(
    ("value", "cancels"),
    [
        ("math.exp(x[e] - top) / s", True),
        ("math.exp(x[e] - top)", False),
        ("math.exp(x[e] - top) / (s * s)", False),
        ("math.exp(x[e] - top) / s + top", False),
    ],
)
def test_a_shift_of_ragged_rows(value, cancels):
    done = pipeline.translate(ROWS.format(value), "k.py")
    assert done.text and not done.diagnostics, done.diagnostics
    assert ("stop_gradient" in done.text) == cancels, done.text
    request = pipeline.Request(shapes={"x": (5,), "y": (5,)}, values={"n": 3, "ptr": [0, 2, 2, 5]})
    agrees(done, request)


STORED = """
__global__ void k(const float *x, float *y, float *z, int C) {
    extern __shared__ float s[];
    int r = blockIdx.x, t = threadIdx.x;
    float m = -INFINITY;
    for (int c = t; c < C; c += blockDim.x) m = fmaxf(m, x[r * C + c]);
    s[t] = m;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w /= 2) { if (t < w) s[t] = fmaxf(s[t], s[t + w]); __syncthreads(); }
    m = s[0];
    __syncthreads();
    for (int c = t; c < C; c += blockDim.x) y[r * C + c] = expf(x[r * C + c] - m);
    float total = 0.0f;
    for (int c = t; c < C; c += blockDim.x) total += y[r * C + c];
    s[t] = total;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w /= 2) { if (t < w) s[t] += s[t + w]; __syncthreads(); }
    total = s[0];
    END
}
"""
AFTER = {  # what becomes of the exponentials that were stored, and whether their shift cancels
    "a softmax": ("for (int c = t; c < C; c += blockDim.x) y[r * C + c] /= total;", True),
    "its square": ("for (int c = t; c < C; c += blockDim.x) y[r * C + c] /= total * total;", False),
    "they stay": ("for (int c = t; c < C; c += blockDim.x) z[r * C + c] = y[r * C + c] / total;", False),
    "one stays": ("for (int c = t; c < C - 1; c += blockDim.x) y[r * C + c] /= total;", False),
}


@pytest.mark.parametrize("name", AFTER)
def test_a_shift_of_exponentials_that_are_stored(name):
    end, cancels = AFTER[name]
    done = pipeline.translate(STORED.replace("END", end), "k.cu")
    assert done.text is not None and ("stop_gradient" in done.text) == cancels, (done.diagnostics, done.text)
    case = {"shapes": {"x": (6,), "y": (6,), "z": (6,)}, "values": {"C": 3}, "grid": (2,), "block": (2,)}
    agrees(done, pipeline.Request(**case))
