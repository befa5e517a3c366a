"""Local arrays of numbers that nothing changes are constants of the module; all others stay as they are."""

import textwrap

import pytest

from kraise.frontends import cuda_c, python
from kraise.ir.tables import with_tables

HEAD = "__global__ void f(const int *k, float *y, int n) {\n int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
TAIL = " if (i < n) y[i] = t[k[i]];\n}\n"
TABLE = " const float t[4] = {1.0f, 2.0f, -3.0f};\n"


def constants(text):
    module, found = cuda_c.read(text, "k.cu")
    assert not found, [d.reason for d in found]
    return {c.name: c.values for c in with_tables(module).constants}


def test_a_table_is_lifted_and_filled_up():
    assert constants(HEAD + TABLE + TAIL) == {"t": (1.0, 2.0, -3.0, 0.0)}


def test_quotients_and_their_signs_are_numbers():
    found = constants(HEAD + " const float t[3] = {4.f / 9, -(1.f / 36), 2 * (1.f / 3)};\n" + TAIL)["t"]
    assert found == pytest.approx((4 / 9, -1 / 36, 2 / 3), rel=1e-7)
    assert not constants(HEAD + " const float t[2] = {1.f / n, 1.f / 0};\n" + TAIL)
    assert not constants(HEAD + " const float t[2] = {1.f, 1.f / 0};\n" + TAIL)


@pytest.mark.parametrize(
    "body",
    [
        " float t[4] = {1.0f, 2.0f};\n t[1] = y[0];\n" + TAIL,  # changed
        " float t[2] = {1.0f, (float)n};\n" + TAIL,  # not all of it numbers
        " float t[4] = {1.0f, 2.0f};\n if (i < n) y[i] = t[1];\n}\n",  # only looked up at numbers
        " __shared__ float t[4];\n t[0] = 1.0f;\n __syncthreads();\n" + TAIL,  # a block's
    ],
)
def test_no_table(body):
    assert not constants(HEAD + body)


def test_two_functions_with_tables_of_one_name():
    other = HEAD.replace("void f", "void g")
    assert constants(HEAD + TABLE + TAIL + other + TABLE + TAIL) == {"t": (1.0, 2.0, -3.0, 0.0)}
    changed = TABLE.replace("-3", "5")
    both = constants(HEAD + TABLE + TAIL + other + changed + TAIL)
    assert both == {"t": (1.0, 2.0, -3.0, 0.0), "g_t": (1.0, 2.0, 5.0, 0.0)}


def test_a_parameter_of_another_function_keeps_its_name():
    other = "__global__ void g(float *t, int n) { int i = threadIdx.x; if (i < n) t[i] = 0.0f; }\n"
    assert constants(HEAD + TABLE + TAIL + other) == {"f_t": (1.0, 2.0, -3.0, 0.0)}


def test_a_tuple_of_numbers():
    text = textwrap.dedent("""
        from numba import cuda
        @cuda.jit
        def f(k, y):
            i = cuda.grid(1)
            t = (1, -2, 3)
            if i < y.shape[0]:
                y[i] = t[k[i]]
    """)
    module, found = python.read(text, "k.py")
    assert not found
    assert [(c.name, c.values) for c in with_tables(module).constants] == [("t", (1, -2, 3))]
