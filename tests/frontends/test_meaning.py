"""The Kernel IR means what Python means: the same source run by Python itself and by the reference interpreter."""

from __future__ import annotations

import copy
import math
import textwrap

import numpy as np
import pytest

from kraise.frontends.python import read
from kraise.verify import interpreter

from .conftest import HEADER

CASES = {
    "swap_and_views": """
        def f(a, out, n):
            for i in range(n):
                row = a[i]
                p, q = row[0], row[-1]
                p, q = q, p + q
                row[0], row[1] = row[1], row[0]
                out[i] = p * 10 + q
    """,
    "control": """
        def f(a, out, n):
            total = 0
            for i in range(n - 1, -1, -2):
                k = 0
                while True:
                    k += 1
                    if k % 2 == 0:
                        continue
                    if k > 5 or a[i, 0] * k > 2.0:
                        break
                else:
                    k = 100
                for j in range(3):
                    if a[i, j] > 0.9:
                        break
                else:
                    total += 1
                out[i] = k + total
            out[0] = j + i
    """,
    "sugar": """
        def f(a, out, n):
            for i, (u, v) in enumerate(zip(out, a)):
                out[i] = u + v[1] + len(v)
            for row in a:
                out[0] += row[0]
            for i in reversed(range(1, n)):
                out[i] = out[i - 1]
            for k, i in enumerate(range(2, n), 5):
                out[i] += k
            s = sum(a[i, j] for j in range(3) if a[i, j] > 0.3)
            out[1] = s + any(x > 0.5 for x in out) + all(out[q] > -1 for q in range(n))
    """,
    "numbers": """
        def f(a, out, n):
            for i in range(n):
                x = a[i, 0] * 7 - 3
                y = -i // 2 + (-i) % 3 + -7 // 2
                out[i] = int(x) + round(x) + math.floor(x) + np.floor(x) + y + x // 2 + x % 1.5
                out[i] += (1 < i <= 3) * 2 + (x > 0 and i > 1) + min(x, i, 2) + max(x, 0)
                q, r = divmod(i, 2)
                out[i] += q * 10 + r + i ** 2 + 2 ** -1 + (i if x else 3) + (x or 5) + (i and 7)
                b = c = x + 1
                b *= 2
                out[i] += b - c + abs(-i) + math.pow(i, 2) + math.hypot(i, 2) + (i ^ 3 | 1 & i) + (i << 2 >> 1)
    """,
    "helpers": """
        def norm(v, k):
            t = 0.0
            for j in range(k):
                if v[j] < 0:
                    return -1.0
                t += v[j] ** 2
            return math.sqrt(t)
        def move(row, s):
            row[0] += s
            return row[0], s + 1
        def f(a, out, n):
            g = lambda z, w=2: z
            h = lambda z: z * n
            for i in range(n):
                out[i] = norm(a[i], 3) + norm(out, 1) + h(i)
                u, w = move(a[i], 0.5)
                out[i] += u + w
                move(out, 1.0)
    """.replace("            g = lambda z, w=2: z\n", ""),
    "arrays": """
        W = [0.25, 0.5, 0.25]
        T = np.array([[1, 2], [3, 4]])
        def f(a, out, n):
            b = np.zeros((n, 3))
            c = out.copy()
            acc = [0.0, 1.0]
            b[:, 1] = 2.5
            b[0, :] += 1.0
            shape = a.shape
            h, w = shape
            for i in range(h):
                for j in range(w):
                    b[i, j] += a[i, j] * W[j]
                acc[i % 2] += b[i, 1] + T[1, i % 2]
                out[i] = acc[0] * acc[1] + c[i] + b[i, 0] + shape[1]
    """,
    "slices": """
        def window(w):
            return w[0, 0] + w[1, 1] * w.shape[0] - w[-1, -1]
        def f(a, out, n):
            out[1:-1] = 0.5 * (out[2:] - out[:-2])
            out[1:] += out[:-1]
            out[::2] *= a[::2, 1] + 1.0
            out[:] = out[::-1] + a[:, 0]
            a[:, 1] = a[:, 0] * np.exp(a[:, 2])
            a[1:n - 1] = a[: n - 2] + a[2:n] * a[0]
            a[0] = 2.0
            for i in range(1, n - 1):
                out[i] += window(a[i - 1 : i + 2, 0:2])
                b = a[i]
                b[1:] -= b[:-1]
                b *= 0.5
    """,
    "reductions": """
        def f(a, out, n):
            for i in range(n):
                r = a[i] - a[0]
                out[i] = np.sqrt(np.sum(r * r)) + np.dot(a[i], a[1, :]) + a[i].max() - np.min(a[i, 1:])
                out[i] += np.mean(a[i]) + np.prod(a[i]) + np.argmin(a[i]) * 10 + a[i].argmax()
            if np.any(out > 1.0):
                out[1] = not np.all(a > 0.5)
            big = np.any(a > 0.5)
            out[0] += big + a.sum() + np.sum(a[1:n, 1] ** 2) + np.max(np.abs(a - 1.0))
    """,
    "nests": """
        def f(a, out, n):
            for i, j in np.ndindex(a.shape):
                a[i, j] += i * 10 + j
            for i, j in np.ndindex(n, 2):
                out[i] += a[i, j]
            for (i, j), v in np.ndenumerate(a):
                out[i] += v * j
            for i in range(*out.shape):
                out[i] += (m := i + 1) * m
    """,
    "guards": """
        def f(a, out, n):
            assert a.shape[0] == n, "rows"
            if a.ndim != 2 or out.shape[0] != n:
                raise ValueError(f"bad shape {a.shape}")
            elif n == 0:
                raise ValueError
            else:
                out[0] = 1
            for i in range(n):
                out[i] += n + a[i, 0]
    """,
}


def _run(source: str, a: np.ndarray, out: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    space = {"math": math, "np": np}
    exec(textwrap.dedent(source), space)
    a, out = a.copy(), out.copy()
    space["f"](a, out, n)
    return a, out


@pytest.mark.parametrize("name", CASES)
def test_same_as_python(name: str):
    rng = np.random.default_rng(3)
    a, out, n = rng.uniform(0, 1, (6, 3)), rng.uniform(0, 1, 6), 6
    expected = _run(CASES[name], a, out, n)
    module, problems = read(HEADER + textwrap.dedent(CASES[name]), "t.py")
    assert not problems
    found = interpreter.run(module, "f", copy.deepcopy({"a": a, "out": out, "n": n}))
    np.testing.assert_allclose(found.arrays["a"], expected[0])
    np.testing.assert_allclose(found.arrays["out"], expected[1])


def test_device_functions():
    """The device library, which is no Python: the reference interpreter beside what CUDA's manual says."""
    source = """
        from numba.cuda import libdevice as d
        @cuda.jit
        def f(x, k, out, whole):
            i = cuda.grid(1)
            if i < x.shape[0]:
                out[i, 0] = d.fmaf(x[i], 2.0, d.fdimf(x[i], 0.5)) + d.saturatef(x[i]) * d.frcp_rn(d.fadd_rn(x[i], 9.0))
                out[i, 1] = d.ldexpf(x[i], k[i]) + d.sinpif(x[i]) - d.cospi(x[i]) + d.fsqrt_rn(d.fmul_rn(x[i], x[i]))
                out[i, 2] = d.normcdff(x[i]) + d.int2float_rn(k[i])
                whole[i, 0], whole[i, 1] = d.float2int_rn(x[i]), d.float2int_rd(x[i])
                whole[i, 2], whole[i, 3] = d.float2int_ru(x[i]), d.float2int_rz(x[i])
    """
    module, problems = read(HEADER + textwrap.dedent(source), "t.py")
    assert not problems
    x, k = np.array([-2.5, -0.3, 0.2, 1.5, 3.7]), np.array([-1, 0, 3, 2, 1])
    given = {"x": x, "k": k, "out": np.zeros((5, 3)), "whole": np.zeros((5, 4), int)}
    found = interpreter.run(module, "f", given, grid=1, block=8).arrays
    phi = [0.5 * math.erfc(-v / math.sqrt(2)) for v in x]
    expected = [
        2 * x + np.maximum(x - 0.5, 0) + np.clip(x, 0, 1) / (x + 9),
        x * 2.0**k + np.sin(np.pi * x) - np.cos(np.pi * x) + np.abs(x),
        phi + k,
    ]
    np.testing.assert_allclose(found["out"], np.transpose(expected), rtol=1e-6)
    np.testing.assert_array_equal(found["whole"].T, [np.rint(x), np.floor(x), np.ceil(x), np.trunc(x)])
