"""Loops: which become an index and which stay; anti, flow and output dependences, cells, fences, own reads."""

# ruff: noqa: E501 - kernels on one line

import numpy as np
import pytest

from kraise import pipeline
from tests.hostile.judge import judge
from tests.raising.agree import agree, fold, kinds, refusal, text, write

FREE = {
    "no dependence": "def f(x, y):\n for i in range(len(x)):\n  y[i] = x[i] * 2",
    "reads ahead of the store": "def f(y):\n for i in range(len(y) - 1):\n  y[i] = y[i + 1]",
    "reads behind it, run backwards": "def f(y):\n for i in range(len(y) - 1, 0, -1):\n  y[i] = y[i - 1]",
    "even from odd": "def f(y):\n for i in range(0, len(y) - 1, 2):\n  y[i] = y[i + 1] + 1",
    "other half": "def f(h, n):\n for i in range(n):\n  h[i] = h[i + n]",
    "lower from upper triangle": "def f(A):\n for i in range(len(A)):\n  for j in range(i):\n   A[i, j] = A[j, i]",
    "own cell": "def f(x, y):\n for i in range(len(x)):\n  y[i] = y[i] * x[i] - y[i]",
    "own store forwarded": "def f(x, y):\n for i in range(len(x)):\n  y[i] = x[i]\n  x[i] = y[i] + 1",
    "statements in order": "def f(x, y):\n for i in range(len(x)):\n  y[i] = x[i]\n for i in range(1, len(x)):\n"
    "  x[i] = y[i - 1]",
    "flow to a later statement": "def f(x, y):\n for i in range(1, len(x)):\n  x[i] = i\n  y[i] = x[i - 1]",
    "swap": "def f(x, y):\n for i in range(len(x)):\n  t = x[i]\n  x[i] = y[i]\n  y[i] = t",
    "triangular swap": "def f(A):\n for i in range(len(A)):\n  for j in range(i):\n   t = A[i, j]\n   A[i, j] = A[j, i]\n"
    "   A[j, i] = t",
}


@pytest.mark.parametrize("name", FREE)
def test_free_loops_are_indices(name):
    assert "Fold" not in kinds(agree(FREE[name]))


STAYS = {
    "anti dependence in the wrong direction": "def f(x, y):\n for i in range(len(x) - 1):\n  y[i] = x[i] - y[i]\n"
    "  y[i + 1] = y[i] * y[i]",
    "full transpose in place": "def f(A):\n for i in range(len(A)):\n  for j in range(len(A)):\n   A[i, j] = A[j, i]",
    "full swap undoes itself": "def f(A):\n for i in range(len(A)):\n  for j in range(len(A)):\n   t = A[i, j]\n"
    "   A[i, j] = A[j, i]\n   A[j, i] = t",
    "wavefront": "def f(A):\n for i in range(1, len(A)):\n  for j in range(1, len(A)):\n"
    "   A[i, j] = A[i - 1, j] + A[i, j - 1]",
    "scatter, the last one wins": "def f(x, y, k):\n for i in range(len(x)):\n  y[k[i]] = x[i]",
    "scatter, backwards": "def f(x, y, k):\n for i in range(len(x) - 1, -1, -1):\n  y[k[i]] = x[i]",
    "many rounds, one cell": "def f(x, y):\n for i in range(len(x)):\n  y[i // 2] = x[i]",
    "gather of what was scattered": "def f(x, y, k):\n for i in range(len(x)):\n  y[i] = y[k[i]] + x[i]",
    "two operators into one cell": "def f(x, y, k):\n for i in range(len(x)):\n  y[k[i]] += x[i]\n"
    "  y[k[i]] = max(y[k[i]], x[i])",
    "accumulation and store meet": "def f(x, y):\n for i in range(len(x)):\n  y[i] += x[i]\n  y[0] = x[i]",
    "accumulation that reads its array": "def f(x, y):\n for i in range(len(x)):\n  for j in range(i):\n"
    "   y[i] += y[j] * x[j]",
    "row and column zero": "def f(A):\n for i in range(len(A)):\n  for j in range(len(A)):\n"
    "   A[i, j] = A[0, j] + A[i, 0]",
    "elimination": "def f(A):\n for i in range(len(A)):\n  for j in range(i + 1, len(A)):\n   A[j, i] -= A[i, i] * A[j, j]\n"
    "   A[j, j] += A[j, i]",
    "time steps": "def f(x, y, n):\n for t in range(3):\n  for i in range(1, n):\n   y[i] = x[i - 1] + 1\n"
    "  for i in range(n):\n   x[i] = y[i] * 2",
}


@pytest.mark.parametrize("name", STAYS)
def test_dependent_loops_stay(name):
    assert "Fold" in kinds(agree(STAYS[name]))


def test_the_loop_inside_a_loop_that_stays_is_an_index():
    kernel = agree(
        "def f(A):\n for i in range(1, len(A)):\n  for j in range(len(A) - 1):\n   A[i, j] = A[i - 1, j + 1] + 1"
    )
    stays = fold(kernel)
    assert stays.axis.name == "i"
    assert [a.name for a in stays.body[0].axes] == ["j"]


def test_direction_is_kept():
    assert fold(agree("def f(x, y, k):\n for i in range(len(x)):\n  y[k[i]] = x[i]")).reverse is False
    assert fold(agree("def f(x, y, k):\n for i in range(len(x) - 1, -1, -1):\n  y[k[i]] = x[i]")).reverse is True


def test_accumulations_commute():
    kernel = agree(
        "def f(x, y):\n for i in range(len(x)):\n  for j in range(len(x)):\n   y[i] += x[j]\n   y[j] += x[i]"
    )
    assert "Fold" not in kinds(kernel)
    kernel = agree("def f(x, y, k):\n for i in range(len(x)):\n  y[k[i]] += x[i]")
    assert kinds(kernel) == set() and write(kernel).accumulate == "add"


def test_a_cell_that_does_not_move_is_a_scalar():
    assert "Fold" not in kinds(agree("def f(x, y):\n for i in range(len(x)):\n  y[0] += x[i]"))
    carried = fold(agree("def f(x, y):\n for i in range(len(x)):\n  y[0] = x[i] - y[0] * 2"))
    assert [s.name for s in carried.scalars] == ["$y"] and not carried.arrays


def test_a_cell_that_moves_is_no_scalar_if_another_access_meets_it():
    kernel = agree("def f(x, y, k):\n for i in range(len(x)):\n  y[0] = x[i] - y[0] * 2\n  y[k[i]] += 1")
    assert fold(kernel).arrays


VALUES = {
    "variable after a loop": "def f(x, y, q):\n i = 77\n for i in range(q, len(x)):\n  y[i] = x[i]\n return i",
    "variable after a reversed loop": "def f(x, y, q):\n i = 77\n for i in range(q - 1, -1, -2):\n  y[i] = x[i]\n return i",
    "variable after steps of three": "def f(x, y, q):\n i = 7\n for i in range(q, len(x), 3):\n  y[i] = x[i]\n return i",
    "a local's last value": "def f(x, y, q):\n a = 1.0\n for i in range(q, len(x)):\n  a = x[i] * 2\n  y[i] = a\n return a",
    "in steps of an index": "def f(x, y):\n for i in range(1, len(x)):\n  for j in range(i, len(x), i):\n   y[j] += x[i]",
    "in steps of an index, carried": "def f(x, y):\n for i in range(len(x)):\n  s = 0.0\n  for j in range(i, len(x), i + 1):\n"
    "   s = x[j] - s * 2\n  y[i] = s",
    "a sieve": "def f(y):\n for i in range(2, len(y)):\n  if y[i] > 0:\n   for j in range(i * i, len(y), i):\n    y[j] = 0.0",
    "no round at all": "def f(x, y):\n a = 5.0\n for i in range(3, 3):\n  a = x[i]\n  y[i] = a\n return a",
    "the loop's bound is taken once": "def f(x, n):\n c = x[0]\n for i in range(n):\n  n = 1\n  c += 1\n return c + n",
    "one round": "def f(x, y):\n a = 0.0\n for i in range(1, 2):\n  while a < x[i]:\n   a += 1\n  y[i] = a\n return a",
    "a dead local of an inner loop": "def f(x):\n a = 0.0\n b = 2.0\n for i in range(len(x)):\n  for j in range(i):\n"
    "   b = x[j]\n  a = a + x[i]\n return a",
}


@pytest.mark.parametrize("name", VALUES)
def test_values_after_a_loop(name):
    agree(VALUES[name])


def test_steps_of_an_index_that_may_be_none_or_whose_last_value_is_used():
    body = "def f(x, y):\n j = 0\n for i in range({}, len(x)):\n  for j in range(i, len(x), i):\n   y[j] += x[i]\n  {}"
    assert refusal(body.format(0, "pass")) == refusal(body.format(1, "y[0] += j")) == "KR205"


def test_a_local_of_the_body_has_no_value_without_a_round_that_sets_it():
    assert refusal("def f(x):\n for i in range(len(x)):\n  if i < 2:\n   t = x[i]\n return t") == "KR207"
    assert refusal("def f(x, y):\n for i in range(len(x)):\n  if x[i] > 0:\n   t = x[i]\n  y[i] = t") == "KR207"


def test_a_range_that_depends_on_data_runs_to_the_longest():
    kernel = agree("def f(x, y, k):\n for i in range(len(x)):\n  for j in range(k[i]):\n   y[i] = x[j] - y[i]")
    assert "while" in text(kernel)


def test_a_store_of_an_earlier_round_is_not_forwarded():
    kernel = agree("def f(x, y):\n y[0] = 4.0\n for i in range(len(x)):\n  x[i] = y[0]\n  y[0] = x[i] + i")
    assert "4.0" in text(kernel)
    agree("def f(x, y):\n y[0] = 4.0\n for i in range(1, len(x)):\n  x[i] = y[0]\n  y[i - 1] = x[i] + i")


NAMED = """__global__ void f(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0;
  if (x[i] > 0) { int k = 2 * i; s += k; }
  for (int k = 1; k < n; ++k) s = s * k + x[k];
  y[i] = s;
}"""


def test_a_variable_with_the_name_of_a_local_that_some_paths_set():
    done = pipeline.translate(NAMED, "f.cu")
    assert done.text, [d.reason for d in done.diagnostics]
    found: dict = {}
    exec(done.text, found)
    got = found["f"](np.array([1, -1, 3], np.float32), np.zeros(3, np.float32), 3)
    np.testing.assert_array_equal(got, [1, 1, 9])  # ((2 i or 0) - 1) * 2 + 3


OWN_LOOP = """__global__ void k(float *y, const float *x, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {{
    float v = 0.5f;
    for (int k = 0; k {to}; k++) {body}
    y[i] = v;
  }}
}}"""


@pytest.mark.parametrize(
    ("to", "body"),
    [
        ("< threadIdx.x", "v += x[k];"),
        ("<= threadIdx.x", "v = fmaxf(v, x[i - threadIdx.x + k]);"),
        ("< threadIdx.x % 5", "v *= x[i];"),
        ("< threadIdx.x", "{ v = 0.5f * v + x[k]; if (v > 1.f) break; }"),
    ],
)
def test_the_index_of_a_thread_ends_a_loop(to, body):
    """It is below the block's size; a block may have more threads than there are elements."""
    source = OWN_LOOP.format(to=to, body=body)
    launches = [((3,), (7,)), ((1,), (32,)), ((5,), (4,))]
    assert judge(source, "cu", "y=f[20] x=f[20] n=18", launches) == "right"


def test_threads_that_meet_in_such_a_loop_are_refused():
    source = OWN_LOOP.format(to="< threadIdx.x", body="y[k] = v + i;")
    assert judge(source, "cu", "y=f[20] x=f[20] n=18", [((3,), (7,))]) == "refused KR201"
