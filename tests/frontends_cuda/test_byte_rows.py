"""Rows whose length is given in bytes: `(float *)((char *)p + y * pitch) + x`."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified

ROWS = """
__global__ void scale(float *v, int w, int h, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) {
    float *row = (float *)((char *)v + y * pitch);
    row[x] *= 2;
  }
}
__global__ void turn(float2 *v, int w, int h, size_t pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) {
    float2 *at = (float2 *)((char *)v + y * pitch) + x;
    float2 t = *at;
    *at = make_float2(t.y, -t.x);
  }
}
__global__ void down(const double *a, double *o, int n) {
  const char *bytes = (const char *)(a + 1);
  int i = threadIdx.x;
  if (i < n) o[i] = *(const double *)(bytes + 2 * i * sizeof(double));
}"""


def test_rows_in_bytes_are_rows_of_elements():
    done = pipeline.translate(ROWS, "k.cu")
    assert not done.diagnostics and "jnp.arange" not in done.text
    reports, problems = verified(done, pipeline.Request(gradients=False))
    assert not problems and all(r.ok for r in reports), [f for r in reports for f in r.failures]
    scale = load_module(done.text).scale
    np.testing.assert_array_equal(scale(np.ones(8, np.float32), 3, 2, 16), [2, 2, 2, 1, 2, 2, 2, 1])
    with pytest.raises(ValueError, match="pitch must be a multiple of 4"):
        scale(np.ones(8, np.float32), 3, 2, 18)


HEAD = """
__device__ float first(const char *p) { return p[0]; }
__global__ void k(float *v, float *o, int n, int pitch) {
  int i = threadIdx.x;
  %s
}"""


@pytest.mark.parametrize(
    "does",
    [
        "if (i < n) o[i] = *((char *)v + i * pitch);",  # a byte of a float
        "if (i < n) o[i] = first((char *)v + i * pitch);",
        "if (i < n) o[i] = *(int *)((char *)v + i * pitch);",
        "if (i < n) o[i] = *(float *)((char *)v + i);",
        "if (i < n) o[i] = *(float *)((char *)v + i * pitch + 2);",
        "pitch += 1; if (i < n) o[i] = *(float *)((char *)v + i * pitch);",
        "char *p = (char *)v; for (int k = 0; k < i; k++) p += pitch; if (i < n) o[i] = *(float *)p;",
        "if (i < n) memcpy(o + i, (char *)v + i * pitch, 4);",
    ],
)
def test_bytes_within_elements_are_refused(does):
    assert [d.code for d in pipeline.translate(HEAD % does, "k.cu").diagnostics] == ["KR299"]
