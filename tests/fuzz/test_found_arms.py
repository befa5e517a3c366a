"""What the fuzzer found in branches: each kernel gave a wrong value or did not run until it was mended."""

import pytest

from kraise import pipeline
from tests.fuzz.check import check
from tests.fuzz.generate import Arg, Kernel, Program
from tests.fuzz.test_found import OUT, N, X, Y, findings

ARMS = {
    "the first element from 3 on": "if i >= 3:\n    acc = x[0]\nelse:\n    acc = x[i]",
    "the first element below 3": "if i < 3:\n    acc = x[0]\nelse:\n    acc = x[i]",
    "the last element": "if i < 2:\n    acc = x[i]\nelse:\n    acc = x[n - 1]",
    "two places that are one": "if i > 0:\n    acc = x[0]\nelse:\n    acc = x[i]",
    "numbers": "if i < 3:\n    k = 0\nelse:\n    k = i\nacc = x[k]",
}


@pytest.mark.parametrize("name", ARMS)
def test_a_branch_is_merged_on_the_path_before_it(name):
    """The path of the last arm was still there: ``x[0] if i >= 3 else x[i]`` was ``x[max(i, 0)]`` (1320422)."""
    lines = "\n".join(f"    {line}" for line in ARMS[name].splitlines())
    source, found = findings(f"i = cuda.grid(1)\nif i < n:\n{lines}\n    out[i] = acc", (X, OUT, N))
    assert {f.kind for f in found} == {"ok"}, (source, found)


def test_an_arm_that_no_instance_takes_is_not_there():
    """``else`` of what always holds read ``z`` before its first cell, in a range without elements (1220700)."""
    body = """
for j in range(len(x)):
    if y[j] > 0.0:
        if x[j] > 1.0:
            continue
    elif j >= 0:
        if j % 2 == 1:
            continue
    else:
        if z[j + 3] > 0.0:
            continue
    x[j] *= 2.0
"""
    z = Arg("z", ("m",), "f")
    head = "from numba import njit\n\n\n@njit\n"
    source, found = findings(body, (X, Y, z), threads=(), head=head)
    assert {f.kind for f in found} == {"ok"}, (source, found)
    assert "z[" not in pipeline.translate(source, "f.py").text


def test_the_least_of_a_part_that_may_be_empty():
    """A minimum over ``k - 2`` elements that only a comparison uses raised where there are none (1220988)."""
    body = """
i = cuda.grid(1)
if i < n:
    best = 1e30
    at = 0
    for j in range(1, k - 1):
        e = x[(i + 3) % n] * y[j]
        if e <= best:
            best = e
            at = j
    out[i] = i - at
"""
    source, found = findings(body, (X, Y, OUT, N, Arg("k", None, "i")))
    assert {f.kind for f in found} == {"ok"}, (source, found)


ROWS = """
__global__ void f(float *out, const float *y, int n) {
    int i = blockIdx.x * 32 + threadIdx.x;
    int lane = threadIdx.x & 31;
    float v = i < n ? y[i] : 0.0f;
    float s = __shfl_up_sync(0xffffffff, v, 31);
    for (int reach = 1; reach < 32; reach *= 2) {
        float t = __shfl_up_sync(0xffffffff, s, reach);
        if (lane >= reach) s *= t;
    }
    if (i < n) out[i] *= s;
}
"""


def test_blocks_are_no_narrower_than_the_source_places_them():
    """``blockIdx.x * 32 + threadIdx.x`` was taken for blocks of 16, which leave half of the elements out (1320504)."""
    done = pipeline.translate(ROWS, "f.cu")
    assert done.text is None or "has 16 threads" not in done.text


SHIFTED = """
__global__ void f0(float *out, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? 0.5f * x[i] : 0.0f;
    float u = __shfl_up_sync(0xffffffff, v, 16);
    if (i < n) out[i] = v + u;
}
"""


def test_a_shift_by_more_than_there_is():
    """``jnp.pad(x[:max(n - 16, 0)], (16, ...))`` is longer than the rows where n < 16 (1222937)."""
    sizes = (("n", (1, 5, 15, 16, 17, 40)),)
    kernel = Kernel("f0", (OUT, X, N), ("n",), 32, sizes)
    found = [
        f for seed in (1, 2, 4, 5, 7, 8) for f in check(Program(SHIFTED, (kernel,), seed, "f.cu"), gradients=False)
    ]
    assert {f.kind for f in found} == {"ok"}, found
