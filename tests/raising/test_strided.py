"""Steps that are parameters: cells apart where the step is at least one; grids whose rows make one line of threads."""

from __future__ import annotations

import numpy as np
import pytest

from kraise import pipeline
from tests.checks import verified

KERNEL = """
__global__ void f(int n, int s, int t, float *x) {{
  int i = {index};
  if (i < n) {{ {body} }}
}}"""
LINE = "(blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x"


def _translated(body: str, index: str = "blockIdx.x * blockDim.x + threadIdx.x") -> pipeline.Translation:
    return pipeline.translate(KERNEL.format(index=index, body=body), "k.cu")


@pytest.mark.parametrize("body", ["x[i * s] += 1;", "x[t + i * s] = x[t + i * s] * i;", "x[i * s] = 1; x[i * s] += i;"])
def test_a_step_is_at_least_one(body):
    done = _translated(body)
    assert done.text is not None and "cells would overlap: s >= 1 must hold" in done.text


@pytest.mark.parametrize(
    "body", ["x[i * s + 1] = x[i * s];", "x[i * s] = x[i * t];", "x[i * s + t] = x[i * s];", "x[s * t] = i;"]
)
def test_steps_that_may_meet_are_refused(body):
    done = _translated(body)
    assert done.text is None and done.diagnostics[0].code in ("KR201", "KR202")


def test_rows_of_blocks_make_one_line():
    done = _translated("x[i] = 2 * x[i];", LINE)
    assert done.text is not None and "x.at[:n].multiply(2.0)" in done.text and "grid" not in done.text


@pytest.mark.parametrize("index", [LINE.replace("gridDim", "blockDim"), LINE.replace("gridDim.x", "s")])
def test_rows_of_another_length_are_no_line(index):
    assert _translated("x[i] = 2 * x[i];", index).text is None


def test_a_row_that_is_used_stays_an_index():
    done = _translated("x[i] = blockIdx.y;", LINE)
    assert done.text is None or "grid" in done.text


SQUARE = """
__global__ void f(int n, int p, float *x) {{
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if ({guard}) {body}
}}"""
BELOW = "i > p && j > p && i < n && j < n"


@pytest.mark.parametrize("width, demands", [("n", ["p < 0"]), ("16", ["p < 0", "n > 16"])])
def test_a_pivot_is_no_cell_that_is_updated(width, demands):
    body = "x[i * W + j] -= x[i * W + p] * x[p * W + j];".replace("W", width)
    done = pipeline.translate(SQUARE.format(guard=BELOW, body=body), "k.cu")
    assert done.text is not None and all(f"if {d}:" in done.text for d in demands)


@pytest.mark.parametrize(
    "guard, body",
    [
        ("i > p && i < n && j < n", "x[i * n + j] -= x[i * n + p] * x[p * n + j];"),  # the multipliers, too
        ("i >= p && j > p && i < n && j < n", "x[i * n + j] -= x[i * n + p] * x[p * n + j];"),  # the pivot's row
        (BELOW, "x[i * n + j] -= x[i * n + p + 1] * x[p * n + j];"),
    ],
)
def test_a_pivot_among_the_updated_cells_is_refused(guard, body):
    assert pipeline.translate(SQUARE.format(guard=guard, body=body), "k.cu").text is None


def test_a_row_is_apart_from_the_row_before_it():
    done = _translated("x[t * 16 + i] -= x[(t - 1) * 16 + i];")
    assert done.text is not None and "if n > 16:" in done.text


@pytest.mark.parametrize("body", ["x[i] = x[i + 1];", "x[i] = x[i + s];", "x[t * 16 + i] -= x[(t - 1) * 16 + i + 1];"])
def test_cells_less_than_a_row_further_on_are_refused(body):
    done = _translated(body)
    assert done.text is None and done.diagnostics[0].code == "KR201"


ENDS = """
__global__ void f(int n, int rows, float *x, float *y) {{
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {{ float *d = x + r * (n + 1); for (int j = 1; j <= n; j++) d[j] += d[0]; {body} }}
}}"""


@pytest.mark.parametrize("body", ["y[r] = d[n];", "d[0] = 1;", "y[r] = d[n - 1]; d[n] = d[0];"])
def test_the_ends_of_rows_of_one_more_are_cells_of_these(body):
    done = pipeline.translate(ENDS.format(body=body), "k.cu")
    assert done.text is not None and "reshape(rows, n + 1)" in done.text and "n >= " in done.text


@pytest.mark.parametrize("body", ["d[0] += d[n + 1];", "y[r] = d[-1];", "d[n + 1] = 1;"])
def test_a_cell_beyond_the_ends_is_one_of_another_row(body):
    done = pipeline.translate(ENDS.format(body=body), "k.cu")
    assert done.text is None and done.diagnostics[0].code in ("KR201", "KR202")


def test_sums_in_a_loop_stay_as_wide_as_what_it_carries():
    source = """__global__ void f(const int *m, int *c, const double *x, double *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = 3; double s = x[i];
  for (int r = 0; r < 3; r++) {
    for (int j = 0; j < k; j++) if (x[j] > 0.0) a += m[j];
    s = sin(s) + a;
    if (a > 2 * r) break;
  }
  c[i] = a; y[i] = s;
}"""
    done = pipeline.translate(source, "k.cu")
    reports, findings = verified(done, pipeline.Request(), "k.cu", source)
    assert reports and all(r.ok for r in reports) and not findings


DIAGONAL = """
__global__ void f(int n, int d, int p, const int *x, int *y) {{
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int i = t + 1, j = d - t;
  if ({guard}) y[i * n + j] = {value};
}}"""
WITHIN = "i < n && j >= 1 && j < n"
BEFORE = "max(y[(i - 1) * n + j - 1] + x[i * n + j], max(y[i * n + j - 1], y[(i - 1) * n + j]) - p)"


def test_the_diagonal_before_is_not_stored_to():
    source = DIAGONAL.format(guard=WITHIN, value=BEFORE)
    done = pipeline.translate(source, "k.cu")
    for d in (1, 4, 8):
        request = pipeline.Request(shapes={"x": (36,), "y": (36,)}, values={"n": 6, "d": d, "p": 2})
        reports, findings = verified(done, request, "k.cu", source)
        assert reports and all(r.ok for r in reports) and not findings
    assert done.text is not None and "loop" not in done.text


@pytest.mark.parametrize(
    "guard, value",
    [
        ("i < n && j >= 1", BEFORE),  # cells beyond the row's end are those of the next
        (WITHIN.replace("j >= 1", "j >= 0"), BEFORE),
        (WITHIN, "y[(i - 1) * n + j + 1] + 1"),  # the same diagonal
        (WITHIN, "y[i * n + j + n - 1] + 1"),
    ],
)
def test_cells_of_the_same_diagonal_are_refused(guard, value):
    done = pipeline.translate(DIAGONAL.format(guard=guard, value=value), "k.cu")
    assert done.text is None and done.diagnostics[0].code in ("KR201", "KR202")


CAUSAL = """
__global__ void f(const float *x, float *y, int n) {
    extern __shared__ float s[];
    __shared__ float red[64];
    int row = blockIdx.x, t = threadIdx.x;
    float m = -INFINITY;
    for (int j = t; j <= row; j += blockDim.x) { s[j] = x[row * n + j]; m = fmaxf(m, s[j]); }
    red[t] = m;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h >>= 1) { if (t < h) red[t] = fmaxf(red[t], red[t + h]); __syncthreads(); }
    float sum = 0.f;
    for (int j = 0; j <= row; j++) sum += expf(s[j] - red[0]);
    if (t == 0) y[row] = sum;
}"""


def test_rows_that_end_where_the_block_says():
    text = pipeline.translate(CAUSAL, "k.cu").text
    assert "tri" in text and "loop" not in text
    found: dict = {}
    exec(text, found)
    x = np.random.default_rng(1).normal(size=(5, 5)).astype(np.float32)
    wanted = [np.exp(r[: i + 1] - r[: i + 1].max()).sum() for i, r in enumerate(x)]
    np.testing.assert_allclose(found["f"](x.ravel(), np.zeros(5, np.float32), 5, grid=5, block=4), wanted, rtol=1e-6)


@pytest.mark.parametrize("old", ["__syncthreads();\n    for (int h", "__syncthreads(); }"])
def test_such_rows_without_a_barrier_are_refused(old):
    done = pipeline.translate(CAUSAL.replace(old, old.replace("__syncthreads();", "")), "k.cu")
    assert CAUSAL.count(old) == 1 and {d.code for d in done.diagnostics} == {"KR201"}
