"""Indices of the threads have names of their own: the source's, or another one where two axes would share it."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = "__global__ void f(const float *x, float *y, int h, int w) {{ {} }}"
X, Y = "blockIdx.x * blockDim.x + threadIdx.x", "blockIdx.y * blockDim.y + threadIdx.y"
PLANE = {  # y[row, column] of x[row, column], and what the index of the columns is called
    "only the rows have a name": (
        f"int i = {Y}; if (i < h && {X} < w) y[i * w + {X}] = 2.f * x[i * w + {X}] + i;",
        "i_x",
    ),
    "the name of the other axis": (
        f"int i = {Y}, j = {X}; if (i < h && j < w) y[i * w + j] = 2.f * x[i * w + j] + i;",
        "j",
    ),
    "one name after the other": (
        f"int i = {X}, c = i; i = {Y};"
        f" if (i < h && c < w) y[i * w + c] = 2.f * x[i * w + c] + i;",
        "",
    ),
    "threads of a block": (
        "int i = threadIdx.y, r = blockIdx.y * blockDim.y + i;"
        f" if (r < h && {X} < w) y[r * w + {X}] = 2.f * x[r * w + {X}] + r;",
        "",
    ),
    "a name of the default's": (
        f"int j = {X}; if (j < w && {Y} < h)"
        f" y[({Y}) * w + j] = 2.f * x[({Y}) * w + j] + j;",
        "j",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANE)
def test_two_axes_are_two_indices(name):
    body, column = PLANE[name]
    done = pipeline.translate(HEAD.format(body), "k.cu")
    assert done.text is not None, done.diagnostics
    assert f"{column} < w" in done.text or f"< {column}" in done.text
    request = pipeline.Request(
        shapes={"x": (35,), "y": (35,)}, values={"h": 5, "w": 7}, grid=(4, 3), block=(2, 2), gradients=True
    )
    agrees(done, request, done.text)


COUNTS = """
__global__ void f(float *y) {{ int {} = threadIdx.y; atomicAdd(y, 1.f); atomicAdd(&y[1], {} + 0.5f); }}
"""


@pytest.mark.parametrize("name", ["i", "j", "block_x", "block_y", "thread_x"])
def test_a_thread_that_is_not_looked_at_has_a_name_of_its_own(name):
    done = pipeline.translate(COUNTS.format(name, name), "k.cu")
    assert done.text is not None, done.diagnostics
    request = pipeline.Request(shapes={"y": (2,)}, grid=(3,), block=(4, 5), gradients=True)
    agrees(done, request, done.text)
