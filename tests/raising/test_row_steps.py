"""Steps within a row (``q[h * n + 2 * t + 1]`` for 2 * t < n): the row is whole steps long, which is checked."""

import jax.numpy as jnp
import pytest

from kraise import pipeline
from tests.checks import agrees

ROTATED = """
__global__ void rotated(float *q, const float *w, int heads, int n) {
    int h = blockIdx.x * blockDim.x + threadIdx.x;
    int t = %s;
    if (h < heads && %s) {
        float a = q[h * n + t], b = q[h * n + t + %d];
        q[h * n + t] = a * w[t] - b;
        q[h * n + t + %d] = b * w[t] + a;
    }
}"""
PAIRS = "2 * (blockIdx.y * blockDim.y + threadIdx.y)", "t < n", 1, 1


def test_pairs_in_rows():
    done = pipeline.translate(ROTATED % PAIRS, "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    assert done.text is not None
    assert "n is a multiple of 2" in done.text and "arange" not in done.text and "1) //" not in done.text
    for heads, n in ((3, 6), (1, 2)):
        asked = {"heads": heads, "n": n}
        shapes = {"q": (heads * n,), "w": (n,)}
        agrees(done, pipeline.Request(shapes=shapes, values=asked, gradients=False))
    found: dict = {}
    exec(done.text, found)
    with pytest.raises(ValueError, match="n must be a multiple of 2"):
        found["rotated"](jnp.zeros(10), jnp.zeros(5), 2, 5)


@pytest.mark.parametrize(
    "changed",
    [(PAIRS[0], "t <= n", 1, 1), (*PAIRS[:2], 2, 2), ("blockIdx.y * blockDim.y + threadIdx.y", "t < n", 1, 1)],
    ids=["a step further", "a cell of the next step", "each cell"],
)
def test_steps_that_overlap(changed):
    done = pipeline.translate(ROTATED % changed, "k.cu")
    assert {d.code for d in done.diagnostics} == {"KR201"}
