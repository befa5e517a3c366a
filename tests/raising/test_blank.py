"""Shared and local memory that nobody has filled is not taken for zeros, nor for what a neighbour holds."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = "__global__ void f(const float *x, int *h, float *y, int n) { int t = threadIdx.x, i = blockIdx.x * 64 + t; "
NEVER = {  # what is left out, and the kernel without it
    "a counter's zero": ("if (t == 0) c = 0; __syncthreads();", "__shared__ int c; {} if (i < n && x[i] > 0.0f)"
                         " atomicAdd(&c, 1); __syncthreads(); if (t == 0) h[blockIdx.x] = c;"),
    "an extremum's start": ("if (t == 0) m = -99; __syncthreads();", "__shared__ int m; {} if (i < n)"
                            " atomicMax(&m, (int)x[i]); __syncthreads(); if (t == 0) h[blockIdx.x] = m;"),
    "a thread's own counts": ("c[0] = c[1] = 0;", "if (i < n) {{ int c[2]; {} c[x[i] > 0.0f]++; y[i] = c[1]; }}"),
    "half a tile": ("else s[t] = 0.0f;", "__shared__ float s[64]; if (t < 32) s[t] = x[t]; {} __syncthreads();"
                    " if (i < n) y[i] = s[t];"),
    "by data": ("else s[t] = 0.0f;", "__shared__ float s[64]; if (i < n && x[i] > 0.0f) s[t] = x[i]; {}"
                " __syncthreads(); if (i < n) y[i] = 2.0f * s[t];"),
}  # fmt: skip


@pytest.mark.parametrize("name", NEVER)
def test_what_nobody_has_stored_is_not_read(name):
    filling, body = NEVER[name]
    refused = pipeline.translate(HEAD + body.format("") + "}", "k.cu")
    assert refused.text is None and [d.code for d in refused.diagnostics] == ["KR207"], refused.diagnostics
    done = pipeline.translate(HEAD + body.format(filling) + "}", "k.cu")
    assert done.text is not None, done.diagnostics
    shapes = {"x": (80,), "h": (2,), "y": (80,)}
    own = {k: v for k, v in shapes.items() if k == "x" or f" {k}[" in body}
    agrees(done, pipeline.Request(shapes=own, values={"n": 80}, grid=(2,), block=(64,), gradients=False))


READ = {  # who reads a tile of which half is filled
    "those who filled it": "if (t < 32 && i < n) y[i] = s[t];",
    "by the number of one who did": "if (i < n) y[i] = s[t / 2];",
    "one who may be none of them": "if (i < n && x[i] > 0.0f) y[i] = s[t];",
    "by a place that data say": "if (i < n) y[i] = s[h[i]];",
}


@pytest.mark.parametrize("name", READ)
def test_a_part_of_a_tile_may_stay_blank(name):
    body = "__shared__ float s[64]; if (t < 32) s[t] = x[t]; __syncthreads(); "
    done = pipeline.translate(HEAD + body + READ[name] + "}", "k.cu")
    assert done.text is not None, done.diagnostics
