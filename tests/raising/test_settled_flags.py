"""A flag of lanes that have stopped is carried only where their values do not say so themselves."""

from textwrap import indent

import pytest

from kraise import pipeline
from tests.checks import agrees

SETTLED = {
    "tested first": "if v <= 0.0:\n    break\nv = v - 0.4 * math.sqrt(v)",
    "tested twice": "if v <= 0.0 or v > 3.0:\n    break\nv = v + 0.5",
    "with what all rounds share": "if v > c[i]:\n    break\nv = 1.5 * v + 0.1",
}
OTHERS = {
    "the round's number": "if v <= 0.3 * t:\n    break\nv = v + 0.1",
    "what the round reads": "if c[t] > v:\n    break\nv = v + 0.3",
    "tested last": "v = 0.7 * v - 0.1\nif v < 0.2:\n    break",
    "moves first": "u = 0.9 * v\nv = 0.5 * v + 0.1\nif u < 0.3:\n    break\nv = v + 0.2",
}
HEAD = "import math\n\ndef f(x, c, y, n):\n    for i in range(n):\n        v = x[i]\n        for t in range(6):\n"


@pytest.mark.parametrize("name", [*SETTLED, *OTHERS])
def test_flags(name):
    source = HEAD + indent((SETTLED | OTHERS)[name], " " * 12) + "\n        y[i] = v\n"
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    request = pipeline.Request(shapes={"x": (9,), "c": (9,), "y": (9,)}, values={"n": 9})
    agrees(done, request)
    assert ("stopped" in done.text.split('"""')[-1]) == (name in OTHERS), done.text


AT_LEAST_ONCE = """__global__ void f(const float *a, float *y, int n, int most, float little) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = 1.0f, gap = 1.0f;
  int it = 0;
  do {
    BODY
  } while (it < most && gap > little);
  y[i] = v;
}
"""
COUNTED = {  # whether the rounds count for the lanes: no lane has a number of its own
    "all rounds": ("gap = 0.5f * (v - a[i] / v); v -= gap; gap = fabsf(gap); it++;", True),
    "a lane's own number": (
        "gap = 0.5f * (v - a[i] / v); v -= gap; gap = fabsf(gap); if (gap < 0.1f) it += 2; else it++;",
        False,
    ),
    "asked for in the round, too": (
        "gap = it < most ? 0.5f * (v - a[i] / v) : 0.25f; v -= gap; gap = fabsf(gap); it++;",
        None,
    ),
}


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.long_cases("own number")
def test_rounds_at_least_once_are_counted_for_all_lanes(name):
    body, counted = COUNTED[name]
    done = pipeline.translate(AT_LEAST_ONCE.replace("BODY", body), "k.cu")
    assert done.text is not None, done.diagnostics
    for most in (5, 1, 0):
        values = {"n": 4, "most": most, "little": 1e-3}
        request = pipeline.Request(shapes={"a": (4,), "y": (4,)}, values=values)
        agrees(done, request)
    if counted is not None:
        assert ("it + 1" not in done.text) == counted, done.text
