"""Two shared buffers in turn, of which one is filled anew in each round; blocks that overlap by what rounds lose."""

import pytest

from kraise import pipeline
from tests.checks import agrees

KERNEL = """__global__ void f(const float *x, float *y, int k) {{
  __shared__ float p[8], q[8];
  int t = threadIdx.x, i = blockIdx.x * 8 + t;
  p[t] = x[i];
  {before}
  for (int s = 0; s < k; s++) {{
    __syncthreads();
    {fill}
    __syncthreads();
    {copy}
  }}
  y[i] = p[t];
}}"""
ALL = "if (t > 0 && t < 7) q[t] = p[t - 1] * p[t + 1]; else q[t] = p[t];"
CHOSEN = "q[t] = t > 0 && t < 7 ? p[t - 1] * p[t + 1] : p[t];"
INNER = "if (t > s && t < 7) q[t] = p[t - 1] * p[t + 1];"


def done(fill, copy="p[t] = q[t];", before=""):
    return pipeline.translate(KERNEL.format(fill=fill, copy=copy, before=before), "k.cu")


@pytest.mark.long
def test_a_buffer_that_each_round_fills():
    """It was refused: nobody has stored to `q` before the loop."""
    text = done(CHOSEN).text
    assert text and "p.at[:, 1:-1].set(p[:, :-2] * p[:, 2:])" in text, text


@pytest.mark.long
def test_values_and_gradients():
    request = pipeline.Request(shapes={"x": (16,), "y": (16,)}, values={"k": 3}, grid=(2,), block=(8,))
    inner = "if (t > s && t < 7) p[t] = q[t];"
    for fill, copy in ((ALL, "p[t] = q[t];"), (CHOSEN, "p[t] = q[7 - t];"), (INNER, inner)):
        found = done(fill, copy)
        assert found.text, found.diagnostics
        agrees(found, request, found.text)


@pytest.mark.parametrize(
    ("fill", "copy"),
    (
        ("if (t > 0 && t < 7) q[t + 1] = p[t]; __syncthreads(); p[t] = q[0];", "p[t] += 1;"),  # nobody stores q[0]
        (CHOSEN, "p[7 - t] = q[t]; q[t] = p[t];"),  # without a barrier
    ),
)
def test_what_nobody_fills_and_races_are_refused(fill, copy):
    assert not done(fill, copy).raised


TRAPEZOIDS = """__global__ void f(const int *x, int *y, int n, int k) {{
  __shared__ int p[16];
  int t = threadIdx.x, i = (16 - 2 * k) * blockIdx.x - k + t;
  p[t] = i >= 0 && i < n ? x[i] : 0;
  bool done = false;
  for (int s = 0; s < k; s++) {{
    __syncthreads();
    done = t >= s + {first} && t < 15 - s && i >= 0 && i < n;
    int v = done ? p[t - 1] + p[t + 1] : 0;
    __syncthreads();
    if (s == k - 1) {{ p[t] = v; break; }}
    if (done) p[t] = v;
  }}
  if (done) y[i] = p[t];
}}"""


@pytest.mark.long
def test_blocks_that_overlap():
    """They were refused: different blocks might store to one cell."""
    found = pipeline.translate(TRAPEZOIDS.format(first=1).replace("{ p[t] = v; break; }", "p[t] = v; else"), "k.cu")
    assert found.text, found.diagnostics
    found = pipeline.translate(TRAPEZOIDS.format(first=0).replace("{ p[t] = v; break; }", "p[t] = v; else"), "k.cu")
    assert not found.raised
