"""Ragged loops over a part of a row: from its second entry on, to before its last one, every other entry."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified

SOURCE = """def f(ptr, v, y, n, t):
    for i in range(n):
{}
        y[i] = s
"""
PARTS = {
    "the first apart": "s = v[ptr[i]]\nfor k in range(ptr[i] + 1, ptr[i + 1]):\n    s = max(s, v[k])",
    "the ends apart": "s = 0.5\nfor k in range(ptr[i] + 1, ptr[i + 1] - 1):\n    s += v[k] * y[i]",
    "every other": "s = -9.0\nfor k in range(ptr[i] + 1, ptr[i + 1], 2):\n    s = max(s, v[k])",
    "pairs": "s = 0.0\nfor k in range(ptr[i], ptr[i + 1] - 1, 2):\n    s += v[k] * v[k + 1]",
    "a given end": "e = ptr[i + 1] if i + 1 < n else t\ns = 0.0\nfor k in range(ptr[i], e):\n    s += v[k]",
    "the end of the last": "e = t if i == n - 1 else ptr[i + 1]\ns = 0.0\nfor k in range(ptr[i], e):\n    s += v[k]",
    "from zero": "b = ptr[i]\nm = ptr[i + 1] - b\ns = 0.0\nfor k in range(m):\n    s += v[b + k] * v[k]",
    "from one": "s = -9.0\nfor k in range(1, ptr[i + 1] - ptr[i]):\n    s = max(s, v[k + ptr[i]])",
    "back": "s = 0.0\nfor k in range(ptr[i + 1] - 1, ptr[i], -1):\n    s += v[k] * v[k]",
}
OTHERS = {
    "into the next row": "s = 0.0\nfor k in range(ptr[i], ptr[i + 1] + 1):\n    s += v[k]",
    "from the row before": "s = 0.0\nfor k in range(ptr[i] - 1, ptr[i + 1]):\n    s += v[k]",
    "the end of another": "e = t if i == n - 2 else ptr[i + 1]\ns = 0.0\nfor k in range(ptr[i], e):\n    s += v[k]",
    "the ends of two": "e = ptr[i + 1] if i + 2 < n else t\ns = 0.0\nfor k in range(ptr[i], e):\n    s += v[k]",
    "from zero by two": "s = 0.0\nfor k in range(ptr[i + 2] - ptr[i]):\n    s += v[ptr[i] + k]",
    "from another's start": "s = 0.0\nfor k in range(ptr[i + 1] - ptr[i]):\n    s += v[ptr[i + 1] + k]",
    "a start that moves": "b = ptr[i]\ns = 0.0\nfor k in range(ptr[i + 1] - ptr[i]):\n    s += v[b + k]\n    b += k",
    "two rows": "s = 0.0\nfor k in range(ptr[i] + 1, ptr[i + 2]):\n    s += v[k]",
}
POINTERS = ([0, 3, 4, 4, 9], [0, 1, 2, 3, 4], [2, 2, 2, 7, 8])


def made(body):
    source = SOURCE.format("\n".join(" " * 8 + line for line in body.splitlines()))
    own: dict = {}
    exec(source, own)
    return own["f"], pipeline.translate(source, "f.py").text


@pytest.mark.parametrize("name", PARTS)
def test_a_part_of_a_row_is_a_segment(name):
    scalar, text = made(PARTS[name])
    assert "segment_" in text and "while_loop" not in text and "ptr must not decrease" in text
    f, v = load_module(text).f, np.random.default_rng(3).normal(size=10)
    for ptr in POINTERS:
        y = np.linspace(-1.0, 1.0, 4)
        got = f(jnp.array(ptr, jnp.int32), jnp.array(v), jnp.array(y), 4, 9)
        scalar(ptr, v, y, 4, 9)
        np.testing.assert_allclose(got, y, rtol=1e-5)
    slope = jax.grad(lambda x: f(jnp.array(POINTERS[0], jnp.int32), x, jnp.ones(4), 4, 9).sum())(jnp.array(v))
    for j, ahead in enumerate(np.eye(10) * 1e-3):  # a small step meets no other order of the entries
        low, high = np.ones(4), np.ones(4)
        scalar(POINTERS[0], v - ahead, low, 4, 9), scalar(POINTERS[0], v + ahead, high, 4, 9)
        assert abs(slope[j] - (high - low).sum() / 2e-3) < 1e-2


@pytest.mark.parametrize("name", OTHERS)
def test_ranges_of_several_rows_are_none(name):
    _, text = made(OTHERS[name])
    assert "while_loop" in text and "segment_" not in text


STORE = """from numba import cuda
@cuda.jit
def f(ptr, v, y, n):
    i = cuda.grid(1)
    if i < n:
        for k in range({}):
            y[k] = v[k] * v[ptr[i]]
"""


@pytest.mark.parametrize("rows", ["ptr[i] + 1, ptr[i + 1]", "ptr[i], ptr[i + 1] - 1", "ptr[i] + 1, ptr[i + 1] - 1"])
def test_stores_in_parts_of_rows_do_not_meet(rows):
    done = pipeline.translate(STORE.format(rows), "f.py")
    assert done.text and "while_loop" not in done.text
    (report,), problems = verified(done, pipeline.Request())
    assert report.ok and not problems, report.failures


@pytest.mark.parametrize("rows", ["ptr[i], ptr[i + 1] + 1", "ptr[i] - 1, ptr[i + 1]", "ptr[i] + 1, ptr[i + 2]"])
def test_stores_beyond_a_row_may_meet(rows):
    done = pipeline.translate(STORE.format(rows), "f.py")
    assert not done.text and done.diagnostics[0].code in ("KR201", "KR202")


@pytest.mark.parametrize("limit, raised", [("ptr[i + 1] - ptr[i]", True), ("ptr[i + 1] - ptr[i] + 1", False)])
def test_stores_counted_from_zero(limit, raised):
    source = STORE.replace("{}", limit).replace("y[k]", "y[ptr[i] + k]").replace("v[k]", "v[ptr[i + 1] - 1 - k]")
    done = pipeline.translate(source, "f.py")
    assert bool(done.text) is raised
    if raised:
        (report,), problems = verified(done, pipeline.Request())
        assert report.ok and not problems, report.failures


@pytest.mark.parametrize(
    "cell, raised",
    [
        ("ptr[i + 1] - 1 - (k - ptr[i])", True),
        ("ptr[i + 1] + ptr[i] - k + 3", True),
        ("ptr[i + 1] - 1 - k", False),
        ("ptr[i + 2] + ptr[i] - 1 - k", False),
        ("ptr[i + 1] + ptr[i] - 1 - 2 * k", False),
        ("ptr[i + 1] + ptr[i] - 1 - k + i", False),
    ],
)
def test_rows_that_are_stored_from_behind(cell, raised):
    source = STORE.replace("{}", "ptr[i], ptr[i + 1]").replace("y[k]", f"y[{cell}]")
    done = pipeline.translate(source, "f.py")
    assert bool(done.text) is raised
    if raised:
        own: dict = {}
        ptr, v, y = np.array([0, 3, 4, 4, 9]), np.arange(1.0, 11.0), np.zeros(14)
        for i in range(4):
            for k in range(ptr[i], ptr[i + 1]):
                y[eval(cell, {"ptr": ptr, "i": i, "k": k})] = v[k] * v[ptr[i]]
        exec(done.text, own)
        got = own["f"](jnp.array(ptr, jnp.int32), jnp.array(v), jnp.zeros(14), 4)
        np.testing.assert_allclose(got, y)
