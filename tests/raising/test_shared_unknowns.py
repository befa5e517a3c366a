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
    agrees(done, pipeline.Request(shapes=SHAPES, grid=(1,), block=(8,), gradients=False))


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


CORNERS = """
__global__ void k(float *v, const float *s, const float *e, int n, int m, int k) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < m && e[j * n + i] > 0.0f) {{
    v[j * (n + 1) + i] = s[k];
    v[(j + 1) * (n + 1) + i + 1] = {other};
  }}
}}"""


def test_what_all_threads_compute_alike_is_stored_in_any_order():
    done = pipeline.translate(CORNERS.format(other="s[k]"), "a.cu")
    sizes = {"n": 3, "m": 2, "k": 1}
    agrees(done, pipeline.Request(shapes={"v": (12,), "s": (2,), "e": (6,)}, values=sizes, gradients=False))
    for other in ("s[k + 1]", "s[i]", "-s[k]"):
        assert not pipeline.translate(CORNERS.format(other=other), "a.cu").raised


EDGES = """
__global__ void k(float *a, float *c, int w, int h) {
  int g = blockIdx.x * blockDim.x + threadIdx.x, row = g / w;
  if (row == 0) c[g] = 1.0f;
  if (row >= 4 && row < h) a[g] *= 2.0f;
}"""


def test_a_launch_goes_on_to_the_last_row():
    """Threads of the rows between store nothing: no end of what the guard lets through."""
    agrees(pipeline.translate(EDGES, "a.cu"), pipeline.Request(values={"w": 11, "h": 6}, gradients=False))


def test_a_row_of_a_length_that_memory_says():
    source = """
    struct Image { int w, h; };
    __global__ void k(float *y, const Image *p) {
      int j = blockIdx.y * blockDim.y + threadIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < p->w && j < p->h) y[j * p->w + i] = 1.0f + i;
    }"""
    (problem,) = pipeline.translate(source, "a.cu").diagnostics
    assert problem.code == "KR202" and "as `p.w` in memory" in problem.reason and "by value" in problem.hint
    assert pipeline.translate(source.replace("*p", "p").replace("->", "."), "a.cu").raised == ("k",)
