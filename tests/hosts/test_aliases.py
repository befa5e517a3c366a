"""One array for several parameters of a launch: an in-place kernel where threads do not meet, else refused."""

import pytest

from tests.hosts.test_hosts import agrees, array, codes, cuda, python

ADD = """
@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + 2.0 * b[i]
"""


@pytest.mark.parametrize("arguments", ("x, y, x", "x, y, y", "x, x, y", "x, x, x"))
def test_elements_of_their_own(arguments):
    done = python(ADD + f"def f(x, y, n):\n    add[1, 32]({arguments})\n    add[1, 32](y, x, y)\n    return x, y\n")
    assert {"f"} & set(done.raised)
    agrees(done, "f", x=array(9), y=array(9, 1), n=9)


def test_one_function_for_each_way_of_joining():
    done = python(
        ADD + "def f(x, y, n):\n    for _ in range(3):\n        add[1, 32](x, y, x)\n    add[1, 32](y, x, y)\n"
    )
    assert done.text.count("def add_in_place") == 1  # (a, b) and c: both launches write what they read first
    agrees(done, "f", x=array(9), y=array(9, 1), n=9)


def test_in_a_loop_of_cuda():
    body = (
        "__global__ void axpy(const float *x, const float *y, float *out, float a, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) out[i] = a * x[i] + y[i];\n}\n"
        "void f(float *x, float *y, int n, int steps) {\n"
        "    for (int t = 0; t < steps; t++) axpy<<<1, 32>>>(x, y, y, 0.5f, n);\n}\n"
    )
    agrees(cuda(body), "f", x=array(9), y=array(9, 1), n=9, steps=3)


@pytest.mark.parametrize("arguments", ("x, x, n", "x[1:], x, n"))
def test_threads_that_meet_are_refused(arguments):
    done = python(f"def f(x, n):\n    step[1, 32]({arguments})\n")
    found = [d for d in done.diagnostics if d.kernel == "f" and d.severity == "error"]
    assert "KR211" in codes(done) and found[0].hint and "step_in_place" not in (done.text or "")
