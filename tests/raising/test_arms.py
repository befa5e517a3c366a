"""Sums whose terms come from a tile where it has the cell, and else from the array."""

import pytest

from kraise import pipeline
from tests.checks import verified

FILTER = """
#define T 4
__global__ void f(const float* a, const float* c, float* y, int w, int h) {
    __shared__ float s[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * T + tx, row = blockIdx.y * T + ty;
    s[ty][tx] = (row < h && col < w) ? a[row * w + col] : 0.0f;
    __syncthreads();
    if (row < h && col < w) {
        float v = 0.0f;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                int q = ty + i - 1, p = tx + j - 1, r = row + i - 1, k = col + j - 1;
                if (q >= 0 && q < T && p >= 0 && p < T) v += c[i * 3 + j] * s[q][p];
                else if (r >= 0 && r < h && k >= 0 && k < w) v += c[i * 3 + j] * a[r * w + k];
            }
        y[row * w + col] = v;
    }
}
"""
OTHER = {  # what the arms add differs somewhere
    "another cell": [("* s[q][p]", "* s[p][q]")],
    "twice": [("* a[r * w + k];", "* a[r * w + k] * 2.f;")],
    "no zero beyond": [(": 0.0f;", ": 1.0f;")],
    "no multiple": [("* s[q][p]", "* (s[q][p] + 1.f)"), ("* a[r * w + k];", "* (a[r * w + k] + 1.f);")],
    "a smaller array": [("k < w)", "k < w - 1)")],
}


def _text(changes):
    source = FILTER
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    done = pipeline.translate(source, "f.cu")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    shapes = {"a": (30,), "y": (30,), "c": (9,)}
    request = pipeline.Request(shapes=shapes, values={"w": 5, "h": 6}, grid=(2, 2), block=(4, 4), gradients=not changes)
    reports, problems = verified(done, request)
    assert not problems and all(r.ok for r in reports), [f.message for r in reports for f in r.failures]
    return done.text


def test_cells_of_the_tile_or_of_the_array_are_slices():
    text = _text([])
    assert "jnp.pad" in text and "jnp.where" not in text and "arange" not in text


@pytest.mark.parametrize("name", OTHER)
@pytest.mark.long_cases("no multiple")
def test_other_arms_stay(name):
    assert "arange" in _text(OTHER[name])
