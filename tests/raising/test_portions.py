"""Sums over one portion of a range of what each portion has at the same place: one sum over the range."""

import pytest

from kraise import pipeline
from tests.checks import agrees

BLOCK = """__global__ void f(const float *x, const float *y, float *out, int n) {
  __shared__ float s[32];
  int t = threadIdx.x, i = blockIdx.x * %d + t;
  float acc = %s;
  %s
  s[t] = acc;
  __syncthreads();
  for (int d = 16; d > 0; d >>= 1) { if (t < d) s[t] = %s; __syncthreads(); }
  if (t == 0) out[blockIdx.x] = s[0];
}"""
SUM, TOP = "s[t] + s[t + d]", "fmaxf(s[t], s[t + d])"
ONE = {
    "two": (64, "x[i] + x[i + 32]", "", SUM, "x2.sum(axis=1)"),
    "four, some of them absent": (
        128,
        "0.0f",
        "if (i < n) acc += x[i]; if (i + 32 < n) acc += x[i + 32]; if (i + 64 < n) acc += x[i + 64];"
        "if (i + 96 < n) acc += x[i + 96];",
        SUM,
        "x2.sum(axis=1)",
    ),
    "products": (64, "x[i] * y[i] + x[i + 32] * y[i + 32]", "", SUM, "jnp.sum(x2 * y2, axis=1)"),
    "extrema": (64, "fmaxf(x[i], x[i + 32])", "", TOP, "x2.max(axis=1)"),
}
SEVERAL = {
    "other factors": (64, "x[i] + 2 * x[i + 32]", "", SUM),
    "portions that overlap": (64, "x[i] + x[i + 31] + 0 * x[i + 32]", "", SUM),
    "other arrays": (64, "x[i] + y[i + 32]", "", SUM),
    "one condition for both": (64, "0.0f", "if (i < n) acc = x[i] + x[i + 32];", SUM),
    "out of step": (128, "x[i] + x[i + 32] + x[i + 96]", "", SUM),
    "a largest of sums": (64, "x[i] + x[i + 32]", "", TOP),
}


def _text(parts, checked=True):
    done = pipeline.translate(BLOCK % parts, "f.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    if checked:
        cells = 2 * parts[0]
        request = pipeline.Request(
            shapes={"x": (cells,), "y": (cells,), "out": (2,)}, values={"n": cells - 40}, grid=(2,)
        )
        agrees(done, request)
    return done.text


@pytest.mark.parametrize("name", ONE)
def test_one_sum(name):
    *parts, expected = ONE[name]
    text = _text(tuple(parts))
    assert expected in text and f"{parts[0]})" in text, text


ACCUMULATORS = """__global__ void f(const float *a, const float *b, float *out, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float acc[4] = {0.0f};
  for (int k = 0; k + 3 < n; k += %d)
    for (int u = 0; u < 4; u++) acc[u] += a[r * n + k + u] * b[%s];
  out[r] = 2.0f + acc[0] + acc[1] + acc[2] + acc[3];
}"""


@pytest.mark.parametrize(("step", "factor", "one"), [(4, "k + u", True), (8, "k + u", False), (4, "k + 2 * u", False)])
def test_accumulators_of_a_loop_in_steps(step, factor, one):
    done = pipeline.translate(ACCUMULATORS % (step, factor), "f.cu")
    assert done.text and (done.text.count("@ b") == 1) == one, done.text
    for n in (2, 7) if one else (7,):
        request = pipeline.Request(shapes={"a": (3 * n,), "b": (n + 4,), "out": (3,)}, values={"rows": 3, "n": n})
        agrees(done, request)


@pytest.mark.parametrize("name", SEVERAL)
def test_several(name):
    """What is computed for these is as before: only the form is looked at."""
    text = _text(SEVERAL[name], checked=False)
    assert ", 32:" in text or "32)" in text, text


BY_BLOCK = """__global__ void f(const float *x, const float *y, float *out, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
  s[t] = %s;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
  if (t == 0) out[blockIdx.x] = s[0];
}"""
AS_LONG = {
    "two": ("x[i] + x[i + blockDim.x]", True),
    "some of them absent": ("(i < n ? x[i] : 0.0f) + (i + blockDim.x < n ? x[i + blockDim.x] : 0.0f)", True),
    "one place too far": ("x[i] + x[i + blockDim.x + 1]", False),
    "under the condition of the first": ("(i < n ? x[i] : 0.0f) + (i < n ? x[i + blockDim.x] : 0.0f)", False),
    "other factors": ("x[i] + 2.0f * x[i + blockDim.x]", False),
}


@pytest.mark.parametrize("name", AS_LONG)
def test_portions_as_long_as_a_block(name):
    body, one = AS_LONG[name]
    done = pipeline.translate(BY_BLOCK % body, "f.cu")
    assert done.text and ("x2.sum(axis=1)" in done.text) == one, done.text
    shapes = {"x": (33,), "y": (1,), "out": (2,)}
    request = pipeline.Request(shapes=shapes, values={"n": 21}, grid=(2,), block=(8,))
    agrees(done, request)
