"""Blocks of two numbers, ``n = blockIdx.z / K, k = blockIdx.z % K``, where only the launch says how many blocks
there are: whole rows of K."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

CONV = """
__global__ void conv(const float *in, const float *wt, const float *bias, float *out,
                     int C, int H, int W, int K, int R) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z % K, n = blockIdx.z / K;
    int OH = H - R + 1, OW = W - R + 1;
    if (x >= OW || y >= OH) return;
    float acc = bias[k];
    for (int c = 0; c < C; c++)
        for (int r = 0; r < R; r++)
            for (int s = 0; s < R; s++)
                acc += in[((n * C + c) * H + y + r) * W + x + s] * wt[((k * C + c) * R + r) * R + s];
    out[PLACE] = acc;
}
"""
PLACE = "((n * K + k) * OH + y) * OW + x"
SIZES = {"C": 2, "H": 5, "W": 6, "K": 3, "R": 2}
SHAPES = {"in": (2 * 2 * 30,), "wt": (3 * 2 * 4,), "bias": (3,), "out": (2 * 3 * 20,)}


def test_a_convolution_of_images_and_channels():
    done = pipeline.translate(CONV.replace("PLACE", PLACE), "k.cu")
    assert "conv_general_dilated" in done.text and "grid=None" in done.text and "arange" not in done.text, done.text
    agrees(done, pipeline.Request(shapes=SHAPES, values=SIZES, grid=(2, 2, 6), block=(4, 4)), done.text)
    function = load_module(done.text).conv
    rng = np.random.default_rng(0)
    arrays = {("in_" if n == "in" else n): rng.random(s, np.float32) for n, s in SHAPES.items()}
    given = function(**arrays, **SIZES, grid=(2, 2, 6), block=(4, 4))
    np.testing.assert_array_equal(given, function(**arrays, **SIZES))


def test_a_launch_of_a_part_of_a_row_is_turned_down():
    function = load_module(pipeline.translate(CONV.replace("PLACE", PLACE), "k.cu").text).conv
    arrays = {("in_" if n == "in" else n): np.zeros(s, np.float32) for n, s in SHAPES.items()}
    with pytest.raises(ValueError, match="grid.z must be a multiple of K"):
        function(**arrays, **SIZES, grid=(2, 2, 5), block=(4, 4))


@pytest.mark.parametrize("place", ["(k * OH + y) * OW + x", "((n * K + k) * OH + y) * OW + x - k"])
def test_planes_that_meet_are_refused(place):
    done = pipeline.translate(CONV.replace("PLACE", place), "k.cu")
    assert not done.raised and any(d.code == "KR201" for d in done.diagnostics), done.text


POOL = """
from numba import cuda

@cuda.jit
def pool(x, y, channels):
    j, i = cuda.grid(2)
    n = cuda.blockIdx.z // channels
    c = cuda.blockIdx.z - n * channels
    if i < y.shape[2] and j < y.shape[3]:
        y[n, c, i, j] = max(x[n, c, 2 * i, 2 * j], x[n, c, 2 * i + 1, 2 * j]) * x[n, 0, i, j]
"""


def test_numba_s_blocks_too():
    done = pipeline.translate(POOL, "k.py")
    assert done.text and "fmod" not in done.text and "// channels" in done.text, done.text
    shapes = {"x": (2, 3, 6, 4), "y": (2, 3, 3, 2)}
    request = pipeline.Request(shapes=shapes, values={"channels": 3}, grid=(1, 1, 6), block=(4, 4))
    agrees(done, request, done.text)


def test_adding_over_the_planes():
    """Every block adds, whether or not the last row of blocks is whole: nothing is asked of the launch."""
    source = """
__global__ void sums(const float *dy, float *db, int K, int P) {
    int n = blockIdx.y / K, k = blockIdx.y % K, p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < P) atomicAdd(&db[k], dy[(n * K + k) * P + p]);
}
"""
    done = pipeline.translate(source, "k.cu")
    for rows in (4, 5):
        shapes = {"dy": (rows * 7,), "db": (2,)}
        request = pipeline.Request(shapes=shapes, values={"K": 2, "P": 7}, grid=(2, rows), block=(4, 1))
        agrees(done, request, done.text)


WHOLE = """
__global__ void f(const float *x, const float *w, float *y, int N, int K, int H, int W) {
    int n = blockIdx.z / K, k = blockIdx.z % K;
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < H && j < W) y[((n * K + k) * H + i) * W + j] = x[(n * H + i) * W + j] * w[k];
}
"""


def test_a_launch_is_of_whole_rows():
    done = pipeline.translate(WHOLE, "k.cu")
    assert done.text is not None and "must be a multiple" in done.text
    sizes, shapes = {"N": 2, "K": 2, "H": 2, "W": 3}, {"x": (12,), "w": (2,), "y": (24,)}
    agrees(done, pipeline.Request(values=sizes, shapes=shapes, grid=(1, 1, 4), block=(4, 2)), done.text)


@pytest.mark.long
def test_a_launch_of_whole_rows_is_chosen():
    done = pipeline.translate(WHOLE, "k.cu")
    agrees(done, pipeline.Request(), done.text)
