"""What the last round of a loop makes of running values, where it is read after the loop."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = """import math

from numba import njit

@njit
def f(x, y):
    n, m = x.shape
    for i in range(n):
"""
BODIES = {
    "after the sum": "s = 0.0|for k in range(m):|    s = s + x[i, k]|    t = s * 2.0|y[i, 0] = t",
    "before the sum": "s = 0.0|for k in range(m):|    t = s * 2.0|    s = s + x[i, k]|y[i, 0] = t + s",
    "of an extremum": "s = -50.0|for k in range(m):|    t = x[i, k] - s|    s = max(s, x[i, k])|y[i, 0] = t + s",
    "of a product": "s = 1.0|for k in range(m):|    s *= x[i, k]|    t = s + x[i, k]|y[i, 0] = t",
    "of a recurrence": "s = 1.0|for k in range(m):|    t = s|    s = 0.5 * s * s + x[i, k]|y[i, 0] = t - s",
    "of a softmax": (
        "top = -50.0|s = 0.0|for k in range(m):|    new = max(top, x[i, k])|    p = math.exp(x[i, k] - new)|"
        "    s = s * math.exp(top - new) + p|    top = new|y[i, 0] = s + p + new"
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_the_last_round(name):
    lines = BODIES[name].split("|")
    lines[-1] = f"if m > 0: {lines[-1]}"  # without a round there is no such value
    done = pipeline.translate(HEAD + "\n".join(f"        {line}" for line in lines) + "\n", "case.py")
    assert done.text is not None, done.diagnostics
    agrees(done, pipeline.Request())
