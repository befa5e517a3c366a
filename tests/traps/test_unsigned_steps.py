"""Unsigned locals that rounds of a loop move below zero: they wrap, and what is asked of them is unsigned."""

import numpy as np

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = """
__global__ void stepped(float *z, int n, int m) {
    int i = threadIdx.x;
    if (i < n) {
        unsigned d = i;
        for (int j = 0; j < m; j++) d -= 2;
        z[i] = d;
    }
}

__global__ void summed(int *z, int n, int m) {
    int i = threadIdx.x;
    if (i < n) {
        unsigned d = i;
        for (int j = 0; j < m; j++) d -= j;
        z[i] = d / 3 + (d > 100u);
    }
}

__global__ void reversed(const float *x, float *z, unsigned n) {
    unsigned k = n;
    for (unsigned i = 0; i < n; i++) {
        k--;
        z[i] = x[k];
    }
}

__global__ void walked(const float *x, float *z, int n) {
    size_t k = n - 1;
    for (int i = 0; i < n; i++) z[i] = x[k--];
}

__global__ void least(unsigned *b, int n) {
    int i = threadIdx.x;
    if (i < n) b[i] = min(-1, i);
}
"""


def test_unsigned_locals_that_go_below_zero():
    done = pipeline.translate(SOURCE, "steps.cu")
    assert done.raised == ("stepped", "summed", "reversed", "walked", "least")
    assert done.text is not None
    module = load_module(done.text)
    d = np.arange(4, dtype=np.uint32)
    for m in (0, 1, 3):
        own = d - np.uint32(2 * m)
        np.testing.assert_array_equal(module.stepped(np.zeros(4, "f"), 4, m), own.astype("f"))
        own = d - np.uint32(sum(range(m)))
        np.testing.assert_array_equal(module.summed(np.zeros(4, "i"), 4, m), own // 3 + (own > 100))
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(module.reversed(x, x, 5), x[::-1])
    np.testing.assert_array_equal(module.walked(x, x, 5), x[::-1])
    assert module.least(np.zeros(2, np.uint32), 2).tolist() == [2**32 - 1] * 2
    assert done.text.count("4294967295") == 1 and "18446744073709551615" not in done.text


BEYOND = """
__global__ void left(const float *x, float *y, int *z, unsigned long long n) {
    unsigned i = threadIdx.x;
    if (i < n) {
        float s = 0.0f;
        unsigned k;
        for (k = n - 1; k != (unsigned)-1; k--) {
            s += x[k];
            if (s > 2.0f) break;
        }
        y[i] = s;
        z[i] = k > 100u;
    }
}
"""


def test_a_search_that_begins_at_the_last_of_a_wide_size_ends_below_zero():
    """The difference of sizes that it starts with has the width of its variable."""
    done = pipeline.translate(BEYOND, "steps.cu")
    y, z = np.zeros(2, np.float32), np.zeros(2, np.int32)
    module = load_module(done.text)
    for x, total, beyond in (([0.5, 0.25], 0.75, 1), ([4.0, 2.5], 2.5, 0)):
        got, passed = module.left(np.float32(x), y, z, 2)
        assert got.tolist() == [total] * 2 and passed.tolist() == [beyond] * 2


STRIDES = """
__global__ void f(const float *x, float *y, %s n) {
    int stride = blockDim.x * gridDim.x;
    for (%s i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = 2.0f * x[i];
}
"""


def test_a_stride_of_signed_threads_is_no_negative_number():
    for types in (("int", "size_t"), ("size_t", "size_t"), ("int", "unsigned")):
        done = pipeline.translate(STRIDES % types, "f.cu")
        assert done.text is not None and "y.at[:n].set(2.0 * x[:n])" in done.text and "grid" not in done.text
    less = STRIDES.replace("gridDim.x;", "gridDim.x - n;") % ("int", "size_t")
    assert pipeline.translate(less, "f.cu").text is None
