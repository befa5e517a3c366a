"""A barrier in every round of a loop: only rounds that follow each other can be without one between."""

import pytest

from kraise import pipeline
from tests.checks import agrees

SUBSTITUTION = """
__global__ void f(const float* L, float* x, int n) {
    int t = threadIdx.x;
    for (int k = %s) {
        if (t == k) x[k] /= L[k * n + k];
        __syncthreads();
        if (%s && t < n) x[t] -= L[t * n + k] * x[%s];
    }
}"""


def _translated(source):
    return pipeline.translate(source, "k.cu")


@pytest.mark.parametrize(("loop", "later"), [("0; k < n; k++", "t > k"), ("n - 1; k >= 0; k--", "t < k")])
def test_a_substitution_with_one_barrier_in_a_round(loop, later):
    done = _translated(SUBSTITUTION % (loop, later, "k"))
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    request = pipeline.Request(shapes={"L": (25,), "x": (5,)}, values={"n": 5}, block=(8,), grid=(1,))
    agrees(done, request)


@pytest.mark.parametrize(
    ("loop", "later", "place"),
    [
        ("0; k < n; k++", "t > k + 1", "k + 1"),  # the thread of the next round divides it meanwhile
        ("0; k < n; k++", "t > k", "t - 1"),  # what the thread before changes in this round
        ("0; k < n - 2; k += 2", "t > k + 2", "k + 2"),
        ("n - 1; k >= 1; k--", "t < k - 1", "k - 1"),
    ],
)
def test_what_the_next_round_changes_is_a_race(loop, later, place):
    done = _translated(SUBSTITUTION % (loop, later, place))
    assert [d.code for d in done.diagnostics][:1] == ["KR201"]


def test_without_the_barrier_it_is_a_race():
    done = _translated((SUBSTITUTION % ("0; k < n; k++", "t > k", "k")).replace("__syncthreads();", ""))
    assert [d.code for d in done.diagnostics][:1] == ["KR201"]


def test_a_barrier_in_some_rounds_orders_nothing():
    source = SUBSTITUTION % ("0; k < n; k++", "t > k", "k")
    done = _translated(source.replace("__syncthreads();", "if (k % 2 == 0) __syncthreads();"))
    assert [d.code for d in done.diagnostics][:1] == ["KR201"]
