"""Pointers of a host that may point to one place: ``if (src != x) cudaMemcpy(x, src, …)`` after a loop that swaps."""

import pytest

from kraise import pipeline
from tests.checks import verified

STEP = """
#include <utility>
__global__ void step(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) b[i] = a[i] + 0.1f * (a[i - 1] - 2 * a[i] + a[i + 1]);
  else if (i < n) b[i] = a[i];
}
__global__ void twice(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] *= 2.f; }
"""
LAUNCH = "<<<(n + 255) / 256, 256>>>"
SWAPS = f"for (int t = 0; t < m; t++) {{ step{LAUNCH}(src, dst, n); float *s = src; src = dst; dst = s; }}"
THREE = SWAPS.replace("t < m", "t < 3")
COPY = "cudaMemcpy(x, src, n * sizeof(float), cudaMemcpyDeviceToDevice);"
OWN = """float *a, *b; cudaMalloc(&a, n * sizeof(float)); cudaMalloc(&b, n * sizeof(float));
  cudaMemcpy(a, x, n * sizeof(float), cudaMemcpyHostToDevice); float *src = a, *dst = b;"""
BACK = "cudaMemcpy(x, a, n * sizeof(float), cudaMemcpyDeviceToHost);"

BODIES = {
    "unless it is there": f"float *src = x, *dst = tmp; {SWAPS} if (src != x) {COPY}",
    "the other way round": f"float *src = x, *dst = tmp; {SWAPS} if (x != src) {{ {COPY} }}",
    "at any rate": f"float *src = x, *dst = tmp; {SWAPS} {COPY}",
    "after odd numbers": f"float *src = x, *dst = tmp; {SWAPS} if (m % 2) {COPY.replace('src', 'tmp')}",
    "and on": f"float *src = x, *dst = tmp; {SWAPS} if (src != x) {COPY} twice{LAUNCH}(x, n);",
    "memory of its own": f"{OWN} {SWAPS} if (src != a) {COPY.replace('x,', 'a,')} {BACK}",
    "read as it is": f"{OWN} {SWAPS} {BACK}",
    "a number of rounds": f"float *src = x, *dst = tmp; {THREE} if (src != x) twice{LAUNCH}(src, n);",
    "no round": f"float *src = x; if (src == x) twice{LAUNCH}(tmp, n); else twice{LAUNCH}(x, n);",
    "further on": f"float *src = x + 1; if (src == x + 1) twice{LAUNCH}(tmp, n); if (src != x + 1) {COPY}",
    "and a number": f"if (x == tmp || n == 0) return; if (x != tmp && m > 1) twice{LAUNCH}(x, n);",
    "another one": f"float *src = tmp; if (src == x) twice{LAUNCH}(tmp, n); else twice{LAUNCH}(x, n);",
}


def translated(body):
    return pipeline.translate(f"{STEP} void run(float *x, float *tmp, int n, int m) {{ {body} }}", "k.cu")


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.long_cases("the other way round", "at any rate", "and on", "read as it is", "and a number", "another one")
def test_what_is_there_at_the_end(body):
    done = translated(body)
    assert "run" in done.raised, done.diagnostics
    for m in (0, 1, 2, 3):
        request = pipeline.Request(shapes={"x": (9,), "tmp": (9,)}, values={"n": 9, "m": m})
        reports, problems = verified(done, request)
        (found,) = [r for r in reports if r.kernel == "run"]
        assert found.ok, (m, problems, [(f.check, f.message) for f in found.failures], done.text)


REFUSED = {
    "which one is data": f"{SWAPS} if (src == x) twice{LAUNCH}(tmp, n);",
    "written beside it": f"{SWAPS} twice{LAUNCH}(x, n); {COPY}",
    "written under another name": f"{SWAPS} twice{LAUNCH}(src, n); {COPY.replace('x, src', 'tmp, x')}",
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_what_may_be_one_memory_is_not_written_to(body):
    done = translated(f"float *src = x, *dst = tmp; {body}")
    assert "run" not in done.raised, done.text
    assert "KR211" in {d.code for d in done.diagnostics}
