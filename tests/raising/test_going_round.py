"""Counters that pass the end of their type, and short numbers that do: C wraps them."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = """__global__ void f(const int *x, int *y, unsigned n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  int t = x[i];
"""
X = np.array([3, -4, 0, 9, 2], np.int32)
U = 2**32


def total(start, step, goes_on, first=False):
    """The sum of an unsigned counter over the rounds of a loop; ``first``: it is asked after a round."""
    k, out = start % U, 0
    while first or goes_on(k):
        out, k, first = out + k, (k + step) % U, False
    return out


# the loop, what it adds (n is 5), and whether it is a loop over whole arrays in the end
LOOPS = {
    "down to zero": ("for (unsigned k = n - 1; k < n; k--) t += k;", 10),
    "down in sizes": ("for (size_t k = n - 1; k < n; k--) t += k;", 10),
    "down by two": ("for (unsigned k = n + 1; k <= n + 1; k -= 2) t += k;", 6 + 4 + 2),
    "down from beyond": ("for (unsigned k = n; k < n; k--) t += k;", 0),
    "down between numbers": ("for (unsigned k = 5; k < 10; k--) t += k;", 15),
    "down as while": ("unsigned k = n - 2; while (k < n) { t += k; k--; }", 6),
    "down and out": ("for (unsigned k = n - 1; k < n; k--) { if (k == 2) break; t += k; }", 7),
    "up over the end": ("for (unsigned k = 4294967290u; k != 3; k++) t += k;", total(-6, 1, lambda k: k != 3)),
    "up, asked last": ("unsigned k = -1; do { t += k; } while (++k < 3);", total(-1, 1, lambda k: k < 3, True)),
    "to a number, asked last": (
        "unsigned k = 4294967290u; do { t += k; k++; } while (k != 3);",
        total(-6, 1, lambda k: k != 3, True),
    ),
    "a product of shorts": ("short s = 200; s *= s; t += s;", 200 * 200 - 65536),
    "a difference of bytes": ("signed char s = -100; s -= 100; t += s;", 56),
}


@pytest.mark.parametrize("name", LOOPS)
def test_what_goes_round(name):
    loop, more = LOOPS[name]
    done = pipeline.translate(HEAD + loop + "\n  y[i] = t;\n}\n", "f.cu")
    assert done.raised == ("f",), done.diagnostics
    got = load_module(done.text).f(X, np.zeros(5, np.int32), 5, 5)
    assert np.array_equal(got, (X.astype(np.int64) + more).astype(np.int32)), done.text


def test_down_to_zero_is_a_slice():
    source = HEAD + "for (unsigned k = n - 1; k < n; k--) t = t * 2 + x[k];\n  y[i] = t;\n}\n"
    text = pipeline.translate(source, "f.cu").text
    assert "reverse=True" in text and "while_loop" not in text, text


def test_down_from_where_nothing_says_is_refused():
    source = HEAD + "for (unsigned k = n ^ 5; k < n; k--) t += k;\n  y[i] = t;\n}\n"
    assert [d.code for d in pipeline.translate(source, "f.cu").diagnostics if d.severity == "error"] == ["KR205"]
