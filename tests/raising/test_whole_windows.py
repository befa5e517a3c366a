"""Pools of windows that lie side by side, with as many of them as are whole: ``W / k`` in a row of W."""

import pytest

from kraise import pipeline
from tests.checks import agrees

POOL = """
__global__ void pool(const float *x, float *y, int C, int H, int W, int k) {
    int across = W / k, down = H / k;
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.z;
    if (i >= across || j >= down || c >= C) return;
    float m = START;
    for (int a = 0; a < LAST; a++) for (int b = 0; b < LAST; b++) ROUND
    y[(c * down + j) * across + i] = m;
}"""
CELL = "x[(c * H + j * k + a) * W + i * k + b]"
POOLS = {
    "maxima": ("-INFINITY", "k", f"m = fmaxf(m, {CELL});"),
    "means": ("0.0f", "k", f"m += {CELL} / (k * k);"),
}


@pytest.mark.parametrize("name", POOLS)
def test_pools(name):
    start, last, body = POOLS[name]
    text = POOL.replace("START", start).replace("LAST", last).replace("ROUND", body)
    done = pipeline.translate(text, "k.cu")
    assert done.text is not None and "arange" not in done.text and "H // k * k" in done.text, done.text
    for size in ((2, 4, 6, 2), (1, 5, 7, 3), (2, 3, 2, 3)):
        c, h, w, k = size
        case = {"shapes": {"x": (c * h * w,), "y": (c * (h // k) * (w // k) + 1,)}}
        agrees(done, pipeline.Request(**case, values=dict(zip("CHWk", size, strict=True))), size)


def test_one_plane():
    text = POOL.replace("START", "0.0f").replace("LAST", "k").replace("ROUND", f"m += {CELL};").replace("c * H + ", "")
    done = pipeline.translate(text.replace("c * down + ", "").replace(" || c >= C", ""), "k.cu")
    assert done.text is not None and "arange" not in done.text, done.text
    agrees(done, pipeline.Request(shapes={"x": (28,), "y": (6,)}, values={"C": 1, "H": 4, "W": 7, "k": 2}))


def test_windows_that_overlap_stay_flat():
    """A window of more than k columns may go on in the next row."""
    text = POOL.replace("START", "0.0f").replace("LAST", "k + 1").replace("ROUND", f"m += {CELL};")
    done = pipeline.translate(text, "k.cu")
    assert done.text is not None and "arange" in done.text, done.text
    agrees(done, pipeline.Request(shapes={"x": (40,), "y": (6,)}, values={"C": 1, "H": 4, "W": 6, "k": 2}))
