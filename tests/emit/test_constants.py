"""Numbers that Python itself would refuse, or make complex, are the floats that the source has."""

import math

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

CASES = {
    "1.0f / 0.0f": math.inf,
    "-1.0f / 0.0f": -math.inf,
    "powf(2.0f, 5000.0f)": math.inf,
    "powf(0.0f, -1.0f)": math.inf,
    "powf(-8.0f, 0.3f)": math.nan,
    "powf(-2.0f, 3.0f)": -8.0,
    "powf(2.0f, -2.0f)": 0.25,
    "fmodf(5.0f, 0.0f)": math.nan,
}
KERNEL = """
__global__ void constant(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] > 0.0f ? %s : x[i];
}
"""


@pytest.mark.parametrize("text", CASES)
def test_numbers_of_numbers(text):
    module = load_module(pipeline.translate(KERNEL % text, "constant.cu").text)
    got = module.constant(np.array([1.0, -3.0], np.float32), np.zeros(2, np.float32), 2)
    np.testing.assert_array_equal(got, np.array([CASES[text], -3.0], np.float32))
    assert got.dtype == np.float32


@pytest.mark.parametrize("name", ["#define M 4294967296LL", "__constant__ const unsigned M = 4000000000u;"])
def test_whole_numbers_that_no_int_holds_beside_floats(name):
    """`x / M` failed when called: JAX takes no such int beside a float."""
    source = name + (KERNEL % "1.0f / M").replace(": x[i]", ": x[i] * M")
    module = load_module(pipeline.translate(source, "constant.cu").text)
    got = module.constant(np.array([1.0, -3.0], np.float32), np.zeros(2, np.float32), 2)
    m = np.float32(2**32 if "define" in name else 4e9)
    np.testing.assert_array_equal(got, np.array([1 / m, -3 * m], np.float32))


def test_constants_that_python_reserves():
    source = "static const int lambda = 3; __constant__ float is[2] = {1, 2};\n" + KERNEL % "is[i % 2] * lambda"
    module = load_module(pipeline.translate(source, "constant.cu").text)
    got = module.constant(np.array([1.0, 1.0], np.float32), np.zeros(2, np.float32), 2)
    np.testing.assert_array_equal(got, np.array([3.0, 6.0], np.float32))
