"""Elements that are read or stored several at a time, as the words that they make up, are the elements themselves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline

MOVED = """
#include <cuda_bf16.h>
template <class T> __device__ void both(T *y, const T *x, T s) {{
    T v[sizeof(uint2) / sizeof(T)];
    uint2 w = *reinterpret_cast<const uint2 *>(x);
    memcpy(v, &w, sizeof(w));
    for (int k = 0; k < sizeof(uint2) / sizeof(T); k++) v[k] = v[k] * s;
    memcpy(&w, v, sizeof(w));
    *reinterpret_cast<uint2 *>(y) = w;
}}
__global__ void f({t} *y, const {t} *x, {t} s, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) both(y + i * {per}, x + i * {per}, s);
}}
"""
PARTS = """
__global__ void f(unsigned short *y, const unsigned short *x, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{
        unsigned w = ((const uint2 *)x)[i].y;
        y[i] = (unsigned short)({part});
    }}
}}
"""


def run(text, *arguments):
    scope = {}
    exec(text, scope)
    return scope["f"](*arguments)


@pytest.mark.parametrize(("t", "per"), [("float", 2), ("__nv_bfloat16", 4), ("half", 4)])
def test_elements_that_are_moved_by_words_are_elements(t, per):
    done = pipeline.translate(MOVED.format(t=t, per=per), "k.cu")
    assert done.text is not None and "bitcast" not in done.text, done.diagnostics
    dtype = {"float": jnp.float32, "half": jnp.float16}.get(t, jnp.bfloat16)
    x = jnp.asarray(np.random.default_rng(0).normal(size=3 * per), dtype)
    y, s = jnp.zeros(4 * per, dtype), jnp.asarray(3, dtype)
    assert np.array_equal(run(done.text, y, x, s, 3), jnp.pad(x * s, (0, per)))
    pulled = jax.grad(lambda x: run(done.text, y, x, s, 3).astype(jnp.float32).sum())(x)
    assert np.array_equal(pulled, jnp.full_like(x, 3))


@pytest.mark.parametrize("part", ["w", "w >> 16", "w >> 8", "w | w >> 16", "(w << 16) >> 16", "w + 1 >> 16"])
def test_only_a_whole_element_is_taken_out_of_a_word(part):
    done = pipeline.translate(PARTS.format(part=part), "k.cu")
    x = np.random.default_rng(1).integers(0, 65536, 12).astype(np.uint16)
    w = (x[2::4].astype(np.uint32) | x[3::4].astype(np.uint32) << np.uint32(16)).astype(np.uint32)
    expected = eval(part, {"w": w}).astype(np.uint16)  # NumPy's operators on uint32 are C's
    assert np.array_equal(run(done.text, np.zeros(3, np.uint16), x, 3), expected)
    assert part not in ("w", "w >> 16") or "<<" not in done.text, done.text


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("float v[3]; uint2 w = *(const uint2 *)(x + 2 * i); memcpy(v, &w, 12);", "KR299"),  # more than there is
        ("double v[1]; memcpy(v, x + 2 * i, 4 * n);", "KR299"),  # of no known length, to another type
        ("float v[2]; char b[8]; memcpy(b, x + 2 * i, 6); v[0] = b[0];", "KR299"),  # to the middle of a number
    ],
)
def test_copies_of_bytes_that_are_no_numbers_are_refused(body, code):
    source = "__global__ void f(float *y, const float *x, int n) { int i = threadIdx.x; if (i < n) { %s y[i] = *v; } }"
    done = pipeline.translate(source % body, "k.cu")
    assert done.text is None and [d.code for d in done.diagnostics if d.severity == "error"] == [code]
