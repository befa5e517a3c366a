"""Cells that move with a loop: ``if y[i - 1] > y[i]: y[i] = y[i - 1]`` stores an extremum in every round."""

import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

SOURCE = """
def rising(y):
    for i in range(1, len(y)):
        if y[i - 1] > y[i]:
            y[i] = y[i - 1]


def falling_backwards(y):
    for i in range(len(y) - 2, -1, -1):
        if not y[i] <= y[i + 1]:
            y[i] = y[i + 1]


def added(y):
    for i in range(1, len(y)):
        if y[i - 1] + 0.25 >= y[i]:
            y[i] = y[i - 1] + 0.25


def after_sums(y):
    for i in range(1, len(y)):
        y[i] += y[i - 1]
    for i in range(len(y) - 2, -1, -1):
        if y[i + 1] > y[i]:
            y[i] = y[i + 1]


def of_some(y):
    for i in range(1, len(y)):
        if y[i - 1] > y[i] and i % 3 != 2:
            y[i] = y[i - 1]


def of_two(y):
    for i in range(2, len(y)):
        if y[i - 2] > y[i]:
            y[i] = y[i - 2]
        if y[i - 1] > y[i]:
            y[i] = y[i - 1]


def one_that_stays(y):
    for i in range(2, len(y) - 1):
        y[i] = y[i - 1]
        y[i + 1] = y[i + 1]


def of_rows(a):
    for r in range(a.shape[0]):
        for i in range(1, a.shape[1]):
            if a[r, i - 1] < a[r, i]:
                a[r, i] = a[r, i - 1]
"""
NAMES = ("rising", "falling_backwards", "added", "after_sums", "of_some", "of_two", "one_that_stays", "of_rows")
DONE = pipeline.translate(SOURCE, "cells.py")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 9])
def test_values(name, n):
    assert name in DONE.raised
    own: dict = {}
    exec(SOURCE, own)
    draw = np.random.default_rng(n)
    y = draw.normal(size=(3, n) if name == "of_rows" else n).astype(np.float32)
    expected = y.copy()
    own[name](expected)
    np.testing.assert_allclose(getattr(load_module(DONE.text), name)(y), expected, rtol=1e-6)


def test_text():
    assert "cummax" in DONE.text.partition("def rising")[2].partition("def ")[0]
    assert "cummin" in DONE.text.partition("def falling_backwards")[2].partition("def ")[0]


RING = """__global__ void f(const int *x, int *y, int rows, int n, int k) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int q[16] = {0};
  int head = 0, len = 0;
  for (int i = 0; i < n; i++) {
    q[(head + len) % 16] = x[r * n + i];
    len++;
    if (len > k) { head++; len--; }
    y[r * n + i] = q[head % 16];
  }
}"""


def test_a_ring_whose_ends_all_threads_carry_alike_is_kept():
    """Where the loop carries the places, the stores of other rounds fill other cells."""
    done = pipeline.translate(RING, "k.cu")
    for n in (1, 9):
        request = pipeline.Request(shapes={"x": (2 * n,), "y": (2 * n,)}, values={"rows": 2, "n": n, "k": 3})
        agrees(done, request)


LCS = """__global__ void lcs(const int *s, const int *t, int *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { int L[4][4];
    for (int a = 0; a <= 3; a++) for (int b = 0; b <= 3; b++)
      L[a][b] = a == 0 || b == 0 ? 0 : s[i * 3 + a - 1] == t[b - 1] ? L[a - 1][b - 1] + 1 : max(L[a - 1][b], L[a][b - 1]);
    y[i] = L[3][3]; }
}"""  # noqa: E501


@pytest.mark.parametrize("guard, raises", [("a == 0 || b == 0", True), ("b < 1 || a < 1", True), ("a == 0", False)])
def test_the_cell_before_the_first_is_guarded(guard, raises):
    done = pipeline.translate(LCS.replace("a == 0 || b == 0", guard), "f.cu")
    assert (done.text is not None) is raises
    if raises:
        f = load_module(done.text).lcs
        s, t = np.random.default_rng(1).integers(0, 2, (5, 3)), [0, 1, 1]
        wanted = []
        for row in s:
            L = np.zeros((4, 4), int)
            for a in range(1, 4):
                for b in range(1, 4):
                    L[a, b] = L[a - 1, b - 1] + 1 if row[a - 1] == t[b - 1] else max(L[a - 1, b], L[a, b - 1])
            wanted.append(L[3, 3])
        assert f(jnp.array(s.ravel()), jnp.array(t), jnp.zeros(5, jnp.int32), 5).tolist() == wanted
    else:
        assert done.diagnostics[0].code == "KR204"
