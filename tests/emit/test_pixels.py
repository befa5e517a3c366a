"""Pictures whose channels lie beside each other: element (y, x, c) of a flat array, stored as one stack."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

HEAD = """__global__ void f(const float *a, float *b, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  PITCH
  int o = x + y * pitch;
  """
BY_SIZE = "int pitch = w; if (x >= w || y >= h) return;"
BY_LAUNCH = "int pitch = blockDim.x * gridDim.x;"
PLANES = {
    "grey": ("b[o] = 0.2f * a[3 * o] + 0.7f * a[3 * o + 1] + 0.1f * a[3 * o + 2];", "a3[:, :, 1]"),
    "stack": ("b[3 * o] = a[o]; b[3 * o + 1] = 0; b[3 * o + 2] = 2 * a[o];", "axis=2"),
    "turned": ("b[3 * o] = a[3 * o + 2]; b[3 * o + 1] = a[3 * o + 1]; b[3 * o + 2] = a[3 * o];", "axis=2"),
    "one of four": ("b[4 * o + 1] = a[4 * o + 3] * a[4 * o];", "a3[:, :, 3]"),
    "neighbours": (
        """float s = 0, t = 0;
  for (int k = -1; k <= 1; k++) if (x + k >= 0 && x + k < w) { s += a[2 * (o + k)]; t += a[2 * (o + k) + 1]; }
  b[2 * o] = s; b[2 * o + 1] = t;""",
        "jnp.pad(a3[:, :, 0], ((0, 0), (1, 1)))",
    ),
}
FLAT = {
    "the next pixel": "b[o] = a[3 * o + 3];",  # of no channel of its own
    "overlapping": "b[o] = a[2 * o] + a[2 * o + 1] + a[2 * o + 2];",
}


def checked(body, pitch=BY_SIZE):
    done = pipeline.translate(HEAD.replace("PITCH", pitch) + body + " }", "f.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    for w, h in ((1, 1), (7, 5)) if pitch is BY_SIZE else ((4, 3),):
        request = pipeline.Request(shapes={"a": (4 * w * h + 3,), "b": (4 * w * h,)}, values={"w": w, "h": h})
        if pitch is BY_LAUNCH:
            request = pipeline.Request(
                shapes={"a": (4 * 12 + 3,), "b": (4 * 12,)}, values={"w": w, "h": h}, grid=(2, 1), block=(2, 3)
            )
        agrees(done, request)
    return done.text


@pytest.mark.parametrize("name", PLANES)
def test_planes(name):
    body, form = PLANES[name]
    text = checked(body)
    assert form in text and "arange" not in text and text.count(".at[") <= 2, text


@pytest.mark.parametrize("name", FLAT)
def test_what_is_no_channel(name):
    assert checked(FLAT[name])


@pytest.mark.parametrize("name", ["grey", "stack", "turned"])
def test_rows_of_the_launch_are_one_range(name):
    text = checked(PLANES[name][0], BY_LAUNCH)
    assert "arange" not in text and "jnp.pad" not in text and text.count(".at[") == 1, text


AROUND = """
__global__ void f(const float* im, const float* at, float* y, int n, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x0 = (int)floorf(at[i]);
    float t = at[i] - x0, v = 0;
    for (int d = 0; d < MANY; d++) {
        int x = x0 + d;
        if (x >= 0 && x < w) v += (d ? t : 1 - t) * im[x];
    }
    y[i] = v;
}"""


@pytest.mark.parametrize("many", [2, 12])
def test_the_pixels_around_a_place_are_terms(many):
    text = pipeline.translate(AROUND.replace("MANY", str(many)), "k.cu").text
    assert text and ("jnp.sum(" in text) == (many == 12), text
    f = load_module(text).f
    im, at = np.array([1, 2, 3, 4, np.nan], np.float32), np.array([-3.5, 1.25, 2.0, 7.5], np.float32)
    wanted = np.zeros(4, np.float32)
    for i, x0 in enumerate(np.floor(at).astype(int)):
        t = at[i] - x0
        wanted[i] = sum((t if d else 1 - t) * im[x0 + d] for d in range(many) if 0 <= x0 + d < 5)
    given = np.zeros(4, np.float32), 4, 5
    np.testing.assert_allclose(f(im, at, *given), wanted, rtol=1e-6)
    picked = jnp.array([0, 1, 3])  # the last one's cells are none, and NaN where they are brought to
    slopes = jax.grad(lambda im, at: f(im, at, *given)[picked].sum(), (0, 1))(im, at)
    if many == 2:
        np.testing.assert_allclose(slopes[0], [0, 0.75, 0.25, 0, 0])
        np.testing.assert_allclose(slopes[1], [0, 1, 0, 0])
