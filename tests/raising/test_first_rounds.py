"""Loads that every round makes until an exit is taken: where the first round makes them, they need no safe place."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

MARCH = """
__global__ void f(const float *o, float *y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = 0.f;
    for (int s = 0; s < 8; s++) {
        BODY
        if (x < 0.5f) break;
        t += x;
        if (t > 4.f) { t = -1.f; break; }
    }
    y[i] = t;
}
"""


def text_of(body):
    return pipeline.translate(MARCH.replace("BODY", body), "k.cu").text


def test_places_that_do_not_move():
    text = text_of("float x = o[2 * i] + o[2 * i + 1] * t;")
    assert "clip" not in text and "o[1 : 2 * n + 1 : 2]" in text
    o = np.array([[1, 0.5], [0.2, 3], [0.75, 0.1]], np.float32)
    expected = []
    for a, b in o:
        t = 0.0
        for _ in range(8):
            x = a + b * t
            if x < 0.5:
                break
            t += x
            if t > 4:
                t = -1.0
                break
        expected.append(t)
    found = load_module(text).f(o.ravel(), np.zeros(3, np.float32), 3, 0)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "body",
    [
        "float x = o[2 * i + s];",  # moves: a lane that has left asks for no more
        "if (t > 2.f) break; float x = o[(int)t + 2 * i];",  # moves with what is carried
        "float x = 1.f; if (s > 2) x = o[2 * i + 1];",  # not in the first round
        "float x = 1.f; if (t > 1.f) x = o[2 * i + 1];",
        "float x = 1.f; if (i < m) x = o[2 * i + 1];",  # not for all lanes
    ],
)
def test_places_that_a_lane_need_not_have(body):
    assert 'get(mode="clip")' in text_of(body)
