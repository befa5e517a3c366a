"""What one thread does alone, in loops that stay: what these carry is one value, not an array of one lane."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

COUNTING = """
__global__ void sorted(const int *x, int *out, int k) {
    int c[16];
    if (threadIdx.x == T && blockIdx.x == B) {
        for (int i = 0; i < k; i++) c[i] = x[i];
        int p = threadIdx.x;
        for (int v = 0; v < k; v++)
            for (int j = 0; j < c[v]; j++) out[p++] = v + blockIdx.x;
    }
}
"""


def _translated(source):
    done = pipeline.translate(source, "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    return done


@pytest.mark.parametrize(("t", "b"), [(0, 0), (2, 1)])
def test_a_cursor_of_one_thread(t, b):
    done = _translated(COUNTING.replace("T", str(t)).replace("B", str(b)))
    assert "arange(k)" in done.text and "block" not in done.text.split('"""')[-1]
    x = np.array([2, 0, 3], np.int32)
    got = load_module(done.text).sorted(x, np.full(9, -1, np.int32), 3)
    expected = [-1] * t + [b] * 2 + [2 + b] * 3
    np.testing.assert_array_equal(got, expected + [-1] * (9 - len(expected)))


def test_what_it_stores_has_its_derivative():
    done = _translated(
        "__global__ void k(const float *x, float *out, int n, int m) { if (threadIdx.x + blockIdx.x > 0) return;"
        " int p = 0; for (int v = 0; v < n; v++) for (int j = 0; j < m; j++)"
        " if (x[v * m + j] > 0.0f) out[p++] = x[v * m + j] * x[v * m + j]; }"
    )
    agrees(done, pipeline.Request(shapes={"x": (6,), "out": (8,)}, values={"n": 2, "m": 3}))


def test_several_threads_with_a_cursor_of_one_array_are_refused():
    done = pipeline.translate(COUNTING.replace("threadIdx.x == T && blockIdx.x == B", "threadIdx.x < 2"), "k.cu")
    assert {d.code for d in done.diagnostics if d.severity == "error"} & {"KR201", "KR202", "KR203"}
