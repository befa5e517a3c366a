"""Loops that are left where a guard says the same, and arrays of accumulators of which the sum is asked for."""

from dataclasses import replace

import numpy as np
import pytest

from kraise import pipeline
from kraise.frontends import cuda_c
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.raising.loops.tidied import tidied
from kraise.verify import interpreter
from tests.checks import agrees

HEAD = "__global__ void f(const float *x, float *z, int n, unsigned m) {{ {} }}"
THREAD = "int b = blockDim.x * gridDim.x, t = blockIdx.x * blockDim.x + threadIdx.x; float s = 0;"
EXITS = {
    "by launches": THREAD + "for (int u = 0; u < 4; u++) { int j = t + u * b; if (j >= n) break; z[j] = 2 * x[j]; }",
    "next to each other": THREAD + "for (int u = 0; u < 3; u++) { if (3 * t + u >= n) break; z[3 * t + u] = x[u]; }",
    "the end of the kernel": THREAD + "if (t < 9) for (int u = 0; u < 4; u++) { int j = t + u * b; if (j >= n) return;"
    "z[j] = 2 * x[j]; }",
    "unsigned": "for (unsigned u = 0; u < 4; u++) { unsigned j = threadIdx.x + blockDim.x * (blockIdx.x + u * 2);"
    "if (j >= m) break; z[j] = 2 * x[j]; }",
    "a bound of the loop": THREAD + "for (int u = 0; u < 12; u++) { if (u >= n) break; s += x[u]; } z[t] = s;",
    "in the last round": THREAD + "for (int u = 0; u < n; u++) { s += x[u]; if (u == n - 1) break; s *= 2; } z[t] = s;",
}
OTHERS = {
    "back again": THREAD + "for (int u = 0; u < 4; u++) { int j = 9 - t - u; if (j >= n) break; z[t] = x[j]; }",
    "below zero, unsigned": THREAD + "for (int u = 0; u < 4; u++) { int j = t - 1 + u; if ((unsigned)j >= m) break;"
    "z[t] += x[j]; }",
    "a sum that is asked for": THREAD + "int j = 0; for (int u = 0; u < 4; u++) { j = 3 * t + u; if (j >= n) break;"
    "s += x[j]; } z[t] = j;",
    "a bound that rounds change": THREAD + "int e = n; for (int u = 0; u < 8; u++) { if (u >= e) break; z[t] += x[u];"
    "e = (e * 5 + 1) % 9; }",
    "of data": THREAD + "for (int u = 0; u < 4; u++) { if (t + u >= x[t]) break; z[t] += x[u]; }",
    "a return before more": THREAD + "for (int u = 0; u < 4; u++) { if (t + u >= n) return; s += x[t + u]; } z[t] = s;",
    "not the last round": THREAD
    + "for (int u = 0; u < n; u++) { s += x[u]; if (u == n - 2) break; s *= 2; } z[t] = s;",
    "two ways out": THREAD
    + "for (int u = 0; u < 4; u++) { if (t + u >= n) break; if (x[u] < 0) break; z[t] += x[u]; }",
}
PLACES = "for (int i = t; i < n; i += 4 * b) for (int u = 0; u < 4; u++)"
ADDED = "a[u] += i + u * b < n ? x[i + u * b] : 0;"
SUMS = {
    "the first cell": "float a[4] = {0};" + PLACES + ADDED + "for (int u = 1; u < 4; u++) a[0] += a[u]; z[t] = a[0];",
    "and more of it": "float a[4] = {0};" + PLACES + ADDED + "for (int u = 1; u < 4; u++) a[0] += a[u];"
    "a[0] = a[0] * 2; z[t] = a[0];",
    "another local": "float a[4]; for (int u = 0; u < 4; u++) a[u] = 0;" + PLACES + ADDED + "s = 3;"
    "for (int u = 0; u < 4; u++) s += a[u]; z[t] = s;",
    "written out": "float a[4] = {0};" + PLACES + ADDED + "z[t] = a[0] + a[1] + a[2] + a[3];",
}
CELLS = {
    "a cell of its own": "float a[4] = {0};" + PLACES + ADDED + "for (int u = 1; u < 4; u++) a[0] += a[u];"
    "z[t] = a[0] + a[1];",
    "one is left out": "float a[4] = {0};" + PLACES + ADDED + "z[t] = a[0] + a[1] + a[2];",
    "one counts twice": "float a[4] = {0};" + PLACES + ADDED + "z[t] = a[0] + a[1] + a[2] + a[3] + a[3];",
    "from one on": "float a[4] = {1, 0, 0, 0};" + PLACES + ADDED + "z[t] = a[0] + a[1] + a[2] + a[3];",
    "asked for on the way": "float a[4] = {0};" + PLACES + "a[u] += x[i] + a[0]; z[t] = a[0] + a[1] + a[2] + a[3];",
    "the largest": "float a[4] = {0};" + PLACES + "a[u] = fmaxf(a[u], x[i]); z[t] = a[0] + a[1] + a[2] + a[3];",
}


def ran(source, n):
    module, problems = cuda_c.read(source, "f.cu")
    assert not problems, problems
    (function,) = module.functions
    new = replace(function, body=tidied(function.body))
    arrays = {a: np.random.default_rng(n).integers(-8, 8, 40).astype(np.float32) for a in "xz"}
    values = []
    for f in (function, new):
        given = {a: v.copy() for a, v in arrays.items()} | {"n": n, "m": np.uint32(n)}
        values.append(interpreter.run(replace(module, functions=(f,)), "f", given, grid=(2,), block=(3,)).arrays["z"])
    np.testing.assert_array_equal(*values)
    return list(walked(new.body))


@pytest.mark.parametrize("name", EXITS)
def test_guards(name):
    for n in (0, 1, 7, 11):
        assert not any(isinstance(x, k.Break | k.Return) for x in ran(HEAD.format(EXITS[name]), n))


@pytest.mark.parametrize("name", OTHERS)
def test_exits_that_stay(name):
    for n in (1, 5):
        assert any(isinstance(x, k.Break | k.Return) for x in ran(HEAD.format(OTHERS[name]), n))


@pytest.mark.parametrize("name", SUMS)
def test_sums(name):
    for n in (0, 1, 31):
        assert not any(isinstance(x, k.LocalArray) for x in ran(HEAD.format(THREAD + SUMS[name]), n))


@pytest.mark.parametrize("name", CELLS)
def test_cells_that_stay(name):
    for n in (1, 31):
        assert any(isinstance(x, k.LocalArray) for x in ran(HEAD.format(THREAD + CELLS[name]), n))


TILE = (
    "for (int u = 0; u < 4; u++) {{ int j = blockIdx.x * 4 * blockDim.x + threadIdx.x + u * blockDim.x;"
    "if ({}) break; z[j] = 2 * x[j]; }}"
)
WHOLE = THREAD + SUMS["the first cell"].replace("z[t] = a[0]", "atomicAdd(z, a[0])")


def test_forms():
    """They were index arrays, with the launch asked for."""
    text = pipeline.translate(HEAD.format(TILE.format("j >= n")), "f.cu").text
    assert text and "z.at[:n].set(2.0 * x[:n])" in text and "arange" not in text, text


@pytest.mark.long
def test_values_and_gradients():
    for body in (TILE.format("j >= n"), TILE.format("j >= n || x[j] > 1"), WHOLE):
        done = pipeline.translate(HEAD.format(body), "f.cu")
        assert done.text and (body != WHOLE or "jnp.sum(x[:n])" in done.text), done.text
        shapes = {"x": (17,), "z": (17,)}
        agrees(done, pipeline.Request(shapes=shapes, values={"n": 17, "m": 17}, grid=(2,), block=(3,)), done.text)


def test_what_is_stored_twice_is_refused():
    kernel = HEAD.format(TILE.format("j >= n").replace("z[j]", "z[j / 2]"))
    assert not pipeline.translate(kernel, "f.cu").raised
