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
