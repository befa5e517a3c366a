"""Extrema of floats by integer atomics and by compare-and-swap loops, and what only looks like them."""

import pytest

from kraise.pipeline import translate

BITS = """
__device__ void highest(float *at, float v) {
  if (v >= 0) atomicMax((int *)at, __float_as_int(v));
  else atomicMin((unsigned int *)at, __float_as_uint(v));
}
__global__ void kernel(const float *x, float *m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) highest(m, x[i]);
}
"""
SWAP = """
__device__ void highest(float *at, float v) {
  int *bits = (int *)at;
  int old = *bits, seen;
  do {
    seen = old;
    if (__int_as_float(seen) >= v) break;
    old = atomicCAS(bits, seen, __float_as_int(v));
  } while (seen != old);
}
__global__ void kernel(const float *x, float *m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) highest(m, x[i]);
}
"""
LOOP = """
__global__ void kernel(const double *x, double *m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned long long *at = (unsigned long long *)m;
    unsigned long long old = *at, seen;
    while (x[i] < __longlong_as_double(old)) {
      seen = old;
      old = atomicCAS(at, seen, __double_as_longlong(x[i]));
    }
  }
}
"""


@pytest.mark.parametrize(("source", "form"), [(BITS, "maximum"), (SWAP, "maximum"), (LOOP, "minimum")])
def test_the_forms_are_extrema(source, form):
    done = translate(source, "kernel.cu")
    assert done.diagnostics == ()
    assert f"jnp.{form}(m[0]" in (done.text or "")


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        (BITS, "atomicMin", "atomicMax"),  # the wrong way round for negative values
        (BITS, "v >= 0", "v <= 0"),
        (BITS, "v >= 0", "v >= 1"),
        (BITS, "unsigned int *)at, __float_as_uint", "int *)at, __float_as_int"),
        (BITS, "__float_as_uint(v)", "__float_as_uint(2 * v)"),
        (SWAP, "__float_as_int(v))", "__float_as_int(v + 1))"),
        (SWAP, "seen != old", "seen == old"),
        (LOOP, "atomicCAS(at, seen", "atomicCAS(at, old + 1"),
    ],
)
def test_what_only_looks_like_them_is_refused(source, old, new):
    assert old in source
    done = translate(source.replace(old, new), "kernel.cu")
    assert done.text is None
    assert {d.code for d in done.diagnostics} & {"KR203", "KR299"}


def test_bits_of_values_that_may_be_negative_are_refused():
    source = BITS.replace("if (v >= 0) ", "").replace("else atomicMin", "// ")
    assert {d.code for d in translate(source, "kernel.cu").diagnostics} == {"KR299"}


def test_the_value_after_the_loop_is_not_known():
    source = LOOP.replace("    }\n  }\n}", "    }\n    m[i + 1] = __longlong_as_double(old);\n  }\n}")
    assert source != LOOP
    assert translate(source, "kernel.cu").text is None
