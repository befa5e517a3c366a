"""Extrema of floats by integer atomics and by compare-and-swap loops, and what only looks like them."""

import numpy as np
import pytest

from kraise.pipeline import Request, translate, verify
from kraise.verify.load import load_module

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


SIGNED = """
__global__ void kernel(const float *x, float *m, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  float v = {start};
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v = fmaxf(v, {each});
  s[t] = v;
  __syncthreads();
  for (int o = blockDim.x / 2; o > 0; o >>= 1) {{
    if (t < o) s[t] = fmaxf(s[t], s[t + o]);
    __syncthreads();
  }}
  if (t == 0) {store};
}}
"""
STORE = "atomicMax((int *)m, __float_as_int(s[0]))"


STARTED = {  # where an extremum of integers begins, and which elements count
    "the largest": "int s = 0; for (int k = 0; k < 4; k++) if (x[4 * i + k] != -3) s = max(s, x[4 * i + k]); y[i] = s;",
    "the smallest": "int s = -90; for (int k = i % 2; k < 4; k++) s = min(s, x[4 * i + k]); y[i] = s;",
    "without a sign": "unsigned s = 3000000000u; for (int k = 0; k < 4 - i % 2; k++) s = max(s, (unsigned)x[4 * i + k]"
    " >> 1); y[i] = s;",
}


@pytest.mark.parametrize("name", STARTED)
def test_an_extremum_of_integers_begins_somewhere(name):
    """The start was what stands in masked lanes only: it was lost where a row has none."""
    source = (
        f"__global__ void f(const int *x, int *y, int n) {{ int i = threadIdx.x; if (i < n) {{ {STARTED[name]} }} }}"
    )
    module = load_module(translate(source, "kernel.cu").text)
    x = np.array([[-7, -6, -5, -4], [-1, -3, -8, 6], [-9, -9, -9, -2]], np.int32)
    unmasked = {
        "the largest": [0, 6, 0],
        "the smallest": [-90] * 3,
        "without a sign": [np.int32(np.uint32(3000000000))] * 3,
    }
    np.testing.assert_array_equal(module.f(x.ravel(), np.zeros(3, np.int32), 3), unmasked[name])


@pytest.mark.parametrize(
    ("start", "each", "store", "form"),
    [
        ("0", "x[i]", STORE, "jnp.maximum(0.0, jnp.max(x[:n]))"),
        ("0", "fabsf(x[i])", STORE, "jnp.maximum(0.0, jnp.max(jnp.abs(x[:n])))"),
        ("-INFINITY", "x[i]", "if (s[0] >= 0) " + STORE, "jnp.maximum("),
    ],
)
def test_signed_integers_order_what_is_not_negative(start, each, store, form):
    done = translate(SIGNED.format(start=start, each=each, store=store), "kernel.cu")
    assert done.diagnostics == () and form in (done.text or ""), done
    for n in (1, 5, 70):
        request = Request(shapes={"x": (n,), "m": (1,)}, values={"n": n}, grid=(2,), block=(64,))
        ((report,), problems) = verify(done, request)
        assert not problems and report.ok, report.failures


@pytest.mark.parametrize(
    ("start", "each", "store"),
    [
        ("-1", "x[i]", STORE),
        ("-INFINITY", "x[i]", STORE),
        ("0", "x[i]", "atomicMax((int *)m, __float_as_int(s[0] - 1))"),
        ("0", "x[i]", "atomicMax((unsigned *)m, __float_as_uint(s[0]))"),  # m may be negative
        ("-INFINITY", "x[i]", "if (s[0] >= -1) " + STORE),
        ("0", "x[i]", "m[1] = __int_as_float(atomicMax((int *)m, __float_as_int(s[0])))"),
    ],
)
def test_what_may_be_negative_is_refused(start, each, store):
    done = translate(SIGNED.format(start=start, each=each, store=store), "kernel.cu")
    assert done.text is None and done.diagnostics[0].code in ("KR299", "KR203"), done.text


AGAIN = """
__global__ void kernel(const double *x, double *m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned long long *at = (unsigned long long *)m;
    unsigned long long old = *at;
    while (atomicCAS(at, old, __double_as_longlong(x[i] + __longlong_as_double(old))) != old) old = OTHER;
  }
}
"""


def test_a_loop_that_looks_at_the_cell_anew():
    done = translate(AGAIN.replace("OTHER", "*at"), "k.cu")
    assert done.text is not None and "add(jnp.sum(x[:n]))" in done.text, done.diagnostics
    (report,), problems = verify(done, Request(shapes={"x": (9,), "m": (1,)}, values={"n": 9}))
    assert report.ok and not problems
    for other in ("at[1]", "*at + 1", "old + 1"):
        assert translate(AGAIN.replace("OTHER", other), "k.cu").text is None, other
