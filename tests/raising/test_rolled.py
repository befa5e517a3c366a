"""Sums that were written out are sums over an index; those whose addends do not move in step stay."""

import textwrap

import numpy as np
import pytest

from kraise import pipeline

LADDER = """
__global__ void rows(const float *x, float *out, int n, int cols) {{
    __shared__ float s[4][32];
    int t = threadIdx.x, ty = threadIdx.y, r = blockIdx.x * 4 + ty;
    float v = {start};
    if (r < n) for (int c = t; c < cols; c += 32) v {join} x[r * cols + c];
    s[ty][t] = v;
    __syncthreads();
    if (t < 16) s[ty][t] {join} s[ty][{first}];
    {barrier}
    if (t < 8) s[ty][t] {join} s[ty][t + 8];
    __syncthreads();
    if (t < 4) s[ty][t] {join} s[ty][t + 4];
    __syncthreads();
    if (t < 2) s[ty][t] {join} s[ty][t + 2];
    __syncthreads();
    if (t == 0 && r < n) out[r] = s[ty][0] + s[ty][{last}];
}}
"""
SUM = {"start": "0.0f", "join": "+=", "first": "t + 16", "barrier": "__syncthreads();", "last": "1"}
UNROLLED = """
__global__ void f(const float *x, float *y, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = {sum};
}}
"""


def translated(text):
    return pipeline.translate(textwrap.dedent(text), "k.cu")


def run(done, name, *arguments):
    scope = {}
    exec(done.text, scope)
    return scope[name](*arguments)


def test_a_ladder_in_each_row_of_a_block_is_a_sum_over_the_row():
    done = translated(LADDER.format(**SUM))
    assert done.text.count("sum(axis=1)") == 1 and len(done.text.splitlines()) < 40, done.text
    for n, cols in ((5, 70), (4, 32), (3, 7)):
        x = np.random.default_rng(n).integers(-4, 5, (n, cols)).astype(np.float32)
        got = run(done, "rows", x.ravel(), np.zeros(n, np.float32), n, cols)
        assert np.array_equal(got, x.sum(axis=1))


def test_a_ladder_that_leaves_cells_out_or_takes_them_twice_is_what_it_is():
    for change, weight in (({"last": "0"}, lambda t: 2 * (t % 2 == 0)), ({"first": "t + 15"}, None)):
        done = translated(LADDER.format(**SUM | change))
        x = np.random.default_rng(1).integers(-4, 5, (4, 32)).astype(np.float32)
        if done.text is None:
            continue  # t + 15 is a cell that a thread below 16 stores to
        weights = np.array([weight(t) for t in range(32)])
        got = run(done, "rows", x.ravel(), np.zeros(4, np.float32), 4, 32)
        assert np.array_equal(got, (x * weights).sum(axis=1))


def test_the_ladder_without_its_barrier_is_refused():
    done = translated(LADDER.format(**SUM | {"barrier": ""}))
    assert done.text is None or any(d.severity == "error" for d in done.diagnostics)


def addends(*offsets, form="x[{n} * i + {k}]"):
    return " + ".join(form.format(n=max(offsets) + 1, k=k) for k in offsets)


@pytest.mark.parametrize(
    ("offsets", "form", "one"),
    [
        (range(16), "x[{n} * i + {k}]", True),
        (reversed(range(24)), "x[{n} * i + {k}]", True),
        (range(0, 40, 2), "x[{n} * i + {k}]", True),
        (range(16), "x[{n} * i + {k}] * x[{k}]", True),
        (range(12), "x[{n} * i + {k}]", False),  # a few may stay
        ((*range(16), 17), "x[{n} * i + {k}]", False),
        ((*range(16), 3), "x[{n} * i + {k}]", False),  # one of them twice
        (range(16), "x[{n} * i + {k}] * {k}.0f", False),
        (range(16), "x[{n} * i + {k} * {k} % 7]", False),
    ],
)
def test_addends_in_step_are_one_sum(offsets, form, one):
    offsets = list(offsets)
    text = addends(*offsets, form=form)
    done = translated(UNROLLED.format(sum=text))
    width = max(offsets) + 1
    x = np.random.default_rng(3).integers(-4, 5, (6, width)).astype(np.float32)
    rows = eval(f"[{text.replace('.0f', '.0')} for i in range(6)]", {"x": x.ravel()})
    got = run(done, "f", x.ravel(), np.zeros(6, np.float32), 6)
    assert np.allclose(got, rows)
    assert ("sum_" in done.text) == one
