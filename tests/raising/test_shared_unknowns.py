"""What two threads share of a round is one number for both: steps of trees in memory, places of planes."""

import pytest

from kraise import pipeline
from tests.checks import agrees

STEPS = """
__global__ void k(float *a, float *out) {{
  {type} t = threadIdx.x;
  for ({loop}) {{
    if ({on}) a[{cell}] {op} a[{other}];
    {barrier}
  }}
  if (t == 0) *out = a[0];
}}"""
HALVES = {"type": "unsigned", "loop": "unsigned s = blockDim.x; s >= 1; s /= 2", "on": "t < s", "cell": "t"}
HALVES |= {"other": "t + s", "op": "-=", "barrier": "__syncthreads();"}
DOUBLES = HALVES | {"type": "int", "loop": "int s = 1; s < blockDim.x; s *= 2", "on": "t % (2 * s) == 0"}
PAIRS = DOUBLES | {"loop": "unsigned s = 1; s <= blockDim.x; s *= 2", "on": "t % s == 0"}
PAIRS |= {"cell": "2 * t", "other": "2 * t + s"}
SHAPES = {"a": (32,), "out": (1,)}


@pytest.mark.parametrize("steps", [HALVES, DOUBLES, PAIRS])
def test_steps_in_memory_stay_a_loop(steps):
    done = pipeline.translate(STEPS.format(**steps), "a.cu")
    assert "fori_loop" in done.text
    agrees(done, pipeline.Request(shapes=SHAPES, grid=(1,), block=(8,), gradients=steps is HALVES))


@pytest.mark.parametrize(
    "twin",
    [
        HALVES | {"barrier": ""},
        HALVES | {"on": "t <= s"},
        HALVES | {"other": "t + s - 1"},
        DOUBLES | {"on": "t % s == 0"},
        DOUBLES | {"other": "t + 2 * s"},
        PAIRS | {"other": "2 * t + 2 * s"},
    ],
)
def test_steps_that_meet_are_refused(twin):
    done = pipeline.translate(STEPS.format(**twin), "a.cu")
    assert not done.raised and {d.code for d in done.diagnostics} == {"KR201"}


PLANE = """
__global__ void k(float *e, int w, int h, float z, float step) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < w && j < h) e[w * h * {plane} + w * j + i] += z * i;
}}"""


def test_a_plane_that_numbers_say():
    done = pipeline.translate(PLANE.format(plane="(int)(z / step)"), "a.cu")
    agrees(done, pipeline.Request(shapes={"e": (36,)}, values={"w": 4, "h": 3, "z": 2.0, "step": 1.0}))
    assert not pipeline.translate(PLANE.format(plane="(int)(i / step)"), "a.cu").raised


PARTS = """
__global__ void k(const float *x, float *y, int n) {{
  int t = threadIdx.x, q = n / 4;
  float s = 0.0f;
  for (int i = t; i < q; i += blockDim.x) {{ y[i] = x[i]; s += x[i]; }}
  for (int i = {start}; i < n; i += blockDim.x) y[i] = 5.0f;
  for (int o = 16; o > 0; o /= 2) s += __shfl_down_sync(~0u, s, o);
  if (t == 0) y[n] = s;
}}"""


def test_two_parts_of_an_array_beside_a_sum_of_lanes():
    done = pipeline.translate(PARTS.format(start="q + t"), "a.cu")
    shapes = {"x": (8,), "y": (9,)}
    agrees(done, pipeline.Request(shapes=shapes, values={"n": 8}, grid=(1,), block=(32,), gradients=False))
    assert not pipeline.translate(PARTS.format(start="q + t - 1"), "a.cu").raised
