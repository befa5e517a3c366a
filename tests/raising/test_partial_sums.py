"""Rows that each of a few rounds goes through: all rounds at once, to the longest row."""

import jax
import jax.numpy as jnp
import numpy as np

from kraise import pipeline
from kraise.verify.load import load_module

CELLS = """
def f(xy, start, out, nc, h):
    for i in range(out.shape[0]):
        cx = int(xy[i, 0])
        cy = int(xy[i, 1])
        s = 0.0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                u = cx + dx
                v = cy + dy
                if u >= 0 and u < nc and v >= 0 and v < nc:
                    c = v * nc + u
                    for k in range(start[c], start[c + 1]):
                        a = xy[k, 0] - xy[i, 0]
                        b = xy[k, 1] - xy[i, 1]
                        r = a * a + b * b
                        if r < h * h:
                            s += (1.0 - r / (h * h)) ** 2
        out[i] = s
"""


def _particles(count, nc):
    xy = np.random.default_rng(count).uniform(0, nc, (count, 2)).astype(np.float32)
    cell = xy[:, 1].astype(int) * nc + xy[:, 0].astype(int)
    xy = xy[np.argsort(cell, kind="stable")]
    return xy, np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=nc * nc))]).astype(np.int32)


def test_neighbouring_cells_at_once():
    text = pipeline.translate(CELLS, "k.py").text
    assert text and text.count("while_loop(") == 1 and "fori_loop" not in text, text
    f = load_module(text).f
    own: dict = {}
    exec(CELLS, own)
    for count in (1, 30):
        xy, start = _particles(count, 4)
        expected = np.zeros(count, np.float32)
        own["f"](xy, start, expected, 4, 0.8)
        np.testing.assert_allclose(f(xy, start, jnp.zeros(count), 4, 0.8), expected, rtol=1e-5)

    def near(xy):
        r = jnp.sum((xy[:, None] - xy) ** 2, axis=2)
        return jnp.sum(jnp.where(r < 0.64, 1 - r / 0.64, 0) ** 2, axis=1)

    weight = np.arange(30, dtype=np.float32)
    slope, known = (
        jax.grad(lambda xy: jnp.vdot(g(xy), weight))(jnp.asarray(xy))  # noqa: B023
        for g in (lambda xy: f(xy, start, jnp.zeros(30), 4, 0.8), near)
    )
    np.testing.assert_allclose(slope, known, rtol=1e-3, atol=1e-3)


def test_what_looks_at_the_sum_goes_cell_by_cell():
    source = CELLS.replace("if r < h * h:", "if r < h * h and s < 2.0:")
    text = pipeline.translate(source, "k.py").text
    assert text and "fori_loop" in text, text
    own: dict = {}
    exec(source, own)
    xy, start = _particles(30, 4)
    expected = np.zeros(30, np.float32)
    own["f"](xy, start, expected, 4, 0.8)
    np.testing.assert_allclose(load_module(text).f(xy, start, jnp.zeros(30), 4, 0.8), expected, rtol=1e-5)
