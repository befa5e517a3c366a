"""Statements that a thread repeats some threads further on are dealt out to elements."""

from dataclasses import replace

import numpy as np
import pytest

from kraise import pipeline
from kraise.frontends import cuda_c
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.raising.loops.repeated import as_loops
from kraise.verify import interpreter
from tests.checks import agrees

HEAD = (
    "__global__ void f(const float *x, float *y, int n) {{"
    "int b = blockDim.x, i = blockIdx.x * {} * b + threadIdx.x; {} }}"
)
TWO = "if (i < n) y[i] = 2 * x[i]; if (i + blockDim.x < n) y[i + blockDim.x] = 2 * x[i + blockDim.x];"
LOOPS = {
    "two": (2, TWO),
    "three, with locals": (3, "if (i < n) { float v = x[i]; y[i] = v * v; }"
                           "if (i + b < n) { float w = x[i + b]; y[i + b] = w * w; }"
                           "if (i + 2 * b < n) { float u = x[b * 2 + i]; y[i + 2 * b] = u * u; }"),
    "of the block": (2, "if (i < n) y[i] += x[blockIdx.x]; if (i + b < n) y[i + b] += x[blockIdx.x];"),
}  # fmt: skip
OTHERS = {
    "another value": (2, "if (i < n) y[i] = 2 * x[i]; if (i + b < n) y[i + b] = 3 * x[i + b];"),
    "another guard": (2, "if (i < n) y[i] = x[i]; if (i + b < n - 1) y[i + b] = x[i + b];"),
    "a place that stays": (2, "int j = i / 2; if (i < n) y[i] = x[j]; if (i + b < n) y[i + b] = x[j];"),
    "a local that is asked for": (2, "float v = 0; if (i < n) { v = x[i]; y[i] = v; }"
                                  "if (i + b < n) { v = x[i + b]; y[i + b] = v; } if (i < n) y[i] += v;"),
    "a number": (2, "if (i < n) y[i] = x[i]; if (i + 3 < n && threadIdx.x < 3) y[i + 3] = x[i + 3];"),
}  # fmt: skip


def ran(times, body, n):
    module, problems = cuda_c.read(HEAD.format(times, body), "f.cu")
    assert not problems, problems
    (function,) = module.functions
    new = replace(function, body=as_loops(function.body))
    arrays = {a: np.random.default_rng(n).integers(-8, 8, 30).astype(np.float32) for a in "xy"}
    values = []
    for f in (function, new):
        given = {a: v.copy() for a, v in arrays.items()} | {"n": n}
        values.append(interpreter.run(replace(module, functions=(f,)), "f", given, grid=(2,), block=(3,)).arrays["y"])
    np.testing.assert_array_equal(*values)
    return sum(isinstance(x, k.For) for x in walked(new.body))


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name):
    assert [ran(*LOOPS[name], n) for n in (0, 5, 12)] == [1, 1, 1]


@pytest.mark.parametrize("name", OTHERS)
def test_as_they_were(name):
    assert [ran(*OTHERS[name], n) for n in (1, 12)] == [0, 0]


def test_form():
    """They were two scatters."""
    text = pipeline.translate(HEAD.format(2, TWO), "f.cu").text
    assert text and "y.at[:n].set(2.0 * x[:n])" in text, text


@pytest.mark.long
def test_values_and_gradients():
    request = pipeline.Request(shapes={"x": (12,), "y": (12,)}, values={"n": 11}, grid=(2,), block=(3,))
    for times, body in LOOPS.values():
        done = pipeline.translate(HEAD.format(times, body), "f.cu")
        agrees(done, request, done.text)


def test_places_that_threads_share_are_refused():
    assert not pipeline.translate(HEAD.format(2, TWO.replace("y[i]", "y[i / 2]")), "f.cu").raised
