"""Slices backwards, from a place, to a place, with a step; loops whose step is a size, up and down."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

SOURCE = """
def back(x, i, j):
    s = 0.0
    for v in x[::-2]:
        s = s * 0.9 + v
    for v in x[3:0:-1]:
        s += v * s
    for v in x[:-4:-1]:
        s -= 0.5 * v
    for v in x[i::-3]:
        s = 0.5 * s + v
    for v in x[i:j:-2]:
        s = 0.25 * s + v
    return s
"""


@pytest.fixture(scope="module")
def module():
    text = pipeline.translate(SOURCE, "f.py").text
    assert "x[::-2]" in text and "//" not in text.partition('    """\n')[2], text
    return load_module(text)


@pytest.mark.parametrize("n, i, j", [(5, 4, 1), (6, 3, 0), (7, 6, 2), (8, 2, 2)])
def test_backwards(module, n, i, j):
    made: dict = {}
    exec(SOURCE, made)
    x = np.arange(n) * 0.3 + 0.1
    np.testing.assert_allclose(module.back(x, i, j), made["back"](x, i, j), rtol=1e-5)


STEPS = """
def both_ways(x, k):
    s = 0.0
    for i in range(0, len(x), k):
        s += x[i]
    t = 0.0
    for i in range(len(x) - 1, -1, -k):
        t = 0.5 * t + x[i]
    return s, t
"""


def test_a_size_as_a_step_in_both_directions():
    function = load_module(pipeline.translate(STEPS, "f.py").text).both_ways
    made: dict = {}
    exec(STEPS, made)
    for n, k in ((0, 2), (5, 1), (5, 3), (2, 7)):
        x = np.arange(n) + 0.5
        np.testing.assert_allclose(function(x, k), made["both_ways"](x, k), rtol=1e-6)
    with pytest.raises(ValueError, match="step of a loop must be positive"):
        function(np.ones(3), -1)


@pytest.mark.parametrize("part", ["x[-q:]", "x[:-q]", "x[-q - 1:]", "x[-i - 1:]", "x[1 - q - q:]", "x[-2 * q:]"])
def test_bounds_that_count_from_the_end_for_some_values_only(part):
    """``x[-q:]`` is all of the array for q = 0, its last q elements for others."""
    source = f"def f(x, o, q):\n    for i in range(o.shape[0]):\n        o[i] = {part}.sum()\n"
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    assert not done.raised and any("x[n - q :]" in (d.hint or "") for d in done.diagnostics), done.text
