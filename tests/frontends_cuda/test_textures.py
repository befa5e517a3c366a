"""Textures of linear memory are arrays; what depends on a texture's descriptor stays refused."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

LINEAR = """
texture<float> old;
texture<float4, 1, cudaReadModeElementType> rows;
__device__ float larger(cudaTextureObject_t t, int i, int j) { return tex1Dfetch<float>(t, max(i, j)); }
__global__ void k(cudaTextureObject_t a, const int *at, float *y, int n, cudaTextureObject_t b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tex1Dfetch<float>(a, at[i]) * tex1Dfetch<uint2>(b, 2 * i).y + larger(a, i, 0)
                    + tex1Dfetch(old, i) + tex1Dfetch(rows, (i + 1)).z;
}
"""


def test_loads_of_linear_memory_are_loads():
    done = pipeline.translate(LINEAR, "k.cu")
    assert done.text, [d.reason for d in done.diagnostics]
    rng = np.random.default_rng(0)
    a, old, rows = (rng.random(s).astype(np.float32) for s in (4, 4, (4, 4)))
    at, b = np.array([2, 0, 1], np.int32), np.arange(12, dtype=np.uint32).reshape(6, 2)
    got = load_module(done.text).k(a, at, np.zeros(3, np.float32), 3, b, old, rows)
    np.testing.assert_allclose(got, a[at] * b[::2, 1] + a[:3] + old[:3] + rows[1:, 2], rtol=1e-6)


@pytest.mark.parametrize(
    "old, new",
    [
        ("larger(a, i, 0)", "tex1D<float>(a, i + 0.5f)"),  # between elements
        ("larger(a, i, 0)", "tex1Dfetch<float2>(a, i).x"),  # of two types
        ("larger(a, i, 0)", "unknown(a, i)"),
        ("tex1Dfetch(old, i)", "tex1D(old, i)"),
        ("texture<float> old", "texture<float, 2> old"),
        ("cudaReadModeElementType", "cudaReadModeNormalizedFloat"),
    ],
)
def test_what_the_descriptor_says_is_refused(old, new):
    done = pipeline.translate(LINEAR.replace(old, new), "k.cu")
    assert done.text is None and {d.code for d in done.diagnostics if d.severity == "error"} <= {
        "KR101",
        "KR102",
        "KR103",
    }


def test_a_host_that_binds_textures_is_refused():
    host = "void h(float *y, float *x, const int *at, int n) {{ {} k<<<n / 32, 32>>>({}, at, y, n, {}); }}"
    bound = host.format("cudaTextureObject_t t; cudaCreateTextureObject(&t, 0, 0, 0);", "t", "t")
    assert pipeline.translate(LINEAR + bound, "k.cu").raised == ("k",)
    old = "__global__ void f(float *y) { y[threadIdx.x] = tex1Dfetch(old, threadIdx.x); }"
    bound = "void h(float *y, float *x, int n) { cudaBindTexture(NULL, old, x, n * 4); f<<<1, n>>>(y); }"
    done = pipeline.translate(LINEAR[: LINEAR.index("__device__")] + old + bound, "k.cu")
    assert done.raised == ("f",) and "KR213" in {d.code for d in done.diagnostics}
