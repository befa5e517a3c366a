"""A parameter that is the number of a block's threads: the step from a thread's element to its next one."""

import numpy as np
import pytest

from kraise import pipeline

MEAN = """
__global__ void means(float *mean, const float *x, int cols, int width) {
    extern __shared__ float part[];
    int row = blockIdx.x, t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < cols; i += width) sum += x[row * cols + i];
    part[t] = sum;
    for (int h = width / 2; h >= 1; h /= 2) {
        __syncthreads();
        if (t < h) part[t] += part[t + h];
    }
    if (t == 0) mean[row] = part[0] / cols;
}
"""


def test_a_mean_of_each_row():
    done = pipeline.translate(MEAN, "k.cu")
    assert not done.diagnostics and done.text, [d.reason for d in done.diagnostics]
    found: dict = {}
    exec(done.text, found)
    x = np.random.default_rng(1).standard_normal((3, 13), np.float32)
    got = found["means"](np.zeros(3, np.float32), x.ravel(), 13, 4, grid=3, block=4)
    np.testing.assert_allclose(got, x.mean(axis=1), rtol=1e-5, atol=1e-6)
    # further threads add up elements that others have too, into cells that nobody reads
    more = found["means"](np.zeros(3, np.float32), x.ravel(), 13, 4, grid=3, block=8)
    np.testing.assert_allclose(more, got)
    with pytest.raises(ValueError, match="block must have"):
        found["means"](np.zeros(3, np.float32), x.ravel(), 13, 4, grid=3, block=1)


@pytest.mark.parametrize(
    ("old", "new"),
    [("        __syncthreads();\n", ""), ("mean[row]", "mean[row / 2]"), ("if (t == 0) mean", "if (t < 2) mean")],
)
def test_races_stay_refused(old, new):
    assert old in MEAN
    done = pipeline.translate(MEAN.replace(old, new), "k.cu")
    assert done.text is None and {d.code for d in done.diagnostics} & {"KR201", "KR202", "KR205", "KR299"}
