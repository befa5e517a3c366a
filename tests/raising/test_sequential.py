"""Recurrences, dynamic programming and solvers: what is carried, and the same kernels made wrong."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise import pipeline
from tests.checks import verified
from tests.raising.agree import agree, kinds, refusal

HEAD = "def f(x, y, z, q):\n i = cuda.grid(1)\n if i < len(x):\n"

CARRIED = {  # name: the loop of one thread over one row, in a plain function
    "one round back": "for k in range(1, len(x)):\n  y[k] = 2 * y[k - 1] + x[k]",
    "two rounds back": "for k in range(2, len(x)):\n  y[k] = y[k - 1] - y[k - 2] + x[k]",
    "three rounds back": "for k in range(3, len(x)):\n  y[k] = y[k - 3] + x[k]",
    "backwards": "for k in range(len(x) - 3, -1, -1):\n  y[k] = y[k + 1] - 2 * y[k + 2]",
    "and the cell itself": "for k in range(1, len(x)):\n  y[k] = y[k] + 2 * y[k - 1]",
    "and cells ahead": "for k in range(1, len(x) - 1):\n  y[k] = 2 * y[k - 1] + y[k + 1]",
}


@pytest.mark.parametrize("name", CARRIED)
def test_cells_of_earlier_rounds_are_carried(name):
    kernel = agree("def f(x, y):\n " + CARRIED[name], sizes=(4, 5, 6))
    folds = [s for s in kernel.body if type(s).__name__ == "Fold"]
    assert folds and not folds[0].arrays and folds[0].outputs


NOT_CARRIED = {  # the cell that is read is stored by an earlier round that is not a fixed number of rounds back
    "a cell far back": "for k in range(5, len(x)):\n  y[k] = 2 * y[k - 5] + y[k - 1]",
    "a cell that data choose": "for k in range(1, len(x)):\n  y[k] = 2 * y[k - 1] + y[k0[k]]",
    "the first cell": "for k in range(len(x)):\n  y[k] = 2 * y[0] + x[k]",
    "a store under a condition": "for k in range(1, len(x)):\n  if x[k] > 0: y[k] = 2 * y[k - 1]",
    "two stores": "for k in range(1, len(x)):\n  y[k] = 2 * y[k - 1]\n  y[0] = x[k]",
}


@pytest.mark.parametrize("name", NOT_CARRIED)
def test_what_is_not_carried_is_right(name):
    agree(f"def f(x, y{', k0' * ('k0' in NOT_CARRIED[name])}):\n {NOT_CARRIED[name]}", sizes=(5, 6, 7))


def test_a_row_of_dynamic_programming_leaves_a_loop_as_one_store():
    source = "def f(A, B, k):\n n = A.shape[0]\n for i in range(1, n):\n  for j in range(1, n):\n   A[i, j] = max(A[i - 1, k[j]] + B[i, j], A[i - 1, j] - 1, A[i, j - 1] - 1)"
    kernel = agree(source)
    (outer,) = kernel.body
    assert kinds(kernel)
    (inner, store) = outer.body
    assert type(inner).__name__ == "Fold" and not inner.arrays and type(store).__name__ == "Write"


@pytest.mark.parametrize("order", ["A[i - 1, j + 1]", "A[i + 1, j - 1]", "A[i + 1, j + 1]"])
def test_sweeps_see_old_and_new_cells(order):
    agree(
        f"def f(A):\n n = A.shape[0]\n for i in range(1, n - 1):\n  for j in range(1, n - 1):\n   A[i, j] = A[i, j - 1] + {order} - A[i - 1, j]"
    )


RACY = {  # the recurrence runs along the threads, or two threads share a row
    "the recurrence along the threads": "  y[i] = y[i - 1] + x[i]",
    "one row for all": "  for k in range(1, len(x)):\n   y[k] = y[k - 1] + x[i]",
    "the neighbour's row": "  for k in range(1, 4):\n   z[i + k] = z[i + k - 1] + x[i]",
}


@pytest.mark.parametrize("name", RACY)
def test_the_same_between_threads_is_refused(name):
    assert refusal(HEAD + RACY[name]) == "KR201"


CUDA = {
    "rows of one length": (
        "y[(n - 1) * m + s] = x[s];\n for (int i = n - 2; i >= 0; i--) y[i * m + s] = 0.5f * y[(i + 1) * m + s];",
        "",
    ),
    "rows that overlap": (
        "y[(n - 1) * m + s] = x[s];\n for (int i = n - 2; i >= 0; i--) y[i * (m - 1) + s] = 0.5f * y[(i + 1) * m + s];",
        "KR201",
    ),
    "a pointer along its row": ("float *p = y + s * n;\n for (int i = 0; i < n; i++) *p++ = x[s] * i;", ""),
    "a pointer along all rows": ("float *p = y + s;\n for (int i = 0; i < n; i++) *p++ = x[s] * i;", "KR201"),
    "a byte that wraps": ("unsigned char k = 0;\n for (int i = 0; i < n; i++) { y[s * n + i] = k; k += 100; }", ""),
}


@pytest.mark.parametrize("name", CUDA)
def test_flat_rows(name):
    text, code = CUDA[name]
    source = (
        "__global__ void f(const float *x, float *y, int n, int m) {\n int s = blockIdx.x * blockDim.x + threadIdx.x;\n"
    )
    done = pipeline.translate(source + " if (s >= m) return;\n " + text + "\n}\n", "case.cu")
    assert {d.code for d in done.diagnostics if d.severity == "error"} == ({code} if code else set())
    if not code:
        shapes = {"x": (4,), "y": (28,)}
        request = pipeline.Request(shapes=shapes, values={"n": 7, "m": 4})
        (report,), problems = verified(done, request)
        assert report.ok and not problems, report.failures
