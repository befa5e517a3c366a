"""Integers that a host computes when it is traced: C's wrap around and have a width, Python's do not."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module, x64
from tests.hosts.test_hosts import agrees, codes

CUDA = """
__global__ void add(float *x, int n, float s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += s;
}
void compared(float *x, unsigned n) {
    float s = 1.0f;
    if (n - 500 > 100) s = 2.0f;
    add<<<(n + 7) / 8, 8>>>(x, n, s);
}
void shifted(float *x, unsigned n) {
    add<<<(n + 7) / 8, 8>>>(x, n, (float)((n - 500) >> 3));
}
void rounds(float *x, unsigned n) {
    for (unsigned k = 0; k < (n - 500) % 6; k++)
        add<<<(n + 7) / 8, 8>>>(x, n, 1.0f);
}
void through_a_variable(float *x, unsigned n) {
    unsigned r = n - 500;
    for (unsigned k = 0; k < r % 6; k++)
        add<<<(n + 7) / 8, 8>>>(x, n, 1.0f);
}
void complement(float *x, unsigned n) {
    for (unsigned k = 0; k < ~n % 7; k++)
        add<<<(n + 7) / 8, 8>>>(x, n, 1.0f);
}
void narrow(float *x, int n) {
    for (int k = 0; k < (unsigned char)(n * 104); k++)
        add<<<(n + 7) / 8, 8>>>(x, n, 1.0f);
}
"""
WIDE = """
__global__ void add(float *x, int n, float s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += s;
}
void f(float *x, int n, int m) {
    size_t k = (size_t)(m - n) % 7;
    add<<<(n + 7) / 8, 8>>>(x, n, (float)k);
}
"""
N = 5
WRAPPED = (N - 500) % 2**32
WANT = {
    "compared": 2.0,
    "shifted": float(WRAPPED >> 3),
    "rounds": float(WRAPPED % 6),
    "through_a_variable": float(WRAPPED % 6),
    "complement": float((2**32 - 1 - N) % 7),
    "narrow": float(N * 104 % 256),
}


@pytest.mark.parametrize("name", WANT)
def test_it_wraps_around(name):
    done = pipeline.translate(CUDA, "a.cu")
    assert not codes(done)
    found = getattr(load_module(done.text), name)(np.zeros(N, np.float32), N)
    np.testing.assert_array_equal(found, np.full(N, np.float32(WANT[name])))
    agrees(done, name, x=np.zeros(N, np.float32), n=N)


def test_sizes_are_left_as_they_are():
    source = CUDA.replace("(n - 500) % 6", "(n + 3) / 4 % 6")
    done = pipeline.translate(source, "a.cu")
    assert "fori_loop(0, (n + 3) // 4 % 6" in done.text


def test_64_bits_wrap_around_in_64():
    done = pipeline.translate(WIDE, "a.cu")
    assert not codes(done)
    with x64(True):
        found = load_module(done.text).f(np.zeros(N, np.float32), N, 3)
    np.testing.assert_array_equal(found, np.full(N, np.float32((2**64 - 2) % 7)))


def test_a_number_of_a_double_module_is_divided_in_its_own_width():
    source = WIDE.replace("float", "double").replace("int m", "double t")
    source = source.replace("size_t k = (size_t)(m - n) % 7", "int k = (int)t * 5 % (n + 2) - (int)t / 3")
    done = pipeline.translate(source, "a.cu")
    assert not codes(done)
    with x64(True):
        found = load_module(done.text).f(np.zeros(N), N, -11.5)
    np.testing.assert_array_equal(found, np.full(N, -(55 % 7) + 3.0))


LOOPS = """
__global__ void add(double *x, int n, double s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += s;
}
void common(double *x, int n) {
    int a = n, b = 48;
    while (b) { int t = a % b; a = b; b = t; }
    add<<<(n + 7) / 8, 8>>>(x, n, a);
}
void digits(double *x, int n) {
    int a = n, s = 0;
    while (a > 0) { s += a % 10; a /= 10; }
    add<<<(n + 7) / 8, 8>>>(x, n, s);
}
void small(double *x, int n) {
    signed char s = (signed char)(n + 100);
    add<<<(n + 7) / 8, 8>>>(x, n, s);
}
"""


@pytest.mark.parametrize("name, want", [("common", 12), ("digits", 6), ("small", -24)])
def test_widths_in_loops_and_narrow_numbers(name, want):
    n = 132
    done = pipeline.translate(LOOPS, "a.cu")
    assert not codes(done)
    with x64(True):
        found = getattr(load_module(done.text), name)(np.zeros(n), n)
    np.testing.assert_array_equal(found, np.full(n, float(want)))


def test_a_start_below_zero_is_beyond_the_end():
    """``n - 2`` of an unsigned counter, where n is 1: no round."""
    source = (
        CUDA[: CUDA.index("void compared")]
        + """
void f(float *x, int n) { for (unsigned k = n - 2; k < (unsigned)n; k++) add<<<1, 64>>>(x, n, 1.0f); }
"""
    )
    done = pipeline.translate(source, "f.cu")
    assert done.raised == ("add", "f"), done.diagnostics
    for n, rounds in ((1, 0), (4, 2)):
        got = load_module(done.text).f(np.zeros(n, np.float32), n)
        assert np.array_equal(got, np.full(n, rounds)), done.text


BELOW = """
__global__ void add(float *x, float s, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += s; }
__global__ void sums(const float *x, float *y, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { float s = 0; for (int j = 0; j < m; j++) s += x[j]; y[i] = s; }
}
__global__ void shifted(const float *x, float *y, int k, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i + k >= 0 && i + k < n) y[i] += x[i + k];
}
__global__ void twice(float *x, int k, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i + k] *= 2;
}
"""
HOSTS_BELOW = {
    "add<<<1, 64>>>(x, 1, n - 3); add<<<1, 64>>>(x, 2, n - 9);": [2.0, 2, 1, 1, 1],
    "unsigned m = n; add<<<1, 64>>>(x, 1, m - 9u); add<<<1, 64>>>(x, 1, (int)(m - 3));": [2.0, 2, 1, 1, 1],
    "for (int k = 0; k < n; k++) add<<<1, 64>>>(x, 1, n - 2 * k);": [4.0, 3, 3, 2, 2],
    "int m = n - 9; n = 5 * n; if (n > 20) add<<<1, 64>>>(x, 1, m);": [1.0] * 5,
    "int m = 0; for (int k = 4; k >= 0; k--) { if (n > 4 * k) add<<<1, 64>>>(x, 1, m); m = n - 4 * k; }": [
        2.0,
        1,
        1,
        1,
        1,
    ],
    "for (int m = n; m > -4; m -= 2) add<<<1, 64>>>(x, 1, m);": [4.0, 3, 3, 2, 2],
    "int m = (n - 9) / 2; add<<<1, 64>>>(x, 1, m); add<<<1, 64>>>(x, 1, (n - 9) % 3);": [1.0] * 5,
    "for (int k = 0; k < n; k++) add<<<1, 64>>>(x + k, 1, n - k - 1);": [2.0, 3, 4, 5, 1],
    "if (n > 3) add<<<1, 64>>>(x, 1, n - 4); int h = n / 2; add<<<1, 64>>>(x + h, 1, n - h);": [2.0, 1, 2, 2, 2],
    "shifted<<<1, 64>>>(y, x, -2, n); shifted<<<1, 64>>>(y, x, n - 8, n);": [1.0, 1, 1, 2, 4],
    "sums<<<1, 64>>>(y, x, n - 3, n);": [1.0] * 5,
}


@pytest.mark.parametrize("body", HOSTS_BELOW)
def test_sizes_below_zero(body):
    """Nobody passes the guard ``i < n - 9``: it is no slice from the end of the array."""
    text = BELOW + "void run(float *x, float *y, int n) { " + body + " }"
    done = pipeline.translate(text, "below.cu")
    assert "run" in done.raised, done.diagnostics
    found = load_module(done.text).run(np.ones(5, np.float32), np.arange(5, dtype=np.float32), 5)
    assert found.tolist() == HOSTS_BELOW[body]
    assert ("max(" in done.text[done.text.index("def run") :]) is any(
        m in body for m in ("- 9", "- 2 * k", "m > -4", "int m = 0")
    )


def test_sizes_that_may_be_below_zero_are_checked():
    text = BELOW + "void run(float *x, float *y, int n) { sums<<<1, 64>>>(y, x, n - 3, 2); }"
    run = load_module(pipeline.translate(text, "below.cu").text).run
    assert run(np.zeros(4, np.float32), np.ones(4, np.float32), 4).tolist() == [1, 1, 0, 0]
    with pytest.raises(ValueError, match="n - 3 must not be negative: it is `m` of sums"):
        run(np.zeros(4, np.float32), np.ones(4, np.float32), 2)
    done = pipeline.translate(BELOW + "void run(float *x, int n) { twice<<<1, 64>>>(x + 3, -2, n - 3); }", "below.cu")
    assert "run" not in done.raised
    assert codes(done) == {"KR204"}
