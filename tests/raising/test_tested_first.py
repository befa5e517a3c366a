"""Loops without a condition that are left at their head: ``for (;;) { if (i >= n) break; … }``."""

import pytest

from kraise import pipeline
from tests.checks import agrees

STRIDE = "int i = blockIdx.x * blockDim.x + threadIdx.x; int stride = blockDim.x * gridDim.x;"
STRIDES = {
    "for, break": "for (;;) { if (i >= n) break; y[i] = x[i] * x[i]; i += stride; }",
    "while, break": "while (true) { if (i >= n) break; y[i] = x[i] * x[i]; i += stride; }",
    "return": "while (1) { if (!(i < n)) return; y[i] = x[i] * x[i]; i += stride; }",
    "else break": "while (1) { if (i < n) { y[i] = x[i] * x[i]; i += stride; } else break; }",
    "in the head": "for (;; i += stride) { if (i >= n) break; y[i] = x[i] * x[i]; }",
    "do": "do { if (i >= n) break; y[i] = x[i] * x[i]; i += stride; } while (true);",
    "continue": "for (;; i += stride) { if (i >= n) break; if (x[i] > 1.f) continue; y[i] = x[i] * x[i]; }",
    "something before": "for (;;) { int j = i; if (j >= n) break; y[j] = x[j] * x[j]; i += stride; }",
}


def translated(body, more=""):
    return pipeline.translate(f"__global__ void f(const float *x, float *y, int n{more}) {{ {STRIDE} {body} }}", "k.cu")


@pytest.mark.parametrize("body", STRIDES.values(), ids=STRIDES)
def test_strides_over_the_grid(body):
    done = translated(body)
    assert done.text is not None and "loop(" not in done.text and "grid" not in done.text, done.text
    for n in (1, 5, 70):
        agrees(done, pipeline.Request(shapes={"x": (n,), "y": (n,)}, values={"n": n}, grid=2, block=3), n)


@pytest.mark.parametrize("step", ["i += stride - 1;", "i += blockDim.x;"])
def test_strides_that_meet_are_refused(step):
    done = translated(f"for (;;) {{ if (i >= n) break; y[i] += x[i]; {step} if (x[0] > 9.f) return; }}")
    assert done.text is None and {d.code for d in done.diagnostics} & {"KR201", "KR202", "KR205"}, done.text


OWN = {
    "two exits": "while (true) { if (v < 0.1f) break; if (k >= m) break; v *= 0.5f; ++k; } y[i] = v + k;",
    "exit and return": "while (true) { if (v < 0.1f) return; if (k >= m) break; v *= 0.5f; ++k; } y[i] = v + k;",
    "only returns": "while (true) { if (k >= m) return; if (v < 0.1f) return; v *= 0.5f; y[i] = v; ++k; }",
    "a step before": "while (true) { k++; if (k > m) break; v *= 0.5f; } y[i] = v + k;",
    "a sum before": "while (true) { int l = k + 2; k = 1; if (l > m) break; v *= 0.5f; k = l; } y[i] = v + k;",
    "what is read behind": "int l; while (true) { l = 2 * k; if (l > m) break; v *= 0.5f; ++k; } y[i] = v + l;",
    "left in the middle": "while (true) { if (k > m) break; if (v > 1.f) { v = 0; break; } v *= 1.5f; ++k; } y[i] = v;",
    "a narrow number before": "while (true) { char l = 60 * k; if (l > 100) break; v *= 0.9f; ++k; } y[i] = v + k;",
}


@pytest.mark.parametrize("body", OWN.values(), ids=OWN)
def test_loops_of_a_thread(body):
    done = translated(f"if (i >= n) return; float v = x[i]; int k = 0; {body}", ", int m")
    assert done.text is not None, done.diagnostics
    for m in (0, 1, 6):
        agrees(done, pipeline.Request(shapes={"x": (7,), "y": (7,)}, values={"n": 7, "m": m}), m, done.text)


def test_in_python():
    source = """
from numba import cuda

@cuda.jit
def f(x, y):
    i = cuda.grid(1)
    while True:
        if i >= x.size:
            break
        y[i] = 3 * x[i]
        i += cuda.gridsize(1)
"""
    done = pipeline.translate(source, "k.py")
    assert done.text is not None and "y.at" in done.text and "grid" not in done.text, done.text
    for n in (1, 9):
        agrees(done, pipeline.Request(shapes={"x": (n,), "y": (n,)}), n)


def test_a_test_before_a_barrier_stays_a_divergent_one():
    body = "for (;;) { if (threadIdx.x > 3) break; s[threadIdx.x] = x[i]; __syncthreads(); y[i] = s[0]; i += n; }"
    done = translated(f"__shared__ float s[64]; {body}")
    assert done.text is None, done.text
