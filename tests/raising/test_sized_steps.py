"""Loops in steps of a parameter from a start that differs from thread to thread: the first one has the most rounds."""

import pytest

from kraise import pipeline
from tests.checks import agrees

INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= m) return; float s = 0.f;"
BODIES = {
    "sum": "for (int k = i; k < n; k += p) s += x[k] * x[k]; y[i] = s;",
    "maximum": "for (int k = i; k < n; k += p) s = fmaxf(s, x[k]); y[i] = s;",
    "multiple": "for (int k = i; k < n; k += 2 * p) s += x[k]; y[i] = s;",
    "further on": "for (int k = i + 2; k < n; k += p) s += x[k]; y[i] = s;",
    "before": "for (int k = i - 2; k < n; k += p) if (k >= 0) s += x[k]; y[i] = s;",
    "of all threads": "for (int k = i; k < n; k += m) s += x[k] * (k + 1); y[i] = s;",
    "carried": "for (int k = i; k < n; k += p) s = 0.5f * s + x[k]; y[i] = s;",
    "left early": "for (int k = i; k < n; k += p) { if (x[k] > 1.5f) break; s += x[k]; } y[i] = s;",
    "nested": "for (int j = 0; j < m; j++) for (int k = j; k < n; k += p) s += x[k] * (j + i); y[i] = s;",
}
SIZES = [(10, 4, 3), (10, 4, 4), (3, 5, 2), (1, 1, 7), (16, 4, 1)]


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_loops_in_steps_of_a_size(body):
    source = f"__global__ void f(const float *x, float *y, int n, int m, int p) {{ {INDEX} {body} }}"
    done = pipeline.translate(source, "k.cu")
    for n, m, p in SIZES:
        request = pipeline.Request(shapes={"x": (n,), "y": (m,)}, values={"n": n, "m": m, "p": p})
        agrees(done, request, n, m, p)


def test_sums_hold_no_loop():
    source = f"__global__ void f(const float *x, float *y, int n, int m, int p) {{ {INDEX} {BODIES['sum']} }}"
    text = pipeline.translate(source, "k.cu").text
    assert text is not None and "loop(" not in text and "if p < 1:" in text


def test_in_numba():
    source = """
from numba import cuda

@cuda.jit
def f(x, y, n, p):
    i = cuda.grid(1)
    if i < y.shape[0]:
        s = 0.0
        for k in range(i, n, p):
            s += x[k] * x[k]
        y[i] = s
"""
    done = pipeline.translate(source, "k.py")
    for n, m, p in SIZES:
        agrees(done, pipeline.Request(shapes={"x": (n,), "y": (m,)}, values={"n": n, "p": p}), n, m, p)


BLOCKS = """
__global__ void f(const int *a, int *o, int n, int nb) {{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = 0; {barrier}
    for (int i = blockIdx.x * 32 + t; i < n; i += {step}) {body}
    __syncthreads();
    if (t == 0) {{ int q = 0; for (int k = 0; k < 32; k++) q += s[k]; o[blockIdx.x] = q; }}
}}"""


@pytest.mark.parametrize("body", ["s[t] += a[i];", "atomicAdd(&s[i % 32], a[i]);", "atomicAdd(&s[a[i] & 31], 1);"])
def test_as_many_blocks_as_a_parameter_says(body):
    done = pipeline.translate(BLOCKS.format(body=body, step="32 * nb", barrier="__syncthreads();"), "k.cu")
    assert done.text is not None and "loop(" not in done.text
    for n, nb in ((100, 2), (64, 1), (31, 1), (200, 3)):
        request = pipeline.Request(
            shapes={"a": (n,), "o": (nb,)}, values={"n": n, "nb": nb}, grid=(nb, 1, 1), block=(32, 1, 1)
        )
        agrees(done, request, n, nb)


@pytest.mark.parametrize(
    "step, barrier, body",
    [
        ("32 * nb", "", "atomicAdd(&s[a[i] & 31], 1);"),  # cells that another thread zeroes
        ("32 * nb", "__syncthreads();", "s[i % 31] += a[i];"),
        ("nb", "__syncthreads();", "o[i] = a[i];"),  # the blocks' parts overlap
    ],
)
def test_threads_that_meet_are_refused(step, barrier, body):
    done = pipeline.translate(BLOCKS.format(body=body, step=step, barrier=barrier), "k.cu")
    assert done.text is None and done.diagnostics[0].code in ("KR201", "KR202"), done.text
