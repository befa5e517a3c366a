"""Arrays as wide as the launch, loaded tile by tile without a guard: rows, not places one by one."""

import numpy as np
import pytest

from kraise import pipeline
from tests.checks import agrees

KERNEL = """__global__ void f(float *out, const float *in, int h) {
    __shared__ float tile[4][5];
    int x = blockIdx.x * 4 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    int width = gridDim.x * 4;
    for (int j = 0; j < 4; j += 2) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 4 + threadIdx.x;
    y = blockIdx.x * 4 + threadIdx.y;
    for (int j = 0; j < 4; j += 2) out[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}
"""
LAUNCH = {"grid": (3, 2, 1), "block": (4, 2, 1)}


def test_a_transposition_by_tiles_of_rows_of_the_launch():
    done = pipeline.translate(KERNEL, "case.cu")
    assert done.text is not None and ".T)" in done.text and "mode=" not in done.text, done.text or done.diagnostics
    agrees(done, pipeline.Request(**LAUNCH))


@pytest.mark.parametrize(
    ("old", "new"),
    [("gridDim.x * 4;", "gridDim.x * 4 + 1;"), ("for (int j = 0; j < 4; j += 2) tile", "if (y < h) tile"),
     ("j < 4; j += 2) tile", "j < 2; j += 2) tile")],
)  # fmt: skip
@pytest.mark.long_cases("if", "gridDim")
def test_tiles_that_are_not_whole_are_what_they_say(old, new):
    assert old in KERNEL
    text = KERNEL.replace(old, new).replace("if (y < h) tile[threadIdx.y + j]", "if (y < h) tile[threadIdx.y]")
    if "if" in new:
        text = text.replace("in[(y + j) * width + x];", "in[y * width + x];")
    done = pipeline.translate(text, "case.cu")
    if done.text is not None:
        agrees(done, pipeline.Request(**LAUNCH, values={"h": 8}))


def test_the_last_row_may_end_with_the_launch():
    """Of rows one longer than the launch, the last need not be whole."""
    text = KERNEL.replace("gridDim.x * 4;", "gridDim.x * 4 + 1;")
    done = pipeline.translate(text, "case.cu")
    assert done.text is not None, done.diagnostics
    space: dict = {}
    exec(done.text, space)
    cells = np.arange(7 * 13 + 12, dtype=np.float32)
    out = np.zeros(11 * 13 + 8, np.float32)
    got = np.pad(np.asarray(space["f"](out, cells, 8, grid=(3, 2), block=(4, 2))), (0, 5)).reshape(12, 13)
    np.testing.assert_array_equal(got[:, :8], np.pad(cells, (0, 1)).reshape(8, 13)[:, :12].T)


def test_without_its_barrier_it_is_a_race():
    done = pipeline.translate(KERNEL.replace("    __syncthreads();\n", ""), "case.cu")
    assert done.text is None and {d.code for d in done.diagnostics} == {"KR201"}


LATER = """__global__ void f(float *y, const float *s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0) y[i] += s[blockIdx.x - 1];
}
"""


def test_an_array_of_as_many_rows_as_blocks_has_no_rim():
    """The rows of blocks from the second one on are those of the launch, not of one block more."""
    done = pipeline.translate(LATER, "case.cu")
    assert done.text is not None, done.diagnostics
    space: dict = {}
    exec(done.text, space)
    y = np.arange(32, dtype=np.float32)
    got = space["f"](y, np.array([5, 6, 7, 8], np.float32), grid=4, block=8)
    np.testing.assert_array_equal(got, y + np.repeat(np.array([0, 5, 6, 7], np.float32), 8))
