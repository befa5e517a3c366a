"""The index of an extremum that is looked up at the index carried: directions, ties, masks, where it starts."""

import pytest

from kraise import pipeline
from tests.checks import verified
from tests.raising.agree import agree, kinds, text

PLAIN = "def f(x, w):\n b = {start}\n for i in {range}:\n  if {test}: b = i\n return b, w[0]"
UP, DOWN, ODD = "range(len(x))", "range(len(x) - 1, -1, -1)", "range(1, len(x), 2)"
TESTS = ("x[i] < x[b]", "x[b] >= x[i]", "x[i] > x[b]", "not x[i] >= x[b]", "x[i] - w[i] <= x[b] - w[b]")


@pytest.mark.parametrize("range_", (UP, DOWN, ODD, "range(1, len(x))"))
@pytest.mark.parametrize("test", TESTS)
def test_ties_and_directions(range_, test):
    assert "ArgReduce" in kinds(agree(PLAIN.format(start="0", range=range_, test=test)))


@pytest.mark.parametrize("test", ("w[i] > 0 and x[i] < x[b]", "i != 1 and x[i] >= x[b]"))
def test_masks(test):
    assert "ArgReduce" in kinds(agree(PLAIN.format(start="len(x) - 1", range=UP, test=test)))


def test_the_index_before_the_loop_is_one_of_them():
    found = "def f(x):\n b = 0\n for i in range(1, len(x)):\n  if x[i] {} x[b]: b = i\n return b"
    assert text(agree(found.format("<"), sizes=(1, 2, 3, 5))) == "returns argmin_i(x[i])"
    assert text(agree(found.format(">="), sizes=(1, 2, 3, 5))) == "returns last_argmax_i(x[i])"


def test_a_triangle_of_candidates():
    each = ("def f(x, w, n):\n i = cuda.grid(1)\n if i < n:\n  b = i\n  for k in range(i + 1, n):\n"
            "   if x[k] < x[b]: b = k\n  w[i] = b")  # fmt: skip
    assert text(agree(each)) == "w[i] = argmin_(k where k >= i)(x[k])  for 0 <= i < n"


DECLINES = {
    "used in the loop": "if x[i] < x[b]: b = i\n  w[i] = b",
    "another index": "if x[i] < x[b]: b = i - 1",
    "two tests of it": "if x[i] < x[b] and b < 2: b = i",
    "an array that the loop writes": "x[i] = x[i] + w[b]\n  if x[i] < x[b]: b = i",
}


@pytest.mark.parametrize("name", DECLINES)
def test_declines(name):
    kernel = agree("def f(x, w):\n b = 0\n for i in range(1, len(x)):\n  " + DECLINES[name] + "\n return b, w[0]")
    assert "ArgReduce" not in kinds(kernel)


def test_rows_of_a_flat_array():
    source = """__global__ void f(const float *x, int *y, int n, int m) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      int b = 0;
      for (int k = 1; k < m; k++) if (x[i * m + k] > x[i * m + b]) b = k;
      y[i] = b;
    }"""
    done = pipeline.translate(source, "case.cu")
    assert done.text is not None and "x2.argmax(axis=1)" in done.text
    reports, findings = verified(done, pipeline.Request(), "case.cu", source)
    assert reports and all(r.ok for r in reports) and not findings
