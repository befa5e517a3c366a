"""Small arrays of a thread: scalars where every subscript is a number once short loops are written out, else arrays."""

import pytest

from kraise import pipeline
from tests.checks import agrees, verified

HEAD = """from numba import cuda, float32
@cuda.jit
def f(x, q, y, n):
    i = cuda.grid(1)
    if i < y.shape[0]:
        a = cuda.local.array({shape}, float32)
        for c in range(3):
            a[{cell}] = x[i, c]
        for s in range(n):
            {body}
        y[i] = a[{first}]
"""
ROW = {"shape": "3", "cell": "c", "first": "0"}
INDENT = "\n            "
SCALARS = {
    "numbers": {**ROW, "body": "a[0] += 0.5 * a[0] * a[2]"},
    "a short loop": {**ROW, "body": f"for c in range(2):{INDENT}    a[c] += 0.5 * a[c + 1]"},
    "a swap": {**ROW, "body": f"if a[1] < a[0]:{INDENT}    t = a[0]{INDENT}    a[0] = a[1]{INDENT}    a[1] = t"},
    "a counter": {
        **ROW,
        "body": f"k = 0{INDENT}for c in range(3):{INDENT}    a[k] = 0.5 * a[k] + a[0]{INDENT}    k += 1",
    },
    "rows": {"shape": "(2, 3)", "cell": "1, c", "first": "1, 0", "body": "a[1, 0] = 0.5 * a[1, 2] + a[1, 1]"},
    "a branch on the round": {
        **ROW,
        "body": f"for c in range(3):{INDENT}    if c > 0:{INDENT}        a[c] = 0.5 * a[c - 1] + a[0]",
    },
}
ARRAYS = {
    "a subscript that is data": {**ROW, "body": "a[q[i] % 3] += a[0]"},
    "a subscript that is a round's": {**ROW, "body": "a[s % 3] += a[(s + 1) % 3]"},
    "too many cells": {**ROW, "shape": "40", "body": "a[0] = 0.5 * a[0] * a[0] + a[1]"},
}


STATES = """__global__ void f(const float *u, const float *A, const float *B, float *y, int T, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  float h[6];
  for (int n = 0; n < 6; n++) h[n] = 0.1f * n;
  for (int t = 0; t < T; t++) {
    float s = 0.0f;
    for (int n = 0; n < 6; n++) {
      h[n] = expf(-u[t * C + c] * A[c * 6 + n]) * h[n] + B[t * 6 + n] * u[t * C + c];
      s += %s;
    }
    y[t * C + c] = s;
  }
}
"""


def text_of(parts: dict[str, str]) -> str:
    done = pipeline.translate(HEAD.format(**parts), "case.py")
    assert done.text is not None, done.diagnostics
    return done.text


@pytest.mark.parametrize("name", SCALARS)
def test_scalars(name):
    text = text_of(SCALARS[name])
    assert ".at[" not in text.replace("return y.at[", "")


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name):
    text = text_of(ARRAYS[name])
    assert "loop" in text and "a_0" not in text


def test_values():
    source = HEAD.format(**SCALARS["a short loop"])
    done = pipeline.translate(source, "case.py")
    reports, findings = verified(done, pipeline.Request(), "case.py", source)
    assert reports and all(r.ok for r in reports) and not findings


NETWORK = """__global__ void f(float *x, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v[4];
  for (int k = 0; k < 4; k++) v[k] = x[4 * i + k];
  {loop}
  for (int k = 0; k < 4; k++) x[4 * i + k] = v[k];
}}"""
EXCHANGE = (
    "for (int k = 0; k < 4; k++) { int p = k ^ d; "
    "if (p > k && v[k] > v[p]) { float t = v[k]; v[k] = v[p]; v[p] = t; } }"
)
DOUBLING = {
    "halving": f"for (int d = 2; d > 0; d >>= 1) {EXCHANGE}",
    "doubling": f"for (int d = 1; d < 4; d *= 2) {EXCHANGE}",
    "tested last": f"int d = 2; do {{ {EXCHANGE} d /= 2; }} while (d);",
    "nested": f"for (int s = 2; s <= 4; s <<= 1) for (int d = s >> 1; d > 0; d >>= 1) {EXCHANGE}",
}


@pytest.mark.parametrize("name", DOUBLING)
def test_rounds_of_powers_of_two(name):
    source = NETWORK.format(loop=DOUBLING[name])
    done = pipeline.translate(source, "case.cu")
    assert done.text is not None and "loop" not in done.text and "jnp.minimum" in done.text
    reports, findings = verified(done, pipeline.Request(), "case.cu", source)
    assert reports and all(r.ok for r in reports) and not findings


def test_rounds_that_data_ends_stay():
    source = NETWORK.format(loop=f"int d = 2; while (d > 0 && v[0] > 0.f) {{ {EXCHANGE} d >>= 1; }}")
    done = pipeline.translate(source, "case.cu")
    assert done.text is None or "loop" in done.text


HANDED = """from numba import cuda, float32
@cuda.jit(device=True)
def slope(a, k, c):
    k[0] = a[1]
    k[1] = c * (1 - a[0] * a[0]) * a[1] - a[0]
@cuda.jit(device=True)
def advance(a, c):
    k = cuda.local.array(2, float32)
    t = cuda.local.array(2, float32)
    slope(a, k, c)
    for d in range(2):
        t[d] = a[d] + 0.05 * k[d]
    slope(t, k, c)
    for d in range(2):
        a[{cell}] += 0.1 * k[d]
@cuda.jit(device=True)
def size(a):
    return a[0] * a[0] + a[1] * a[1]
@cuda.jit
def f(x, c, q, y, n):
    i = cuda.grid(1)
    if i < y.shape[0]:
        a = cuda.local.array(2, float32)
        a[0] = x[i, 0]
        a[1] = x[i, 1]
        most = 0.0
        for s in range(n):
            advance(a, c[i])
            most += size(a)
        y[i] = most
"""


@pytest.mark.parametrize(("cell", "scalars"), (("d", True), ("(d + n) % 2", False)))
def test_helpers_that_are_handed_arrays_of_a_thread(cell, scalars):
    """The helpers are read in their callers, so that what the rounds carry is scalars (of an integrator, say)."""
    source = HANDED.replace("{cell}", cell).replace(
        "advance(a, c)", "advance(a, c, n)" if not scalars else "advance(a, c)"
    )
    source = source.replace("advance(a, c[i])", "advance(a, c[i], n)" if not scalars else "advance(a, c[i])")
    done = pipeline.translate(source, "a.py")
    assert done.raised == ("f",), done.diagnostics
    assert ("a_0" in done.text) == scalars
    reports, findings = verified(done, pipeline.Request(), source=source)
    assert not findings and all(r.ok for r in reports), [r.failures for r in reports]


def test_an_axis():
    """A state whose cells all do the same is an axis; one of which a cell is looked at alone is scalars."""
    done = pipeline.translate(STATES % "h[n] * B[t * 6 + n]", "case.cu")
    assert "jnp.zeros((C, 6)" in done.text or "broadcast_to" in done.text, done.text
    assert "h_0" not in done.text
    agrees(done, pipeline.Request(), done.text)
    alone = pipeline.translate(STATES % "h[n] * h[0]", "case.cu")
    assert "h_0" in alone.text
    agrees(alone, pipeline.Request(), alone.text)
