"""Loops whose bounds are quotients of an index: ``k < i / 32``, the parts before a thread's own."""

import pytest

from kraise import pipeline
from tests.checks import agrees

INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float s = 0.f;"
BODIES = {
    "up to a quotient": "for (int k = 0; k < i / 4; k++) s += x[k] * x[k]; y[i] = s;",
    "up to it and it": "for (int k = 0; k <= i / 4; k++) s += x[k]; y[i] = s;",
    "from a quotient on": "for (int k = i / 3; k < n; k++) s += x[k]; y[i] = s;",
    "after a quotient": "for (int k = i / 3 + 1; k < n; k++) s = fmaxf(s, x[k]); y[i] = s;",
    "of a sum": "for (int k = 0; k < (i + 5) / 4; k++) if (k < n) s += x[k]; y[i] = s;",
    "shifted": "for (int k = 0; k < (i >> 2); k++) s = 0.5f * s + x[k]; y[i] = s;",
    "twice": "for (int k = 0; k < i / 2; k++) for (int l = k / 2; l < k; l++) s += x[k] * x[l]; y[i] = s;",
    "left early": "for (int k = 0; k < i / 2; k++) { if (x[k] > 1.5f) break; s += x[k]; } y[i] = s;",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_loops_up_to_quotients(body):
    done = pipeline.translate(f"__global__ void f(const float *x, float *y, int n) {{ {INDEX} {body} }}", "k.cu")
    for n in (1, 3, 4, 5, 33, 70):
        agrees(done, pipeline.Request(shapes={"x": (n,), "y": (n,)}, values={"n": n}), n)


def test_in_python():
    source = """
def f(x, y):
    for i in range(len(x)):
        s = 0.0
        for k in range(i // 4):
            s += x[k] * x[i]
        y[i] = s
"""
    done = pipeline.translate(source, "k.py")
    for n in (1, 4, 21):
        agrees(done, pipeline.Request(shapes={"x": (n,), "y": (n,)}), n)


def test_a_quotient_by_an_element_bounds_nothing():
    """The number of rounds is data: a loop as long as it takes."""
    body = "for (int k = 0; k < i / w[i]; k++) s += x[k]; y[i] = s;"
    source = f"__global__ void f(const float *x, const int *w, float *y, int n) {{ {INDEX} {body} }}"
    done = pipeline.translate(source, "k.cu")
    assert done.text is not None and "while_loop(" in done.text, done.text
