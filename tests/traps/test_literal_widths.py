"""Values that are chosen among literals have the type that the source gives them: they wrap there, in either mode of
JAX, and the rounds of a loop carry them in it."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = """{0}__global__ void f(const int *x, {1} *y, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {{ {2} }} }}"""
MACHINE = "{0} st = 0; int v = x[i]; for (int k = 0; k < 5; k++) {{ st = st == 0 ? (v > 5 ? 2 : 1) : st == 1 ? 3 : 0; v += k; }} y[i] = st;"  # noqa: E501
X = np.array([3, 8, 12, 5, -4], np.int32)
U = np.where(X & 1, np.uint32(60000), np.uint32(65539))


def _machine(v):
    st = 0
    for k in range(5):
        st = (2 if v > 5 else 1) if st == 0 else 3 if st == 1 else 0
        v += k
    return st


CASES = {  # before the kernel, element, body, what y becomes
    "product": ("", "unsigned", "unsigned s = x[i] & 1 ? 60000u : 65539u; y[i] = s * s / 3u;", U * U // 3),
    "converted": ("", "int", "int t = x[i] & 1 ? 2000000000 : 1000000000; y[i] = (int)((unsigned)t * 3u) / 7;",
                  np.where(X & 1, 243576100, -184995328)),
    "short": ("", "int", "short h = x[i] > 4 ? 30000 : -30000; h *= 3; y[i] = h / 7;",
              np.where(X > 4, 24464 // 7, -(24464 // 7))),
    "table": ("__constant__ unsigned t[3] = {0u, 4000000000u, 3u};\n", "int",
              "y[i] = (t[x[i] & 1] + t[1] < 10u) + 2 * (t[2] - t[1] > 9u);", np.full(5, 2)),
    "unsigned machine": ("", "unsigned", MACHINE.format("unsigned"), np.array([_machine(int(v)) for v in X])),
    "char machine": ("", "int", MACHINE.format("signed char"), np.array([_machine(int(v)) for v in X])),
    "int machine": ("", "int", MACHINE.format("int"), np.array([_machine(int(v)) for v in X])),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_choice_among_literals_has_the_type_of_the_source(name):
    before, element, body, wanted = CASES[name]
    f = load_module(pipeline.translate(HEAD.format(before, element, body), "f.cu").text).f
    y = np.zeros(5, np.uint32 if element == "unsigned" else np.int32)
    for wide in (False, True):
        with jax.enable_x64(wide):
            given = f(X, y, 5)
        assert given.dtype == y.dtype
        np.testing.assert_array_equal(np.asarray(given), wanted)


def test_indices_keep_their_form_where_unsigned_parts_meet():
    source = HEAD.format("", "int", "int tx = threadIdx.x, at = blockIdx.x * blockDim.x + tx; y[at] = 2 * x[at];")
    text = pipeline.translate(source, "f.cu").text
    assert "astype" not in text and "arange" not in text


def test_what_starts_as_an_index_has_no_sign_where_the_source_gives_it_none():
    loop = "int s = 0; for (size_t j = i + 1; j > 0; j -= (j >= 2 ? 2 : 1)) s = s * 2 - x[j - 1]; y[i] = s;"
    f = load_module(pipeline.translate(HEAD.format("", "int", loop), "f.cu").text).f
    wanted = []
    for i in range(5):
        s, j = 0, i + 1
        while j > 0:
            s, j = s * 2 - X[j - 1], j - (2 if j >= 2 else 1)
        wanted.append(s)
    np.testing.assert_array_equal(np.asarray(f(X, np.zeros(5, np.int32), 5)), wanted)
