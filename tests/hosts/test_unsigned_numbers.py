"""Unsigned numbers that a CUDA host computes from its sizes: they wrap round, whether Python or JAX computes them."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified

SOURCE = """
__global__ void put(double *x, double s) {{ x[0] = s; }}
void value(double *d, {kind} n) {{ put<<<1, 1>>>(d, {value}); }}
void branch(double *d, {kind} n) {{ if (({value}) > 100) put<<<1, 1>>>(d, 1); else put<<<1, 1>>>(d, 2); }}
void held(double *d, {kind} n) {{
  {kind} v = {value};
  int w = v;
  if (v % 2 == 0) put<<<1, 1>>>(d, v); else put<<<1, 1>>>(d, w);
}}
"""
VALUES = {
    "n - 500": lambda n, m: (n - 500) % m,
    "(n - 500) % 100": lambda n, m: (n - 500) % m % 100,
    "(n - 500) / 7": lambda n, m: (n - 500) % m // 7,
    "((n - 500) >> 3) + 1": lambda n, m: ((n - 500) % m >> 3) + 1,
    "(n - 500) * 2 % 9": lambda n, m: (n - 500) * 2 % m % 9,
    "~n": lambda n, m: ~n % m,
    "~n & 255": lambda n, m: ~n & 255,
    "n << 28": lambda n, m: (n << 28) % m,
    "n * 2654435761u": lambda n, m: n * 2654435761 % m,
    "(n * 2654435761u) >> 20": lambda n, m: n * 2654435761 % m >> 20,
    "n - 500 < 10 ? 7u : 300u": lambda n, m: 7 if (n - 500) % m < 10 else 300,
    "(n + 63) / 64": lambda n, m: (n + 63) // 64,
    "(n - 1) / 64 + 1": lambda n, m: (n - 1) % m // 64 + 1,
    "min(n - 500, 1000u)": lambda n, m: min((n - 500) % m, 1000),
    "-n % 64": lambda n, m: -n % m % 64,
    "(unsigned char)(n - 500)": lambda n, m: (n - 500) % 256,
    "(unsigned)((int)n - 500) / 3": lambda n, m: (n - 500) % m // 3,
}


@pytest.mark.parametrize("value", VALUES)
def test_as_c_computes_them(value):
    text = SOURCE.format(kind="unsigned", value=value)
    done = pipeline.translate(text, "host.cu")
    assert done.text, done.diagnostics
    module = load_module(done.text)
    for n in (1, 7, 100, 499, 500, 501, 777, 3000):
        want = VALUES[value](n, 2**32)
        d = np.zeros(1)
        assert float(module.value(d, n)[0]) == np.float32(want), (n, done.text)
        assert float(module.branch(d, n)[0]) == (1 if want > 100 else 2), (n, done.text)
        signed = (want + 2**31) % 2**32 - 2**31
        assert float(module.held(d, n)[0]) == np.float32(signed if want % 2 else want), (n, done.text)


def test_divisions_of_integers_in_modules_of_64_bits():
    source = """
__global__ void put(double *x, double s, int m) { x[0] = s + m; }
void run(double *d, int m, double t) { put<<<1, 1>>>(d, (int)t / 3, (m - 9) % 4); }
"""
    done = pipeline.translate(source, "host.cu")
    assert done.text, done.diagnostics
    ((put, run), problems) = verified(done, pipeline.Request(values={"m": 2, "t": -7.5}, shapes={"d": (1,)}))
    assert not problems and put.ok and run.ok, run.failures
