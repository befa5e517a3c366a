"""Windows in an image whose sizes, and those of the result, are parameters of their own: that they fit is checked."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

CONV = """
__global__ void f(const float *x, const float *w, float *y, int H, int W, int K, int OH, int OW) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= OW || j >= OH) return;
    float s = 0.0f;
    for (int a = 0; a < K; a++) for (int b = 0; b < K; b++) s += x[(j + a) * W + i + b] * w[a * K + b];
    y[j * OW + i] = s;
}"""
SIZES = {"H": 6, "W": 5, "K": 3, "OH": 4, "OW": 3}


def test_a_convolution():
    done = pipeline.translate(CONV, "k.cu")
    assert done.text is not None and "summed(term, range(K), range(K)" in done.text, done.text
    for less in (0, 1):
        sizes = SIZES | {"OH": 4 - less, "OW": 3 - less}
        agrees(done, pipeline.Request(shapes={"x": (30,), "w": (9,), "y": (12,)}, values=sizes), less)
    with pytest.raises(ValueError, match=r"K \+ OW - 1 <= W must hold"):
        load_module(done.text).f(*(np.ones(n, "f") for n in (30, 9, 16)), *(SIZES | {"OW": 4}).values())


def test_frames_may_overlap():
    """One size more than the step is what frames are for."""
    source = """
__global__ void f(const float *x, const float *w, float *y, int n, int hop, int win) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= n) return;
    float s = 0.0f;
    for (int k = 0; k < win; k++) s += x[f * hop + k] * w[k];
    y[f] = s;
}"""
    done = pipeline.translate(source, "k.cu")
    assert done.text is not None and "must hold" not in done.text, done.text
    case = {"shapes": {"x": (20,), "w": (6,), "y": (4,)}, "values": {"n": 4, "hop": 3, "win": 6}}
    agrees(done, pipeline.Request(**case))
