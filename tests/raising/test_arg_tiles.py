"""Where a row's extremum is, found by lanes in steps of 32 and then by shuffles: one argmax."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options

ROWS = """
__global__ void best(const float *x, int *idx, int n) {
    int row = blockIdx.x, lane = threadIdx.x;
    float top = START;
    int at = -1;
    for (int c = lane; c < n; c += 32) {
        float v = x[row * n + c];
        if (v > top) { top = v; at = PLACE; }
    }
    for (int o = 16; o > 0; o >>= 1) {
        float other = __shfl_down_sync(0xffffffff, top, o);
        int there = __shfl_down_sync(0xffffffff, at, o);
        if (other > top || (other == top && there < at)) { top = other; at = there; }
    }
    if (lane == 0) idx[row] = at;
}"""


def best(start, place="c"):
    done = pipeline.translate(ROWS.replace("START", start).replace("PLACE", place), "k.cu", Options())
    assert not done.diagnostics
    found: dict = {}
    exec(done.text, found)
    return done.text, found["best"]


@pytest.mark.parametrize("start", ["-INFINITY", "-1e30f"])
@pytest.mark.long_cases("-1e30f")
def test_the_first_place_of_the_largest(start):
    text, found = best(start)
    assert "argmax" in text and "arange" not in text
    x = np.random.default_rng(1).integers(0, 9, (4, 70)).astype(np.float32)
    x[2] = -np.inf
    out = found(x.ravel(), np.zeros(4, np.int32), 70)
    np.testing.assert_array_equal(out, np.where(np.arange(4) == 2, -1, x.argmax(axis=1)))


def test_another_number_than_the_place():
    text, found = best("-INFINITY", "c / 2")
    x = np.random.default_rng(2).integers(0, 9, (3, 70)).astype(np.float32)
    lanes = [[x[r, lane::32] for lane in range(32)] for r in range(3)]
    wanted = []
    for row in lanes:
        top = max(part.max() for part in row)
        wanted.append(min((lane + 32 * p.argmax()) // 2 for lane, p in enumerate(row) if p.max() == top))
    np.testing.assert_array_equal(found(x.ravel(), np.zeros(3, np.int32), 70), wanted)
