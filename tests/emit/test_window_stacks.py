"""Windows that are stored as they are: stacks of slices, whose gradients are slices; and elements enlarged."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

IMAGE = "def f(x, y):\n for i in range(x.shape[0]):\n  for j in range(x.shape[1]):\n"
FORMS = {  # body, what the text holds, the shape of x and that of y
    "patches of a padded image": (
        IMAGE
        + "   for a in range(3):\n    for b in range(3):\n     u = i + a - 1\n     v = j + b - 1\n"
        + "     y[a, b, i, j] = x[u, v] if u >= 0 and v >= 0 and u < x.shape[0] and v < x.shape[1] else 0.0",
        "for a in range(3) for b in range(3)]",
        (4, 5),
        (3, 3, 4, 5),
    ),
    "a window last": (
        "def f(x, y):\n for i in range(y.shape[0]):\n  for a in range(4): y[i, a] = x[2 * i + a]",
        "for a in range(4)], axis=1)",
        (13,),
        (5, 4),
    ),
    "used twice": (
        "def f(x, y):\n for i in range(y.shape[0]):\n  for a in range(3):\n"
        "   v = x[i + a - 1] if i + a > 0 and i + a - 1 < x.shape[0] else 0.0\n   y[i, a] = v + 2 * v",
        "v = jnp.stack([x_padded[a : rows + a] for a in range(3)], axis=1)",
        (5,),
        (7, 3),
    ),
    "two that are not beside one another": (
        "def f(x, y):\n for a in range(2):\n  for i in range(y.shape[1]):\n   for b in range(3):\n"
        "    y[a, i, b] = x[i + a + b]",
        "jnp.stack([jnp.stack([",
        (9,),
        (2, 6, 3),
    ),
    "twice as large": (
        "def f(x, y):\n for i in range(y.shape[0]):\n  for j in range(y.shape[1]): y[i, j] = x[i // 2, j // 3]",
        "jnp.repeat(jnp.repeat(x[: (rows + 1) // 2, : (cols + 2) // 3]",
        (3, 4),
        (5, 11),
    ),
}
GATHERS = {
    "both long": ("def f(x, y):\n for i in range(y.shape[0]):\n  for j in range(y.shape[1]): y[i, j] = x[i + j]"),
    "too many slices": "def f(x, y):\n for i in range(y.shape[0]):\n  for a in range(65): y[i, a] = x[i + a]",
    "squares": "def f(x, y):\n for i in range(y.shape[0]):\n  for a in range(3): y[i, a] = x[i + a * a]",
}


def _compared(source, shape, out):
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    function = load_module(done.text).f
    own: dict = {}
    exec(source, own)
    rng = np.random.default_rng(3)
    x, weight = rng.normal(size=shape).astype(np.float32), rng.normal(size=out).astype(np.float32)
    expected = np.full(out, 7, np.float32)
    own["f"](x, expected)
    y = jnp.full(out, 7.0)
    np.testing.assert_array_equal(function(jnp.asarray(x), y), expected)
    slope = jax.grad(lambda x: jnp.vdot(function(x, y), weight))(jnp.asarray(x))
    for _ in range(2):  # what is loaded is linear in x
        along = rng.normal(size=shape).astype(np.float32)
        moved = np.full(out, 7, np.float32)
        own["f"](along, moved)
        np.testing.assert_allclose(np.vdot(slope, along), np.vdot(moved, weight), rtol=1e-4, atol=1e-5)
    return done.text


@pytest.mark.parametrize("name", FORMS)
def test_no_gather(name):
    source, text, shape, out = FORMS[name]
    module = _compared(source, shape, out)
    assert "".join(text.split()) in "".join(module.split()), module
    assert "arange" not in module, module


@pytest.mark.parametrize("name", GATHERS)
def test_what_stays_a_gather(name):
    module = _compared(GATHERS[name], (80,), (6, 65) if "65" in GATHERS[name] else (6, 3))
    assert "jnp.stack" not in module and "arange" in module, module


COLUMNS = """
__global__ void f(const float *im, float *col, int C, int H, int W) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= C * H * W) return;
  int w = i % W, h = i / W % H, c = i / (W * H);
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 2; b++) col[((c * ROWS + a * 2 + b) * H + h) * W + w] = im[i] * a + b;
}
"""


@pytest.mark.parametrize("rows, whole", [(6, True), (7, False)])
def test_rows_by_their_digits(rows, whole):
    """Rows of which each number is taken are axes of the array; where some are left out they are places."""
    done = pipeline.translate(COLUMNS.replace("ROWS", str(rows)), "k.cu")
    assert done.text and (".at[" in done.text.split("return")[0]) != whole, done.text
    f = load_module(done.text).f
    im = np.arange(24, dtype=np.float32)
    got = np.asarray(f(jnp.asarray(im), jnp.full(2 * rows * 12, 9.0), 2, 3, 4)).reshape(2, rows, 12)
    for c in range(2):
        for q in range(rows):
            expected = im.reshape(2, 12)[c] * (q // 2) + q % 2 if q < 6 else 9
            np.testing.assert_array_equal(got[c, q], expected)
