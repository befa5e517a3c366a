"""Running values that begin with the first element of a row or a column, and go on from the second one."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

ROW = "float s = x[r * n]; for (int c = 1; c < n; c++) {round} {end}"
BODIES = {  # what a thread computes of its row; a word of the text; whether n must be positive then
    "maximum": (ROW.format(round="s = fmaxf(s, x[r * n + c]);", end="y[r] = s;"), "x2.max(axis=1)", True),
    "sum": (ROW.format(round="s += x[r * n + c];", end="y[r] = s;"), "x2.sum(axis=1)", True),
    "product of two": (
        "float s = w[0] * x[r * n]; for (int c = 1; c < n; c++) s += w[c] * x[r * n + c]; y[r] = s;",
        "x2 @ w[:n]",
        True,
    ),
    "running": (
        "float s = x[r * n]; y[r * n] = s; for (int c = 1; c < n; c++) { s += x[r * n + c]; y[r * n + c] = s; }",
        "jnp.cumsum(x2, axis=1)",
        True,
    ),
    "place": (
        "int b = 0; float s = x[r * n]; for (int c = 1; c < n; c++) if (x[r * n + c] > s) { s = x[r * n + c]; b = c; }"
        "y[r] = b;",
        "x2.argmax(axis=1)",
        True,
    ),
    "another start": (ROW.format(round="s += 2.0f * x[r * n + c];", end="y[r] = s;"), "x2[:, 1:]", False),
    "where a size says so": (
        "if (n < 9) { " + ROW.format(round="s += x[r * n + c];", end="y[r] = s;") + " }",
        "[:, 1:]",
        False,
    ),
}
COLUMN = "if (r < n) { float s = x[r]; for (int c = 1; c < m; c++) s = fminf(s, x[c * n + r]); y[r] = s; }"
KERNEL = "__global__ void f(const float *x, const float *w, float *y, int m, int n) {{ {head} {body} }}"
HEAD = "int r = blockIdx.x * blockDim.x + threadIdx.x; "


@pytest.mark.parametrize("name", BODIES)
def test_rows(name):
    body, text, positive = BODIES[name]
    done = pipeline.translate(KERNEL.format(head=HEAD, body=f"if (r < m) {{ {body} }}"), "k.cu")
    assert done.text is not None and text in done.text, (done.diagnostics, done.text)
    assert ("n must be positive" in done.text or "n >= 1 must hold" in done.text) == positive, done.text
    agrees(done, pipeline.Request(shapes={"x": (12,), "w": (4,), "y": (12,)}, values={"m": 3, "n": 4}))
    if positive:
        x = np.ones(3, np.float32)
        with pytest.raises(ValueError, match="n "):
            load_module(done.text).f(x, x, x, 3, 0)


def test_a_column():
    done = pipeline.translate(KERNEL.format(head=HEAD, body=COLUMN), "k.cu")
    assert done.text is not None and ".min(axis=0)" in done.text and "m must be positive" in done.text, done.text
    agrees(done, pipeline.Request(shapes={"x": (12,), "w": (4,), "y": (4,)}, values={"m": 3, "n": 4}))


def test_one_row_is_not_asked_for_its_length():
    """``y[0]`` is stored where there is nothing else, too."""
    source = KERNEL.format(head="", body="float s = x[0]; for (int c = 1; c < n; c++) s += x[c]; y[0] = s;")
    done = pipeline.translate(source, "k.cu")
    assert done.text is not None and "positive" not in done.text
    for n in (0, 1, 4):
        agrees(done, pipeline.Request(shapes={"x": (5,), "w": (4,), "y": (2,)}, values={"m": 3, "n": n}), n)
