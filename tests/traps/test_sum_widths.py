"""Sums of integers of 32 bits where a caller has JAX's 64-bit mode on: they wrap, and loops keep their width."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = """__device__ int wadd(int a, int b) {{ return (int)((unsigned)a + (unsigned)b); }}
__global__ void f(const {0} *x, {1} *y, int n, int m) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {{ """
SUM = "{0} s = 0; for (int j = 0; j < m; j++) s += x[i * m + j]; y[i] = {1}; }}}}"
OF_INTS = "int s = {}; for (int j = 0; j < m; j++) s = {}; y[i] = s / 3; }}}}"
CASES = {  # element, result, body, what it makes of the rows of x
    "unsigned": ("unsigned", "float", SUM.format("unsigned", "s / 7"), lambda x: x.sum(1, dtype=np.uint32) // 7),
    "product": ("unsigned", "float", SUM.format("unsigned", "s >> 4").replace("s = 0", "s = 1").replace("s +=", "s *="),
                lambda x: x.prod(1, dtype=np.uint32) >> 4),
    "in an int": ("unsigned", "float", SUM.format("int", "s"), lambda x: x.sum(1, dtype=np.uint32).astype(np.int32)),
    "of ints": ("int", "int", OF_INTS.format(0, "(int)((unsigned)s + (unsigned)x[i * m + j])"),
                lambda x: _third(x.astype(np.int64).sum(1))),
    "by a helper": ("int", "int", OF_INTS.format(0, "wadd(s, wadd(x[i * m + j], j))"),
                    lambda x: _third(x.astype(np.int64).sum(1) + 3)),
    "product of ints": ("int", "int", OF_INTS.format(1, "(int)((unsigned)s * (unsigned)(x[i * m + j] | 1))"),
                        lambda x: _third((x | 1).astype(np.int64).prod(1))),
    "carried": ("int", "int", "int s = 0; for (int r = 0; r < 3; r++) { int t = 0; "
                "for (int j = 0; j < m; j++) t += x[j] * (s & 1); s ^= t + 5; } y[i] = s; } }",
                lambda x: _rounds(x[0])),
}  # fmt: skip


def _rounds(row):
    s = 0
    for _ in range(3):
        s ^= int((row * (s & 1)).sum()) + 5
    return np.full(2, s)


def _third(s):
    """Of sums that wrap at 32 bits, as C divides."""
    return np.trunc(s.astype(np.int32) / 3).astype(np.int32)


@pytest.mark.long_cases("product", "in an int", "by a helper", "product of ints")
@pytest.mark.parametrize("name", CASES)
def test_a_sum_has_its_own_width_in_double_mode(name):
    element, result, body, wanted = CASES[name]
    f = load_module(pipeline.translate(HEAD.format(element, result) + body, "f.cu").text).f
    x = np.array([[2**31 + 9, 2**31 - 9, 2**31 + 5], [7, 2**31 + 1, 2**31 + 3]], np.uint32)
    x = x if element == "unsigned" else (x % 5).astype(np.int32) if name == "carried" else x.view(np.int32)
    y = np.zeros(2, np.float32 if result == "float" else np.int32)
    for wide in (False, True):
        with jax.enable_x64(wide):
            given = f(x.ravel(), y, 2, 3)
        assert given.dtype == y.dtype
        np.testing.assert_allclose(np.asarray(given), wanted(x), rtol=1e-6)


def test_a_signed_sum_needs_no_width():
    text = pipeline.translate(HEAD.format("int", "int") + SUM.format("int", "s"), "f.cu").text
    assert "dtype=" not in text
