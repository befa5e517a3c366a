"""A thread's own row of a flat array, walked by numbers that a loop carries or chooses."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = """
__global__ void kernel(float *a, int n, int m) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  {}
}}
"""
INSERT = """
for (int k = 1; k < m; k++) {
  float v = AT(k);
  int j = k - 1;
  while (j >= 0 && AT(j) > v) { AT(j + 1) = AT(j); j--; }
  AT(j + 1) = v;
}"""
SELECT = """
for (int k = 0; k < m - 1; k++) {
  int best = k;
  for (int j = k + 1; j < m; j++) if (AT(j) < AT(best)) best = j;
  float t = AT(k); AT(k) = AT(best); AT(best) = t;
}"""
KEEP = """
int s = 0;
for (int k = 0; k < m; k++) if (AT(k) > 0.0f) { AT(s) = AT(k); s++; }
for (int k = s; k < m; k++) AT(k) = 0.0f;"""
ROW, COLUMN = "a[i * m + ({})]", "a[({}) * n + i]"


def translated(body, at):
    text = body
    while (start := text.find("AT(")) >= 0:
        stop = text.index(")", start)
        text = text[:start] + at.format(text[start + 3 : stop]) + text[stop + 1 :]
    return pipeline.translate(HEAD.format(text), "own.cu")


@pytest.mark.parametrize("at", [ROW, COLUMN])
@pytest.mark.parametrize("body", [INSERT, SELECT, KEEP])
def test_a_row_is_worked_on_by_its_thread(body, at):
    done = translated(body, at)
    assert done.text, [d.reason for d in done.diagnostics]
    rows = np.random.default_rng(0).integers(-4, 5, (4, 6)).astype(np.float32)
    want = np.sort(rows, axis=1)
    if body is KEEP:
        want = np.array([np.append(r[r > 0], np.zeros((r <= 0).sum())) for r in rows])
    given = (rows if at is ROW else rows.T).ravel()
    got = np.asarray(load_module(done.text).kernel(given, 4, 6)).reshape(rows.shape if at is ROW else rows.T.shape)
    np.testing.assert_array_equal(got if at is ROW else got.T, want)


@pytest.mark.parametrize(
    "body",
    [
        INSERT.replace("j >= 0", "j >= -1"),  # one below the row
        INSERT.replace("j--", "j -= 2"),
        INSERT.replace("j--", "j = AT(j) > 2 ? j - 1 : k"),
        INSERT.replace("int j = k - 1", "int j = k"),  # one above it
        SELECT.replace("best = j;", "best = j + 1;"),
        KEEP.replace("s++", "s += 2"),
        KEEP.replace("int s = 0", "int s = (int)AT(0)"),
    ],
)
def test_a_row_that_may_be_left_is_no_row_of_its_own(body):
    done = translated(body, ROW)
    assert done.text is None and {d.code for d in done.diagnostics} & {"KR201", "KR202", "KR204"}


def test_a_list_in_a_row_that_was_filled_before():
    """The loop carries the rows of an array of integers, which takes numbers of other types."""
    source = """
__global__ void near(const float *x, int *out, int n, int most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int count = 0;
  for (int k = 0; k < most; k++) out[i * most + k] = -1;
  for (int j = 0; j < n; j++) if (x[j] < x[i]) { if (count < most) out[i * most + count] = j; count++; }
}
"""
    done = pipeline.translate(source, "near.cu")
    x = np.array([2, 0, 1, 3, 1], np.float32)
    got = load_module(done.text).near(x, np.zeros(10, np.int32), 5, 2).reshape(5, 2)
    np.testing.assert_array_equal(got, [[1, 2], [-1, -1], [1, -1], [0, 1], [1, -1]])
    near = pipeline.translate(source.replace("if (count < most) ", ""), "near.cu")
    assert near.text is None and {d.code for d in near.diagnostics} <= {"KR201", "KR202"}
