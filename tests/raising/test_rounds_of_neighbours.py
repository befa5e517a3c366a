"""Neighbours on a torus without the cell itself: the lane that ``continue`` leaves out reads no cell beyond them."""

import pytest

from kraise import pipeline
from tests.checks import agrees

LIFE = """
__global__ void f(const TYPE *x, TYPE *y, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (GUARD) return;
    TYPE s = 0;
    for (int d = -1; d <= 1; d++)
        for (int e = -1; e <= 1; e++) {
            if (d == 0 && e == 0) continue;
            s += x[((j + d + h) % h) * w + PLACE] * (d + 2);
        }
    y[j * w + i] = s;
}"""
CASES = {  # the guard, the column, and whether all of it is rolled
    "a torus": ("i >= w || j >= h", "(i + e + w) % w", True),
    "a cylinder": ("i < 1 || i >= w - 1 || j >= h", "i + e", False),
    "a part of a torus": ("i >= w - 1 || j >= h", "(i + e + w) % w", False),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["float", "int"])
@pytest.mark.long_cases("int")
def test_neighbours(name, kind):
    guard, place, rolled = CASES[name]
    text = LIFE.replace("GUARD", guard).replace("PLACE", place).replace("TYPE", kind)
    done = pipeline.translate(text, "k.cu")
    assert done.text is not None and ("arange" not in done.text and "jnp.roll" in done.text) == rolled, done.text
    for w, h in ((4, 3), (1, 5), (2, 2)):
        if w > 2 or name == "a torus":
            agrees(done, pipeline.Request(shapes={"x": (w * h,), "y": (w * h,)}, values={"w": w, "h": h}), w, h)
