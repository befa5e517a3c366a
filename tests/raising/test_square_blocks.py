"""Blocks that have as many threads along y as along x, because rows are counted by the threads along x; dynamic shared
memory that is cut into tiles by bytes."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

PRODUCT = """{head} void f(const {t} *a, const {t} *b, {t} *c, int m, int k, int n) {{
  int w = blockDim.x;
  extern __shared__ {memory} mem[];
  {t} *s = ({t} *)mem, *q = {second};
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * w + ty, col = blockIdx.x * w + tx;
  {t} v = 0;
  for (int p = 0; p < (k + w - 1) / w; ++p) {{
    s[ty * w + tx] = row < m && p * w + tx < k ? a[row * k + p * w + tx] : 0;
    q[ty * w + tx] = p * w + ty < k && col < n ? b[(p * w + ty) * n + col] : 0;
    {barrier}
    for (int j = 0; j < w; ++j) v += s[ty * w + j] * q[j * w + tx];
    __syncthreads();
  }}
  if (row < m && col < n) c[row * n + col] = v;
}}"""
FLOATS = {"head": "__global__", "t": "float", "memory": "float", "second": "mem + w * w"}
BYTES = FLOATS | {"memory": "unsigned char", "second": "(float *)(mem + w * w * sizeof(float))"}
SYNC = "__syncthreads();"
TURNED = """__global__ void f(const float *x, float *y, int rows, int n) {
  extern __shared__ float s[];
  int w = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * w + ty, col = blockIdx.x * w + tx;
  s[ty * w + tx] = row < rows && col < n ? x[row * n + col] : 0;
  __syncthreads();
  if (row < rows && col < n) y[row * n + col] = s[(w - 1 - ty) * w + tx];
}"""


def translated(**parts):
    return pipeline.translate(PRODUCT.format(**parts), "f.cu")


@pytest.mark.parametrize("parts", [FLOATS, BYTES])
def test_tiles_of_a_product(parts):
    done = translated(barrier=SYNC, **parts)
    assert "a2 @ b2" in done.text and "as many threads along y as along x" in done.text, done.diagnostics
    sizes = {"m": 5, "k": 7, "n": 6}
    shapes = {"a": (35,), "b": (42,), "c": (30,)}
    agrees(done, pipeline.Request(shapes=shapes, values=sizes, grid=(2, 2), block=(3, 3)))


@pytest.mark.parametrize("parts", [FLOATS, BYTES])
def test_without_a_barrier(parts):
    assert translated(barrier="", **parts).text is None


def test_of_a_template():
    parts = BYTES | {"head": "template <typename T> __global__", "t": "T"}
    parts["second"] = "reinterpret_cast<T *>(mem + w * w * sizeof(T))"
    assert "a2 @ b2" in translated(barrier=SYNC, **parts).text


@pytest.mark.parametrize(
    "second",
    [
        "(float *)(mem + w * w)",  # within an element
        "(float *)(mem + w * w * sizeof(double))",  # it would do, but ...
    ],
)
def test_bytes_that_are_no_elements(second):
    done = translated(barrier=SYNC, **BYTES | {"second": second})
    assert (done.text is None) == ("sizeof" not in second)


def test_parts_of_two_types():
    text = """__global__ void f(const double *x, float *y) {
      extern __shared__ char mem[];
      double *s = (double *)mem;
      float *t = (float *)(mem + 8 * blockDim.x);
      s[threadIdx.x] = x[threadIdx.x];
      t[threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      y[threadIdx.x] = t[blockDim.x - 1 - threadIdx.x];
    }"""
    (found,) = pipeline.translate(text, "f.cu").diagnostics
    assert found.code == "KR299" and "two types" in found.reason


def test_a_block_that_is_not_square():
    done = pipeline.translate(TURNED, "f.cu")
    f = load_module(done.text).f
    x, y = np.arange(24, dtype=np.float32), np.zeros(24, np.float32)
    with pytest.raises(ValueError, match="as many threads along y as along x"):
        f(x, y, 4, 6, grid=(2, 1), block=(3, 4))
    found = f(x, y, 4, 6, grid=(3, 2), block=(2, 2))
    np.testing.assert_array_equal(found, x.reshape(2, 2, 6)[:, ::-1].ravel())
    agrees(
        done, pipeline.Request(shapes={"x": (24,), "y": (24,)}, values={"rows": 4, "n": 6}, grid=(3, 2), block=(2, 2))
    )


def test_rows_that_are_counted_by_something_else():
    assert pipeline.translate(TURNED.replace("blockIdx.y * w", "blockIdx.y * (w - 1)"), "f.cu").text is None
