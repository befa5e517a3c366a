"""Arrays of open type in tiles and arrays of floats: they are of the tile's type, whatever is passed."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify import interpreter
from kraise.verify.load import load_module

HEAD = "from numba import cuda, float32, float64\n@cuda.jit\ndef f(x, y):\n i = cuda.grid(1)\n"
BODIES = {  # the kernel's body, what the text holds
    "a tile": (
        " t = cuda.threadIdx.x\n s = cuda.shared.array(8, KIND)\n s[t] = x[i]\n cuda.syncthreads()\n"
        " y[i] = s[7 - t] * s[t]",
        "x = x.astype(DTYPE)",
    ),
    "or zero": (
        " t = cuda.threadIdx.x\n s = cuda.shared.array(8, KIND)\n s[t] = x[i] if i < len(x) else 0\n"
        " cuda.syncthreads()\n if t == 0:\n  c = 0.0\n  for k in range(8):\n   c += s[k] * s[7 - k]\n"
        "  y[cuda.blockIdx.x] = c",
        "x = x.astype(DTYPE)",
    ),
    "a thread's own": (
        " if i < len(y) - 2:\n  v = cuda.local.array(3, KIND)\n  for k in range(3):\n   v[k] = x[i + k]\n"
        "  y[i] = v[0] * v[1] + v[2]",
        "x = x.astype(DTYPE)",
    ),
}


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", BODIES)
def test_what_a_tile_of_floats_stages_is_floats(name, kind):
    """Bytes wrapped where the staging had gone."""
    dtype = "jnp.float64" if kind == "float64" else "jnp.result_type(x, jnp.float32)"  # wider floats stay so
    body, form = (part.replace("KIND", kind).replace("DTYPE", dtype) for part in BODIES[name])
    done = pipeline.translate(HEAD + body, "k.py")
    assert done.text and form in done.text, done.text or done.diagnostics
    f, rng = load_module(done.text).f, np.random.default_rng(0)
    for x in (rng.integers(0, 256, 24).astype("uint8"), rng.random(24) < 0.6, rng.random(24)):
        given = {"x": x, "y": np.zeros(24)}
        expected = interpreter.run(done.source, "f", given, grid=(3, 1, 1), block=(8, 1, 1)).arrays["y"]
        launch = {"grid": 3, "block": 8} if "grid=" in done.text and "grid=None" not in done.text else {}
        np.testing.assert_allclose(f(**given, **launch), expected, rtol=1e-6)
    slope = jax.grad(lambda x: f(x, given["y"], **launch).sum())(x)
    one = np.zeros(24)
    one[5] = 1
    ahead, back = (f(x + h * one, given["y"], **launch).sum() for h in (0.5, -0.5))
    np.testing.assert_allclose(slope[5], ahead - back, rtol=1e-4)


@pytest.mark.parametrize(
    "other",
    [" y[i] += x[i]", " x[i] = 2.0", " c = cuda.local.array(2, float64)\n c[0] = x[i]\n y[i] += c[0]"],
)
def test_what_is_used_otherwise_too_keeps_its_type(other):
    body = BODIES["a tile"][0].replace("KIND", "float32")
    text = pipeline.translate(HEAD + body + "\n" + other, "k.py").text
    assert text is None or "x = x.astype" not in text, text
