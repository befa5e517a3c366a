"""Loops unrolled by hand, with the loop over the rest behind them, are one loop that does the same."""

from dataclasses import replace

import numpy as np
import pytest

from kraise.frontends import cuda_c
from kraise.ir import kernel as k
from kraise.raising.collective.opened import walked
from kraise.raising.loops.tidied import tidied
from kraise.verify import interpreter
from tests.raising.agree import agree, kinds, text

HEAD = "__global__ void f(const float *x, const float *y, float *z, int n) {{\n  {}\n}}\n"
THREAD = "int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockDim.x * gridDim.x; float s = 0;"
ROW = "int r = blockIdx.x * blockDim.x + threadIdx.x; float s = 0;"
ONE = {
    "strides": THREAD + "for (; i + 2 * b < n; i += 3 * b) s += x[i] + x[i + b] + x[i + 2 * b];"
    "for (; i < n; i += b) s += x[i]; atomicAdd(z, s);",
    "unsigned strides": "int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0;"
    "for (; i + gridDim.x * blockDim.x < n; i += gridDim.x * blockDim.x * 2) s += x[i] + x[i + gridDim.x * blockDim.x];"
    "for (; i < n; i += gridDim.x * blockDim.x) s += x[i]; atomicAdd(z, s);",
    "stores through locals": THREAD
    + "for (; i + b < n; i += 2 * b) { float p = x[i], q = x[i + b]; z[i] = p + 1; z[i + b] = q + 1; }"
    "for (; i < n; i += b) z[i] = x[i] + 1;",
    "in place": THREAD
    + "for (; i + b < n; i += 2 * b) { float p = z[i], q = z[i + b]; z[i] = 2 * p; z[i + b] = 2 * q; }"
    "for (; i < n; i += b) z[i] *= 2;",
    "a counter of before": ROW + "int j; for (j = 0; j < n - 3; j += 4)"
    "s += x[j] * y[j] + x[j + 1] * y[j + 1] + x[j + 2] * y[j + 2] + x[j + 3] * y[j + 3];"
    "for (; j < n; ++j) s += x[j] * y[j]; z[r] = s;",
    "to a multiple": ROW + "int m = n / 2 * 2; for (int j = 0; j < m; j += 2) { s += x[j]; s += x[j + 1]; }"
    "for (int j = m; j < n; j++) s += x[j]; z[r] = s;",
    "to what a mask leaves": ROW + "for (int j = 0; j < (n & ~3); j += 4) s += x[j] + x[j + 1] + x[j + 2] + x[j + 3];"
    "for (int j = n & ~3; j < n; j++) s += x[j]; z[r] = s;",
    "without the remainder": ROW + "for (int j = 0; j < n - n % 2; j += 2) s += x[j] + x[j + 1];"
    "for (int j = n - n % 2; j < n; j++) s += x[j]; z[r] = s;",
    "accumulators": ROW + "float s0 = 0, s1 = 0; int j = 0; for (; j + 2 <= n; j += 2) { s0 += x[j]; s1 += x[j + 1]; }"
    "float t = s0 + s1; for (; j < n; ++j) t += x[j]; z[r] = t + s;",
    "neighbours": "int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x), b = 2 * blockDim.x * gridDim.x; float s = 0;"
    "for (; i + 1 < n; i += b) s += x[i] + x[i + 1]; for (; i < n; i++) s += x[i]; atomicAdd(z, s);",
    "the second where there is one": "unsigned b = blockDim.x, i = blockIdx.x * b * 2 + threadIdx.x; float s = 0;"
    "while (i < n) { s += x[i]; if (i + b < n) s += x[i + b]; i += 2 * b * gridDim.x; } atomicAdd(z, s);",
    "guarded parts of a counted loop": ROW
    + "for (int j = 0; j < n; j += 2) { s += x[j]; if (j + 1 < n) s += x[j + 1]; }"
    "z[r] = s;",
}
SEVERAL = {
    "the first loop leaves out one": THREAD + "for (; i + b < n; i += 3 * b) s += x[i] + x[i + b];"
    "for (; i < n; i += b) s += x[i]; atomicAdd(z, s);",
    "the first loop goes too far": THREAD + "for (; i + b < n; i += 3 * b) s += x[i] + x[i + b] + x[(i + 2 * b) % n];"
    "for (; i < n; i += b) s += x[i]; atomicAdd(z, s);",
    "another term": THREAD + "for (; i + b < n; i += 2 * b) s += x[i] + 2 * x[i + b];"
    "for (; i < n; i += b) s += x[i]; atomicAdd(z, s);",
    "a sum that is stored each round": ROW
    + "int j = 0; for (; j + 1 < n; j += 2) { s += x[j] + x[j + 1]; z[j] = s; z[j + 1] = s; }"
    "for (; j < n; ++j) { s += x[j]; z[j] = s; }",
    "the loads come first, and matter": "if (threadIdx.x + blockIdx.x > 0) return; int j = 1; for (; j + 1 < n; j += 2)"
    "{ float p = z[j - 1], q = z[j]; z[j] = p + 1; z[j + 1] = q + 1; } for (; j < n; ++j) z[j] = z[j - 1] + 1;",
    "the second loop starts elsewhere": ROW + "int m = n / 2 * 2; for (int j = 0; j < m; j += 2) s += x[j] + x[j + 1];"
    "for (int j = m - n % 2; j < n; j++) s += x[j]; z[r] = s;",
    "a bound that is set behind the loops": ROW
    + "int m = 1; for (int q = 0; q < 2; q++) { for (int j = 0; j < m; j += 2)"
    "s += x[j] + x[j + 1]; for (int j = m; j < n; j++) s += x[j]; m = n / 2 * 2; } z[r] = s;",
    "an accumulator that starts at one": ROW
    + "float t = 1; int j = 0; for (; j + 2 <= n; j += 2) { s += x[j]; t += x[j + 1]; }"
    "s = s + t; for (; j < n; ++j) s += x[j]; z[r] = s;",
    "an accumulator that is asked for again": ROW
    + "float t = 0; for (int j = 0; j + 1 < n; j += 2) { s += x[j]; t += x[j + 1]; }"
    "z[r] = s + t; if (n > 4) z[r] = t;",
    "where the counter ends is asked for": "int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x); float s = 0;"
    "int b = 2 * blockDim.x * gridDim.x;"
    "for (; i + 1 < n; i += b) s += x[i] + x[i + 1]; for (; i < n; i++) s += x[i]; atomicAdd(z, s + i);",
}


def _run(source, n):
    module, problems = cuda_c.read(source, "f.cu")
    assert not problems, problems
    (function,) = module.functions
    new = replace(function, body=tidied(function.body))
    rng = np.random.default_rng(n)
    arrays = {a: rng.integers(-8, 8, 12).astype(np.float32) for a in "xyz"}
    values = []
    for f in (function, new):
        given = {a: v.copy() for a, v in arrays.items()} | {"n": n}
        values.append(interpreter.run(replace(module, functions=(f,)), "f", given, grid=(2,), block=(3,)).arrays["z"])
    return function, new, values


def _loops(f):
    return sum(isinstance(s, k.For | k.While) for s in walked(f.body))


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("n", (0, 1, 7))
def test_one_loop(name, n):
    old, new, (before, after) = _run(HEAD.format(ONE[name]), n)
    assert old.body != new.body and sum(isinstance(s, k.For | k.While) for s in new.body) == 1
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", SEVERAL)
def test_as_they_were(name):
    old, new, (before, after) = _run(HEAD.format(SEVERAL[name]), 7)
    assert _loops(old) == _loops(new) and old.body == new.body
    np.testing.assert_array_equal(before, after)


def test_chunks():
    """Threads that take a chunk each take all of them."""
    kernel = agree(
        "def f(x, y, n):\n  t = cuda.grid(1)\n  per = (n + 8) // 9\n  s = 0.0\n"
        "  for i in range(t * per, min((t + 1) * per, n)):\n    s += x[i]\n  cuda.atomic.add(y, 0, s)"
    )
    assert kinds(kernel) == {"Reduce"} and "sum_t" not in text(kernel) and ">=" not in text(kernel), text(kernel)


def test_chunks_of_their_own():
    """What is added depends on the thread."""
    kernel = agree(
        "def f(x, y, n):\n  t = cuda.grid(1)\n  per = (n + 8) // 9\n  s = 0.0\n"
        "  for i in range(t * per, min((t + 1) * per, n)):\n    s += t * x[i]\n  cuda.atomic.add(y, 0, s)"
    )
    assert "sum_(t" in text(kernel), text(kernel)
