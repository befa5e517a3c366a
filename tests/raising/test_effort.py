"""A search ends: after so much work, or where form after form is refused for one thing."""

import pytest

from kraise import pipeline
from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.raising import effort
from kraise.raising.effort import Effort
from kraise.raising.function import Raiser
from kraise.raising.run import context

# a scan that lacks a barrier, and a race behind it: all forms are refused for these
RACE = """__global__ void f(float *y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, b = blockIdx.x * 64;
  s[t] = y[b + t];
  for (int k = 1; k < 64; k *= 2) { s[t] += t >= k ? s[t - k] : 0.0f; __syncthreads(); }
  y[b + 2 * t + 1] = s[t];
}"""


def refused(line: int, code: str = "KR201") -> Refused:
    return Refused(Diagnostic(code, "why", Span("f.cu", line)))


def runs(monkeypatch, text: str) -> tuple[list[Raiser], set[str]]:
    found: list[Raiser] = []
    run = Raiser.run
    monkeypatch.setattr(Raiser, "run", lambda self: (found.append(self), run(self))[1])
    done = pipeline.translate(text, "f.cu")
    return found, {d.code for d in done.diagnostics}


def test_refusals_of_one_kind_end_a_large_search():
    alike, small, various = Effort(), Effort(), Effort()
    for k in range(20):
        alike.add([150], refused(3))
        small.add([5], refused(3))
        various.add([150], refused(k))
    assert alike.spent
    assert not small.spent  # it costs little to go on
    assert not various.spent  # each form is refused for something else


def test_all_work_ends():
    many = Effort()
    for k in range(200):
        many.add([150], refused(k))
    assert many.spent


def test_a_search_that_is_ended_says_what_it_found(monkeypatch):
    before, codes = runs(monkeypatch, RACE)
    monkeypatch.setattr(effort, "_ALIKE", 3)
    monkeypatch.setattr(effort, "_LARGE", 1)
    after, same = runs(monkeypatch, RACE)
    assert codes == same == {"KR201"}
    assert len(after) < len(before)


@pytest.mark.parametrize("most, ok", [(20, False), (20_000, True)])
def test_an_attempt_ends(monkeypatch, most, ok):
    """Loops in loops that stay are run more often the deeper they stand."""
    text = "y[i] = y[i] * c + x[k0];"
    for k in range(3):
        text = f"for (int k{k} = 0; k{k} < m; k{k}++) {{ y[i] = y[i] * y[i] + c; {text} }}"
    thread = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
    kernel = (
        f"__global__ void f(float *y, const float *x, float c, int m, int n) {{ {thread} if (i < n) {{ {text} }} }}"
    )
    monkeypatch.setattr(context, "MOST", most)
    done = pipeline.translate(kernel, "f.cu")
    assert bool(done.raised) is ok
    assert ok or [(d.code, "too deep" in d.reason) for d in done.diagnostics] == [("KR299", True)]
