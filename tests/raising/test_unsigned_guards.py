"""``i < n - 1`` of unsigned sizes bounds the threads where n is 1 or more, which is stated and checked."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified

GUARDS = [
    ("size_t", "int", "if (i >= 1 && i < n - 1) y[i] = x[i - 1] + x[i + 1];"),
    ("unsigned", "unsigned", "if (i == 0 || i >= n - 1) return; y[i] = x[i - 1] + x[i + 1];"),
]


@pytest.mark.parametrize(("size", "index", "body"), GUARDS)
def test_an_unsigned_difference_bounds_the_threads(size, index, body):
    head = f"__global__ void f(float *y, const float *x, {size} n) {{\n"
    source = f"{head}  {index} i = blockIdx.x * blockDim.x + threadIdx.x;\n  {body}\n}}\n"
    done = pipeline.translate(source, "case.cu")
    assert "grid" not in done.text and "x[: n - 2] + x[2:n]" in done.text
    reports, _ = verified(done, pipeline.Request(values={"n": 9}))
    assert reports and {row.status for row in reports[0].rows} == {"ok"}, (done.text, reports)
    with pytest.raises(ValueError, match="n - 1 >= 0 must hold"):
        load_module(done.text).f(np.zeros(3, np.float32), np.zeros(3, np.float32), 0)


def test_a_launch_that_has_a_say_keeps_it():
    """The twin: what is below ``n - 4`` or not is stored to as well, so that the difference bounds nothing."""
    source = """__global__ void f(float *y, const float *x, unsigned n) {
      unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
      y[i] = i < n - 4 ? x[i] : 0.0f;
    }
    """
    text = pipeline.translate(source, "case.cu").text
    assert "grid" in text and "must hold" not in text


@pytest.mark.parametrize(
    ("block", "cell"),
    [
        ("int j = blockIdx.x * 16;", "j + threadIdx.x"),
        ("unsigned j = blockIdx.x * 16; int t = threadIdx.x;", "j + t"),
        ("", "blockIdx.x * 16 + threadIdx.x"),
    ],
)
def test_a_guard_bounds_the_threads_once_the_size_of_blocks_is_known(block, cell):
    """The size is found in the source after the launch was asked how many threads there are: the guard says it, too."""
    done = pipeline.translate(
        f"__global__ void f(float *g, int n) {{ {block} if ({cell} < n) g[{cell}] = 1.0f; }}", "k.cu"
    )
    assert "def f(g, n):" in done.text and "g.at[:n].set(1.0)" in done.text
    # without a guard the launch has the say
    done = pipeline.translate(f"__global__ void f(float *g, int n) {{ {block} g[{cell}] = 1.0f; }}", "k.cu")
    assert done.text is None or "grid" in done.text
