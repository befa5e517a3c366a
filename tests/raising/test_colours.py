"""Updates in place of every second cell of a torus: its sides must be even, which is checked."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from tests.checks import verified

TORUS = """
__global__ void sweep(float *s, int n, int m, int c) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < m && COLOUR) s[i * m + j] = VALUE;
}"""
CROSS = (
    "s[(i + 1) % n * m + j] - 2.0f * s[(i + n - 1) % n * m + j] + s[i * m + (j + 1) % m] * s[i * m + (j + m - 1) % m]"
)
TERNARY = "s[(i == n - 1 ? 0 : i + 1) * m + j] + s[i * m + (j == 0 ? m - 1 : j - 1)]"
MEETING = {
    "the diagonal has the same colour": ("(i + j) % 2 == c", "s[(i + 1) % n * m + (j + 1) % m]"),
    "two on has the same colour": ("(i + j) % 2 == c", "s[(i + 2) % n * m + j]"),
    "no colour": ("i + j != c", CROSS),
    "rows alone are coloured": ("i % 2 == c", CROSS),
    "three colours, three on": ("(i + j) % 3 == c", "s[(i + 3) % n * m + j]"),
}


def translated(colour, value):
    return pipeline.translate(TORUS.replace("COLOUR", colour).replace("VALUE", value), "k.cu", Options())


def raised(colour, value):
    done = translated(colour, value)
    assert not done.diagnostics
    found: dict = {}
    exec(done.text, found)
    return done, found["sweep"]


@pytest.mark.parametrize("colour", ["(i + j) % 2 == c", "((i + j) & 1) == c"])
def test_a_torus_of_even_sides(colour):
    done, sweep = raised(colour, CROSS)
    assert done.text.count("jnp.roll") == 4 and "clip" not in done.text
    s = np.random.default_rng(1).integers(-3, 4, (6, 4)).astype(np.float32)
    up, down, left, right = (np.roll(s, by, axis) for axis in (0, 1) for by in (-1, 1))
    wanted = np.where(np.add.outer(np.arange(6), np.arange(4)) % 2 == 1, up - 2 * down + left * right, s)
    np.testing.assert_array_equal(sweep(s.ravel(), 6, 4, 1), wanted.ravel())
    for n, m in ((5, 4), (4, 5)):
        with pytest.raises(ValueError, match="cells of one colour would be neighbours"):
            sweep(np.zeros(n * m, np.float32), n, m, 0)


def test_inputs_of_verify_are_even():
    done, _ = raised("((i + j) & 1) == c", TERNARY)
    reports, problems = verified(done, pipeline.Request(gradients=False))
    assert not problems and reports[0].ok


@pytest.mark.parametrize("name", MEETING)
def test_cells_of_one_colour(name):
    done = translated(*MEETING[name])
    assert done.text is None and {d.code for d in done.diagnostics} == {"KR201"}


def test_a_field_beside_the_torus_goes_round_without_a_mask():
    source = """
__global__ void shift(const float *x, const float *f, float *y, int n, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < m && f[i * m + j] > 0.0f) y[i * m + j] = x[(i + 1) % n * m + j];
}"""
    done = pipeline.translate(source, "k.cu", Options())
    assert "jnp.roll" in done.text and "clip" not in done.text
