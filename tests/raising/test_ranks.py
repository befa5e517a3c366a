"""Stores at ranks: of two elements one is before the other, whatever the spelling, if ties are told apart."""

import numpy as np
import pytest

from kraise import pipeline
from tests.raising.agree import agree, refusal

KERNEL = """
def f(x, y, n):
    i = cuda.grid(1)
    if i < n:
        rank = 0
        for j in range(n):
            {}
        y[rank] = x[i]
"""
TOTAL = {
    "ties by place": "rank += 1 if x[j] < x[i] or (x[j] == x[i] and j < i) else 0",
    "the greatest first": "if x[i] < x[j] or (x[j] == x[i] and i < j):\n                rank += 1",
    "by two halves": "if (j < i and x[j] <= x[i]) or (j > i and x[j] < x[i]):\n                rank += 1",
    "what is not before": "rank += 0 if x[j] > x[i] or (x[j] == x[i] and j >= i) else 1",
}
OTHER = {
    "ties at one rank": "if x[j] < x[i]:\n                rank += 1",
    "its own too, ties at one rank": "if x[j] <= x[i]:\n                rank += 1",
    "ties both ways": "if x[j] < x[i] or (x[j] == x[i] and j != i):\n                rank += 1",
    "the place first": "if j < i or (j == i and x[j] < x[i]):\n                rank += 1",
    "a place further": "if x[j] < x[i] or (x[j] == x[i] and j < i + 1):\n                rank += 2",
    "two keys": "if x[j] < x[i] or (y[j] == y[i] and j < i):\n                rank += 1",
    "no order": "if x[j] < x[i] or (x[j] > x[i] and j < i):\n                rank += 1",
}


@pytest.mark.parametrize("name", TOTAL)
def test_ranks(name):
    kernel = agree(KERNEL.format(TOTAL[name]))
    assert "x must hold no NaN" in kernel.assumptions


@pytest.mark.parametrize("name", OTHER)
def test_no_ranks(name):
    assert refusal(KERNEL.format(OTHER[name])) in ("KR201", "KR202")


def test_an_element_that_is_not_counted():
    counted = KERNEL.format(TOTAL["ties by place"])
    assert refusal(counted.replace("range(n)", "range(n - 1)")) == "KR202"
    assert refusal(counted.replace("range(n)", "range(1, n)")) == "KR202"


SORTED = """
__global__ void sorted_by(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, rank = 0;
    if (i >= n) return;
    for (int j = 0; j < n; j++) rank += x[j] < x[i] || (x[j] == x[i] && j < i);
    y[rank] = x[i];
}"""


def test_integers_have_an_order():
    done = pipeline.translate(SORTED, "k.cu")
    assert not done.diagnostics and "NaN" not in done.text
    found: dict = {}
    exec(done.text, found)
    x = np.random.default_rng(3).integers(0, 4, 17).astype(np.int32)
    np.testing.assert_array_equal(found["sorted_by"](x, np.zeros(17, np.int32), 17), np.sort(x))
