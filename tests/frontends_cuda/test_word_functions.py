"""Means of integers, bytes that are picked, words of two or four numbers: against what NumPy says of each of them."""

import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.frontends.cuda_c import read
from kraise.verify import interpreter
from kraise.verify.load import load_module

HEAD = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
EDGES = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80FF7F01, 0x01020304]


def words(seed):
    rng = np.random.default_rng(seed)
    return np.array([*EDGES, *rng.integers(0, 2**32, 40)], np.uint32)


def computed(call, a, b):
    """What the interpreter and the emitted function say of ``call`` of the words a and b."""
    source = f"__global__ void k(const unsigned *a, const unsigned *b, unsigned *y) {{ {HEAD} y[i] = {call}; }}"
    done = pipeline.translate(source, "k.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    given = {"a": a, "b": b, "y": np.zeros_like(a)}
    run = interpreter.run(read(source, "k.cu")[0], "k", given, grid=(len(a),), block=(1,)).arrays["y"]
    emitted = load_module(done.text).k(*(jnp.asarray(x) for x in given.values()))
    np.testing.assert_array_equal(np.asarray(emitted), run)
    return np.asarray(emitted)


def lanes(x, bits, signed):
    return x.view(np.dtype(f"{'i' if signed else 'u'}{bits // 8}")).astype(np.int64)


def together(x, bits):
    return (x & ((1 << bits) - 1)).astype(np.dtype(f"u{bits // 8}")).view(np.uint32)


def bounded(x, bits, signed):
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return np.clip(x, low, high)


OPERATIONS = {  # name, whether a number has a sign, and what is done to it
    "add": (False, lambda x, y, n, s: x + y),
    "sub": (False, lambda x, y, n, s: x - y),
    "addss": (True, lambda x, y, n, s: bounded(x + y, n, s)),
    "subus": (False, lambda x, y, n, s: bounded(x - y, n, s)),
    "maxs": (True, lambda x, y, n, s: np.maximum(x, y)),
    "minu": (False, lambda x, y, n, s: np.minimum(x, y)),
    "avgs": (True, lambda x, y, n, s: (x + y + 1) >> 1),
    "avgu": (False, lambda x, y, n, s: (x + y + 1) >> 1),
    "haddu": (False, lambda x, y, n, s: (x + y) >> 1),
    "absdiffs": (True, lambda x, y, n, s: abs(x - y)),
    "absdiffu": (False, lambda x, y, n, s: abs(x - y)),
    "cmpgts": (True, lambda x, y, n, s: np.where(x > y, -1, 0)),
    "cmpleu": (False, lambda x, y, n, s: np.where(x <= y, -1, 0)),
    "seteq": (False, lambda x, y, n, s: np.where(x == y, 1, 0)),
    "setlts": (True, lambda x, y, n, s: np.where(x < y, 1, 0)),
}


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("name", OPERATIONS)
def test_words_of_numbers(name, count):
    signed, function = OPERATIONS[name]
    a, b, bits = words(1), words(2)[::-1].copy(), 32 // count
    expected = together(function(lanes(a, bits, signed), lanes(b, bits, signed), bits, signed), bits)
    np.testing.assert_array_equal(computed(f"__v{name}{count}(a[i], b[i])", a, b), expected)


@pytest.mark.parametrize(("name", "signed"), [("sads", True), ("sadu", False)])
def test_distances_of_words(name, signed):
    a, b = words(3), words(4)
    expected = abs(lanes(a, 8, signed) - lanes(b, 8, signed)).reshape(-1, 4).sum(1)
    np.testing.assert_array_equal(computed(f"__v{name}4(a[i], b[i])", a, b), expected)


def test_magnitudes_of_words():
    a = words(5)
    x = lanes(a, 8, True)
    np.testing.assert_array_equal(computed("__vabs4(a[i])", a, a), together(abs(x), 8))
    np.testing.assert_array_equal(computed("__vabsss4(a[i])", a, a), together(np.minimum(abs(x), 127), 8))
    np.testing.assert_array_equal(computed("__vneg4(a[i])", a, a), together(-x, 8))


@pytest.mark.parametrize("picks", ["b[i]", "0x0123", "0x5410", "0x7777"])
def test_bytes_that_are_picked(picks):
    a, b = words(6), words(7)
    both = (b.astype(np.uint64) << np.uint64(32)) | a
    s = b if picks == "b[i]" else np.full_like(b, int(picks, 16))
    expected = np.zeros_like(a)
    for at in range(4):
        pick = (s >> np.uint32(4 * at)) & np.uint32(7)
        byte = (both >> (pick.astype(np.uint64) * np.uint64(8))) & np.uint64(255)
        expected |= byte.astype(np.uint32) << np.uint32(8 * at)
    np.testing.assert_array_equal(computed(f"__byte_perm(a[i], b[i], {picks})", a, b), expected)


@pytest.mark.parametrize("by", [0, 7, 31, 32, 40])
def test_words_moved_by_a_word_at_most(by):
    a, b, by_ = words(8), words(9), min(by, 32)
    both = [(int(y) << 32) | int(x) for x, y in zip(a, b, strict=True)]
    left = np.array([(v << by_) >> 32 & 0xFFFFFFFF for v in both], np.uint32)
    right = np.array([(v >> by_) & 0xFFFFFFFF for v in both], np.uint32)
    np.testing.assert_array_equal(computed(f"__funnelshift_lc(a[i], b[i], {by})", a, b), left)
    np.testing.assert_array_equal(computed(f"__funnelshift_rc(a[i], b[i], {by})", a, b), right)


@pytest.mark.parametrize("name", ["__hadd", "__rhadd", "__uhadd", "__urhadd"])
def test_means_of_integers(name):
    """``__hadd`` of integers is half of their sum: it was the sum."""
    a, b = words(10), words(11)
    x, y = (v.astype(np.int64) if "u" in name else v.view(np.int32).astype(np.int64) for v in (a, b))
    expected = ((x + y + ("r" in name)) >> 1).astype(np.uint32)
    call = f"{name}(a[i], b[i])" if "u" in name else f"(unsigned){name}((int)a[i], (int)b[i])"
    np.testing.assert_array_equal(computed(call, a, b), expected)


def test_a_sum_of_halves_is_one():
    source = f"__global__ void k(const half *a, const half *b, half *y) {{ {HEAD} y[i] = __hadd(a[i], b[i]); }}"
    done = pipeline.translate(source, "k.cu")
    assert done.text, done.diagnostics
    x = jnp.asarray([1.5, -2.0], jnp.float16)
    np.testing.assert_array_equal(load_module(done.text).k(x, x, x * 0), [3.0, -4.0])
