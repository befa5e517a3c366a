"""What each round of a loop copies anew is copied once after the loop; and what looks like it and is not."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SWEEP = """
        for i in range(1, n - 1):
            v[i] = u[i] + 0.25 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
"""
HEAD = """
def relax(u, v, steps):
    n = u.shape[0]
    for t in range(steps):"""
COPY = """
        for i in range(1, n - 1):
            u[i] = v[i]
"""
TAKEN = {
    "back": HEAD + SWEEP + COPY,
    "other_name": HEAD + SWEEP + COPY.replace("for i", "for k").replace("[i]", "[k]"),
    "all_of_it": HEAD
    + SWEEP.replace("1, n - 1", "n").replace("u[i - 1]", "u[n - 1 - i]").replace("u[i + 1]", "1.0")
    + COPY.replace("1, n - 1", "n"),
    "nested": HEAD.replace("t in range(steps):", "s in range(2):\n      u[0] += s\n      for t in range(steps):")
    + SWEEP
    + COPY,
}
KEPT = {
    "read_by_the_next_round": HEAD + SWEEP.replace("0.25 *", "0.25 * v[n - 1] *") + COPY + "        v[n - 1] = v[1]\n",
    "fewer_cells_back": HEAD + SWEEP + COPY.replace("1, n - 1", "2, n - 1"),
    "changed_after": HEAD + SWEEP + COPY + "        u[1] = 0.5 * u[2]\n",
    "where_positive": HEAD + SWEEP + COPY.replace("u[i] = v[i]", "if v[i] > 0.0:\n                u[i] = v[i]"),
    "cells_that_move": HEAD
    + SWEEP.replace("v[i] =", "v[(i + t) % n] =")
    + "        for i in range(1, n - 1):\n            u[i] = v[(i + t) % n]\n",
    "scaled_back": HEAD + SWEEP + COPY.replace("= v[i]", "= 0.5 * v[i]"),
}
U, V = np.array([0.3, -1.0, 2.0, 0.7, 0.1]), np.array([9.0, 8.0, 7.0, 6.0, 5.0])


def copied_after(text):
    """Whether the copy stands behind the loop, for a loop with a round."""
    return "where steps > 0" in text


@pytest.mark.parametrize("name", TAKEN | KEPT)
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_values_are_the_source_s(name, steps):
    source = (TAKEN | KEPT)[name]
    done = pipeline.translate(source, "relax.py")
    assert not done.diagnostics, done.diagnostics
    assert copied_after(done.text) == (name in TAKEN), done.text
    u, v = U.copy(), V.copy()
    names = {}
    exec(source, names)
    names["relax"](u, v, steps)
    got = load_module(done.text).relax(U.astype(np.float32), V.astype(np.float32), steps)
    for mine, theirs in zip(got, (u, v), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
