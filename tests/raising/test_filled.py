"""Loads of shared cells that nobody has filled: a block that is too small for its array hides no barrier left out."""

import pytest

from kraise import pipeline

KERNEL = """
__global__ void f(const float *x, float *y) {{
  __shared__ float s[{cells}];
  int t = threadIdx.x, i = blockIdx.x * {cells} + t;
  s[t] = x[i];
  {barrier}
  {rest}
}}
"""
TREE = """
  if (t < 32) s[t] += s[t + 32];
  __syncthreads();
  if (t < 16) s[t] += s[t + 16];
  __syncthreads();
  if (t == 0) { float a = 0; for (int k = 0; k < 16; k++) a += s[k]; y[blockIdx.x] = a; }
"""
LOOP = "for (int w = 32; w > 0; w /= 2) { if (t < w) s[t] = fmaxf(s[t], s[t + w]) / 2; __syncthreads(); } y[i] = s[t];"
BODIES = [
    ("y[i] = s[63 - t];", 64),
    ("y[i] = s[255 - t];", 256),
    ("y[i] = s[(t + 32) % 64];", 64),
    ("if (t < 32) y[i] = s[t] + s[t + 32];", 64),
    ("y[i] = t < 32 ? s[t + 32] : s[t - 32];", 64),
    (TREE, 64),
    (LOOP, 64),
]


@pytest.mark.parametrize(("rest", "cells"), BODIES)
def test_the_barrier_is_needed(rest, cells):
    with_barrier, without = (
        pipeline.translate(KERNEL.format(cells=cells, barrier=b, rest=rest), "f.cu") for b in ("__syncthreads();", "")
    )
    assert with_barrier.text is not None, [d.reason for d in with_barrier.diagnostics]
    assert without.text is None and "KR201" in {d.code for d in without.diagnostics}


def test_a_cell_that_is_never_stored():
    body = "__shared__ float s[8]; int t = threadIdx.x; if (t < n) y[t] = s[t];"
    done = pipeline.translate(f"__global__ void f(float *y, int n) {{ {body} }}", "f.cu")
    assert done.text is None and {d.code for d in done.diagnostics} == {"KR207"}
