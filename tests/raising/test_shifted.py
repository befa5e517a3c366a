"""Indices that a loop moves along, or that run from an end: the stores are slices, at every small size."""

import pytest

from tests.raising.agree import agree

MOVED = {
    "moved by the round": """
def f(x, y):
    n = x.shape[0]
    for t in range(n - 1):
        for i in range(n - 1 - t):
            x[i + t + 1] -= x[t] * y[i + t + 1]
""",
    "from the end on": """
def f(x, y):
    i = cuda.grid(1)
    if i < x.shape[0] - 1:
        x[x.shape[0] - 1 - i] = y[i + 1] * 2
""",
    "both axes": """
def f(A, B):
    n = A.shape[0]
    for t in range(n):
        for i in range(n - t):
            for j in range(n - t):
                A[i + t, j + t] += B[i + t, t] * B[t, j + t]
""",
    "from an end that moves": """
def f(x, y):
    n = x.shape[0]
    for t in range(n):
        for i in range(t):
            x[t - 1 - i] += y[t] * y[i]
""",
    "with a sum": """
def f(x, A):
    n = x.shape[0]
    for t in range(n - 1):
        for i in range(n - 1 - t):
            s = 0.0
            for j in range(i):
                s += A[i, j]
            x[i + t + 1] += s * x[t]
""",
}


@pytest.mark.parametrize("name", MOVED)
def test_values(name):
    agree(MOVED[name])


def test_a_running_value_keeps_its_index():
    """What is carried along the index stays with it."""
    agree("""
def f(x, y):
    n = x.shape[0]
    s = 0.0
    for i in range(n):
        s += y[i]
        x[n - 1 - i] = s
""")
