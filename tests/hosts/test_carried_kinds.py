"""The dtypes of what a host's loop carries, in 64 bits too."""

from kraise import pipeline
from tests.checks import verified

RELAXED = """import numpy as np
from numba import cuda


@cuda.jit
def smooth(u, v, change):
    i = cuda.grid(1)
    if 0 < i < u.size - 1:
        v[i] = 0.5 * (u[i - 1] + u[i + 1])
        cuda.atomic.max(change, 0, abs(v[i] - u[i]))


def relax(u0, tol, most):
    u, v = cuda.to_device(u0), cuda.to_device(u0)
    worst, steps = 1e9, 0
    while worst > tol and steps < most:
        change = cuda.to_device(np.zeros(1, np.float32))
        smooth[(u0.size + 63) // 64, 64](u, v, change)
        worst = change.copy_to_host()[0]
        u, v = v, u
        steps += 1
    return u.copy_to_host(), steps
"""


def test_a_number_read_from_an_array_of_the_round_has_its_kind():
    """``worst`` starts as one of Python's numbers and is a float32 after a round (64 bits: the branches differed)."""
    done = pipeline.translate(RELAXED, "case.py")
    assert "jnp.asarray(worst, jnp.float32)" in done.text
    reports, _ = verified(done, pipeline.Request())
    assert reports and {row.status for r in reports for row in r.rows} <= {"ok", "note"}, (done.text, reports)
