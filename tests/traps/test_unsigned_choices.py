"""Unsigned choices of indices, sizes and numbers wrap round like any unsigned number: they are emitted signed."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

KERNEL = """
__global__ void f(const int *x, unsigned *o, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        %s
    }
}
"""
N, M = 6, 4
X = np.array([2, -1, 1, 0, 3, -2], np.int32)
AT = np.arange(N)
CHOSEN = np.where(X > 0, N, AT).astype(np.uint32)
MORE = np.where(X > 1, np.where(X > 0, AT, N), AT).astype(np.uint32)
CASES = {
    "unsigned v = x[i] > 0 ? n : i; o[i] = ~v >> 2;": ~CHOSEN >> 2,
    "o[i] = ~(x[i] > 0 ? n : i); o[i] = (o[i] << 3) >> 2;": (~CHOSEN << 3) >> 2,
    "unsigned v = x[i] > 0 ? n : i; o[i] = (v - 9) / 3;": (CHOSEN - np.uint32(9)) // 3,
    "unsigned v = x[i] > 0 ? n : i; o[i] = v - 100 > 5u;": CHOSEN - np.uint32(100) > 5,
    "o[i] = (x[i] > 0 ? 3u : 5u) - 10u >> 4;": (np.where(X > 0, 3, 5).astype(np.uint32) - np.uint32(10)) >> 4,
    "unsigned v = x[i] > 0 ? i : n, w = x[i] > 1 ? v : i; o[i] = ~w >> 1;": ~MORE >> 1,
    "unsigned v = x[i] > 0 ? i : 2654435761u; o[i] = (v - 3) * 5 % 11;": (
        (np.where(X > 0, AT, 2654435761).astype(np.uint32) - np.uint32(3)) * np.uint32(5) % 11
    ),
    "unsigned v = x[i] > 0 ? i * 3u : (unsigned)x[i]; o[i] = v / 3;": np.where(X > 0, AT * 3, X).astype(np.uint32) // 3,
}


@pytest.mark.parametrize("body", CASES)
def test_values(body):
    done = pipeline.translate(KERNEL % body, "choice.cu")
    assert done.raised == ("f",)
    used = {"x": X, "o": np.zeros(N, np.uint32), "n": N, "m": M}
    got = load_module(done.text).f(**used)
    np.testing.assert_array_equal(np.asarray(got).astype(np.int64), np.asarray(CASES[body]).astype(np.int64))


def test_choices_that_are_only_subscripts_stay_plain():
    done = pipeline.translate(KERNEL % "unsigned v = x[i] > 0 ? 0 : i; o[i] = x[v];", "choice.cu")
    assert "astype(jnp.uint32)" not in done.text.partition("o.at")[0]
