"""A simulation is made once for all attempts that come to its statements with the same numbers."""

import pytest

from kraise import pipeline
from kraise.raising.collective import plan, shared
from tests.checks import agrees

SUM = """
__global__ void f(const float *x, float *y) {
  __shared__ float s[64];
  int t = threadIdx.x, d = FIRST;
  s[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  for (; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
"""


@pytest.fixture
def simulated(monkeypatch):
    """The sizes of the blocks that were simulated so far."""
    shared._found.clear()
    sizes = []
    every, first = plan.Trials._every, plan.Trials._first
    monkeypatch.setattr(plan.Trials, "_every", lambda self, sim: sizes.append(sim.size) or every(self, sim))
    monkeypatch.setattr(plan.Trials, "_first", lambda self, sim, n: sizes.append(sim.size) or first(self, sim, n))
    return sizes


def test_the_same_text_is_simulated_once(simulated):
    text = SUM.replace("FIRST", "32")
    one = pipeline.translate(text, "k.cu")
    made = len(simulated)
    assert made and "sum(" in one.text
    assert pipeline.translate(text, "k.cu").text == one.text and len(simulated) == made


def test_other_numbers_before_it_are_another_simulation(simulated):
    """The statements are the same, what a local held before them is not: half of the tree is no sum of the block."""
    whole, half = (pipeline.translate(SUM.replace("FIRST", n), "k.cu") for n in ("32", "16"))
    assert len(simulated) > len(set(simulated))
    assert whole.text and half.text and half.text != whole.text
    for done, threads in ((whole, 64), (half, 32)):
        agrees(done, pipeline.Request(shapes={"x": (128,), "y": (2,)}, grid=(2,), block=(threads,)))


def test_the_same_statements_on_another_line_are_another_run(simulated):
    text = SUM.replace("FIRST", "32")
    first = pipeline.translate(text, "k.cu").text
    made = len(simulated)
    later = pipeline.translate("\n\n" + text, "k.cu").text
    assert len(simulated) > made and first != later  # the lines that it names
