"""A parameter that is no size is any number: unsigned ones of 2**31 and more are negative as ``int``."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.hostile.judge import judge

SOURCE = """
__device__ void steps(int b, int &x) { int c = b; x = 0; while (c < 0) { c += 7; x++; } }
__device__ int thirds(float f, int b) {
  int x = 0;
  for (int k = 0; k < 3; k++) { x += b / 3; b = b / 2; }
  return x + f;
}
__device__ int counted(int rounds) { int s = 0; for (int k = 0; k < rounds; k++) s += k; return s; }
__global__ void f(TYPE *out, unsigned m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  BODY
}
"""
SEED = 2**32 - 9  # -9
CASES = {
    "compared": ("int", "int b = m; out[i] = b < 0 ? 1 : 2;", 1),
    "divided": ("int", "out[i] = (int)m / 2;", -4),
    "shifted": ("int", "out[i] = (int)m >> 1;", -5),
    "carried": ("int", "int b = m, x = 0; for (int k = 0; k < 3; k++) { x += b / 3; b = b / 2; } out[i] = x;", -4),
    "longer": ("long long", "int b = m; out[i] = b;", -9),
    "a float": ("float", "int b = m; out[i] = b;", -9.0),
    "by reference": ("int", "int x; steps(m, x); out[i] = x;", 2),
    "called": ("int", "out[i] = thirds(2.75f, m);", -1),
    "unsigned": ("float", "out[i] = m / 2;", float(np.float32((2**32 - 9) // 2))),
}


def function(kind, body):
    done = pipeline.translate(SOURCE.replace("TYPE", kind).replace("BODY", body), "k.cu")
    assert done.text is not None, [d.message for d in done.diagnostics]
    return done.text, load_module(done.text).f


@pytest.mark.parametrize("name", CASES)
def test_values_above_the_largest_int(name):
    kind, body, wanted = CASES[name]
    dtype = {"int": np.int32, "long long": np.int64, "float": np.float32}[kind]
    got = function(kind, body)[1](np.zeros(2, dtype), np.uint32(SEED), 2)
    np.testing.assert_array_equal(np.asarray(got), np.full(2, wanted, dtype))


def test_what_a_called_function_counts_to_is_a_size():
    text, f = function("int", "out[i] = counted(m);")
    assert "uint32" not in text and f(np.zeros(2, np.int32), 5, 2)[0] == 10


def test_a_number_of_2_31_and_more_beside_the_array():
    """It filled up an array as a Python number, which is no 32 bit integer."""
    body = "if (i < n) { y[i] = i + 1 < n ? x[i + 1] : 0xffffffffu; z[i] = 0xfffffff0u; }"
    source = "__global__ void k(const unsigned *x, unsigned *y, unsigned *z, int n) {"
    source += f" int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}"
    assert judge(source, "cu", "x=u[9] y=u[9] z=u[9] n=9", [((2,), (8,))]) == "right"
