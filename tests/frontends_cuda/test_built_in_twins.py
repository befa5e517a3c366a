"""Names that CUDA has already: helper_math.h's ``floorf`` of a float3, scoped atomics; strings as arrays."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

OVERLOADED = """
inline __host__ __device__ float3 floorf(float3 v) { return make_float3(floorf(v.x), floorf(v.y), floorf(v.z)); }
inline __device__ float fdividef(float x, float y, int rounds = 2) {
  for (int r = 0; r < rounds; r++) x = x * y;
  return x;
}
__global__ void k(const float3 *p, float *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float3 f = floorf(p[i]);
    o[i] = f.x + floorf(2.0f * p[i].y) + %s;
  }
}
"""


def test_a_built_in_stands_beside_the_functions_of_its_name():
    done = pipeline.translate(OVERLOADED % "fdividef(p[i].z, 3.0f)", "k.cu")
    assert done.raised == ("k",), done.diagnostics
    p = np.array([[1.5, 2.3, 2.0]], np.float32)
    np.testing.assert_allclose(load_module(done.text).k(p, np.zeros(1, np.float32), 1), [1 + 4 + 18])
    agrees(done, pipeline.Request())


def test_what_neither_takes_is_refused():
    done = pipeline.translate(OVERLOADED % "floorf(make_float2(p[i].x, p[i].y))", "k.cu")
    assert [d.code for d in done.diagnostics if d.severity == "error"] == ["KR104"] and not done.raised


@pytest.mark.parametrize("scope", ["_block", "_system"])
def test_an_atomic_of_any_scope_is_the_atomic(scope):
    source = """
    __global__ void k(const int *x, int *c, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) { atomicSub@(c, x[i]); atomicMin@(c + 1, x[i]); atomicXor@(c + 2, x[i]); atomicExch@(c + 3, 7); }
    }"""
    plain, scoped = (pipeline.translate(source.replace("@", s), "k.cu") for s in ("", scope))
    assert scoped.raised == ("k",) and scoped.text == plain.text
    used = pipeline.translate(
        source.replace("atomicSub@(c, x[i])", "c[i] = atomicExch@(c, i)").replace("@", scope), "k.cu"
    )
    assert not used.raised and "KR203" in [d.code for d in used.diagnostics]


LETTERS = """
__constant__ char digits[] = "0123456789abcdef";
const unsigned char two[4] = "\\x41\\n";
__global__ void k(const unsigned char *in, unsigned char *out, int n) {
  const unsigned char own[] = "ABCDEFGHIJKLMN" "\\\\\\101";
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[3 * i] = digits[in[i] >> 4];
  out[3 * i + 1] = own[in[i] & 15] + two[i & 3];
  out[3 * i + 2] = sizeof(own) + sizeof(digits);
}"""


def test_a_string_is_an_array_of_its_characters():
    done = pipeline.translate(LETTERS, "k.cu")
    assert done.raised == ("k",), done.diagnostics
    out = load_module(done.text).k(np.array([0x1F, 0xAE], np.uint8), np.zeros(6, np.uint8), 2)
    np.testing.assert_array_equal(out, [ord("1"), ord("A") + 65, 34, ord("a"), ord("\\") + 10, 34])
    agrees(done, pipeline.Request())


def test_a_string_longer_than_its_array_is_refused():
    done = pipeline.translate(LETTERS.replace('own[] = "', 'own[3] = "'), "k.cu")
    assert not done.raised and done.diagnostics
