"""Pictures whose channels lie beside each other: element (y, x, c) of a flat array, stored as one stack."""

import pytest

from kraise import pipeline
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
