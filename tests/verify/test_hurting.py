"""Points chosen to hurt: what is wrong there is found and named, what has no one derivative is not called wrong."""

from dataclasses import replace

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.hurting import constants, points

SOURCE = """
import math
from numba import cuda

@cuda.jit
def f(y, x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = {value}
"""

TEXT = """
import jax
import jax.numpy as jnp

@jax.jit
def f(y, x):
    return y.at[: x.shape[0]].set({value})
"""


def report(scalar, emitted=None):
    done = pipeline.translate(SOURCE.format(value=scalar), "f.py")
    if emitted is not None:
        done = replace(done, text=TEXT.format(value=emitted))
    (found,), problems = pipeline.verify(done, pipeline.Request(shapes={"x": (9,), "y": (9,)}, dtype="float64"))
    assert not problems
    return found


def at(found, name):
    return next((row for row in found.rows if row.what == f"at {name}"), None)


@pytest.mark.parametrize(
    ("scalar", "naive", "point"),
    [
        ("math.sqrt(x[i]) if x[i] > 0.0 else 0.0", "jnp.where(x > 0, jnp.sqrt(x), 0.0)", "zeros"),
        ("1.0 / x[i] if x[i] != 0.0 else 0.0", "jnp.where(x != 0, 1 / x, 0.0)", "zeros"),
        ("1.0 / (x[i] - 2.5) if x[i] < 2.5 else 0.0", "jnp.where(x < 2.5, 1 / (x - 2.5), 0.0)", "branch edges"),
    ],
)
def test_a_naive_form_is_found_at_its_point_and_the_element_is_named(scalar, naive, point):
    row = at(report(scalar, naive), point)
    assert row.status == "failed" and "not finite at x[" in row.message
    good = report(scalar)
    assert good.ok and at(good, point).status in ("ok", "skipped")


def test_a_comparison_that_takes_its_edge_and_should_not_is_found():
    row = at(report("x[i] if x[i] < 2.5 else 7.0", "jnp.where(x <= 2.5, x, 7.0)"), "branch edges")
    assert row.status == "failed" and row.check == "values"


def test_a_comparison_that_rounding_decides_is_no_failure():
    # the compiler may contract a product and a difference that are zero to something beside it
    found = report("-2.0 if (x[i] * x[i]) * (x[i] * x[i]) - (x[i] * x[i] * x[i]) * x[i] <= 0.0 else x[i]")
    assert all(row.status != "failed" for row in found.rows if row.what in ("at zeros", "at branch edges"))


def test_a_derivative_that_vanishes_is_compared_with_the_direction():
    assert report("x[i] / math.sqrt(x[i] * x[i])").ok


def test_a_wrong_derivative_at_a_point_names_the_element_what_it_is_and_what_it_should_be():
    # right in value everywhere; at zero the derivative is lost
    row = at(report("x[i] * 3.0", "jnp.where(x == 0, 0.0, 3.0 * x)"), "zeros")
    assert row.status == "failed"
    assert "by x[" in row.message and "which is 0)" in row.message and ": 0 instead of " in row.message


def test_at_a_kink_no_derivative_is_wrong():
    # JAX takes a half of each at a tie, the scalar program one branch
    found = report("x[i] if x[i] > 0.0 else -x[i]", "jnp.maximum(x, -x)")
    assert found.ok and at(found, "zeros").status == "skipped"
    assert "kink" in at(found, "zeros").message


def test_a_point_where_the_program_has_no_value_says_nothing():
    assert at(report("math.log(x[i] * x[i])"), "zeros") is None


def test_constants_are_those_that_something_is_compared_with():
    module = pipeline.translate(SOURCE.format(value="x[i] + 7.0 if x[i] > 0.25 else min(x[i], 4.0)"), "f.py").source
    assert constants(module.function("f")) == [0.25, 4.0]


def test_the_points_are_the_same_each_time_and_keep_the_shapes():
    module = pipeline.translate(SOURCE.format(value="x[i] if x[i] > 0.25 else 0.0"), "f.py").source
    floats = {"x": np.linspace(-1, 1, 12).reshape(3, 4), "h": 0.5}
    one, two = (list(points(module.function("f"), floats, np.random.default_rng(1))) for _ in range(2))
    assert [name for name, _ in one] == ["zeros", "ties", "branch edges", "other signs", "large numbers"]
    for (_, a), (_, b) in zip(one, two, strict=True):
        assert list(a) == ["x"] and a["x"].shape == (3, 4)
        np.testing.assert_array_equal(a["x"], b["x"])
    assert set(one[2][1]["x"].ravel()) & {0.25, 0.5}


def test_a_wrong_value_at_a_point_is_found():
    row = at(report("abs(x[i])", "jnp.where(x == 0, 1.0, jnp.abs(x))"), "zeros")
    assert (row.check, row.status) == ("values", "failed") and "1 instead of 0" in row.message
