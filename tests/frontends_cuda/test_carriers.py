"""Vectors that only carry bits: a ``uint4`` that is seen as the numbers which it was loaded from."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

HEAD = """
#include <cuda_fp16.h>
template <typename T> __device__ void twice(T &to, float from) { to = (T)(2.0f * from); }
__global__ void k(const T *x, T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
"""
FLOATS = {
    "a word of bits": """
  uint4 v = reinterpret_cast<const uint4 *>(x)[i], o;
  for (int k = 0; k < 4; k++) reinterpret_cast<float *>(&o)[k] = 2.0f * reinterpret_cast<const float *>(&v)[k];
  reinterpret_cast<uint4 *>(y)[i] = o;""",
    "by reference": """
  uint4 v = ((const uint4 *)x)[i], o;
  for (int k = 0; k < 4; k++) twice(((float *)&o)[k], ((float *)&v)[k]);
  ((uint4 *)y)[i] = o;""",
    "the same numbers": """
  float4 v = ((const float4 *)x)[i];
  for (int k = 0; k < 4; k++) ((float *)&v)[k] *= 2.0f;
  ((float4 *)y)[i] = v;""",
    "words of 64 bits": """
  ulonglong2 v = ((const ulonglong2 *)x)[i];
  float *p = (float *)&v;
  for (int k = 0; k < 4; k++) p[k] = p[k] + p[k];
  ((ulonglong2 *)y)[i] = v;""",
}


@pytest.mark.parametrize("name", FLOATS)
def test_a_vector_of_bits_is_the_numbers_that_it_holds(name):
    done = pipeline.translate(HEAD.replace("T *", "float *") + FLOATS[name] + "}", "k.cu")
    assert done.raised == ("k",), done.diagnostics
    assert "bitcast" not in done.text and "for " not in done.text.split("def k")[1].split('"""')[2]
    x = np.arange(12, dtype=np.float32)
    np.testing.assert_array_equal(load_module(done.text).k(x, np.zeros(12, np.float32), 2)[:9], [*2 * x[:8], 0])
    agrees(done, pipeline.Request())


def test_halves_in_a_vector_of_floats():
    body = """
  float4 v = reinterpret_cast<const float4 *>(x)[i];
  half2 *h = reinterpret_cast<half2 *>(&v);
  for (int k = 0; k < 4; k++) h[k] = __hadd2(h[k], h[k]);
  reinterpret_cast<float4 *>(y)[i] = v;}"""
    done = pipeline.translate(HEAD.replace("T *", "half *") + body, "k.cu")
    assert done.raised == ("k",) and "bitcast" not in done.text, done.diagnostics
    x = np.arange(16, dtype=np.float16)
    np.testing.assert_array_equal(load_module(done.text).k(x, np.zeros(16, np.float16), 2), 2 * x)


@pytest.mark.parametrize("seen", ["((half *)&v)[0] = 1; y[i] = ((float *)&v)[1];", "y[i] = *(double *)&v;"])
def test_a_vector_that_is_seen_as_other_types_is_refused(seen):
    done = pipeline.translate(HEAD.replace("T *", "float *") + "uint4 v = ((const uint4 *)x)[i];" + seen + "}", "k.cu")
    assert not done.raised and {d.code for d in done.diagnostics if d.severity == "error"} == {"KR299"}
