"""Loops in which two arrays change places: values for every number of rounds, and what is refused."""

import pytest

from kraise import pipeline
from kraise.pipeline import Request
from tests.checks import verified
from tests.raising.agree import agree, raised

SWAPPED = """
@cuda.jit
def f(a, b, y, n, q):
    i = cuda.threadIdx.x
    {before}
    for s in range({start}, q):
        {choose}
        if 0 < i < n - 1:
            dst[i] = src[i - 1] - 2 * src[i + 1]
        {barrier}
        {swap}
    {after}
"""
IN_TURN = "src, dst = (a, b) if s % 2 else (b, a)"
BY_PARITY = "src = a if (s + 1) % 2 == 0 else b\n        dst = b if (s + 1) % 2 == 0 else a"
SWAPS = [
    ("src = a\n    dst = b", 0, "", "src, dst = dst, src", "if i < n:\n        y[i] = src[i]"),
    ("src, dst = a, b", 1, "", "t = src\n        src = dst\n        dst = t", ""),
    ("", 0, BY_PARITY, "", ""),
    ("", 2, "if s & 1:\n            src, dst = b, a\n        else:\n            src, dst = a, b", "", ""),
]


def _source(before, start, choose, swap, after, barrier="cuda.syncthreads()"):
    return "from numba import cuda\nimport numba\n" + SWAPPED.format(
        before=before, start=start, choose=choose, swap=swap, after=after, barrier=barrier
    )


@pytest.mark.parametrize("form", SWAPS)
def test_buffers_that_change_places(form):
    source = _source(*form)
    done = pipeline.translate(source, "f.py")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    assert "// 2" in done.text and "jnp.where(mod" not in done.text
    for rounds in range(5):
        request = Request(
            shapes={"a": (6,), "b": (6,), "y": (6,)},
            values={"n": 6, "q": rounds},
            grid=(1,),
            block=(8,),
            gradients=False,
        )
        reports, problems = verified(done, request, "f.py", source)
        assert not problems and all(r.ok for r in reports), (rounds, problems)


@pytest.mark.parametrize("form", SWAPS)
def test_the_barrier_is_needed(form):
    done = pipeline.translate(_source(*form, barrier="pass"), "f.py")
    assert done.text is None and {d.code for d in done.diagnostics} == {"KR201"}


ROWS = """
def f(A, y, n, q):
    for i in range(n):
        cur = 1
        A[0, i] = 1.0
        for t in range(q):
            A[cur, i] = A[1 - cur, i] * 2 + t
            cur = 1 - cur
        y[i] = A[1 - cur, i]
"""


def test_cells_that_take_turns():
    agree(ROWS, sizes=(2, 3, 5))


def test_a_sign_that_changes_is_no_place():
    kernel = raised("def f(w, y, n):\n    s = 1\n    for k in range(n):\n        y[k] = s * w[k]\n        s = -s")
    assert not any("// 2" in line for line in kernel.equations)


NESTED = """
__global__ void f(const float *x, const float *y, float *out, int n, int c, int d) {
  int i = threadIdx.x;
  const float *p = c ? (d ? x : y) : x;
  if (i < n) out[i] = p[i];
}
"""


def test_a_choice_within_a_choice():
    done = pipeline.translate(NESTED, "f.cu")
    assert done.text is not None
    for c, d in ((0, 0), (0, 1), (1, 0), (1, 1)):
        request = Request(shapes=dict.fromkeys(("x", "y", "out"), (5,)), values={"n": 5, "c": c, "d": d})
        reports, problems = verified(done, request, "f.cu", NESTED)
        assert not problems and all(r.ok for r in reports)
