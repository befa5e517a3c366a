"""Bit sets in words whose width only the argument tells, and counters seen as unsigned ones."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = """
from numba import cuda

@cuda.jit
def f(x, idx, word, n):
    i = cuda.grid(1)
    if i < n{}:
        {}
"""
SETS = {
    "put in": ("", "cuda.atomic.or_(word, idx[i] // w, 1 << (idx[i] % w))", "|"),
    "some put in": (" and x[i] > 0", "cuda.atomic.or_(word, i // w, 1 << (i % w))", "|"),
    "taken out": (" and x[i] > 0", "cuda.atomic.and_(word, i // w, ~(1 << (i % w)))", "&"),
    "turned": ("", "cuda.atomic.xor(word, idx[i] >> 5, 1 << (idx[i] & (w - 1)))", "^"),
    "whole words": (" and x[i] > 0", "cuda.atomic.and_(word, idx[i] % 2, idx[i] - 50)", "&"),
    "one word": ("", "cuda.atomic.or_(word, 1, idx[i])", "|"),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_words_of_any_width(name, dtype):
    guard, statement, symbol = SETS[name]
    statement = statement.replace("w - 1", "31").replace(" w)", " 32)").replace("// w", "// 32")
    text = pipeline.translate(SOURCE.format(guard, statement), "f.py").text
    assert "loop" not in text and "ValueError" not in text
    rng = np.random.default_rng(5)
    x, idx = rng.normal(size=70).astype(np.float32), rng.integers(0, 96, 70).astype(np.int32)
    word = rng.integers(0, 2**31, 3).astype(dtype)
    got = np.asarray(load_module(text).f(x, idx, word, 70))
    expected = [int(w) for w in word]
    arguments = statement.partition("word, ")[2].removesuffix(")")
    for i in range(70):
        if not guard or x[i] > 0:
            at, value = eval(f"({arguments})", {"i": i, "idx": idx.tolist()})
            expected[at] = eval(f"a {symbol} b", {"a": expected[at], "b": value})
    assert got.dtype == dtype and [int(g) % 2**32 for g in got] == [e % 2**32 for e in expected]


def test_a_value_of_another_use_must_fit():
    """Stored as it is, into whatever the argument holds, ``1 << 31`` must be one."""
    text = pipeline.translate(SOURCE.format("", "word[i] = 1 << (i % 32)"), "f.py").text
    assert "may not fit 32 bits" in text


COUNTERS = """
__global__ void f(const int *x, const long long *v, long long *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd((unsigned long long *)&c[x[i]], (unsigned long long)v[i]);
        atomicAdd((unsigned long long int *)c, (unsigned long long)x[i]);
    }
}
"""


def test_counters_seen_as_unsigned_ones():
    done = pipeline.translate(COUNTERS, "f.cu")
    assert "uint" not in done.text
    f = load_module(done.text).f
    v = np.array([-5, 2**40, 7, -(2**62)])
    assert f(np.array([1, 1, 0, 1], np.int32), v, np.array([3, 4]), 4).tolist() == [13, 4 - 5 + 2**40 - 2**62]
    done = pipeline.translate(
        COUNTERS.replace("atomicAdd((unsigned long long *)&", "atomicMax((unsigned long long *)&"), "f.cu"
    )
    assert [d.code for d in done.diagnostics] == ["KR299"]


WORDS = """
__global__ void f(const unsigned *key, unsigned *set, int *hits, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{
        atomicOr(&set[key[i] / 32], 1u << (key[i] % 32));
        {}
    }}
}}
"""


@pytest.mark.parametrize(
    ("statement", "by_bits"),
    [
        ("atomicAdd(&hits[key[i] / 32], 1);", True),
        ("atomicAdd(&hits[key[i] / 16], 1);", False),
        ("atomicAdd(&hits[key[i] / 32], i);", False),
        ("if (key[i] > 9) atomicAdd(&hits[key[i] / 32], 1);", False),
    ],
)
def test_words_are_counted_with_their_bits(statement, by_bits):
    done = pipeline.translate(WORDS.format(statement), "f.cu")
    assert ("hits + jnp.sum" in done.text) == by_bits
    key = np.array([3, 40, 3, 63, 95, 8], np.uint32)
    expected = np.array([7, 7, 7, 7, 7, 7])
    for i, k in enumerate(key):
        if k > 9 or "if" not in statement:
            expected[k // (16 if "16" in statement else 32)] += i if ", i)" in statement else 1
    got = load_module(done.text).f(key, np.zeros(6, np.uint32), np.full(6, 7, np.int32), 6)[1]
    assert got.tolist() == expected.tolist()


def test_words_of_a_block_s_own():
    """The numbers of the bits of an array that the kernel makes: it has no dtype to ask."""
    source = """__global__ void f(const unsigned *x, unsigned *y, int n) {
    __shared__ unsigned s[6];
    for (int k = threadIdx.x; k < 6; k += blockDim.x) s[k] = (unsigned)-1;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 2) atomicAnd(s + x[i] % 6, (unsigned)(i % 5));
    __syncthreads();
    for (int k = threadIdx.x; k < 6; k += blockDim.x) atomicAnd(&y[k], s[k]);
    }"""
    text = pipeline.translate(source, "f.cu").text
    x, y = np.arange(20, dtype=np.uint32) * 7 % 13, np.arange(6, dtype=np.uint32) + 250
    got = np.asarray(load_module(text).f(x, y, 20, grid=3, block=8))
    for i in (i for i in range(20) if x[i] > 2):
        y[x[i] % 6] &= i % 5
    assert got.dtype == y.dtype and got.tolist() == y.tolist()
