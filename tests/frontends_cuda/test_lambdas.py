"""What a lambda captures by value, and what is its own."""

import numpy as np

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

LAMBDAS = """
__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  %s
  auto at = [=](int b, int %s) { return b * n + c; };
  %s
  y[i] = x[at(1, c)];
}"""


def test_a_parameter_is_not_captured():
    done = pipeline.translate(LAMBDAS % ("", "c", "int c = 0; for (; c < i; c++) {}"), "k.cu")
    assert done.raised == ("k",), done.diagnostics
    x = np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(load_module(done.text).k(x, np.zeros(3, np.float32), 3), x[3:])
    agrees(done, pipeline.Request())


def test_what_is_captured_and_changes_later_is_refused():
    done = pipeline.translate(LAMBDAS % ("int c = i;", "d", "c = n - 1 - i;"), "k.cu")
    assert not done.raised and {d.code for d in done.diagnostics} == {"KR299"}
