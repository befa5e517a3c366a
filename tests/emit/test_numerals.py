"""Loads at the digits of one index: reshapes, transposes and broadcasts, and what stays a gather."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = "def f(n, x, w, h, c, y):\n for i in range(n):\n  y[i] = x[{}]\n"
HOST = """from numba import cuda
@cuda.jit
def f(x, y, c):
    i = cuda.grid(1)
    if i < y.shape[0]:
        y[i] = x[i % c]
def run(x, y, parts):
    for p in range(parts):
        f[1, 32](x, y, 2 * p + 1)
"""
FORMS = {
    "the last digit": ("i % c", "jnp.resize(x[:c], n)"),
    "one in the middle": ("i // w % c", "jnp.resize(jnp.repeat(x[:c], w), n)"),
    "all but the last": ("i // w", "jnp.repeat(x[: -(-n // w)], w)[:n]"),
    "two": ("i // w % h * w + i % w", "jnp.resize(x[: h * w], n)"),
    "two, exchanged": ("i % w * h + i // w % h", "jnp.resize(jnp.transpose(jnp.resize(x, (w, h)), (1, 0)), n)"),
    "two that are apart": ("i // (w * h) % c * w + i % w", "jnp.broadcast_to("),
    "all, turned round": (
        "i // (w * h * c) * (c * h * w) + i % w * (h * c) + i // w % h * c + i // (w * h) % c",
        "(0, 3, 2, 1)",
    ),
    "numbers": ("i // 6 * 6 + i % 2 * 3 + i // 2 % 3", "jnp.resize(x, (-(-n // 6), 2, 3))"),
}
GATHERS = {
    "digits that overlap": "i % w + w * (i // h)",
    "a digit twice": "i % w + w * (i % w)",
    "rows with gaps": "i % w + (w + 1) * (i // w)",
    "one cell on": "i % w + 1",
    "the leading digit last": "i // w + 100 * (i % w)",
    "backwards": "w - 1 - i % w",
}


@pytest.mark.parametrize("name", [*FORMS, *GATHERS])
def test_values(name):
    place, text = FORMS[name] if name in FORMS else (GATHERS[name], "")
    source = SOURCE.format(place)
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    assert text in done.text and ("arange" in done.text) == (name in GATHERS), done.text
    own: dict = {}
    exec(source, own)
    mine = load_module(done.text).f
    sizes = {"w": 3, "h": 2, "c": 4}
    for n, more in ((0, 0), (13, 0), (24, 5)):  # an array may end with the last cell that is read
        cells = 1 + int(eval(place, {"i": np.arange(n), **sizes}).max(initial=-1))
        x = np.random.default_rng(n).standard_normal(cells + more).astype("f")
        expected = np.zeros(n + 2, "f")
        own["f"](n, x, *sizes.values(), expected)
        np.testing.assert_array_equal(mine(n, x, *sizes.values(), np.zeros(n + 2, "f")), expected)


def test_a_size_that_a_host_counts_stays_traced():
    done = pipeline.translate(HOST, "k.py")
    assert done.text is not None and 'static_argnames="c"' not in done.text, done.diagnostics
    x, y = np.arange(9.0, dtype="f"), np.zeros(7, "f")
    given = load_module(done.text).run(x, y, 3)
    np.testing.assert_array_equal(given, x[np.arange(7) % 5])
