"""Integers that 32 bits may not hold: the emitted function says so from its sizes, and is right where it does not."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module, x64
from tests.checks import verified

HEAD = "from numba import cuda\n@cuda.jit\ndef k(x, y):\n    i = cuda.grid(1)\n    if i < y.shape[0]:\n        "
# what must fit, and how far it does
PYTHON = {
    "a factor of a float": ("y[i] = x[i] * (i * i)", 46340),
    "a stored product": ("y[i] = i * i", 46340),
    "a remainder": ("y[i] = (i * 73856) % 1021", 29076),
    "a quotient in a subscript": ("y[i] = x[(i * i) // y.shape[0]]", 46340),
    "a comparison": ("y[i] = 1.0 if i * i < x[0] else 0.0", 46340),
    "a power of two": ("y[i] = x[i] / (1 << i)", 30),
    "a power of two in a sum": ("y[i] = ((1 << i) + 1) % 5", 30),
    "a power": ("y[i] = 3 ** i % 5", 19),
    "a shift": ("y[i] = ((i << 20) >> 3) % 11", 2047),
    "a sum": ("s = 0\n        for j in range(i):\n            s += j * j\n        y[i] = s / (i + 1)", 1290),
}
FREE = {
    "a remainder by a power of two": "y[i] = (i * 48271) % 65536",
    "a subscript": "y[i] = x[2 * (i // 2)]",
    "lengths": "y[i] = x[i] * (i + y.shape[0])",
    "few bits of a power": "y[i] = (1 << i) & 255",
    "few bits of an index": "y[i] = x[i] + (i & 255) * 65536",
}


def emitted(source, file="k.py"):
    done = pipeline.translate(source, file)
    assert done.text and not done.diagnostics, done.diagnostics
    return done.text


@pytest.mark.parametrize("name", PYTHON)
def test_says_so_where_it_may_not_fit(name):
    body, last = PYTHON[name]
    text = emitted(HEAD + body + "\n")
    module = load_module(text)
    zeros = np.zeros(last, np.float32)
    jax.eval_shape(module.k, zeros, zeros)
    more = np.zeros(last + 1, np.float32)
    with pytest.raises(ValueError, match="may not fit 32 bits: it needs jax_enable_x64"):
        module.k(more, more)
    with x64(True):
        jax.eval_shape(module.k, more, more)


@pytest.mark.long
def test_a_long_integer_is_not_written_out():
    long = " + ".join(f"i // {n} % 7 * {n}" for n in range(3, 12))
    text = emitted(HEAD + f"y[i] = (i * i + {long}) % 1021\n")
    assert '"k: an index may not fit 32 bits: it needs jax_enable_x64"' in text, text


@pytest.mark.parametrize("name", FREE)
def test_nothing_is_said_where_it_makes_no_difference(name):
    assert "2**31" not in emitted(HEAD + FREE[name] + "\n")


def test_values_with_64_bits():
    module = load_module(emitted(HEAD + PYTHON["a remainder"][0] + "\n"))
    i = np.arange(100_000, dtype=np.int64)
    with x64(True):
        y = module.k(i.astype(np.float32), i.astype(np.float32))
    np.testing.assert_array_equal(y, (i * 73856) % 1021)


INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
C = {  # whether anything must fit, and the value in 64 bits
    "(unsigned)i * (unsigned)i / 3u": (True, lambda u: u * u // 3),
    "i * i / 3": (False, lambda u: u * u // 3),  # what overflows has no meaning in C
    "((unsigned)i * 2654435761u) >> 20": (False, lambda u: u * 2654435761 % 2**32 >> 20),
    "(unsigned)i * (unsigned)i": (False, lambda u: u * u),
}


@pytest.mark.parametrize("body", C)
def test_unsigned_products_of_c(body):
    said, value = C[body]
    text = emitted(f"__global__ void k(unsigned *y, int n) {{ {INDEX} if (i < n) y[i] = {body}; }}", "k.cu")
    assert ("2**31" in text) == said
    n = 40_000
    y = load_module(text).k(np.zeros(n, np.uint32), n)
    np.testing.assert_array_equal(y, value(np.arange(n, dtype=np.uint64)))


LONG = {  # stored in 64 bits: what 32 bits keep of them, and whether the sizes are checked instead
    "int v = (i + 7ll) * 400000000; z[i] = v;": (lambda i: ((i + 7) * 400000000).astype(np.int32), False),
    "int v = (unsigned)i * 2654435761u; z[i] = v;": (lambda i: (i * 2654435761).astype(np.int32), False),
    "unsigned v = i; z[i] = v * v;": (lambda i: (i * i).astype(np.uint32), True),
    "unsigned v = i * 8u; z[i] = v % 5u;": (lambda i: i * 8 % 5, False),
    "int v = z[i] - 9; if (i % 3 == 0) v = 0x80000000u / 1000003; z[i] = (unsigned)v;": (
        lambda i: np.where(i % 3 == 0, 2147, -9).astype(np.uint32),
        False,
    ),
}


@pytest.mark.parametrize("body", LONG)
def test_integers_of_32_bits_in_an_array_of_64(body):
    value, checked = LONG[body]
    text = emitted(f"__global__ void k(long long *z, int n) {{ {INDEX} if (i < n) {{ {body} }} }}", "k.cu")
    for n in (500, 70_000):
        with x64(True):
            if checked and n > 2**15:
                with pytest.raises(ValueError, match="may not fit 32 bits"):
                    load_module(text).k(np.zeros(n, np.int64), n)
            else:
                z = load_module(text).k(np.zeros(n, np.int64), n)
                np.testing.assert_array_equal(z, value(np.arange(n)))


def test_a_generator_of_python_integers():
    source = """def k(y):
    for i in range(y.shape[0]):
        s = i + 1
        for r in range(3):
            s = s * 48271 % 2147483647
        y[i] = s
"""
    text = emitted(source)
    assert "jax_enable_x64" in text and "s: taken to fit 32 bits" in text
    with x64(True):
        y = load_module(text).k(np.zeros(5, np.int64))
    assert [int(v) for v in y] == [(i + 1) * 48271**3 % 2147483647 for i in range(5)]


BYTES = {  # of a thread index: with threads 0 ... 299, what numpy's own types make of it
    "signed char v = (int)threadIdx.x; v &= v; v *= v; y[i] = v;": lambda t: (v := t.astype(np.int8)) * v,
    "y[i] = (signed char)threadIdx.x + 1;": lambda t: t.astype(np.int8).astype(np.int32) + 1,
    "short t = threadIdx.x; short u = t * t; y[i] = u;": lambda t: (v := t.astype(np.int16)) * v,
    "short t = threadIdx.x; unsigned short u = t << 8; y[i] = u;": lambda t: t.astype(np.uint16) << 8,
    "unsigned char t = threadIdx.x; if (threadIdx.x < 9) y[i] = t; else y[i] = t * 2;": lambda t: np.where(
        t < 9, t, (t & 255) * 2
    ),
}


@pytest.mark.parametrize("body", BYTES)
def test_bytes_of_thread_indices_wrap(body):
    head = "__global__ void k(int *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { "
    module = load_module(emitted(head + body + " } }\n", "k.cu"))
    got = module.k(np.zeros(300, np.int32), 300, grid=1, block=300)
    np.testing.assert_array_equal(got, BYTES[body](np.arange(300)))


def test_a_byte_counts_a_block_that_it_holds():
    text = "__global__ void k(const int *x, int *y) { __shared__ int s[%d]; unsigned char t = threadIdx.x;"
    text += " s[t] = x[blockIdx.x * %d + t]; __syncthreads(); y[blockIdx.x * %d + t] = s[t ^ 1]; }\n"
    assert pipeline.translate(text % (64, 64, 64), "k.cu").text
    assert not pipeline.translate(text % (512, 512, 512), "k.cu").text


WIDE = """__global__ void f(const int *x, int *y, long long *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i], d = (x[i] & 7) + 1;
    unsigned short s = 0;
    for (int k = 1; k < 3; k++) { s |= x[(v == 0 ? k : i) % n]; v = 0; }
    y[i] = s + v + (x[i] > 3 ? i : i % 7) % d;
    z[i] = (x[i] < 0 ? i : i % 7) / d;
}
"""


def test_numbers_and_choices_of_indices_have_the_width_of_what_they_meet():
    done = pipeline.translate(WIDE, "k.cu")
    reports, _ = verified(done, pipeline.Request(), "k.cu", WIDE)
    assert reports and all(r.ok for r in reports), [r.failures for r in reports]


MEETING = """__global__ void f(const short *c, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    short v;
    if (c[i] > 0) v = i % 7; else v = c[i];
    short u = v * v;
    u = u * v;
    short q = c[i] | (i % 5);
    q = q * q;
    short r = c[i] < 9 ? c[i] : i % 7;
    r = r * r;
    y[i] = u * u + q - r;
}
"""


def test_what_fits_a_type_beside_numbers_of_that_type_has_it():
    """``i % 7`` as an index is wider than ``c[i]``, and so was their product: it was not cut off."""
    module = load_module(pipeline.translate(MEETING, "k.cu").text)
    c = np.array([30000, -30000, 200, -200, 9, 1234], np.int16)
    i = np.arange(6)
    short = lambda x: x.astype(np.int16).astype(int)  # noqa: E731
    v = np.where(c > 0, i % 7, c).astype(int)
    u, q, r = short(short(v * v) * v), short(c | i % 5), np.where(c < 9, c, i % 7).astype(int)
    np.testing.assert_array_equal(module.f(c, np.zeros(6, np.int32), 6), u * u + short(q * q) - short(r * r))
