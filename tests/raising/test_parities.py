"""Two buffers in one array that change places by the parity of a step: ``buf + (t & 1) * n``."""

import pytest

from kraise import pipeline
from tests.checks import agrees

KERNEL = """
__global__ void f(float *buf, int n, int t) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float *src = buf + {source} * n;
    float *dst = buf + {target} * n;
    if (i > 0 && i < n - 1) dst[i] = src[i - 1] * src[i + 1];
}}"""


@pytest.mark.parametrize(
    "source, target",
    [
        ("(t & 1)", "((t + 1) & 1)"),
        ("(t & 1)", "((t & 1) ^ 1)"),
        ("(1 - (t & 1))", "(t & 1)"),
        ("(t % 2)", "((t + 1) % 2)"),
        ("(t % 3)", "((t + 1) % 3)"),
    ],
)
def test_buffers_by_parity(source, target):
    done = pipeline.translate(KERNEL.format(source=source, target=target), "k.cu")
    assert done.text is not None and "loop(" not in done.text
    for t in (0, 1, 4):
        agrees(done, pipeline.Request(shapes={"buf": (18,)}, values={"n": 6, "t": t}), source, t)


@pytest.mark.parametrize(
    "source, target",
    [
        ("(t & 1)", "((t + 2) & 1)"),  # one and the same
        ("(t & 1)", "(t & 1)"),
        ("(t & 2)", "((t + 1) & 2)"),  # the same for two steps
        ("(t & 1)", "(t & 3)"),
        ("(t % 3)", "((t + 3) % 3)"),
    ],
)
def test_buffers_that_are_one_are_refused(source, target):
    done = pipeline.translate(KERNEL.format(source=source, target=target), "k.cu")
    assert done.text is None and done.diagnostics[0].code == "KR201"


def test_rows_by_parity_in_numba():
    source = """
from numba import cuda

@cuda.jit
def f(buf, t):
    i = cuda.grid(1)
    if 0 < i < buf.shape[1] - 1:
        buf[(t & 1) ^ 1, i] = buf[t & 1, i - 1] * buf[t & 1, i + 1]
"""
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    for t in (0, 3):
        agrees(done, pipeline.Request(shapes={"buf": (2, 6)}, values={"t": t}), t)
    refused = pipeline.translate(source.replace("(t & 1) ^ 1, i]", "(t + 2) & 1, i]"), "k.py")
    assert refused.text is None and refused.diagnostics[0].code == "KR201"
