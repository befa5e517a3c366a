"""Cells that a lane does not read: NaN in them reaches no gradient; a mask only where a product would see it."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from kraise.ir import equations as eq
from kraise.ir.kernel import Param
from kraise.ir.types import FLOAT64, INT32, ArrayType
from kraise.raising.gradients.absent import Absent
from kraise.raising.gradients.demand import make_safe
from kraise.raising.gradients.usage import Usage
from tests.raising import build
from tests.raising.build import axis, i, j, op, read, reduce, select, write
from tests.raising.evaluate import evaluate, gradients

NAN = float("nan")
GIVEN = tuple(Param(name, ArrayType(FLOAT64, 1)) for name in "xwmyzb")  # other arrays are tables of the module


def kernel(*body, **more):
    return replace(build.kernel(*body, **more), params=GIVEN)


x, w, m, mj, xj, wj = (
    read("x", i),
    read("w", i),
    read("m", i, type=INT32),
    read("m", j, type=INT32),
    read("x", j),
    read("w", j),
)
live, live_j = op("gt", m, 0), op("gt", mj, 0)
X, W, M = np.array([2.0, NAN, -3.0, 0.5]), np.array([1.5, NAN, NAN, 4.0]), np.array([1, 0, 0, 1], np.int32)
ON = M > 0


@pytest.fixture(autouse=True)
def _in_64_bits():
    with jax.enable_x64(True):
        yield


def arguments(**more):
    return {"x": X, "w": W, "m": M, "n": 4, "y": np.zeros(4), **more}


# value, the derivatives by x and w of its sum where the lanes are live
CASES = {
    "product": (select(live, op("mul", x, w), 0.0), W, X),
    "three factors": (select(live, op("mul", op("mul", x, w), x), 0.0), 2 * X * W, X * X),
    "square": (select(live, op("mul", x, x), 0.0), 2 * X, 0 * X),
    "sine": (select(live, op("sin", x), w), np.cos(X), None),
    "ratio with a softened divisor": (
        select(live, op("div", x, op("add", 1.0, op("mul", w, w))), 0.0),
        1 / (1 + W * W),
        -2 * W * X / (1 + W * W) ** 2,
    ),
    "condition on the value itself": (
        select(live, select(op("gt", x, 1.0), op("mul", x, w), op("mul", x, 3.0)), 0.0),
        np.where(X > 1, W, 3.0),
        np.where(X > 1, X, 0.0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_nan_in_cells_that_are_not_read_reaches_no_gradient(name):
    value, by_x, by_w = CASES[name]
    safe = make_safe(kernel(write(value)))
    where_w = ~np.isnan(W) if by_w is None else ON  # the sine's other arm reads w
    given = arguments(w=np.nan_to_num(W) if by_w is None else W)
    (plain,) = evaluate(kernel(write(value)), given)
    (got,) = evaluate(safe, given)
    np.testing.assert_allclose(got, plain)
    found = gradients(safe, given, (np.ones(4),))
    np.testing.assert_allclose(found["x"], np.where(ON, by_x, 0.0))
    expected = np.where(ON, 0.0, 1.0) if by_w is None else np.where(where_w, by_w, 0.0)
    np.testing.assert_allclose(found["w"], expected)


def test_the_cases_are_traps():
    for name in ("product", "three factors", "square", "condition on the value itself"):
        found = gradients(kernel(write(CASES[name][0])), arguments(), (np.ones(4),))
        assert any(np.isnan(found[a]).any() for a in ("x", "w")), name


def test_a_masked_sum_over_cells_that_are_not_read():
    value = reduce(op("mul", op("mul", xj, wj), x), where=live_j)
    given = arguments(x=np.array([2.0, 0.5, -3.0, 0.5]))
    found = gradients(make_safe(kernel(write(value))), given, (np.ones(4),))
    np.testing.assert_allclose(found["x"], _by_x(given))
    np.testing.assert_allclose(found["w"], np.where(ON, given["x"] * given["x"].sum(), 0.0))


def test_rounds_up_to_the_first_that_is_no_number():
    k = eq.Index("k", INT32)
    ended = reduce(k, (axis("k"),), op("isnan", read("x", k)), "min")
    value = reduce(op("mul", op("mul", xj, xj), wj), where=op("lt", j, ended))
    given = arguments(x=np.array([2.0, 0.5, NAN, 3.0]), w=np.array([1.5, 2.0, 1.0, 1.0]))
    found = gradients(make_safe(kernel(write(value))), given, (np.ones(4),))
    np.testing.assert_allclose(found["x"], [24.0, 8.0, 0.0, 0.0])
    np.testing.assert_allclose(found["w"], [16.0, 1.0, 0.0, 0.0])


def _by_x(given):
    total = sum(given["x"][k] * given["w"][k] for k in range(4) if ON[k])
    return [total + (given["w"][k] * given["x"].sum() if ON[k] else 0.0) for k in range(4)]


NO_MASK = {
    "only summed": select(live, op("add", x, w), 0.0),
    "scaled by a number": select(live, op("mul", 2.0, x), w),
    "the condition reads it": select(op("gt", x, 0.0), op("mul", x, x), 0.0),
    "read in every lane anyway": op("add", select(live, op("mul", x, x), 0.0), x),
    "a guard on indices": select(op("gt", i, 1), op("mul", x, w), 0.0),
}


@pytest.mark.parametrize("name", NO_MASK)
def test_no_mask_where_no_product_sees_the_cell_or_it_is_read_anyway(name):
    plain = kernel(write(NO_MASK[name]))
    assert make_safe(plain).body == plain.body


def test_one_factor_of_two_is_masked():
    plain = kernel(write(select(live, op("mul", x, w), 0.0)))
    (found,) = Absent(Usage(plain)).sites.values()
    assert list(found) == [x]


def test_each_factor_is_masked_where_the_other_is_read_elsewhere():
    """x is read under another condition, too: its mask does not end what w spoils."""
    other = op("ge", m, 0)
    y = write(select(live, op("mul", x, w), 0.0))
    z = write(select(other, x, 0.0), array="z")
    safe = make_safe(kernel(y, z, returns=(y.after, z.after)))
    given = arguments(x=np.array([2.0, 1.0, -3.0, 0.5]), z=np.zeros(4))
    found = gradients(safe, given, (np.ones(4), np.ones(4)))
    np.testing.assert_allclose(found["x"], np.where(ON, W, 0.0) + 1.0)


def test_what_tables_decide_is_no_flag():
    """Entries of the module's tables decide as indices do: cells that one lane leaves out are those of a neighbour."""
    table = op("gt", read("rows", i, type=INT32), 0)
    value = select(table, op("mul", x, w), 0.0)
    assert Absent(Usage(kernel(write(value)))).sites == {}
    assert Absent(Usage(kernel(write(select(live, op("mul", x, w), 0.0))))).sites
